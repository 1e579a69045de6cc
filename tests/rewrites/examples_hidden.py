"""Small models with values of which only bounds are known."""

import numpy as np

import gibbsppl as gp
from rewrites.examples import GROUPS, MEASURED, line

SEEN = np.array([1, 0, 1, 1, 0, 0])
TIMES = [1.0, 2.0, 0.5, 3.0, 0.2, 1.5]


def followed_to_an_end():
    with gp.Model() as m:
        value = gp.Normal(line(), tau=gp.Gamma("tau", 2, rate=2))
        gp.Censored("y", value, event=SEEN, dims="i", observed=MEASURED)
    return m


def found_between_two_visits():
    with gp.Model() as m:
        last = gp.Data("last", np.array(MEASURED) - 1.5, dims="i")
        following = gp.Data("following", np.array(MEASURED) + 0.5, dims="i")
        value = gp.Normal(line(), tau=gp.Gamma("tau", 2, rate=2))
        gp.Censored(
            "y", value, event=SEEN, lower=last, upper=following, dims="i", observed=MEASURED
        )
    return m


def below_a_detection_limit():
    with gp.Model() as m:
        value = gp.Normal(line(), tau=gp.Gamma("tau", 2, rate=2))
        gp.Censored("y", value, lower=0, dims="i", observed=np.maximum(MEASURED, 0))
    return m


def heavy_tails_that_are_cut():
    with gp.Model() as m:
        mu, tau = gp.Normal("mu", 0, tau=1), gp.Gamma("tau", 2, rate=2)
        value = gp.StudentT(nu=4, mu=mu, tau=tau)
        gp.Censored("y", value, event=SEEN, dims="i", observed=MEASURED)
    return m


def survival_in_groups():
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUPS, of="g", dims="i")
        shape, rate = gp.Gamma("shape", 4, rate=2), gp.Gamma("rate", 2, rate=1, dims="g")
        value = gp.Gamma(shape, rate=rate[group])
        gp.Censored("y", value, event=SEEN, dims="i", observed=TIMES)
    return m


def between_two_detection_limits():
    """Some are below the one limit, some above the other: two censorings of one statement."""
    with gp.Model() as m:
        value = gp.Normal(line(), tau=gp.Gamma("tau", 2, rate=2))
        gp.Censored("y", value, lower=-0.5, upper=2, dims="i", observed=MEASURED)
    return m


def positive_values_beyond_limits():
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUPS, of="g", dims="i")
        rate = gp.Gamma("rate", 2, rate=1, dims="g")
        low, high = (gp.Data(n, [v] * 6, dims="i") for n, v in (("low", 0.6), ("high", 1.8)))
        value = gp.Exponential(rate=rate[group])
        gp.Censored("y", value, lower=low, upper=high, dims="i", observed=TIMES)
    return m


HIDDEN = (
    between_two_detection_limits,
    positive_values_beyond_limits,
    followed_to_an_end,
    found_between_two_visits,
    below_a_detection_limit,
    heavy_tails_that_are_cut,
    survival_in_groups,
)
