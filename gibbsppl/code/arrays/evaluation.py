"""Evaluation of statements by NumPy: of data alone, and for tests of passes.

>>> from gibbsppl.code.arrays.expressions import ONE, ZERO, Element, Position, Span
>>> from gibbsppl.code.arrays.statements import Add, Let
>>> z = Element("z", (Position("n"),))
>>> count = (Let("count", (Span.whole("k"),), ZERO), Add("count", (z,), ONE, (Span.whole("n"),)))
>>> computed(count, {"z": np.array([0, 1, 1])}, {"n": 3, "k": 2})["count"]
array([1., 2.])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    is_call,
    is_whole,
    walk,
)
from gibbsppl.code.arrays.statements import Add, Draw, Let, Loop, Statement, Store
from gibbsppl.runtime import functions
from gibbsppl.runtime.loops import draws, places
from gibbsppl.runtime.types import Array

Arrays = dict[str, Array]

OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "+": lambda *terms: reduce(np.add, terms),
    "*": lambda *factors: reduce(np.multiply, factors),
    "/": np.true_divide,
    "**": np.power,
    "neg": np.negative,
    "//": np.floor_divide,
    "smaller": np.minimum,
    "and": lambda *conditions: reduce(np.logical_and, conditions) * 1.0,
    "equals": lambda one, other: np.equal(one, other) * 1.0,
    "below": lambda one, other: np.less(one, other) * 1.0,
    "at_most": lambda one, other: np.less_equal(one, other) * 1.0,
    "where": lambda condition, yes, no: np.where(condition != 0, yes, no),
}
ADDED: Mapping[str, Any] = {"sum": np.add, "max": np.maximum, "min": np.minimum}
# Kernels that make an array, or a number, of a matrix: functions of stacks of them.
OF_MATRICES: Mapping[str, Callable[..., Any]] = {
    "inverse": functions.inverse,
    "logdet": functions.logdet,
    "solution": lambda matrix, right: (functions.inverse(matrix) @ right[..., None])[..., 0],
}
OF_ARRAYS = {**OF_MATRICES, "last_at_most": places.last_at_most}


def computed(
    statements: Iterable[Statement], arrays: Mapping[str, Array], sizes: Mapping[str, int]
) -> Arrays:
    """The arrays that statements make of others."""
    work = _Evaluation(dict(arrays), sizes)
    before = set(arrays)
    with np.errstate(all="ignore"):
        for s in statements:
            work.carry_out(s)
    return {name: values for name, values in work.arrays.items() if name not in before}


def number_of(expr: Expr, sizes: Mapping[str, int]) -> int:
    """The number that an expression of sizes is.

    >>> number_of(Apply("//", (Size("n"), Number(2))), {"n": 7})
    3
    """
    return _Evaluation({}, sizes).number(expr)


def positions_of(span: Span, sizes: Mapping[str, int]) -> range | None:
    """The positions of a span, as far as they are known by sizes; else None.

    >>> positions_of(Span("n", Number(1), Size("n")), {"n": 4})
    range(1, 4)
    """
    ends = [x for end in span.ends for x in walk(end)]
    unknown = {x.dim for x in ends if isinstance(x, Size)} - {*sizes}
    if unknown or not all(isinstance(x, Apply | Number | Size) for x in ends):
        return None
    return range(*(number_of(end, sizes) for end in span.ends))


@dataclass(slots=True)
class _Evaluation:
    """Arrays by name, the sizes of dims, and how many conditions an expression is within."""

    arrays: Arrays
    sizes: Mapping[str, int]
    is_chosen: int = 0

    def carry_out(self, s: Statement) -> None:
        """Carry out a statement."""
        match s:
            case Let(name=name, dims=dims, value=value):
                shape = tuple(self.end(d) for d in dims)
                kind = np.int64 if s.type == "int" else np.float64
                made: Any = np.zeros(shape, kind)
                inside = tuple(slice(self.number(d.start), self.end(d)) for d in dims)
                made[inside] = self.value(value, dims)
                self.arrays[name] = made
            case Add():
                self.added(s)
            case Store(target=Element(array=array, indices=indices), value=value, over=over):
                at = tuple(self.value(i, over) for i in indices)
                self.arrays[array][at] = self.value(value, over)
            case Draw(targets=(target,), kernel=kernel, arguments=arguments):
                given = [self.value(a.value, (*s.over, *a.own)) for a in arguments]
                self.arrays[target.array][...] = OF_ARRAYS[kernel](*given)
            case Loop():
                raise NotImplementedError("a loop in what depends on data alone")

    def number(self, expr: Expr) -> int:
        """A number that depends on no position."""
        return int(self.value(expr, ()))

    def end(self, span: Span) -> int:
        """The stop of a span."""
        return self.number(span.stop)

    def value(self, expr: Expr, axes: Sequence[Span]) -> Any:
        """The values of an expression, to be broadcast over axes."""
        match expr:
            case Number(value=value):
                return int(value) if is_whole(value) else float(value)
            case Size(dim=dim):
                return self.sizes[dim]
            case Position(dim=dim, shift=shift):
                place = next(n for n, s in enumerate(axes) if s.dim == dim)
                span = axes[place]
                own = np.arange(self.number(span.start), self.end(span)) + shift
                return own.reshape((-1, *(1,) * (len(axes) - place - 1)))
            case Element(array=array, indices=indices):
                values = self.arrays[array]
                places = [self.value(i, axes) for i in indices]
                if self.is_chosen:
                    # (what a condition keeps from being read may not be there)
                    places = [
                        np.clip(p, 0, n - 1) for p, n in zip(places, values.shape, strict=True)
                    ]
                return values[tuple(places)] if indices else values
            case Apply(function="where", arguments=(condition, *choices)):
                holds = self.value(condition, axes)
                self.is_chosen += 1
                found = [self.value(c, axes) for c in choices]
                self.is_chosen -= 1
                return OPERATIONS["where"](holds, *found)
            case Apply(function=function, arguments=arguments):
                found = [self.value(a, axes) for a in arguments]
                call = OPERATIONS.get(function) or getattr(functions, function, None)
                if call is None:  # (a parameter of a draw)
                    call = np.vectorize(getattr(draws, function), otypes=[float])
                if function == "/":
                    found = [np.asarray(f, dtype=float) for f in found]
                return call(*found)
        raise TypeError(expr)

    def added(self, s: Add) -> None:
        """Add to the elements of an array."""
        target: Any = self.arrays[s.array]
        plain = all(isinstance(i, Position) and not i.shift for i in s.indices)
        if s.by == "sum" and plain and s.indices == self.outer(s):
            target[self.inside(s)] += self.summed(s)
            return
        shape = tuple(self.end(x) - self.number(x.start) for x in s.over)
        values = np.broadcast_to(self.value(s.value, s.over), shape)
        at = tuple(np.broadcast_to(self.value(i, s.over), shape) for i in s.indices)
        operation = ADDED[s.by]
        if at:
            operation.at(target, at, values)
        else:
            target[...] = operation.reduce(values, axis=None, initial=target)

    def outer(self, s: Add) -> tuple[Expr, ...]:
        """The positions that are not summed, in the order of the indices."""
        over = {x.dim for x in s.over}
        own = [i for i in s.indices if isinstance(i, Position) and i.dim in over]
        return tuple(own) if len(set(own)) == len(own) else ()

    def inside(self, s: Add) -> tuple[slice, ...]:
        """The part of an array that an addition without gathers is to."""
        spans = {x.dim: x for x in s.over}
        own = (spans[i.dim] for i in s.indices if isinstance(i, Position))
        return tuple(slice(self.number(x.start), self.end(x)) for x in own)

    def summed(self, s: Add) -> Array:
        """The sum of a product over all spans that the indices do not name."""
        factors = s.value.parts if is_call(s.value, "*") else (s.value,)
        letters = {x.dim: chr(ord("a") + n) for n, x in enumerate(s.over)}
        operands, codes = [], []
        for f in factors:
            own = tuple(x for x in s.over if x.dim in f.free)
            operands.append(np.asarray(self.value(f, own), dtype=float))
            codes.append("".join(letters[x.dim] for x in own))
        idle = [x for x in s.over if not any(letters[x.dim] in c for c in codes)]
        for x in idle:
            operands.append(np.ones(self.end(x) - self.number(x.start)))
            codes.append(letters[x.dim])
        out = "".join(letters[i.dim] for i in s.indices if isinstance(i, Position))
        return np.asarray(np.einsum(f"{','.join(codes)}->{out}", *operands, optimize=True))
