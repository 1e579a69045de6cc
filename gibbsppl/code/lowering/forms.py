"""Values of multilinear forms, residuals say, that a sweep keeps up to date.

A form is computed once a sweep, before the first step that reads it. Draws of single elements, in
which it is linear, read it instead of all that it is made of, and add to it what they have changed;
so do draws of whole arrays in which it is linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    mapped,
    negative,
    total,
)
from gibbsppl.code.arrays.statements import Add, Let, Store
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.derive.contractions import Contribution
from gibbsppl.schedule.element_loops import (
    element_loop,
    kept_forms,
    moved_by,
    reading_kept,
)
from gibbsppl.schedule.kept_sums import Kept
from gibbsppl.schedule.kinds import FamilyDraw, QuadraticDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step


def begin_forms(w: Workshop, steps: Sequence[Step] | None = None) -> None:
    """The forms that steps keep up to date, computed before the first that reads them.

    All are computed before steps with stand-ins, and where it is not said which ``steps`` come.
    """
    every = steps is None or any(w.schedule.stand_ins(s) for s in steps)
    for k in kept_forms(w.schedule):
        if k not in w.forms and (every or any(_reads(w, s, k) for s in steps or ())):
            w.add(Let(k.name, w.spans(k.over), w.expr(k.form), k.factor))
            w.local.add(k.name)
            w.forms = (*w.forms, k)


def _reads(w: Workshop, step: Step, k: Kept) -> bool:
    """Whether a step draws by the value of a form, or computes less by it."""
    loop = element_loop(w.schedule, step)
    return reading(w, step, (k,)) != step if loop is None else loop.form.form == k.form


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
            _renew(w, k)
        else:
            value = _of_changes(w.expr(change), changes)
            w.add(Add(k.name, here, value, w.spans(k.over), k.factor))


def renew_forms(w: Workshop, steps: Sequence[Step]) -> None:
    """The forms that steps with stand-ins have changed, computed anew if others come after them."""
    if w.schedule.steps[-1] in steps:
        return
    changed = {n for s in steps for n in w.schedule.changed_by(s)}
    for k in w.forms:
        if changed & k.read:
            _renew(w, k)


def _renew(w: Workshop, k: Kept) -> None:
    here = tuple(Position(r.dim.name) for r in k.over)
    w.add(Store(Element(k.name, here), w.expr(k.form), w.spans(k.over), k.factor))


def reading(w: Workshop, step: Step, forms: tuple[Kept, ...]) -> Step:
    """The step, with parameters that read the values of forms.

    Not where elements are drawn in turn: what the first has changed, forms have after the last.
    """
    in_turn = step.is_by_element and not step.in_one_call
    if not forms or in_turn or element_loop(w.schedule, step) is not None:
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
