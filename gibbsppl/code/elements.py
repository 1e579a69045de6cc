"""Source text of the elements of a step: which are drawn, from what, and where draws go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf, mentions
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.code.places import colours_text, positions_text, slices_text, where_text
from gibbsppl.derive.colours import colours_told
from gibbsppl.schedule.kinds import FamilyDraw, Single
from gibbsppl.schedule.steps import Step


def call_text(module: Module, step: Step) -> str:
    """The call of the function of a step's conditional."""
    return f"{module.functions[step.name]}(s, c)"


def state_text(step: Single) -> str:
    """The array that a step draws, as an entry of the state."""
    return f's["{step.statement.target.array.name}"]'


def made(module: Module, step: Step) -> list[str]:
    """Lines that make the array of an auxiliary variable drawn by element or in parts."""
    if step.name not in module.schedule.auxiliary:
        return []
    zeros, shape = module.writer().call("zeros"), module.shape(step.statement)
    kind = ", int" if step.statement.support.is_discrete else ""
    name = step.variables[0]
    return [f'if "{name}" not in s:', f'{INDENT}s["{name}"] = {zeros}({shape}{kind})']


@dataclass(frozen=True, slots=True)
class Selection:
    """The elements that one call of the runtime draws: of an array, or of each of several calls.

    ``calls``: the elements of each call, by colour or one by one, where they depend on one another.
    ``part``: the index of the part of the array that is drawn. The whole array without both.
    """

    calls: str = ""
    part: str = ""
    by: str = ""


def selection(module: Module, step: Single) -> Selection:
    """The selection of a step from its array."""
    if step.is_coloured:
        return Selection(calls=colours_text(module, step), by="colours")
    if step.is_by_element:
        return Selection(calls=positions_text(module, step), by="elements")
    return Selection() if module.is_whole(step) else Selection(part=index_text(module, step))


def each_line(module: Module, step: Single) -> str:
    """The head of the loop over mutually dependent elements: by colour, or by element."""
    told = colours_told(step.colours) if step.is_coloured else "its elements depend on one another"
    return f"for at in {selection(module, step).calls}:  # {told}"


def index_text(module: Module, step: Single) -> str:
    """The elements that a step draws, as an index."""
    if step.statement.known != 0:
        return where_text(module, step)[1:-1]
    return (
        "..."
        if module.is_everything(step)
        else slices_text(step.region, module.dims(step.statement), module.writer())
    )


def moved(state: str, move: str, arguments: str) -> list[str]:
    """The lines that assign the result of a move to its place in the state."""
    line = f"{state} = runtime.{move}(rng, {arguments})"
    if len(INDENT + line) <= 100:
        return [line]
    return [f"{state} = runtime.{move}(", f"{INDENT}rng, {arguments}", ")"]


def put(module: Module, step: Single, where: str, drawn: str) -> list[str]:
    """Lines that assign a draw to its place, after the change of variable is undone."""
    change, state = step.change, state_text(step)
    if change is None:
        return [f"{state}{where} = {drawn}"]
    new = module.names.of(step.place.array.name)
    undone = mapped(module, step, change.backward, new)
    if not where or not change.given:
        return [f"{new} = {drawn}", f"{state}{where} = {undone}"]
    # The constants of the change are one number per element of the whole array.
    return [
        f"{new} = {module.writer().call('zeros')}({module.shape(step.statement)})",
        f"{new}{where} = {drawn}",
        f"{state}{where} = ({undone}){where}",
    ]


def put_part(module: Module, step: Single, where: str, whole: str) -> list[str]:
    """Lines that assign the drawn part of an array to its place."""
    change = step.change
    if change is None:
        return [f"{state_text(step)} = {whole}"]
    new = module.names.of(step.place.array.name)
    undone = mapped(module, step, change.backward, new)
    return [f"{new} = {whole}", f"{state_text(step)}{where} = ({undone}){where}"]


def mapped(module: Module, step: Single, map_: Callable[[Expr], Expr], code: str) -> str:
    """The text of a function of an array of the step's shape, which is written as ``code``."""
    axes, array = module.dims(step.statement), step.statement.target.array
    writer = module.writer(local=array.name, inline={array.name: code})
    writer.arrange(axes)
    return writer.align(writer.write(map_(Leaf(array, *axes))), axes)


def known_text(module: Module, step: FamilyDraw) -> str:
    """The known parameters of the family, as keywords."""
    writer = module.writer(inline={})
    axes = module.dims(step.statement)
    writer.arrange(axes)
    found = ""
    whole = module.is_whole(step)
    for name, value in step.conditional.known:
        text = writer.write(value)
        code = writer.align(text, axes)
        if not whole and text.dims:
            code = f"{writer.call('broadcast_to')}({code}, {module.shape(step.statement)})"
        if not whole and text.dims:
            code += "[at]" if step.is_by_element else where_text(module, step)
        found += f", {name}={code}"
    return found


def bounds_text(module: Module, step: Single) -> str:
    """The bounds of the support of what is drawn, as keywords; empty without bounds."""
    return "".join(_bound(module, step, b) for b in ("lower", "upper"))


def _bound(module: Module, step: Single, name: str) -> str:
    value: Expr = sp.sympify(getattr(step.support, name))
    # A bound that is another element of the same array is a term of the log density.
    if value in (sp.oo, -sp.oo) or mentions(value, step.variables):
        return ""
    writer = module.writer(inline={})
    axes = module.dims(step.statement)
    writer.arrange(axes)
    return f", {name}={writer.align(writer.write(value), axes)}"
