"""The signs of an expression at some points, to skip proofs that must fail.

Comes in: an expression of symbols that are positive or real. Goes out: the signs of its values at
points of different size, where rounding leaves no doubt. A sign at a point proves nothing, but that
the opposite sign cannot be proved.

>>> a, b = sp.Symbol("a", positive=True), sp.Symbol("b", real=True)
>>> signs_taken(a + b**2), sorted(signs_taken(a - b))
({1}, [-1, 1])
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np
import numpy.typing as npt
import scipy
import sympy as sp
from sympy import Add, Mul, Pow

from gibbsppl.algebra.expressions import Expr

# Values, and the size of what was added up to them: rounding errors are relative to it.
Sampled = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]

COUNT = 64
# The logs of the sizes of values are as far apart as this.
LOG_SIZE = 8.0
ROUNDING = 1e-9


def signs_taken(expr: Expr) -> set[int]:
    """1 and -1 if the expression is above or below zero at some point beyond doubt."""
    symbols = sorted(expr.free_symbols, key=sp.default_sort_key)
    rng = np.random.default_rng(0)
    points: dict[Expr, Sampled] = {s: _values_of(s, rng) for s in symbols}
    with np.errstate(all="ignore"):
        found = _sampled(expr, points)
        if found is None:
            return set()
        values, size = found
        doubt = ROUNDING * size
        return {s for s in (1, -1) if np.any(s * values > doubt)}


def _values_of(symbol: Expr, rng: np.random.Generator) -> Sampled:
    size = np.exp(LOG_SIZE * (2 * rng.random(COUNT) - 1))
    sign = 1 if symbol.is_positive else rng.choice((-1, 1), COUNT)
    return sign * size, size


def _sampled(expr: Expr, points: Mapping[Expr, Sampled]) -> Sampled | None:
    """The values at the points; None where there is no rule for a part."""
    if expr in points:
        return points[expr]
    if expr.is_Rational:
        number = np.full(COUNT, float(expr))
        return number, abs(number)
    parts = [_sampled(a, points) for a in expr.args]
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    match expr:
        case Add():
            return sum(v for v, _ in known), sum(s for _, s in known)  # type: ignore[return-value]
        case Mul():
            return reduce(lambda a, b: (a[0] * b[0], a[1] * b[1]), known)
        case Pow() if expr.exp.is_Rational:
            return _power(known[0], float(expr.exp))
        case sp.polygamma() if expr.args[0] == 1:
            # Less steep than the inverse square.
            return _scaled(scipy.special.polygamma(1, known[1][0]), known[1], 2.0)
    return None


def _power(base: Sampled, exponent: float) -> Sampled:
    return _scaled(base[0] ** exponent, base, max(abs(exponent), 1.0))


def _scaled(values: npt.NDArray[np.float64], inner: Sampled, steepness: float) -> Sampled:
    """Values of a function, whose relative errors are those of its argument times a number."""
    return values, abs(values) * steepness * inner[1] / abs(inner[0])
