"""Arrays with named axes or labelled positions, put in the order of a model's dims.

Comes in: an array of xarray or pandas, the names of dims, the labels along dims. Goes out: the
array with axes and positions in that order; an error where names or labels differ. Arrays of other
libraries have neither names nor labels, and stay as they are.

>>> import pandas as pd
>>> rain = pd.Series([3.0, 1.0], index=["Oslo", "Bergen"])
>>> aligned("rain", rain, ("town",), {"town": ("Bergen", "Oslo")}).to_list()
[1.0, 3.0]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, MutableMapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.arguments import is_na
from gibbsppl.errors import GibbspplError, ModelError
from gibbsppl.model.graph import Labels

# The first labels found along a dim, and the name of the array with these labels.
Seen = MutableMapping[str, tuple[str, list[Hashable]]]
Array = Any  # of NumPy, or of xarray or pandas, with names or labels of axes

SHOWN = 4


def aligned(
    what: str,
    values: Array,
    dims: Sequence[str],
    labels: Labels,
    error: type[GibbspplError] = ModelError,
) -> Array:
    """The array with axes in the order of the dims, and positions in the order of the labels.

    ``labels`` are by dim, where there are some; ``error`` is raised where names or labels differ.
    """
    array = with_axes(what, values, dims, error)
    for axis, dim, found in _labelled(array, dims):
        told = labels.get(dim.rstrip("'"))
        if told is not None:
            array = _taken(array, axis, _order(what, dim, found, told, error))
    return array


def with_axes(
    what: str, values: Array, dims: Sequence[str], error: type[GibbspplError] = ModelError
) -> Array:
    """An array with named axes, transposed to the order of the dims."""
    names = _names(values)
    if len(names) != len(dims) or all(n == f"dim_{i}" for i, n in enumerate(names)):
        return values
    if set(names) != set(dims):
        raise error(
            f"{what}: found an array with the dims ({', '.join(map(str, names))}), expected "
            f"({', '.join(dims)}): rename its dims, or pass .to_numpy() to take axes by position."
        )
    return values.transpose(*dims)


def check_order(
    what: str,
    values: Array,
    dims: Sequence[str],
    labels: Labels,
    seen: Seen,
    error: type[GibbspplError] = ModelError,
) -> None:
    """Raise if labels along a dim without labels are in another order than in an earlier array.

    Labels 0, 1, ... are the default of pandas, and labels with nothing in common (columns of two
    variables) label other things: neither are compared.
    """
    for _, dim, found in _labelled(values, dims):
        if dim.rstrip("'") in labels:
            continue
        whose, first = seen.setdefault(dim.rstrip("'"), (what, found))
        if found == first or len(found) != len(first) or set(found).isdisjoint(first):
            continue
        if set(found) != set(first) and (_is_counted(found) or _is_counted(first)):
            continue
        raise error(
            f"{what}: found the labels {_shown(found)} along {dim!r}, where {whose} has "
            f"{_shown(first)}; expected the same in the same order: put them in one order (labels "
            "in the model's coords do that), or pass .to_numpy() to take positions as they are."
        )


def names_of(values: Array) -> tuple[str, ...]:
    """The names of the axes that an array of xarray was given."""
    names = _names(values)
    own = not all(n == f"dim_{i}" for i, n in enumerate(names))
    return tuple(map(str, names)) if own else ()


def labels_along(values: Array, dims: Sequence[str]) -> dict[str, np.ndarray]:
    """The labels that tell positions apart, by dim: all different, and other than 0, 1, ..."""
    found = _labels(values)
    if len(found) != len(dims):
        return {}
    arrays = {d: np.asarray(own) for d, own in zip(dims, found, strict=True) if own is not None}
    return {d: own for d, own in arrays.items() if own.ndim == 1 and _tell(listed(own))}


def _order(
    what: str, dim: str, found: list[Hashable], told: Sequence[Hashable], error: type[GibbspplError]
) -> list[int] | None:
    """The position of each label of a dim among those found; None where these tell nothing."""
    expected = in_form_of(found, told)
    if found == expected:
        return None
    is_same = len(found) == len(expected) and set(found) == set(expected)
    if _is_counted(found) and not is_same:
        return None
    if not is_same or _is_counted(found):
        raise error(
            f"{what}: found the labels {_shown(found)} along {dim!r}, expected those that it has "
            f"in the model, {_shown(expected)}: give the array these labels, or pass .to_numpy() "
            "to take positions as they are."
        )
    at = {label: position for position, label in enumerate(found)}
    return [at[label] for label in expected]


def _labelled(values: Array, dims: Sequence[str]) -> Iterator[tuple[int, str, list[Hashable]]]:
    """The number, dim and labels of each labelled axis."""
    if len(found := _labels(values)) == len(dims):
        for axis, (dim, labels) in enumerate(zip(dims, found, strict=True)):
            if labels is not None:
                yield axis, dim, listed(np.asarray(labels))


def _names(values: Array) -> tuple[Hashable, ...]:
    """The names of the axes, of an array of xarray."""
    is_named = hasattr(values, "dims") and hasattr(values, "transpose") and hasattr(values, "isel")
    return tuple(values.dims) if is_named else ()


def _labels(values: Array) -> tuple[ArrayLike | None, ...]:
    """The labels along each axis, None where there are none."""
    if names := _names(values):
        return tuple(getattr(values, "coords", {}).get(n) for n in names)
    if hasattr(values, "iloc") and hasattr(values, "axes"):
        return tuple(values.axes)
    return ()


def _taken(values: Array, axis: int, order: list[int] | None) -> Array:
    """The array with the positions along an axis in another order."""
    if order is None:
        return values
    if names := _names(values):
        return values.isel({names[axis]: order})
    return values.iloc[(slice(None),) * axis + (order,)]


def listed(labels: np.ndarray) -> list[Hashable]:
    """Labels as values of Python that are equal where they mean the same."""
    if labels.dtype.kind == "M":
        labels = labels.astype("datetime64[ns]").astype(str)
    elif labels.dtype.kind == "m":
        labels = labels.astype(str)
    return labels.tolist()  # type: ignore[no-any-return]


def in_form_of(found: list[Hashable], told: Sequence[Hashable]) -> list[Hashable]:
    """The labels of a dim, in the form of times if the found labels are times."""
    texts = [*told, *found]
    if all(isinstance(t, str) for t in texts):
        try:
            return listed(np.array(list(told), "datetime64[ns]")) if _are_times(found) else [*told]
        except ValueError:
            return [*told]
    return [*told]


def _are_times(labels: list[Hashable]) -> bool:
    """Whether labels are times to the nanosecond, as `listed` writes them."""
    try:
        return listed(np.array(labels, "datetime64[ns]")) == labels
    except ValueError:
        return False


def _tell(labels: list[Hashable]) -> bool:
    """Whether labels can be those of a dim."""
    # (What is missing does not equal itself.)
    is_whole = all(not is_na(x) and x != "NaT" and x == x for x in labels)  # noqa: PLR0124
    return is_whole and len(set(labels)) == len(labels) and not _is_counted(labels)


def _is_counted(labels: list[Hashable]) -> bool:
    return labels == list(range(len(labels)))


def _shown(labels: Sequence[Hashable]) -> str:
    """The first few labels."""
    more = ", ..." if len(labels) > SHOWN else ""
    return f"({', '.join(map(repr, labels[:SHOWN]))}{more})"


