"""Tables of the positions at which data are not zero, so that the rest is not stored."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np

from gibbsppl.algebra.expressions import Array, Dim, Expr, Over, substitute
from gibbsppl.algebra.functions import INDICATORS, Where
from gibbsppl.algebra.ranges import Range, plain_name
from gibbsppl.model.graph import Variable
from gibbsppl.rewrites.rows import Facts

# A table of fewer positions than this is not worth its indices.
LEAST_POSITIONS = 10_000
LARGEST_SHARE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class PositionTable:
    """A new dim, the positions of the old ranges at each of its rows, and their arrays.

    ``count`` is the value of the data at each row.
    """

    range: Range
    positions: Mapping[Dim, Expr]
    count: Expr
    arrays: Mapping[str, tuple[Variable, np.ndarray]]

    @property
    def sizes(self) -> Mapping[Dim, int]:
        """The size of the new dim."""
        return {self.range.dim: len(self.range)}


def rows_where(
    count: Expr, ranges: tuple[Range, ...], facts: Facts, *, repeated: bool = False
) -> PositionTable | None:
    """The positions at which data is not zero; each as often as the data says if ``repeated``.

    ``None`` where there is no such position.
    """
    values = np.atleast_1d(facts.values(count, ranges))
    positions = np.nonzero(values)
    if repeated:
        repeats = values[positions].astype(int)
        positions = tuple(np.repeat(p, repeats) for p in positions)
    size = len(positions[0])
    if not size:
        return None
    dim = facts.fresh_dim(f"{facts.factor}_rows")
    arrays: dict[str, tuple[Variable, np.ndarray]] = {}
    indices: dict[Dim, Expr] = {}
    for r, at in zip(ranges, positions, strict=False):
        name = facts.fresh(f"{facts.factor}_{plain_name(r.dim)}")
        of = r.dim if r.dim in facts.graph.sizes else None
        index = Variable(name, (dim,), "index", integer=True, of=of)
        arrays[name] = index, _one(at + r.start)
        indices[r.dim] = Array(name, nonnegative=True)[dim]
    there = substitute(count, indices)
    if count.has(Over, Where, *INDICATORS):
        name = facts.fresh(f"{facts.factor}_times")
        arrays[name] = (Variable(name, (dim,), "data"), _one(values[positions]))
        there = Array(name, nonnegative=True)[dim]
    return PositionTable(Range(dim, 0, size), indices, there, arrays)


# The columns of tables that are in use, by their contents.
_COLUMNS: WeakValueDictionary[Hashable, np.ndarray] = WeakValueDictionary()


def _one(column: np.ndarray) -> np.ndarray:
    """The one array for equal columns: graphs with equal tables are then seen to be equal."""
    found = _COLUMNS.setdefault((column.shape, column.dtype, hash(column.tobytes())), column)
    return found if np.array_equal(found, column) else column


def is_sparse(count: Expr, ranges: tuple[Range, ...], facts: Facts) -> bool:
    """Whether so much of data is zero that a table of the rest saves memory and time."""
    if not ranges or not facts.is_data(count):
        return False
    values = facts.values(count, ranges)
    few = np.count_nonzero(values) <= LARGEST_SHARE * values.size
    return values.size >= LEAST_POSITIONS and bool(few)
