"""Gaussian: a normal with unknown mean and unknown precision, independent a priori.

    y[i] ~ Normal(mu, tau),   mu ~ Normal(mu_0, tau_0),   tau ~ Gamma(shape, rate)

Neither posterior is in closed form, both conditionals are: the smallest Gibbs sampler with real
work to do. The data are Newcomb's 66 measurements of the speed of light (see ``gaussian_mean.py``).
The model is the first worked in A. E. Gelfand and A. F. M. Smith (1990), "Sampling-based approaches
to calculating marginal densities", Journal of the American Statistical Association 85, 398-409.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

DEVIATIONS = np.loadtxt(Path(__file__).parent / "data" / "newcomb.csv", skiprows=1)

# Exact to the digits given: quadrature over tau (tests/references/gaussian.py computes it again).
REFERENCE = {
    "mu": (26.207391, 0.0),
    "tau": (0.0086611443, 0.0),
    "sigma": (10.871144, 0.0),
}


def model(y=DEVIATIONS, prior_mean=0, prior_precision=1e-4, shape=1e-3, rate=1e-3):
    """The mean and the precision of the measurements."""
    with gp.Model(coords={"measurement": range(len(y))}) as gaussian:
        mu = gp.Normal("mu", prior_mean, tau=prior_precision)
        tau = gp.Gamma("tau", shape, rate=rate)
        gp.Normal("y", mu, tau=tau, dims="measurement", observed=y)
        gp.Deterministic("sigma", 1 / gp.sqrt(tau))
    return gaussian


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {name: draws[name] for name in ("mu", "tau", "sigma")}
