"""Steps of recursions, position after position, for the plain interpreter.

Comes in: a step, the arrays that are being computed, and the interpreter for what is read of no
element before. Goes out: a function of a position, made once. It computes with numbers, or with
arrays that have one axis for each range, and calls operations without looking at expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Binder, Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Earlier, Own, Step, owns_read, terms_of_remainder
from gibbsppl.model.operations import is_power, operation_of, size_of_largest
from gibbsppl.runtime.remainder import remainder

Floats = NDArray[np.float64]
_Place = tuple[int | slice | None, ...]
# A value at a position: an array, or a number of NumPy.
_At = Callable[[int], Floats]


@dataclass(frozen=True, slots=True)
class Walk:
    """The positions of a step along a range, and all that it reads.

    ``ranges`` are those around the recursion and those of the step; ``value`` is the interpreter.
    The sizes of exponentials and powers are put into ``seen``. ``is_of_numbers``: each range but
    the one that is gone along has one position.
    """

    along: Range | None
    ranges: tuple[Range, ...]
    computed: Mapping[Own, Floats]
    value: Callable[[Expr, tuple[Range, ...]], Floats]
    seen: list[float] | None
    is_of_numbers: bool

    @property
    def axis(self) -> int | None:
        """The axis that is gone along, if the step has more than one position."""
        return None if self.along is None else self.axis_of(self.along.dim)

    def axis_of(self, dim: Expr) -> int | None:
        """The innermost axis of a dim."""
        return max((a for a, r in enumerate(self.ranges) if r.dim == dim), default=None)

    def at_all(self, expr: Expr) -> _At:
        """The values of an expression by position, evaluated at all positions at once."""
        found, axis = self.value(expr, self.ranges), self.axis
        if axis is None or self.along is None or found.shape[axis] == 1:
            constant = self._plain(found)
            return lambda _: constant
        parts, start = np.split(found, len(self.along), axis), self.along.start
        if self.is_of_numbers:
            parts = list(found.ravel())
        return lambda n: parts[n - start]

    def one_by_one(self, expr: Expr) -> _At:
        """The values of an expression by position, evaluated at each position anew."""

        def at(n: int) -> Floats:
            here = list(self.ranges)
            if self.along is not None and self.axis is not None:
                here[self.axis] = Range(self.along.dim, n, n + 1)
            return self._plain(self.value(expr, tuple(here)))

        return at

    def _plain(self, found: Floats) -> Floats:
        return found.reshape(())[()] if self.is_of_numbers else found


def stepper(step: Step, value: Expr, walk: Walk) -> Callable[[int], None]:
    """A function that puts the value of a step at a position into its array."""
    found, place = _remainder(value, walk), _place(step.element, walk)
    array = walk.computed[step.element.own]
    assert place is not None  # (the indices of an element are the dims of its step, in order)

    def put(n: int) -> None:
        array[place(n)] = found(n)

    return put


def _remainder(value: Expr, walk: Walk) -> _At:
    """The function that reads a step's value; a remainder lost in rounding is 0."""
    found, terms = _reading(value, walk), terms_of_remainder(value)
    if terms is None:
        return found
    size, count = _reading(terms[0], walk), terms[1]
    return lambda n: np.asarray(remainder(found(n), size(n), count))


def _reading(expr: Expr, walk: Walk) -> _At:
    if owns_read(expr).isdisjoint(walk.computed):
        return walk.at_all(expr)
    if isinstance(expr, Earlier):
        place, array = _place(expr, walk), walk.computed[expr.own]
        return walk.one_by_one(expr) if place is None else lambda n: array[place(n)]
    if isinstance(expr, Binder):
        return walk.one_by_one(expr)
    operation, arguments = operation_of(expr)
    read, seen = [_reading(a, walk) for a in arguments], walk.seen

    def at(n: int) -> Floats:
        found = operation([r(n) for r in read])
        if seen is not None and is_power(expr):
            seen.append(size_of_largest(found))
        return found

    return at


def _place(element: Earlier, walk: Walk) -> Callable[[int], _Place] | None:
    """The place of an element in its array; None where axes come in another order than ranges.

    Ranges without an axis there, and the one that is gone along, have axes of length 1.
    """
    array = walk.computed[element.own]
    done = array.ndim - len(element.indices)
    entries: list[int | slice | None] = [0 if walk.is_of_numbers else slice(None)] * done
    moving, shift = None, 0
    for index, size in zip(element.indices, array.shape[done:], strict=True):
        number, dim = index.as_coeff_Add()
        axis = walk.axis_of(dim)
        if not number.is_Integer or not (dim == 0 or axis is not None):
            return None
        start, stop = (0, 1) if axis is None else (walk.ranges[axis].start, walk.ranges[axis].stop)
        first, stop = start + int(number), stop + int(number)
        if first < 0 or stop > size:
            return None
        if axis is None:
            entries.append(first)
        elif axis == walk.axis:
            if moving is not None:
                return None
            moving, shift = len(entries), int(number)
            entries.append(first)
        elif axis < done or walk.is_of_numbers:
            return None
        else:
            entries += [np.newaxis] * (axis - done)
            entries.append(slice(first, stop))
            done = axis + 1
    if not walk.is_of_numbers:
        entries += [np.newaxis] * (len(walk.ranges) - done)
    if moving is None:
        return lambda _: tuple(entries)
    before, after = tuple(entries[:moving]), tuple(entries[moving + 1 :])
    return lambda n: (*before, n + shift, *after)
