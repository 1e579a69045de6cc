"""Evaluation of a BUGS program with plain numbers, expression by expression and element by element.

Comes in: a program with its loops unrolled (`gibbsppl.bugs.interpreter`), values of the random
variables. Goes out: numbers and arrays of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.bugs.interpreted_functions import LINKS, called
from gibbsppl.bugs.interpreted_scalars import Floats, Numbers
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Number,
    Operation,
    Program,
    Reference,
    Stochastic,
)

# How much noise changes a number: a few units in the last place.
NOISE = 2.0**-50

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
    """A line at one position of its loops, and the elements given there.

    ``axes`` are the axes of the array along which the line gives ranges, ``shape`` their lengths.
    """

    line: Stochastic | Assignment
    loops: Loops
    name: str
    axes: tuple[int, ...]
    shape: Index
    elements: tuple[Index, ...]

    @property
    def label(self) -> str:
        """The names of the elements: ``y[2]``, ``b[1:3]``."""
        if not self.elements or not self.elements[0]:
            return self.name
        ends = zip(self.elements[0], self.elements[-1], strict=True)
        return f"{self.name}[{','.join(f'{a}' if a == b else f'{a}:{b}' for a, b in ends)}]"


@dataclass(slots=True)
class Unrolled:
    """A program with all loops unrolled.

    ``numbers`` are the data, NaN where missing; ``computed`` has for each element given by a line
    with ``<-`` the place of the line, and the element's position there; ``drawn`` are the places of
    lines with ``~``; ``known`` are the computed elements that follow from the data alone,
    ``random`` all other computed elements.
    """

    program: Program
    numbers: dict[str, Floats]
    shapes: dict[str, Index] = field(default_factory=dict)
    computed: dict[Element, tuple[Place, int]] = field(default_factory=dict)
    drawn: list[Place] = field(default_factory=list)
    known: dict[Element, float] = field(default_factory=dict)
    random: set[Element] = field(default_factory=set)


@dataclass(slots=True)
class Values:
    """The values of expressions and elements, ``given`` the values of random variables.

    ``random`` are computed elements without a known value, ``open`` arrays with lines not unrolled
    yet. ``noise`` changes the results of functions in the last digits, to see how many digits are
    left in the end.
    """

    unrolled: Unrolled
    given: Mapping[str, ArrayLike]
    found: dict[Element, float]
    random: set[Element] = field(default_factory=set)
    open: set[str] = field(default_factory=set)
    noise: np.random.Generator | None = None

    # ---- elements ------------------------------------------------------------------------------

    def element(self, element: Element) -> float:
        """The value of an element: from the data, from given values, or computed by its line."""
        waiting, opened = [element], set[Element]()
        while waiting:
            own = waiting[-1]
            try:
                if own not in self.found:
                    with np.errstate(all="ignore"):
                        self._compute(own)
                opened.discard(waiting.pop())
            except _NeededError as needed:
                opened.add(own)
                if opened & set(needed.elements):
                    at = self.unrolled.computed[own][0].line.at
                    raise self.unrolled.program.error(at, f"{own[0]} depends on itself.") from None
                waiting += needed.elements
            except UnknownError:
                self.random |= {own, *opened}
                raise
        return self.found[element]

    def _compute(self, element: Element) -> None:
        if element in self.random:
            raise UnknownError(element)
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

    def _assigned(self, place: Place) -> Floats:
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
        """The values of the elements of an expression; raise for elements yet to be computed."""
        elements = [(name, index) for index in every]
        waiting = [e for e in elements if e not in self.found]
        needed = [e for e in waiting if e in self.unrolled.computed]
        if needed:
            raise _NeededError(needed)
        for e in waiting:
            self._compute(e)
        return [self.found[e] for e in elements]

    def array(self, name: str) -> Floats:
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

    def of(self, expression: Expression, loops: Loops) -> Numbers:
        """The value of an expression: a number, or an array of them."""
        while True:
            try:
                with np.errstate(all="ignore"):
                    return self._of(expression, loops)
            except _NeededError as needed:
                for element in needed.elements:
                    self.element(element)

    def _of(self, expression: Expression, loops: Loops) -> Numbers:
        match expression:
            case Number(value=number):
                return number
            case Reference(name=name, indices=None) if name in loops:
                return float(loops[name])
            case Reference():
                return self._reference(expression, loops)
            case Operation(operator=":", operands=(first, last)):
                low, high = (self._whole(self._of(e, loops)) for e in (first, last))
                return np.arange(low, high + 1, dtype=float) if low <= high else np.zeros(0)
            case Operation(operator=name, operands=arguments):
                return self._noisy(called(name, *(self._of(a, loops) for a in arguments)))
            case Call(function=name, arguments=arguments):
                return self._noisy(called(name, *(self._of(a, loops) for a in arguments)))
            case Everything():
                raise self.unrolled.program.error(expression.at, "found nothing here.")
        raise AssertionError(expression)

    def _noisy(self, found: Numbers) -> Numbers:
        """The value of a function, with noise in the last digits unless it is a whole number."""
        if self.noise is None:
            return found
        changed = found * (1 + NOISE * self.noise.uniform(-1, 1, np.shape(found)))
        return np.where(found == np.rint(found), found, changed)[()]

    def _reference(self, ref: Reference, loops: Loops) -> Numbers:
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
        """The axes of a reference with ranges, the ranges' lengths, and the elements read."""
        indices = ref.indices
        if indices is None:
            indices = (Everything(ref.at),) * len(self.shape(ref.name))
        every: list[list[int]] = []
        shape: dict[int, int] = {}
        for axis, index in enumerate(indices):
            found: Numbers
            if isinstance(index, Everything):
                found = np.arange(self.shape(ref.name)[axis], dtype=float) + 1.0
            else:
                found = self._of(index, loops)
            if isinstance(found, np.ndarray):
                shape[axis] = len(found)
            every.append([self._whole(n) for n in np.atleast_1d(found)])
        return tuple(shape), tuple(shape.values()), list(product(*every))

    def _whole(self, number: Numbers) -> int:
        """A position; 0, which is never a position, for a number that is not whole."""
        return int(number) if number == np.rint(number) else 0


def _is_inside(index: Index, shape: Index) -> bool:
    return len(index) == len(shape) and all(
        1 <= n <= size for n, size in zip(index, shape, strict=True)
    )
