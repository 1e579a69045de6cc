"""The functions of the language, of numbers: the names of `gibbsppl.runtime.functions`."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy import (
    abs,  # noqa: A004  (the name that generated code calls)
    exp,
    sqrt,
)

from gibbsppl.runtime.incomplete import EPS

from . import kernel
from .beta_functions import log_beta_i, log_beta_i_1p, log_gamma_p_of_exp
from .gamma_functions import (
    digamma,
    log_beta,
    log_gamma_p,
    log_gamma_q,
    log_gamma_u,
    log_rising,
    loggamma,
)
from .normal_functions import log_one_minus_exp, normal_cdf, normal_log_cdf
from .normalisers import (
    log_bessel_i,
    log_bessel_k,
    log_bessel_k_by_order,
    log_fox_wright,
    log_fox_wright_by_shape,
)

__all__ = [
    "abs",
    "arctan",
    "at_most",
    "below",
    "cos",
    "digamma",
    "equals",
    "exp",
    "expit",
    "log",
    "log1p",
    "log_add_exp",
    "log_bessel_i",
    "log_bessel_k",
    "log_bessel_k_by_order",
    "log_beta",
    "log_beta_i",
    "log_beta_i_1p",
    "log_cloglog",
    "log_fox_wright",
    "log_fox_wright_by_shape",
    "log_gamma_p",
    "log_gamma_p_of_exp",
    "log_gamma_q",
    "log_gamma_u",
    "log_mass",
    "log_one_minus_exp",
    "log_rising",
    "loggamma",
    "maximum",
    "minimum",
    "normal_cdf",
    "normal_log_cdf",
    "reciprocal",
    "remainder",
    "sin",
    "softplus",
    "sqrt",
    "square",
    "weighted",
    "xlog1py",
    "xlogy",
]

APART: Mapping[str, str] = {}

LOG_2 = math.log(2.0)

# Where half of exp(x), by which log(1 - exp(-exp(x))) is below x, is too small to count in x.
LOW = -40.0


@kernel
def log(x: float) -> float:
    """The natural logarithm; ``-inf`` at 0."""
    return -np.inf if x == 0.0 else np.log(x)


@kernel
def log1p(x: float) -> float:
    """``log(1 + x)`` with all digits of a small x; ``-inf`` at -1."""
    return -np.inf if x == -1.0 else np.log1p(x)


@kernel
def cos(x: float) -> float:
    """The cosine; that of infinity is no number."""
    return math.cos(x) if math.isfinite(x) else math.nan


@kernel
def sin(x: float) -> float:
    """The sine; that of infinity is no number."""
    return math.sin(x) if math.isfinite(x) else math.nan


@kernel
def arctan(x: float) -> float:
    """The angle of a tangent."""
    return math.atan(x)


@kernel
def reciprocal(x: float) -> float:
    """``1 / x``; infinite at 0."""
    return np.copysign(np.inf, x) if x == 0.0 else 1.0 / x


@kernel
def minimum(x: float, y: float) -> float:
    """The smaller of two numbers; NaN if one is."""
    if np.isnan(x) or np.isnan(y):
        return np.nan
    return min(x, y)


@kernel
def maximum(x: float, y: float) -> float:
    """The larger of two numbers; NaN if one is."""
    if np.isnan(x) or np.isnan(y):
        return np.nan
    return max(x, y)


@kernel
def square(x: float) -> float:
    """``x**2``."""
    return x * x


@kernel
def at_most(a: float, b: float) -> float:
    """1.0 where ``a <= b``, else 0.0."""
    return 1.0 if a <= b else 0.0


@kernel
def below(a: float, b: float) -> float:
    """1.0 where ``a < b``, else 0.0."""
    return 1.0 if a < b else 0.0


@kernel
def equals(a: float, b: float) -> float:
    """1.0 where ``a == b``, else 0.0."""
    return 1.0 if a == b else 0.0


@kernel
def remainder(left: float, size: float, terms: int) -> float:
    """What is left of a whole, with 0 in place of negative values within rounding error."""
    return 0.0 if -EPS * terms * size <= left < 0.0 else left


@kernel
def xlogy(x: float, y: float) -> float:
    """``x log(y)``; 0 where x is 0 and y a number."""
    if x == 0.0 and not np.isnan(y):
        return 0.0
    return x * log(y)


@kernel
def xlog1py(x: float, y: float) -> float:
    """``x log(1 + y)``; 0 where x is 0 and y a number."""
    if x == 0.0 and not np.isnan(y):
        return 0.0
    return x * log1p(y)


@kernel
def weighted(weight: float, x: float) -> float:
    """``weight * x``; 0 where the weight is 0, whatever x is."""
    return 0.0 if weight == 0.0 else weight * x


@kernel
def expit(x: float) -> float:
    """``1 / (1 + exp(-x))``."""
    if x < 0.0:
        grown = np.exp(x)
        return grown / (1.0 + grown)
    return 1.0 / (1.0 + np.exp(-x))


@kernel
def softplus(x: float) -> float:
    """``log(1 + exp(x))``, finite for all finite x."""
    if x > 0.0:
        return x + np.log1p(np.exp(-x))
    return np.log1p(np.exp(x))


@kernel
def log_add_exp(x: float, y: float) -> float:
    """``log(exp(x) + exp(y))``, whatever their size."""
    if x == y:
        return x + LOG_2
    larger, smaller = (x, y) if x > y else (y, x)
    return larger + np.log1p(np.exp(smaller - larger))


@kernel
def log_cloglog(x: float) -> float:
    """``log(1 - exp(-exp(x)))``; x itself far below."""
    return x if x < LOW else log_one_minus_exp(-np.exp(x))


@kernel
def log_mass(
    log_cdf_l: float,
    log_cdf_u: float,
    log_sf_l: float,
    log_sf_u: float,
    of_narrow: float = -math.inf,
) -> float:
    """The log probability between two bounds, from the tail in which both are small.

    ``of_narrow`` instead, where a difference of logs leaves few digits.
    """
    larger, smaller = log_sf_l, log_sf_u
    if log_cdf_u < log_sf_l:
        larger, smaller = log_cdf_u, log_cdf_l
    gap = 0.0 if larger == smaller else larger - smaller
    is_narrow = larger > -np.inf and larger - smaller <= np.sqrt(EPS * (1.0 - larger))
    if is_narrow and of_narrow > -np.inf:
        return of_narrow
    return larger + log_one_minus_exp(-gap)
