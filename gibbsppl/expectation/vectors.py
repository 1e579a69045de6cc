"""Expectations of vectors, whose entries have means and covariances."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from gibbsppl.algebra.calculus import derivative
from gibbsppl.algebra.copies import copies_of, primed
from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    substitute,
)
from gibbsppl.derive.moments import (
    NoFormula,
    Symbols,
    plain,
)
from gibbsppl.derive.readings import alpha
from gibbsppl.expectation.averages import ends_of, same_element
from gibbsppl.expectation.of_families import OfFamily, Scalars
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.moments import Refused, X


class Vectors(Scalars):
    """Vectors along some axes of an array, independent along the others."""

    __slots__ = ()

    @property
    def dense(self) -> tuple[int, ...]:
        """The axes along which entries depend on one another."""
        assert isinstance(self.step, FamilyDraw)
        if self.step.dense:
            return self.step.dense
        dims = self.dims(self.arrays[0])
        return tuple(dims.index(d) for d in self.step.statement.event)

    @property
    def event(self) -> tuple[Dim, ...]:
        """The dims of one vector."""
        dims = self.dims(self.arrays[0])
        return tuple(dims[a] for a in self.dense)

    @property
    def symbols(self) -> Symbols:
        """The symbols of formulas: coefficients of ``x[k] x[l]`` may be on one side alone."""
        found: Symbols = OfFamily.symbols.fget(self)  # type: ignore[attr-defined]
        (own,) = self.event
        swapped = {own: primed(own), primed(own): own}
        etas = [e if primed(own) not in e.free_symbols else (e + substitute(e, swapped)) / 2
                for e in found.etas]  # fmt: skip
        return replace(found, etas=tuple(etas))

    @property
    def left_out(self) -> frozenset[int]:
        """Nothing: means and covariances are known."""
        return frozenset()

    def _leaf(self, name: str, axes: tuple[Dim, ...]) -> Leaf:
        """Natural parameters, those of two entries along the dim and its partner."""
        dims, (own,) = self.dims(self.arrays[0]), self.event
        self.asked.sizes[primed(own)] = self.graph.sizes[own]
        return Array(name)[tuple(a if a in dims else primed(own) for a in axes)]

    def _formula(self, what: Any, of: Symbols) -> Expr:
        found = plain(self.step.conditional.family, of.etas, of.event, of.known or {})
        if isinstance(found, NoFormula):
            raise Refused(found.reason)
        if what == X:
            return found.mean
        dims, first = self.dims(self.arrays[0]), of.etas[0]
        assert isinstance(first, Leaf)
        (partner,) = copies_of(self.event, dims).values()
        at = tuple(partner if i in self.event else i for i in first.indices)
        return derivative(found.mean, first.array, at)

    def covariance(self, piece: Piece) -> Expr:
        """The covariance of two entries of one vector."""
        one, other = ends_of(piece)
        array, dims, dense = one.array.name, self.dims(one.array.name), self.dense
        batch = [a for a in range(len(dims)) if a not in dense]
        same = same_element([one.indices[a] for a in batch], [other.indices[a] for a in batch])
        if same == 0:
            return sp.S.Zero
        partners = copies_of([dims[a] for a in dense], dims)
        axes = (*(dims[a] for a in (*batch, *dense)), *partners.values())
        own = self.element(array)
        facts = {"sign": "Cov", "inside": (own, substitute(own, partners))}
        found = self.asked.moment((array,), "covariance", f"C_{array}", axes, **facts)
        first = tuple(one.indices[a] for a in (*batch, *dense))
        return same * found[(*first, *(other.indices[a] for a in dense))]


def has_pairs(step: FamilyDraw) -> bool:
    """Whether a row has products of two entries of a vector among its statistics."""
    place, event = step.conditional.place, step.conditional.event
    if len(event) != 1:
        return False
    pair = place * substitute(place, {event[0]: primed(event[0])})
    return any(alpha(s) == alpha(pair) for s in step.conditional.statistics)
