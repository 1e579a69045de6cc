"""Gaussian mean: a normal with unknown mean and known precision.

    y[i] ~ Normal(mu, tau),   mu ~ Normal(mu_0, tau_0)
    mu | y ~ Normal((tau_0 mu_0 + tau sum(y)) / (tau_0 + n tau), tau_0 + n tau)

In 1882 S. Newcomb timed light over 7,442 metres 66 times; a value is the deviation from 24,800
nanoseconds. From S. M. Stigler (1977), "Do robust estimators work with real data?", Annals of
Statistics 5, 1055-1098, table 5; analysed in A. Gelman and others, "Bayesian Data Analysis",
sections 2.5 and 3.2. (The value that fits today's speed of light is 33.)
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

DEVIATIONS = np.loadtxt(Path(__file__).parent / "data" / "newcomb.csv", skiprows=1)
TAU = 1 / 100
PRIOR_MEAN, PRIOR_PRECISION = 0.0, 1e-4

# Exact.
REFERENCE = {
    "mu": (
        (PRIOR_PRECISION * PRIOR_MEAN + TAU * DEVIATIONS.sum())
        / (PRIOR_PRECISION + TAU * DEVIATIONS.size),
        0.0,
    )
}


def model(y=DEVIATIONS, tau=TAU, prior_mean=PRIOR_MEAN, prior_precision=PRIOR_PRECISION):
    """The mean of the measurements, their precision known."""
    with gp.Model(coords={"measurement": range(len(y))}) as gaussian:
        mu = gp.Normal("mu", prior_mean, tau=prior_precision)
        gp.Normal("y", mu, tau=tau, dims="measurement", observed=y)
    return gaussian


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {"mu": draws["mu"]}
