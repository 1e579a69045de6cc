"""The logs of the distribution functions of first passages: of inverse-Gaussian variables.

With ``z`` and ``w = z + d``, where ``|z| <= w``,

    P(X <= x) = Phi(z) + exp((w**2 - z**2) / 2) Phi(-w),

where the exponential may overflow while the other factor underflows, and the sum may be one less a
small difference. Both cases are written by ``erfcx(t) = exp(t**2) erfc(t)``, and differences of
``erfcx`` by the integral of its slope.

>>> float(log_passage_p(0.0, 1e200) + np.log(2.0)), float(log_passage_q(0.0, 1e200) + np.log(2.0))
(0.0, 0.0)
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from gibbsppl.runtime.near_zero import log_one_minus_exp
from gibbsppl.runtime.types import Floats, Numbers

__all__ = ["log_passage_p", "log_passage_q"]

# From here on the terms below of the asymptotic series of erfcx leave less than a rounding.
ASYMPTOTIC = 12.0
SERIES = tuple((-1.0) ** (k + 1) * math.prod(range(1, 2 * k, 2)) for k in range(1, 15))
# The slope is integrated over less than half of how far it is from the origin, and of one.
CLOSE = 0.5
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def log_passage_p(z: Numbers, d: Numbers) -> Numbers:
    """The log of ``Phi(z) + exp((w**2 - z**2) / 2) Phi(-w)``."""
    z, d = np.broadcast_arrays(np.asarray(z, float), d)
    first, is_low = np.minimum(z, 0.0), z < 0
    with np.errstate(all="ignore"):
        scaled = sum(scipy.special.erfcx(t / math.sqrt(2)) for t in (-first, z + d))
        low = -0.5 * first * first + np.log(scaled / 2)
        is_low = is_low & (low < -math.log(2))
        return np.where(is_low, low, log_one_minus_exp(_log_difference(z, d)))[()]


def log_passage_q(z: Numbers, d: Numbers) -> Numbers:
    """The log of ``Phi(-z) - exp((w**2 - z**2) / 2) Phi(-w)``."""
    z, d = np.broadcast_arrays(np.asarray(z, float), d)
    with np.errstate(all="ignore"):
        below = log_passage_p(z, d)
        is_high = (z < 0) & (below < -math.log(2))
        return np.where(is_high, log_one_minus_exp(below), _log_difference(z, d))[()]


def _log_difference(z: Floats, d: Floats) -> Floats:
    """The log of the difference, where it is no more than one half."""
    low, gap = np.maximum(z, -2.0) / math.sqrt(2), d / math.sqrt(2)
    close = gap < CLOSE * np.maximum(np.abs(low), 1.0)
    middle, half = np.where(close, low + gap / 2, 0.0), np.where(close, gap / 2, 0.0)
    integral = sum(c * _fall(middle + half * t) for t, c in zip(NODES, WEIGHTS, strict=True)) * half
    apart = scipy.special.erfcx(low) - scipy.special.erfcx(low + gap)
    difference = np.where(close, integral, apart)
    return -low * low + np.log(difference / 2)


def _fall(t: Floats) -> Floats:
    """The slope of ``-erfcx``: ``2 / sqrt(pi) - 2 t erfcx(t)``."""
    far = np.maximum(t, ASYMPTOTIC)
    u = 1 / (2 * far * far)
    series = 2 / math.sqrt(math.pi) * u * np.polynomial.polynomial.polyval(u, SERIES)
    return np.where(t < ASYMPTOTIC, 2 / math.sqrt(math.pi) - 2 * t * scipy.special.erfcx(t), series)
