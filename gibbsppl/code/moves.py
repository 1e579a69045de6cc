"""The function of a move: the log density of a variable, as a function of its value."""

from __future__ import annotations

import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.rounding import growth, may_be_infinite
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.code.lines import indented, returned, returned_by, with_gathers
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.statements import parameter_lines
from gibbsppl.code.numpy_text.text import ATOM, PRODUCT
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import ranges_of
from gibbsppl.derive.contractions import Contribution
from gibbsppl.model.graph import PLAIN
from gibbsppl.pieces.dependence import bounds_of
from gibbsppl.pieces.vanishing import may_be_zero
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.parameters import NaturalParameter


def log_density(module: Module, step: DensityDraw) -> str:
    """The function that returns the log density of a step's variable.

    Two writers: what does not depend on the variable is computed in the ``outer`` function, once
    for a move; the ``inner`` one is called at each proposal.
    """
    statement, place = step.statement, step.place
    name = place.array.name
    like = statement.target.array.name
    outer, inner = module.writer(keeps=True), module.writer(local=name, like=like, keeps=True)
    # One name for a gather that both read.
    inner.gathered = outer.gathered
    body, terms = _statistics(module, step, outer, inner)
    terms += [(growth(c.value, name), _term(module, step, inner, c), c.factor) for c in step.terms]
    in_order = sorted(terms, key=lambda term: -term[0])
    local = module.names.of(name)
    written = [(text, factor) for _, text, factor in in_order]
    if step.is_move and _may_cancel(step):
        value = returned_by(inner.call("with_digits"), local, written)
    else:
        value = returned(written)
    value = with_gathers(inner.within, value)
    body += ["", f"def log_density({local}):", *indented(value), "", "return log_density"]
    outer.state_names.update(inner.state_names)
    outer.data_read += inner.data_read
    outer.constants |= inner.constants
    doc = f"{statement.target} | rest: its log density up to a constant, as a function."
    if step.change is not None:
        new = PLAIN.text(step.change.forward(statement.target))
        doc = doc.removesuffix(".") + f" of {place} = {new}."
    return module.function(module.functions[statement.name], doc, outer, body)


def _may_cancel(step: DensityDraw) -> bool:
    """Whether terms may be infinite together, at very large or very small positive values.

    (Positive values are moved by their logs, and can go as far as numbers do.)
    """
    if step.statement.support != POSITIVE:
        return False
    name = step.place.array.name
    terms = [*(p.statistic for p in step.parameters), *(c.value for c in step.terms)]
    far = sum(growth(e, name) > 0 for e in terms)
    near = sum(growth(e, name, at_zero=True) < 0 for e in terms)
    return max(far, near) > 1


def _statistics(
    module: Module, step: DensityDraw, outer: Writer, inner: Writer
) -> tuple[list[str], list[tuple[float, str, str]]]:
    """Lines that compute the coefficients of statistics; terms with their growth and factors."""
    target, axes = step.place, module.dims(step.statement)
    full = step.region != module.everything(step.statement)
    body: list[str] = []
    terms: list[tuple[float, str, str]] = []
    for j, parameter in enumerate(step.parameters, 1):
        eta = f"eta_{j}"
        body += parameter_lines(outer, eta, parameter, full=full)
        inner.arrange(axes)
        statistic = parameter.statistic.xreplace({target: Leaf(target.array, *axes)})
        factors = "+".join(c.factor for c in parameter.contributions)
        grows = growth(parameter.statistic, target.array.name)
        terms.append((grows, _weighted(inner, eta, parameter, statistic), factors))
    return body, terms


def _weighted(inner: Writer, eta: str, parameter: NaturalParameter, statistic: Expr) -> str:
    """A coefficient times a statistic: 0 where it is 0, though the statistic may be infinite."""
    found = parameter.contributions
    everywhere = all(c.is_everywhere(inner.sizes) for c in found)
    total = sp.Add(*(c.value for c in found)) if everywhere else sp.S.Zero
    if not (may_be_infinite(statistic) and may_be_zero(total, inner.continuous)):
        return f"{eta} * {inner.write(statistic).within(ATOM)}"
    return f"{inner.call('weighted')}({eta}, {inner.write(statistic).code})"


def _term(module: Module, step: DensityDraw, inner: Writer, term: Contribution) -> str:
    """A term of the log density that is no statistic with a coefficient, at its place."""
    axes = module.dims(step.statement)
    inner.arrange(axes)
    with inner.over(ranges_of(term.place)):
        text = inner.write(term.value)
    if step.conditional.elements and not step.is_coloured:
        return text.within(PRODUCT)
    code = inner.align(text, axes)
    if term.is_everywhere(module.graph.sizes):
        return code
    place, shape = tuple(map(bounds_of, term.place)), tuple(map(inner.size, axes))
    return f"{inner.call('placed')}({code}, {place}, {shape})"
