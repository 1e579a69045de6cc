"""The normal with unknown mean and precision, exactly: the mean given the precision is normal."""

import numpy as np

from references.quadrature import expectations


def means(y, prior_mean=0.0, prior_precision=1e-4, shape=1e-3, rate=1e-3):
    """The posterior means of mu, tau and sigma."""
    n, average = len(y), np.mean(y)
    spread = ((y - average) ** 2).sum()
    log_tau = np.linspace(-3, 3, 4001) + np.log(n / spread)
    tau = np.exp(log_tau)
    # y given tau alone: its mean is normal with variance 1 / (n tau) + 1 / prior_precision.
    variance = 1 / (n * tau) + 1 / prior_precision
    log_density = (
        shape * log_tau  # the Gamma, and the Jacobian of the log
        - rate * tau
        + (n - 1) / 2 * log_tau
        - tau * spread / 2
        - np.log(variance * n * tau) / 2
        + log_tau / 2
        - (average - prior_mean) ** 2 / (2 * variance)
    )
    mu = (prior_precision * prior_mean + n * tau * average) / (prior_precision + n * tau)
    return expectations(log_density, mu=mu, tau=tau, sigma=tau**-0.5)
