"""NumPy's functions on tensors: operators are those of tensors, other functions are refused.

>>> operator_of(np.add, "__call__", "a")(1, 2)
3
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gibbsppl.errors import ModelError

_OPERATORS: Mapping[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.matmul: operator.matmul,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
}

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
    "add.reduce": 'x.sum("dim")',
    "multiply.reduce": 'x.prod("dim")',
    "not_equal": "1 - gp.equals(x, y)",
}


def operator_of(ufunc: Any, method: str, found: Any) -> Callable[..., Any]:
    """The operator that a NumPy function stands for; an error that names what to write instead."""
    if method == "__call__" and ufunc in _OPERATORS:
        return _OPERATORS[ufunc]
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    instead = f"write {_WRITTEN[name]}" if name in _WRITTEN else "use the functions of gibbsppl"
    raise ModelError(
        f"{found}: found in {name} of NumPy or SciPy; a tensor has no values while the model is "
        f"declared: {instead}."
    )
