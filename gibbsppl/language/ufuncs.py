"""The uses of tensors by Python and NumPy: operators are defined, all else is refused.

A tensor has no values while the model is declared, so that nothing may take it for a number or for
an array without axes, which most functions of NumPy would return as it is.

>>> operator_of(np.add, "__call__", "a", {})(1, 2)
3
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from gibbsppl.errors import ModelError

_OPERATORS: Mapping[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}

_FILLED = "x = gp.Array(...) and fill its regions: x[0] = ..., x[1:] = ..."

# The name of a function in NumPy or SciPy -> how the language writes it.
_WRITTEN: Mapping[str, str] = {
    "exp": "gp.exp(x)",
    "log": "gp.log(x)",
    "sqrt": "gp.sqrt(x)",
    "minimum": "gp.minimum(x, y)",
    "maximum": "gp.maximum(x, y)",
    "expit": "gp.expit(x)",
    "logit": "gp.logit(x)",
    "ndtr": "gp.Phi(x)",
    "gammaln": "gp.loggamma(x)",
    "square": "x**2",
    "reciprocal": "1 / x",
    "log1p": "gp.log(1 + x)",
    "expm1": "gp.exp(x) - 1",
    "equal": "gp.equals(x, y)",
    "not_equal": "1 - gp.equals(x, y)",
    "add.reduce": 'x.sum("dim")',
    "multiply.reduce": 'x.prod("dim")',
    "sum": 'x.sum("dim")',
    "prod": 'x.prod("dim")',
    "cumsum": 'x.cumsum("dim")',
    "cumprod": 'x.cumprod("dim")',
    "cumulative_sum": 'x.cumsum("dim")',
    "cumulative_prod": 'x.cumprod("dim")',
    "mean": 'x.mean("dim")',
    "std": 'x.std("dim")',
    "var": 'x.var("dim")',
    **dict.fromkeys(("max", "amax", "maximum.reduce"), 'x.max("dim")'),
    **dict.fromkeys(("min", "amin", "minimum.reduce"), 'x.min("dim")'),
    **dict.fromkeys(("concatenate", "stack", "hstack", "vstack", "column_stack"), _FILLED),
    **dict.fromkeys(("transpose", "swapaxes", "moveaxis"), "x: axes are matched by their names"),
    **dict.fromkeys(("reshape", "ravel", "take", "repeat", "tile"), "x[index] with a gp.Index"),
    "diff": 'x - x.lag("dim", 1)',
    "roll": 'x.lag("dim", 1)',
    "logical_and": "a * b",
    "logical_or": "gp.maximum(a, b)",
    "logical_not": "1 - a",
    "sign": "gp.where(x > 0, 1, -1)",
    "tanh": "2 * gp.expit(2 * x) - 1",
    "logaddexp": "gp.log(gp.exp(x) + gp.exp(y))",
    "logsumexp": 'gp.log(gp.exp(x).sum("dim"))',
    "softmax": 'gp.exp(x) / gp.exp(x).sum("dim")',
    "inv": "tau= for a precision, cov= for a covariance: neither has to be inverted",
    "average": '(w * x).sum("dim") / w.sum("dim")',
    "where": "gp.where(condition, x, y)",
    "clip": "gp.minimum(gp.maximum(x, low), high)",
    **dict.fromkeys(("matmul", "dot", "vdot", "inner", "vecdot"), '(x * y).sum("dim"), or x @ y'),
    **dict.fromkeys(("matvec", "vecmat", "tensordot", "einsum"), '(x * y).sum("dim")'),
    "outer": "x * y, whose dimensions are those of both",
}

_NO_VALUES = "a tensor has no values while the model is declared"


def operator_of(
    ufunc: np.ufunc, method: str, found: object, options: Mapping[str, object]
) -> Callable[..., Any]:
    """The operator of a NumPy function, or an error that names the alternative."""
    if method == "__call__" and ufunc in _OPERATORS and not options:
        return _OPERATORS[ufunc]
    if method == "__call__" and ufunc in _OPERATORS:
        raise ModelError(
            f"{found}: found in {ufunc.__name__} of NumPy with {', '.join(map(str, options))}; "
            "expected tensors and numbers alone: write the operator, such as x + y."
        )
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    raise _error_of(name, found)


def _error_of(name: str, found: object) -> ModelError:
    """The error of a function of NumPy or SciPy that was given a tensor."""
    instead = f"write {_WRITTEN[name]}" if name in _WRITTEN else "use the functions of gibbsppl"
    return ModelError(f"{found}: found in {name} of NumPy or SciPy; {_NO_VALUES}: {instead}.")


class Unevaluated:
    """An object without values yet: Python and NumPy may make no number and no array of it."""

    __slots__ = ()

    def __array_function__(
        self, function: Callable[..., object], types: object, args: object, kwargs: object
    ) -> NoReturn:
        """NumPy's functions that are no operators."""
        raise _error_of(function.__name__, self)

    if not TYPE_CHECKING:  # (to a type checker this is no array)

        def __array__(self, *_: object, **__: object) -> NoReturn:
            """What NumPy takes an array from."""
            raise ModelError(
                f"{self}: found where numbers are needed, or in a list; {_NO_VALUES}: name the "
                "axes of numbers by gp.Data, and fill the regions of a gp.Array with what differs "
                "by position."
            )


def _refused(sign: str, instead: str) -> Callable[..., NoReturn]:
    """A method that refuses what Python writes as a sign or a function."""

    def method(self: Unevaluated, *_: object) -> NoReturn:
        raise ModelError(f"{self}: found in {sign}; {_NO_VALUES}: {instead}.")

    return method


_INDICATORS = "indicators are numbers, of which a * b is and, 1 - a is not"
_REFUSED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "a number of Python (float, int, math)": (
        ("float", "int", "index", "complex", "round", "trunc", "floor", "ceil"),
        "use the functions of gibbsppl, such as gp.exp(x)",
    ),
    "len() or in": (("len", "contains"), 'name the dimension, as in x.sum("dim")'),
    "// or %": (
        ("floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod"),
        "compute it from data before the model is declared",
    ),
    "&, |, ^ or ~": (
        ("and", "rand", "or", "ror", "xor", "rxor", "invert"),
        _INDICATORS,
    ),
}
for _sign, (_methods, _instead) in _REFUSED.items():
    for _name in _methods:
        setattr(Unevaluated, f"__{_name}__", _refused(_sign, _instead))
