"""Joint draws that are proposals, as statements: accepted by what corrects a quadratic."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Span,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Draw, Let, Store
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.joint import (
    own_dims,
    put_values,
    take_values,
    with_coefficients,
)
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.contractions import Contribution
from gibbsppl.runtime.joint import Joint, joint_in
from gibbsppl.runtime.joint_tables import tables_of
from gibbsppl.runtime.tuning import ACCEPTED, ADAPTS, PROPOSED, SCALE, TARGET, field_of, moves_of
from gibbsppl.schedule.kinds import QuadraticDraw


def lower_corrected(w: Workshop, step: QuadraticDraw, terms: Sequence[Contribution]) -> None:
    """A joint draw; the values before are put back where it is not accepted."""
    joint, stem = joint_in(w.constants, step.name), "_".join(step.variables)
    arrays = tables_of(joint).arrays
    span = w.own_dim(f"{stem}_moved", joint.size, tuple(map(w.dims, step.variables)))
    now = local_for(w, f"{stem}_before", (span,), "float").array
    accepted = w.tuning(field_of(step.name, ACCEPTED))
    proposed = w.tuning(field_of(step.name, PROPOSED), kind="int")
    w.tuning(field_of(step.name, SCALE))
    w.tuning(field_of(step.name, TARGET))
    w.tuning(field_of(step.name, ADAPTS), kind="int")
    w.tuning(moves_of(step.name), kind="int")
    for own in arrays:
        take_values(w, joint, own, now)
    before = _correction(w, f"{stem}_correction_before", terms)
    _turn(w, step, joint, span, now)
    after = _correction(w, f"{stem}_correction_after", terms)
    taken, ratio = w.fresh("is_taken"), total([after, negative(before)])
    w.add(Let(taken, (), ZERO, type="int", is_empty=True))
    w.add(Draw((Element(taken),), "is_taken", (Argument(ratio),), note=step.name))
    with w.apart() as back:
        for own in arrays:
            put_values(w, joint, own, now)
    w.add(Choice(Element(taken), (tuple(back), ())))
    w.add(Add(accepted.array, (), Element(taken), ()), Add(proposed.array, (), ONE, ()))
    w.walks[step.name] = ()


def _turn(w: Workshop, step: QuadraticDraw, joint: Joint, span: Span, now: str) -> None:
    """The vector turned about the mean of the quadratic towards a draw, put where it belongs."""
    stem, tables = "_".join(step.variables), tables_of(joint)
    mean, noise, tried = (
        local_for(w, f"{stem}_{n}", (span,), "float") for n in ("mean", "noise", "tried")
    )
    with with_maintained(w, step.kept), w.with_dims(own_dims(step)):
        given = with_coefficients(w, step, joint, tables)
        w.add(Draw((mean, noise), f"{tables.kernel}_apart", given, own=(span,), note=step.name))
    angle = w.fresh("angle")
    w.add(Let(angle, (), ZERO, is_empty=True))
    w.add(Draw((Element(angle),), "turned_by", (), note=step.name))
    here = Element(now, tried.indices)
    away = product([total([here, negative(mean)]), Apply("cos", (Element(angle),))])
    w.add(
        Store(
            tried,
            total([mean, away, product([noise, Apply("sin", (Element(angle),))])]),
            (span,),
        )
    )
    for own in tables.arrays:
        put_values(w, joint, own, tried.array)


def _correction(w: Workshop, name: str, terms: Sequence[Contribution]) -> Element:
    """The correction at the current values."""
    found = w.fresh(name)
    w.add(Let(found, (), total([w.plain(t.value) for t in terms])))
    return Element(found)
