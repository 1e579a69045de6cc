"""The function of a draw from a family: the natural parameters of the conditional."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.code.lowering.contributions import contributed
from gibbsppl.code.maintained import maintained_functions, with_maintained, writer_of
from gibbsppl.code.maintained_forms import parameters_with_forms
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.statements import bound_part, parameter_part
from gibbsppl.code.numpy_text.tables import rows_part
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.model.graph import PLAIN
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.parameters import NaturalParameter


def natural_parameters(module: Module, step: FamilyDraw) -> str:
    """The function that computes the natural parameters of a step's conditional."""
    statement = step.statement
    parameters, ready = parameters_with_forms(module, step)
    writer = writer_of(module, step, partner_sizes(step, module.graph.sizes))
    full = bool(step.dense) or not module.is_whole(step)
    etas = [f"eta_{j}" for j in range(1, len(parameters) + 1)]
    body: list[str | Part] = []
    for eta, parameter in zip(etas, parameters, strict=True):
        rows = None
        if not full and _is_by_event(module, step, parameter):
            rows = _as_rows(writer, eta, parameter)
        body.append(rows or parameter_part(writer, eta, parameter, full=full))
    if step.dense:
        body += _flattened(module, writer, step, etas)
    elif step.bounds:
        body += [bound_part(writer, b, full=full) for b in step.bounds]
        etas += [b.side for b in step.bounds]
    statistics = ", ".join(map(PLAIN.text, step.conditional.statistics))
    joint = ", drawn jointly" if step.dense else ""
    doc = f"{statement.target} | rest ~ {step.conditional.family.name}{joint}: "
    doc += f"the coefficients of {statistics}." if statistics else "no statistics."
    if step.bounds:
        doc = doc.removesuffix(".") + "; its bounds."
    body.append(f"return ({', '.join(etas)}{',' if len(etas) == 1 else ''})")
    first = [*with_maintained(module, step), *ready]
    text = module.function(module.functions[step.name], doc, writer, body, first)
    return "\n\n\n".join([*maintained_functions(module, step), text])


def _is_by_event(module: Module, step: FamilyDraw, parameter: NaturalParameter) -> bool:
    """Whether a parameter has one entry for each of an event, whose axis is its last."""
    axes = parameter.axes
    is_own = axes == module.dims(step.statement) and axes[-1:] == step.statement.event
    return is_own and len(axes) > 1


def _as_rows(writer: Writer, eta: str, parameter: NaturalParameter) -> Part | None:
    """A parameter that is read whole along the last axis, as a sum of rows of tables."""
    apart = tuple(
        replace(c, value=sp.Add(*_terms(c.value), evaluate=False)) for c in parameter.contributions
    )
    found = contributed(writer, replace(parameter, contributions=apart), eta)
    return rows_part(writer, *found)


def _terms(value: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; the log of a product of nonnegative factors is split into terms, too."""
    found: list[Expr] = []
    for term in sp.Add.make_args(value):
        factors = term.args[0].args if isinstance(term, sp.log) and term.args[0].is_Mul else ()
        split = factors and all(f.is_nonnegative for f in factors)
        found += map(sp.log, factors) if split else (term,)
    return tuple(found)


def _flattened(module: Module, writer: Writer, step: FamilyDraw, etas: Sequence[str]) -> list[str]:
    """Several dense axes as one."""
    if len(step.dense) < 2:
        return []
    sizes = [*map(writer.size_text, module.dims(step.statement))]
    batch = [sizes[a] for a in step.batch]
    entries = " * ".join(sizes[a] for a in step.dense)
    shapes = map(tuple_text, ((*batch, entries), (*batch, entries, entries)))
    return [f"{e} = {e}.reshape{s}" for e, s in zip(etas, shapes, strict=True)]


def partner_sizes(step: FamilyDraw, sizes: Mapping[Dim, int]) -> dict[Dim, int]:
    """The sizes of the axes of second entries of a vector."""
    """The sizes of the axes that stand for the second entry of a pair."""
    if not step.dense:
        return {}
    first, last = len(step.batch), len(step.batch + step.dense)
    return {
        partner: sizes[own]
        for p in step.parameters
        for partner, own in zip(p.axes[last:], p.axes[first:last], strict=False)
        if partner not in sizes
    }
