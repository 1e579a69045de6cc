"""The functions of non-centred updates: a group standardised, a draw, the group put back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.code.arrays.expressions import Expr as Formula
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Written
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.model.graph import PLAIN
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def together(schedule: Schedule, step: Step) -> tuple[Step, ...]:
    """The consecutive steps around ``step`` with the same array held fixed; none if centred."""
    held = {n: i.stand_ins[0] for n, i in schedule.interwoven.items()}
    if step.name not in held:
        return ()
    is_same = [held.get(s.name) == held[step.name] for s in schedule.steps]
    at = schedule.steps.index(step)
    first = at - next((n for n, same in enumerate(is_same[:at][::-1]) if not same), at)
    last = at + next((n for n, same in enumerate(is_same[at:]) if not same), len(is_same) - at)
    return schedule.steps[first:last]


def draw_name(module: Module, steps: Sequence[Step]) -> str:
    """The name of the function that carries out steps with the same array held fixed."""
    schedule = module.schedule
    drawn = "_".join(n for s in steps for n in schedule.drawn_by(s))
    like = f"draw_{drawn}_with_{schedule.stand_ins(steps[0])[0].of}"
    return module.names.called("draw", *(s.name for s in steps), like=like)


def draw_function(
    module: Module, steps: Sequence[Step], drawing: Callable[[Step], Iterable[str]]
) -> str:
    """The function that carries out non-centred steps, with the drawing lines of each.

    Standardised arrays are in the state for these draws alone.
    """
    held = module.schedule.stand_ins(steps[0])[0]
    drawn = " and ".join(n for s in steps for n in module.schedule.drawn_by(s))
    every = [r for r in module.schedule.stand_ins(steps[0]) if r.name not in steps[0].variables]
    fixed = ", ".join(f"{r.name} = {PLAIN.text(r.forward)}" for r in every)
    moves = ", ".join(r.of for r in every) + (" moves" if len(every) == 1 else " move")
    told = f"Draw {drawn} with {fixed} held fixed: {moves}"
    lines = [f"def {draw_name(module, steps)}(rng, s, c):", f'{INDENT}"""{told} along."""']
    body = [_computed(module, held)]
    for step in steps:
        own = module.schedule.stand_ins(step)[1:]
        body += [_computed(module, r) for r in own]
        body += drawing(step)
        body += [line for r in reversed(own) for line in _undone(module, r)]
    return "\n".join([*lines, *indented([*body, *_undone(module, held)])])


def _computed(module: Module, change: StandIn) -> str:
    return f's["{change.name}"] = {_forward_name(module, change)}(s, c)'


def _undone(module: Module, change: StandIn) -> list[str]:
    value = f"{_backward_name(module, change)}(s, c)"
    return [f's["{change.of}"] = {value}', f'del s["{change.name}"]']


def interwoven_functions(module: Module) -> dict[str, str]:
    """The name of the function that carries out a step, by that of the step."""
    schedule = module.schedule
    groups = {n: together(schedule, schedule.step(n)) for n in schedule.interwoven}
    return {n: draw_name(module, steps) for n, steps in groups.items()}


def change_functions(module: Module, step: Step) -> list[str]:
    """For each array that stands for another in a step, how it is computed, and undone."""
    found = []
    for r in module.schedule.stand_ins(step):
        forward, backward = _forward_name(module, r), _backward_name(module, r)
        if module.is_new(forward):
            told = f"{r.name}, of {r.of}", f"{r.of}, of {r.name}"
            found.append(_function(module, forward, r.forward, r.dims, told[0]))
            found.append(_function(module, backward, r.backward, r.dims, told[1]))
    return found


def _forward_name(module: Module, change: StandIn) -> str:
    return module.names.called("forward", change, like=f"{change.name}_of_{change.of}")


def _backward_name(module: Module, change: StandIn) -> str:
    return module.names.called("backward", change, like=f"{change.of}_of_{change.name}")


def _function(module: Module, name: str, value: Expr, dims: tuple[Dim, ...], told: str) -> str:
    """The function that computes an array from the state."""
    writer = module.writer(keeps=True)
    writer.arrange(dims)
    returned = Written.of((writer.expr(value),), partial(_returned, dims))
    doc = f"{told}: {PLAIN.text(value)}."
    return module.function(name, doc, writer, [returned])


def _returned(dims: tuple[Dim, ...], writer: Writer, values: Sequence[Formula]) -> list[str]:
    """The line that returns an array with all axes."""
    (value,) = values
    return [f"return {writer.full(writer.text(value), dims)}"]
