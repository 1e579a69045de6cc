"""SciPy's own functions, which load ``scipy.special`` when one is called: many a run calls none."""

from __future__ import annotations

import scipy

from gibbsppl.runtime.types import Numbers


def expit(x: Numbers) -> Numbers:
    """``1 / (1 + exp(-x))``."""
    return scipy.special.expit(x)


def loggamma(x: Numbers) -> Numbers:
    """``log(gamma(x))``."""
    return scipy.special.gammaln(x)


def xlogy(x: Numbers, y: Numbers) -> Numbers:
    """``x log(y)``; 0 where ``x`` is."""
    return scipy.special.xlogy(x, y)


def xlog1py(x: Numbers, y: Numbers) -> Numbers:
    """``x log(1 + y)``; 0 where ``x`` is."""
    return scipy.special.xlog1py(x, y)


def normal_cdf(x: Numbers) -> Numbers:
    """The distribution function of the standard normal."""
    return scipy.special.ndtr(x)


def normal_log_cdf(x: Numbers) -> Numbers:
    """The log of the distribution function of the standard normal."""
    return scipy.special.log_ndtr(x)
