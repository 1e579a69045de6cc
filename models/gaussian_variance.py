"""Gaussian variance: a normal with known mean and unknown precision.

    y[i] ~ Normal(mu, tau),   tau ~ Gamma(shape, rate)
    tau | y ~ Gamma(shape + n / 2, rate + sum((y - mu)**2) / 2)

The data are Newcomb's 66 measurements of the speed of light (see ``gaussian_mean.py``), the mean
fixed at 33, the value that fits the speed of light as it is known now: how precise was he?
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

DEVIATIONS = np.loadtxt(Path(__file__).parent / "data" / "newcomb.csv", skiprows=1)
MU = 33.0
SHAPE, RATE = 1e-3, 1e-3

_shape = SHAPE + DEVIATIONS.size / 2
_rate = RATE + ((DEVIATIONS - MU) ** 2).sum() / 2

# Exact: the means of a Gamma and of an inverse Gamma.
REFERENCE = {"tau": (_shape / _rate, 0.0), "variance": (_rate / (_shape - 1), 0.0)}


def model(y=DEVIATIONS, mu=MU, shape=SHAPE, rate=RATE):
    """The precision of the measurements, their mean known."""
    with gp.Model(coords={"measurement": range(len(y))}) as gaussian:
        tau = gp.Gamma("tau", shape, rate=rate)
        gp.Normal("y", mu, tau=tau, dims="measurement", observed=y)
        gp.Deterministic("variance", 1 / tau)
    return gaussian


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {"tau": draws["tau"], "variance": draws["variance"]}
