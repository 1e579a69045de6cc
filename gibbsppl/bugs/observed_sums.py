"""Observed sums of random variables: ``y[i] ~ dsum(a[i], b[i])``.

Given the other summands, the last one is the rest of the sum. It becomes computed, and its
distribution becomes a likelihood: ``b[i] ~ dpois(m)`` turns into ``b[i] <- y[i] - a[i]``, with the
log density of ``dpois(m)`` at this value. The change of variable has a Jacobian of one.

>>> from gibbsppl.bugs.parse import parse
>>> from gibbsppl.bugs.printing import text
>>> program = parse("model { y ~ dsum(a, b)  a ~ dpois(2)  b ~ dpois(3) }")
>>> sums = without_sums(program, {"y": np.array(4)})
>>> print(text(sums.program))
model {
  a ~ dpois(2)
  b <- y - a
  b.rest ~ dloglik(logdensity.pois(b, 3))
}
>>> sums.names, sums.data["b.rest"].item()
(('b',), 0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from gibbsppl.algebra.ranges import fresh
from gibbsppl.bugs.functions import function
from gibbsppl.bugs.grids import Data
from gibbsppl.bugs.rows import Function
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Expression,
    Loop,
    Number,
    Operation,
    Program,
    Reference,
    Statement,
    Stochastic,
    names_read,
    parts_of,
    references_in,
    with_parts,
)

NAME = "dsum"


@dataclass(frozen=True, slots=True)
class WithoutSums:
    """A program without observed sums, its data, and the names of the computed variables."""

    program: Program
    data: Data
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with ``~`` and the loops around it."""

    line: Stochastic
    around: tuple[Loop, ...]


def without_sums(program: Program, data: Data) -> WithoutSums:
    """The program with the last summand of each sum computed, where a summand is suitable.

    A sum that is not observed is computed itself.
    """
    found = WithoutSums(program, data)
    lines = list(_lines(program.model, ()))
    for total in lines:
        name, call = total.line.target.name, total.line.distribution
        if call.function != NAME:
            continue
        if name not in data:
            value = reduce(lambda a, b: Operation("+", (a, b), a.at), call.arguments)
            computed = Assignment(total.line.target, None, value, total.line.at)
            found = _with(found, {id(total.line): (computed,)}, name)
        elif not np.ma.is_masked(data[name]):
            taken = {*found.names, *data}
            own = _summand(total, [s for s in lines if s.line.target.name not in taken], lines)
            found = found if own is None else _without(found, total, own)
    return found


def _with(
    sums: WithoutSums, instead: Mapping[int, tuple[Statement, ...]], name: str
) -> WithoutSums:
    """The program with lines replaced, by ``id``, so that the array ``name`` is computed."""
    program = replace(sums.program, model=_changed(sums.program.model, instead))
    return WithoutSums(program, sums.data, (*sums.names, name))


def _lines(statements: tuple[Statement, ...], around: tuple[Loop, ...]) -> Iterator[_Line]:
    for s in statements:
        if isinstance(s, Loop):
            yield from _lines(s.body, (*around, s))
        elif isinstance(s, Stochastic):
            yield _Line(s, around)


def _summand(total: _Line, candidates: list[_Line], lines: list[_Line]) -> _Line | None:
    """The line of the last summand given by a single line and read by no other summand."""
    arguments = total.line.distribution.arguments
    for summand in reversed(arguments):
        if isinstance(summand, Reference):
            name = summand.name
            own = [c for c in candidates if c.line.target.name == name]
            others = {r.name for a in arguments if a is not summand for r in references_in(a)}
            readers = (s.line for s in lines if s.line.target.name in others)
            is_free = name not in others and not any(name in names_read(s) for s in readers)
            is_only = len(own) == sum(s.line.target.name == name for s in lines) == 1
            if not (is_only and is_free and _has_log_density(own[0])):
                continue
            if _names(total, summand, own[0]) is not None:
                return own[0]
    return None


def _has_log_density(own: _Line) -> bool:
    """Whether the log density of a line is a function of numbers."""
    call = own.line.distribution
    return isinstance(function(_log_density(call), len(call.arguments) + 1), Function)


def _log_density(call: Call) -> str:
    """The name of the function that is the log density of a distribution."""
    return f"logdensity.{call.function.removeprefix('d')}"


def _names(total: _Line, summand: Reference, own: _Line) -> dict[str, str] | None:
    """The loop variables of the sum -> of the summand's line; None if the loops differ."""
    here, there = summand.indices or (), own.line.target.indices or ()
    if own.line.restriction is not None or len(here) != len(there):
        return None
    names = {}
    for a, b in zip(here, there, strict=True):
        if isinstance(a, Reference) and isinstance(b, Reference) and not (a.indices or b.indices):
            names[a.name] = b.name
        elif a != b or not isinstance(a, Number):
            return None
    loops = {loop.name: loop.values for loop in total.around}, {
        loop.name: loop.values for loop in own.around
    }
    is_whole = set(names) == set(loops[0]) and set(names.values()) == set(loops[1])
    if not is_whole or len(names) != len(total.around) or len(names) != len(own.around):
        return None
    same = all(_renamed(loops[0][a], names) == loops[1][b] for a, b in names.items())
    return names if same else None


def _without(sums: WithoutSums, total: _Line, own: _Line) -> WithoutSums:
    """The program in which the summand of a line is computed."""
    x, call = own.line.target, own.line.distribution
    (summand,) = (
        a
        for a in total.line.distribution.arguments
        if isinstance(a, Reference) and a.name == x.name
    )
    names = _names(total, summand, own)
    assert names is not None
    others = [a for a in total.line.distribution.arguments if a is not summand]
    left = reduce(lambda a, b: Operation("-", (a, b), a.at), [total.line.target, *others])
    rest = fresh(f"{x.name}.rest", {*sums.data, *_all_names(sums.program.model)})
    density = Call(_log_density(call), (x, *call.arguments), call.at)
    instead = (
        Assignment(x, None, _renamed(left, names), own.line.at),
        Stochastic(replace(x, name=rest), Call("dloglik", (density,), call.at), None, own.line.at),
    )
    zeros = np.zeros(np.shape(sums.data[total.line.target.name]), dtype=int)
    found = _with(sums, {id(total.line): (), id(own.line): instead}, x.name)
    return replace(found, data={**sums.data, rest: zeros})


def _changed(
    statements: tuple[Statement, ...], instead: Mapping[int, tuple[Statement, ...]]
) -> tuple[Statement, ...]:
    """Statements with others in place of some."""
    found: list[Statement] = []
    for s in statements:
        if isinstance(s, Loop):
            found.append(replace(s, body=_changed(s.body, instead)))
        else:
            found.extend(instead.get(id(s), (s,)))
    return tuple(s for s in found if not isinstance(s, Loop) or s.body)


def _renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """An expression with loop variables of other names."""
    if isinstance(expression, Reference) and expression.indices is None:
        return replace(expression, name=names.get(expression.name, expression.name))
    parts = tuple(_renamed(p, names) for p in parts_of(expression))
    return with_parts(expression, parts)


def _all_names(statements: tuple[Statement, ...]) -> Iterator[str]:
    return (s.line.target.name for s in _lines(statements, ()))
