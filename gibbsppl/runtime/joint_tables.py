"""Integer tables of a joint draw, for loops that fill its precision matrix entry by entry.

The kernels are those of `gibbsppl.runtime.loops.joint`. With the `Tables` of a `Joint`, ``filled``
and ``linear`` at zero (of `Tables.stored` and `Tables.size` numbers and one more, which takes what
is not stored), the log density ``sum of linear * x + sum of squares * x**2 + sum of pairs`` is put
in by::

    for a in tables.arrays:  # coefficients of x and x**2, at positions of the array drawn
        for m, flat in enumerate(a.positions):
            linear[a.start + m] += eta_1[flat]
            filled[tables.squares[a.start + m]] -= 2.0 * eta_2[flat]
    for pair, slots in enumerate(tables.pairs):  # one coefficient for each product of two elements
        for e, slot in enumerate(slots):
            filled[slot] -= value[pair][e]  # (twice that, if ``tables.doubled[pair][e]``)
    for b in tables.beside:  # products with a known element
        for m, e in enumerate(b.entries):
            linear[b.rows[m]] += value[b.pair][e] * array_of[b.array].flat[b.positions[m]]

and ``x[a.start + m]`` is then the value at ``a.positions[m]``.

>>> from gibbsppl.runtime.joint import drawn
>>> pairs = [("x", (np.arange(1, 3),), "x", (np.arange(2),))]
>>> tables = tables_of(Joint({"x": drawn((3,), [((1, 3),)])}, pairs))
>>> tables.squares, tables.pairs[0], tables.stored
(array([0, 3]), array([4, 2]), 4)
>>> tables.beside[0].entries, tables.beside[0].rows, tables.beside[0].positions
(array([0]), array([0]), array([0]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from gibbsppl.errors import NotLoweredError
from gibbsppl.runtime.eliminations import elimination_of
from gibbsppl.runtime.factors import Band, BlockDiagonal, Sparse
from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.pencils import Pencil
from gibbsppl.runtime.types import Flags, Floats, Ints

Name = Literal["joint_blocks", "joint_band", "joint_sparse"]


class Places(Protocol):
    """Where the entries inside the border are stored."""

    @property
    def size(self) -> int:
        """The number of entries stored."""

    def slots(self, row: Ints, column: Ints) -> tuple[Ints, Ints]:
        """The places of entries in storage, those of all first, each with its number."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """An array: the number of its first element among all drawn, and the positions of all its."""

    name: str
    start: int
    positions: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """Products of a pair with a known element, at positions of an array.

    The coefficient of entry ``entries[m]`` times the known value at ``positions[m]`` adds to the
    linear coefficient of element ``rows[m]``.
    """

    pair: int
    entries: Ints
    rows: Ints
    array: str
    positions: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Where the coefficients of a joint draw belong.

    ``squares`` has the place in storage of the square of each element. ``pairs`` has, for each
    pair, the place of each entry, on or below the diagonal, and ``stored`` (the place after the
    last) where an element is known; ``doubled`` the entries that tie an element to itself.

    ``arguments`` are those of the kernel between ``linear`` and ``out``: of `joint_blocks` the
    counts and orders of blocks, of `joint_band` the width, of `joint_sparse` the places of the
    entries of the factor; then the size of the border and the
    elements in the order of factorisation.
    """

    kernel: Name
    size: int
    stored: int
    arrays: tuple[Drawn, ...]
    squares: Ints
    pairs: tuple[Ints, ...]
    doubled: tuple[Flags, ...]
    beside: tuple[Beside, ...]
    arguments: tuple[int | Ints, ...]


def tables_of(joint: Joint) -> Tables:
    """The tables of a joint draw."""
    (_, first, second), rank = joint.entries, joint.rank
    inside: Places = joint.storage
    name: Name
    layout: tuple[int | Ints, ...]
    match joint.storage:
        case BlockDiagonal(shapes):
            sizes = np.array(shapes, dtype=np.intp).reshape(-1, 2)
            name, layout = "joint_blocks", (sizes[:, 0].copy(), sizes[:, 1].copy())
        case Band(_, width):
            name, layout = "joint_band", (width,)
        case Sparse() as pattern:
            inside = elimination = elimination_of(pattern)
            name, layout = "joint_sparse", elimination.tables
            rank = elimination.reordered(rank)
        case other:
            raise TypeError(other)
    low, high = np.sort([rank[first], rank[second]], axis=0)
    slots = _slots(joint, inside, low, high)
    stored = inside.size + joint.size * joint.border
    pairs, doubled = [], []
    for entries in _entries_of_pairs(joint):
        is_stored = entries >= 0
        pairs.append(np.where(is_stored, slots[entries], stored))
        doubled.append(is_stored & (low[entries] == high[entries]))
    return Tables(
        kernel=name,
        size=joint.size,
        stored=stored,
        arrays=tuple(Drawn(n, a, _positions(joint, n)) for n, _, _, a, _ in joint.places),
        squares=slots[: joint.size],
        pairs=tuple(pairs),
        doubled=tuple(doubled),
        beside=tuple(Beside(*b) for b in joint.beside),
        arguments=(*layout, joint.border, np.argsort(rank)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Covariances that are asked for, as kernels of `gibbsppl.runtime.loops.averages` take them.

    The numbers of both elements in the order of factorisation (-1: a known element), and where the
    entry of the inverse for both is among what is stored (-1: nowhere).
    """

    first: Ints
    second: Ints
    slots: Ints


def asked_of(joint: Joint, tables: Tables, first: Ints, second: Ints) -> Asked:
    """The tables of covariances of elements by their numbers; -1 for a known element.

    Raises `NotLoweredError` where the factor has no entry for both.
    """
    order = tables.arguments[-1]
    assert isinstance(order, np.ndarray)
    rank = np.append(np.argsort(order), -1)
    one, other = rank[first], rank[second]
    low, high = np.minimum(one, other), np.maximum(one, other)
    inner = np.flatnonzero((low >= 0) & (high < joint.size - joint.border))
    i, j = high[inner], low[inner]
    slots = np.full(len(one), -1)
    match joint.storage:
        case BlockDiagonal(shapes) as blocks:
            sizes = np.repeat([n for _, n in shapes], [c for c, _ in shapes])
            block = np.repeat(np.arange(len(sizes)), sizes)
            found = np.where(block[i] == block[j], blocks.slots(i, j)[0][: len(i)], -1)
        case Band(_, width) as band:
            found = np.where(i - j <= width, band.slots(i, j)[0], -1)
            _check_all(joint, found)
        case Sparse() as pattern:
            elimination = elimination_of(pattern)
            found = np.minimum(elimination.slots(i, j)[0], elimination.size - 1)
            column = np.searchsorted(elimination.starts, found, side="right") - 1
            found = np.where((elimination.rows[found] == i) & (column == j), found, -1)
            _check_all(joint, found)
        case storage:
            raise TypeError(storage)
    slots[inner] = found
    return Asked(one, other, slots)


def _check_all(joint: Joint, slots: Ints) -> None:
    """An error where a covariance is of two elements that the factor does not tie."""
    if (slots < 0).any():
        raise NotLoweredError(
            f"{', '.join(joint.arrays)}: a covariance of elements that the factor does not tie."
        )


def pencil_tables(pencil: Pencil) -> tuple[Floats, Floats, Floats, Ints]:
    """The matrices, rows, diagonals and order of the elements, as the kernel `pencil` takes them.

    If nothing makes the matrices diagonal, the diagonals are zero: then the kernel raises.

    >>> from gibbsppl.runtime.joint import drawn
    >>> pencil = Pencil(Joint({"x": drawn((1,), [((0, 1),)])}, []), [({"x": -2.0}, [])])
    >>> matrices, rows, diagonals, order = pencil_tables(pencil)
    >>> matrices.shape, rows.shape, diagonals.shape, (rows**2 / diagonals[0]).round(12)
    ((1, 1, 1, 1), (1, 1, 1), (1, 1, 1), array([[[0.25]]]))
    """
    matrices = np.stack(pencil.matrices)
    rows: Floats = np.zeros(matrices.shape[1:])
    diagonals: Floats = np.zeros(matrices.shape[:-1])
    if pencil.rows is not None:
        rows, diagonals = pencil.rows, np.stack(pencil.diagonals)
    order = np.asarray(pencil.joint.order, dtype=np.intp)
    return np.ascontiguousarray(matrices), np.ascontiguousarray(rows), diagonals, order


def _slots(joint: Joint, inside: Places, low: Ints, high: Ints) -> Ints:
    """The place of each entry in storage, by its two ranks: on or below the diagonal."""
    count, border = joint.size - joint.border, joint.border
    start = inside.size + count * border
    # (low ones as columns; of blocks both entries would be found, the first is that of the row)
    beside = inside.size + low * border + high - count
    found = np.where(low < count, beside, start + (high - count) * border + low - count)
    inner = np.flatnonzero(high < count)
    found[inner] = inside.slots(high[inner], low[inner])[0][: len(inner)]
    return np.asarray(found, dtype=np.intp)


def _entries_of_pairs(joint: Joint) -> list[Ints]:
    """For each pair, the numbers of its coefficients among all entries; -1 for those beside."""
    sources = joint.entries[0]
    number = np.full(joint.pairs[-1][1] if joint.pairs else joint.size, -1)
    number[sources] = np.arange(len(sources))
    return [number[start:stop] for start, stop, _ in joint.pairs]


def _positions(joint: Joint, name: str) -> Ints:
    """The positions of the elements drawn in an array."""
    return np.flatnonzero(joint.drawn[name])
