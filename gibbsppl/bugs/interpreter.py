"""The log density of a BUGS program, line by line and element by element, as the manuals define it.

A second reader, which shares with the first (`lowering`) the parser alone: loops are gone through
one value after the other, and each line is evaluated with plain numbers. It is slow and simple, for
checks to compare with.

Comes in: a program, its data, values of what is random, in the program's form (labels count from 1,
an array has the shape that the program gives it). Goes out: the log density of each line at each of
its positions.

>>> from gibbsppl.bugs.parse import parse
>>> text = "model { for (t in 2:3) { y[t] ~ dnorm(b * d[t], 1) }; b ~ dexp(2) }"
>>> data = {"y": np.array([0.0, 1.0, 2.0]), "d": np.array([9.0, 1.0, 3.0])}
>>> found = log_densities(values_at(unrolled(parse(text), data), {"b": 0.5}))
>>> {name: round(value, 4) for name, value in found.items()}
{'y[2]': -1.0439, 'y[3]': -1.0439, 'b': -0.3069}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np

from gibbsppl.bugs.interpreted_densities import DENSITIES, interval
from gibbsppl.bugs.interpreted_functions import LINKS, called
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Loop,
    Number,
    Operation,
    Program,
    Reference,
    Restriction,
    Statement,
    Stochastic,
)

Index = tuple[int, ...]
Element = tuple[str, Index]
Loops = Mapping[str, int]


class UnknownError(Exception):
    """An element, or a size, that nothing tells so far."""


class _NeededError(Exception):
    """Elements that have to be computed before others."""

    def __init__(self, elements: Sequence[Element]) -> None:
        super().__init__(elements)
        self.elements = elements


@dataclass(frozen=True, slots=True)
class Place:
    """A line at one position of its loops, and the elements that it gives.

    ``axes`` are those of the array along which it gives ranges, ``shape`` how long these are.
    """

    line: Stochastic | Assignment
    loops: Loops
    name: str
    axes: tuple[int, ...]
    shape: Index
    elements: tuple[Index, ...]

    @property
    def label(self) -> str:
        """What the elements are called: ``y[2]``, ``b[1:3]``."""
        if not self.elements or not self.elements[0]:
            return self.name
        ends = zip(self.elements[0], self.elements[-1], strict=True)
        return f"{self.name}[{','.join(f'{a}' if a == b else f'{a}:{b}' for a, b in ends)}]"


@dataclass(slots=True)
class Unrolled:
    """A program with all of its loops gone through.

    ``numbers`` are the data, NaN where they are missing; ``computed`` says for each element that a
    line with ``<-`` gives where that is, and its position among what is given there; ``drawn`` are
    the lines with ``~``; ``known`` are the elements that follow from the data alone.
    """

    program: Program
    numbers: dict[str, np.ndarray]
    shapes: dict[str, Index] = field(default_factory=dict)
    computed: dict[Element, tuple[Place, int]] = field(default_factory=dict)
    drawn: list[Place] = field(default_factory=list)
    known: dict[Element, float] = field(default_factory=dict)


def unrolled(
    program: Program, data: Mapping[str, Any], shapes: Mapping[str, Index] | None = None
) -> Unrolled:
    """The program with its data; ``shapes`` are of arrays that no line gives with indices."""
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
    """Compute once what follows from the data alone."""
    values = Values(found, {}, found.known)
    with np.errstate(all="ignore"):
        for element in found.computed:
            with suppress(UnknownError):
                values.element(element)


def _go_through(
    found: Unrolled, statements: Sequence[Statement], shapes: Mapping[str, Index]
) -> None:
    """Open all loops; what depends on numbers that later lines give is tried again."""
    values = Values(found, {}, found.known)
    for declared in found.program.declarations:
        if declared.sizes is not None and declared.name not in found.shapes:
            found.shapes[declared.name] = tuple(int(values.of(s, {})) for s in declared.sizes)
    waiting: list[tuple[Statement, Loops]] = [(s, {}) for s in statements]
    while waiting:
        # (the size of an array is known once all lines that give it are)
        values.open = {name for s, _ in waiting for name in _targets(s)} - set(found.shapes)
        left = [own for s, loops in waiting for own in _opened(found, values, s, loops, shapes)]
        if left == waiting:
            raise found.program.error(left[0][0].at, "the loops or indices here are not known.")
        waiting = left
    for name, index in found.computed:
        _widen(found, name, index)
    for place in found.drawn:
        for index in place.elements:
            _widen(found, place.name, index)


def _widen(found: Unrolled, name: str, index: Index) -> None:
    known = found.shapes.get(name, (0,) * len(index))
    if name not in found.numbers and len(known) == len(index):
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
    """Note what a statement gives; what cannot be opened yet is left."""
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


@dataclass(slots=True)
class Values:
    """What expressions and elements are; ``given`` are the values of what is random.

    ``open`` are arrays of which not all lines are known so far.
    """

    unrolled: Unrolled
    given: Mapping[str, Any]
    found: dict[Element, float]
    open: set[str] = field(default_factory=set)

    # ---- elements ------------------------------------------------------------------------------

    def element(self, element: Element) -> float:
        """An element: a number of the data, what its line computes, or a value that is given."""
        waiting, opened = [element], set[Element]()
        while waiting:
            own = waiting[-1]
            try:
                if own not in self.found:
                    self._compute(own)
                opened.discard(waiting.pop())
            except _NeededError as needed:
                opened.add(own)
                if opened & set(needed.elements):
                    at = self.unrolled.computed[own][0].line.at
                    raise self.unrolled.program.error(at, f"{own[0]} depends on itself.") from None
                waiting += needed.elements
        return self.found[element]

    def _compute(self, element: Element) -> None:
        name, index = element
        known = self.unrolled.numbers.get(name)
        at = tuple(n - 1 for n in index)
        if known is not None and known.shape and not _is_inside(index, known.shape):
            self.found[element] = np.nan
        elif known is not None and not np.isnan(known[at]):
            self.found[element] = float(known[at])
        elif element in self.unrolled.computed:
            place, number = self.unrolled.computed[element]
            value = self._assigned(place)
            for n, own in enumerate(place.elements):
                self.found[place.name, own] = float(value[n])
            self.found[element] = float(value[number])
        elif name in self.given:
            array = np.asarray(self.given[name])
            self.found[element] = float(array[at]) if _is_inside(index, array.shape) else np.nan
        else:
            raise UnknownError(element)

    def _assigned(self, place: Place) -> np.ndarray:
        line = place.line
        assert isinstance(line, Assignment)
        value = self._of(line.value, place.loops)
        if line.link is not None:
            value = LINKS[line.link](value)
        flat = np.ravel(np.asarray(value, float))
        if flat.size != prod(place.shape):
            told = f"found {flat.size} values for {place.label}."
            raise self.unrolled.program.error(line.at, told)
        return flat

    def _read(self, name: str, every: Sequence[Index]) -> list[float]:
        """Elements that an expression reads; those that lines compute have to be so before."""
        elements = [(name, index) for index in every]
        waiting = [e for e in elements if e not in self.found]
        needed = [e for e in waiting if e in self.unrolled.computed]
        if needed:
            raise _NeededError(needed)
        for e in waiting:
            self._compute(e)
        return [self.found[e] for e in elements]

    def array(self, name: str) -> np.ndarray:
        """All elements of an array; NaN where nothing gives one."""
        shape = self.shape(name)
        found = np.full(shape, np.nan)
        for at in np.ndindex(*shape):
            index = tuple(n + 1 for n in at)
            try:
                found[at] = self.element((name, index))
            except UnknownError:
                continue
        return found

    def shape(self, name: str) -> Index:
        """The shape of an array, once it is known."""
        if name in self.open or name not in self.unrolled.shapes:
            raise UnknownError(name)
        return self.unrolled.shapes[name]

    # ---- expressions ---------------------------------------------------------------------------

    def of(self, expression: Expression, loops: Loops) -> Any:
        """What an expression is: a number, or an array of them."""
        while True:
            try:
                return self._of(expression, loops)
            except _NeededError as needed:
                for element in needed.elements:
                    self.element(element)

    def _of(self, expression: Expression, loops: Loops) -> Any:
        match expression:
            case Number(value=number):
                return number
            case Reference(name=name, indices=None) if name in loops:
                return float(loops[name])
            case Reference():
                return self._reference(expression, loops)
            case Operation(operator=":", operands=(first, last)):
                low, high = (self._whole(self._of(e, loops)) for e in (first, last))
                return np.arange(low, high + 1, dtype=float)
            case Operation(operator=name, operands=arguments):
                return called(name, *(self._of(a, loops) for a in arguments))
            case Call(function=name, arguments=arguments):
                return called(name, *(self._of(a, loops) for a in arguments))
            case Everything():
                raise self.unrolled.program.error(expression.at, "found nothing here.")
        raise AssertionError(expression)

    def _reference(self, ref: Reference, loops: Loops) -> Any:
        if ref.indices is None and not self._has_axes(ref.name):
            return self._read(ref.name, [()])[0]
        _, shape, elements = self.elements(ref, loops)
        found = self._read(ref.name, elements)
        return np.array(found).reshape(shape) if shape else found[0]

    def _has_axes(self, name: str) -> bool:
        """Whether a name alone is an array."""
        if name in self.unrolled.shapes:
            return bool(self.unrolled.shapes[name])
        return name not in self.given and (name, ()) not in self.unrolled.computed

    def elements(
        self, ref: Reference, loops: Loops
    ) -> tuple[tuple[int, ...], Index, list[Index]]:
        """Which axes of a reference have ranges, how long these are, and its elements."""
        indices = ref.indices
        if indices is None:
            indices = (Everything(ref.at),) * len(self.shape(ref.name))
        every: list[list[int]] = []
        shape: dict[int, int] = {}
        for axis, index in enumerate(indices):
            if isinstance(index, Everything):
                found = np.arange(self.shape(ref.name)[axis]) + 1.0
            else:
                found = self._of(index, loops)
            if np.ndim(found):
                shape[axis] = len(found)
            every.append([self._whole(n) for n in np.atleast_1d(found)])
        return tuple(shape), tuple(shape.values()), list(product(*every))

    def _whole(self, number: float) -> int:
        """A position; 0, which there is not, for what is no whole number."""
        return int(number) if number == np.rint(number) else 0


def _is_inside(index: Index, shape: Index) -> bool:
    return len(index) == len(shape) and all(
        1 <= n <= size for n, size in zip(index, shape, strict=True)
    )


# ---- densities -----------------------------------------------------------------------------------


def values_at(found: Unrolled, given: Mapping[str, Any]) -> Values:
    """What all is where the random arrays have the values given, by name.

    The auxiliary variables that a distribution is explained with may be among them, ``x.weight``.
    """
    return Values(found, given, dict(found.known))


def log_densities(values: Values) -> dict[str, float]:
    """The log density of each line with ``~`` at each of its positions, by what it gives.

    Where values of auxiliary variables are given, it is that of both together; else these are
    integrated out.
    """
    with np.errstate(all="ignore"):
        return {p.label: _log_density(values, p) for p in values.unrolled.drawn}


def _log_density(values: Values, place: Place) -> float:
    line, loops = place.line, place.loops
    assert isinstance(line, Stochastic)
    density = DENSITIES[line.distribution.function]
    every = np.array([values.element((place.name, e)) for e in place.elements])
    x = every.reshape(place.shape) if place.shape else float(every[0])
    parameters = [values.of(e, loops) for e in line.distribution.arguments]
    others = {n: _beside(values, place, n) for n in density.parts}
    if density.parts and all(v is not None for v in others.values()):
        found = density.beside(x, others, parameters)
    else:
        found = density.at(x, parameters)
    if line.restriction is None or found == -np.inf:
        return found
    return found - _restricted(values, place, line.restriction, x, parameters)


def _beside(values: Values, place: Place, part: str) -> Any:
    """The value of an auxiliary variable; None where none is given.

    There is one for each value, or one for each row of it.
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
    values: Values, place: Place, where: Restriction, x: float, parameters: Sequence[Any]
) -> float:
    """What the density is divided by within bounds, as a log; infinite where x is outside.

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
    known = Values(values.unrolled, {}, values.unrolled.known)
    try:
        known.of(expression, place.loops)
    except UnknownError:
        return True
    return False
