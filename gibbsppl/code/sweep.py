"""The function ``sweep``: a sequence of draws and moves, each of a complete conditional."""

from __future__ import annotations

from itertools import takewhile

from gibbsppl.code.by_parts import with_parts
from gibbsppl.code.composed import lines_of_turn
from gibbsppl.code.interweaving import (
    change_functions,
    draw_function,
    draw_name,
    together,
)
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.maintained_forms import with_form_updates
from gibbsppl.code.module import Module
from gibbsppl.code.units import scan_of_units, unit_functions
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.schedule.composed import names_of
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def sweep(module: Module) -> str:
    """The function that draws every variable in place, after the functions of a scan's units."""
    if module.schedule.units:
        apart, together = _apart(module.schedule), _together(module.schedule)
        functions = unit_functions(module, _drawn)
        return "\n\n\n".join([*functions, *scan_of_units(module, apart, together)])
    lines = _head(module)
    first = _leading(module.schedule)
    lines += [f"{INDENT}augment(rng, s, c)"] if first else indented(_apart(module.schedule))
    for turn in module.schedule.turns(range(first, len(module.schedule.steps))):
        drawn = lines_of_turn(module, turn, _carried_out)
        name = names_of(turn)[0]
        if name in module.deferred:
            drawn = [f'if "{name}" in deferred:', *indented(drawn)]
        lines += indented(drawn)
    lines += indented(_together(module.schedule))
    return "\n".join(lines if len(lines) > 2 else [*lines, f"{INDENT}del rng, s, c"])


def _head(module: Module) -> list[str]:
    """The head of a sweep, which carries out those of its deferred steps that it is told."""
    names = "".join(f'"{name}", ' for name in module.deferred).rstrip()
    if len(module.deferred) > 1:
        names = names.removesuffix(",")
    if not names:
        told = "Draw every latent variable once, in order."
        return ["def sweep(rng, s, c):", f'{INDENT}"""{told}"""']
    told = "Draw every latent variable once, in order; of those that no draw reads the named ones."
    return [f"def sweep(rng, s, c, deferred=({names})):", f'{INDENT}"""{told}"""']


def interwoven(module: Module, step: Step) -> list[str]:
    """The functions of a step in whose graph arrays stand for others; the last one's draws all."""
    steps = together(module.schedule, step)
    is_last = steps[-1:] == (step,)
    draw = [draw_function(module, steps, lambda s: _drawn(module, s))] if is_last else []
    return [*change_functions(module, step), *draw]


def _carried_out(module: Module, step: Step) -> list[str]:
    """The lines of a step in the sweep."""
    steps = together(module.schedule, step)
    if not steps:
        return _drawn(module, step)
    if steps[0] is not step:
        return []
    called = [f"{draw_name(module, steps)}(rng, s, c)"]
    return [
        line for s in steps for line in with_form_updates(module, s, called if s is step else [])
    ]


def drawn_where(module: Module, step: Step) -> tuple[str, list[str]]:
    """The function that carries out a step, and the lines of it that do."""
    schedule, at = module.schedule, module.schedule.steps.index(step)
    units = {j: name for unit, name in module.units.items() for j in unit}
    if at < _leading(schedule) or (schedule.units and step.name in schedule.auxiliary):
        return "augment", _drawn(module, step)
    if schedule.units:
        return units[at], _drawn(module, step)
    first = next(iter(together(schedule, step)), step)
    return "sweep", _carried_out(module, first)


def augment(module: Module) -> str:
    """The function that draws the auxiliary variables alone, of a state of whole arrays."""
    names = module.schedule.auxiliary
    doc = "Draw the auxiliary variables, each with those after it integrated out."
    lines = ["def augment(rng, s, c):", f'{INDENT}"""{doc}"""']
    lines += indented(_apart(module.schedule))
    for step in (s for s in module.schedule.steps if s.name in names):
        lines += indented(_drawn(module, step))
    return "\n".join(lines)


def _apart(schedule: Schedule) -> list[str]:
    """Lines that take arrays apart."""
    return [f's["{p.name}"] = s["{p.of}"]{_at(p)}' for p in schedule.parts]


def _together(schedule: Schedule) -> list[str]:
    """Lines that put parts together again."""
    lines = [f's["{of}"] = s["{of}"].copy()' for of in dict.fromkeys(p.of for p in schedule.parts)]
    return [*lines, *(f's["{p.of}"]{_at(p)} = s["{p.name}"]' for p in schedule.parts)]


def _at(part: StandIn) -> str:
    """The index of a part in its array."""
    before = takewhile(lambda i: i == slice(None), part.at)
    position = next(i for i in part.at if i != slice(None))
    return f"[{':, ' * len([*before])}{position}]"


def _leading(schedule: Schedule) -> int:
    """How many steps at the start of a sweep are those of all auxiliary variables."""
    names = schedule.auxiliary
    leading = [s.name for s in schedule.steps[: len(names)]]
    return len(names) if leading == list(names) else 0


def _drawn(module: Module, step: Step) -> list[str]:
    """The lines that carry out a step, with updates of dependent forms."""
    before = len(module.writers)
    lines = step.lines(module)
    lines = with_parts(module, step, lines, module.writers[before:])
    if module.schedule.stand_ins(step):
        return lines
    return with_form_updates(module, step, lines)
