"""Bayesian lasso: regression on ten covariates, whose weights have double exponential priors.

    y[i] ~ Normal(intercept + X[i, :] @ beta, tau)
    beta[j] ~ Laplace(0, rate = lambda * sqrt(tau)),   lambda**2 ~ Gamma(shape, rate)

The scale of the weights is that of the noise, without which the posterior can have two modes. From
T. Park and G. Casella (2008), "The Bayesian lasso", Journal of the American Statistical Association
103, 681-686, with their prior of ``lambda**2``, here ``penalty``. The data are those of
``linear_regression``; the columns of ``X`` have length 1, as in the paper, and ``y`` has sd 1.
"""

import numpy as np

import gibbsppl as gp
from models.linear_regression import COLUMNS, Y
from models.linear_regression import X as STANDARDISED

X = STANDARDISED / np.sqrt(len(Y))

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/bayesian_lasso.py), a random walk on the posterior.
REFERENCE = {
    "tau": (2.009719, 0.000354),
    "lambda": (0.286168, 0.000237),
    "beta[age]": (-0.044947, 0.001837),
    "beta[sex]": (-2.713514, 0.002112),
    "beta[bmi]": (6.796363, 0.002209),
    "beta[bp]": (3.956221, 0.002264),
    "beta[s1]": (-2.236622, 0.006373),
    "beta[s2]": (-0.021754, 0.005232),
    "beta[s3]": (-2.024130, 0.003999),
    "beta[s4]": (1.241365, 0.003996),
    "beta[s5]": (6.726167, 0.003421),
    "beta[s6]": (0.823371, 0.002020),
}


def model(
    x=X,
    y=Y,
    columns=COLUMNS,
    penalty_prior=(1, 1.78),
    noise_prior=(1e-2, 1e-2),
    intercept_precision=1e-2,
):
    """The regression of ``y`` on the columns of ``x``; priors are shape and rate of a Gamma."""
    coords = {"patient": range(len(y)), "covariate": list(columns)}
    with gp.Model(coords=coords) as lasso:
        design = gp.Data("design", x, dims=("patient", "covariate"))
        tau = gp.Gamma("tau", noise_prior[0], rate=noise_prior[1])
        penalty = gp.Gamma("penalty", penalty_prior[0], rate=penalty_prior[1])
        intercept = gp.Normal("intercept", 0, tau=intercept_precision)
        beta = gp.Laplace("beta", 0, rate=gp.sqrt(penalty * tau), dims="covariate")
        gp.Normal("y", intercept + design @ beta, tau=tau, dims="patient", observed=y)
        gp.Deterministic("lambda", gp.sqrt(penalty))
    return lasso


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    weights = {f"beta[{c}]": draws["beta"][..., j] for j, c in enumerate(COLUMNS)}
    return {name: draws[name] for name in ("intercept", "tau", "lambda")} | weights
