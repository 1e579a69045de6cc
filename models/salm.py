"""Salmonella: colonies by the dose of a mutagen, more scattered than Poisson counts.

``colonies[d, p]`` revertants of Salmonella TA98 grew on plate ``p`` at dose ``x[d]`` of quinoline.

    colonies[d, p] ~ Poisson(mu[d, p]),   effect[d, p] ~ Normal(0, tau)
    log mu[d, p] = alpha + beta * log(x[d] + 10) + gamma * x[d] + effect[d, p]

``toxicity`` is gamma for a thousand units of dose, and both columns are centred: ``level`` is the
value of the line at their means. The data and the model are from N. E. Breslow (1984),
"Extra-Poisson variation in log-linear models", Applied Statistics 33, 38-44, one of the BUGS
examples, volume 1.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

SALMONELLA = json.loads((Path(__file__).parent / "data" / "salm.json").read_text())

# Posterior mean and Monte Carlo error: a long run of an independent sampler (JAGS 4.3.1).
REFERENCE = {
    "alpha": (2.170102, 0.003766549),
    "beta": (0.3120734, 0.001085887),
    "gamma": (-0.0009788634, 4.833295e-06),
    "sigma": (0.2585757, 0.0005332393),
}


def model(
    colonies=SALMONELLA["colonies"],
    dose=SALMONELLA["dose"],
    precision=1e-4,
    toxicity_precision=1e-16,  # 1e-10 for gamma, the coefficient of one unit of dose
    shape=1e-3,
    rate=1e-3,
):
    """The revertant colonies, ``colonies[d][p]`` of plate ``p`` at dose ``d``."""
    doses = np.asarray(dose, float)
    logs = np.log(doses + 10)
    coords = {"dose": list(dose), "plate": range(1, len(colonies[0]) + 1)}
    with gp.Model(coords=coords) as assay:
        log_dose = gp.Data("log_dose", logs - logs.mean(), dims="dose")
        thousands = gp.Data("thousands", (doses - doses.mean()) / 1000, dims="dose")
        level = gp.Normal("level", 0, tau=precision)
        beta = gp.Normal("beta", 0, tau=precision)
        toxicity = gp.Normal("toxicity", 0, tau=toxicity_precision)
        tau = gp.Gamma("tau", shape, rate=rate)
        effect = gp.Normal("effect", 0, tau=tau, dims=("dose", "plate"))
        mean = gp.exp(level + beta * log_dose + toxicity * thousands + effect)
        gp.Poisson("colonies", mean, dims=("dose", "plate"), observed=colonies)
        gamma = gp.Deterministic("gamma", toxicity / 1000)
        gp.Deterministic("alpha", level - beta * logs.mean() - gamma * doses.mean())
        gp.Deterministic("sigma", tau**-0.5)
    return assay


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {name: draws[name] for name in ("alpha", "beta", "gamma", "sigma")}
