"""What changes of a log density with two entries of a value, as expressions and statements.

Comes in: a step whose values move by two of their entries (`gibbsppl.schedule.moved_entries` has
the terms). Goes out: the log density as a function of the two, up to a constant; statements that
compute before a move what the other entries contribute; statements that bring sums up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product as pairs_of

from gibbsppl.algebra.expressions import Dim, Leaf, substitute
from gibbsppl.code.arrays.expressions import (
    TWO,
    ZERO,
    Element,
    Expr,
    Position,
    Reduce,
    Size,
    Span,
    at,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Let, Statement
from gibbsppl.code.lowering.contributions import is_everywhere
from gibbsppl.code.lowering.densities import weighted_statistic
from gibbsppl.code.lowering.kept_sums import add_kept, brought_up, renamed, seen_rows
from gibbsppl.code.lowering.parameters import guarded, parameter
from gibbsppl.code.lowering.selections import Selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.contractions import Contribution
from gibbsppl.schedule.kept_sums import KeptSum
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.moved_entries import EntryTerms, ProductOfEntries, terms_of_entries

# A pair of entries.
Two = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """The log density of two entries, with the statements before and after their move."""

    value: Expr
    before: tuple[Statement, ...]
    after: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ChangesOfEntries:
    """The terms of a step: of ``single`` entries at the axes of the array, and of products.

    What is a sum in these, or in ``coefficients`` of products, is an array made before any move; so
    are the sums that are ``kept``, by name, which the terms of whole values in ``rows`` read.
    """

    step: DensityDraw
    terms: EntryTerms
    single: Expr
    coefficients: tuple[Expr, ...] = ()
    kept: Mapping[str, KeptSum] = field(default_factory=dict)
    rows: tuple[Contribution, ...] = ()

    @classmethod
    def of(cls, w: Workshop, step: DensityDraw) -> ChangesOfEntries:
        """The terms; all of them as they are, where values have no terms of their own."""
        if not step.is_coloured:
            return cls(step, EntryTerms(), ZERO, rows=step.terms)
        terms, dims = terms_of_entries(step, w.graph), w.dims(step.variables[0])
        own = Leaf(step.place.array, *dims)
        etas = (parameter(w, p, f"{step.variables[0]}_eta") for p in terms.parameters)
        single = [
            weighted_statistic(w, p, _summed_apart(w, eta), own, step.place)
            for p, eta in zip(terms.parameters, etas, strict=True)
        ]
        single += [guarded(w, c.place, dims, w.plain(c.value), ZERO) for c in terms.entries]
        coefficients = tuple(_coefficient(w, p) for p in terms.products)
        names = add_kept(w, step.variables[0], terms.kept)
        kept = {names[k.kept.name]: k for k in terms.kept}
        whole = tuple(replace(c, value=renamed(c.value, names)) for c in terms.rows)
        return cls(step, terms, total(single), coefficients, kept, whole)

    def at(self, w: Workshop, rows: tuple[Selection, ...], here: Two, known: Two) -> Changed:
        """The log density of two entries, at these elements, whose values before are known."""
        first, value = list[Statement](), [r.of(self.single) for r in rows]
        for p, coefficient in zip(self.terms.products, self.coefficients, strict=True):
            found, statements = _product(w, p, coefficient, rows)
            value.append(found)
            first += statements
        by = [total([e, negative(k)]) for e, k in zip(here, known, strict=True)]
        (row, _), dims = rows, w.dims(self.step.variables[0])
        places = [
            {a: r.of(Position(d.name)) for a, d in zip(self.terms.axes, dims, strict=False)}
            for r in rows
        ]

        def moved(e: Expr) -> Expr | None:
            if not isinstance(e, Element) or e.array not in self.kept:
                return None
            k = self.kept[e.array]
            there = dict(zip((r.dim.name for r in k.kept.over), e.indices, strict=True))
            return total([e, *(at(step, there) for step in _steps(w, k, places, by))])

        for c in self.rows:
            whole = w.plain(c.value)
            whole = guarded(w, c.place, dims[: len(c.place)], whole, ZERO) if c.place else whole
            value.append(row.of(mapped(whole, moved)))
        after = []
        for name, k in self.kept.items():
            seen = seen_rows(w, k.rows, places[0], row.over)
            change = product([*seen.shown, seen.placed(total(_steps(w, k, places, by)))])
            after.append(brought_up(k.kept, name, change, seen))
        return Changed(total(value), tuple(first), tuple(after))


def _steps(
    w: Workshop, k: KeptSum, places: list[dict[Dim, Expr]], by: list[Expr]
) -> list[Expr]:
    """How far entries at some places move, times their weights in a sum at a row."""
    weight = w.plain(k.weight)
    return [
        product([at(weight, {a.name: e for a, e in there.items()}), b])
        for there, b in zip(places, by, strict=True)
    ]


def _coefficient(w: Workshop, p: ProductOfEntries) -> Expr:
    """The coefficient of a product, at the axes of the array and the partner of the last."""
    with w.with_dims({p.partner: w.size(p.axes[-2])}):
        c = p.coefficient
        value = w.expr(c.value)
        value = _summed_apart(w, value) if is_everywhere(w, c, p.axes) else value
        return guarded(w, c.place, p.axes, value, ZERO)


def _summed_apart(w: Workshop, expr: Expr) -> Expr:
    """An expression with its sums as arrays, which are made here."""

    def one(e: Expr) -> Expr | None:
        if not isinstance(e, Reduce):
            return None
        name, dims = w.fresh("sum_of_data"), tuple(sorted(e.free))
        w.add(Let(name, tuple(w.span(Dim(d)) for d in dims), e))
        return Element(name, tuple(map(Position, dims)))

    return mapped(expr, one)


def _product(
    w: Workshop, p: ProductOfEntries, coefficient: Expr, rows: tuple[Selection, ...]
) -> tuple[Expr, list[Statement]]:
    """The terms of a product that two entries change, and what is computed before they move.

    Of ``sum(c[k, l] * f(x[k]) * g(x[l]), k, l)`` these are the terms of the two entries alone, and
    ``f`` and ``g`` of each times a sum over all others.
    """
    entry, partner = (d.name for d in p.axes[-2:])
    batch = {d: e for d, e in rows[0].at.items() if d != entry}
    places, other = [r.at[entry] for r in rows], Span(w.fresh("other_entry"), ZERO, Size(entry))

    def of(one: Expr, another: Expr) -> Expr:
        return at(coefficient, {**batch, entry: one, partner: another})

    def turned(one: Expr, another: Expr) -> Expr:
        return of(another, one)

    def function(which: Expr, place: Expr) -> Expr:
        return at(which, {**batch, entry: place})

    first, second = w.plain(p.first), w.plain(p.second)
    names = {ij: w.fresh("of_product") for ij in pairs_of(range(2), repeat=2)}
    known = {ij: Element(n) for ij, n in names.items()}
    before: list[Statement] = [Let(n, (), of(places[i], places[j])) for (i, j), n in names.items()]
    value = [
        product([known[i, j], function(first, places[i]), function(second, places[j])])
        for i, j in names
    ]
    sides = [(first, second, of, known)]
    if not _is_symmetric(p):
        sides.append((second, first, turned, {(j, i): e for (i, j), e in known.items()}))
    for own, others, there, of_two in sides:
        for i, place in enumerate(places):
            at_other = Position(other.dim)
            body = product([there(place, at_other), function(others, at_other)])
            two = (product([of_two[i, j], function(others, places[j])]) for j in range(2))
            rest = w.fresh("of_others")
            before.append(Let(rest, (), total([Reduce(body, (other,)), *map(negative, two)])))
            times = [TWO] if len(sides) == 1 else []
            value.append(product([*times, function(own, place), Element(rest)]))
    return total(value), before


def _is_symmetric(p: ProductOfEntries) -> bool:
    """Whether a product is the same with its two entries exchanged."""
    one, other = p.axes[-2:]
    value = p.coefficient.value
    return p.first == p.second and substitute(value, {one: other, other: one}) == value
