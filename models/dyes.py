"""Dyes: the variation in the yield of a dye, between batches of raw material and within them.

Six batches, five preparations of each; the groups are analysed together.

    y[b, s] ~ Normal(mu[b], tau_within),   mu[b] ~ Normal(theta, tau_between)

The data are from O. L. Davies (1967), "Statistical Methods in Research and Production", analysed by
G. E. P. Box and G. C. Tiao (1973), "Bayesian Inference in Statistical Analysis", section 5.1; the
model is one of the BUGS examples, volume 1.
"""

import json
from pathlib import Path

import gibbsppl as gp

YIELDS = json.loads((Path(__file__).parent / "data" / "dyes.json").read_text())["yields"]

# Posterior mean and Monte Carlo error: a long run of an independent sampler (JAGS 4.3.1).
REFERENCE = {
    "theta": (1527.386, 0.1436008),
    "variance_within": (3017.353, 11.84024),
    "f_between": (0.340567, 0.003106102),
}


def model(yields=YIELDS, mean_precision=1e-10, shape=1e-3, rate=1e-3):
    """The yields, ``yields[b][s]`` of preparation ``s`` from batch ``b``."""
    coords = {"batch": range(1, len(yields) + 1), "sample": range(1, len(yields[0]) + 1)}
    with gp.Model(coords=coords) as dyes:
        theta = gp.Normal("theta", 0, tau=mean_precision)
        tau_between = gp.Gamma("tau_between", shape, rate=rate)
        tau_within = gp.Gamma("tau_within", shape, rate=rate)
        mu = gp.Normal("mu", theta, tau=tau_between, dims="batch")
        gp.Normal("dye_yield", mu, tau=tau_within, dims=("batch", "sample"), observed=yields)
        gp.Deterministic("variance_within", 1 / tau_within)
        gp.Deterministic("f_between", tau_within / (tau_within + tau_between))
    return dyes


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {name: draws[name] for name in ("theta", "variance_within", "f_between")}
