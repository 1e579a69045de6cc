"""The lines of moves, of moves of values with tied entries, and of the units of a scan."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gibbsppl.algebra.supports import Kind
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.code.places import positions_text, slices_text, where_text
from gibbsppl.schedule.steps import Move, Schedule, Single, Step

# The moves of values whose entries are tied to one another, and the lines that these go along.
MOVES_OF_TIED: Mapping[Kind, tuple[str, ...]] = {
    "simplex": ("slice_tied", "runtime.shared_out"),
    "counts": ("slice_tied", "runtime.exchanged"),
    "sphere": ("slice_tied", "runtime.turned"),
    "spd": ("slice_matrices",),
}

def tied_move(module: Module, step: Move, call: str, width: str) -> list[str]:
    """The lines of a slice move of values whose entries are tied to one another."""
    state = f's["{step.variables[0]}"]'
    move, *line = MOVES_OF_TIED[step.statement.support.kind]
    positions = ", ".join((positions_text(module, step), *line))
    return [
        f"{state} = runtime.{move}(",
        f"{INDENT}rng, {state}, {call}, {width},",
        f"{INDENT}{positions}",
        ")",
    ]


def index_text(module: Module, step: Single) -> str:
    """The elements that a step draws, as an index."""
    if step.statement.known != 0:
        return where_text(module, step)[1:-1]
    return "..." if module.is_everything(step) else slices_text(step.region)


def assigned(state: str, move: str, arguments: str) -> list[str]:
    """The lines that assign the result of a move to its place in the state."""
    line = f"{state} = runtime.{move}(rng, {arguments})"
    if len(INDENT + line) <= 100:
        return [line]
    return [f"{state} = runtime.{move}(", f"{INDENT}rng, {arguments}", ")"]


# Units


def unit_functions(module: Module, drawn: Callable[[Module, Step], list[str]]) -> list[str]:
    """One function per unit of a scan: the steps that stay together."""
    schedule = module.schedule
    functions = []
    for name, unit in zip(_names(module), schedule.units, strict=True):
        steps = [schedule.steps[j] for j in unit]
        told = ", then ".join(s.name for s in steps)
        lines = [f"def {name}(rng, s, c):", f'{INDENT}"""Draw {told}."""']
        lines += [line for step in steps for line in indented(drawn(module, step))]
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
