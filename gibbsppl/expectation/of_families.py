"""Expectations under a row of the table: of scalars, and of values with entries.

`Scalars` are independent of one another; `Events` (shares, counts, matrices) have the statistics of
their row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.derive.expectations import entropy, expectation, of_statistic
from gibbsppl.derive.modes import mode
from gibbsppl.derive.moments import (
    NoFormula,
    Symbols,
    combination,
    log_mass,
    moments,
    plain,
    symbol_of,
)
from gibbsppl.derive.readings import alpha, in_place
from gibbsppl.expectation.averages import Averages, Shown, ends_of, same_element
from gibbsppl.expectation.by_element import Seen
from gibbsppl.model.graph import PLAIN
from gibbsppl.model.graph_views import times_of
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.moments import Moment, Refused, X


class OfFamily(Averages):
    """Values of a row of the table: formulas of natural parameters."""

    __slots__ = ()
    step: FamilyDraw

    @property
    def given(self) -> Mapping[str, tuple[Dim, ...]]:
        """The natural parameters, then the bounds."""
        (array,) = self.arrays
        etas = {f"{array}_eta_{j}": p.axes for j, p in enumerate(self.step.parameters, 1)}
        return etas | {f"{array}_{b.side}": b.axes for b in self.step.bounds}

    @property
    def entropy(self) -> Moment:
        """The entropy about the base measure: of all, or of each where these are not alike.

        (Where elements depend on one another, or positions repeat.)
        """
        (array,) = self.arrays
        dims = self.dims(array)
        if times_of(self.graph, dims) != 1:
            dims = tuple(d for d in dims if d not in self.event and d not in self._dense_dims)
        elif not self.step.is_by_element:
            return Averages.entropy.fget(self)  # type: ignore[attr-defined,no-any-return]
        own, name = self.element(array), self.step.name
        facts = {"sign": "H", "inside": (own,)}
        return self.asked.moment((name,), "entropy", f"H_{name}", dims, **facts)

    @property
    def event(self) -> tuple[Dim, ...]:
        """The dims of one value."""
        return self.step.statement.event

    @property
    def symbols(self) -> Symbols:
        """The symbols that formulas are written in."""
        leaves = [self._leaf(name, axes) for name, axes in self.given.items()]
        count = len(self.step.parameters)
        bounds = (leaves[count], leaves[count + 1]) if leaves[count:] else None
        known = dict(self.step.conditional.known)
        if bounds is not None and count == 0:  # (of equal density everywhere between them)
            natural = self.step.conditional.family.natural
            assert natural is not None
            known |= dict(zip(natural.known, bounds, strict=True))
            bounds = None
        return Symbols(
            etas=tuple(leaves[:count]),
            event=self.event,
            known=known,
            bounds=bounds,
            change=self.step.change,
        )

    def _leaf(self, name: str, axes: tuple[Dim, ...]) -> Leaf:
        return Array(name)[axes]

    @property
    def left_out(self) -> frozenset[int]:
        """The statistics whose expectations have no formula, and cancel in the bound.

        Their coefficients are data.
        """
        random = set(self.graph.random)
        pieces = self.step.conditional.pieces
        fixed = (
            j for j, ps in enumerate(pieces)
            if not any(x.array.name in random for p in ps for x in p.coefficient.atoms(Leaf))
        )  # fmt: skip
        return frozenset(j for j in fixed if isinstance(self._of_statistic(j), NoFormula))

    def _of_statistic(self, j: int) -> Expr | NoFormula:
        """The expectation of a statistic."""
        return of_statistic(self.step.conditional.family, self.symbols, j)

    @property
    def base(self) -> tuple[tuple[Expr, ...], Expr]:
        """The terms of the base measure: those of the value, and the rest."""
        conditional = self.step.conditional
        natural, place = conditional.family.natural, conditional.place
        assert natural is not None
        whole = sp.sympify(natural.log_base(place, conditional.event, **dict(conditional.known)))
        terms = Add.make_args(multiplied_out(expand_logs(whole, {place.array.name})))
        held = [t for t in terms if mentions(t, (place.array.name,))]
        return tuple(held), Add(*(t for t in terms if t not in held))

    def mode(self, *, of_log: bool) -> Expr:
        """The value of the largest density, or of the largest density of its log."""
        return _known(mode(self.step.conditional.family, self.symbols, of_log=of_log))

    def formula(self, moment: Moment) -> Expr | None:
        """The formula of a moment in natural parameters."""
        own, of = self.step, self.symbols
        what = moment.what
        if what == "entropy":
            found = _known(self._entropy(of))
            found += self._of_jacobian() - self.base[1]
            return found if own.is_by_element or moment.dims else self._total(found)
        return self._formula(what, of)

    def _entropy(self, of: Symbols) -> Expr | NoFormula:
        """The entropy about the base measure: of a truncated draw by its moments."""
        family, left_out = self.step.conditional.family, self.left_out
        if of.bounds is None or family.log_cdf is None:
            return entropy(family, of, left_out)
        natural = family.natural
        assert natural is not None and natural.log_partition is not None  # noqa: PT018
        total = natural.log_partition(*of.etas, **(of.known or {})) + log_mass(family, of, of.etas)
        for j, eta in enumerate(of.etas):
            if j not in left_out:
                total -= eta * _known(self._of_statistic(j))
        return total

    def _formula(self, what: Any, of: Symbols) -> Expr:
        raise NotImplementedError

    def _of_jacobian(self) -> Expr:
        """The expectation of the log of how much longer the variable is than what is drawn."""
        return sp.S.Zero

    def _total(self, entropy: Expr) -> Expr:
        """The sum over all values that are averaged."""
        statement = self.step.statement
        total = entropy
        if statement.known != 0:
            total = Where(Equals(statement.known, 0), entropy, sp.S.Zero)
        for place, dim in zip(self.step.region, self.dims(self.arrays[0]), strict=True):
            if dim in self.event or dim in self._dense_dims:
                continue
            if isinstance(place, int):
                total = substitute(total, {dim: sp.Integer(place)})
            else:
                total = Over(total, dim, place.start, place.stop)
        return total

    @property
    def _dense_dims(self) -> tuple[Dim, ...]:
        dims = self.dims(self.arrays[0])
        return tuple(dims[a] for a in self.step.dense)


def _known(found: Expr | NoFormula) -> Expr:
    """A formula, or the refusal."""
    if isinstance(found, NoFormula):
        raise Refused(found.reason)
    return found


class Scalars(OfFamily):
    """Elements that are independent of one another, each of one number."""

    __slots__ = ()

    @property
    def always(self) -> tuple[Moment, ...]:
        """The mean and the variance of a truncated draw, which its other formulas read."""
        if not self.step.bounds or not self.is_quadratic:
            return ()
        (array,) = self.arrays
        return self._mean_of(array), self._variance_of(array)

    @property
    def is_quadratic(self) -> bool:  # type: ignore[override]
        """Whether there is a variance."""
        found = moments(self.step.conditional.family, self.symbols)
        return not isinstance(found, NoFormula) and found.variance is not None

    @property
    def shown(self) -> tuple[Shown, ...]:
        """The elements that positions of multilinear forms show: of data none is shown twice."""
        if not self.is_quadratic:
            return ()
        return tuple(
            Shown(f.over, tuple(Seen(e.leaf, e.ranges, self._variance(e.leaf)) for e in f.entries))
            for f in self.step.conditional.forms
        )

    def _variance(self, leaf: Leaf) -> Expr:
        """The variance of an element."""
        return self._variance_of(leaf.array.name)[leaf.indices]

    def _of_statistic(self, j: int) -> Expr | NoFormula:
        conditional = self.step.conditional
        natural, known = conditional.family.natural, dict(conditional.known)
        assert natural is not None
        plain_ = replace(self.symbols, change=None)

        def function(u: Expr) -> Expr:
            return natural.statistics(u, conditional.event, **known)[j]

        found = expectation(conditional.family, plain_, function)
        both = moments(conditional.family, plain_)
        u = symbol_of(conditional.family)
        is_square = isinstance(found, NoFormula) and function(u) == u**2
        if is_square and not isinstance(both, NoFormula) and both.variance is not None:
            (array,) = self.arrays
            own = self.dims(array)
            return self._mean_of(array)[own] ** 2 + self._variance_of(array)[own]
        return found

    def _given_mean(self, of: Symbols) -> Symbols:
        """The symbols with the mean of a truncated draw, whose formula is long, at hand."""
        if of.bounds is None:
            return of
        (array,) = self.arrays
        mean = self._mean_of(array)[self.dims(array)]
        return replace(of, mean=mean if of.change is None else of.change.forward(mean))

    def in_bound(self, piece: Piece) -> Expr | None:
        """The expectation without base measures and statistics that cancel."""
        leaves = {v.leaf for v in piece.views if None not in v.indices}
        if len(leaves) != 1:
            return None
        (leaf,) = leaves
        own = self.element(leaf.array.name)
        found = self._without(piece.statistic.xreplace({leaf: own}), own)
        if found is None:
            return None
        at = {i: j for i, j in zip(own.indices, leaf.indices, strict=True) if i != j}
        return substitute(found, at)

    def _without(self, value: Expr, own: Leaf) -> Expr | None:
        """A function of an element without terms that cancel; None where it has none of them."""
        change, u = self.step.change, symbol_of(self.step.conditional.family)
        new = self._what_stays(value.xreplace({own: change.backward(u) if change else u}), u)
        if new is None or not new.has(u):
            return new
        back = change.forward(X) if change else X
        form = sp.expand_log(new.xreplace({u: back}), force=True)
        return self._asked(own.array.name, form)[own.indices]

    def _what_stays(self, value: Expr, u: sp.Dummy) -> Expr | None:
        """A function of what is drawn without terms that cancel; None where it has none of them."""
        conditional = self.step.conditional
        natural = conditional.family.natural
        assert natural is not None
        statistics = natural.statistics(u, conditional.event, **dict(conditional.known))
        base = tuple(t.as_coeff_Mul()[1].xreplace({conditional.place: u}) for t in self.base[0])
        gone, every = [statistics[j] for j in self.left_out] + list(base), (*statistics, *base)
        if not gone:
            return None
        weights, constant = combination(sp.expand_log(value, force=True), every, u)
        held = [(w, s) for w, s in zip(weights, every, strict=True) if w != 0]
        if constant is None or not any(s in gone for _, s in held):
            return None
        return Add(constant, *(w * s for w, s in held if s not in gone))

    def _of_jacobian(self) -> Expr:
        change = self.step.change
        if change is None:
            return sp.S.Zero
        family = self.step.conditional.family
        u = symbol_of(family)
        slope = sp.diff(change.backward(u), u)
        slope = -slope if slope.is_negative else slope
        plain_ = replace(self.symbols, change=None)
        log_slope = sp.expand_log(sp.log(slope), force=True)
        stays = self._what_stays(log_slope, u)
        log_slope = log_slope if stays is None else stays
        return _known(expectation(family, plain_, lambda v: log_slope.xreplace({u: v})))

    def _formula(self, what: Any, of: Symbols) -> Expr:
        family = self.step.conditional.family
        if what == "variance":
            found = moments(family, self._given_mean(of))
            if isinstance(found, NoFormula):
                raise Refused(found.reason)
            if found.variance is None:
                raise Refused("its variance has no formula")
            return found.variance
        function = lambda u: what.xreplace({X: u})  # noqa: E731
        return _known(expectation(family, of, function))

    def mean(self, leaf: Leaf) -> Expr:
        """The mean of an element."""
        return self._mean_of(leaf.array.name)[leaf.indices]

    def covariance(self, piece: Piece) -> Expr:
        """The variance, where both elements are the same."""
        one, other = ends_of(piece)
        same = same_element(one.indices, other.indices)
        return same * self._variance(one) if same != 0 else sp.S.Zero

    def of_statistic(self, piece: Piece) -> Expr:
        """The expectation of a function of one element."""
        leaves = {v.leaf for v in piece.views if None not in v.indices}
        if len(leaves) != 1 or len(leaves) < len(piece.views):
            return Averages.of_statistic(self, piece)
        (leaf,) = leaves
        array = leaf.array.name
        form = piece.statistic.xreplace({leaf: X})
        if form == X:
            return self.mean(leaf)
        return self._asked(array, form)[leaf.indices]

    def _asked(self, array: str, form: Expr) -> Moment:
        """The expectation of a function of each element."""
        function = form.xreplace({X: self.element(array)})
        stem = f"E_{PLAIN.text(form.xreplace({X: sp.Symbol(array)}))}"
        facts = {"sign": "E", "inside": (function,), "at_point": function}
        return self.asked.moment((array,), form, stem, self.dims(array), **facts)


class Events(OfFamily):
    """Values with several entries, of a row whose statistics are those of entries."""

    __slots__ = ()
    is_quadratic = False

    def mean(self, leaf: Leaf) -> Expr:
        """The mean of an entry."""
        array, place = leaf.array.name, self.step.conditional.place
        found = self.asked.moment(
            (array,), alpha(place), f"E_{array}", self.dims(array),
            sign="E", inside=(self.element(array),), at_point=self.element(array),
        )  # fmt: skip
        return found[leaf.indices]

    def of_statistic(self, piece: Piece) -> Expr:
        """The expectation of a statistic of the row, or of an entry."""
        assert isinstance(self.step, FamilyDraw)
        conditional = self.step.conditional
        place, event = conditional.place, conditional.event
        form = in_place(piece, place, event)
        if form is None or len(piece.views) != 1:
            return Averages.of_statistic(self, piece)
        (view,) = piece.views
        array = view.array.name
        every = self.dims(array)
        kept = [a for a, i in enumerate(view.indices) if i is not None]
        dims = tuple(every[a] for a in kept)
        own = {i: d for i, d in zip(place.indices, every, strict=True) if i != d}
        function = substitute(form, own)
        found = self.asked.moment(
            (array,), alpha(form), f"E_{PLAIN.text(_plain(form, place))}", dims,
            sign="E", inside=(function,), at_point=function,
        )  # fmt: skip
        return found[tuple(i for i in view.indices if i is not None)]


    def in_bound(self, piece: Piece) -> Expr | None:
        """Nothing, of terms of the base measure."""
        conditional = self.step.conditional
        form = in_place(piece, conditional.place, conditional.event)
        base = {alpha(_inside(t)) for t in self.base[0]}
        return sp.S.Zero if form is not None and alpha(form) in base else None

    def _formula(self, what: Any, of: Symbols) -> Expr:
        conditional = self.step.conditional
        for j, statistic in enumerate(conditional.statistics):
            if alpha(statistic) == what:
                return _known(of_statistic(conditional.family, of, j))
        if what == alpha(conditional.place):
            found = plain(conditional.family, of.etas, of.event, of.known or {})
            if not isinstance(found, NoFormula):
                return found.mean
        raise Refused(f"E[{what}] under {conditional.family.name} has no formula")


def _inside(term: Expr) -> Expr:
    """The summand of a term of a base measure over entries, without its coefficient."""
    found = term.as_coeff_Mul()[1]
    while isinstance(found, Over):
        found = found.body
    return found.as_coeff_Mul()[1]


def _plain(form: Expr, place: Leaf) -> Expr:
    """A function of an entry as one of a number, for a name."""
    return form.xreplace({place: sp.Symbol(place.array.name)})
