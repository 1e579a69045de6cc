"""The functions of the language, on tensors and numbers.

>>> exp(0), minimum(2, 3), step(1)
(1, 2, AtMost(0, 1))
"""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from gibbsppl.algebra.functions import AtMost, Equals, Expit, Maximum, Minimum, Where
from gibbsppl.algebra.functions import Phi as StandardNormalCdf
from gibbsppl.algebra.log_gamma import loggamma as log_gamma
from gibbsppl.arguments import NAME, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.language.tensors import Tensor, Value, as_tensor, combined, model_of


@calls_told(ModelError)
def exp(x: Value) -> Tensor:
    """The exponential."""
    return combined(sp.exp, x)


@calls_told(ModelError)
def log(x: Value) -> Tensor:
    """The natural logarithm."""
    return combined(sp.log, x)


@calls_told(ModelError)
def sqrt(x: Value) -> Tensor:
    """The square root."""
    return combined(sp.sqrt, x)


@calls_told(ModelError)
def abs(x: Value) -> Tensor:  # noqa: A001  (the language's name)
    """The absolute value."""
    return combined(sp.Abs, x)


@calls_told(ModelError)
def logit(p: Value) -> Tensor:
    """The log odds, ``log(p / (1 - p))``."""
    return combined(lambda a: sp.log(a) - sp.log(1 - a), p)


@calls_told(ModelError)
def expit(x: Value) -> Tensor:
    """The inverse of the log odds, ``1 / (1 + exp(-x))``."""
    return combined(Expit, x)


@calls_told(ModelError)
def Phi(x: Value) -> Tensor:  # noqa: N802  (the field's name)
    """The standard normal distribution function."""
    return combined(StandardNormalCdf, x)


@calls_told(ModelError)
def loggamma(x: Value) -> Tensor:
    """The logarithm of the gamma function."""
    return combined(log_gamma, x)


@calls_told(ModelError)
def where(condition: Value, a: Value, b: Value) -> Tensor:
    """``a`` where the condition is 1, ``b`` where it is 0."""
    return combined(Where, condition, a, b)


@calls_told(ModelError)
def minimum(a: Value, b: Value) -> Tensor:
    """The smaller of two numbers."""
    return combined(Minimum, a, b)


@calls_told(ModelError)
def maximum(a: Value, b: Value) -> Tensor:
    """The larger of two numbers."""
    return combined(Maximum, a, b)


@calls_told(ModelError)
def step(x: Value) -> Tensor:
    """1 where ``x >= 0``, else 0."""
    return combined(lambda a: AtMost(sp.S.Zero, a), x)


@calls_told(ModelError)
def equals(a: Value, b: Value) -> Tensor:
    """1 where the two are equal, else 0."""
    return combined(Equals, a, b)


@calls_told(ModelError)
def sum(x: Value, dim: str | Iterable[str]) -> Tensor:  # noqa: A001  (the language's name)
    """The sum over one or more dimensions."""
    return as_tensor(x).sum(dim)


@calls_told(ModelError)
def prod(x: Value, dim: str | Iterable[str]) -> Tensor:
    """The product over one or more dimensions."""
    return as_tensor(x).prod(dim)


@calls_told(ModelError)
def cumsum(x: Value, dim: str) -> Tensor:
    """The running sum along a dimension."""
    return as_tensor(x).cumsum(dim)


@calls_told(ModelError)
def cumprod(x: Value, dim: str) -> Tensor:
    """The running product along a dimension."""
    return as_tensor(x).cumprod(dim)


@calls_told(ModelError, dim=NAME, into=NAME.or_none())
def stick_breaking(v: Value, dim: str, into: str | None = None) -> Tensor:
    """The stick-breaking weights ``v[k] * (1 - v[0]) * ... * (1 - v[k - 1])``.

    ``into`` names a dimension with one more position, whose weight is the rest of the stick, so
    that the weights sum to one. Without ``into`` they sum to one only where the last ``v`` is 1.
    """
    return as_tensor(v).stick_breaking(dim, into)


@calls_told(ModelError, dim=NAME)
def centred(x: Value, dim: str, by: Tensor | None = None) -> Tensor:
    """``x`` minus its mean along a dimension, so that the result sums to zero.

    With ``by``, an index along that dimension, ``x`` minus the mean of each group of positions with
    the same index: the result sums to zero in each group.
    """
    tensor = as_tensor(x)
    total = tensor.sum(dim)
    if by is None:
        return tensor - total / model_of(tensor).counted(dim)
    groups = by.of if isinstance(by, Tensor) else None
    if groups is None or by.dims != (dim,):
        raise ModelError(
            f"centred({tensor.expr}): by={by}; expected an index along {dim!r}: declare "
            f'gp.Index("group", [...], of="groups", dims="{dim}").'
        )
    alike = combined(lambda group: Equals(group, groups), by)
    return tensor - ((tensor * alike).sum(dim) / alike.sum(dim))[by]


min = minimum  # noqa: A001  (the language's name)
max = maximum  # noqa: A001  (the language's name)
