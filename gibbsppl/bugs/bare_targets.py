"""Vectors and matrices that are named without indices: ``b ~ dmnorm(mu, Om)``, as in JAGS.

>>> from gibbsppl.bugs.parse import parse
>>> from gibbsppl.bugs.printing import text
>>> program = parse("model { b ~ dmnorm(mu, Om) }")
>>> print(text(with_ranges(program, {"mu": (3,), "Om": (3, 3)})))
model {
  b[1:3] ~ dmnorm(mu, Om)
}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gibbsppl.bugs.distributions import distribution
from gibbsppl.bugs.rows import Distribution
from gibbsppl.bugs.syntax import (
    Everything,
    Expression,
    Number,
    Operation,
    Program,
    Reference,
    Statement,
    Stochastic,
)

Shapes = Mapping[str, tuple[int, ...]]


def with_ranges(program: Program, shapes: Shapes) -> Program:
    """The program with a range for each axis on such left sides, where ``shapes`` tell its size."""
    return replace(program, model=tuple(_with_ranges(s, shapes) for s in program.model))


def _with_ranges(statement: Statement, shapes: Shapes) -> Statement:
    if not isinstance(statement, Stochastic) or statement.target.indices is not None:
        return statement
    called, target = statement.distribution, statement.target
    row = distribution(called.function, len(called.arguments))
    if not isinstance(row, Distribution) or not row.event:
        return statement
    axes = zip(row.parameters.values(), called.arguments, strict=True)
    own = shapes.get(target.name, ())
    if own and len(own) != row.event:
        return statement
    sizes = [own, *(_sizes(e, shapes) for count, e in axes if count)]
    size = next((s[-1] for s in sizes if s), None)
    if size is None:
        return statement
    at = target.at
    whole = Operation(":", (Number(1, at), Number(size, at)), at)
    return replace(statement, target=replace(target, indices=(whole,) * row.event))


def _sizes(given: Expression, shapes: Shapes) -> tuple[int, ...]:
    """The sizes of a name that is read whole; none where they are not known."""
    whole = isinstance(given, Reference) and all(
        isinstance(i, Everything) for i in given.indices or ()
    )
    return shapes.get(given.name, ()) if whole and isinstance(given, Reference) else ()
