"""Means taken element by element, with shared sums and a form at the means kept up to date.

Comes in: a step by colours whose pieces are expectations over the other elements. Goes out: a
`MeanLoop`: what each entry adds to the natural parameters, as a function of the moments of the
element, of the form at the means, and of sums of monomials along a row. These sums change with one
element by what its monomial changes by, so that no call costs more than its own entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, mentions, substitute
from gibbsppl.algebra.ranges import Range, fresh, range_of
from gibbsppl.derive.contractions import IsData, data_only
from gibbsppl.derive.multilinear_forms import Entry, LinearForm
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.element_loops import (
    ElementLoop,
    by_parts,
    inner_of,
    is_whole_power,
    outer_of,
)
from gibbsppl.schedule.kept_sums import UnsuitedError
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True)
class MeanLoop:
    """The updates of the moments of a step's elements, with shared values kept up to date.

    ``added`` are what an entry adds to each natural parameter, functions of symbols: of ``own``
    (the moments of the element that others read), ``total`` (the form at the means), ``sums`` (of
    monomials, given at the entry, along the row), ``data`` (by entry) and ``rows`` (by row).
    ``slope`` is that of the form by the ``mean``. ``formulas`` are those of all moments, in the
    natural parameters ``given``. All colours are gone through at each position along the ``outer``
    axes.
    """

    form: LinearForm
    entry: Entry
    outer: tuple[int, ...]
    mean: str
    given: tuple[Leaf, ...]
    formulas: Mapping[str, Expr]
    total: sp.Symbol
    own: dict[str, sp.Symbol]
    sums: dict[Expr, sp.Symbol] = field(default_factory=dict)
    data: dict[Expr, sp.Symbol] = field(default_factory=dict)
    rows: dict[Expr, sp.Symbol] = field(default_factory=dict)
    added: tuple[Expr, ...] = ()
    slope: Expr = sp.S.Zero
    changes: dict[Expr, Expr] = field(default_factory=dict)

    @property
    def inner(self) -> tuple[Range, ...]:
        """The ranges of the entries of one row."""
        return inner_of(self.entry, self.outer)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that columns are of."""
        return tuple(self.own)


# What keeps a form up to date while elements are drawn, or averaged.
ByForm: TypeAlias = ElementLoop | MeanLoop


def mean_loop(
    graph: Graph,
    step: Step,
    moments: Mapping[Moment, Expr | None],
    given: Mapping[str, tuple[Dim, ...]],
) -> MeanLoop | None:
    """The loop by which the moments of a step are updated; None where all is computed anew."""
    if not isinstance(step, FamilyDraw) or not step.conditional.forms:
        return None
    read = tuple(m.name for m in moments if m.what != "entropy")
    outer, dims = outer_of(graph, step, read), graph.variables[step.variables[0]].dims
    own = step.statement.target.array[dims]
    means = [m for m in moments if m.sign == "E" and m.at_point == own]
    etas = tuple(Array(name)[axes] for name, axes in given.items())
    by_element = all(
        m.dims == dims and f is not None and f.atoms(Leaf) <= set(etas)
        for m, f in moments.items()
    )
    is_whole = all(axes == dims for axes in given.values())
    if outer is None or len(means) != 1 or not (by_element and is_whole):
        return None
    (form,), (mean,) = step.conditional.forms, means
    (entry,) = form.entries
    formulas = {m.name: f for m, f in moments.items() if f is not None}
    total = sp.Symbol(f"{form.factor}_form", real=True)
    symbols = {n: sp.Symbol(n, real=True) for n in read}
    found = MeanLoop(form, entry, outer, mean.name, etas, formulas, total, symbols)
    if len(found.inner) != 1:
        return None
    try:
        return _Maker(found, graph, data_only(graph.random)).loop(step)
    except UnsuitedError:
        return None


class _Maker:
    """Writes what entries add in terms of values that can be kept up to date."""

    def __init__(self, found: MeanLoop, graph: Graph, is_data: IsData) -> None:
        self.found, self.sizes, self.is_data = found, graph.sizes, is_data
        (self.inner,) = found.inner
        self.over = {r.dim for r in found.form.over}
        at = found.entry.leaf.indices
        self.at_entry: dict[Expr, sp.Symbol] = {Array(n)[at]: s for n, s in found.own.items()}

    def loop(self, step: FamilyDraw) -> MeanLoop:
        """The loop, if what entries add is a polynomial in values that can be kept up to date."""
        found, over = self.found, {*self.found.form.over, *self.found.entry.ranges}
        added = []
        for pieces in step.conditional.pieces:
            own = [p for p in pieces if p.factor == found.form.factor]
            if any(p.views != (found.entry.view,) or set(p.over) != over for p in own):
                raise UnsuitedError
            added.append(sp.Add(*(self._written(p.coefficient) for p in own)))
        slope = self._written(found.entry.slope)
        changes = {e: self._written(e) for e in found.sums}
        return replace(found, added=tuple(added), slope=slope, changes=changes)

    def _written(self, expr: Expr) -> Expr:
        found = self.found
        if expr.is_number:
            return expr
        if found.form.form in (expr, -expr):
            return found.total if expr == found.form.form else -found.total
        if expr in self.at_entry:
            return self.at_entry[expr]
        if not mentions(expr, found.own):
            return self._given(expr)
        if isinstance(expr, Over):
            return self._summed(expr)
        return by_parts(expr, self._written)

    def _given(self, expr: Expr) -> Expr:
        """A value by row, or of data by entry, where no moments of the step's elements are read."""
        dims = dims_of(expr)
        if dims <= self.over:
            return self._symbol(self.found.rows, expr, "row")
        has_parts = expr.is_Add or expr.is_Mul or is_whole_power(expr)
        if not has_parts and self.is_data(expr) and dims <= self.over | {self.inner.dim}:
            return self._symbol(self.found.data, expr, "at")
        return by_parts(expr, self._written)

    def _summed(self, expr: Over) -> Expr:
        """A sum along a row as sums of monomials, each times what does not vary along the row."""
        r = range_of(expr, self.sizes)
        if (r.start, r.stop) != (self.inner.start, self.inner.stop):
            raise UnsuitedError
        terms = []
        for term in sp.Add.make_args(sp.expand(expr.body)):
            along = [f for f in Mul.make_args(term) if r.dim in dims_of(f)]
            beside = [f for f in Mul.make_args(term) if r.dim not in dims_of(f)]
            own = self._monomial(substitute(Mul(*along), {r.dim: self.inner.dim}))
            terms.append(Mul(own, *map(self._written, beside)))
        return sp.Add(*terms)

    def _monomial(self, body: Expr) -> sp.Symbol:
        """The sum along the row of a monomial in moments and data at its positions."""
        bases = {f.as_base_exp()[0] for f in Mul.make_args(body)}
        moments = bases & set(self.at_entry)
        rest = [b for b in bases - moments if not b.is_number]
        is_plain = all(isinstance(b, Leaf) and self.is_data(b) for b in rest)
        # (where a weight is 0, no entry tells the sum of a change)
        if not moments or not is_plain or not set(self.found.entry.weights) <= bases:
            raise UnsuitedError
        return self._symbol(self.found.sums, body, "sum")

    def _symbol(self, among: dict[Expr, sp.Symbol], expr: Expr, kind: str) -> sp.Symbol:
        if expr not in among:
            arrays = sorted({leaf.array.name for leaf in expr.atoms(Leaf)})
            own = [n for n in arrays if n in self.found.own]
            taken = [str(s) for s in among.values()]
            name = fresh(f"{'_'.join((own or arrays)[:2])}_{kind}", taken)
            among[expr] = sp.Symbol(name, real=True)
        return among[expr]
