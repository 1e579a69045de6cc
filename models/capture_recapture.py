"""Capture-recapture: how many fish are in a lake, from marks on those caught before.

On each of 14 occasions ``caught[t]`` fish were caught, ``marked[t]`` of which had a mark; the
others got one, so that ``carrying[t]`` fish had one before the occasion.

    caught[t] ~ Binomial(fish, p[t]),   marked[t] ~ Hypergeometric(fish, carrying[t], caught[t])

Every occasion has its own probability of catching a fish. The model is from B. J. Castledine
(1981), "A Bayesian analysis of multiple-recapture sampling for a closed population", Biometrika 68,
197-210, and E. I. George and C. P. Robert (1992), "Capture-recapture estimation via Gibbs
sampling", Biometrika 79, 677-683, who analyse the same table: redear sunfish in a lake of Indiana,
from S. D. Gerking (1953), "Vital statistics of the fish population of Gordy Lake, Indiana",
Transactions of the American Fisheries Society 82, 48-67. Prior and reference are our own.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

SUNFISH = json.loads((Path(__file__).parent / "data" / "sunfish.json").read_text())

# Exact to the digits given: the probabilities integrated out, a sum over the number of fish
# (tests/references/capture_recapture.py computes it again).
REFERENCE = {
    "fish": (337.07565, 0.0),
    "p[2]": (0.084116868, 0.0),
    "p[5]": (0.0060083477, 0.0),
    "p[14]": (0.060083477, 0.0),
}


def model(caught=SUNFISH["caught"], marked=SUNFISH["marked"], most=2000, a=1, b=1):
    """The number of fish, at most ``most``, and the probability of catching one of them."""
    new = np.subtract(caught, marked)
    with gp.Model(coords={"occasion": range(1, len(caught) + 1)}) as census:
        carrying = gp.Data("carrying", np.cumsum(new) - new, dims="occasion")
        number = gp.Data("number", caught, dims="occasion")
        fish = gp.DiscreteUniform("fish", int(new.sum()), most)
        p = gp.Beta("p", a, b, dims="occasion")
        gp.Binomial("caught", fish, p, dims="occasion", observed=caught)
        gp.Hypergeometric("marked", fish, carrying, number, dims="occasion", observed=marked)
    return census


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    p = draws["p"]
    return {"fish": draws["fish"], "p[2]": p[..., 1], "p[5]": p[..., 4], "p[14]": p[..., 13]}
