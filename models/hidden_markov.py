"""Earthquakes: a hidden Markov model of how many strong ones there are in a year.

``counts[year]`` is the number of earthquakes of magnitude 7 or more in the world, 1900 to 2006; in
each year the earth is in one of a few states, and stays in it with some probability.

    counts[t] ~ Poisson(rate[z[t]]),   z[t] ~ Categorical(P[z[t - 1]]),   z[0] uniform

All states are drawn together, forwards and back. They are exchangeable: the posterior is the same
whatever the states are called, so that ``rate[0]`` has no meaning of its own. The quantities are of
the states in the order of their rates, lowest first.

The counts are from W. Zucchini and I. L. MacDonald (2009), "Hidden Markov Models for Time Series:
An Introduction Using R", Chapman and Hall (from the U.S. Geological Survey); so is the model, which
they fit by maximum likelihood.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

EARTHQUAKES = json.loads((Path(__file__).parent / "data" / "earthquakes.json").read_text())

# Exact: states summed out by the forward algorithm, parameters integrated on a grid
# (tests/references/hidden_markov.py). "busy" is the probability of the higher rate in 1918, a year
# that could be of either kind.
REFERENCE = {
    "rate[0]": (15.14535379, 0.0),
    "rate[1]": (25.69563776, 0.0),
    "stay[0]": (0.9028463526, 0.0),
    "stay[1]": (0.8579838825, 0.0),
    "busy": (0.4651591583, 0.0),
}

YEAR = 1918


def model(
    counts=EARTHQUAKES["counts"],
    first_year=EARTHQUAKES["first_year"],
    states=2,
    shape=2,
    rate=0.1,
    concentration=1,
):
    """States of high and of low activity, year by year."""
    years = range(first_year, first_year + len(counts))
    with gp.Model(coords={"year": years, "state": states}) as earthquakes:
        P = gp.Dirichlet("P", concentration, dims=("state", "state'"), event="state'")
        rates = gp.Gamma("rate", shape, rate=rate, dims="state")
        z = gp.Array("z", dims="year", event="state")
        z[0] = gp.Categorical(1 / states)
        z[1:] = gp.Categorical(P[z.lag("year", 1)])
        gp.Poisson("counts", rates[z], dims="year", observed=counts)
    return earthquakes


def quantities(draws):
    """Rates and probabilities of staying, lowest rate first; whether 1918 had the highest rate."""
    order = draws["rate"].argsort(axis=-1)
    rates = np.take_along_axis(draws["rate"], order, axis=-1)
    stay = np.take_along_axis(np.diagonal(draws["P"], axis1=-2, axis2=-1), order, axis=-1)
    found = {f"rate[{k}]": rates[..., k] for k in range(order.shape[-1])}
    found |= {f"stay[{k}]": stay[..., k] for k in range(order.shape[-1])}
    at = YEAR - EARTHQUAKES["first_year"]
    return found | {"busy": (draws["z"][..., at] == order[..., -1]).astype(float)}
