"""The values of an expression of data alone, as an array over named dimensions.

Comes in: an expression, the dims to lay it out along, the data. Goes out: a NumPy array, or
``None`` where the expression is not one of data alone. Only the checks of the language use it.

>>> x, i = Array("x"), Dim("i")
>>> evaluate(x[i] * 2 + 1, (Range(i, 0, 2),), {"x": np.array([1.0, 2.0])}, {i: 2})
array([3., 5.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Extreme,
    Greatest,
    Leaf,
    Least,
    Over,
    Times,
)
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    AtMost,
    Below,
    Equals,
    Expit,
    Maximum,
    Minimum,
    Where,
)
from gibbsppl.algebra.ranges import Range

Values = Mapping[str, np.ndarray]
Positions = Mapping[Dim, np.ndarray]

_FUNCTIONS: Mapping[type[Expr], Callable[..., np.ndarray]] = {
    sp.exp: np.exp,
    sp.log: np.log,
    sp.Abs: np.abs,
    Expit: lambda x: 1 / (1 + np.exp(-x)),
    Where: lambda c, a, b: np.asarray(np.where(c != 0, a, b)),
    Minimum: np.minimum,
    Maximum: np.maximum,
    AtMost: lambda a, b: 1.0 * (a <= b),
    Below: lambda a, b: 1.0 * (a < b),
    Equals: lambda a, b: 1.0 * (a == b),
    sp.Add: lambda *terms: sum(terms[1:], terms[0]),
    sp.Mul: lambda *factors: np.prod(np.broadcast_arrays(*factors), axis=0),
    sp.Pow: lambda b, e: np.power(np.asarray(b, dtype=float), e),
}


def evaluate(
    expr: Expr, over: Sequence[Range], values: Values, sizes: Mapping[Dim, int]
) -> np.ndarray | None:
    """The values of the expression with one axis per range, or None if it is not data alone."""
    if not _is_known(expr, values):
        return None
    axes = {
        r.dim: np.arange(r.start, r.stop, dtype=float).reshape(
            tuple(-1 if i == j else 1 for j in range(len(over)))
        )
        for i, r in enumerate(over)
    }
    with np.errstate(all="ignore"):
        found = np.asarray(_value(expr, axes, values, sizes))
    return np.broadcast_to(found, tuple(map(len, over)))


def _is_known(expr: Expr, values: Values) -> bool:
    """Whether all arrays are data and all functions have a value here."""
    if any(a.name not in values for a in expr.free_symbols if isinstance(a, Array)):
        return False
    known = (*_FUNCTIONS, *FUNCTIONS, Leaf, Over, Times, Greatest, Least)
    return all(
        e.is_number or isinstance(e, (Dim, Array)) or type(e) in known
        for e in sp.preorder_traversal(expr)
    )


def _value(
    expr: Expr, at: Positions, values: Values, sizes: Mapping[Dim, int]
) -> np.ndarray | float:
    match expr:
        case Dim():
            return at[expr]
        case Leaf():
            indices = (np.asarray(_value(i, at, values, sizes), np.intp) for i in expr.indices)
            # (products of whole numbers would overflow)
            return np.asarray(values[expr.array.name][tuple(indices)], dtype=float)
        case Over() | Times() | Extreme():
            (bound,) = expr.bound
            n = sizes[Dim(root_of(bound))]
            inner = {d: positions[..., None] for d, positions in at.items()}
            inner[bound] = np.arange(n, dtype=float)
            body = np.asarray(_value(expr.body, inner, values, sizes))
            body = np.broadcast_to(body, (*body.shape[:-1], n))
            found: np.ndarray = getattr(body, expr.symbol)(axis=-1)
            return found
        case _ if expr.is_number and not expr.args:
            return np.nan if expr is sp.zoo else float(expr)
        case _:
            return _function(expr)(*(_value(a, at, values, sizes) for a in expr.args))


def _function(expr: Expr) -> Callable[..., np.ndarray]:
    """The numerical form of a function; SciPy's are imported when one is met."""
    if type(expr) in _FUNCTIONS:
        return _FUNCTIONS[type(expr)]
    from gibbsppl.runtime import functions  # noqa: PLC0415  (declaring a model needs no SciPy)

    found: Callable[..., np.ndarray] = getattr(functions, FUNCTIONS[type(expr)].numpy)
    return found
