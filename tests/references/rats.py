"""Rats by hand: each rat's intercept and slope drawn together, the sd uniform or its square's
inverse Gamma."""

import numpy as np


def run(rng, weights, days, draws, sd_prior="gamma", warmup=500):
    """One chain of alpha0 and mu_b, and of the sd of the noise: arrays over draws."""
    weights = np.asarray(weights, float)
    design = np.stack([np.ones(len(days)), np.asarray(days) - np.mean(days)], axis=1)
    state = {"mu": np.array([240.0, 6.0]), "between": np.array([0.01, 10.0]), "noise": 0.03}
    kept = np.empty((3, draws))
    for sweep in range(-warmup, draws):
        _sweep(rng, state, weights, design, sd_prior)
        level, slope = state["mu"]
        kept[:, sweep] = level - np.mean(days) * slope, slope, state["noise"] ** -0.5
    return dict(zip(("alpha0", "mu_b", "sd"), kept, strict=True))


def _sweep(rng, state, weights, design, sd_prior, small=1e-3):
    mu, between, noise = state["mu"], state["between"], state["noise"]
    covariance = np.linalg.inv(noise * design.T @ design + np.diag(between))
    centre = (noise * weights @ design + between * mu) @ covariance
    lines = centre + rng.standard_normal(centre.shape) @ np.linalg.cholesky(covariance).T
    rats = len(lines)
    precision = 1e-4 + rats * between
    state["mu"] = between * lines.sum(axis=0) / precision + rng.normal(size=2) / precision**0.5
    squares = ((lines - state["mu"]) ** 2).sum(axis=0)
    state["between"] = rng.gamma(small + rats / 2, 1 / (small + squares / 2))
    residual = ((weights - lines @ design.T) ** 2).sum()
    if sd_prior == "gamma":
        state["noise"] = rng.gamma(small + weights.size / 2, 1 / (small + residual / 2))
        return
    # sd uniform up to 100: its inverse square has density proportional to itself ** (-3 / 2).
    state["noise"] = 0.0
    while state["noise"] < 100**-2:
        state["noise"] = rng.gamma((weights.size - 1) / 2, 2 / residual)
