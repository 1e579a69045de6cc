"""Linear mixed model: reaction times of people kept from sleep, by person and by day.

    reaction[s, d] ~ Normal(level + growth * d + a[s] + b[s] * d + c[d], tau)
    a[s] ~ Normal(0, tau_a),   b[s] ~ Normal(0, tau_b),   c[d] ~ Normal(0, tau_c)

Two fixed effects, and random ones that are crossed: each person has a level and a growth of its
own, each day its own deviation, which all people share. All five are one joint draw. Alone, a level
could move only as far as the random effects about it allow, of which there are many.

Mean reaction times in milliseconds of 18 people on ten days, from the second of which on they slept
three hours a night: the data set sleepstudy of the R package lme4, part of G. Belenky and others
(2003), "Patterns of performance degradation and restoration during sleep restriction and subsequent
recovery: a sleep dose-response study", Journal of Sleep Research 12, 1-12. The deviations of the
days are added here, so that there is something to cross.
"""

import json
from pathlib import Path

import gibbsppl as gp

SLEEP = json.loads((Path(__file__).parent / "data" / "sleep.json").read_text())
SUBJECTS, REACTION = SLEEP["subjects"], SLEEP["reaction"]

# Exact to the digits given: quadrature over the four precisions, all effects integrated out
# (tests/references/linear_mixed.py computes it again).
REFERENCE = {
    "level": (251.72957, 0.0),
    "growth": (10.19583, 0.0),
    "a[308]": (2.2632238, 0.0),
    "b[308]": (9.3256712, 0.0),
    "c[0]": (1.7813554, 0.0),
    "sd_a": (23.70488, 0.0),
    "sd_b": (5.815043, 0.0),
    "sd_c": (4.651801, 0.0),
    "sd_noise": (25.613335, 0.0),
}

# Shapes and rates of the priors of the precisions of people's levels, of their growths, of the days
# and of the noise.
PRIORS = {"a": (2, 600), "b": (2, 36), "c": (2, 50), "": (2, 600)}


def model(reaction=REACTION, subjects=SUBJECTS, fixed=((250, 1e-4), (0, 1e-2)), priors=PRIORS):
    """The reaction times; ``fixed`` has mean and precision of the priors of level and growth."""
    days = range(len(reaction[0]))
    with gp.Model(coords={"subject": list(subjects), "day": days}) as mixed:
        day = gp.Data("day_number", days, dims="day")
        tau_a, tau_b, tau_c, tau = (
            gp.Gamma(f"tau_{name}" if name else "tau", shape, rate=rate)
            for name, (shape, rate) in priors.items()
        )
        level = gp.Normal("level", fixed[0][0], tau=fixed[0][1])
        growth = gp.Normal("growth", fixed[1][0], tau=fixed[1][1])
        a = gp.Normal("a", 0, tau=tau_a, dims="subject")
        b = gp.Normal("b", 0, tau=tau_b, dims="subject")
        c = gp.Normal("c", 0, tau=tau_c, dims="day")
        mean = level + growth * day + a + b * day + c
        gp.Normal("reaction", mean, tau=tau, dims=("subject", "day"), observed=reaction)
        for name, precision in {"a": tau_a, "b": tau_b, "c": tau_c, "noise": tau}.items():
            gp.Deterministic(f"sd_{name}", 1 / gp.sqrt(precision))
    return mixed


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {n: draws[n] for n in ("level", "growth", "sd_a", "sd_b", "sd_c", "sd_noise")} | {
        "a[308]": draws["a"][..., 0],
        "b[308]": draws["b"][..., 0],
        "c[0]": draws["c"][..., 0],
    }
