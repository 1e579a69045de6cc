"""Probabilities of exactly zero and one: counts that are certain, beside others and among them."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load

DISTRIBUTIONS = {
    "one trial": lambda p, x: gp.Bernoulli("x", p, dims="i", observed=x),
    "three trials": lambda p, x: gp.Binomial("x", 3, p, dims="i", observed=x),
}
CERTAIN = {"one trial": 1, "three trials": 3}


def sampler(distribution, probability, known):
    """Counts of which the first is certain, and the others have even odds; some may be observed."""
    first = CERTAIN[distribution] * probability
    values = {"all latent": None, "itself": [first, -1, -1], "another": [-1, -1, 1]}[known]
    with gp.Model(coords={"i": 3}, name="certain") as model:
        p = gp.Data("p", np.array([probability, 0.5, 0.5]), dims="i")
        DISTRIBUTIONS[distribution](p, None if values is None else np.ma.masked_less(values, 0))
    return gp.compile(model)


@pytest.mark.parametrize("known", ["all latent", "itself", "another"])
@pytest.mark.parametrize("probability", [0.0, 1.0])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_certain_count_is_proved_and_drawn(distribution, probability, known):
    drawn = sampler(distribution, probability, known)

    assert drawn.verify(seed=1).passed
    x = drawn.sample(20, warmup=20, chains=1, seed=1)["x"]
    assert (np.asarray(x)[..., 0] == CERTAIN[distribution] * probability).all()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_certain_count_with_the_opposite_odds_is_found(distribution):
    right = sampler(distribution, 1.0, "all latent")
    found = load(right.source.replace("return (eta_1,)", "return (-eta_1,)"))

    assert not verify(right.graph, found, right.schedule.steps, right.data, 1).passed
