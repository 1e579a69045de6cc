"""Linear regression: progression of diabetes on ten covariates, both precisions unknown.

    y[i] ~ Normal(intercept + X[i, :] @ beta, tau),   beta[j] ~ Normal(0, tau_beta)

``tau_beta / tau`` is the ridge penalty, estimated together with the weights. All columns are
standardised. 442 patients: age, sex, body mass index, blood pressure and six blood serum
measurements, and the progression of the disease a year later. From B. Efron, T. Hastie, I.
Johnstone and R. Tibshirani (2004), "Least angle regression", Annals of Statistics 32, 407-499; the
file is scikit-learn's copy of their unscaled table.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

COLUMNS = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
_table = np.loadtxt(Path(__file__).parent / "data" / "diabetes.csv", delimiter=",", skiprows=1)
_standard = (_table - _table.mean(axis=0)) / _table.std(axis=0)
X, Y = _standard[:, :-1], _standard[:, -1]

# Exact to the digits given: quadrature over the two precisions, the weights integrated out
# (tests/references/linear_regression.py computes it again).
REFERENCE = {
    "intercept": (0, 0.0),
    "tau": (2.017856, 0.0),
    "tau_beta": (28.408343, 0.0),
    "beta[age]": (-0.0028102001, 0.0),
    "beta[sex]": (-0.1402426, 0.0),
    "beta[bmi]": (0.31735974, 0.0),
    "beta[bp]": (0.19481153, 0.0),
    "beta[s1]": (-0.13271699, 0.0),
    "beta[s2]": (0.013299778, 0.0),
    "beta[s3]": (-0.089888754, 0.0),
    "beta[s4]": (0.072614572, 0.0),
    "beta[s5]": (0.32120829, 0.0),
    "beta[s6]": (0.046790363, 0.0),
}


def model(x=X, y=Y, columns=COLUMNS, intercept_precision=1e-2, shape=1e-2, rate=1e-2):
    """The regression of ``y`` on the columns of ``x``."""
    coords = {"patient": range(len(y)), "covariate": list(columns)}
    with gp.Model(coords=coords) as regression:
        design = gp.Data("design", x, dims=("patient", "covariate"))
        tau = gp.Gamma("tau", shape, rate=rate)
        tau_beta = gp.Gamma("tau_beta", shape, rate=rate)
        intercept = gp.Normal("intercept", 0, tau=intercept_precision)
        beta = gp.Normal("beta", 0, tau=tau_beta, dims="covariate")
        gp.Normal("y", intercept + design @ beta, tau=tau, dims="patient", observed=y)
    return regression


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    weights = {f"beta[{c}]": draws["beta"][..., j] for j, c in enumerate(COLUMNS)}
    return {name: draws[name] for name in ("intercept", "tau", "tau_beta")} | weights
