"""The log joint density straight from the expressions: what every check compares with.

Comes in: a graph (or one template) and the values of its arrays. Goes out: arrays of log
densities, one element per position of the factor. The evaluation is a plain interpreter, one NumPy
call per operation, and shares nothing with the code generator.

>>> from gibbsppl.expressions import Array
>>> x, i = Array("x"), Dim("i")
>>> evaluate(x[i] ** 2 - i, (Range(i, 0, 3),), {"x": np.array([1.0, 2.0, 3.0])}, {i: 3})
array([1., 3., 7.])
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.errors import ModelError
from gibbsppl.expressions import (
    FUNCTIONS,
    Below,
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
    Where,
    copy_of,
    primed,
    root_of,
    substitute,
)
from gibbsppl.graph import Factor, Graph, Maintained, Marginal, Potential, Range, Statement
from gibbsppl.runtime import functions
from gibbsppl.supports import Support

Floats = NDArray[np.float64]
Values = Mapping[str, Any]
Sizes = Mapping[Dim, int]


def log_joint(graph: Graph, values: Values) -> float:
    """The log density of all factors together; ``-inf`` outside the support."""
    return sum(log_terms(graph, values).values())


def log_terms(graph: Graph, values: Values) -> dict[str, float]:
    """The log density of each factor, summed over its elements, by the factor's name."""
    return {f.name: float(log_density(f, values, graph.sizes).sum()) for f in graph.factors}


def log_density(factor: Factor, values: Values, sizes: Sizes) -> Floats:
    """The log density of a factor, one element per position; of a sparse array, summed up."""
    with np.errstate(all="ignore"):
        if isinstance(factor, Potential) and factor.of is not None and len(factor.over) > 1:
            return np.asarray(sum(_sums(factor.log_density, factor.over, values, sizes)))
        if isinstance(factor, Marginal):
            values = {**values, **scattered(factor.arrays, values, sizes)}
        density = evaluate(_template(factor), factor.over, values, sizes)
        if isinstance(factor, Statement):
            density = np.where(_is_possible(factor, values, sizes), density, -np.inf)
    return np.broadcast_to(density, tuple(map(len, factor.over)))


def scattered(arrays: Sequence[Maintained], values: Values, sizes: Sizes) -> dict[str, Floats]:
    """The values of maintained arrays, computed anew, by name; each may read those before it."""
    found: dict[str, Floats] = {}
    for array in arrays:
        known = {**values, **found}
        total = found[array.name] = np.zeros([_size_of(a, sizes) for a in array.axes])
        for s in array.scatters:
            full = tuple(map(len, s.over))
            at = tuple(
                np.broadcast_to(evaluate(i, s.over, known, sizes), full).astype(int)
                for i in s.indices
            )
            added = np.broadcast_to(evaluate(s.value, s.over, known, sizes), full)
            if at:
                np.add.at(total, at, added)
            else:
                total += added.sum()
    return found


def _size_of(dim: Dim, sizes: Sizes) -> int:
    return sizes[dim] if dim in sizes else sizes[Dim(root_of(dim))]


def _template(factor: Factor) -> Expr:
    """The log density of an element, without the entries of a simplex that are known to be zero."""
    density = factor.log_density
    if not isinstance(factor, Statement) or factor.support.kind != "simplex":
        return density
    sums = (o for o in density.atoms(Over) if factor.target in o.body.atoms(Leaf))
    kept = {o: Over(Where(_is_kept(factor), o.body, sp.S.Zero), *o.args[1:]) for o in sums}
    return density.xreplace(kept)


def _is_kept(statement: Statement) -> Expr:
    """1 for an entry of a simplex, 0 where a parameter of exactly 0 makes it a certain zero."""
    rows = statement.family.parameters
    return sp.Mul(*(Below(sp.S.Zero, a) for name, a in statement.arguments if rows[name].event))


def kept_entries(statement: Statement, values: Values, sizes: Sizes) -> NDArray[np.bool_]:
    """Which entries of a simplex are not known to be zero; event axes last."""
    over = regions(statement, sizes)
    kept = evaluate(_is_kept(statement), over, values, sizes) == 1
    return np.broadcast_to(kept, tuple(map(len, over)))


def _sums(expr: Expr, over: tuple[Range, ...], values: Values, sizes: Sizes) -> Iterator[float]:
    """The sum of each term over all positions of the ranges; sums in products are opened first."""
    for term in sp.Add.make_args(sp.expand_mul(expr, deep=False)):
        split = (sp.expand_power_exp(f, deep=False) for f in sp.Mul.make_args(term))
        factors = [p for f in split for p in sp.Mul.make_args(f)]
        powers = (f.as_base_exp() for f in factors)
        sums = [b for b, n in powers if isinstance(b, Over) and n.is_Integer and n > 0]
        if not sums:
            found = [evaluate(f, over, values, sizes) for f in factors]
            safe = all(np.isfinite(f).all() for f in found)
            yield _sum_of_product(found if safe else [evaluate(term, over, values, sizes)], over)
            continue
        dim = copy_of(sums[0].bound[0], {*(r.dim for r in over), *term.free_symbols})
        opened = term / sums[0] * substitute(sums[0].body, {sums[0].bound[0]: dim})
        ends = map(int, sums[0].args[2:] or (0, _size_of(dim, sizes)))
        yield from _sums(opened, (*over, Range(dim, *ends)), values, sizes)


def _sum_of_product(factors: list[Floats], over: tuple[Range, ...]) -> float:
    """The sum of a product; each factor is summed first along the axes that it alone has."""
    held = [{a for a, n in enumerate(f.shape) if n != 1} for f in factors]
    idle = math.prod(len(r) for a, r in enumerate(over) if not any(a in own for own in held))
    operands: list[Any] = []
    for factor, own in zip(factors, held, strict=True):
        alone = tuple(a for a in own if sum(a in other for other in held) == 1)
        operands += [factor.sum(axis=alone).squeeze(), sorted(own.difference(alone))]
    return float(np.einsum(*operands, [], optimize=len(factors) > 2)) * idle


def evaluate(expr: Expr, over: Sequence[Range], values: Values, sizes: Sizes) -> Floats:
    """The expression at all positions of the ranges: one axis each, of length 1 where constant.

    A product with an exact zero is zero, so that ``0 * log(0)`` is the limit that densities mean.
    """
    with np.errstate(all="ignore"):
        return _value(sp.sympify(expr), _Frame(tuple(over), values, sizes))


def event_dims(statement: Statement) -> tuple[Dim, ...]:
    """The dims of one value of the statement: none for a label, two for a matrix."""
    count, event = statement.family.event, statement.event
    return event[:count] if len(event) >= count else (event[0], primed(event[0]))


def regions(statement: Statement, sizes: Sizes) -> tuple[Range, ...]:
    """The ranges of a statement's values: its own, then those of its event."""
    return (*statement.over, *(Range(d, 0, sizes[d]) for d in event_dims(statement)))


@dataclass(frozen=True, slots=True)
class _Frame:
    """What an expression is read against: one axis per range, and the arrays."""

    ranges: tuple[Range, ...]
    values: Values
    sizes: Sizes

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
        return _size_of(dim, self.sizes)

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
        case Times():
            inner = frame.bind(*expr.bound)
            return np.asarray(_stretched(_value(expr.body, inner), inner, 1).prod(axis=-1))
        case LogDet():
            return _log_determinant(_matrix(expr, frame))
        case InverseEntry():
            return _inverse_entry(expr, frame)
        case _ if _is_constant(expr):
            # SymPy's own digits: log(gamma(1000)) must not pass through a factorial.
            return frame.constant(float(expr if expr.is_Number else expr.evalf(20)))
        case _:
            return _apply(expr, [_value(a, frame) for a in expr.args])


def _is_constant(expr: Expr) -> bool:
    """Whether SymPy can make one number of the expression without our functions."""
    if expr.is_Number or expr.is_NumberSymbol:
        return True
    return expr.func in _OF_SYMPY and all(a.is_Number for a in expr.args)


_OF_SYMPY = (sp.log, sp.exp, sp.loggamma, sp.Pow, sp.atan)


def _apply(expr: Expr, arguments: list[Floats]) -> Floats:
    if expr.is_Add:
        return reduce(np.add, arguments)
    if expr.is_Mul:
        return reduce(_times, arguments)
    if expr.is_Pow:
        return np.asarray(np.power(*arguments))
    if expr.func not in FUNCTIONS:
        raise ModelError(f"{expr}: no numerical form of {expr.func.__name__!r} is known.")
    return np.asarray(getattr(functions, FUNCTIONS[expr.func])(*arguments), dtype=np.float64)


def _times(a: Floats, b: Floats) -> Floats:
    product = np.asarray(a * b)
    if np.isnan(product).any():
        limit = np.isnan(product) & ~np.isnan(a) & ~np.isnan(b)
        return np.where(limit, 0.0, product)
    return product


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


def _sum(expr: Over, frame: _Frame) -> Floats:
    ends = map(int, expr.args[2:] or (0, _size_of(expr.bound[0], frame.sizes)))
    inner = replace(frame, ranges=(*frame.ranges, Range(expr.bound[0], *ends)))
    factors = [_value(f, inner) for f in sp.Mul.make_args(expr.body)]
    if len(factors) > 1 and all(np.isfinite(f).all() for f in factors):
        return _contracted(factors, inner)
    body = reduce(_times, factors)
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
    return np.where(_is_positive_definite(matrix), value, -np.inf)


def _is_positive_definite(matrix: Floats) -> Any:
    finite: Any = np.isfinite(matrix).all(axis=(-2, -1))
    safe = np.where(finite[..., None, None], matrix, -np.eye(matrix.shape[-1]))
    transposed = np.swapaxes(safe, -2, -1)
    rounding = 1e-8 * np.abs(safe).max(axis=(-2, -1), keepdims=True)
    symmetric = (np.abs(safe - transposed) <= rounding).all(axis=(-2, -1))
    positive = np.linalg.eigvalsh((safe + transposed) / 2).min(axis=-1) > 0
    return finite & symmetric & positive


def _inverse_entry(expr: InverseEntry, frame: _Frame) -> Floats:
    matrix = _matrix(expr, frame)
    usable: Any = _is_positive_definite(matrix)[..., None, None]
    safe = np.where(usable, matrix, np.eye(matrix.shape[-1]))
    inverse = np.where(usable, np.linalg.inv(safe), np.nan)
    entry = [_value(a, frame).astype(np.int64) for a in expr.args[3:]]
    batch = np.ix_(*(np.arange(n) for n in inverse.shape[:-2])) if inverse.ndim > 2 else ()
    return np.asarray(inverse[(*batch, *entry)])


def _is_possible(statement: Statement, values: Values, sizes: Sizes) -> NDArray[np.bool_]:
    """Whether each value is on the support and each scalar parameter on its own."""
    target, frame = statement.target, _Frame(statement.over, values, sizes)
    event = event_dims(statement)
    possible = _contains(statement.support, target, frame, event)
    if statement.lower is not None or statement.upper is not None:
        full = statement.family.support(statement.event, **dict(statement.arguments))
        possible = possible & _contains(full, target, frame, event)
    for name, argument in statement.arguments:
        parameter = statement.family.parameters[name]
        if parameter.event == 0:
            possible = possible & _contains(parameter.support, argument, frame, ())
    if statement.support.kind == "simplex":
        entries = evaluate(target, regions(statement, sizes), values, sizes)
        possible = possible & (kept_entries(statement, values, sizes) | (entries == 0)).all(-1)
    return possible


def _contains(
    support: Support, expr: Expr, frame: _Frame, event: tuple[Dim, ...]
) -> NDArray[np.bool_]:
    match support.kind:
        case "real" | "integer":
            return _is_between(support, _value(expr, frame), frame)
        case "simplex":
            value = _value(expr, frame.bind(*event))
            total = np.isclose(value.sum(-1), 1.0, rtol=0.0, atol=1e-8)
            return np.asarray((value >= 0).all(-1) & total)
        case "vector":
            return np.asarray(np.isfinite(_value(expr, frame.bind(*event))).all(-1))
        case "sphere":
            squares = _value(expr, frame.bind(*event)) ** 2
            return np.asarray(np.isclose(squares.sum(-1), 1.0, rtol=0.0, atol=1e-8))
        case "spd":
            return np.asarray(_is_positive_definite(_value(expr, frame.bind(*event))))
        case "counts":
            value = _value(expr, frame.bind(*event))
            whole = ((value >= 0) & (value == np.rint(value))).all(-1)
            return np.asarray(whole & (value.sum(-1) == _value(sp.sympify(support.upper), frame)))


def _is_between(support: Support, value: Floats, frame: _Frame) -> NDArray[np.bool_]:
    lower, upper = (_value(sp.sympify(b), frame) for b in (support.lower, support.upper))
    inside = np.isfinite(value) & (value >= lower) & (value <= upper)
    if support.kind == "integer":
        inside = inside & (value == np.rint(value))
    return np.asarray(inside)
