"""The units of a scan as source text: steps that stay together, in a random or symmetric order."""

from __future__ import annotations

from collections.abc import Callable

from gibbsppl.code.composed import lines_of_turn
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


def unit_functions(module: Module, drawn: Callable[[Module, Step], list[str]]) -> list[str]:
    """One function per unit of a scan: the steps that stay together."""
    schedule = module.schedule
    functions = []
    for name, unit in zip(_names(module), schedule.units, strict=True):
        steps = [schedule.steps[j] for j in unit]
        told = ", then ".join(s.name for s in steps)
        lines = [f"def {name}(rng, s, c):", f'{INDENT}"""Draw {told}."""']
        for turn in schedule.turns(unit):
            lines += indented(lines_of_turn(module, turn, drawn))
        functions.append("\n".join(lines))
    return functions


def _names(module: Module) -> list[str]:
    """The names of the functions, each for the variable that its unit is there for."""
    return [module.units[unit] for unit in module.schedule.units]


def scan_of_units(module: Module, before: list[str], after: list[str]) -> list[str]:
    """The tuple of the units, and the sweep that goes through it."""
    schedule, names = module.schedule, _names(module)
    table = [f"UNITS = ({', '.join(names)}{',' if len(names) == 1 else ''})"]
    if len(table[0]) > 100:
        table = ["UNITS = (", *(f"{INDENT}{n}," for n in names), ")"]
    if schedule.weights:
        total = sum(schedule.weights)
        shares = ", ".join(repr(w / total) for w in schedule.weights)
        table.append(f"PROBABILITIES = ({shares}{',' if len(names) == 1 else ''})")
    lines = ["def sweep(rng, s, c):", *indented([f'"""{_told(schedule)}"""', *before])]
    if schedule.scan == "symmetric":
        lines += indented(["for draw in UNITS + UNITS[-2::-1]:", f"{INDENT}draw(rng, s, c)"])
    else:
        chosen = "rng.integers(len(UNITS), size=len(UNITS))"
        if schedule.weights:
            chosen = "rng.choice(len(UNITS), size=len(UNITS), p=PROBABILITIES)"
        lines += indented([f"for unit in {chosen}:", f"{INDENT}UNITS[unit](rng, s, c)"])
    return ["\n".join(table), "\n".join([*lines, *indented(after)])]


def _told(schedule: Schedule) -> str:
    if schedule.scan == "symmetric":
        return "Draw every unit in order, then in the reverse order (the last one once)."
    how = "with the probabilities given" if schedule.weights else "all being equally likely"
    return f"Draw as many units as there are, each chosen at random, {how}."
