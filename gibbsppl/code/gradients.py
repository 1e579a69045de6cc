"""Log densities with their gradients as source text, for moves along paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from gibbsppl.code.joint import joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.maintained import maintained_functions, with_maintained, writer_of
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.statements import bound_part, parameter_part
from gibbsppl.schedule.parameters import NaturalParameter


def surface(module: Module, step: Any, name: str) -> list[str]:
    """The function of the log density and the gradient at a state, and that of arrays alone."""
    writer = writer_of(module, step)
    height = NaturalParameter(sp.S.One, (), step.terms)
    body: list[str | Part] = [parameter_part(writer, "log_density", height, full=False)]
    entries = []
    for array, slopes in zip(step.variables, step.gradient, strict=True):
        local = module.names.fresh(f"{module.names.of(array)}_slopes")
        body += [parameter_part(writer, local, slopes, full=True)]
        entries.append(f'"{array}": {local}')
    body += _returned("log_density, ", entries)
    told = ", ".join(step.variables)
    doc = f"{told} | rest: the log density, up to a constant, and its gradient."
    given = module.functions[step.name]
    as_function = [
        f"def {given}(s, c):",
        f'{INDENT}"""{told} | rest: the log density and its gradient, as a function of arrays."""',
        f"{INDENT}return lambda arrays: {name}(s | arrays, c)",
    ]
    first = with_maintained(module, step)
    own = module.function(name, doc, writer, body, first)
    return [*maintained_functions(module, step), own, "\n".join(as_function)]


def bounds(module: Module, step: Any, name: str) -> str:
    """The function of the bounds of arrays."""
    writer = module.writer(keeps=True)
    body: list[str | Part] = ["found = {}"]
    for array, lower, upper in step.ends:
        body += [bound_part(writer, b, full=True) for b in (lower, upper)]
        body += [f'found["{array}"] = (lower, upper)']
    body += ["return found"]
    doc = f"The bounds of {', '.join(array for array, *_ in step.ends)}."
    return module.function(name, doc, writer, body)


def unconstrained_name(module: Module, step: Any) -> str:
    """The name of the ``runtime.Unconstrained``: the elements moved, as coordinates."""
    joint = joint_name(module, step)
    tied = ", ".join(f'"{name}": "{kind}"' for name, kind in step.tied.items())
    stem = "_".join(map(module.names.of, step.variables)) + "_unconstrained"
    code = f'runtime.Unconstrained(c["{joint}"], {{{tied}}})'
    told = "the elements moved, as coordinates without bounds"
    return module.hoisted.add_last(("unconstrained", step.name), stem, code, told)


def _returned(first: str, entries: Sequence[str]) -> list[str]:
    """The lines that return something, and a dict of entries."""
    return [f"return {first}{{", *(f"{INDENT}{e}," for e in entries), "}"]
