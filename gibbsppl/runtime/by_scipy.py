"""SciPy's own functions, which load ``scipy.special`` when one is called: many a run calls none."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import scipy

from gibbsppl.runtime.types import Numbers

NAMES = (
    "betaincinv", "chndtr", "chndtrix", "expit", "gammainc", "gammaincinv", "gammaln", "logit",
    "nctdtr", "nctdtrit", "ndtr", "ndtri", "stdtrit",
)  # fmt: skip


def _called(name: str) -> Callable[..., Any]:
    """A function of SciPy's that is found when it is called."""

    def called(*args: Any, **kwargs: Any) -> Any:
        return getattr(scipy.special, name)(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    return called


# Those that are called in many places, by their own names.
special = SimpleNamespace(**{name: _called(name) for name in NAMES})


def expit(x: Numbers) -> Numbers:
    """``1 / (1 + exp(-x))``."""
    return scipy.special.expit(x)


def loggamma(x: Numbers) -> Numbers:
    """``log(gamma(x))``."""
    return scipy.special.gammaln(x)


def digamma(x: Numbers) -> Numbers:
    """The derivative of ``log(gamma(x))``."""
    return scipy.special.digamma(x)


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
