"""Negative binomial regression: breaks of the yarn on looms, more scattered than Poisson counts.

Nine looms each for two types of wool and three tensions of the yarn.

    form "mean":  breaks[i] ~ NegativeBinomial(mean = exp(X[i, :] @ beta), size = alpha)
    form "odds":  breaks[i] ~ NegativeBinomial(mean = alpha * exp(X[i, :] @ beta), size = alpha)

The variance is ``mean + mean**2 / alpha`` in both; in the second ``X[i, :] @ beta`` is the logit of
a probability whatever ``alpha``. The first is that of J. F. Lawless (1987), "Negative binomial and
mixed Poisson regression", Canadian Journal of Statistics 15, 209-225, the second of N. G. Polson,
J. G. Scott and J. Windle (2013), "Bayesian inference for logistic models using Polya-Gamma latent
variables", Journal of the American Statistical Association 108, 1339-1349. The data are from L. H.
C. Tippett (1950), "Technological Applications of Statistics", page 106; J. W. Tukey (1977),
"Exploratory Data Analysis", has them too, and they are the data set warpbreaks of R.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

LOOMS = json.loads((Path(__file__).parent / "data" / "warpbreaks.json").read_text())
TERMS = ("intercept", "wool B", "medium", "high", "B medium", "B high")
_looms = [
    (w == "B", t, b) for w, tensions in LOOMS.items() for t, bs in tensions.items() for b in bs
]
_wool, _tension, BREAKS = (np.array(column) for column in zip(*_looms, strict=True))
_tensions = [_tension == "medium", _tension == "high"]
X = np.stack([np.ones(len(BREAKS)), _wool, *_tensions, *(_wool * t for t in _tensions)], axis=1)

# Posterior mean and Monte Carlo error: long runs of an independent sampler
# (tests/references/negative_binomial.py), a random walk on the posterior.
REFERENCES = {
    "mean": {
        "alpha": (10.684683, 0.011130),
        "intercept": (3.791954, 0.000477),
        "wool B": (-0.446102, 0.000729),
        "medium": (-0.608678, 0.000677),
        "high": (-0.587536, 0.000694),
        "B medium": (0.625192, 0.000966),
        "B high": (0.176777, 0.001006),
    },
    "odds": {
        "alpha": (10.784513, 0.012387),
        "intercept": (1.453033, 0.001202),
        "wool B": (-0.450495, 0.000648),
        "medium": (-0.612887, 0.000649),
        "high": (-0.589418, 0.000677),
        "B medium": (0.630398, 0.000916),
        "B high": (0.180537, 0.000949),
    },
}
REFERENCE = REFERENCES["mean"]


def model(breaks=BREAKS, x=X, terms=TERMS, form="mean", precision=0.1, shape=1, rate=0.1):
    """The regression of ``breaks`` on columns of ``x``; ``form`` is ``"mean"`` or ``"odds"``."""
    coords = {"loom": range(1, len(breaks) + 1), "term": list(terms)}
    with gp.Model(coords=coords) as regression:
        design = gp.Data("design", x, dims=("loom", "term"))
        alpha = gp.Gamma("alpha", shape, rate=rate)
        beta = gp.Normal("beta", 0, tau=precision, dims="term")
        line = design @ beta
        if form == "mean":
            gp.NegativeBinomial(
                "breaks", mu=gp.exp(line), alpha=alpha, dims="loom", observed=breaks
            )
        else:
            gp.NegativeBinomial("breaks", alpha, gp.expit(-line), dims="loom", observed=breaks)
    return regression


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    terms = {term: draws["beta"][..., j] for j, term in enumerate(TERMS)}
    return {"alpha": draws["alpha"]} | terms
