"""Factor analysis: four measurements of irises from two numbers for each flower.

    y[i, m] ~ Normal(mean[m] + sum over k of loading[m, k] * score[i, k], tau[m])
    score[i, k] ~ Normal(0, 1),   loading[m, k] ~ Normal(0, 1)

Covariances of the measurements are those of ``loading @ loading.T``; ``1 / tau`` is what each of
them varies by itself. J. Geweke and G. Zhou (1996), "Measuring the pricing error of the arbitrage
pricing theory", Review of Financial Studies 9, 557-587; the measurements are standardised, and the
data are those of ``iris``, without the species.

Factors can be rotated, and their signs flipped, without any change to the density of the data or,
with this prior, of all: loadings mean nothing by themselves, chains may differ in them, and their
R-hat is of no interest. What means something is the covariance, ``covariance`` below, of which
``quantities`` reports entries. With ``triangular=True`` the loadings above the diagonal are zero,
as Geweke and Zhou have it: then only signs are free, but the prior depends on the order of columns.
"""

import numpy as np

import gibbsppl as gp
from models.iris import FLOWERS, MEASUREMENTS

STANDARDISED = (FLOWERS - FLOWERS.mean(axis=0)) / FLOWERS.std(axis=0)

# Posterior mean and Monte Carlo error: a long run of a random walk on loadings and precisions, the
# factors and means integrated out (tests/references/factor_analysis.py).
REFERENCE = {
    "own, sepal length": (0.157158, 0.000366),
    "own, sepal width": (0.253621, 0.00136),
    "own, petal length": (0.0435961, 7.64e-05),
    "own, petal width": (0.0819935, 0.000133),
    "sepal length with sepal width": (-0.126505, 0.000279),
    "sepal length with petal length": (0.88301, 0.000261),
    "sepal width with petal length": (-0.428934, 0.000226),
    "sepal width with petal width": (-0.398137, 0.000306),
    "petal length with petal width": (0.981156, 0.00023),
}

PAIRS = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3))


def model(
    y=STANDARDISED,
    measurements=MEASUREMENTS,
    factors=2,
    mean_precision=1,
    shape=3,
    rate=1,
    *,
    triangular=False,
):
    """Factors of ``y``, an array (flower, measurement); precisions are Gamma(shape, rate)."""
    coords = {"flower": range(len(y)), "measurement": list(measurements), "factor": range(factors)}
    with gp.Model(coords=coords) as analysis:
        mean = gp.Normal("mean", 0, tau=mean_precision, dims="measurement")
        tau = gp.Gamma("tau", shape, rate=rate, dims="measurement")
        if triangular:
            loading = gp.Array("loading", dims=("measurement", "factor"))
            for k in range(factors):
                if k:
                    loading[:k, k] = 0
                loading[k:, k] = gp.Normal(0, tau=1)
        else:
            loading = gp.Normal("loading", 0, tau=1, dims=("measurement", "factor"))
        score = gp.Normal("score", 0, tau=1, dims=("flower", "factor"))
        expected = mean + (loading * score).sum("factor")
        gp.Normal("y", expected, tau=tau, dims=("flower", "measurement"), observed=y)
    return analysis


def covariance(loading, tau):
    """The covariance matrices of the measurements; the last axes of loadings are a matrix.

    >>> covariance(np.array([[1.0], [2.0]]), np.array([1.0, 2.0]))
    array([[2. , 2. ],
           [2. , 4.5]])
    """
    own = np.eye(tau.shape[-1]) / tau[..., None]
    return loading @ np.swapaxes(loading, -2, -1) + own


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    found = covariance(draws["loading"], draws["tau"])
    own = {f"own, {m}": 1 / draws["tau"][..., k] for k, m in enumerate(MEASUREMENTS)}
    return own | {f"{MEASUREMENTS[i]} with {MEASUREMENTS[j]}": found[..., i, j] for i, j in PAIRS}
