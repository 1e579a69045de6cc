"""Log densities that kernels evaluate at candidates, and the draws and moves by them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from math import inf

import sympy as sp

from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.expressions import Leaf, mentions
from gibbsppl.algebra.rounding import growth, may_be_infinite
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Reduce,
    mapped,
    product,
    total,
)
from gibbsppl.code.arrays.statements import (
    Argument,
    Density,
    Draw,
    Let,
    Statement,
    Store,
)
from gibbsppl.code.lowering.by_sums import KeptSums
from gibbsppl.code.lowering.contributions import is_everywhere
from gibbsppl.code.lowering.draws import current, undone
from gibbsppl.code.lowering.parameters import by_element, guarded, parameter
from gibbsppl.code.lowering.selections import Selection, selection
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.errors import NotLoweredError
from gibbsppl.pieces.vanishing import may_be_zero
from gibbsppl.schedule.element_sums import CANDIDATE as CANDIDATE_VALUE
from gibbsppl.schedule.element_sums import sum_loop
from gibbsppl.schedule.kinds import ChangedDraw, DensityDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.terms_by_element import one_given_others

# The number at which a log density is evaluated, and the one that a kernel has drawn.
CANDIDATE = "candidate"


def lower_by_density(
    w: Workshop,
    step: DensityDraw,
    kernel: str,
    more: tuple[Argument, ...] = (),
    outputs: tuple[str, ...] = (),
    around: tuple[tuple[Statement, ...], tuple[Statement, ...]] = ((), ()),
) -> None:
    """A draw or a move of each element by its log density: one element after the other.

    ``more`` are further arguments of the kernel, ``outputs`` numbers that it tells besides;
    ``around`` are statements before and after each element.
    """
    chosen = selection(w, step)
    coefficients = () if chosen.one_by_one else coefficients_of(w, step)
    call = _Call(kernel, more, outputs)
    loop = sum_loop(step, w.graph) if chosen.one_by_one else None
    kept = None if loop is None else KeptSums.begun(w, step, loop, chosen)
    local = w.with_local(*kept.names) if kept is not None else nullcontext()
    is_whole = chosen.one_by_one and not step.is_coloured and loop is None
    alone = one_given_others(step, w.graph) if is_whole else None
    with local, w.inside(*chosen.over) if chosen.over else nullcontext():
        w.add(*around[0])
        if alone is not None:
            coefficients = _of_element(w, alone, chosen)
        _one(w, alone or step, chosen, call, coefficients, kept)
        w.add(*around[1])


def coefficients_of(w: Workshop, step: DensityDraw) -> tuple[Expr, ...]:
    """The coefficients of statistics, for all elements."""
    return tuple(
        parameter(w, p, f"{step.variables[0]}_eta_{j}") for j, p in enumerate(step.parameters, 1)
    )


def _of_element(w: Workshop, step: DensityDraw, chosen: Selection) -> tuple[Expr, ...]:
    """The coefficients of statistics of the element drawn, computed once."""
    found = []
    for p in step.parameters:
        name = w.fresh(f"{step.variables[0]}_coefficient")
        w.add(Let(name, (), chosen.of(by_element(w, p))))
        found.append(Element(name))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Call:
    """A kernel, with the arguments and results that it has beside those of all."""

    kernel: str
    more: tuple[Argument, ...]
    outputs: tuple[str, ...]


def _one(
    w: Workshop,
    step: DensityDraw,
    chosen: Selection,
    call: _Call,
    coefficients: tuple[Expr, ...],
    kept: KeptSums | None,
) -> None:
    """The draw of one element, maybe by sums that are kept up to date."""
    array = step.variables[0]
    target = chosen.element(array, w.dims(array))
    candidate, drawn = w.fresh(CANDIDATE), w.fresh(f"{array}_drawn")
    changed = step if isinstance(step, ChangedDraw) and step.change is not None else None
    now = current(w, step, chosen)
    ends = tuple(Argument(end_of(w, step, chosen, side)) for side in ("lower", "upper"))
    if kept is None:
        density = density_of(w, step, chosen, coefficients, candidate)
    else:
        kept.weigh()
        density = _density_by(w, chosen, kept, candidate)
    is_whole = step.statement.support.is_discrete and changed is None
    w.add(Let(drawn, (), ZERO, type="int" if is_whole else "float", is_empty=True))
    arguments = (Argument(now), *ends, *call.more)
    targets = (Element(drawn), *map(Element, call.outputs))
    w.add(Draw(targets, call.kernel, arguments, density=density, note=step.name))
    value = Element(drawn)
    w.add(Store(target, value if changed is None else undone(w, changed, chosen, value)))
    if kept is not None:
        kept.follow()


def _density_by(w: Workshop, chosen: Selection, kept: KeptSums, candidate: str) -> Density:
    """The log density of the element drawn by sums over all, as a function of a candidate."""
    tried = CANDIDATE_VALUE.array.name
    terms = sorted(kept.terms, key=lambda c: -growth(c.value, tried))
    own, here = Element(tried), Element(candidate)
    value = chosen.of(total([w.plain(c.value) for c in terms]))
    return Density(candidate, mapped(value, lambda e: here if e == own else None))


def end_of(w: Workshop, step: DensityDraw, chosen: Selection, side: str) -> Expr:
    """A bound of the support of what is drawn."""
    value = sp.sympify(getattr(step.support, side))
    # A bound that is another element of the same array is a term of the log density.
    if value in (sp.oo, -sp.oo) or mentions(value, step.variables):
        return Number(-inf if side == "lower" else inf)
    return chosen.of(w.expr(value))


def density_of(
    w: Workshop,
    step: DensityDraw,
    chosen: Selection,
    coefficients: tuple[Expr, ...],
    candidate: str,
) -> Density:
    """The log density of the element drawn, as a function of a candidate."""
    dims = w.dims(step.variables[0])
    place = Leaf(step.place.array, *dims)
    found = _statistics(w, step, coefficients, place)
    for c in step.terms:
        value = w.plain(c.value)
        if c.place:
            value = guarded(w, c.place, dims, value, ZERO)
        found.append((growth(c.value, place.array.name), value))
    terms = [value for _, value in sorted(found, key=lambda term: -term[0])]
    here, own = Element(place.array.name, positions(dims)), Element("(candidate)")
    value = mapped(total(terms), lambda e: own if e == here else _summed(e, here))
    value = mapped(chosen.of(value), lambda e: Element(candidate) if e == own else None)
    if place.array.name not in value.arrays:
        return Density(candidate, value)
    if place.array.name not in step.variables:
        raise NotLoweredError(f"{step.name}: a new variable that is read at several elements.")
    target = chosen.element(step.variables[0], dims)
    return Density(candidate, value, (Store(target, Element(candidate)),))


def density_of_all(w: Workshop, step: DensityDraw) -> Expr:
    """The log density of all elements."""
    terms = sorted(step.terms, key=lambda c: -growth(c.value, step.place.array.name))
    return total([w.expr(c.value) for c in terms])


def _summed(e: Expr, here: Element) -> Expr | None:
    """A sum over dims of the element drawn: it reads the element at other positions, too."""
    is_over = isinstance(e, Reduce) and not here.free.isdisjoint(s.dim for s in e.spans)
    return e if is_over else None


def _statistics(
    w: Workshop, step: DensityDraw, coefficients: tuple[Expr, ...], place: Leaf
) -> list[tuple[float, Expr]]:
    """Coefficients times statistics, with how fast these grow."""
    found = []
    for j, p in enumerate(step.parameters):
        statistic = p.statistic.xreplace({step.place: place})
        grows = growth(p.statistic, place.array.name)
        eta = coefficients[j] if coefficients else by_element(w, p)
        found.append((grows, _weighted(w, p, eta, statistic)))
    return found


def weighted_statistic(
    w: Workshop, p: NaturalParameter, eta: Expr, own: Leaf, place: Leaf
) -> Expr:
    """A coefficient times a statistic of a place, written at another element."""
    return _weighted(w, p, eta, p.statistic.xreplace({place: own}))


def _weighted(w: Workshop, p: NaturalParameter, eta: Expr, statistic: Formula) -> Expr:
    """A coefficient times a statistic: 0 where it is 0, though the statistic may be infinite."""
    everywhere = all(is_everywhere(w, c, p.axes) for c in p.contributions)
    whole = sp.Add(*(c.value for c in p.contributions)) if everywhere else sp.S.Zero
    if may_be_infinite(statistic) and may_be_zero(whole, w.translation.continuous):
        return Apply("weighted", (eta, w.expr(statistic)))
    return product([eta, w.expr(statistic)])


