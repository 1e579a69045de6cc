"""A dimension for each axis of each array: axes that one loop variable goes along share theirs.

>>> from gibbsppl.bugs.parse import parse
>>> from gibbsppl.bugs.facts import facts_of
>>> text = "model { for (i in 1:3) { y[i] ~ dnorm(mu + b * x[i], tau) } }"
>>> axes_of(facts_of(parse(text), {"x": [1, 2, 3]}), Model())["x"]
(i,)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import fresh
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.syntax import (
    Expression,
    Loop,
    Reference,
    Statement,
    expressions_of,
    parts_of,
)
from gibbsppl.language.model import Model

Axis = tuple[str, int]


def axes_of(facts: Facts, model: Model) -> dict[str, tuple[Dim, ...]]:
    """The dims of each array, all of them declared in the model, no array with one twice."""
    groups: dict[Axis, set[Axis]] = {}
    names: dict[Axis, str] = {}
    for name in facts.numbers:
        for axis in range(len(facts.shape(name))):
            groups[name, axis] = {(name, axis)}
    shapes = {name: facts.shape(name) for name in facts.numbers}
    for loop, axes in _along_loops(facts.program.model, shapes):
        for one in axes:
            names.setdefault(one, loop)
        for one, other in pairwise(axes):
            _join(facts, groups, one, other)
    made: dict[int, Dim] = {}
    taken = {*facts.numbers, *(n for n in model.declared.variables)}
    found: dict[str, list[Dim]] = {}
    for (name, axis), group in groups.items():
        if id(group) not in made:
            told = next((names[a] for a in sorted(group) if a in names), f"{name}_{axis + 1}")
            dim = fresh(told, taken)
            taken.add(dim)
            size = facts.shape(name)[axis]
            if size:
                model.add_dim(dim, range(1, size + 1))
            made[id(group)] = Dim(dim)
        found.setdefault(name, []).append(made[id(group)])
    return {name: tuple(found.get(name, ())) for name in facts.numbers}


def _join(facts: Facts, groups: dict[Axis, set[Axis]], one: Axis, other: Axis) -> None:
    """Merge the groups of two axes of equal size, unless an array would have a dim twice."""
    a, b = groups[one], groups[other]
    sizes = {facts.shape(name)[axis] for name, axis in (one, other)}
    if a is b or len(sizes) > 1 or {n for n, _ in a} & {n for n, _ in b}:
        return
    a |= b
    for axis in b:
        groups[axis] = a


def _along_loops(
    statements: tuple[Statement, ...], known: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, list[Axis]]]:
    """For each loop the axes, of arrays of known shapes, that its variable goes along."""
    for loop in _loops(statements):
        found = [
            (ref.name, axis)
            for ref in _references(loop.body)
            for axis, index in enumerate(ref.indices or ())
            if index == Reference(loop.name) and len(known.get(ref.name, ())) > axis
        ]
        yield loop.name, list(dict.fromkeys(found))


def _loops(statements: tuple[Statement, ...]) -> Iterator[Loop]:
    for s in statements:
        if isinstance(s, Loop):
            yield s
            yield from _loops(s.body)


def _references(statements: tuple[Statement, ...]) -> Iterator[Reference]:
    for s in statements:
        for e in expressions_of(s):
            yield from _inside(e)
        if isinstance(s, Loop):
            yield from _references(s.body)


def _inside(expression: Expression) -> Iterator[Reference]:
    if isinstance(expression, Reference):
        yield expression
    for part in parts_of(expression):
        yield from _inside(part)
