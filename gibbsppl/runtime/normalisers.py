"""The logs of normalisers that are no elementary functions: Bessel functions and Fox and Wright's.

Their derivatives by the order and by the shape are means of the variable that is integrated. All
are accurate for all arguments: also where the function itself overflows or underflows, and
where SciPy's has no digits. Like `gibbsppl.runtime.functions`, they take arrays that broadcast.

>>> round(float(log_bessel_k(0.5, 2.0) - (math.log(math.pi / 4) / 2 - 2)), 12)
0.0
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.polynomial import Polynomial

from gibbsppl.runtime.types import Floats, Numbers

TINY = float(np.finfo(float).tiny)

# From this order on, the expansion in its inverse has all digits.
LARGE_ORDER = 50.0
# Below this, two terms of the power series have all digits, and SciPy's 1 + x**2 / 4 none of x.
SMALL_ARGUMENT = 1e-4
# Beyond this, at smaller orders, the expansion in 1 / x has all digits; SciPy has none at 1e10.
LARGE_ARGUMENT = 1e5

LOG_ROOT_2_PI = math.log(2 * math.pi) / 2
LOG_ROOT_HALF_PI = math.log(math.pi / 2) / 2


def log_bessel_i(order: Numbers, x: Numbers) -> Numbers:
    """The log of the modified Bessel function I of an order above -1, at x >= 0.

    >>> round(float(log_bessel_i(0.0, 1000.0)), 9)
    995.62730889
    """
    order, x = np.broadcast_arrays(np.asarray(order, float), np.asarray(x, float))
    result = np.array(_by_argument(order, x, 1, _log_scaled_i(order, x), _log_power_i))
    small = x < SMALL_ARGUMENT
    if small.any():
        result[small] = _log_power_i(order[small], x[small])
    return result[()]


def log_bessel_k(order: Numbers, x: Numbers) -> Numbers:
    """The log of the modified Bessel function K of any order, at x > 0.

    >>> round(float(log_bessel_k(-2.0, 1e-200)), 9)
    921.727184378
    """
    order, x = np.broadcast_arrays(np.abs(np.asarray(order, float)), np.asarray(x, float))
    return _by_argument(order, x, -1, _log_scaled_k(order, x), _log_power_k)


def _by_argument(
    order: Floats, x: Floats, sign: int, scipys: Floats, power: Callable[[Floats, Floats], Floats]
) -> Floats:
    """The log of I (sign 1) or K (sign -1): SciPy's, or an expansion where SciPy has no digits."""
    result = np.array(scipys)
    large = order >= LARGE_ORDER
    far = ~large & (x > LARGE_ARGUMENT)
    lost = ~(large | far | np.isfinite(result) | np.isnan(x))
    if large.any():
        result[large] = _log_of_large_order(order[large], x[large], sign)
    if far.any():
        result[far] = _log_of_large_argument(order[far], x[far], sign)
    if lost.any():
        result[lost] = power(order[lost], x[lost])
    return result[()]


def _log_scaled_i(order: Floats, x: Floats) -> Floats:
    """From SciPy's scaled function; ``-inf`` where it underflows."""
    scaled = scipy.special.ive(order, x)
    return scipy.special.xlogy(1.0, np.where(scaled < TINY, 0.0, scaled)) + x


def _log_scaled_k(order: Floats, x: Floats) -> Floats:
    """From SciPy's scaled function; ``inf`` where it overflows."""
    return scipy.special.xlogy(1.0, scipy.special.kve(order, x)) - x


def _log_power_i(order: Floats, x: Floats) -> Floats:
    """``(x / 2)**v / gamma(v + 1) exp(q - ..)``, ``q = x**2 / 4 / (v + 1)``, for small q."""
    q = (x / 2) ** 2 / (order + 1)
    first = scipy.special.xlogy(order, x / 2) - scipy.special.gammaln(order + 1)
    return first + q - q * q / 2 / (order + 2)


def _log_power_k(order: Floats, x: Floats) -> Floats:
    """``gamma(v) (2 / x)**v / 2``: one term is enough where K overflows."""
    return scipy.special.gammaln(order) - math.log(2) - scipy.special.xlogy(order, x / 2)


def _log_of_large_argument(order: Floats, x: Floats, sign: int) -> Floats:
    """Hankel's expansion in 1 / x: DLMF 10.40.1 and 10.40.2."""
    term, total = np.ones_like(x), np.ones_like(x)
    for k in range(1, 12):
        term = -sign * term * ((2 * order) ** 2 - (2 * k - 1) ** 2) / (8 * k) / x
        total = total + term
    constant = -LOG_ROOT_2_PI if sign > 0 else LOG_ROOT_HALF_PI
    return constant - np.log(x) / 2 + sign * x + np.log(total)


def _log_of_large_order(order: Floats, x: Floats, sign: int) -> Floats:
    """Debye's expansion in 1 / v, uniform in ``z = x / v``: DLMF 10.41.3 and 10.41.4."""
    z = x / order
    root = np.hypot(1.0, z)
    exponent = root + scipy.special.xlogy(1.0, z) - np.log1p(root)
    total = np.zeros_like(z)
    for u in reversed(DEBYE):
        total = total * (sign / order) + u(1 / root)
    constant = -LOG_ROOT_2_PI if sign > 0 else LOG_ROOT_HALF_PI
    return constant - np.log(order * root) / 2 + sign * order * exponent + np.log(total)


def _debye(count: int) -> list[Polynomial]:
    """The polynomials ``u_0, u_1, ..`` of the expansion: DLMF 10.41.9."""
    slope, kernel = Polynomial([0, 0, 0.5, 0, -0.5]), Polynomial([0.125, 0, -0.625])
    found = [Polynomial([1.0])]
    for _ in range(count):
        found.append(slope * found[-1].deriv() + (kernel * found[-1]).integ())
    return found


DEBYE = _debye(12)

# The trapezoid rule over the cosh of K: its widest step, and below what no term counts.
WIDEST, LOWEST = 0.125, -42.0
# Beyond this size of order and argument the mean is the peak, to all digits.
PEAKED = 1e17
# How many elements are taken at once: of the rule for K, as many nodes as the widest of them needs.
AT_ONCE_K = 100


def log_bessel_k_by_order(order: Numbers, x: Numbers) -> Numbers:
    """The derivative of `log_bessel_k` by its order, at x > 0: it is odd in the order.

    It is the mean of t under the density ``exp(v t - x cosh(t))`` on the line: DLMF 10.32.9.

    >>> round(float(log_bessel_k_by_order(1.0, 1e-300) - math.log(2e300)), 9)
    -0.577215665
    """
    order, x = np.broadcast_arrays(np.asarray(order, float), np.asarray(x, float))
    size = np.hypot(order, x)
    result = np.where(order == 0, 0.0, _peak_of_cosh(np.abs(order), x))
    inside = (x > 0) & (order != 0) & (size < PEAKED)
    if inside.any():
        result[inside] = _in_parts(_mean_of_cosh, AT_ONCE_K, np.abs(order[inside]), x[inside])
    return np.where(np.isnan(x) | (x < 0), np.nan, np.copysign(result, order))[()]


def _peak_of_cosh(order: Floats, x: Floats) -> Floats:
    """Where ``sinh(t) == v / x``, also if the ratio overflows."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = order / x
        return np.where(ratio < np.inf, np.arcsinh(ratio), np.log(2 * order) - np.log(x))


def _mean_of_cosh(order: Floats, x: Floats) -> Floats:
    """The trapezoid rule over t > 0 for ``t sinh(v t)`` and ``cosh(v t)``, v > 0.

    The integrand falls on both sides of its peak, where ``sinh(t) == v / x``: nodes go from where
    it counts to where it no longer does. With d from the peak on, and r for ``hypot(v, x)``, it
    falls as ``v (sinh(d) - d) + r (cosh(d) - 1)``, of whose parts none cancels.
    """
    root = np.hypot(order, x)
    peak = _peak_of_cosh(order, x)
    step = np.minimum(WIDEST, 0.6 / np.sqrt(root))
    rate = -2 * LOWEST / (root + order)
    first = np.floor(np.maximum(peak - (rate + np.sqrt(rate**2 + 8 * rate)) / 2, 0) / step)
    last = np.ceil((peak + 2 * np.arcsinh(np.sqrt(-LOWEST / 2 / root))) / step)
    t = (first + np.arange(np.max(last - first) + 1)) * step
    with np.errstate(over="ignore", under="ignore"):
        above, below = (root + order) / 2, x * (x / (root + order)) / 2
        fall = -above * _curved(t - peak) - below * _curved(peak - t)
        share = np.where(t == 0, 0.5, 1.0) * np.exp(fall)
    odd = -np.expm1(-2 * order * t)
    return (t * share * odd).sum(-1) / (share * (2 - odd)).sum(-1)


# The trapezoid rule of `log_fox_wright`: its nodes, and how many elements are taken at once.
STEP = 1 / 16
NODES = np.arange(-36.0, 3.5, STEP)
AT_ONCE = 1000


def log_fox_wright(a: Numbers, z: Numbers) -> Numbers:
    """The log of the sum over k of ``gamma((a + k) / 2) z**k / k!``, for a > 1e-13 and any z.

    It is the log of twice the integral of ``x**(a - 1) exp(z x - x**2)`` over x > 0.

    >>> round(float(log_fox_wright(2.0, 0.0)), 12)
    0.0
    """
    a, z = np.broadcast_arrays(np.asarray(a, float), np.asarray(z, float))
    return _in_parts(_log_peaked_integral, AT_ONCE, a, z)


def log_fox_wright_by_shape(a: Numbers, z: Numbers) -> Numbers:
    """The derivative of `log_fox_wright` by a, which is a mean of ``log x``.

    It is that under the density in proportion to ``x**(a - 1) exp(z x - x**2)``.

    >>> round(float(log_fox_wright_by_shape(2.0, 0.0)), 9)
    -0.288607832
    """
    a, z = np.broadcast_arrays(np.asarray(a, float), np.asarray(z, float))
    return _in_parts(_mean_log_of_peaked, AT_ONCE, a, z)


def _in_parts(
    of: Callable[[Floats, Floats], Floats], at_once: int, first: Floats, other: Floats
) -> Numbers:
    """A function of columns at so many elements at once, of arrays of one shape."""
    flat = np.empty(first.size)
    for start in range(0, first.size, at_once):
        part = slice(start, start + at_once)
        flat[part] = of(first.ravel()[part, None], other.ravel()[part, None])
    return flat.reshape(first.shape)[()]


def _log_peaked_integral(a: Floats, z: Floats) -> Floats:
    """The log of the integral, from the weights of nodes about its peak."""
    centre, width, _, weights = _peaked(a, z)
    height = a * np.log(centre) + (z - centre) * centre + np.log(2 * width)
    return height[:, 0] + np.log(weights.sum(-1) * STEP)


def _mean_log_of_peaked(a: Floats, z: Floats) -> Floats:
    """The mean of ``log x`` over the nodes."""
    centre, _, d, weights = _peaked(a, z)
    return np.log(centre)[:, 0] + (weights * d).sum(-1) / weights.sum(-1)


def _peaked(a: Floats, z: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The trapezoid rule over ``d = log(x / centre)``, in units of the width of the peak there.

    Centre, width, d of each node and its weight. The integrand over ``log x`` has one peak: the
    centre. Where a < 1 its lower tail is nearly flat, and the centre is the peak that a = 1 has,
    above that tail. A sinh stretches the unit, for the tail decays as slowly as ``x**a``.
    """
    above = np.maximum(a, 1.0)
    root = np.hypot(z, np.sqrt(8 * above))
    with np.errstate(divide="ignore"):
        centre = np.where(z > 0, (root + z) / 4, 2 * above / (root - z))
    width = 1 / np.sqrt(centre) / np.sqrt(root)
    beyond = np.log((2 * centre + np.maximum(z, 0) + 40) / centre)  # where the integrand is 0
    d = np.minimum(width * np.sinh(NODES), beyond)
    weights = np.exp(_fall(d, a, above, z, centre)) * np.cosh(NODES)
    return centre, width, d, weights


def _fall(d: Floats, a: Floats, above: Floats, z: Floats, centre: Floats) -> Floats:
    """The log of the integrand at ``centre * exp(d)``, that at the centre taken off.

    Near the centre the terms linear in d cancel: ``above == 2 centre**2 - z centre``.
    """
    near = np.clip(d, -1, 1)
    curved = z * centre * _curved(near) - centre**2 * _curved(2 * near)
    away = a * d + z * centre * np.expm1(d) - centre**2 * np.expm1(2 * d)
    return np.where(near == d, (a - above) * near + curved, away)


def _curved(d: Floats) -> Floats:
    """``exp(d) - 1 - d``, by its series where d is small."""
    small = np.clip(d, -0.2, 0.2)
    series = np.ones_like(d)
    for k in range(14, 2, -1):
        series = 1 + small / k * series
    return np.where(small == d, small**2 / 2 * series, np.expm1(d) - d)
