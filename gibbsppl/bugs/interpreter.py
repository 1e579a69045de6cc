"""The log density of a BUGS program, line by line and element by element, as the manuals define it.

A second reader, which shares only the parser with the first (`lowering`): loops are unrolled value
by value, and each line is evaluated with plain numbers. It is slow and simple, as a reference for
checks.

Comes in: a program, its data, values of the random variables, in the program's form (labels count
from 1, arrays have the program's shapes). Goes out: the log density of each line at each position.

>>> from gibbsppl.bugs.parse import parse
>>> text = "model { for (t in 2:3) { y[t] ~ dnorm(b * d[t], 1) }; b ~ dexp(2) }"
>>> data = {"y": np.array([0.0, 1.0, 2.0]), "d": np.array([9.0, 1.0, 3.0])}
>>> found = log_densities(values_at(unrolled(parse(text), data), {"b": 0.5}))
>>> {name: round(value, 4) for name, value in found.items()}
{'y[2]': -1.0439, 'y[3]': -1.0439, 'b': -0.3069}
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.bugs.interpreted_densities import DENSITIES, interval
from gibbsppl.bugs.interpreted_scalars import Numbers
from gibbsppl.bugs.interpreted_values import (
    Index,
    Loops,
    Place,
    UnknownError,
    Unrolled,
    Values,
)
from gibbsppl.bugs.syntax import (
    Assignment,
    Expression,
    Loop,
    Program,
    Restriction,
    Statement,
    Stochastic,
)


def unrolled(
    program: Program, data: Mapping[str, ArrayLike], shapes: Mapping[str, Index] | None = None
) -> Unrolled:
    """The program unrolled; ``shapes`` are of arrays that no line gives with indices."""
    numbers = {n: np.ma.filled(np.ma.masked_array(a, dtype=float), np.nan) for n, a in data.items()}
    if program.data is not None:
        before = Unrolled(program, numbers, {n: a.shape for n, a in numbers.items()})
        _go_through(before, program.data, {})
        values = Values(before, {}, before.known)
        made = dict.fromkeys(name for name, _ in before.computed)
        numbers |= {n: np.array(values.array(n)) for n in made}
    found = Unrolled(program, numbers, {n: a.shape for n, a in numbers.items()})
    _go_through(found, program.model, shapes or {})
    _compute_known(found)
    return found


def _compute_known(found: Unrolled) -> None:
    """Compute the elements that follow from the data alone, once."""
    values = Values(found, {}, found.known, found.random)
    with np.errstate(all="ignore"):
        for element in found.computed:
            with suppress(UnknownError):
                values.element(element)


def _go_through(
    found: Unrolled, statements: Sequence[Statement], shapes: Mapping[str, Index]
) -> None:
    """Unroll all loops; statements with ends or indices not known yet are tried again."""
    values = Values(found, {}, found.known)
    for declared in found.program.declarations:
        if declared.sizes is not None and declared.name not in found.shapes:
            found.shapes[declared.name] = tuple(int(values.of(s, {})) for s in declared.sizes)
    fixed = set(found.shapes)
    waiting: list[tuple[Statement, Loops]] = [(s, {}) for s in statements]
    while waiting:
        # (the size of an array is known once all lines that give it are)
        values.open = {name for s, _ in waiting for name in _targets(s)} - fixed
        values.random.clear()
        left = [own for s, loops in waiting for own in _opened(found, values, s, loops, shapes)]
        if left == waiting:
            raise found.program.error(left[0][0].at, "the loops or indices here are not known.")
        waiting = left
        _widen(found, fixed)


def _widen(found: Unrolled, fixed: Collection[str]) -> None:
    """Make arrays as large as the elements that lines give."""
    given = ((place.name, index) for place in found.drawn for index in place.elements)
    for name, index in (*found.computed, *given):
        known = found.shapes.get(name, (0,) * len(index))
        if name not in fixed and len(known) == len(index):
            found.shapes[name] = tuple(map(max, known, index))


def _targets(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Loop):
        for inner in statement.body:
            yield from _targets(inner)
    else:
        yield statement.target.name


def _opened(
    found: Unrolled,
    values: Values,
    statement: Statement,
    loops: Loops,
    shapes: Mapping[str, Index],
) -> Iterator[tuple[Statement, Loops]]:
    """Note the elements that a statement gives; yield statements that cannot be unrolled yet."""
    try:
        if isinstance(statement, Loop):
            every = np.atleast_1d(values.of(statement.values, loops))
        else:
            place = _place(values, statement, loops, shapes)
    except UnknownError:
        yield statement, loops
        return
    if isinstance(statement, Loop):
        for number in every:
            for inner in statement.body:
                own = {**loops, statement.name: int(number)}
                yield from _opened(found, values, inner, own, shapes)
    elif isinstance(statement, Assignment):
        found.computed |= {(place.name, e): (place, n) for n, e in enumerate(place.elements)}
    else:
        found.drawn.append(place)


def _place(
    values: Values,
    line: Stochastic | Assignment,
    loops: Loops,
    shapes: Mapping[str, Index],
) -> Place:
    """The elements that a line gives at one position."""
    target = line.target
    if target.indices is None:
        shape = values.unrolled.shapes.get(target.name, shapes.get(target.name, ()))
        places = tuple(tuple(p + 1 for p in at) for at in np.ndindex(*shape))
        return Place(line, loops, target.name, tuple(range(len(shape))), shape, places)
    axes, shape, elements = values.elements(target, loops)
    return Place(line, loops, target.name, axes, shape, tuple(elements))


# ---- densities -----------------------------------------------------------------------------------


def values_at(
    found: Unrolled, given: Mapping[str, ArrayLike], noise: np.random.Generator | None = None
) -> Values:
    """The values of all names where the random arrays have the values given, by name.

    The auxiliary variables that a distribution is explained with may be among them, ``x.weight``.
    With ``noise`` all is computed with other last digits.
    """
    return Values(found, given, dict(found.known), noise=noise)


def log_densities(values: Values) -> dict[str, float]:
    """The log density of each line with ``~`` at each position, by the names of the elements.

    Auxiliary variables with given values are part of the joint density; others are integrated out.
    """
    with np.errstate(all="ignore"):
        return {p.label: _log_density(values, p) for p in values.unrolled.drawn}


def log_density_of(
    program: Program, data: Mapping[str, ArrayLike], given: Mapping[str, ArrayLike]
) -> float:
    """The log density of all lines of a program together."""
    shapes = {n: np.shape(v) for n, v in given.items()}
    return sum(log_densities(values_at(unrolled(program, data, shapes), given)).values())


def _log_density(values: Values, place: Place) -> float:
    line, loops = place.line, place.loops
    assert isinstance(line, Stochastic)
    density = DENSITIES[line.distribution.function]
    every = np.array([values.element((place.name, e)) for e in place.elements])
    x = every.reshape(place.shape) if place.shape else float(every[0])
    parameters = [values.of(e, loops) for e in line.distribution.arguments]
    beside = {n: _beside(values, place, n) for n in density.parts}
    others = {n: v for n, v in beside.items() if v is not None}
    if others and len(others) == len(beside):
        found = density.beside(x, others, parameters)
    else:
        found = density.at(x, parameters)
    if line.restriction is None or found == -np.inf:
        return found
    return found - _restricted(values, place, line.restriction, x, parameters)


def _beside(values: Values, place: Place, part: str) -> Numbers | None:
    """The value of an auxiliary variable; None if no value is given.

    There is one auxiliary number for each value, or for each row of a value.
    """
    array = values.given.get(f"{place.name}.{part}")
    if array is None:
        return None
    array, first = np.asarray(array), place.elements[0]
    rows = array.ndim - (len(first) - len(place.axes))
    kept = [n for n in range(len(first)) if n not in place.axes[rows:]]
    ranges = {n: slice(place.elements[0][n] - 1, place.elements[-1][n]) for n in place.axes}
    return array[tuple(ranges.get(n, first[n] - 1) for n in kept)]


def _restricted(
    values: Values, place: Place, where: Restriction, x: Numbers, parameters: Sequence[Numbers]
) -> float:
    """The log of the mass between bounds, to be taken off; infinite where x is outside.

    ``T`` truncates, and so does ``I`` where bounds and parameters are known, as JAGS has it; else
    ``I`` and ``C`` say where x is. (Of what is known the share is a constant.)
    """
    line = place.line
    assert isinstance(line, Stochastic)
    ends = (where.lower, where.upper)
    lower, upper = (None if e is None else float(values.of(e, place.loops)) for e in ends)
    if (lower is not None and not x >= lower) or (upper is not None and not x <= upper):
        return np.inf
    said = [*line.distribution.arguments, *(e for e in ends if e is not None)]
    if where.kind != "T" and any(_is_random(values, e, place) for e in said):
        return 0.0
    return interval(DENSITIES[line.distribution.function], parameters, lower, upper)


def _is_random(values: Values, expression: Expression, place: Place) -> bool:
    """Whether an expression reads anything that is random."""
    known = Values(values.unrolled, {}, values.unrolled.known, values.unrolled.random)
    try:
        known.of(expression, place.loops)
    except UnknownError:
        return True
    return False
