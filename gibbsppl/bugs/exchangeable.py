"""Exchangeable vectors read by their order statistics alone: ``mu <- sort(m)``.

Independent values of the same distribution are equally likely in any order: the density of sorted
values is the density of unsorted ones times the number of orders. Lines that read ``sort(m)`` then
read ``m`` itself, with conditionals truncated to the interval between two neighbours.

>>> from gibbsppl.bugs.facts import facts_of
>>> from gibbsppl.bugs.parse import parse
>>> from gibbsppl.bugs.printing import text
>>> program = parse("model { for (k in 1:3) { m[k] ~ dnorm(0, 1) }  mu[1:3] <- sort(m[]) }")
>>> changed, names = in_their_order(facts_of(program, {}), ())
>>> sorted(names), text(changed).splitlines()[-2].strip()
(['m'], 'mu[1:3] <- m[]')
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.numbers import evaluator_of, target_of
from gibbsppl.bugs.relations import EMPTY, Relation
from gibbsppl.bugs.rows import Distribution
from gibbsppl.bugs.statements import row_of
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Loop,
    Program,
    Reference,
    Statement,
    Stochastic,
    expressions_of,
    parts_of,
    with_parts,
)
from gibbsppl.bugs.values import Known


def in_their_order(facts: Facts, monitor: Collection[str]) -> tuple[Program, frozenset[str]]:
    """The program with ``sort(m)`` replaced by ``m``, and the names ``m``, except ``monitor``."""
    lines = [r.line for r in facts.relations]
    read = [x for s in lines for e in expressions_of(s) for x in _read(e)]
    # (a vector is named at one other place: to the left of the one line that gives it)
    asked = {x.arguments[0].name for x in read if _is_sorted(facts, x)}  # type: ignore[union-attr]
    named = [x.name for x in read if isinstance(x, Reference)]
    found = frozenset(
        r.line.target.name
        for r in facts.relations
        if isinstance(r.line, Stochastic)
        and r.line.target.name in asked - set(monitor)
        and named.count(r.line.target.name) == 1
        and _are_alike(facts, r)
    )
    if not found:
        return facts.program, found
    model = tuple(_changed(s, found) for s in facts.program.model)
    return replace(facts.program, model=model), found


def _read(expression: Expression) -> Iterator[Expression]:
    """An expression and all its parts, down to sorted vectors, which are not taken apart."""
    yield expression
    if not _sorts(expression):
        for part in parts_of(expression):
            yield from _read(part)


def _sorts(expression: Expression) -> bool:
    """Whether an expression is a vector in order."""
    return (
        isinstance(expression, Call)
        and expression.function == "sort"
        and len(expression.arguments) == 1
        and isinstance(expression.arguments[0], Reference)
    )


def _is_sorted(facts: Facts, expression: Expression) -> bool:
    """Whether an expression sorts a whole vector."""
    if not _sorts(expression):
        return False
    (vector,) = expression.arguments  # type: ignore[union-attr]
    return isinstance(vector, Reference) and _is_whole(facts, vector)


def _is_whole(facts: Facts, vector: Reference) -> bool:
    if vector.name not in facts.numbers or len(facts.shape(vector.name)) != 1:
        return False
    if not vector.indices or isinstance(vector.indices[0], Everything):
        return True
    index = evaluator_of(facts.program, facts.numbers, EMPTY).value(vector.indices[0])
    every = np.arange(1, facts.shape(vector.name)[0] + 1)
    return isinstance(index, Known) and np.array_equal(index.grid.values, every)


def _are_alike(facts: Facts, relation: Relation) -> bool:
    """Whether a line gives all elements of a vector, none observed, by one distribution."""
    line, space = relation.line, relation.space
    assert isinstance(line, Stochastic)
    assert space is not None
    row, target = row_of(facts, line), target_of(facts.program, relation, facts.numbers)
    if not isinstance(row, Distribution) or row.event or row.values_from or row.auxiliaries:
        return False
    _, *given = expressions_of(line)
    is_same = not any(
        isinstance(x, Reference) and x.name in space.loops for e in given for x in _all(e)
    )
    numbers = facts.numbers[line.target.name]
    return bool(
        is_same
        and target
        and len(target) == 1
        and target[0].grid.values.size == numbers.shape[0]
        and not numbers.known.any()
    )


def _all(expression: Expression) -> Iterator[Expression]:
    yield expression
    for part in parts_of(expression):
        yield from _all(part)


def _changed(statement: Statement, names: Collection[str]) -> Statement:
    """The statement, with ``sort(x)`` replaced by ``x`` for the vectors ``names``."""
    match statement:
        case Loop():
            return replace(statement, body=tuple(_changed(s, names) for s in statement.body))
        case Assignment():
            return replace(statement, value=_as_they_are(statement.value, names))
        case Stochastic(distribution=call, restriction=bounds):
            arguments = tuple(_as_they_are(a, names) for a in call.arguments)
            if bounds is not None:
                ends = (bounds.lower, bounds.upper)
                lower, upper = (e and _as_they_are(e, names) for e in ends)
                bounds = replace(bounds, lower=lower, upper=upper)
            call = replace(call, arguments=arguments)
            return replace(statement, distribution=call, restriction=bounds)


def _as_they_are(expression: Expression, names: Collection[str]) -> Expression:
    if _sorts(expression) and expression.arguments[0].name in names:  # type: ignore[union-attr]
        return expression.arguments[0]  # type: ignore[union-attr]
    return with_parts(expression, tuple(_as_they_are(p, names) for p in parts_of(expression)))
