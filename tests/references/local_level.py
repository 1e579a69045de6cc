"""The local level exactly: a Kalman filter and smoother for each of a grid of both variances."""

import numpy as np
from scipy.optimize import minimize

from references.quadrature import expectations


def means(flow, positions, start=(1000, 1e-6), noise_prior=(2, 15_000), level_prior=(2, 1500)):
    """The posterior means of both variances and of the levels at some positions."""
    noise, walk = np.meshgrid(np.linspace(6, 13, 141), np.linspace(3, 13, 201), indexing="ij")
    smoothed, log_density = smoother(np.asarray(flow, float), np.exp(noise), np.exp(walk), *start)
    # Gamma on a precision, on the grid of the log variance.
    for log_variance, (shape, rate) in ((noise, noise_prior), (walk, level_prior)):
        log_density = log_density - shape * log_variance - rate * np.exp(-log_variance)
    levels = {f"level[{t}]": smoothed[t] for t in positions}
    variances = {"variance_flow": np.exp(noise), "variance_level": np.exp(walk)}
    return expectations(log_density, **variances, **levels)


def smoother(y, noise, walk, start_mean, start_precision):
    """The smoothed levels (position, ...) and the log likelihood; NaN is a missing value.

    R. E. Kalman (1960); the way back is that of H. E. Rauch, F. Tung and C. T. Striebel (1965).
    """
    mean, variance = np.full_like(noise, start_mean), np.full_like(noise, 1 / start_precision)
    log_likelihood, filtered = np.zeros_like(noise), []
    for t, value in enumerate(y):
        if t:
            variance = variance + walk
        if np.isfinite(value):
            total = variance + noise
            log_likelihood -= 0.5 * (np.log(total) + (value - mean) ** 2 / total)
            gain = variance / total
            mean, variance = mean + gain * (value - mean), variance * (1 - gain)
        filtered.append((mean, variance))
    smoothed = [mean]
    for mean, variance in reversed(filtered[:-1]):
        smoothed.append(mean + variance / (variance + walk) * (smoothed[-1] - mean))
    return np.array(smoothed[::-1]), log_likelihood


def likeliest(flow):
    """Both variances by maximum likelihood, the first level taken as flat."""
    y = np.asarray(flow, float)

    def minus(logs):
        noise, walk = np.exp(logs)
        return -float(smoother(y, np.array(noise), np.array(walk), y[0], 1e-9)[1])

    found = minimize(minus, np.log([1e4, 1e3]), method="Nelder-Mead", options={"xatol": 1e-8})
    return np.exp(found.x)
