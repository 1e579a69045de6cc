"""Beetles: how many die, by the dose of a poison (a regression with a logit or a probit link).

At the logarithm ``x[i]`` of a dose of carbon disulphide, ``killed[i]`` of ``beetles[i]`` died.

    killed[i] ~ Binomial(beetles[i], p[i]),   link(p[i]) = level + slope * (x[i] - mean of x)

The data are from C. I. Bliss (1935), "The calculation of the dosage-mortality curve", Annals of
Applied Biology 22, 134-167, analysed by A. J. Dobson (1983), "An Introduction to Statistical
Modelling"; the model is one of the BUGS examples, volume 2.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

BEETLES = json.loads((Path(__file__).parent / "data" / "beetles.json").read_text())
LINKS = {"logit": gp.expit, "probit": gp.Phi}  # each as the probability of a linear predictor

# Posterior mean and Monte Carlo error: long runs of an independent sampler (JAGS 4.3.1).
REFERENCES = {
    "logit": {
        "alpha": (-60.81753, 0.05058308),
        "beta": (34.3267, 0.02861608),
        "killed[1]": (3.559603, 0.008258215),
        "killed[4]": (33.87952, 0.01660822),
        "killed[8]": (58.68449, 0.004472795),
    },
    "probit": {
        "alpha": (-35.04787, 0.0255726),
        "beta": (19.79162, 0.01448516),
        "killed[1]": (3.442838, 0.008315602),
        "killed[4]": (33.82175, 0.01509921),
        "killed[8]": (59.17583, 0.003791037),
    },
}
REFERENCE = REFERENCES["logit"]


def model(
    killed=BEETLES["killed"],
    beetles=BEETLES["beetles"],
    log_dose=BEETLES["log_dose"],
    link="logit",
    precision=1e-3,
):
    """The beetles killed; ``link`` is ``"logit"`` or ``"probit"``."""
    centre = float(np.mean(log_dose))
    with gp.Model(coords={"dose": range(1, len(log_dose) + 1)}) as mortality:
        x = gp.Data("log_dose", np.asarray(log_dose) - centre, dims="dose")
        number = gp.Data("beetles", beetles, dims="dose")
        level = gp.Normal("level", 0, tau=precision)
        slope = gp.Normal("slope", 0, tau=precision)
        p = LINKS[link](level + slope * x)
        gp.Binomial("killed", number, p, dims="dose", observed=killed)
        gp.Deterministic("alpha", level - slope * centre)
        gp.Deterministic("expected", number * p)
    return mortality


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    expected = {f"killed[{i}]": draws["expected"][..., i - 1] for i in (1, 4, 8)}
    return {"alpha": draws["alpha"], "beta": draws["slope"]} | expected
