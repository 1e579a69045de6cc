"""The function of a move: the log density of a variable, as a function of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.rounding import growth, may_be_infinite
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.code.arrays.expressions import Expr
from gibbsppl.code.lines import indented, returned, returned_by
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Written, with_names
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.text import ATOM, PRODUCT, Text, tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import ranges_of
from gibbsppl.derive.contractions import Contribution
from gibbsppl.model.graph import PLAIN
from gibbsppl.pieces.dependence import Place
from gibbsppl.pieces.vanishing import may_be_zero
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.parameters import NaturalParameter


def log_density(module: Module, step: DensityDraw, called: str = "", more: str = "") -> str:
    """The function that returns the log density of a step's variable.

    ``called`` is its name, if not that of the step's conditional, and ``more`` is said of it. Two
    writers: what does not depend on the variable is computed in the ``outer`` function, once
    for a move; the ``inner`` one is called at each proposal.
    """
    statement, place = step.statement, step.place
    name = place.array.name
    like = statement.target.array.name
    outer, inner = module.writer(keeps=True), module.writer(local=name, like=like, keeps=True)
    full = step.region != module.everything(statement)
    etas = [
        parameter_part(outer, f"eta_{j}", p, full=full) for j, p in enumerate(step.parameters, 1)
    ]
    terms = [
        *_statistics(module, step, inner),
        *(_term(module, step, inner, c) for c in step.terms),
    ]
    in_order = sorted(terms, key=lambda term: -term.grows)
    axes, local = axes_of(module, step), module.names.of(name)
    careful = local if step.is_move and _may_cancel(step) else ""
    value = Written(
        tuple((t.value, t.ranges) for t in in_order), partial(_returned, in_order, axes, careful)
    )
    first, last = with_names(((outer, etas), (inner, [value])))
    body = [line for part in first for line in part.lines(outer)]
    inside = [line for part in last for line in part.lines(inner)]
    body += ["", f"def log_density({local}):", *indented(inside), "", "return log_density"]
    outer.state_names.update(inner.state_names)
    outer.data_read |= inner.data_read
    outer.turned |= inner.turned
    outer.constants |= inner.constants
    outer.held.done += inner.held.done
    doc = f"{statement.target} | rest: its log density{more} up to a constant, as a function."
    if step.change is not None:
        new = PLAIN.text(step.change.forward(statement.target))
        doc = doc.removesuffix(".") + f" of {place} = {new}."
    return module.function(called or module.functions[step.name], doc, outer, body)


def axes_of(module: Module, step: DensityDraw) -> tuple[Dim, ...]:
    """The axes of the log density of each element, or of each value whose entries are tied."""
    dims = module.dims(step.statement)
    return dims[: len(dims) - step.tied]


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


@dataclass(frozen=True, slots=True)
class _Term:
    """A term: how fast it grows, its value at positions of ranges, and how that is spelled."""

    grows: float
    factor: str
    value: Expr
    ranges: Mapping[str, range]
    spelled: Callable[[Writer, Text], str]


def _returned(
    terms: Sequence[_Term],
    axes: tuple[Dim, ...],
    careful: str,
    writer: Writer,
    values: Sequence[Expr],
) -> list[str]:
    """Lines that return the sum of terms; where they may cancel, by the value of a name."""
    written = []
    with writer.arranged(axes), writer.held.sum(writer.bytes_of):
        for term, value in zip(terms, values, strict=True):
            with writer.along(term.ranges):
                text = writer.text(value)
            written.append((term.spelled(writer, text), term.factor))
    if careful:
        return returned_by(writer.call("with_digits"), careful, written)
    return returned(written)


def _statistics(module: Module, step: DensityDraw, inner: Writer) -> Iterator[_Term]:
    """Coefficients times statistics."""
    target, axes = step.place, axes_of(module, step)
    for j, parameter in enumerate(step.parameters, 1):
        statistic = parameter.statistic.xreplace({target: Leaf(target.array, *axes)})
        factors = "+".join(c.factor for c in parameter.contributions)
        grows = growth(parameter.statistic, target.array.name)
        spelled = partial(_weighted, f"eta_{j}", _is_weighted(inner, parameter, statistic))
        yield _Term(grows, factors, inner.expr(statistic), {}, spelled)


def _is_weighted(inner: Writer, parameter: NaturalParameter, statistic: Formula) -> bool:
    """Whether a coefficient may be 0 where the statistic is infinite: their product is 0 there."""
    found = parameter.contributions
    everywhere = all(c.is_everywhere(inner.sizes) for c in found)
    total = sp.Add(*(c.value for c in found)) if everywhere else sp.S.Zero
    return may_be_infinite(statistic) and may_be_zero(total, inner.continuous)


def _weighted(eta: str, is_weighted: bool, writer: Writer, text: Text) -> str:
    """A coefficient times a statistic."""
    if is_weighted:
        return f"{writer.call('weighted')}({eta}, {text.code})"
    return f"{eta} * {text.within(ATOM)}"


def _term(module: Module, step: DensityDraw, inner: Writer, term: Contribution) -> _Term:
    """A term of the log density that is no statistic with a coefficient, at its place."""
    axes = axes_of(module, step)
    with inner.arranged(axes):
        value = inner.expr(term.value)
    ranges = {r.dim.name: range(r.start, r.stop) for r in ranges_of(term.place)}
    spelled = _as_one if step.conditional.elements and not step.is_coloured else None
    if spelled is None and term.is_everywhere(module.graph.sizes):
        spelled = partial(_aligned, axes)
    elif spelled is None:
        spelled = partial(_placed, term.place, axes)
    return _Term(growth(term.value, step.place.array.name), term.factor, value, ranges, spelled)


def _as_one(writer: Writer, text: Text) -> str:
    del writer
    return text.within(PRODUCT)


def _aligned(axes: tuple[Dim, ...], writer: Writer, text: Text) -> str:
    return writer.align(text, axes)


def _placed(place: Iterable[Place], axes: tuple[Dim, ...], writer: Writer, text: Text) -> str:
    """A term at its place among all elements."""
    ends = writer.bounds_text(place)
    shape = tuple_text(map(writer.size_text, axes))
    return f"{writer.call('placed')}({writer.align(text, axes)}, {ends}, {shape})"
