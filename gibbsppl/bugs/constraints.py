"""Constraints on random variables beside their distributions: ``I(,)``, ``C(,)``, ``dinterval``.

``T(,)`` is a truncated distribution, whose density is divided by the probability of the interval.
The others are potentials: indicators of an interval, beside an unchanged density.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, dims_of, substitute
from gibbsppl.algebra.functions import AtMost, Below
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.distributions import distribution
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid, combined
from gibbsppl.bugs.numbers import elements_of, target_of
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.rows import Interval, LogLikelihood
from gibbsppl.bugs.syntax import Expression, Stochastic
from gibbsppl.bugs.values import Known, Value
from gibbsppl.model.graph import Potential


def between(
    evaluator: Evaluator, x: Expr, lower: Expression | None, upper: Expression | None, name: str
) -> Potential | None:
    """The potential that ``x`` is between two bounds, at all positions of a space."""
    low, high = (None if b is None else evaluator.expr(evaluator.number(b)) for b in (lower, upper))
    factors = [AtMost(low, x)] if low is not None else []
    factors += [AtMost(x, high)] if high is not None else []
    return _holds(evaluator, sp.Mul(*factors), name) if factors else None


def increasing(x: Expr, along: Range, name: str) -> Potential:
    """The potential that the elements of a vector increase."""
    before = substitute(x, {along.dim: along.dim - 1})
    over = replace(along, start=along.start + 1)
    return Potential(f"{name} in order", sp.log(Below(before, x)), (over,))


def _intervals(
    facts: Facts, relation: Relation, reader: Elements, name: str
) -> Iterator[Potential]:
    """The potentials of an observed ``dinterval``: its argument is between two cut points."""
    line, space = relation.line, relation.space
    assert isinstance(line, Stochastic)
    assert space is not None
    at = target_of(facts.program, relation, facts.numbers)
    assert at is not None
    numbers = facts.numbers[line.target.name]
    dims, elements, _ = elements_of(facts.program, line.target, numbers.shape, at or None)
    every = space.rows(Grid(dims, numbers.values[elements]))
    for number, value in enumerate(int(v) for v in np.unique(every)):
        part = space
        if (every != value).any():
            rows = reader.own.dim(f"{name}_{number + 1}_row", int((every == value).sum()))
            part = space.table(rows, every == value)
        evaluator = Evaluator(facts.program, reader, part)
        x, cuts = map(evaluator.value, line.distribution.arguments)
        bounds = _cuts(evaluator, cuts)
        factors = [Below(b, evaluator.expr(x)) for b in bounds[value - 1 : value] if value]
        factors += [AtMost(evaluator.expr(x), b) for b in bounds[value : value + 1]]
        yield _holds(evaluator, sp.Mul(*factors), f"{name}_{number + 1}")


def _cuts(evaluator: Evaluator, cuts: Value) -> list[Expr]:
    """The cut points, in order."""
    expr = evaluator.expr(cuts)
    if not cuts.axes:
        return [expr]
    (axis,) = cuts.axes
    count = evaluator.size(axis, cuts)
    return [substitute(expr, {axis: sp.Integer(k)}) for k in range(count)]


def _holds(evaluator: Evaluator, indicator: Expr, name: str) -> Potential:
    return Potential(name, sp.log(indicator), over_of(evaluator, dims_of(indicator)))


def over_of(evaluator: Evaluator, used: Collection[Dim]) -> tuple[Range, ...]:
    """The ranges of some dims of a space."""
    space = evaluator.space
    return tuple(
        Range(d, space.starts[d], space.starts[d] + n) for d, n in space.sizes.items() if d in used
    )


def observations(
    facts: Facts, relation: Relation, reader: Elements, name: str
) -> Iterator[Potential]:
    """The potentials of a line on other variables: an interval, a rounding, a log density."""
    line, space = relation.line, relation.space
    assert isinstance(line, Stochastic)
    assert space is not None
    row = distribution(line.distribution.function, len(line.distribution.arguments))
    evaluator = Evaluator(facts.program, reader, space)
    if isinstance(row, LogLikelihood):
        (given,) = line.distribution.arguments
        expr = evaluator.expr(evaluator.number(given))
        # (each position counts, those at which the density is the same too)
        yield Potential(name, expr, over_of(evaluator, space.dims))
    elif isinstance(row, Interval) and row.ends is not None:
        yield from _intervals(facts, relation, reader, name)
    elif isinstance(row, Interval):
        x, *others = map(evaluator.value, line.distribution.arguments)
        if not all(isinstance(o, Known) for o in others):
            raise evaluator.error(line.distribution, "found random digits; expected numbers.")
        seen = evaluator.value(line.target)
        grids = [v.grid for v in (seen, *others) if isinstance(v, Known)]
        bounds = [
            Known(combined(lambda *v, n=n: row.bounds(*v)[n], *grids), text=f"{name}_{told}")
            for n, told in enumerate(("lower", "upper"))
        ]
        low, high = (evaluator.expr(b) for b in bounds)
        yield _holds(
            evaluator, AtMost(low, evaluator.expr(x)) * AtMost(evaluator.expr(x), high), name
        )
    else:
        raise facts.program.error(line.distribution.at, f"{row.names[0]} cannot be used here yet.")
