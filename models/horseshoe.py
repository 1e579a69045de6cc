"""Horseshoe: regression on ten covariates, each with its own shrinkage and one for all.

    y[i] ~ Normal(intercept + X[i, :] @ beta, tau)
    beta[j] ~ Normal(0, sd = local[j] * overall / sqrt(tau)),   local[j], overall ~ HalfCauchy(1)

Weights that are noise are shrunk to nearly nothing, large ones hardly at all. From C. M. Carvalho,
N. G. Polson and J. G. Scott (2010), "The horseshoe estimator for sparse signals", Biometrika 97,
465-480. The data are those of ``linear_regression``, all columns standardised.
"""

import gibbsppl as gp
from models.linear_regression import COLUMNS, X, Y

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/horseshoe.py), a random walk that has no weights at all.
REFERENCE = {
    "tau": (2.022401, 0.000422),
    "overall": (0.289886, 0.000586),
    "beta[age]": (-0.001863, 0.000008),
    "beta[sex]": (-0.127452, 0.000056),
    "beta[bmi]": (0.328803, 0.000029),
    "beta[bp]": (0.189057, 0.000039),
    "beta[s1]": (-0.127518, 0.000274),
    "beta[s2]": (0.019401, 0.000194),
    "beta[s3]": (-0.088903, 0.000162),
    "beta[s4]": (0.051473, 0.000131),
    "beta[s5]": (0.337853, 0.000111),
    "beta[s6]": (0.029678, 0.000051),
}


def model(
    x=X,
    y=Y,
    columns=COLUMNS,
    overall_scale=1,
    intercept_precision=1e-2,
    shape=1e-2,
    rate=1e-2,
):
    """The regression of ``y`` on the columns of ``x``."""
    coords = {"patient": range(len(y)), "covariate": list(columns)}
    with gp.Model(coords=coords) as horseshoe:
        design = gp.Data("design", x, dims=("patient", "covariate"))
        tau = gp.Gamma("tau", shape, rate=rate)
        overall = gp.HalfCauchy("overall", overall_scale)
        local = gp.HalfCauchy("local", 1, dims="covariate")
        intercept = gp.Normal("intercept", 0, tau=intercept_precision)
        beta = gp.Normal("beta", 0, tau=tau / (local * overall) ** 2, dims="covariate")
        gp.Normal("y", intercept + design @ beta, tau=tau, dims="patient", observed=y)
    return horseshoe


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    weights = {f"beta[{c}]": draws["beta"][..., j] for j, c in enumerate(COLUMNS)}
    return {"tau": draws["tau"], "overall": draws["overall"]} | weights
