"""Neighbours of sites as a table of pairs, each pair once.

>>> from gibbsppl.language import Bernoulli, Model, Potential
>>> with Model(coords={"site": 3}) as model:
...     spin = 2 * Bernoulli("z", 0.5, dims="site") - 1
...     i, j = Neighbours("border", [[1], [0, 2], [1]], of="site")
...     Potential("alike", 0.3 * spin[i] * spin[j])
>>> model.data["border_first"], model.data["border_second"]
(array([0, 1]), array([1, 2]))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from gibbsppl.algebra.copies import primed
from gibbsppl.arguments import NAME, GivenArray, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.language.data import positions
from gibbsppl.language.model import current_model
from gibbsppl.language.tensors import Tensor
from gibbsppl.language.values import Sparse, in_order, read_as_array

Pair = tuple[int, int]

# The positions of the neighbours of each site.
Lists = Sequence[Iterable[int]]


@calls_told(ModelError, of=NAME)
def Neighbours(  # noqa: N802  (constructors of the language are capitalised)
    name: str,
    lists: Lists | None = None,
    *,
    of: str,
    pairs: GivenArray | None = None,
    matrix: GivenArray | Sparse | None = None,
) -> tuple[Tensor, Tensor]:
    """Two indices into the dimension ``of``, along the new dimension ``name``: each pair once.

    Given is one of ``lists`` (for each site the positions of its neighbours), ``pairs`` (rows of
    two positions, each pair in one order) and ``matrix`` (square, 1 for neighbours and 0 else,
    dense or sparse). Raises `ModelError` where a site is its own neighbour, a pair is there twice
    or in one direction alone, or a position is out of range.
    """
    model = current_model(name)
    (dim,) = model.dims(of, name)
    size = model.counted(dim)
    given = [what for what in (lists, pairs, matrix) if what is not None]
    if len(given) != 1:
        raise ModelError(
            f"{name}: found {len(given)} of lists, pairs and matrix; expected one of them."
        )
    if pairs is not None:
        with read_as_array(f"{name}: pairs=", pairs):
            rows = np.asarray(pairs)
        found = _from_pairs(name, rows, size)
    elif matrix is not None:
        square = in_order(model, f"{name}: matrix=", (dim, primed(dim)), matrix)
        with read_as_array(f"{name}: matrix=", matrix):
            square = square if hasattr(square, "tocsr") else np.asarray(square)
        found = _from_lists(name, _lists_of(name, square, size), size)
    else:
        assert lists is not None
        found = _from_lists(name, in_order(model, f"{name}: lists", (dim,), lists), size)
    if not found:
        raise ModelError(f"{name}: no two sites are neighbours; leave {name} out.")
    first, second = np.array(found).T
    return (
        positions(f"{name}_first", first, of, name),
        positions(f"{name}_second", second, of, name),
    )


def _from_pairs(name: str, rows: np.ndarray, size: int) -> list[Pair]:
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ModelError(
            f"{name}: found pairs of shape {rows.shape}; expected (pairs, 2): two positions a row."
        )
    found = [_checked(name, (a, b), size) for a, b in rows.tolist()]
    times = Counter(tuple(sorted(p)) for p in found)
    (pair, count), *_ = times.most_common(1) or [((0, 0), 0)]
    if count > 1:
        raise ModelError(
            f"{name}: the pair of {pair[0]} and {pair[1]} is there {count} times, in one order or "
            "both; expected each pair once: it would count as often."
        )
    return sorted((min(p), max(p)) for p in found)


def _from_lists(name: str, lists: Lists, size: int) -> list[Pair]:
    try:
        lists = list(lists)
        told = [(a, b) for a, own in enumerate(lists) for b in own]
    except TypeError as error:
        raise ModelError(
            f"{name}: found neighbours that are no lists ({error}); expected for each position the "
            "positions of its neighbours, such as [[1], [0, 2], [1]]."
        ) from error
    if len(lists) != size:
        raise ModelError(
            f"{name}: found the neighbours of {len(lists)} sites; expected a list for each of the "
            f"{size} positions, empty where there is none."
        )
    found = [_checked(name, pair, size) for pair in told]
    (pair, count), *_ = Counter(found).most_common(1) or [((0, 0), 0)]
    if count > 1:
        raise ModelError(
            f"{name}: {pair[1]} is {count} times among the neighbours of {pair[0]}; expected each "
            "neighbour once."
        )
    known = set(found)
    for a, b in found:
        if (b, a) not in known:
            raise ModelError(
                f"{name}: {b} is a neighbour of {a}, but {a} is none of {b}; expected both or "
                "neither: a term of the log density ties both."
            )
    return sorted(p for p in found if p[0] < p[1])


def _lists_of(name: str, matrix: Any, size: int) -> list[list[int]]:
    """The neighbours of each site by a matrix of 0 and 1."""
    if np.shape(matrix) != (size, size):
        raise ModelError(
            f"{name}: found a matrix of shape {np.shape(matrix)}; expected {(size, size)}."
        )
    rows, columns = matrix.nonzero() if hasattr(matrix, "nonzero") else np.nonzero(matrix)
    entries = matrix.tocsr()[rows, columns] if hasattr(matrix, "tocsr") else np.asarray(matrix)
    values = np.unique(np.asarray(entries))
    wrong = values[~np.isin(values, (0, 1))]
    if wrong.size:
        raise ModelError(
            f"{name}: found {wrong[0]} in the matrix; expected 1 for neighbours and 0 else: "
            "weights of pairs are data along the pairs."
        )
    found: list[list[int]] = [[] for _ in range(size)]
    for a, b in zip(rows.tolist(), columns.tolist(), strict=True):
        found[a].append(b)
    return found


def _checked(name: str, pair: tuple[float, float], size: int) -> Pair:
    """A pair of different positions."""
    for position in pair:
        is_number = isinstance(position, Real) and not isinstance(position, bool | np.timedelta64)
        if not is_number or not 0 <= position < size or int(position) != position:
            raise ModelError(
                f"{name}: found {position!r} in the pair {pair}; expected whole numbers from 0 to "
                f"{size - 1}: count from 0."
            )
    a, b = int(pair[0]), int(pair[1])
    if a == b:
        raise ModelError(f"{name}: {a} is its own neighbour; leave it out of its own list.")
    return a, b
