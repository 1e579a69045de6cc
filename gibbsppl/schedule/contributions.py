"""The contributions of factors to what a step draws from.

Comes in: a graph and a conditional. Goes out: its natural parameters, bounds, log weights or log
density, all pieces pulled back onto the axes of the variable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import sympy as sp
from sympy import Add

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.exact_numbers import nearest_float
from gibbsppl.algebra.expressions import Dim, Expr, Greatest, Leaf, Least, substitute
from gibbsppl.algebra.functions import Where, XLogY
from gibbsppl.algebra.ranges import Range, bounded, numbered, size_of
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.contractions import (
    Contribution,
    contracted,
    data_only,
    pull_back,
    pull_back_extreme,
)
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.labels import LABEL, FiniteConditional
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.readings import alpha, in_place
from gibbsppl.errors import CompileError, ImproperError, told_of
from gibbsppl.families import Family
from gibbsppl.model.density import is_kept
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.graph import PLAIN, Graph, Maintained, Statement
from gibbsppl.pieces.dependence import Place, is_separable, overlap, region_of
from gibbsppl.pieces.limits import Side
from gibbsppl.pieces.split import Piece, View
from gibbsppl.pieces.vanishing import vanishing, with_exact_zeros
from gibbsppl.rewrites.collapsing import Scan, log_weights
from gibbsppl.schedule.cancelling import without_cancelling
from gibbsppl.schedule.parameters import Bound, NaturalParameter


class Contributions:
    """The contributions of the factors of a graph to conditionals."""

    def __init__(self, graph: Graph, arrays: Collection[Maintained] | None = None) -> None:
        every = [a for m in graph.marginals for a in m.arrays] if arrays is None else arrays
        self.graph = graph
        self.arrays = {a.name: a for a in every}
        known = data_only([*graph.random, *self.arrays], graph)
        kept = {a.name: a.axes for a in self.arrays.values()}
        self.is_data = replace(known, dims={**known.dims, **kept})

    def region(self, statement: Statement) -> tuple[Place, ...]:
        """The region of its array that a statement fills."""
        return region_of(self.graph, statement)

    def check_event_is_last(
        self, statement: Statement, family: Family, event: tuple[Dim, ...]
    ) -> None:
        """Raise an error unless an event lies along the last axes of its array, as draws do."""
        axes = self._axes(statement)
        if family.event and axes[len(axes) - len(event) :] != event:
            others = [d for d in axes if d not in event]
            raise CompileError(
                f"{statement.name}: a value of {family.name} is along "
                f"{', '.join(map(str, event))}, found the axes {', '.join(map(str, axes))}; "
                f"expected it along the last: {', '.join(map(str, (*others, *event)))}."
            )

    def _axes(self, statement: Statement) -> tuple[Dim, ...]:
        return self.graph.variables[statement.target.array.name].dims

    def _pull(
        self,
        piece: Piece,
        axes: tuple[Dim, ...],
        indices: tuple[Expr, ...],
        sizes: Mapping[Dim, int] | None = None,
    ) -> Contribution:
        known = replace(self.is_data, sizes=sizes) if sizes else self.is_data
        return pull_back(piece, axes, indices, sizes or self.graph.sizes, known)

    def _onto(
        self, piece: Piece, axes: tuple[Dim, ...], sizes: Mapping[Dim, int] | None = None
    ) -> Contribution:
        """The contribution of a piece with one view, onto the axes that the view names."""
        (view,) = piece.views
        indices = tuple(i for i in view.indices if i is not None)
        return self._pull(piece, _named(axes, view), indices, sizes)

    def parameters(
        self, derived: Conditional, region: tuple[Place, ...]
    ) -> tuple[NaturalParameter, ...]:
        """The natural parameter of each statistic of a closed form; an error if improper."""
        axes = self._axes(derived.statement)
        found = tuple(
            self._parameter(derived, statistic, pieces, axes, region)
            for statistic, pieces in zip(derived.statistics, derived.pieces, strict=True)
        )
        _refuse_improper(derived, found, self.graph.sizes)
        return found

    def maintained_of(
        self, parameters: tuple[NaturalParameter, ...]
    ) -> tuple[NaturalParameter, ...]:
        """The maintained arrays that parameters read, directly or not, in order."""
        values = (c.value for p in parameters for c in p.contributions)
        wanted = {x.array.name for v in values for x in v.atoms(Leaf)}
        for a in reversed(tuple(self.arrays.values())):
            if a.name in wanted:
                wanted |= {x.array.name for s in a.scatters for x in s.value.atoms(Leaf)}
        return tuple(self.maintained(a) for a in self.arrays.values() if a.name in wanted)

    def _parameter(
        self,
        derived: Conditional,
        statistic: Expr,
        pieces: tuple[Piece, ...],
        axes: tuple[Dim, ...],
        region: tuple[Place, ...],
    ) -> NaturalParameter:
        if derived.dense:
            return self._joint(derived, statistic, pieces, axes)
        found = tuple(
            c for p in pieces if _touches(c := self._onto(p, axes), _named_region(region, p))
        )
        named = _named(axes, pieces[0].views[0]) if pieces else axes
        return NaturalParameter(statistic, named, found)

    def bounds(self, derived: Conditional, region: tuple[Place, ...]) -> tuple[Bound, ...]:
        """The bounds of a truncated draw: of its own support, and the limits set by factors."""
        if not derived.truncated:
            return ()
        own = (derived.support.lower, derived.support.upper)
        sides: tuple[Side, ...] = ("lower", "upper")
        return tuple(self._bound(derived, s, b, region) for s, b in zip(sides, own, strict=True))

    def _bound(
        self, derived: Conditional, side: Side, own: Expr, region: tuple[Place, ...]
    ) -> Bound:
        statement, axes = derived.statement, self._axes(derived.statement)
        extreme = Greatest if side == "lower" else Least
        view = View(statement.target.array, statement.target.indices)
        own_piece = Piece(statement.name, sp.S.One, (view,), sp.sympify(own), statement.over)
        limits = (
            Piece(limit.factor, sp.S.One, (limit.view,), limit.value, limit.over)
            for limit in derived.limits
            if limit.side == side
        )
        found = tuple(
            pull_back_extreme(p, axes, self.graph.sizes, extreme)
            for p in (own_piece, *limits)
            if p.coefficient not in (sp.oo, -sp.oo)
        )
        kept = (c for c in found if _touches(c, region))
        # (a bound by elements of the same array is the support's own, and a limit)
        every = dict.fromkeys((*self._widest(derived, side, own), *kept))
        return Bound(side, axes, tuple(every))

    def _widest(self, derived: Conditional, side: Side, own: Expr) -> tuple[Contribution, ...]:
        """The bound of the family's own support, unless the draw's bound is a finite number."""
        natural = derived.family.natural
        assert natural is not None
        support = natural.within or derived.family.support(derived.event)
        widest = sp.sympify(getattr(support, side))
        if own.is_number and own not in (sp.oo, -sp.oo):
            return ()
        everywhere = tuple(Range(a, 0, self.graph.sizes[a]) for a in self._axes(derived.statement))
        return (Contribution(derived.statement.name, widest, everywhere),)

    def _joint(
        self,
        derived: Conditional,
        statistic: Expr,
        pieces: tuple[Piece, ...],
        axes: tuple[Dim, ...],
    ) -> NaturalParameter:
        """A natural parameter of a block: batch axes, dense axes, then those of the partner."""
        is_pair = statistic.is_Mul or statistic.is_Pow
        order = derived.batch + derived.dense
        own = tuple(axes[a] for a in order)
        partner = tuple(copies_of((axes[a] for a in derived.dense), axes).values())
        sizes = dict(self.graph.sizes)
        sizes |= {p: sizes[axes[a]] for p, a in zip(partner, derived.dense, strict=True)}
        pairs, singles = [], []
        for piece in pieces:
            v, w = (*piece.views, piece.views[0])[:2]
            indices = tuple(v.read[a] for a in order)
            if len(piece.views) == 2:
                indices += tuple(w.read[a] for a in derived.dense)
                pairs.append(self._pull(piece, own + partner, indices, sizes))
            else:
                singles.append(self._pull(piece, own, indices))
        if is_pair:
            return NaturalParameter(statistic, own + partner, tuple(pairs), tuple(singles))
        return NaturalParameter(statistic, own, tuple(singles))

    def weights(
        self, derived: FiniteConditional | ChainConditional, region: tuple[Place, ...]
    ) -> NaturalParameter:
        """The log weights of labels."""
        axes = self._axes(derived.statement)
        labels = Range(LABEL, 0, derived.size)
        sizes = {**self.graph.sizes, LABEL: derived.size}
        found = (self._onto(p, axes, sizes) for p in derived.pieces)
        kept = (replace(c, place=(labels, *c.place)) for c in found if _touches(c, region))
        return NaturalParameter(LABEL, (LABEL, *axes), tuple(kept))

    def whole_terms(self, derived: Scan) -> tuple[Contribution, ...]:
        """The terms of the log density of all labels of a recomputed scan."""
        name = derived.statement.name
        return tuple(
            Contribution(name, contracted(e, over, self.is_data), ()) for e, over in derived.terms
        )

    def maintained(self, array: Maintained) -> NaturalParameter:
        """A maintained array as the contributions of factors."""
        element, axes, found = array.element, array.axes, []
        for s in array.scatters:
            view = View(element.array, s.indices)
            piece = Piece(s.factor, element, (view,), s.value, s.over)
            found.append(self._pull(piece, axes, s.indices))
        return NaturalParameter(element, axes, tuple(found))

    def labels_at_once(self, derived: Scan) -> tuple[NaturalParameter, NaturalParameter]:
        """The log weights of all labels: those drawn from at once, and the exact ones."""
        axes = self._axes(derived.statement)
        place = (Range(LABEL, 0, derived.size), *(Range(a, 0, self.graph.sizes[a]) for a in axes))
        first, exact = (
            NaturalParameter(
                LABEL,
                (LABEL, *axes),
                (Contribution(derived.statement.name, bounded(e, self.graph.sizes), place),),
            )
            for e in log_weights(derived)
        )
        return first, exact

    def log_density(
        self, derived: LogConcave | NotConjugate, place: Leaf, region: tuple[Place, ...]
    ) -> tuple[tuple[NaturalParameter, ...], tuple[Contribution, ...]]:
        """The log density that a draw evaluates: coefficients computed once, and whole terms."""
        pieces = without_cancelling(derived.pieces)
        if derived.elements:
            return (), tuple(self._total(derived, p) for p in pieces)
        axes = self._axes(derived.statement)
        statistics: dict[Expr, Expr] = {}
        parameters: dict[Expr, list[Contribution]] = {}
        terms: list[Contribution] = []
        for piece in pieces:
            whole = self.whole(derived, piece)
            is_plain = is_separable(piece) and not whole.has(XLogY)
            is_plain = is_plain and not piece.is_exponential_twice
            written = in_place(piece, place.array[axes], ()) if is_plain else None
            if written is None or not self._is_everywhere(written):
                terms.append(self._onto(replace(piece, coefficient=whole), axes))
            else:
                form = alpha(written)
                statistics.setdefault(form, written)
                parameters.setdefault(form, []).append(self._onto(piece, axes))
        kept = (
            NaturalParameter(statistics[f], axes, tuple(c for c in cs if _touches(c, region)))
            for f, cs in parameters.items()
        )
        return (
            tuple(p for p in kept if p.contributions),
            tuple(t for t in terms if _touches(t, region)),
        )

    def _is_everywhere(self, written: Expr) -> bool:
        """Whether the arrays of a statistic have all positions along its dims."""
        sizes = self.graph.sizes
        read = (x for x in written.atoms(Leaf) if x.array.name in self.graph.variables)
        pairs = (
            pair
            for x in read
            for pair in zip(x.indices, self.graph.variables[x.array.name].dims, strict=True)
        )
        return all(size_of(i, sizes) <= size_of(d, sizes) for i, d in pairs if isinstance(i, Dim))

    def whole(self, derived: LogConcave | NotConjugate, piece: Piece) -> Expr:
        """The value of a piece; ``0 * log(0)`` is 0 for counts, and for dropped simplex entries."""
        whole, statement = piece.value, derived.statement
        if statement.support.is_discrete:
            return with_exact_zeros(whole, vanishing(self.graph))
        if statement.support.kind == "simplex" and piece.factor == statement.name:
            return _of_kept(whole, statement, piece)
        return whole

    def _total(self, derived: LogConcave | NotConjugate, piece: Piece) -> Contribution:
        """The contribution of a whole piece, as one number."""
        whole = bounded(self.whole(derived, piece), self.graph.sizes)
        value = contracted(whole, piece.over, self.is_data)
        return Contribution(piece.factor, value, ())


def _refuse_improper(
    derived: Conditional, parameters: tuple[NaturalParameter, ...], sizes: Mapping[Dim, int]
) -> None:
    """Raise an error where natural parameters are plain numbers outside of the family's domain."""
    natural = derived.family.natural
    assert natural is not None
    if derived.event or derived.truncated or any(p.squares for p in parameters):
        return
    etas = [numbered(Add(*(c.value for c in p.contributions)), sizes) for p in parameters]
    known = {name: numbered(value, sizes) for name, value in derived.known}
    for value in natural.domain(*etas, **known):
        if not value.is_number:
            continue
        with told_of(derived.statement.name):
            if value.is_Number:
                nearest_float(value)
        if not 0 < float(evaluate(value, (), {}, {})) < np.inf:
            shown = ", ".join(PLAIN.text(eta) for eta in etas)
            raise ImproperError(
                f"{derived.statement.name}: the conditional would be {derived.family.name} with "
                f"natural parameters ({shown}), which has no finite integral; give it a proper "
                "prior, or take back the term that outweighs it."
            )


def _of_kept(whole: Expr, statement: Statement, piece: Piece) -> Expr:
    """A term of the density of a simplex, 0 at entries that are certain to be zero."""
    shown = zip(statement.target.indices, piece.views[0].read, strict=True)
    names = {own: index for own, index in shown if isinstance(own, Dim)}
    kept = substitute(is_kept(statement), names)
    return whole if kept == 1 else Where(kept, whole, sp.S.Zero)


def _named(axes: tuple[Dim, ...], view: View) -> tuple[Dim, ...]:
    """The axes that a view indexes, without axes that a matrix function takes whole."""
    return tuple(a for a, i in zip(axes, view.indices, strict=True) if i is not None)


def _named_region(region: tuple[Place, ...], piece: Piece) -> tuple[Place, ...]:
    (view,) = piece.views
    return tuple(r for r, i in zip(region, view.indices, strict=True) if i is not None)


def _touches(contribution: Contribution, region: tuple[Place, ...]) -> bool:
    """Whether a contribution falls on any element of a region."""
    return all(map(overlap, contribution.place, region))
