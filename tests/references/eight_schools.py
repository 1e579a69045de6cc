"""Eight schools, exactly: given the sd between schools all else is normal."""

import numpy as np

from references.quadrature import expectations


def means(effects, standard_errors, names, sd_prior="gamma", mean_precision=1e-4):
    """The posterior means of mu, the sd and every school's effect."""
    y, variances = np.asarray(effects, float), np.square(np.asarray(standard_errors, float))
    log_sd, log_prior = _prior(sd_prior)
    precision = 1 / (variances + np.exp(2 * log_sd)[:, None])
    total = mean_precision + precision.sum(axis=1)
    mu = (precision * y).sum(axis=1) / total
    log_density = log_prior + 0.5 * (
        np.log(precision).sum(axis=1)
        - np.log(total)
        - (precision * y**2).sum(axis=1)
        + total * mu**2
    )
    between = np.exp(-2 * log_sd)[:, None]
    theta = (y / variances + between * mu[:, None]) / (1 / variances + between)
    schools = {f"theta[{name}]": theta[:, j] for j, name in enumerate(names)}
    return expectations(log_density, mu=mu, sd=np.exp(log_sd), **schools)


def _prior(sd_prior, shape=0.5, rate=12.5, upper=100.0):
    """An even grid and the log prior on it, Jacobian included; the grid is of log sd."""
    if sd_prior == "uniform":
        # Midpoints of cells up to the bound exactly.
        width = np.log(upper / 1e-8) / 40_000
        log_sd = np.log(upper) - width * (np.arange(40_000)[::-1] + 0.5)
        return log_sd, log_sd
    log_sd = np.linspace(-4, 12, 40_001)
    return log_sd, -2 * shape * log_sd - rate * np.exp(-2 * log_sd)
