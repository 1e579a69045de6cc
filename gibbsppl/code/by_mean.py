"""Source text of what takes the moments of a conditional where a sweep would draw from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.code.elements import each_line
from gibbsppl.code.lines import INDENT, unpacking
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.places import index_text, where_text
from gibbsppl.model.graph import Variable
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.steps import Step

# A moment with the formula of its elements.
Computed = tuple[Moment, Expr]


def moments_name(module: Module, step: Step) -> str:
    """The name of the function of the moments of a step's conditional."""
    return module.function_of(step, "moments")


def moments_function(
    module: Module,
    step: Step,
    given: Mapping[str, tuple[Dim, ...]],
    computed: Sequence[Computed],
    extra: Mapping[Dim, int],
) -> str:
    """The function of the moments, by name, from what the function of the conditional returns.

    ``given`` are the arrays that this returns, with their axes.
    """
    more = {n: Variable(n, axes, "random") for n, axes in given.items()}
    writer = module.writer(extra, more=more)
    names = [f"eta_{j}" if n.endswith(f"eta_{j}") else n.rpartition("_")[2]
             for j, n in enumerate(given, 1)]  # fmt: skip
    body = unpacking([(", ".join(names) + "," * (len(names) == 1),
                       f"{module.functions[step.name]}(s, c)")]) if names else []  # fmt: skip
    for name, (own, axes) in zip(names, given.items(), strict=True):
        shape = tuple(map(writer.size, axes))
        writer.stand_in(own, name, shape)
        if axes:
            text = tuple_text([writer.size_text(a) for a in axes])
            body.append(f"{name} = {writer.call('broadcast_to')}({name}, {text})")
    entries = []
    for moment, formula in computed:
        writer.order = {}
        writer.arrange(moment.dims)
        code = writer.full(writer.write(formula), moment.dims)
        entries.append(f'{INDENT}"{moment.name}": {code},')
    told = ", ".join(dict.fromkeys(m.told for m, _ in computed))
    body += ["return {", *entries, "}"]
    return module.function(moments_name(module, step), f"{told}.", writer, body)


def put_moments(
    module: Module, step: Single, moments: Sequence[Moment], call: str
) -> list[str]:
    """The lines that put moments where they belong: all, or those of the elements of a step."""
    if module.is_whole(step):
        return [f"s.update({call})"]
    dims = module.dims(step.statement)
    if step.is_by_element:
        return _by_element(module, step, moments, call)
    lines = [f"found = {call}"]
    places: dict[Dim, Place] = dict(zip(dims, step.region, strict=True))
    for m in moments:
        if m.dims == dims:
            where = where_text(module, step)
        else:
            kept = [d for d in m.dims if d in places]
            where = index_text([places[d] for d in kept], kept, module.writer())
        if where:
            lines.append(f's["{m.name}"]{where} = found["{m.name}"]{where}')
        else:
            lines.append(f's["{m.name}"] = found["{m.name}"]')
    return lines


def _by_element(
    module: Module, step: Single, moments: Sequence[Moment], call: str
) -> list[str]:
    """The lines that put the moments of elements which depend on one another, call by call."""
    lines, dims = [each_line(module, step), f"{INDENT}found = {call}"], module.dims(step.statement)
    for m in moments:
        at = "[at]" if m.dims == dims else ""
        lines.append(f'{INDENT}s["{m.name}"]{at} = found["{m.name}"]{at}')
    return lines
