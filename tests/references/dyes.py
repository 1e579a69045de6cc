"""The one-way layout, exactly: given both precisions the level and the batches are normal."""

import numpy as np

from references.quadrature import expectations


def means(yields, shape=1e-3, rate=1e-3):
    """The posterior means of theta (its prior taken as flat), of 1/tau_within and of f_between."""
    y = np.asarray(yields, float)
    batches, size = y.shape
    averages = y.mean(axis=1)
    within = ((y - averages[:, None]) ** 2).sum()
    between = ((averages - averages.mean()) ** 2).sum()
    # The precision between batches has a long tail to the right, the prior's own.
    s, b = np.meshgrid(np.linspace(-11, -5, 601), _between_grid(shape, rate), indexing="ij")
    tau_within, tau_between = np.exp(s), np.exp(b)
    variance = 1 / tau_between + 1 / (size * tau_within)
    log_density = (
        shape * (s + b)
        - rate * (tau_within + tau_between)
        + batches * (size - 1) / 2 * s
        - tau_within * within / 2
        - (batches - 1) / 2 * np.log(variance)
        - between / (2 * variance)
    )
    share = tau_within / (tau_within + tau_between)
    # Given the precisions theta is normal about the mean of all.
    theta = np.full_like(s, y.mean())
    return expectations(log_density, theta=theta, variance_within=1 / tau_within, f_between=share)


def _between_grid(shape, rate):
    """Log precisions, from where the batches differ wildly to the end of the prior's tail."""
    return np.linspace(-22, np.log(30 / rate) + 3 * shape, 3001)
