"""Seeds: which seeds germinate, with an effect of each plate (a logistic regression).

On plate ``i``, ``germinated[i]`` of ``seeds[i]`` seeds did, of one of two kinds of broomrape
(Orobanche aegyptiaca 75 or 73), in an extract of one of two roots (bean or cucumber).

    germinated[i] ~ Binomial(seeds[i], p[i]),   effect[i] ~ Normal(0, tau)
    logit p[i] = alpha0 + alpha1 * x1[i] + alpha2 * x2[i] + alpha12 * x1[i] * x2[i] + effect[i]

The data are from M. J. Crowder (1978), "Beta-binomial Anova for proportions", Applied Statistics
27, 34-37, table 3; the model is from N. E. Breslow and D. G. Clayton (1993), "Approximate inference
in generalized linear mixed models", Journal of the American Statistical Association 88, 9-25, and
is one of the BUGS examples, volume 1.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

SEEDS = json.loads((Path(__file__).parent / "data" / "seeds.json").read_text())
TERMS = ("alpha0", "alpha1", "alpha2", "alpha12")

# Posterior mean and Monte Carlo error: a long run of an independent sampler (JAGS 4.3.1).
REFERENCE = {
    "alpha0": (-0.5511731, 0.0015236),
    "alpha1": (0.08322897, 0.002465684),
    "alpha2": (1.353477, 0.002218608),
    "alpha12": (-0.826123, 0.003441564),
    "sigma": (0.2854806, 0.001485606),
}


def model(
    germinated=SEEDS["germinated"],
    seeds=SEEDS["seeds"],
    kind=SEEDS["aegyptiaca_73"],
    root=SEEDS["cucumber"],
    precision=1e-6,
    shape=1e-3,
    rate=1e-3,
):
    """The germination of seeds; ``kind`` and ``root`` are 0 or 1 for each plate."""
    x1, x2 = np.asarray(kind), np.asarray(root)
    columns = np.stack([np.ones(len(x1)), x1, x2, x1 * x2], axis=1)
    coords = {"plate": range(1, len(seeds) + 1), "term": list(TERMS)}
    with gp.Model(coords=coords) as germination:
        design = gp.Data("design", columns, dims=("plate", "term"))
        number = gp.Data("seeds", seeds, dims="plate")
        tau = gp.Gamma("tau", shape, rate=rate)
        alpha = gp.Normal("alpha", 0, tau=precision, dims="term")
        effect = gp.Normal("effect", 0, tau=tau, dims="plate")
        p = gp.expit(design @ alpha + effect)
        gp.Binomial("germinated", number, p, dims="plate", observed=germinated)
        gp.Deterministic("sigma", tau**-0.5)
    return germination


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    terms = {term: draws["alpha"][..., j] for j, term in enumerate(TERMS)}
    return terms | {"sigma": draws["sigma"]}
