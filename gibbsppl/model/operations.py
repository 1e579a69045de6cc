"""The operation that computes an expression's value, and its arguments.

The plain interpreter asks once for each expression, however often the expression is evaluated.

>>> from gibbsppl.algebra.expressions import Array
>>> x, y = (Array(n)[()] for n in "xy")
>>> operation, arguments = operation_of(x + y)
>>> arguments, operation([np.float64(1), np.float64(2)])
((x, y), np.float64(3.0))
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache, partial, reduce

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Expr, Over
from gibbsppl.algebra.functions import FUNCTIONS
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.near_one import called_as, log_of_one_minus, log_parts, terms_of
from gibbsppl.algebra.rounding import may_underflow
from gibbsppl.errors import ModelError
from gibbsppl.runtime import functions

MOST_KEPT = 1 << 14

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Arrays with one axis for each range, or numbers of NumPy.
Arrays = Sequence[Floats]


@lru_cache(maxsize=MOST_KEPT)
def operation_of(expr: Expr) -> tuple[Callable[[Arrays], Floats], tuple[Expr, ...]]:
    """A function of the values of some expressions, and these."""
    match expr:
        case sp.log() if (form := log_of_one_minus(expr.args[0])) is not None:
            return partial(_called, form[0]), (form[1],)
        case sp.log() if (parts := log_parts(expr.args[0])) is not None:
            return _sum_in_order, parts
        case sp.Function() if expr.func in FUNCTIONS:
            name, arguments = called_as(expr)
            return partial(_called, name), arguments
        case sp.Add():
            return _total, terms_of(expr)
        case sp.Mul():
            return partial(product_of, expr.args), expr.args
        case sp.Pow():
            return _power, expr.args
    raise ModelError(f"{expr}: no numerical form of {expr.func.__name__!r} is known.")


def _called(name: str, values: Arrays) -> Floats:
    found = getattr(functions, name)(*map(np.asarray, values))
    return np.asarray(found, dtype=np.float64)[()]


def _power(values: Arrays) -> Floats:
    base, exponent = values
    return base**exponent


def _sum_in_order(values: Arrays) -> Floats:
    return reduce(operator.add, values)


def _total(terms: Arrays) -> Floats:
    """The sum of terms, whole numbers first: small terms added to large ones lose digits.

    >>> _total([np.array([-3.0]), np.array([1e-20]), np.array([3.0])])
    array([1.e-20])
    """
    if len(terms) > 2:
        terms = sorted(terms, key=_has_fractions)
    return reduce(operator.add, terms)


def _has_fractions(term: Floats) -> bool:
    if isinstance(term, np.float64):  # (many times as fast)
        return not term.is_integer()
    return bool((term != np.floor(term)).any())


def product_of(factors: Sequence[Expr], values: Arrays) -> Floats:
    """The product: 0 where a factor is, unless it may be so by rounding and no log is infinite."""
    product = reduce(operator.mul, values)
    is_none = product != product  # noqa: PLR0124  (of numbers, this is ten times as fast as isnan)
    if not (is_none.any() if is_none.ndim else is_none):
        return product
    pairs = list(zip(factors, values, strict=True))
    exact = [v == 0 for f, v in pairs if not may_underflow(f)]
    rounded = [v == 0 for f, v in pairs if may_underflow(f)]
    lost = [np.isnan(v) if isinstance(f, sp.log) else ~np.isfinite(v) for f, v in pairs]
    none = np.zeros_like(product, dtype=bool)
    zero = reduce(np.logical_or, exact, none)
    limit = reduce(np.logical_or, rounded, none) & ~reduce(np.logical_or, lost, none)
    return np.where(np.isnan(product) & (zero | limit), 0.0, product)[()]


@lru_cache(maxsize=MOST_KEPT)
def sums_exponentials(of: Expr) -> bool:
    """Whether an expression is made of a sum of exponentials over a dim, outside of functions.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> k = Dim("k")
    >>> total = Over(sp.exp(Array("x")[k]), k)
    >>> sums_exponentials(2 / (1 + total)), sums_exponentials(1 - sp.exp(-total))
    (True, False)
    """
    if isinstance(of, Over):
        return bool(of.body.has(sp.exp))
    return bool(of.is_Add or of.is_Mul or of.is_Pow) and any(map(sums_exponentials, of.args))


def is_constant(expr: Expr) -> bool:
    """Whether SymPy can make one number of the expression without our functions."""
    if expr.is_Number or expr.is_NumberSymbol:
        return True
    return expr.func in _OF_SYMPY and all(a.is_Number for a in expr.args)


_OF_SYMPY = (sp.log, sp.exp, loggamma, sp.Pow, sp.atan)


def is_power(expr: Expr) -> bool:
    """Whether an expression is an exponential or a power."""
    return bool(expr.is_Pow or isinstance(expr, sp.exp))


def size_of_largest(found: Floats) -> float:
    """The largest of the absolute values."""
    return float(np.abs(found).max(initial=0.0))


def log_determinant(matrix: Floats) -> Floats:
    """The log determinant; ``-inf`` where the matrix is not positive definite."""
    _sign, value = np.linalg.slogdet(matrix)
    return np.where(is_positive_definite(matrix), value, -np.inf)


def is_positive_definite(matrix: Floats) -> Bools:
    """Whether each matrix is square, finite, symmetric up to rounding, and positive definite."""
    if matrix.shape[-2] != matrix.shape[-1]:
        return np.zeros(matrix.shape[:-2], dtype=bool)
    finite = np.isfinite(matrix).all(axis=(-2, -1))
    safe = np.where(np.asarray(finite)[..., None, None], matrix, -np.eye(matrix.shape[-1]))
    transposed = np.swapaxes(safe, -2, -1)
    rounding = 1e-8 * np.abs(safe).max(axis=(-2, -1), keepdims=True)
    symmetric = (np.abs(safe - transposed) <= rounding).all(axis=(-2, -1))
    # (of diagonals of one, whatever the scales of rows)
    diagonal = np.diagonal(safe, axis1=-2, axis2=-1)
    scales = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = (safe + transposed) / 2 / scales[..., None] / scales[..., None, :]
    positive = np.linalg.eigvalsh(scaled).min(axis=-1) > 0
    found: Bools = finite & symmetric & positive
    return found
