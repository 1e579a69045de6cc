"""The hidden Markov model of earthquakes, exactly: labels summed out by the forward algorithm.

What is left, two rates and two probabilities of staying, is integrated on a grid, in coordinates
in which the posterior density is close to normal (logs and logits): sums over a grid that is finer
than a standard deviation then converge faster than any power of its spacing.
"""

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln

from references.quadrature import expectations

# Spacing and reach of the grid, in standard deviations of each coordinate: that of a state that the
# chain hardly ever leaves has a long tail.
SPACING, REACH = 0.8, ((10, 10), (10, 10), (6, 14), (6, 14))


def log_forward(log_rates, logits, counts, known=None):
    """The log likelihood of rates and probabilities of staying (state first), labels summed out.

    ``known``: a year, and the state that it is known to be in.
    """
    rates = np.exp(log_rates)
    stay, leave = 1 / (1 + np.exp(-logits)), 1 / (1 + np.exp(logits))
    total, now = 0.0, np.full_like(rates, 0.5)
    for year, count in enumerate(counts):
        if year:
            now = now * stay + (now * leave)[::-1]
        density = np.exp(count * log_rates - rates - gammaln(count + 1))
        if known is not None and known[0] == year:
            density[1 - known[1]] = 0.0
        now = now * density
        size = now.sum(axis=0)
        total, now = total + np.log(size), now / size
    return total


def log_posterior(log_rates, logits, counts, shape, rate, known=None):
    """The log posterior density of logs and logits, up to a constant; the lower rate first."""
    prior = shape * log_rates - rate * np.exp(log_rates)
    uniform = -np.logaddexp(0, logits) - np.logaddexp(0, -logits)
    found = (prior + uniform).sum(axis=0) + log_forward(log_rates, logits, counts, known)
    return np.where(log_rates[0] <= log_rates[1], found, -np.inf)


def means(counts, year, shape, rate):
    """The posterior means of both rates (lower first), of staying, and of ``year`` being busy."""
    counts = np.asarray(counts, float)

    def density(point, known=None):
        return log_posterior(point[:2], point[2:], counts, shape, rate, known)

    start = np.array([*np.log(np.quantile(counts, [0.3, 0.9])), 2.0, 2.0])
    mode = minimize(lambda x: -density(x), start, method="Nelder-Mead", options={"xatol": 1e-6})
    spread = np.sqrt(np.diag(np.linalg.inv(-_second_derivatives(density, mode.x))))
    axes = [
        m + s * np.arange(-down, up + SPACING / 2, SPACING)
        for m, s, (down, up) in zip(mode.x, spread, REACH, strict=True)
    ]
    points = np.array(np.meshgrid(*axes, indexing="ij"))
    log_density = density(points)
    busy = np.exp(density(points, known=(year, 1)) - np.maximum(log_density, np.finfo(float).min))
    stay = 1 / (1 + np.exp(-points[2:]))
    return expectations(
        log_density,
        **{f"rate[{k}]": np.exp(points[k]) for k in range(2)},
        **{f"stay[{k}]": stay[k] for k in range(2)},
        busy=busy,
    )


def _second_derivatives(function, at, step=1e-3):
    """The matrix of second derivatives, by differences."""
    unit = step * np.eye(at.size)
    found = np.empty((at.size, at.size))
    for i, j in product(range(at.size), repeat=2):
        signs = product((1, -1), repeat=2)
        found[i, j] = sum(a * b * function(at + a * unit[i] + b * unit[j]) for a, b in signs)
    return found / (4 * step**2)
