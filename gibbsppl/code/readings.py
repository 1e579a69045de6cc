"""Source text of what reads the mean or the mode of a conditional, where a sweep would draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.code.elements import each_line
from gibbsppl.code.lines import INDENT, unpacking
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.places import index_text, where_text
from gibbsppl.derive.contractions import Contribution
from gibbsppl.model.graph import Variable
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True)
class Computed:
    """An array that is computed: its name, dims and formula, and what it is in notation.

    ``inside`` are ends of a support that all values have to be inside of.
    """

    name: str
    dims: tuple[Dim, ...]
    formula: Expr
    told: str
    inside: tuple[Expr, Expr] | None = None


def function_name(module: Module, step: Step, what: str) -> str:
    """The name of the function of the moments, or of the mode, of a step's conditional."""
    return module.function_of(step, what)


def computing_function(
    module: Module,
    step: Step,
    what: str,
    given: Mapping[str, tuple[Dim, ...]],
    computed: Sequence[Computed],
    extra: Mapping[Dim, int],
) -> str:
    """A function of arrays, by name, computed from what the function of the conditional returns.

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
    read = {x.array.name for c in computed for x in c.formula.atoms(Leaf)}
    for c in in_order(computed):
        writer.order = {}
        writer.arrange(c.dims)
        code = writer.full(writer.write(c.formula), c.dims)
        if c.inside is not None:
            ends = ", ".join(f"{float(e)!r}".replace("inf", "float('inf')") for e in c.inside)
            code = f'{writer.call("inside")}("{c.name}", {code}, {ends})'
        if c.name in read:
            body.append(f"{module.names.of(c.name)} = {code}")
            code = module.names.of(c.name)
            writer.stand_in(c.name, code, tuple(map(writer.size, c.dims)))
        entries.append(f'{INDENT}"{c.name}": {code},')
    told = ", ".join(dict.fromkeys(c.told for c in computed))
    body += ["return {", *entries, "}"]
    return module.function(function_name(module, step, what), f"{told}.", writer, body)


def in_order(computed: Sequence[Computed]) -> list[Computed]:
    """The arrays, each after those that its formula reads."""
    left, found = list(computed), list[Computed]()
    while left:
        waiting = {c.name for c in left}
        ready = [c for c in left if not waiting & {x.array.name for x in c.formula.atoms(Leaf)}]
        assert ready, "formulas that read one another"
        found += ready
        left = [c for c in left if c not in ready]
    return found


def total(
    module: Module, name: str, local: str, terms: tuple[Contribution, ...], doc: str
) -> str:
    """The function of a sum of terms, each one number; ``local`` is the name that it has inside."""
    writer = module.writer(keeps=True)
    parameter = NaturalParameter(sp.S.One, (), terms)
    body: list[str | Part] = [parameter_part(writer, local, parameter, full=False)]
    return module.function(name, doc, writer, [*body, f"return {local}"])


def put_computed(
    module: Module, step: Single, arrays: Mapping[str, tuple[Dim, ...]], call: str
) -> list[str]:
    """The lines that put arrays, with their dims, where they belong: all, or a step's elements."""
    if module.is_whole(step):
        return [f"s.update({call})"]
    dims = module.dims(step.statement)
    if step.is_by_element:
        return _by_element(module, step, arrays, call)
    lines = [f"found = {call}"]
    places: dict[Dim, Place] = dict(zip(dims, step.region, strict=True))
    for name, own in arrays.items():
        if own == dims:
            where = where_text(module, step)
        else:
            kept = [d for d in own if d in places]
            where = index_text([places[d] for d in kept], kept, module.writer())
        lines.append(f's["{name}"]{where} = found["{name}"]{where}')
    return lines


def _by_element(
    module: Module, step: Single, arrays: Mapping[str, tuple[Dim, ...]], call: str
) -> list[str]:
    """The lines that put what is computed of elements which depend on one another, call by call."""
    lines, dims = [each_line(module, step), f"{INDENT}found = {call}"], module.dims(step.statement)
    for name, own in arrays.items():
        at = "[at]" if own == dims else ""
        lines.append(f'{INDENT}s["{name}"]{at} = found["{name}"]{at}')
    return lines
