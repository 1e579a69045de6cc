"""Maintained arrays, sums over the state: functions that compute them anew for steps.

The natural parameters of a variable that has been integrated out are such arrays. Those that scans
alone change stay in the state from sweep to sweep, and chains compute them anew at times; others
are computed before each scan. Nothing that a user gives or gets holds them.
"""

from __future__ import annotations

from collections.abc import Mapping

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.model.graph import Variable
from gibbsppl.model.graph_views import of_data_alone
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step


def maintained_functions(module: Module, step: Step) -> list[str]:
    """A recomputing function for each array that a step reads, and a function of them all."""
    if not step.kept:
        return []
    new = [p for p in step.kept if module.is_new(_anew_name(module, p))]
    return [*(_anew(module, step, p) for p in new), _kept(module, step)]


def maintained_name(module: Module, step: Step) -> str:
    """The name of the function of all arrays that a step reads."""
    return module.function_of(step, "kept")


def writer_of(module: Module, step: Step, extra: Mapping[Dim, int] | None = None) -> Writer:
    """A writer that knows the arrays that a step reads."""
    names = [p.array for p in step.kept]
    known = {n: Variable(n, p.axes, "random") for n, p in zip(names, step.kept, strict=True)}
    sizes = {**module.schedule.graph_of(step).sizes, **(extra or {})}
    return module.writer(sizes, more=known, keeps=True)


def with_maintained(module: Module, step: Step) -> list[str]:
    """The line that puts what a step reads into the state of a function.

    It is computed anew; what is of data alone has been computed once.
    """
    if not step.kept:
        return []
    name = maintained_name(module, step)
    if {p.array for p in step.kept} <= of_data_alone(module.schedule.graph_of(step)):
        key, told = ("kept", step.name), f"what the draw of {step.variables[0]} reads"
        once = module.hoisted.add_last(key, f"{name}_once", f"{name}({{}}, c)", told)
        return [f's = s | c["{once}"]']
    return [f"s = s | {name}(s, c)"]


def _anew_name(module: Module, parameter: NaturalParameter) -> str:
    name = parameter.array
    return module.names.called("anew", name, like=f"{name}_anew")


def _anew(module: Module, step: Step, parameter: NaturalParameter) -> str:
    writer = writer_of(module, step)
    value = parameter_part(writer, "value", parameter, full=True)
    doc = f"{parameter.statistic}, computed from what it is the sum of."
    return module.function(_anew_name(module, parameter), doc, writer, [value, "return value"])


def _kept(module: Module, step: Step) -> str:
    """The function of all arrays that a step reads, in order: some are sums of others."""
    told = "the scan of {} keeps up to date" if step.maintained else "the draw of {} reads"
    doc = f"What {told.format(step.variables[0])}, computed anew."
    lines = [
        f"def {maintained_name(module, step)}(s, c):",
        f'{INDENT}"""{doc}"""',
        f"{INDENT}kept = {{}}",
    ]
    arrays = [p.array for p in step.kept]
    for n, (name, p) in enumerate(zip(arrays, step.kept, strict=True)):
        read = {x.array.name for c in p.contributions for x in c.value.atoms(Leaf)}
        state = "s | kept" if read & set(arrays[:n]) else "s"
        value = f"{_anew_name(module, p)}({state}, c)"
        lines.append(f'{INDENT}kept["{name}"] = runtime.owned({value})')
    return "\n".join([*lines, f"{INDENT}return kept"])
