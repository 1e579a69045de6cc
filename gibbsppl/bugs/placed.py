"""The place of each line's values in the arrays of the model, and the dims of one value.

A vector or a matrix of one entry is a number, if the distribution has a univariate form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.layouts import Layout, Natural
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.rows import Distribution
from gibbsppl.bugs.statements import row_of
from gibbsppl.bugs.syntax import Stochastic

# The number of positions along a dim.
Size = Callable[[Dim], int]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Parts of lines on a region of their array, with the event dims of one value."""

    parts: tuple[Relation, ...]
    places: tuple[Range | int, ...]
    event: tuple[Dim, ...]

    @property
    def part(self) -> Relation:
        """The first of the parts, or the only one."""
        return self.parts[0]


def every_part(placed: Sequence[Placed]) -> list[Relation]:
    """The parts of lines on all regions of an array."""
    return [part for p in placed for part in p.parts]


def placed_in(facts: Facts, layout: Layout, inner: tuple[Dim, ...], size: Size) -> list[Placed]:
    """The regions of an array, with the event dims of the values (``inner`` for a table)."""
    if isinstance(layout, Natural):
        events = [tuple(layout.dims[a] for a in b.event) for b in layout.boxes]
        pairs = zip(layout.boxes, events, strict=True)
        found = [Placed(b.parts, b.places, event) for b, event in pairs]
    else:
        every = tuple(Range(d, 0, size(d)) for d in inner)
        found = [
            Placed((part,), (Range(layout.dim, start, stop), *every), inner)
            for part, start, stop in layout.parts
        ]
    return [_as_number(p) if _is_number(facts, p, size) else p for p in found]


def _is_number(facts: Facts, placed: Placed, size: Size) -> bool:
    """Whether each value has a single entry and the distribution a univariate form."""
    line = placed.part.line
    if not isinstance(line, Stochastic) or any(size(d) > 1 for d in placed.event):
        return False
    row = row_of(facts, line)
    return bool(placed.event) and isinstance(row, Distribution) and row.alone is not None


def _as_number(placed: Placed) -> Placed:
    """The same values as numbers: each event dim, of size one, at its only position."""
    inner = placed.event
    places = (0 if isinstance(p, Range) and p.dim in inner else p for p in placed.places)
    return Placed(placed.parts, tuple(places), ())
