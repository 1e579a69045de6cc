"""Logs of numbers near 1, accurate to all digits of the distance from 1."""

from __future__ import annotations

import math

import numpy as np
import scipy

from gibbsppl.runtime.types import Numbers


def log1p(x: Numbers) -> Numbers:
    """``log(1 + x)`` with all digits of a small x; ``-inf`` at -1, without a warning.

    >>> float(log1p(1e-30)), float(log1p(-1.0))
    (1e-30, -inf)
    """
    return scipy.special.xlog1py(1.0, x)


def log_one_minus_exp(x: Numbers) -> Numbers:
    """``log(1 - exp(x))`` of negative x, with all digits near zero and far below it.

    M. Maechler (2012), "Accurately computing log(1 - exp(-|a|))", the R package Rmpfr.

    >>> log_one_minus_exp(np.array([-1e-20, -800.0])).round(2)
    array([-46.05,  -0.  ])
    """
    near = np.greater(x, -math.log(2.0))
    with np.errstate(divide="ignore"):
        close = np.log(-np.expm1(np.where(near, x, -1.0)))
    return np.where(near, close, np.log1p(-np.exp(np.where(near, -1.0, x))))


def log_cloglog(x: Numbers) -> Numbers:
    """``log(1 - exp(-exp(x)))``, the log of the inverse complementary log-log; x itself far below.

    >>> log_cloglog(np.array([-1e4, 0.0, 10.0])).round(4)
    array([-1.000e+04, -4.587e-01, -0.000e+00])
    """
    # (half of exp(x), by which it is below x, is too small to count in the digits of x from there)
    is_low = np.less(x, -40.0)
    inner = log_one_minus_exp(-np.exp(np.where(is_low, -40.0, x)))
    return np.where(is_low, x, inner)
