"""Averages of conditional means over a run of which nothing else is kept."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.predict import averages
from models import lda

Y = np.array([0.3, -1.2, 2.0, 0.8, 1.7])
RUN = {"chains": 2, "warmup": 3, "seed": 4, "backend": "numpy"}
ROUNDING = 1000 * np.finfo(float).eps


def normal(y=Y):
    with gp.Model(coords={"i": ["a", "b", "c", "d", "e"]}, name="normal") as m:
        mu, tau = gp.Normal("mu", 1, tau=0.5), gp.Gamma("tau", 2, rate=3)
        theta = gp.Normal("theta", mu, tau=tau, dims="i")
        gp.Normal("y", theta, tau=2, dims="i", observed=y)
    return m


def by_batch(means, batches):
    """The averages over batches of kept means."""
    return means.reshape(len(means), batches, -1, *means.shape[2:]).mean(axis=2)


@pytest.mark.parametrize("largest", [averages.LARGEST, 40])
def test_averages_are_those_of_the_means_of_kept_draws(largest, monkeypatch):
    """Whether a batch is drawn in one piece or in several."""
    monkeypatch.setattr(averages, "LARGEST", largest)
    sampler = gp.compile(normal(), blocks=False)
    kept = sampler.sample(20, progress=False, **RUN)
    found = sampler.conditional_averages(["mu", "theta", "tau"], 20, batches=4, **RUN)

    for name, value in found.values.items():
        expected = by_batch(sampler.conditional_mean(kept, name)[name], 4)
        np.testing.assert_allclose(value, expected, rtol=ROUNDING)
    assert found.dims_of("theta") == ("i",)
    assert list(found.coords["i"]) == ["a", "b", "c", "d", "e"]


def test_values_that_are_known_stay():
    y = np.ma.masked_array(Y, [0, 1, 0, 0, 1])
    sampler = gp.compile(normal(y))
    found = sampler.conditional_averages("y", 4, batches=2, **RUN)["y"]

    assert (found[:, :, [0, 2, 3]] == Y[[0, 2, 3]]).all()


@pytest.mark.parametrize("way", ["collapsed", "approximately collapsed"])
def test_topics_are_those_of_the_labels(way):
    """Of which a run keeps none."""
    corpus = lda.bars(documents=4, length=10, side=2)
    sampler = gp.compile(lda.model(corpus=corpus, topics=3), **lda.WAYS[way])
    labels = sampler.sample(6, progress=False, keep=["z"], **RUN)
    theta, phi = lda.from_assignments(labels, corpus, topics=3)
    found = sampler.conditional_averages(["theta", "phi"], 6, batches=1, **RUN)

    np.testing.assert_allclose(found["theta"][:, 0], theta, rtol=ROUNDING)
    np.testing.assert_allclose(found["phi"][:, 0], phi, rtol=ROUNDING)


def test_a_run_keeps_what_means_depend_on_alone():
    corpus = lda.bars(documents=4, length=10, side=2)
    model = lda.model(corpus=corpus, topics=3)
    sampler = gp.compile(model, **lda.WAYS["collapsed"])
    sums = averages.Averages.of(sampler._conditionals, ("phi",), {}, (2, 6, 1))

    assert sums.needed == ("z",)


def test_more_of_it_would_be_seen(monkeypatch):
    """A draw that counts twice."""
    sampler = gp.compile(normal(), blocks=False)
    right = sampler.conditional_averages("mu", 6, batches=2, **RUN)["mu"]
    add = averages.Averages.add

    def planted(self, draws):
        add(self, draws)
        self.sums["mu"][0, 0] += self.last["mu"][0, 0]

    monkeypatch.setattr(averages.Averages, "add", planted)
    wrong = sampler.conditional_averages("mu", 6, batches=2, **RUN)["mu"]

    assert (np.abs(wrong - right) > ROUNDING).any()


def test_what_cannot_be_is_refused():
    sampler = gp.compile(normal())
    with pytest.raises(RunError, match="batches: found 3, expected a whole number that 20 draws"):
        sampler.conditional_averages("mu", 20, batches=3)
    with pytest.raises(RunError, match="y: it is not drawn, expected a latent variable"):
        sampler.conditional_averages("y")
    with pytest.raises(RunError, match="names: found none"):
        sampler.conditional_averages([])
