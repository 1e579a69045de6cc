"""Robust regression: the loss of ammonia in a plant, with errors from a t distribution.

    loss[i] ~ StudentT(nu, intercept + X[i, :] @ beta, tau)

A few of the 21 days do not follow the line of the others; under long tails they hardly move it.
The columns of ``X`` are standardised. The data are from K. A. Brownlee (1965), "Statistical Theory
and Methodology in Science and Engineering", second edition, pages 491-500; errors from a t
distribution with four degrees of freedom are from K. L. Lange, R. J. A. Little and J. M. G. Taylor
(1989), "Robust statistical modeling using the t distribution", Journal of the American Statistical
Association 84, 881-896, and one of the models of the BUGS example "Stacks", volume 1.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

COLUMNS = ("air_flow", "water_temperature", "acid_concentration")
_table = np.loadtxt(Path(__file__).parent / "data" / "stack_loss.csv", delimiter=",", skiprows=1)
X = (_table[:, :-1] - _table[:, :-1].mean(axis=0)) / _table[:, :-1].std(axis=0)
LOSS = _table[:, -1]

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/robust_regression.py), a random walk on the posterior.
REFERENCE = {
    "intercept": (17.556636, 0.002463),
    "sigma": (2.475151, 0.002401),
    "beta[air_flow]": (7.473082, 0.004511),
    "beta[water_temperature]": (2.649348, 0.004245),
    "beta[acid_concentration]": (-0.653541, 0.002389),
}


def model(x=X, loss=LOSS, columns=COLUMNS, nu=4, precision=1e-4, shape=1e-2, rate=1e-2):
    """The regression of ``loss`` on the columns of ``x``, with ``nu`` degrees of freedom."""
    coords = {"day": range(1, len(loss) + 1), "covariate": list(columns)}
    with gp.Model(coords=coords) as regression:
        design = gp.Data("design", x, dims=("day", "covariate"))
        tau = gp.Gamma("tau", shape, rate=rate)
        intercept = gp.Normal("intercept", 0, tau=precision)
        beta = gp.Normal("beta", 0, tau=precision, dims="covariate")
        line = intercept + design @ beta
        gp.StudentT("loss", nu, line, tau=tau, dims="day", observed=loss)
        gp.Deterministic("sigma", tau**-0.5)
    return regression


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    weights = {f"beta[{c}]": draws["beta"][..., j] for j, c in enumerate(COLUMNS)}
    return {name: draws[name] for name in ("intercept", "sigma")} | weights
