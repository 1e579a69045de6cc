"""The logs of the distribution functions of first passages, as `gibbsppl.runtime.passage`."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.passage import ASYMPTOTIC, CLOSE, NODES, SERIES, WEIGHTS

from . import kernel
from .normal_functions import log_one_minus_exp

APART: Mapping[str, str] = {}

ROOT_TWO = math.sqrt(2.0)
ROOT_PI = math.sqrt(math.pi)
LOG_TWO = math.log(2.0)


@kernel
def log_passage_p(z: float, d: float) -> float:
    """The log of ``Phi(z) + exp((w**2 - z**2) / 2) Phi(-w)``, where ``w = z + d``."""
    if z < 0.0:
        scaled = erfcx(-z / ROOT_TWO) + erfcx((z + d) / ROOT_TWO)
        low = -0.5 * z * z + _log(scaled / 2)
        if low < -LOG_TWO:
            return low
    return log_one_minus_exp(_log_difference(z, d))


@kernel
def log_passage_q(z: float, d: float) -> float:
    """The log of ``Phi(-z) - exp((w**2 - z**2) / 2) Phi(-w)``."""
    if z < 0.0:
        below = log_passage_p(z, d)
        if below < -LOG_TWO:
            return log_one_minus_exp(below)
    return _log_difference(z, d)


@kernel
def erfcx(t: float) -> float:
    """``exp(t**2) erfc(t)``, of numbers that are not far below 0."""
    if t >= ASYMPTOTIC:
        return _less_series(t) / (t * ROOT_PI)
    # (the square of a number of few digits has no rounding)
    rough = np.floor(t * 1048576.0) / 1048576.0
    return math.exp(rough * rough) * math.exp((t - rough) * (t + rough)) * math.erfc(t)


@kernel
def _less_series(t: float) -> float:
    """``sqrt(pi) t erfcx(t)`` far out: one less the series of the slope."""
    u = 1.0 / (2.0 * t * t) if t < np.inf else 0.0
    return 1.0 - u * _series(u)


@kernel
def _series(u: float) -> float:
    total = 0.0
    for k in range(len(SERIES) - 1, -1, -1):
        total = total * u + SERIES[k]
    return total


@kernel
def _log_difference(z: float, d: float) -> float:
    """The log of the difference, where it is no more than one half."""
    low, gap = max(z, -2.0) / ROOT_TWO, d / ROOT_TWO
    if gap < CLOSE * max(abs(low), 1.0):
        difference = 0.0
        for n in range(len(NODES)):
            difference += WEIGHTS[n] * _fall(low + gap / 2 + gap / 2 * NODES[n])
        difference *= gap / 2
    else:
        difference = erfcx(low) - erfcx(low + gap)
    return -low * low + _log(difference / 2)


@kernel
def _fall(t: float) -> float:
    """The slope of ``-erfcx``: ``2 / sqrt(pi) - 2 t erfcx(t)``."""
    if t < ASYMPTOTIC:
        return 2.0 / ROOT_PI - 2.0 * t * erfcx(t)
    u = 1.0 / (2.0 * t * t) if t < np.inf else 0.0
    return 2.0 / ROOT_PI * u * _series(u)


@kernel
def _log(x: float) -> float:
    """The logarithm, that of 0 being minus infinity."""
    return -math.inf if x <= 0.0 else math.log(x)
