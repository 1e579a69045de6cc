"""The functions of a step that is interwoven: groups standardised, a draw, groups put back."""

from __future__ import annotations

from collections.abc import Iterable

from gibbsppl.backends.lines import INDENT, indented
from gibbsppl.backends.module import Module
from gibbsppl.expressions import Dim, Expr
from gibbsppl.graph import PLAIN
from gibbsppl.rewrites.recentring import Recentred
from gibbsppl.schedule.steps import Step


def draw_name(module: Module, step: Step) -> str:
    """The name of the function that carries out a step."""
    return module.names.of(f"draw_{step.name}")


def draw_function(module: Module, step: Step, drawing: Iterable[str]) -> str:
    """The function that carries out a step, with the lines that draw in its graph.

    What stands for other arrays is in the state for that draw alone.
    """
    changes = module.schedule.interwoven[step.name]
    drawn, others = module.schedule.drawn_by(step), module.schedule.changed_by(step)
    moved = ", ".join(n for n in others if n not in drawn)
    held = ", ".join(f"{r.name} = {PLAIN.text(r.forward)}" for r in changes if r.of not in drawn)
    lines = [
        f"def {draw_name(module, step)}(rng, s, c):",
        f'{INDENT}"""Draw {", ".join(drawn)} with {held} held fixed: {moved} moves along."""',
    ]
    lines += [f'{INDENT}s["{r.name}"] = {_forward_name(module, r)}(s, c)' for r in changes]
    lines += indented(drawing)
    for r in reversed(changes):
        lines.append(f'{INDENT}s["{r.of}"] = {_backward_name(module, r)}(s, c)')
        lines.append(f'{INDENT}del s["{r.name}"]')
    return "\n".join(lines)


def change_functions(module: Module, step: Step) -> list[str]:
    """For each array that stands for another in a step, how it is computed, and undone."""
    found = []
    for r in module.schedule.interwoven.get(step.name, ()):
        found.append(
            _function(module, _forward_name(module, r), r.forward, r.dims, f"{r.name}, of {r.of}")
        )
        found.append(
            _function(module, _backward_name(module, r), r.backward, r.dims, f"{r.of}, of {r.name}")
        )
    return found


def _forward_name(module: Module, change: Recentred) -> str:
    return module.names.of(f"{change.name}_of_{change.of}")


def _backward_name(module: Module, change: Recentred) -> str:
    return module.names.of(f"{change.of}_of_{change.name}")


def _function(module: Module, name: str, value: Expr, dims: tuple[Dim, ...], told: str) -> str:
    """The function that computes an array from the state."""
    writer = module.writer(keeps=True)
    writer.arrange(dims)
    text = writer.write(value)
    code = writer.align(text, dims)
    if text.dims != dims:
        code = f"{writer.call('broadcast_to')}({code}, {tuple(map(writer.size, dims))})"
    doc = f"{told}: {PLAIN.text(value)}."
    return module.function(name, doc, writer, [f"return {code}"])
