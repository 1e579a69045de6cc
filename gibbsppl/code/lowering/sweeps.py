"""A whole sweep as a value: the steps of a schedule in order, and what arrays they read.

Comes in: a `Schedule` and its data. Goes out: a `Sweep`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

import sympy as sp

from gibbsppl.algebra.expressions import renamed_apart
from gibbsppl.code.arrays.expressions import ZERO, Apply, Element, Expr, Number, walk
from gibbsppl.code.arrays.statements import Choice, Let, Statement, Store, expressions_of
from gibbsppl.code.arrays.sweeps import DEFERRED, Array, Kind, Sweep, every, names_in
from gibbsppl.code.interweaving import together
from gibbsppl.code.lowering.composed import lower_turn
from gibbsppl.code.lowering.forms import begin_forms, renew_forms, with_forms
from gibbsppl.code.lowering.parameters import merged
from gibbsppl.code.lowering.stand_ins import computed, put_back
from gibbsppl.code.lowering.units import lower_units
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.runtime.tuning import ACCEPTED, PROPOSED, field_of, rate_of
from gibbsppl.schedule.composed import Turn, names_of
from gibbsppl.schedule.deferral import deferred
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def lowered(
    schedule: Schedule,
    data: Values,
    constants: Mapping[str, Any],
    *,
    is_fit: bool = False,
    is_partial: bool = False,
) -> Sweep:
    """The sweep of a schedule as a value; ``constants`` are those of the program in NumPy.

    Of a fit the bound is monitored, else named functions of the state. One that is partial is
    without the steps that the language does not have.
    """
    w = Workshop.of(schedule, data, constants)
    w.left_out = {} if is_partial else None
    for part in schedule.parts:
        computed(w, part)
    if is_fit:
        begin_forms(w)
    put_off: tuple[str, ...] = ()
    if schedule.units:
        lower_units(w, _lower)
    else:
        put_off = tuple(deferred(schedule))
        for turn in schedule.turns(range(len(schedule.steps))):
            begin_forms(w, [schedule.step(n) for n in names_of(turn)])
            if names_of(turn)[0] in put_off:
                _lower_deferred(w, turn, put_off)
            else:
                lower_turn(w, turn, _lower)
    for part in schedule.parts:
        put_back(w, part)
    statements = tuple(w.statements)
    with w.apart() as found:
        outputs = _bounded(w) if is_fit else _monitored(w)
    tables = (*w.tables.values(), *w.groups.tables)
    arrays = w.arrays | arrays_of(w, (*statements, *found))
    of_model = (d for n in arrays if n in w.graph.variables for d in w.graph.variables[n].dims)
    copies = {d.name: w.size(d) for d in of_model if d not in w.graph.sizes}
    return Sweep(
        schedule.graph.name,
        arrays,
        statements,
        monitors=tuple(found),
        outputs=outputs,
        tables=tables,
        sizes=w.own_sizes | copies,
        deferred=put_off,
        lengths=w.lengths,
        lanes=frozenset(w.lanes),
        left_out=w.left_out or {},
    )


def _bounded(w: Workshop) -> tuple[str, ...]:
    """The statements that compute the evidence lower bound, and its name."""
    name = w.fresh("bound")
    w.add(Let(name, (), merged(w, w.schedule.bound)))
    return (name,)


def _monitored(w: Workshop) -> tuple[str, ...]:
    """The statements that compute named functions, and rates of walks, and their names."""
    functions = w.schedule.graph.deterministics
    for d in functions:
        value = w.expr(renamed_apart(d.value, d.dims))
        w.add(Let(d.name, tuple(map(w.span, d.dims)), value))
    rates = [rate_of(name, field) for name, more in w.walks.items() for field in (ACCEPTED, *more)]
    for name, more in w.walks.items():
        w.add(*_rates(name, (ACCEPTED, *more)))
    return (*(d.name for d in functions), *rates)


def _lower_deferred(w: Workshop, turn: Turn, put_off: tuple[str, ...]) -> None:
    """A turn that a sweep carries out only if it is asked for."""
    if DEFERRED not in w.arrays:
        w.arrays[DEFERRED] = Array((w.own_dim("deferred", len(put_off)).dim,), "asked", "int")
    with w.apart() as found:
        lower_turn(w, turn, _lower)
    is_asked = Element(DEFERRED, (Number(put_off.index(names_of(turn)[0])),))
    w.add(Choice(is_asked, ((), tuple(found))))


def _lower(w: Workshop, step: Step) -> None:
    """A step, whose statements have its name."""
    with w.of_step(step.name):
        _lower_with_others(w, step)


def _lower_with_others(w: Workshop, step: Step) -> None:
    """A step, with others in whose graph the same arrays stand for others."""
    schedule = w.schedule
    steps = together(schedule, step)
    if not steps:
        with_forms(w, step, w.forms)
        return
    if steps[0] is not step:
        return
    held = schedule.stand_ins(step)[0]
    computed(w, held)
    for s in steps:
        own = schedule.stand_ins(s)[1:]
        with w.of_step(s.name):
            for change in own:
                computed(w, change)
            s.lower(w)
            for change in reversed(own):
                put_back(w, change)
    put_back(w, held)
    renew_forms(w, steps)


def _rates(step: str, fields: Sequence[str]) -> Iterator[Statement]:
    """The means of fields over the moves since they were last recorded: what was accepted, say."""
    proposed = Element(field_of(step, PROPOSED))
    for field in fields:
        own = Element(field_of(step, field))
        mean = Apply("/", (own, proposed))
        value = Apply("where", (Apply("below", (ZERO, proposed)), mean, Number(nan)))
        yield from (Let(rate_of(step, field), (), value), Store(own, ZERO))
    yield Store(proposed, ZERO)


def arrays_of(w: Workshop, statements: Sequence[Statement]) -> dict[str, Array]:
    """The facts of the arrays of the model that statements read or change."""
    used = names_in(statements)
    local = {s.name for s in every(statements) if isinstance(s, Let)}
    indices = _read_as_positions(statements)
    found = {}
    for name, variable in w.graph.variables.items():
        if name not in used or name in local:
            continue
        is_state = variable.kind == "random"
        whole = variable.integer and (is_state or variable.of is not None or name in indices)
        dims = tuple(d.name for d in variable.dims)
        limits = limits_of(w.graph, name) if is_state and whole else None
        kind: Kind = "state" if is_state else "data"
        of = "" if variable.of is None else str(variable.of)
        found[name] = Array(dims, kind, "int" if whole else "float", of=of, limits=limits)
    missing = used - set(found) - local - set(w.arrays) - _made(statements)
    if missing:
        raise NotLoweredError(f"arrays that nothing is known of: {', '.join(sorted(missing))}.")
    return found


def limits_of(graph: Graph, name: str) -> tuple[int, int] | None:
    """The least and the largest value of an array of whole numbers; None if they are not known."""
    ends = [e for s in graph.statements_of(name) for e in (s.support.lower, s.support.upper)]
    ends += [c.value for c in graph.constants if c.target.array.name == name]
    known = [int(e) for e in map(sp.sympify, ends) if e.is_Integer]
    return (min(known), max(known)) if known and len(known) == len(ends) else None


def _made(statements: Sequence[Statement]) -> set[str]:
    """The names that statements bind: the candidates of log densities."""
    densities = (getattr(s, "density", None) for s in every(statements))
    return {d.argument for d in densities if d is not None}


def _read_as_positions(statements: Sequence[Statement]) -> set[str]:
    """The arrays whose elements are read as positions of others."""
    found = set[str]()

    def note(expr: Expr) -> None:
        for e in walk(expr):
            if isinstance(e, Element):
                for i in e.indices:
                    found.update(x.array for x in walk(i) if isinstance(x, Element))

    for s in every(statements):
        for expr in expressions_of(s):
            note(expr)
    return found
