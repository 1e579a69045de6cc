"""Values of multilinear forms, residuals say, that a sweep keeps up to date.

A form is computed once a sweep. Draws of single elements, in which it is linear, read it instead of
all that it is made of, and add to it what they have changed; so do draws of whole arrays in which
it is linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.code.arrays.expressions import (
    TWO,
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    Span,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.groups import Hot
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let, Store
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.selections import Selection, selection
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.derive.contractions import Contribution
from gibbsppl.errors import NotLoweredError
from gibbsppl.schedule.element_loops import (
    ElementLoop,
    Kept,
    element_loop,
    kept_forms,
    moved_by,
    reading_kept,
)
from gibbsppl.schedule.kinds import FamilyDraw, QuadraticDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step


def begin_forms(w: Workshop) -> tuple[Kept, ...]:
    """The forms that the steps of a sweep keep up to date, computed at its begin."""
    found = kept_forms(w.schedule)
    for k in found:
        w.add(Let(k.name, w.spans(k.over), w.expr(k.form), k.factor))
        w.local.add(k.name)
    return found


def with_forms(w: Workshop, step: Step, forms: tuple[Kept, ...]) -> None:
    """A step, and what it changes forms by."""
    changed = set(w.schedule.changed_by(step))
    touched = [k for k in forms if changed & k.read and element_loop(w.schedule, step) is None]
    moved = {k.name: moved_by(w.schedule, step, k) for k in touched}
    names = {n for k in touched if moved[k.name] is not None for n in changed & k.read}
    before = {n: _copied(w, n) for n in sorted(names)}
    reading(w, step, forms).lower(w)
    changes = {n: _changed(w, n, old) for n, old in before.items()}
    for k in touched:
        here = tuple(Position(r.dim.name) for r in k.over)
        change = moved[k.name]
        if change is None:
            w.add(Store(Element(k.name, here), w.expr(k.form), w.spans(k.over), k.factor))
        else:
            value = _of_changes(w.expr(change), changes)
            w.add(Add(k.name, here, value, w.spans(k.over), k.factor))


def reading(w: Workshop, step: Step, forms: tuple[Kept, ...]) -> Step:
    """The step, with parameters that read the values of forms."""
    if not forms or element_loop(w.schedule, step) is not None:
        return step

    def read(c: Contribution) -> Contribution:
        return replace(c, value=reading_kept(c.value, forms, step.variables, w.graph.sizes))

    def reads(parameters: tuple[NaturalParameter, ...]) -> tuple[NaturalParameter, ...]:
        return tuple(
            replace(p, contributions=tuple(map(read, p.contributions))) for p in parameters
        )

    match step:
        case FamilyDraw():
            return step.with_fields(parameters=reads(step.parameters))
        case QuadraticDraw():
            return step.with_fields(linear=reads(step.linear))
    return step


def _copied(w: Workshop, array: str) -> Element:
    dims = w.dims(array)
    name = w.fresh(f"{array}_before")
    here = positions(dims)
    w.add(Let(name, tuple(map(w.span, dims)), Element(array, here)))
    return Element(name, here)


def _changed(w: Workshop, array: str, before: Element) -> str:
    dims = w.dims(array)
    name = w.fresh(f"{array}_change")
    value = total([Element(array, positions(dims)), negative(before)])
    w.add(Let(name, tuple(map(w.span, dims)), value))
    return name


def _of_changes(value: Expr, changes: dict[str, str]) -> Expr:
    """An expression that reads changes of arrays instead of the arrays."""

    def one(e: Expr) -> Expr | None:
        if isinstance(e, Element) and e.array in changes:
            return Element(changes[e.array], e.indices)
        return None

    return mapped(value, one)


def lower_by_form(w: Workshop, step: FamilyDraw, loop: ElementLoop) -> None:
    """Draws of single elements by the value of a form that is linear in each of them."""
    array = step.variables[0]
    dims = w.dims(array)
    kept = next(k for k in kept_forms(w.schedule) if k.form == loop.form.form)
    chosen = selection(w, step)
    etas = [
        parameter(w, replace(p, contributions=_others(p.contributions, loop)), f"{array}_eta_{j}")
        for j, p in enumerate(step.parameters, 1)
    ]
    target = chosen.element(array, dims)
    form = Element(kept.name, tuple(Position(r.dim.name) for r in kept.over))
    with w.inside(*chosen.over):
        span, placed = _members(w, loop, chosen, dims)
        slope = placed(_here(w, loop, chosen, dims, loop.entry.slope))
        curvature, constant = (placed(w.expr(e)) for e in (loop.form.curvature, loop.form.constant))
        here = placed(form)
        assert isinstance(here, Element)
        square, linear, change, own, again = (
            w.fresh(f"{array}_{n}") for n in ("square", "linear", "change", "slope", "slope")
        )
        w.add(Let(square, (), ZERO), Let(linear, (), ZERO))
        at_slope = Element(own)
        derivative = total([constant, product([curvature, here])])
        with w.inside(span):
            w.add(Let(own, (), slope))
            w.add(Add(square, (), product([curvature, at_slope, at_slope]), ()))
            w.add(Add(linear, (), product([at_slope, derivative]), ()))
        w.add(Let(change, (), negative(target)))
        first = [chosen.of(etas[0]), Element(linear), negative(product([Element(square), target]))]
        second = [chosen.of(etas[1]), Apply("/", (Element(square), TWO))]
        assert step.draw_function is not None
        arguments = (Argument(total(first)), Argument(total(second)))
        w.add(Draw((target,), step.draw_function, arguments, note=step.name))
        w.add(Add(change, (), target, ()))
        with w.inside(span):
            w.add(Let(again, (), slope))
            w.add(Add(kept.name, here.indices, product([Element(again), Element(change)]), ()))


def _members(
    w: Workshop, loop: ElementLoop, chosen: Selection, dims: tuple[Dim, ...]
) -> tuple[Span, Callable[[Expr], Expr]]:
    """The entries that read the element drawn, and what reads an expression at one of them."""
    spans = w.spans((*loop.form.over, *loop.inner))
    hot = [
        Hot(index, axis)
        for a, (d, i) in enumerate(zip(dims, loop.entry.view.indices, strict=True))
        if a not in loop.outer and i is not None
        if isinstance(index := w.expr(i), Element)
        if isinstance(axis := chosen.of(Position(d.name)), Position | Element)
    ]
    found = w.groups.of_one(hot, spans, frozenset(s.dim for s in chosen.over))
    if found is None or loop.entry.weights:
        raise NotLoweredError("entries of a form that data weigh, or look up by several indices.")
    return w.groups.members(found, spans)


def _others(
    contributions: tuple[Contribution, ...], loop: ElementLoop
) -> tuple[Contribution, ...]:
    return tuple(c for c in contributions if c.factor != loop.form.factor)


def _here(
    w: Workshop, loop: ElementLoop, chosen: Selection, dims: tuple[Dim, ...], expr: Formula
) -> Expr:
    """A value of an entry, at the position along the outer axes at which elements are drawn."""
    read = enumerate(loop.entry.view.indices)
    outer = {i: dims[a] for a, i in read if a in loop.outer and i is not None}
    renamed = expr.xreplace({i: d for i, d in outer.items() if i != d})
    return chosen.of(w.expr(renamed))
