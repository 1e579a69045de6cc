"""Labels read by their means with others integrated out: collapsed variational Bayes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gibbsppl as gp
import models
from gibbsppl.errors import CompileError
from gibbsppl.rewrites import collapsing

DOCUMENTS, TOPICS = 30, 4


def topics(**how):
    corpus = models.lda.bars(documents=DOCUMENTS)
    model = models.lda.model(corpus=corpus, topics=TOPICS)
    return gp.compile(model, collapse=["theta", "phi"], **how), corpus


def mixture():
    """Rows of three categorical columns, shares of clusters and of values integrated out."""
    rng = np.random.default_rng(3)
    z = rng.integers(0, 2, 60)
    y = np.where(rng.random((60, 3)) < 0.8, z[:, None], rng.integers(0, 4, (60, 3)))
    with gp.Model(coords={"row": 60, "col": 3, "k": 2, "v": 4}, name="clusters") as model:
        weight = gp.Dirichlet("weight", 1.5, dims="k")
        p = gp.Dirichlet("p", 0.5, dims=("k", "col", "v"), event="v")
        label = gp.Categorical("label", weight, dims="row")
        gp.Categorical("y", p[label], dims=("row", "col"), event="v", observed=y)
    return gp.compile(model, collapse=["weight", "p"], approximate=True)


def read(sampler):
    return sampler.read_by(dict.fromkeys(sampler.graph.drawn, "mean"))


def by_hand(shares, doc, word, alpha, eta, vocabulary):
    """One sweep of CVB0, as published: expected counts, without one's own."""
    of_doc = np.zeros((DOCUMENTS, TOPICS))
    of_word = np.zeros((vocabulary, TOPICS))
    np.add.at(of_doc, doc, shares)
    np.add.at(of_word, word, shares)
    weights = (
        (of_doc[doc] - shares + alpha)
        * (of_word[word] - shares + eta)
        / (of_word.sum(axis=0) - shares + vocabulary * eta)
    )
    return weights / weights.sum(axis=1, keepdims=True)


def test_sweeps_are_those_of_cvb0():
    sampler, (doc, word, vocabulary) = topics(approximate=True)
    ours = read(sampler)
    (chain,), _ = ours.initial_states(1, seed=2)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(TOPICS), len(word))
    state = {**chain.state, "P_z": shares.copy()}
    for _ in range(10):
        ours.program.sweep(rng, state, ours.constants)
        shares = by_hand(shares, doc, word, models.lda.ALPHA, models.lda.ETA, len(vocabulary))
    assert_allclose(state["P_z"], shares, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("make", [lambda: topics(approximate=True)[0], mixture])
def test_they_are_verified(make):
    found = read(make()).verify()
    assert found.passed, found
    assert "by mean, at a point" in {r.kind for r in found.rows}


def test_ones_own_share_that_stays_is_seen(monkeypatch):
    def spoilt(shares, size):
        return lambda value, there: shares * value / 2

    monkeypatch.setattr(collapsing, "_by_shares", spoilt)
    found = read(topics(approximate=True)[0]).verify()
    assert [r.step for r in found.rows if not r.passed] == ["z"]


def test_a_fit_is_that_of_all_variables():
    sampler, (_, word, vocabulary) = topics(approximate=True)
    fit = sampler.variational(seed=1, progress=False)

    assert fit.converged
    assert fit.probabilities("z").shape == (len(word), TOPICS)
    assert fit.mean("phi").shape == (TOPICS, len(vocabulary))
    assert fit.sample(10, chains=1, seed=1)["theta"].shape == (1, 10, DOCUMENTS, TOPICS)
    assert "all at once, from expected arrays" in fit.explain("z")


def test_what_is_drawn_sees_expected_counts():
    sampler = topics(approximate=True, by={"z": "mean"})[0]
    draws = sampler.sample(20, warmup=20, chains=1, seed=1, progress=False)

    assert {"theta", "phi"} <= set(draws)
    assert "z" not in draws
    assert "by mean" in str(sampler)


def test_labels_that_are_scanned_one_by_one_are_refused():
    with pytest.raises(CompileError, match=r"z: .* approximate=True reads them all at once"):
        topics(by={"z": "mean"})
