"""Draws of one number of less common families: those of `gibbsppl.runtime.special`, one at a time.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> float(round(generalized_inverse_gaussian(rng, -0.5, -1e180, -1e200)))
10000000000.0
"""

from __future__ import annotations

from collections.abc import Mapping
from math import atan, atan2, copysign, inf, log, log1p, nan, pi, sqrt

import numpy as np

from gibbsppl.runtime.draws import HUGE, SMALL_SHAPE, TINY
from gibbsppl.runtime.special import BELOW_PI
from gibbsppl.runtime.types import Generator

from . import kernel
from .draws import log_gamma_of
from .elementary import at_least, at_most, between, from_log, log_of, log_ratio, scaled
from .powers import (
    logistic,
    powers,
    require_finite,
    require_interval,
    rising_line,
    rising_powers,
    rising_square,
)

_ROUNDS = "whole arrays are drawn in rounds, the rejected elements again"
APART: Mapping[str, str] = {
    "generalized_inverse_gaussian": _ROUNDS,
    "truncated_generalized_inverse_gaussian": _ROUNDS,
    "inverse_gaussian": "whole arrays have all their normal numbers before all their uniform ones",
    "modified_half_normal": _ROUNDS,
    "truncated_modified_half_normal": _ROUNDS,
    "beta_prime": "whole arrays have all the gammas of one shape before those of the other",
    "truncated_beta_prime": _ROUNDS,
    "von_mises": _ROUNDS,
}


@kernel
def generalized_inverse_gaussian(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x + eta_3 / x`` on x > 0."""
    return truncated_generalized_inverse_gaussian(rng, eta_1, eta_2, eta_3, 0.0, inf)


@kernel
def truncated_generalized_inverse_gaussian(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x + eta_3 / x`` between bounds.

    The natural parameters may have any signs where the bounds make the integral finite.
    """
    lower, upper = at_least(lower, 0.0), float(upper)
    require_interval(lower, upper)
    p = eta_1 + 1.0
    low = eta_3 < 0.0 or (eta_3 == 0.0 and p > 0.0) or lower > 0.0
    high = eta_2 < 0.0 or (eta_2 == 0.0 and p < 0.0) or upper < inf
    require_finite(low and high and -inf < p + eta_2 + eta_3 < inf)
    if eta_2 > 0.0:
        x = rising_line(rng, eta_1, eta_2, eta_3, lower, upper)
    elif eta_3 > 0.0:
        first = 1.0 / upper
        x = 1.0 / rising_line(rng, -eta_1 - 2.0, eta_3, eta_2, first, _inverse(lower))
    else:
        log_mode = _log_mode(p, -eta_2, -eta_3)
        x = powers(rng, p, (-eta_2, -eta_3, -1.0), log_mode, lower, upper)
    return between(x, lower, upper)


@kernel
def _inverse(x: float) -> float:
    """``1 / x``, at most the largest number."""
    return 1.0 / x if x * HUGE > 1.0 else HUGE


@kernel
def _log_mode(p: float, a: float, b: float) -> float:
    """The log of the mode of log(x), which solves ``p = a x - b / x``, without a difference."""
    if p == 0.0:
        log_mode = (log_of(b) - log_of(a)) / 2 if a > 0.0 or b > 0.0 else nan
    else:
        root = log(abs(p) / 2 + float(np.hypot(p / 2, sqrt(a) * sqrt(b))))
        log_mode = root - log_of(a) if p > 0.0 else log_of(b) - root
    return -inf if log_mode != log_mode else log_mode  # noqa: PLR0124  # NaN


@kernel
def inverse_gaussian(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 x + eta_2 / x - 3 log(x) / 2``; ``eta_1`` may be 0.

    With y chi-squared, the two x of (x - mu)^2 / (mu^2 x) = y / shape have the product mu^2, and
    the smaller one is taken with probability mu / (mu + x): Michael, Schucany and Haas (1976).
    """
    if not (eta_1 <= 0.0 and eta_2 < 0.0):
        raise ValueError("an inverse Gaussian draw needs eta_1 <= 0 and eta_2 < 0")
    rate = sqrt(-eta_1) / sqrt(-eta_2)  # 1 / mu
    z = rng.standard_normal()
    half = at_most(z * z / 4.0 / -eta_2, HUGE)  # y / (2 shape)
    # (1 / the smaller x)
    inverse = at_least(rate + half + sqrt(half) * sqrt(2.0 * rate + half), TINY)
    smaller = rng.random() * (rate + inverse) <= inverse
    x = 1.0 / inverse if smaller else inverse / rate / rate
    return at_most(at_least(x, TINY), HUGE)


@kernel
def modified_half_normal(rng: Generator, eta_1: float, eta_2: float, eta_3: float) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x + eta_3 x**2`` on x > 0."""
    return truncated_modified_half_normal(rng, eta_1, eta_2, eta_3, 0.0, inf)


@kernel
def truncated_modified_half_normal(
    rng: Generator, eta_1: float, eta_2: float, eta_3: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 x + eta_3 x**2``, x > 0, between bounds.

    The natural parameters may have any signs where the bounds make the integral finite.
    """
    lower, upper = at_least(lower, 0.0), float(upper)
    require_interval(lower, upper)
    falls = eta_3 < 0.0 or (
        eta_3 == 0.0 and (eta_2 < 0.0 or (eta_2 == 0.0 and eta_1 < -1.0))
    )
    proper = (falls or upper < inf) and (eta_1 > -1.0 or lower > 0.0)
    require_finite(proper and -inf < eta_1 + eta_2 + eta_3 < inf)
    if eta_3 > 0.0:
        x = rising_square(rng, eta_1, eta_2, eta_3, lower, upper)
    elif eta_2 > 0.0:
        x = rising_powers(rng, eta_1, eta_2, -eta_3, lower, upper)
    else:
        p, half, B, log_mode = eta_1 + 1.0, -eta_2 / 2, -eta_3, -inf
        if p > 0.0:
            root = float(np.hypot(half, sqrt(2.0 * p) * sqrt(B)))
            log_mode = log(p) - log_of(half + root)
        x = powers(rng, p, (-eta_2, B, 2.0), log_mode, lower, upper)
    return between(x, lower, upper)


@kernel
def beta_prime(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 log(1 + x)`` on x > 0."""
    a = eta_1 + 1.0
    b = -eta_2 - a
    if not (a > 0.0 and b > 0.0):
        raise ValueError("a shape of a draw is not positive")
    if a < SMALL_SHAPE or b < SMALL_SHAPE:
        log_first = log_gamma_of(rng, a)
        return from_log(log_first - log_gamma_of(rng, b))
    first, second = rng.standard_gamma(a), rng.standard_gamma(b)
    return at_most(at_least(first / at_least(second, TINY), TINY), HUGE)


@kernel
def truncated_beta_prime(
    rng: Generator, eta_1: float, eta_2: float, lower: float, upper: float
) -> float:
    """A draw with log density ``eta_1 log(x) + eta_2 log(1 + x)``, x > 0, between bounds."""
    lower, upper = at_least(lower, 0.0), float(upper)
    require_interval(lower, upper)
    a = eta_1 + 1.0
    b = -eta_2 - a
    proper = (a > 0.0 or lower > 0.0) and (b > 0.0 or upper < inf)
    require_finite(proper and -inf < a + b < inf)
    mode = inf if a > 0.0 else 0.0
    if a > 0.0 and b > 0.0:
        mode = a / b
    centre = min(max(mode, lower, TINY), upper, HUGE)
    c, d = (centre / (1.0 + centre), 1.0 / (1.0 + centre))
    left, right = log_ratio(lower, centre), log_ratio(upper, centre)
    u = logistic(rng, a, b, c, d, left, right)
    return between(scaled(centre, u), lower, upper)


@kernel
def von_mises(rng: Generator, eta_1: float, eta_2: float) -> float:
    """A draw with log density ``eta_1 cos(x) + eta_2 sin(x)`` on -pi < x < pi.

    Rejection from a wrapped Cauchy distribution (Best and Fisher 1979), written for the half angle:
    its tangent is then a Cauchy number, and a large concentration loses no digits.
    """
    k = float(np.hypot(eta_1, eta_2))
    if not k < inf:
        raise ValueError("a draw of an angle needs a finite concentration")
    accepted, tangent = False, 0.0
    while not accepted:
        tangent = 0.5 / sqrt(0.25 + k) * rng.standard_cauchy()
        # 4 k sin(angle / 2)^2; the ratio of the densities is highest where it is 1, or at 4 k.
        sine = tangent / float(np.hypot(1.0, tangent))
        w, most = 4.0 * (k * sine * sine), min(1.0, 4.0 * k)
        log_ratio_of_densities = (most - w) / 2 + log1p(w) - log1p(most)
        accepted = log_ratio_of_densities >= -rng.standard_exponential()
    x = 2.0 * atan(tangent) + atan2(eta_2, eta_1)
    if abs(x) > pi:
        x -= copysign(2.0 * pi, x)
    return at_most(at_least(x, -BELOW_PI), BELOW_PI)
