"""The normal distribution function of a number, and logs of tails."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from . import kernel

APART: Mapping[str, str] = {}

LOG_2 = math.log(2.0)
HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)

# Where seven terms of the series of the normal tail leave less than a rounding.
FAR = -30.0


@kernel
def log_one_minus_exp(x: float) -> float:
    """``log(1 - exp(x))`` of negative x, with all digits near zero and far below it."""
    if x > -LOG_2:
        return np.log(-np.expm1(x)) if x != 0.0 else -np.inf
    return np.log1p(-np.exp(x))


@kernel
def normal_cdf(x: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-x * SQRT_HALF)


@kernel
def normal_log_cdf(x: float) -> float:
    """The log of the standard normal distribution function, also where that underflows."""
    if x > -1.0:
        return np.log1p(-0.5 * math.erfc(x * SQRT_HALF))
    if not x < FAR:
        return np.log(0.5 * math.erfc(-x * SQRT_HALF))
    if x == -np.inf:
        return x
    y = 1.0 / x / x
    series = 1.0 - 9.0 * y * (1.0 - 11.0 * y * (1.0 - 13.0 * y))
    series = y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y * series)))
    return (-0.5 * x * x - HALF_LOG_2_PI) - np.log(-x) + np.log1p(-series)
