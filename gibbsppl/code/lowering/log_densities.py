"""The log density of a factor as a program: the total, the least, how many are no number.

Comes in: a factor of a graph, data. Goes out: a `Sweep` without draws, whose outputs these are. It
agrees with the plain interpreter (`gibbsppl.model.density`), also on where the density is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from math import inf, nan

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.code.arrays.evaluation import computed
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    Span,
    elements,
    is_call,
    walk,
)
from gibbsppl.code.arrays.singles import in_single
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.code.lowering.sweeps import arrays_of
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.density import numbers_of, regions
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Potential, Statement
from gibbsppl.model.powers import powers_in
from gibbsppl.schedule.sweeps import Schedule

# What is told of a factor (`gibbsppl.model.density.Told`); each is 0 before the first position.
TOLD = ("total", "least", "lost", "largest")
# So many positions are looked at together, where all is known.
PART = 1 << 18


def log_density_program(graph: Graph, factor: Factor, data: Values) -> Sweep:
    """The program of a factor, with its outputs in order."""
    if isinstance(factor, Potential) and factor.is_sparse:
        raise NotLoweredError(f"{factor.name}: a sum over all cells of a sparse array.")
    w = Workshop.of(Schedule(graph, (), ()), data, {})
    names = tuple(w.fresh(f"{factor.name}_{told}") for told in TOLD)
    _lower(w, factor, names)
    statements = tuple(w.statements)
    found = Sweep(
        graph.name,
        w.arrays | arrays_of(w, statements),
        (),
        monitors=statements,
        outputs=names,
        tables=(*w.tables.values(), *w.groups.tables),
        sizes=w.own_sizes,
    )
    return in_single(found, frozenset(n for n in found.arrays if _is_single(data.get(n))))


def _is_single(values: object) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == np.float32


def _lower(w: Workshop, factor: Factor, names: Sequence[str]) -> None:
    """The numbers that are told of a factor."""
    total, least, lost, largest = names
    over, density = w.spans(factor.over), Element(w.fresh(f"{factor.name}_density"))
    value = w.plain(factor.log_density)
    if isinstance(factor, Statement):
        conditions = [c for c in _conditions(w, factor) if not _holds(w, c, factor.over)]
        value = _where(conditions, value)
    powers = _powers(w, factor)
    w.add(*(Let(n, (), ZERO) for n in names[:-1]))
    w.add(Let(largest, (), ZERO if powers is not None else Number(nan)))
    with w.inside(*over) if over else nullcontext():
        w.add(
            Let(density.array, (), value),
            Add(total, (), density, ()),
            Add(least, (), density, (), by="min"),
            Add(lost, (), Apply("where", (_is_finite(density), ZERO, ONE)), ()),
            *(Add(largest, (), size, spans, by="max") for size, spans in powers or ()),
        )


def _powers(w: Workshop, factor: Factor) -> list[tuple[Expr, tuple[Span, ...]]] | None:
    """The sizes of the exponentials and powers formed, 0 of what is no number; None if not told."""
    try:
        every = dict.fromkeys(powers_in(factor.log_density, w.graph.sizes))
    except ValueError:
        return None
    found = list[tuple[Expr, tuple[Span, ...]]]()
    for power, ranges in every:
        size = Apply("abs", (w.plain(power),))
        is_number = Apply("at_most", (size, Number(inf)))
        found.append((Apply("where", (is_number, size, ZERO)), w.spans(ranges)))
    return found


def _where(conditions: list[Expr], value: Expr) -> Expr:
    """A log density where all conditions hold; elsewhere the density is zero."""
    if not conditions:
        return value
    every = conditions[0] if len(conditions) == 1 else Apply("and", tuple(conditions))
    return Apply("where", (every, value, Number(-inf)))


def _conditions(w: Workshop, s: Statement) -> Iterator[Expr]:
    """The conditions of values on the support, and of parameters on theirs."""
    supports = [s.support]
    if s.lower is not None or s.upper is not None:
        supports.append(s.family.support(s.event, **dict(s.arguments)))
    event = regions(s, w.graph.sizes)[len(s.over) :]
    for support in supports:
        yield from _inside(w, support, s.target, event)
    for support, argument in numbers_of(s, s.arguments):
        yield from _inside(w, support, argument, ())


def _inside(
    w: Workshop, support: Support, value: Formula, event: Sequence[Range]
) -> Iterator[Expr]:
    """The conditions of a value on a support."""
    if support.kind not in _KINDS:
        raise NotLoweredError(f"No program looks at values of kind {support.kind!r}.")
    found = w.plain(value)
    yield from (_for_all(w, c, event) for c in _KINDS[support.kind](found))
    lower, upper = (w.plain(sp.sympify(e)) for e in (support.lower, support.upper))
    yield _for_all(w, Apply("at_most", (lower, found)), event)
    yield _for_all(w, Apply("at_most", (found, upper)), event)


def _for_all(w: Workshop, condition: Expr, event: Sequence[Range]) -> Expr:
    """A condition on all numbers of a value."""
    spans = w.spans(event)
    return Reduce(condition, spans, "min") if spans else condition


def _is_finite(e: Expr) -> Expr:
    return Apply("below", (Apply("abs", (e,)), Number(inf)))


def _is_whole(e: Expr) -> Expr:
    return Apply("equals", (Apply("//", (e, ONE)), e))


# What holds of each number of a value, whatever its bounds are.
_KINDS: Mapping[str, Callable[[Expr], list[Expr]]] = {
    "real": lambda e: [_is_finite(e)],
    "vector": lambda e: [_is_finite(e)],
    "integer": lambda e: [_is_finite(e), _is_whole(e)],
}


def _holds(w: Workshop, condition: Expr, over: Sequence[Range]) -> bool:
    """Whether a condition holds everywhere, by its form or by what is known."""
    each, own = condition, tuple[Span, ...]()
    if isinstance(condition, Reduce):
        each, own = condition.body, condition.spans
    if _is_idle(each):
        return True
    if not each.arrays <= w.data.keys() or not _is_plain(each):
        return False
    arrays = {n: np.asarray(w.data[n]) for n in each.arrays}
    sizes = {d.name: n for d, n in w.graph.sizes.items()}
    for ranges in _parts(over):
        spans = (*w.spans(ranges), *own)
        statements = (Let("holds", (), ONE), Add("holds", (), each, spans, by="min"))
        if computed(statements, dict(arrays), sizes)["holds"] != 1:
            return False
    return True


def _is_idle(condition: Expr) -> bool:
    """Whether what is compared with is infinite: all finite numbers are on this side of it."""
    return is_call(condition, "at_most") and (
        condition.parts[0] == Number(-inf) or condition.parts[1] == Number(inf)
    )


def _is_plain(e: Expr) -> bool:
    """Whether an expression is of elements at its own positions."""
    if any(i.arrays for x in elements(e) for i in x.indices):
        return False
    return all(isinstance(x, Apply | Element | Number | Position | Size) for x in walk(e))


def _parts(over: Sequence[Range]) -> Iterator[tuple[Range, ...]]:
    """Ranges in parts of so many positions at most."""
    if not over:
        yield ()
        return
    first, *others = over
    step = max(1, PART // max(1, math.prod(map(len, others))))
    for start in range(first.start, first.stop, step):
        yield (Range(first.dim, start, min(start + step, first.stop)), *others)
