"""Small models in which something that is 0 or 1 stands in a link, or before it."""

import gibbsppl as gp
from rewrites.examples import ANSWERS, line

SEEN, VISITS = [0, 1, 2, 0, 3, 0], 3


def shifted(**settings):
    """A linear predictor that is higher where a hidden state is 1."""
    a, z = gp.Normal("a", 0, tau=1), gp.Bernoulli("z", 0.4, dims="i", **settings)
    return line() + a * z


def logits_by_a_hidden_state():
    with gp.Model(coords={"i": 6}) as m:
        gp.Bernoulli("y", gp.expit(shifted()), dims="i", observed=ANSWERS)
    return m


def logits_by_a_known_state():
    with gp.Model(coords={"i": 6}) as m:
        state = gp.expit(shifted(observed=ANSWERS[::-1]))
        gp.Binomial("y", VISITS, state, dims="i", observed=SEEN)
    return m


def probits_by_a_hidden_state():
    with gp.Model(coords={"i": 6}) as m:
        gp.Bernoulli("y", gp.Phi(shifted()), dims="i", observed=ANSWERS)
    return m


def grades_by_a_hidden_state():
    with gp.Model(coords={"i": 6}) as m:
        mean = shifted()
        gp.Potential("near", gp.log(gp.Phi(1.5 - mean) - gp.Phi(-0.5 - mean)))
    return m


def sightings(link):
    """Seen only where it is: D. I. MacKenzie et al. (2002), of sites that are occupied."""
    with gp.Model(coords={"i": 6}) as m:
        occupied = gp.Bernoulli("z", 0.6, dims="i")
        gp.Binomial("y", VISITS, link(line()) * occupied, dims="i", observed=SEEN)
    return m


def logits_of_those_who_are_there():
    return sightings(gp.expit)


def probits_of_those_who_are_there():
    return sightings(gp.Phi)


def a_hidden_state_of_each_term():
    with gp.Model(coords={"t": 4}) as m:
        a, c = gp.Normal("a", 0, tau=1, dims="t"), gp.Gamma("c", 4, rate=2)
        z = gp.Bernoulli("z", 0.4, dims="t")
        gp.Potential("order", -(1 - z) * c * gp.log(1 + gp.exp(a - a.lag("t", 1))))
    return m


def grades_of_those_who_are_there():
    with gp.Model(coords={"t": 4}) as m:
        a, z = gp.Normal("a", 0, tau=1, dims="t"), gp.Bernoulli("z", 0.4, dims="t")
        step = a - a.lag("t", 1)
        gp.Potential("near", 2 * z * gp.log(gp.Phi(step + 1.5) - gp.Phi(step - 0.5)))
    return m


LOGITS = (
    logits_by_a_hidden_state,
    logits_by_a_known_state,
    logits_of_those_who_are_there,
    a_hidden_state_of_each_term,
)
PROBITS = (probits_by_a_hidden_state, probits_of_those_who_are_there)
INTERVALS = (grades_by_a_hidden_state, grades_of_those_who_are_there)
