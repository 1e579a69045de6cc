"""Linear regression, exactly: given both precisions the weights are normal."""

import numpy as np

from references.quadrature import expectations


def means(x, y, columns, intercept_precision=1e-2, shape=1e-2, rate=1e-2):
    """The posterior means of intercept, precisions and weights; columns of ``x`` are centred."""
    n, p = x.shape
    assert np.abs(x.mean(axis=0)).max() < 1e-9
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    projected = vectors.T @ (x.T @ y)
    log_tau, log_tau_beta = np.meshgrid(
        np.linspace(-1.5, 2.5, 401), np.linspace(-3, 7, 601), indexing="ij"
    )
    tau, tau_beta = np.exp(log_tau), np.exp(log_tau_beta)
    precision = tau[..., None] * eigenvalues + tau_beta[..., None]
    level_precision = n * tau + intercept_precision
    level = n * tau * y.mean() / level_precision
    log_density = (
        shape * (log_tau + log_tau_beta)
        - rate * (tau + tau_beta)
        + n / 2 * log_tau
        + p / 2 * log_tau_beta
        - tau * (y**2).sum() / 2
        - np.log(precision).sum(axis=-1) / 2
        + (tau[..., None] ** 2 * projected**2 / precision).sum(axis=-1) / 2
        - np.log(level_precision) / 2
        + level_precision * level**2 / 2
    )
    weights = (tau[..., None] * projected / precision) @ vectors.T
    named = {f"beta[{c}]": weights[..., j] for j, c in enumerate(columns)}
    return expectations(log_density, intercept=level, tau=tau, tau_beta=tau_beta, **named)
