"""The value of an expression at every position of its ranges, by a plain interpreter.

Comes in: an expression, ranges, and the values of arrays. Goes out: an array with one axis per
range. One NumPy call per operation; shares nothing with the code generator, which it checks.

>>> from gibbsppl.expressions import Array
>>> x, i = Array("x"), Dim("i")
>>> evaluate(x[i] ** 2 - i, (Range(i, 0, 3),), {"x": np.array([1.0, 2.0, 3.0])}, {i: 3})
array([1., 3., 7.])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.errors import ModelError
from gibbsppl.expressions import (
    FUNCTIONS,
    Dim,
    Expr,
    Extreme,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
)
from gibbsppl.log_gamma import loggamma
from gibbsppl.near_one import called_as, log_of_one_minus, log_parts, terms_of
from gibbsppl.ranges import Range, range_of, size_of
from gibbsppl.recursions import Earlier, Own, Recursion, Step, taken_out
from gibbsppl.rounding import may_underflow
from gibbsppl.runtime import functions

Floats = NDArray[np.float64]
Values = Mapping[str, Any]
Sizes = Mapping[Dim, int]


def evaluate(expr: Expr, over: Sequence[Range], values: Values, sizes: Sizes) -> Floats:
    """The expression at all positions of the ranges: one axis each, of length 1 where constant.

    A product with an exact zero is zero, so that ``0 * log(0)`` is the limit that densities mean.

    >>> from gibbsppl.expressions import Array
    >>> w, x = Array("w")[()], Array("x")[()]
    >>> [float(evaluate(e, (), {"w": 0.0, "x": 1e3}, {})) for e in (w * sp.exp(x), w * sp.log(w))]
    [0.0, 0.0]
    >>> float(evaluate(sp.Mul(w**x, sp.exp(x)), (), {"w": 0.5, "x": 1e4}, {}))
    nan
    """
    with np.errstate(all="ignore"):
        return _value(sp.sympify(expr), _Frame(tuple(over), values, sizes))


def largest_power(expr: Expr, over: Sequence[Range], values: Values, sizes: Sizes) -> float:
    """The largest exponential or power on the way to the values of an expression.

    >>> from gibbsppl.expressions import Array
    >>> x = Array("x")[()]
    >>> largest_power(1 / (1 + sp.exp(x)), (), {"x": 1000.0}, {})
    inf
    """
    seen: list[float] = [0.0]
    with np.errstate(all="ignore"):
        _value(sp.sympify(expr), _Frame(tuple(over), values, sizes, seen))
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

    def constant(self, value: Any) -> Floats:
        """A number as an array with one axis of length 1 per range."""
        return np.full((1,) * len(self.ranges), value, dtype=np.float64)


def _value(expr: Expr, frame: _Frame) -> Floats:
    match expr:
        case Dim():
            return _positions(expr, frame)
        case Leaf():
            return _read(expr, frame)
        case Over():
            return _sum(expr, frame)
        case Times() | Extreme():
            inner = replace(frame, ranges=(*frame.ranges, range_of(expr, frame.sizes)))
            body = _stretched(_value(expr.body, inner), inner, 1)
            return np.asarray(getattr(body, expr.symbol)(axis=-1))
        case LogDet():
            return _log_determinant(_matrix(expr, frame))
        case InverseEntry():
            return _inverse_entry(expr, frame)
        case Recursion():
            return _elements(_computed(expr, frame), expr.indices, frame)
        case Earlier():
            return _elements(frame.computed[expr.own], expr.indices, frame)
        case _ if _is_constant(expr):
            # SymPy's own digits: log(gamma(1000)) must not pass through a factorial.
            return frame.constant(float(expr if expr.is_Number else expr.evalf(20)))
        case sp.log() if (form := log_of_one_minus(expr.args[0])) is not None:
            return np.asarray(getattr(functions, form[0])(_value(form[1], frame)))
        case sp.log() if (parts := log_parts(expr.args[0])) is not None:
            return reduce(np.add, (_value(e, frame) for e in parts))
        case sp.Function() if expr.func in FUNCTIONS:
            name, arguments = called_as(expr)
            values = (_value(a, frame) for a in arguments)
            found = np.asarray(getattr(functions, name)(*values), dtype=np.float64)
        case sp.Add():
            found = _total([_value(a, frame) for a in terms_of(expr)])
        case _:
            found = _apply(expr, [_value(a, frame) for a in expr.args])
    if frame.seen is not None and (expr.is_Pow or isinstance(expr, sp.exp)):
        frame.seen.append(float(np.abs(found).max(initial=0.0)))
    return found


def _is_constant(expr: Expr) -> bool:
    """Whether SymPy can make one number of the expression without our functions."""
    if expr.is_Number or expr.is_NumberSymbol:
        return True
    return expr.func in _OF_SYMPY and all(a.is_Number for a in expr.args)


_OF_SYMPY = (sp.log, sp.exp, loggamma, sp.Pow, sp.atan)


def _total(terms: list[Floats]) -> Floats:
    """The sum of terms, whole numbers first: what is added to a large one loses its digits.

    >>> _total([np.array([-3.0]), np.array([1e-20]), np.array([3.0])])
    array([1.e-20])
    """
    if len(terms) > 2:
        terms = sorted(terms, key=lambda t: bool((t != np.floor(t)).any()))
    return np.asarray(reduce(np.add, terms))


def _apply(expr: Expr, arguments: list[Floats]) -> Floats:
    if expr.is_Mul:
        return _product(expr.args, arguments)
    if expr.is_Pow:
        return np.asarray(np.power(*arguments))
    raise ModelError(f"{expr}: no numerical form of {expr.func.__name__!r} is known.")


def _product(factors: Sequence[Expr], values: Sequence[Floats]) -> Floats:
    """The product: 0 where a factor is, unless it may be so by rounding and no log is infinite."""
    product = np.asarray(reduce(np.multiply, values))
    if not np.isnan(product).any():
        return product
    pairs = list(zip(factors, values, strict=True))
    exact = [v == 0 for f, v in pairs if not may_underflow(f)]
    rounded = [v == 0 for f, v in pairs if may_underflow(f)]
    lost = [np.isnan(v) if isinstance(f, sp.log) else ~np.isfinite(v) for f, v in pairs]
    none = np.zeros_like(product, dtype=bool)
    zero = reduce(np.logical_or, exact, none)
    limit = reduce(np.logical_or, rounded, none) & ~reduce(np.logical_or, lost, none)
    return np.where(np.isnan(product) & (zero | limit), 0.0, product)


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
    indices = [
        _checked(_value(index, frame), size, axis, leaf)
        for axis, (index, size) in enumerate(zip(leaf.indices, array.shape, strict=True))
    ]
    return np.asarray(array[tuple(indices)], dtype=np.float64)


def _checked(index: Floats, size: int, axis: int, leaf: Leaf) -> NDArray[np.int64]:
    """The index as integers; out of range is an error, since NumPy would wrap negative ones."""
    whole = np.nan_to_num(index, nan=-1.0, posinf=-1.0, neginf=-1.0).astype(np.int64)
    bad = (whole != index) | (whole < 0) | (whole >= size)
    if bad.any():
        raise ModelError(
            f"{leaf}: index {leaf.indices[axis]} is {index[bad][0]:g}, expected a whole number "
            f"from 0 to {size - 1}, the positions of axis {axis} of {leaf.array.name!r}."
        )
    return whole


def _computed(expr: Recursion, frame: _Frame) -> Floats:
    """All elements of a recursion, one after the other; axes of length 1 where nothing is read."""
    outer = tuple(len(r) if r.dim in expr.outer else 1 for r in frame.ranges)
    found = {own: np.full(outer + expr.system.shape(own), np.nan) for own in expr.system.axes}
    inner = replace(frame, computed={**frame.computed, **found})
    values: dict[Step, Expr] = {}
    for step in expr.system.args:
        # (what reads nothing of the recursion is evaluated once for all positions)
        values[step], parts = taken_out(step, len(inner.computed))
        whole = replace(frame, ranges=(*frame.ranges, *step.over))
        full = (*outer, *map(len, step.over))
        own = {n: np.broadcast_to(_value(e, whole), full) for n, e in parts.items()}
        inner = replace(inner, computed={**inner.computed, **own})
    for position in expr.system.positions:
        for step, here in expr.system.at(position):
            value = _value(values[step], replace(inner, ranges=(*frame.ranges, *here)))
            spans = {r.dim: slice(r.start, r.stop) for r in here}
            at = [spans.get(i) or slice(int(i), int(i) + 1) for i in step.element.indices]
            shown = found[step.element.own][(*(slice(None) for _ in outer), *at)]
            alone = [len(outer) + n for n, i in enumerate(step.element.indices) if i not in spans]
            shown[...] = np.broadcast_to(np.expand_dims(value, alone), shown.shape)
    return found[expr.own]


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
    body = _product(parts, factors)
    copies = len(inner.ranges[-1]) if body.shape[-1] == 1 else 1
    return np.asarray(body.sum(axis=-1) * copies)


def _contracted(factors: list[Floats], inner: _Frame) -> Floats:
    """The sum of a product over the last axis, without forming the product."""
    axes = [[a for a, n in enumerate(f.shape) if n != 1] for f in factors]
    last = len(inner.ranges) - 1
    kept = sorted(set().union(*axes) - {last})
    operands: list[Any] = []
    for factor, own in zip(factors, axes, strict=True):
        operands += [factor.squeeze(), own]
    shape = np.broadcast_shapes(*(f.shape for f in factors))
    copies = len(inner.ranges[-1]) if shape[-1] == 1 else 1
    total = np.einsum(*operands, kept, optimize=len(factors) > 2)
    return np.asarray(total * copies, dtype=np.float64).reshape(shape[:-1])


def _stretched(array: Floats, frame: _Frame, count: int) -> Floats:
    """The array with its last ``count`` axes at full length."""
    full = tuple(map(len, frame.ranges[-count:]))
    return np.broadcast_to(array, array.shape[:-count] + full)


def _matrix(expr: Expr, frame: _Frame) -> Floats:
    inner = frame.bind(*expr.bound)
    return _stretched(_value(expr.body, inner), inner, 2)


def _log_determinant(matrix: Floats) -> Floats:
    """The log determinant; ``-inf`` where the matrix is not positive definite."""
    _sign, value = np.linalg.slogdet(matrix)
    return np.where(is_positive_definite(matrix), value, -np.inf)


def is_positive_definite(matrix: Floats) -> Any:
    """Whether each matrix is square, finite, symmetric up to rounding, and positive definite."""
    if matrix.shape[-2] != matrix.shape[-1]:
        return np.zeros(matrix.shape[:-2], dtype=bool)
    finite: Any = np.isfinite(matrix).all(axis=(-2, -1))
    safe = np.where(finite[..., None, None], matrix, -np.eye(matrix.shape[-1]))
    transposed = np.swapaxes(safe, -2, -1)
    rounding = 1e-8 * np.abs(safe).max(axis=(-2, -1), keepdims=True)
    symmetric = (np.abs(safe - transposed) <= rounding).all(axis=(-2, -1))
    # (of diagonals of one, whatever the scales of rows)
    diagonal = np.diagonal(safe, axis1=-2, axis2=-1)
    scales = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = (safe + transposed) / 2 / scales[..., None] / scales[..., None, :]
    positive = np.linalg.eigvalsh(scaled).min(axis=-1) > 0
    return finite & symmetric & positive


def _inverse_entry(expr: InverseEntry, frame: _Frame) -> Floats:
    matrix = _matrix(expr, frame)
    usable: Any = is_positive_definite(matrix)[..., None, None]
    safe = np.where(usable, matrix, np.eye(matrix.shape[-1]))
    inverse = np.where(usable, functions.inverse(safe), np.nan)
    entry = [_value(a, frame).astype(np.int64) for a in expr.args[3:]]
    batch = np.ix_(*(np.arange(n) for n in inverse.shape[:-2])) if inverse.ndim > 2 else ()
    return np.asarray(inverse[(*batch, *entry)])
