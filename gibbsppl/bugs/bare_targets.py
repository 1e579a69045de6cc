"""Arrays named on the left without indices: ``b ~ dmnorm(mu, Om)``, ``mu <- X %*% b``.

As in JAGS, the right side gives their size. Comes in: the lines of a block, and the numbers known
before. Goes out: the lines, with a range for each axis on such left sides.

>>> from gibbsppl.bugs.parse import parse
>>> from gibbsppl.bugs.printing import text
>>> program = parse("model { m <- X %*% b  b ~ dmnorm(mu, Om)  s <- sum(m) }")
>>> given = {"X": (9, 3), "mu": (3,), "Om": (3, 3)}
>>> numbers = {n: Numbers(np.zeros(shape), np.ones(shape, bool)) for n, shape in given.items()}
>>> print(text(replace(program, model=with_ranges(program, program.model, numbers))))
model {
  m[1:9] <- X %*% b
  b[1:3] ~ dmnorm(mu, Om)
  s <- sum(m)
}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from gibbsppl.bugs.distributions import distribution
from gibbsppl.bugs.functions import function
from gibbsppl.bugs.numbers import Numbers, check_given, evaluator_of
from gibbsppl.bugs.relations import EMPTY, Relation, relations_of
from gibbsppl.bugs.rows import Distribution, Function
from gibbsppl.bugs.settling import declared, settled, sizes_of
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Number,
    Operation,
    Program,
    Reference,
    Statement,
    Stochastic,
    is_range,
    names_read,
    references_read,
)
from gibbsppl.bugs.values import Known

Sizes = tuple[int, ...]


def with_ranges(
    program: Program, block: tuple[Statement, ...], numbers: Mapping[str, Numbers]
) -> tuple[Statement, ...]:
    """The lines of a block, with ranges on the left sides that are arrays without indices."""
    lines = dict(enumerate(block))
    shapes = {n: v.shape for n, v in numbers.items()} | declared(program, numbers)
    found = dict(numbers)
    given = {*shapes, *(r.line.target.name for r in relations_of(block))}
    waiting = _not_seen_to_be_numbers(block, shapes)
    is_settled = False
    while waiting:
        blocked = _depending_on((lines[n] for n in waiting), block)
        ready = [n for n in waiting if not names_read(lines[n]) & blocked]  # type: ignore[arg-type]
        told = [n for n in ready if is_settled or names_read(lines[n]) <= set(found)]  # type: ignore[arg-type]
        if not told and not is_settled:
            others = tuple(line for n, line in lines.items() if n not in waiting)
            _, found = settled(program, relations_of(others), numbers, given=frozenset(numbers))
            is_settled = True
            continue
        if not told:  # (lines that depend on one another are numbers, if all that they read is)
            if not any(found[m].shape for n in waiting for m in names_read(lines[n]) & set(found)):  # type: ignore[arg-type]
                break
            raise _of_unknown_size(program, lines[waiting[0]])
        for n in told:
            for ref in references_read(lines[n]):  # type: ignore[arg-type]
                check_given(program, ref, given)
            lines[n] = _with_ranges(lines[n], _sizes(program, lines[n], found, shapes))
            waiting.remove(n)
        is_settled = False
    return tuple(lines.values())


# ---- what is a number ------------------------------------------------------------------------


def _not_seen_to_be_numbers(
    block: tuple[Statement, ...], shapes: Mapping[str, Sizes]
) -> list[int]:
    """The lines without indices on the left, except for numbers as written."""
    bare = {n: line for n, line in enumerate(block) if _is_bare(line)}
    of_numbers = {n: s for n, s in bare.items() if isinstance(s, Stochastic) and not _event(s)}
    numbers = {n for n, shape in shapes.items() if not shape}
    numbers |= {line.target.name for line in of_numbers.values()}
    waiting = {n: line for n, line in bare.items() if n not in of_numbers}
    while True:
        more = {
            n
            for n, line in waiting.items()
            if isinstance(line, Assignment) and _is_number(line.value, numbers)
        }
        if not more:
            return list(waiting)
        numbers |= {waiting[n].target.name for n in more}  # type: ignore[union-attr]
        waiting = {n: line for n, line in waiting.items() if n not in more}


def _is_bare(line: Statement) -> bool:
    return isinstance(line, Assignment | Stochastic) and line.target.indices is None


def _event(line: Stochastic) -> int:
    """The number of axes of one value of a distribution; 0 where it is none of the table."""
    row = distribution(line.distribution.function, len(line.distribution.arguments))
    return row.event if isinstance(row, Distribution) else 0


def _is_number(expression: Expression, numbers: set[str]) -> bool:
    """Whether an expression is a single number by its spelling, given names of numbers."""
    match expression:
        case Number():
            return True
        case Reference(name=name, indices=None):
            return name in numbers
        case Reference(indices=indices):
            assert indices is not None
            return all(_is_number(i, numbers) for i in indices)
        case Everything():
            return False
        case Operation() if is_range(expression):
            return False
        case Operation(operator=name, operands=given) | Call(function=name, arguments=given):
            row = function(name, len(given))
            if isinstance(row, Function) and row.of_arrays:
                return row.is_fold
            return all(_is_number(e, numbers) for e in given)
    raise AssertionError(expression)


# ---- what is larger --------------------------------------------------------------------------


def _depending_on(lines: Iterable[Statement], block: tuple[Statement, ...]) -> set[str]:
    """The names given by lines, and all names computed or drawn from these."""
    found = {line.target.name for line in lines if isinstance(line, Assignment | Stochastic)}
    relations = relations_of(block)
    while True:
        more = {r.line.target.name for r in relations if _read(r) & found} - found
        if not more:
            return found
        found |= more


def _read(relation: Relation) -> frozenset[str]:
    """The names on the right of a line, and in the ends of its loops."""
    line = relation.line
    loops = (Assignment(line.target, None, loop.values) for loop in relation.around)
    return names_read(line).union(*map(names_read, loops))


def _sizes(
    program: Program, line: Statement, numbers: Mapping[str, Numbers], shapes: Mapping[str, Sizes]
) -> Sizes:
    """The size of each axis of the left side; none for a number, or for unknown sizes."""
    if isinstance(line, Assignment):
        return _sizes_of_value(program, line, numbers)
    assert isinstance(line, Stochastic)
    event, called = _event(line), line.distribution
    row = distribution(called.function, len(called.arguments))
    assert isinstance(row, Distribution)
    own = shapes.get(line.target.name, ())
    if own and len(own) != event:
        return ()
    axes = zip(row.parameters.values(), called.arguments, strict=True)
    given = (_sizes_of_name(e, numbers) for count, e in axes if count)
    size = next((s[-1] for s in (own, *given) if s), None)
    return () if size is None else (size,) * event


def _sizes_of_name(given: Expression, numbers: Mapping[str, Numbers]) -> Sizes:
    """The sizes of a name that is read whole; none where they are not known."""
    if not isinstance(given, Reference) or given.name not in numbers:
        return ()
    whole = all(isinstance(i, Everything) for i in given.indices or ())
    return numbers[given.name].shape if whole else ()


def _sizes_of_value(program: Program, line: Assignment, numbers: Mapping[str, Numbers]) -> Sizes:
    """The sizes of the right side, evaluated with random numbers for unknown elements."""
    if not names_read(line) <= set(numbers):
        return ()  # (an array of a loop whose values are not known, or of no line)
    rng = np.random.default_rng(0)
    filled = {n: _filled(numbers[n], rng) for n in sorted(names_read(line))}
    value = evaluator_of(program, filled, EMPTY).assigned(line)
    return sizes_of(value) if isinstance(value, Known) else ()


def _filled(of: Numbers, rng: np.random.Generator) -> Numbers:
    """Unknown numbers filled in at random; matrices of them have an inverse."""
    some = rng.uniform(0.5, 1.5, of.shape)
    if len(of.shape) == 2:
        some = some + np.eye(*of.shape) * sum(of.shape)
    return Numbers(np.where(of.known, of.values, some), np.ones(of.shape, dtype=bool))


def _of_unknown_size(program: Program, line: Statement) -> Exception:
    """The error of an array whose size depends on itself."""
    assert isinstance(line, Assignment | Stochastic)
    name = line.target.name
    return program.error(
        line.target.at,
        f"{name} has no indices here, and its size depends on itself; expected them, as in "
        f"{name}[1:3].",
    )


def _with_ranges(line: Statement, sizes: Sizes) -> Statement:
    if not sizes:
        return line
    assert isinstance(line, Assignment | Stochastic)
    at = line.target.at
    whole = (Operation(":", (Number(1, at), Number(n, at)), at) for n in sizes)
    return replace(line, target=replace(line.target, indices=tuple(whole)))
