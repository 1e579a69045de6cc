"""Tensors: scalar templates with named dimensions, and what can be done with them.

A tensor is an expression whose free dims are its dimensions, so that arrays broadcast by name.
Indexing is substitution: ``theta[group]`` puts ``group[student]`` in the place of ``school``.

>>> from gibbsppl.language import Index, Model, Normal
>>> with Model(coords={"school": 2}):
...     group = Index("group", [0, 1, 1], of="school", dims="student")
...     theta = Normal("theta", 0, sigma=1, dims="school")
>>> theta[group] - 1
theta[group[student]] - 1 over student
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from types import EllipsisType
from typing import NoReturn, TypeAlias

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import copy_of, primed
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Greatest,
    Leaf,
    Least,
    Over,
    Times,
    dims_of,
    substitute,
)
from gibbsppl.algebra.functions import AtMost, Below, Equals, Where
from gibbsppl.algebra.polynomials import quotient
from gibbsppl.arguments import NAME, methods_told, shown
from gibbsppl.errors import ModelError
from gibbsppl.language.dim_names import base, dims_named
from gibbsppl.language.model import Model
from gibbsppl.language.regions import Key, position_of
from gibbsppl.language.ufuncs import Unevaluated, operator_of
from gibbsppl.language.values import count_axes, finite_number, shape_of

# What a tensor can be computed with, and a parameter can be.
Value: TypeAlias = "Tensor | float | np.floating | np.integer | np.bool_"

# Where a tensor is read along a dimension.
Position: TypeAlias = "Tensor | int | np.integer"


@methods_told(ModelError, stick_breaking={"dim": NAME, "into": NAME.or_none()})
@dataclass(frozen=True, slots=True, eq=False)
class Tensor(Unevaluated):
    """An expression of the arrays of a model; as an index it points into the dim ``of``, if any.

    A `gp.Array` also knows how to ``fill`` its regions. Cancelled terms keep their dims:
    ``gone`` are operands with dims that the expression has lost.
    """

    expr: Expr
    model: Model | None = None
    of: Dim | None = None
    fill: Callable[[Key, object], None] | None = None
    gone: tuple[Expr, ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions, in the order of their declaration."""
        free = set().union(*map(dims_of, (self.expr, *self.gone)))
        return tuple(d.name for d in self.model.in_order(free)) if self.model else ()

    def __repr__(self) -> str:
        return f"{self.expr} over {', '.join(self.dims)}" if self.dims else str(self.expr)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Value, **options: object
    ) -> Tensor:
        """NumPy's operators with a tensor; arrays are asked for the names of their dims."""
        found: Tensor = operator_of(ufunc, method, self, options)(*map(as_tensor, inputs))
        return found

    def __add__(self, other: Value) -> Tensor:
        return combined(lambda a, b: a + b, self, other)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Tensor:
        return combined(lambda a, b: a - b, self, other)

    def __rsub__(self, other: Value) -> Tensor:
        return combined(lambda a, b: b - a, self, other)

    def __mul__(self, other: Value) -> Tensor:
        return combined(lambda a, b: a * b, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Tensor:
        return combined(quotient, self, other)

    def __rtruediv__(self, other: Value) -> Tensor:
        return combined(lambda a, b: quotient(b, a), self, other)

    def __pow__(self, other: Value) -> Tensor:
        return combined(lambda a, b: a**b, self, other)

    def __rpow__(self, other: Value) -> Tensor:
        return combined(lambda a, b: b**a, self, other)

    def __neg__(self) -> Tensor:
        return combined(lambda a: -a, self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return combined(sp.Abs, self)

    def __le__(self, other: Value) -> Tensor:
        return combined(AtMost, self, other)

    def __lt__(self, other: Value) -> Tensor:
        return combined(Below, self, other)

    def __ge__(self, other: Value) -> Tensor:
        return combined(lambda a, b: AtMost(b, a), self, other)

    def __gt__(self, other: Value) -> Tensor:
        return combined(lambda a, b: Below(b, a), self, other)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise ModelError(f"{self}: == compares objects; write gp.equals(a, b) for the indicator.")

    def __bool__(self) -> bool:
        raise ModelError(
            f"{self}: a tensor has no truth value while the model is declared; write "
            "gp.where(condition, a, b) in the place of if."
        )

    def __iter__(self) -> NoReturn:
        raise ModelError(f"{self}: a tensor has no first element; sum or index it by a dim's name.")

    def __matmul__(self, other: Value) -> Tensor:
        left, right = self, as_tensor(other)
        shared = [d for d in left.dims if d in right.dims]
        if len(shared) != 1:
            raise ModelError(
                f"({left.expr}) @ ({right.expr}): the two share the dimensions "
                f"{', '.join(shared) or 'none'}; @ sums over exactly one that both have: write "
                '(a * b).sum("dim") and name what is summed.'
            )
        return (left * right).sum(shared[0])

    def __rmatmul__(self, other: Value) -> Tensor:
        return as_tensor(other) @ self

    def __getitem__(self, key: Position | tuple[Position, ...]) -> Tensor:
        """The tensor read at indices, each on the dimension that it points into."""
        result = self
        for index in key if isinstance(key, tuple) else (key,):
            result = result.at(_axis_for(result, index), index)
        return result

    def __setitem__(self, key: Key, value: object) -> None:
        """Fill a region of a `gp.Array`: with a distribution, a tensor or a number."""
        if self.fill is None:
            instead = 'declare x = gp.Array("x", dims=...) and fill its regions.'
            raise ModelError(f"{self.expr}: only a gp.Array is filled by assignment; {instead}")
        self.fill(key, value)

    def at(self, dim: str, index: Position) -> Tensor:
        """The tensor read at one position of a dimension, or at an index into it.

        >>> with Model(coords={"day": 3}) as model:
        ...     Tensor(Dim("day") * 2, model).at("day", -1)
        4
        """
        axis = self._axis(dim, "read at a position")
        if isinstance(index, Tensor):
            return _gathered(self, axis, index)
        position = position_of(index, model_of(self).size(axis), dim, str(self.expr))
        return _substituted(self, {axis: sp.Integer(position)})

    def lag(self, dim: str, steps: int = 1) -> Tensor:
        """The tensor that many positions earlier along a dimension.

        >>> with Model(coords={"day": 3}) as model:
        ...     Tensor(Dim("day") * 2, model).lag("day", 1)
        2*day - 2 over day
        """
        axis = self._axis(dim, "lagged")
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)):
            raise ModelError(f"{self.expr}: a lag of {steps!r} steps; expected a whole number.")
        return _substituted(self, {axis: axis - int(steps)})

    def sum(self, dim: str | Iterable[str]) -> Tensor:
        """The sum over one or more dimensions, by their names."""
        return self._folded(Over, dim, "summed")

    def mean(self, dim: str | Iterable[str]) -> Tensor:
        """The mean over one or more dimensions, by their names."""
        return self.sum(dim) / prod(map(model_of(self).counted, dims_named(dim, str(self.expr))))

    def var(self, dim: str | Iterable[str]) -> Tensor:
        """The mean square deviation from the mean over one or more dimensions, by their names."""
        return ((self - self.mean(dim)) ** 2).mean(dim)

    def std(self, dim: str | Iterable[str]) -> Tensor:
        """The root of `var`."""
        return self.var(dim) ** 0.5

    def prod(self, dim: str | Iterable[str]) -> Tensor:
        """The product over one or more dimensions, by their names."""
        return self._folded(Times, dim, "multiplied")

    def max(self, dim: str | Iterable[str]) -> Tensor:
        """The largest value over one or more dimensions, by their names."""
        return self._folded(Greatest, dim, "compared")

    def min(self, dim: str | Iterable[str]) -> Tensor:
        """The smallest value over one or more dimensions, by their names."""
        return self._folded(Least, dim, "compared")

    def cumsum(self, dim: str) -> Tensor:
        """The running sum along a dimension, the position itself included."""
        axis = self._axis(dim, "summed")
        copy, moved = self._moved(axis)
        return Tensor(Over(AtMost(copy, axis) * moved, copy), self.model, gone=self.gone)

    def cumprod(self, dim: str) -> Tensor:
        """The running product along a dimension, the position itself included."""
        axis = self._axis(dim, "multiplied")
        copy, moved = self._moved(axis)
        shares = Where(AtMost(copy, axis), moved, sp.S.One)
        return Tensor(Times(shares, copy), self.model, gone=self.gone)

    def stick_breaking(self, dim: str, into: str | None = None) -> Tensor:
        """The weights ``v[k] * prod(1 - v[j], j < k)``; with ``into`` also what is left."""
        axis = self._axis(dim, "broken")
        copy, moved = self._moved(axis)
        if into is None:
            _check_not_fixed(self)
            left = Times(Where(Below(copy, axis), 1 - moved, sp.S.One), copy)
            return Tensor(self.expr * left, self.model)
        (pieces,) = model_of(self).dims(into, str(self.expr))
        _check_pieces(self, axis, pieces)
        broken = Where(Equals(copy, pieces), moved, sp.S.One)
        return Tensor(Times(Where(Below(copy, pieces), 1 - moved, broken), copy), self.model)

    def _folded(
        self, fold: Callable[[Expr, Dim], Expr], dims: str | Iterable[str], use: str
    ) -> Tensor:
        expr, gone = self.expr, self.gone
        for dim in dims_named((dims,) if dims is None else dims, str(self.expr)):
            axis = self._axis(dim.name, use)
            expr, gone = fold(expr, axis), tuple(Over(g, axis) for g in gone)
        return Tensor(expr, self.model, gone=gone)

    def _moved(self, axis: Dim) -> tuple[Dim, Expr]:
        """A copy of a dim, and the expression at the copy."""
        copy = copy_of(axis, self.expr.atoms(sp.Symbol))
        return copy, substitute(self.expr, {axis: copy})

    def _axis(self, dim: str, use: str) -> Dim:
        if not isinstance(dim, str) or dim not in self.dims:
            raise ModelError(
                f"{self.expr}: {use} along {dim!r}, but its dimensions are "
                f"{', '.join(self.dims) or 'none'}; name one of them."
            )
        return Dim(dim)


def as_tensor(value: object, owner: str = "expression") -> Tensor:
    """A tensor or a number as a tensor; raw arrays are refused, as their axes have no names."""
    if isinstance(value, Tensor):
        return value
    axes = count_axes(value)
    if axes == 0 and isinstance(value, (int, float, np.number, np.bool_, np.ndarray)):
        return Tensor(finite_number(value, owner))
    if axes > 0:
        raise ModelError(
            f"{owner}: found an array of shape {shape_of(value)}, whose axes have no names; "
            'expected a number or a tensor: wrap it as gp.Data("name", values, dims=...).'
        )
    raise ModelError(
        f"{owner}: found {shown(value)}; expected a number or a tensor of the model (a "
        "distribution becomes one when it is given a name)."
    )


def combined(function: Callable[..., Expr], *values: Value) -> Tensor:
    """A function of tensors and numbers, broadcast by the names of the dimensions."""
    tensors = [as_tensor(v) for v in values]
    expr = sp.sympify(function(*(t.expr for t in tensors)))
    if expr.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I):
        raise ModelError(
            f"expression of {', '.join(str(t.expr) for t in tensors)}: its value is {expr}; "
            "expected a finite real number."
        )
    return Tensor(expr, common_model(tensors), gone=gone_from(expr, tensors))


def gone_from(expr: Expr, tensors: Iterable[Tensor]) -> tuple[Expr, ...]:
    """The operands with dims that an expression has lost, because terms have cancelled out."""
    made_of = dict.fromkeys(e for t in tensors for e in (t.expr, *t.gone))
    return tuple(e for e in made_of if not dims_of(e) <= dims_of(expr))


def common_model(tensors: Iterable[Tensor]) -> Model | None:
    """The model that the tensors belong to (numbers belong to none)."""
    tensors = tuple(tensors)
    models = list(dict.fromkeys(t.model for t in tensors if t.model is not None))
    if len(models) > 1:
        found = dict.fromkeys(str(t.expr) for t in tensors if t.expr.free_symbols)
        raise ModelError(
            f"{', '.join(found)}: found together with tensors of another model "
            f"({', '.join(repr(m) for m in models)}) in one expression; declare them in one model."
        )
    return models[0] if models else None


def own_tensor(model: Model, name: str, value: object) -> Tensor:
    """A tensor of this model."""
    tensor = as_tensor(value, name)
    common_model((tensor, Tensor(sp.S.Zero, model)))
    return Tensor(tensor.expr, model, tensor.of, gone=tensor.gone)


def _axis_for(tensor: Tensor, index: Position) -> str:
    """The dimension that an index points into."""
    if isinstance(index, slice | EllipsisType):
        raise ModelError(
            f"{tensor.expr}: reading a slice is refused: positions are absolute; the lag says "
            'what is meant: x.lag("time", 1).'
        )
    if isinstance(index, Tensor):
        return str(_dim_pointed_into(tensor, index))
    if count_axes(index) > 0:
        raise ModelError(
            f"{tensor.expr}: indexed by an array of shape {shape_of(index)}; declare it: "
            'gp.Index("name", codes, of="dim", dims=...).'
        )
    if len(tensor.dims) != 1:
        raise ModelError(
            f"{tensor.expr}: position {index!r} of a tensor with the dimensions "
            f"{', '.join(tensor.dims) or 'none'}; name the one meant: .at(\"dim\", {index!r})."
        )
    return str(tensor.dims[0])


def _dim_pointed_into(tensor: Tensor, index: Tensor) -> Dim:
    if index.of is None:
        raise ModelError(
            f"{tensor.expr}: indexed by {index.expr}, which does not say which dimension it points "
            'into; declare it with of="dim" (gp.Index, or the event of a Categorical).'
        )
    for dim in (index.of, primed(index.of)):
        if dim.name in tensor.dims:
            return dim
    raise ModelError(
        f"{tensor.expr}: indexed by {index.expr}, which points into {index.of.name!r}, but its "
        f"dimensions are {', '.join(tensor.dims) or 'none'}; use an index of one of these, or "
        '.at("dim", index).'
    )


def _gathered(tensor: Tensor, axis: Dim, index: Tensor) -> Tensor:
    model = common_model((tensor, index))
    assert model is not None
    if index.of is None or not model.are_alike(index.of, axis):
        found = "no dimension" if index.of is None else f"{index.of.name!r}"
        raise ModelError(
            f"{tensor.expr}: indexed along {axis.name!r} by {index.expr}, which points into "
            f'{found}; expected an index of {base(axis)!r}: declare it with of="{base(axis)}".'
        )
    read = _substituted(tensor, {axis: index.expr}, model)
    return replace(read, gone=(*read.gone, *index.gone))


def _substituted(
    tensor: Tensor, mapping: Mapping[Expr, Expr], model: Model | None = None
) -> Tensor:
    """The tensor with other indices in the place of dims."""
    expr, *gone = (substitute(e, mapping) for e in (tensor.expr, *tensor.gone))
    return Tensor(expr, model or tensor.model, tensor.of, gone=tuple(gone))


def _check_not_fixed(tensor: Tensor) -> None:
    """No share of the stick is a known number: after a share of 1, nothing is left to break."""
    fixed = {str(c.target.array) for c in model_of(tensor).declared.constants}
    if found := sorted(fixed & {str(leaf.array) for leaf in tensor.expr.atoms(Leaf)}):
        raise ModelError(
            f"{tensor.expr}: broken, but {', '.join(found)} has regions that are known numbers; "
            'for weights of sum one give each break a distribution, and what is left to into="dim".'
        )


def _check_pieces(tensor: Tensor, axis: Dim, pieces: Dim) -> None:
    """One more weight than there are breaks."""
    model = model_of(tensor)
    if model.counted(pieces) != model.counted(axis) + 1 or pieces.name in tensor.dims:
        raise ModelError(
            f"{tensor.expr}: broken along {axis.name!r} (size {model.size(axis)}) into "
            f"{pieces.name!r} (size {model.size(pieces)}); expected another dimension with one "
            "more position, for what is left of the stick."
        )


def model_of(tensor: Tensor) -> Model:
    """The model that a tensor with dimensions belongs to."""
    assert tensor.model is not None
    return tensor.model

