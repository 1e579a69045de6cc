"""Pumps, exactly: given alpha and beta the rates are Gamma, and the failures negative binomial."""

import numpy as np
from scipy.special import gammaln

from references.quadrature import expectations


def means(failures, hours, beta_shape=0.1, beta_rate=1.0):
    """The posterior means of alpha, beta and the rates."""
    x, t = np.asarray(failures, float), np.asarray(hours, float)
    log_alpha, log_beta = np.meshgrid(
        np.linspace(-4.5, 2.5, 501), np.linspace(-9, 3.5, 501), indexing="ij"
    )
    alpha, beta = np.exp(log_alpha)[..., None], np.exp(log_beta)[..., None]
    failure_terms = (
        gammaln(alpha + x) - gammaln(alpha) + alpha * np.log(beta) - (alpha + x) * np.log(beta + t)
    ).sum(axis=-1)
    prior = log_alpha - alpha[..., 0] + beta_shape * log_beta - beta_rate * beta[..., 0]
    theta = (alpha + x) / (beta + t)
    rates = {f"theta[{i}]": theta[..., i] for i in range(len(x))}
    return expectations(failure_terms + prior, alpha=alpha[..., 0], beta=beta[..., 0], **rates)
