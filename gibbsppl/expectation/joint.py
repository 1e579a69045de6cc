"""Expectations of arrays that are normal together."""

from __future__ import annotations

from gibbsppl.algebra.expressions import (
    Expr,
    Leaf,
)
from gibbsppl.expectation.averages import Averages
from gibbsppl.pieces.split import Piece


class Jointly(Averages):
    """All elements of several arrays, normal together."""

    __slots__ = ()

    def mean(self, leaf: Leaf) -> Expr:
        """The mean of an element."""
        return self._mean_of(leaf.array.name)[leaf.indices]

    def covariance(self, piece: Piece) -> Expr:
        """The covariance of two elements: an array along what they vary with."""
        from gibbsppl.schedule.precisions import is_data_of, table_of  # noqa: PLC0415

        if len(piece.views) == 1:
            (leaf,) = (v.leaf for v in piece.views)
            return self._variance_of(leaf.array.name)[leaf.indices]
        table = table_of(self.graph, piece, is_data_of(self.graph))
        first, second = table.leaves
        self.asked.sizes.update(table.sizes)
        place = table.place(piece.over)
        names = f"C_{first.array.name}_{second.array.name}"
        found = self.asked.moment(
            self.arrays, (first, second, place), names, table.axes,
            sign="Cov", inside=(first, second),
        )
        return found[table.indices]
