"""Draws element by element, with shared sums and residuals kept up to date.

Comes in: a step drawn colour by colour, by a form that is linear in each element. Goes out: an
`ElementLoop`: the slope as a function of maintained values (the element itself, sums of elements,
values of the data), and the change of each maintained sum with the element. The value of the form,
and the sums, then cost no more for each call than its own entries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, dims_of, mentions
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range, bounded, fresh
from gibbsppl.derive.colours import Chart
from gibbsppl.derive.contractions import data_only
from gibbsppl.derive.form_facts import free_axes
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.multilinear_forms import Entry, LinearForm, form_pieces, slope_in
from gibbsppl.derive.readings import alpha
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.elements import idempotent
from gibbsppl.schedule.kept_sums import Kept, KeptSum, Rows, UnsuitedError, rows_that_see
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# Rows of at most so many positions are gone through again for each entry.
MOST_POSITIONS = 3


@dataclass(frozen=True, slots=True)
class ElementLoop:
    """The draws of a step's elements, with shared values kept up to date.

    ``slope`` and the weights of ``sums`` are functions of the symbols of ``own`` (the element), of
    the sums, of ``data`` (values by entry), ``rows`` (values by row), ``elements`` (values of the
    state by element, given at the axes of the array) and ``state`` (others of the state, by entry).
    All colours are gone through at each position along the ``outer`` axes. ``rest``: the symbols of
    sums stand for sums without the element's own position, computed for each entry: less work than
    to maintain the sums where a row has few positions.
    """

    form: LinearForm
    entry: Entry
    outer: tuple[int, ...]
    own: sp.Symbol
    sums: tuple[KeptSum, ...] = ()
    data: dict[Expr, sp.Symbol] = field(default_factory=dict)
    rows: dict[Expr, sp.Symbol] = field(default_factory=dict)
    elements: dict[Expr, sp.Symbol] = field(default_factory=dict)
    state: dict[Expr, sp.Symbol] = field(default_factory=dict)
    slope: Expr = sp.S.Zero
    rest: bool = False

    @property
    def inner(self) -> tuple[Range, ...]:
        """The ranges of the entries of one row."""
        return inner_of(self.entry, self.outer)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The array that columns are of."""
        return (self.entry.view.array.name,)


def others_of(parameter: NaturalParameter, form: LinearForm) -> NaturalParameter:
    """A natural parameter by all factors but that of a form."""
    rest = (c for c in parameter.contributions if c.factor != form.factor)
    return replace(parameter, contributions=tuple(rest))


def is_tied_otherwise(step: FamilyDraw, form: LinearForm) -> bool:
    """Whether elements are tied by other factors as well as by a form."""
    rest = (c for p in step.parameters for c in others_of(p, form).contributions)
    return any(mentions(c.value, step.variables) for c in rest)


def element_loop(schedule: Schedule, step: Step) -> ElementLoop | None:
    """The loop by which a step maintains shared values; None where everything is computed anew."""
    graph = schedule.graph_of(step)
    if not isinstance(step, FamilyDraw):
        return None
    # (gates may be tied by other terms as well, which are computed for each element then)
    tied = () if step.statement.support.is_binary else step.variables
    if (outer := outer_of(graph, step, tied)) is None:
        return None
    (form,) = step.conditional.forms
    (entry,) = form.entries
    if not _is_of(step.conditional, form):
        return None
    # (what else is read along an outer axis is not by column)
    for axes in dict.fromkeys((outer, ())):
        try:
            return _Maker(graph, form, entry, axes).loop()
        except UnsuitedError:
            continue
    return None


def outer_of(
    graph: Graph, step: FamilyDraw, arrays: tuple[str, ...]
) -> tuple[int, ...] | None:
    """The outer axes of a step by the one view of one form; None where there is no loop.

    Other factors, whose contributions are computed once, read none of the ``arrays``.
    """
    conditional, colours = step.conditional, step.colours
    if not isinstance(colours, Chart) or len(conditional.forms) != 1:
        return None
    (form,), place = conditional.forms, conditional.place
    if len(form.entries) != 1:
        return None
    plain = step.alpha is None and not (step.bounds or step.kept or conditional.change)
    statistics = (place,) if step.statement.support.is_binary else (place, place**2)
    plain = plain and not conditional.known and conditional.statistics == statistics
    # (what all else contributes is computed once, before any element is drawn)
    rest = (c for p in step.parameters for c in p.contributions if c.factor != form.factor)
    plain = plain and not any(mentions(c.value, arrays) for c in rest)
    whole = tuple(Range(d, 0, graph.sizes[d]) for d in graph.variables[step.variables[0]].dims)
    if not plain or step.statement.known != 0 or step.region != whole or not form.over:
        return None
    outer = tuple(sorted(free_axes(form.entries)))
    if len(outer) == len(whole) == 1:  # (its positions are the columns)
        outer = ()
    if len(outer) > 1:
        return None
    return None if colours.count % prod(len(whole[a]) for a in outer) else outer


def inner_of(entry: Entry, outer: tuple[int, ...]) -> tuple[Range, ...]:
    """The ranges of the entries of one row, those along outer axes apart."""
    along = {entry.view.indices[a] for a in outer}
    return tuple(r for r in entry.ranges if r.dim not in along)


def rows_of(
    form: LinearForm, entry: Entry, outer: tuple[int, ...], dims: tuple[Dim, ...]
) -> Rows:
    """The rows of a form that see an element, each at one of its entries; of one outer position."""
    read = enumerate(zip(entry.view.read, dims, strict=True))
    places = (place for a, place in read if a not in outer)
    return rows_that_see((*form.over, *inner_of(entry, outer)), places)


def _is_of(conditional: Conditional, form: LinearForm) -> bool:
    """Whether a factor's pieces are those of its form (those of an expected form may be more)."""
    found = defaultdict[Expr, Expr](lambda: sp.S.Zero)
    for piece in (p for ps in conditional.pieces for p in ps if p.factor == form.factor):
        found[piece.statistic] += piece.coefficient
    for piece in idempotent(form_pieces(form), conditional.statement.support):
        found[piece.statistic] -= piece.coefficient
    return all(left == 0 or multiplied_out(left) == 0 for left in found.values())


def by_parts(expr: Expr, written: Callable[[Expr], Expr]) -> Expr:
    """A sum, a product or a whole power with its parts written; `UnsuitedError` for others."""
    if expr.is_Add or expr.is_Mul or is_whole_power(expr):
        return expr.func(*map(written, expr.args))
    raise UnsuitedError


def is_whole_power(expr: Expr) -> bool:
    """Whether an expression is a power with a whole number as its exponent."""
    return isinstance(expr, sp.Pow) and bool(expr.exp.is_Integer)


class _Maker:
    """Writes a slope in terms of maintained values."""

    def __init__(
        self, graph: Graph, form: LinearForm, entry: Entry, outer: tuple[int, ...]
    ) -> None:
        self.target, self.is_data = entry.view.array.name, data_only(graph.random)
        self.axes = graph.variables[self.target].dims
        self.found = ElementLoop(form, entry, outer, sp.Symbol(f"{self.target}_at", real=True))
        self.sums: dict[Expr, sp.Symbol] = {}
        self.over = {r.dim for r in form.over}
        self.inner = {r.dim for r in self.found.inner}
        self.outer = {entry.view.indices[a] for a in outer}

    def loop(self) -> ElementLoop:
        """The loop, if the slope is a polynomial in values that can be maintained."""
        found = self.found
        slope = self._written(found.entry.slope)
        for e in (found.form.constant, found.form.curvature):
            if not dims_of(e) <= self.over:
                raise UnsuitedError
        weights = {e: self._written(slope_in(e, found.entry)) for e in list(self.sums)}
        if any(c.has(found.own, *self.sums.values()) for c in weights.values()):
            raise UnsuitedError
        over, rows = found.form.over, rows_of(found.form, found.entry, found.outer, self.axes)
        sums = tuple(
            KeptSum(Kept(str(s), over, e), rows, weights[e]) for e, s in self.sums.items()
        )
        if self._is_short():
            others = {s.symbol: s.symbol + s.weight * found.own for s in sums}
            without = multiplied_out(slope.xreplace(others))
            if not without.has(found.own):
                names = (s.kept.name.replace("_sum", "_rest") for s in sums)
                named = [replace(s.kept, name=n) for s, n in zip(sums, names, strict=True)]
                rests = tuple(replace(s, kept=k) for s, k in zip(sums, named, strict=True))
                told = {s.symbol: r.symbol for s, r in zip(sums, rests, strict=True)}
                return replace(found, sums=rests, slope=without.xreplace(told), rest=True)
        return replace(found, slope=slope, sums=sums)

    def _is_short(self) -> bool:
        """Whether a row has so few positions that sums are computed for each entry, not kept."""
        found = self.found
        if len(found.inner) != 1 or len(found.inner[0]) > MOST_POSITIONS or not self.sums:
            return False
        return all(
            isinstance(e, Over)
            and root_of(e.bound[0]) == root_of(found.inner[0].dim)
            and is_linear(e, (self.target,))
            and all(leaf.array.name == self.target or self.is_data(leaf) for leaf in e.atoms(Leaf))
            for e in self.sums
        )

    def _written(self, expr: Expr) -> Expr:
        if expr.is_number:
            return expr
        if expr == self.found.entry.leaf:
            return self.found.own
        if not mentions(expr, (self.target,)):
            return self._given(expr)
        if isinstance(expr, Over):
            return self._summed(expr)
        return by_parts(expr, self._written)

    def _given(self, expr: Expr) -> Expr:
        dims = dims_of(expr)
        if dims <= self.over:
            return self._symbol(self.found.rows, expr, "row")
        is_product = expr.is_Mul or is_whole_power(expr)
        if self.is_data(expr) and not is_product and dims <= self.over | self.inner:
            return self._symbol(self.found.data, expr, "at")
        if not is_product and (own := self._by_element(expr)) is not None:
            return self._symbol(self.found.elements, own, "own")
        if isinstance(expr, Leaf | Over) and dims <= self.over | self.inner:
            return self._symbol(self.found.state, expr, "there")
        return by_parts(expr, self._written)

    def _by_element(self, expr: Expr) -> Expr | None:
        """A value at the element of an entry, given at the axes of the array; None for others."""
        read = self.found.entry.view.read
        places = dict(zip(read, self.axes, strict=True))
        others = {d for leaf in expr.atoms(Leaf) for i in leaf.indices for d in dims_of(i)}
        if any(i not in places for leaf in expr.atoms(Leaf) for i in leaf.indices):
            return None
        own = expr.xreplace({i: d for i, d in places.items() if i != d})
        return own if dims_of(expr) <= others and dims_of(own) <= set(self.axes) else None

    def _summed(self, expr: Expr) -> Expr:
        own = [leaf for leaf in expr.atoms(Leaf) if leaf.array.name == self.target]
        axes = self.found.outer
        at = tuple(self.found.entry.view.indices[a] for a in axes)
        if any(tuple(leaf.indices[a] for a in axes) != at for leaf in own):
            raise UnsuitedError
        others = (leaf for leaf in expr.atoms(Leaf) if leaf.array.name != self.target)
        if not dims_of(expr) <= self.over | self.outer or any(
            dims_of(leaf) & self.outer for leaf in others
        ):
            raise UnsuitedError
        return self._symbol(self.sums, expr, "sum")

    def _symbol(self, among: dict[Expr, sp.Symbol], expr: Expr, kind: str) -> sp.Symbol:
        if expr not in among:
            arrays = sorted({leaf.array.name for leaf in expr.atoms(Leaf)})
            stem = self.target if kind == "sum" else "_".join(arrays[:2])
            taken = [str(s) for s in among.values()]
            among[expr] = sp.Symbol(fresh(f"{stem}_{kind}", taken), real=True)
        return among[expr]


def kept_forms(schedule: Schedule) -> tuple[Kept, ...]:
    """The maintained forms of a schedule: one for each distinct form of its element loops."""
    if schedule.units or schedule.parts:
        return ()
    taken = {*schedule.whole.variables, *map(str, schedule.whole.sizes)}
    found: dict[Expr, Kept] = {}
    for step in schedule.steps:
        loop = element_loop(schedule, step)
        if loop is not None and loop.form.form not in found:
            names = {k.name for k in found.values()}
            name = fresh(f"{loop.form.factor}_form", taken | names)
            found[loop.form.form] = Kept(name, loop.form.over, loop.form.form, loop.form.factor)
    return tuple(found.values())


def moved_by(schedule: Schedule, step: Step, kept: Kept) -> Expr | None:
    """The change of a form in terms of a step's changes; None unless the form is linear in them."""
    names = schedule.changed_by(step)
    if schedule.stand_ins(step):
        return None
    terms = [t for t in sp.Add.make_args(kept.form) if mentions(t, names)]
    return sp.Add(*terms) if terms and all(is_linear(t, names) for t in terms) else None


def is_linear(term: Expr, names: tuple[str, ...]) -> bool:
    """Whether a term has just one factor of any of the arrays, and no power of it."""
    if isinstance(term, Leaf):
        return term.array.name in names and not mentions(sp.Tuple(*term.indices), names)
    if isinstance(term, Over):
        return is_linear(term.body, names)
    if term.is_Add:
        return all(is_linear(a, names) for a in term.args)
    if term.is_Mul:
        held = [a for a in term.args if mentions(a, names)]
        return len(held) == 1 and is_linear(held[0], names)
    return False


def reading_kept(
    expr: Expr, kept: tuple[Kept, ...], own: tuple[str, ...], sizes: Mapping[Dim, int]
) -> Expr:
    """An expression that reads the values of forms instead of computing them.

    A sum that is a form but for terms of the ``own`` arrays is the form's value less these terms.
    """
    for k in kept:
        terms = {alpha(bounded(t, sizes)): t for t in sp.Add.make_args(k.form)}
        replaced = {}
        for e in (e for e in sp.preorder_traversal(expr) if isinstance(e, sp.Add)):
            found = {alpha(bounded(t, sizes)) for t in e.args}
            left = [t for form, t in terms.items() if form not in found]
            if found <= set(terms) and all(mentions(t, own) for t in left):
                replaced[e] = k.leaf - sp.Add(*left)
        expr = expr.xreplace(replaced) if replaced else expr
    return expr


def is_carried(schedule: Schedule, kept: Kept, own: tuple[str, ...]) -> bool:
    """Whether every step that changes an array of a form keeps the form's value up to date.

    ``own`` are the names of the steps that draw by the form.
    """
    changing = [s for s in schedule.steps if set(schedule.changed_by(s)) & kept.read]
    return all(s.name in own or moved_by(schedule, s, kept) is not None for s in changing)
