"""The value of an expression at every position of its ranges, by a plain interpreter.

Comes in: an expression, ranges, and the values of arrays. Goes out: an array with one axis per
range. One NumPy call per operation; shares nothing with the code generator, which it checks.

>>> from gibbsppl.algebra.expressions import Array
>>> x, i = Array("x"), Dim("i")
>>> evaluate(x[i] ** 2 - i, (Range(i, 0, 3),), {"x": np.array([1.0, 2.0, 3.0])}, {i: 3})
array([1., 3., 7.])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Extreme,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Size,
    Times,
    arrays_in,
)
from gibbsppl.algebra.ranges import Range, range_of, size_of
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, Step, System, owns_read, taken_out
from gibbsppl.errors import ModelError
from gibbsppl.model.by_position import Walk, stepper
from gibbsppl.model.elements import checked, part_along
from gibbsppl.model.operations import (
    is_constant,
    is_positive_definite,
    is_power,
    log_determinant,
    operation_of,
    product_of,
    size_of_largest,
    sums_exponentials,
)
from gibbsppl.runtime import functions

Floats = NDArray[np.float64]
Values = Mapping[str, Any]
Sizes = Mapping[Dim, int]

# The arrays of so many recursions are kept: those of a few states, which all factors read.
KEPT = 16
# So many positions are evaluated at a time: what a sum at each of them is of takes many times more.
PART = 1 << 17


def evaluate(expr: Expr, over: Sequence[Range], values: Values, sizes: Sizes) -> Floats:
    """The expression at all positions of the ranges: one axis each, of length 1 where constant.

    A product with an exact zero is zero, so that ``0 * log(0)`` is the limit that densities mean.

    >>> from gibbsppl.algebra.expressions import Array
    >>> w, x = Array("w")[()], Array("x")[()]
    >>> [float(evaluate(e, (), {"w": 0.0, "x": 1e3}, {})) for e in (w * sp.exp(x), w * sp.log(w))]
    [0.0, 0.0]
    >>> float(evaluate(sp.Mul(w**x, sp.exp(x)), (), {"w": 0.5, "x": 1e4}, {}))
    nan
    """
    if isinstance(expr, sp.Expr) and is_constant(expr):
        return np.full((1,) * len(over), _number(expr))
    part, *others = _parts_of(expr, tuple(over))
    first = _found(expr, part, values, sizes)
    if not others or (first.shape[0] == 1 and len(part[0]) > 1):
        return first  # (that is the same all along the first axis)
    return np.concatenate([first, *(_found(expr, p, values, sizes) for p in others)])


def _found(expr: Expr, over: tuple[Range, ...], *others: Any) -> Floats:
    with np.errstate(all="ignore"):
        return _value(sp.sympify(expr), _Frame(over, *others))


def _parts_of(expr: Expr, over: tuple[Range, ...]) -> list[tuple[Range, ...]]:
    """The ranges in parts of so many positions at most, which sums make tables of."""
    count = math.prod(map(len, over))
    if count <= PART or any(isinstance(e, Recursion) for e in sp.preorder_traversal(expr)):
        return [over]
    first, *others = over
    step = max(2, PART * len(first) // count)  # (one position does not tell what is constant)
    starts = range(first.start, first.stop, step)
    return [(Range(first.dim, s, min(s + step, first.stop)), *others) for s in starts]


def largest_power(expr: Expr, over: Sequence[Range], values: Values, sizes: Sizes) -> float:
    """The largest exponential or power on the way to the values of an expression.

    >>> from gibbsppl.algebra.expressions import Array
    >>> x = Array("x")[()]
    >>> largest_power(1 / (1 + sp.exp(x)), (), {"x": 1000.0}, {})
    inf
    """
    seen: list[float] = [0.0]
    for part in _parts_of(expr, tuple(over)):
        _found(expr, part, values, sizes, seen)
    return max(seen)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What an expression is read against: one axis per range, and the arrays.

    The sizes of exponentials and powers are put into ``seen``.
    """

    ranges: tuple[Range, ...]
    values: Values
    sizes: Sizes
    seen: list[float] | None = None
    # Recursions that are being computed, each with one axis for each outer range before its own.
    computed: Mapping[Own, Floats] = field(default_factory=dict)
    # Sums, products and extremes that were evaluated: a density has the same ones many times.
    reduced: dict[tuple[Expr, tuple[Range, ...]], Floats] = field(default_factory=dict)

    def axis_of(self, dim: Dim) -> int:
        """The axis of a dim: the innermost, if an inner sum binds the name again."""
        for axis in reversed(range(len(self.ranges))):
            if self.ranges[axis].dim == dim:
                return axis
        raise ModelError(
            f"dimension {dim.name!r} is read where no range or sum binds it; sum over it, or add "
            "it to the dims of the statement."
        )

    def bind(self, *dims: Dim) -> _Frame:
        """The frame with one more axis for each dim."""
        return replace(self, ranges=(*self.ranges, *(Range(d, 0, self._size(d)) for d in dims)))

    def _size(self, dim: Dim) -> int:
        return size_of(dim, self.sizes)

    def constant(self, value: ArrayLike) -> Floats:
        """A number as an array with one axis of length 1 per range."""
        return np.array(value, dtype=np.float64, ndmin=len(self.ranges))


def _value(expr: Expr, frame: _Frame) -> Floats:
    match expr:
        case Dim():
            return _positions(expr, frame)
        case Size():
            return frame.constant(frame.sizes[Dim(expr.name)])
        case Leaf():
            return _read(expr, frame)
        case Over() | Times() | Extreme() if frame.computed:
            return _reduced(expr, frame)
        case Over() | Times() | Extreme():
            key = (expr, frame.ranges)
            if key not in frame.reduced:
                frame.reduced[key] = _reduced(expr, frame)
            return frame.reduced[key]
        case LogDet():
            return np.asarray(log_determinant(_matrix(expr, frame)))
        case InverseEntry():
            return _inverse_entry(expr, frame)
        case Recursion():
            return _elements(_computed(expr, frame), expr.indices, frame)
        case Earlier():
            return _elements(frame.computed[expr.own], expr.indices, frame)
        case sp.log() if sums_exponentials(expr.args[0]):
            return _log_of_sums(expr, frame)
        case _ if is_constant(expr):
            return frame.constant(_number(expr))
        case _:
            found = _by_operation(expr, frame)
    if frame.seen is not None and is_power(expr):
        frame.seen.append(size_of_largest(found))
    return found


@lru_cache(maxsize=2**14)
def _number(expr: Expr) -> float:
    """A constant by SymPy's own digits: log(gamma(1000)) must not pass through a factorial."""
    return float(expr if expr.is_Number else expr.evalf(20))


def _reduced(expr: Over | Times | Extreme, frame: _Frame) -> Floats:
    """A sum, a product, or the largest or the smallest, along one more axis."""
    if isinstance(expr, Over):
        return _sum(expr, frame)
    inner = replace(frame, ranges=(*frame.ranges, range_of(expr, frame.sizes)))
    body = _stretched(_value(expr.body, inner), inner, 1)
    return np.asarray(getattr(body, expr.symbol)(axis=-1))


def _by_operation(expr: Expr, frame: _Frame) -> Floats:
    operation, arguments = operation_of(expr)
    return np.asarray(operation([_value(a, frame) for a in arguments]))


def _positions(dim: Dim, frame: _Frame) -> Floats:
    axis = frame.axis_of(dim)
    found = frame.ranges[axis]
    shape = [1] * len(frame.ranges)
    shape[axis] = len(found)
    return np.arange(found.start, found.stop, dtype=np.float64).reshape(shape)


def _read(leaf: Leaf, frame: _Frame) -> Floats:
    """The elements of an array that the leaf names, by fancy indexing."""
    name = leaf.array.name
    if name not in frame.values:
        raise ModelError(f"{leaf}: array {name!r} has no value; give one of its shape.")
    array = np.asarray(frame.values[name])
    if array.ndim != len(leaf.indices):
        raise ModelError(
            f"{leaf}: array {name!r} has {array.ndim} axes, expected {len(leaf.indices)}; "
            f"its shape is {array.shape}."
        )
    if not leaf.indices:
        return frame.constant(array)
    if (part := part_along(leaf, array, frame.ranges)) is not None:
        return part
    indices = [
        checked(_value(index, frame), size, axis, leaf)
        for axis, (index, size) in enumerate(zip(leaf.indices, array.shape, strict=True))
    ]
    return np.asarray(array[tuple(indices)], dtype=np.float64)


def _computed(expr: Recursion, frame: _Frame) -> Floats:
    """All elements of a recursion; axes of length 1 where nothing is read."""
    system = expr.system
    outer = tuple(r for r in frame.ranges if r.dim in expr.outer)
    names = arrays_in(system)
    if frame.seen is not None or owns_read(expr) or not names <= frame.values.keys():
        found = _one_after_the_other(system, frame, expr.outer)
    else:
        known = tuple(_content_of(n, frame.values[n]) for n in sorted(names))
        found = _kept(system, outer, frozenset(frame.sizes.items()), known)
    shape = tuple(len(r) if r.dim in expr.outer else 1 for r in frame.ranges)
    return found[expr.own].reshape(shape + system.shape(expr.own))


class _Content(NamedTuple):
    """The content of an array, by which equal arrays are recognised."""

    name: str
    shape: tuple[int, ...]
    kind: str
    elements: bytes


def _content_of(name: str, value: ArrayLike) -> _Content:
    array = np.asarray(value)
    return _Content(name, array.shape, array.dtype.str, array.tobytes())


@lru_cache(maxsize=KEPT)
def _kept(
    system: System,
    ranges: tuple[Range, ...],
    sizes: frozenset[tuple[Dim, int]],
    contents: tuple[_Content, ...],
) -> Mapping[Own, Floats]:
    """All arrays of a system, once for the same values of all that it reads."""
    values = {
        c.name: np.frombuffer(c.elements, np.dtype(c.kind)).reshape(c.shape) for c in contents
    }
    return _one_after_the_other(
        system, _Frame(ranges, values, dict(sizes)), [r.dim for r in ranges]
    )


def _one_after_the_other(
    system: System, frame: _Frame, read: Collection[Dim]
) -> Mapping[Own, Floats]:
    """All arrays of a system; axes of length 1 for ranges of which the dim is not read."""
    outer = tuple(len(r) if r.dim in read else 1 for r in frame.ranges)
    found = {own: np.full(outer + system.shape(own), np.nan) for own in system.axes}
    inner = replace(frame, computed={**frame.computed, **found})
    values: dict[Step, Expr] = {}
    for step in system.args:
        # (what reads nothing of the recursion is evaluated once for all positions)
        values[step], parts = taken_out(step, len(inner.computed))
        whole = replace(frame, ranges=(*frame.ranges, *step.over))
        full = (*outer, *map(len, step.over))
        own = {n: np.broadcast_to(_value(e, whole), full) for n, e in parts.items()}
        inner = replace(inner, computed={**inner.computed, **own})
    spans = [s.extent(system.axes[s.element.own]) for s in values]
    steppers = [_stepper(s, value, system, inner, outer) for s, value in values.items()]
    for position in system.positions:
        for (start, stop), at in zip(spans, steppers, strict=True):
            if start <= position < stop:
                at(position)
    return found


def _stepper(
    step: Step, value: Expr, system: System, frame: _Frame, outer: tuple[int, ...]
) -> Callable[[int], None]:
    """A function that computes the elements of a step at a position."""
    dim = step.element.indices[system.axes[step.element.own]]
    along = next((r for r in step.over if r.dim == dim), None)

    def value_at(part: Expr, ranges: tuple[Range, ...]) -> Floats:
        return _value(part, replace(frame, ranges=ranges))

    walk = Walk(
        along=along,
        ranges=(*frame.ranges, *step.over),
        computed=frame.computed,
        value=value_at,
        seen=frame.seen,
        is_of_numbers=all(n == 1 for n in outer) and all(r == along for r in step.over),
    )
    return stepper(step, value, walk)


def _elements(computed: Floats, indices: Sequence[Expr], frame: _Frame) -> Floats:
    """The elements of a recursion at indices, each with the position of the ranges around it."""
    count = computed.ndim - len(indices)
    axes = len(frame.ranges)
    around = [
        np.arange(n).reshape([-1 if a == axis else 1 for a in range(axes)])
        for axis, n in enumerate(computed.shape[:count])
    ]
    at = [_value(i, frame).astype(np.int64) for i in indices]
    for index, size in zip(at, computed.shape[count:], strict=True):
        if ((index < 0) | (index >= size)).any():
            raise ModelError(f"a recursion of {size} positions is read at {index.min()}.")
    return np.asarray(computed[(*around, *at)])


def _sum(expr: Over, frame: _Frame) -> Floats:
    inner = replace(frame, ranges=(*frame.ranges, range_of(expr, frame.sizes)))
    parts = sp.Mul.make_args(expr.body)
    factors = [_value(f, inner) for f in parts]
    if len(factors) > 1 and all(np.isfinite(f).all() for f in factors):
        return _contracted(factors, inner)
    body = np.asarray(product_of(parts, factors))
    copies = len(inner.ranges[-1]) if body.shape[-1] == 1 else 1
    return np.asarray(body.sum(axis=-1) * copies)


def _log_of_sums(expr: Expr, frame: _Frame) -> Floats:
    """The log of products of sums of exponentials, within and beyond the range of floats.

    >>> from gibbsppl.algebra.expressions import Array
    >>> k, x = Dim("k"), Array("x")
    >>> of = sp.log(sp.exp(x[0]) / Over(sp.exp(x[k]), k))
    >>> float(evaluate(of, (), {"x": np.array([1000.0, 900.0])}, {k: 2}))
    0.0
    """
    with np.errstate(all="ignore"):
        found = _log(expr.args[0], frame)
        is_told = ~np.isnan(found)  # (no log of a part that is negative is)
        return found if is_told.all() else np.where(is_told, found, _by_operation(expr, frame))


def _log(of: Expr, frame: _Frame) -> Floats:
    match of:
        case _ if of.is_negative:
            return frame.constant(np.nan)
        case sp.Mul():
            return np.asarray(sum(_log(a, frame) for a in of.args))
        case sp.Pow():
            return np.asarray(_value(of.exp, frame) * _log(of.base, frame))
        case sp.Add():
            return np.asarray(reduce(np.logaddexp, (_log(a, frame) for a in of.args)))
        case Over():
            inner = frame.bind(*of.bound)
            body = _stretched(_log(of.body, inner), inner, 1)
            return np.asarray(np.logaddexp.reduce(body, axis=-1))
    return _value(sp.log(of), frame)


def _contracted(factors: list[Floats], inner: _Frame) -> Floats:
    """The sum of a product over the last axis, without forming the product."""
    axes = [[a for a, n in enumerate(f.shape) if n != 1] for f in factors]
    kept = sorted(set().union(*axes) - {len(inner.ranges) - 1})
    operands: list[Any] = []
    for factor, own in zip(factors, axes, strict=True):
        operands += [factor.squeeze(), own]
    shape = np.broadcast_shapes(*(f.shape for f in factors))
    copies = len(inner.ranges[-1]) if shape[-1] == 1 else 1
    total = np.einsum(*operands, kept, optimize=len(factors) > 2)
    return np.asarray(total * copies, dtype=np.float64).reshape(shape[:-1])


def _stretched(array: Floats, frame: _Frame, count: int) -> Floats:
    """The array with its last ``count`` axes at full length."""
    return np.broadcast_to(array, (*array.shape[:-count], *map(len, frame.ranges[-count:])))


def _matrix(expr: LogDet | InverseEntry, frame: _Frame) -> Floats:
    inner = frame.bind(*expr.bound)
    return _stretched(_value(expr.body, inner), inner, 2)


def _inverse_entry(expr: InverseEntry, frame: _Frame) -> Floats:
    matrix = _matrix(expr, frame)
    usable = is_positive_definite(matrix)[..., None, None]
    safe = np.where(usable, matrix, np.eye(matrix.shape[-1]))
    inverse = np.where(usable, functions.inverse(safe), np.nan)
    entry = [_value(a, frame).astype(np.int64) for a in expr.args[3:]]
    batch = np.ix_(*(np.arange(n) for n in inverse.shape[:-2])) if inverse.ndim > 2 else ()
    return np.asarray(inverse[(*batch, *entry)])
