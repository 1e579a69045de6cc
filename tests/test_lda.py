"""The ways to topics: what each computes, and that they lead to the same place."""

import importlib.util
import logging
import struct

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.runtime import scans
from models import lda

EXACT = ("naive", "collapsed", "partially collapsed")
# Priors under which the sampler goes round its few modes in a hundred sweeps.
SMALL = {"topics": 4, "alpha": 1, "eta": 1}
PLAIN = {"alpha": 0.7, "eta": 0.3}


def small_corpus(tokens=2000):
    return lda.bars(documents=tokens // 40, length=40, side=2)


def urn(z, corpus, topics, alpha, eta):
    """log p(w, z) by the chain rule: each token given those before it."""
    document, word, vocabulary = corpus
    shares, words = np.zeros((max(document) + 1, topics)), np.zeros((topics, len(vocabulary)))
    total = 0.0
    for d, w, k in zip(document, word, z, strict=True):
        total += np.log((shares[d, k] + alpha) / (shares[d].sum() + topics * alpha))
        total += np.log((words[k, w] + eta) / (words[k].sum() + len(vocabulary) * eta))
        shares[d, k] += 1
        words[k, w] += 1
    return total


def package(corpus, sweeps, topics, seed, alpha=lda.ALPHA):
    """The collapsed sampler of the package ``lda``, run on the corpus."""
    theirs = pytest.importorskip("lda")
    document, word, vocabulary = corpus
    counts = np.zeros((max(document) + 1, len(vocabulary)), dtype=int)
    np.add.at(counts, (document, word), 1)
    level = logging.getLogger("lda").level
    logging.getLogger("lda").setLevel(logging.ERROR)
    try:
        settings = {"n_topics": topics, "alpha": alpha, "eta": lda.ETA}
        return theirs.LDA(n_iter=sweeps, random_state=seed, **settings).fit(counts)
    finally:
        logging.getLogger("lda").setLevel(level)


def distance(ours, theirs):
    """Standard errors between the means of two sets of chains, with a sign."""
    error = np.sqrt(ours.var(ddof=1) / ours.size + theirs.var(ddof=1) / theirs.size)
    return (ours.mean() - theirs.mean()) / error


# ---- labels alone ----------------------------------------------------------------------------


def test_the_likelihood_of_labels_is_that_of_urns():
    corpus = lda.bars(documents=4, length=15)
    z = np.random.default_rng(3).integers(5, size=60)

    found = lda.collapsed_log_likelihood(z, corpus, 5, **PLAIN)
    assert found == pytest.approx(urn(z, corpus, 5, **PLAIN), rel=1e-12)
    assert found != pytest.approx(urn(z, corpus, 5, alpha=0.3, eta=0.7), rel=1e-3)


def test_the_likelihood_of_labels_is_that_of_the_package():
    corpus = lda.bars()
    fitted = package(corpus, sweeps=5, topics=6, seed=1)
    d, k = np.nonzero(fitted.ndz_)
    # Which token has which topic is not kept: any labels with the same two tables will do.
    shares, words = fitted.ndz_, fitted.nzw_
    z, document = np.repeat(k, shares[d, k]), np.repeat(d, shares[d, k])
    order = np.argsort(z, kind="stable")
    word = np.empty_like(z)
    word[order] = np.concatenate([np.repeat(np.arange(words.shape[1]), row) for row in words])

    found = lda.collapsed_log_likelihood(z, (document, word, corpus[2]), 6)
    assert found == pytest.approx(fitted.loglikelihood(), rel=1e-9)


def test_point_estimates_are_means_given_the_labels():
    corpus = lda.bars(documents=3, length=10)
    z = np.random.default_rng(4).integers(3, size=(2, 4, 30))
    theta, phi = lda.from_assignments({"z": z}, corpus, 3, **PLAIN)
    document, word, vocabulary = corpus

    assert (theta.shape, phi.shape) == ((2, 3, 3), (2, 3, len(vocabulary)))
    for chain in range(2):
        shares = [(np.sum((document == 1) & (s == 2)) + 0.7) / (10 + 3 * 0.7) for s in z[chain]]
        words = [
            (np.sum((word == 5) & (s == 2)) + 0.3) / (np.sum(s == 2) + len(vocabulary) * 0.3)
            for s in z[chain]
        ]
        assert theta[chain, 1, 2] == pytest.approx(np.mean(shares), rel=1e-12)
        assert phi[chain, 2, 5] == pytest.approx(np.mean(words), rel=1e-12)
    assert theta.sum(axis=-1) == pytest.approx(1)
    assert phi.sum(axis=-1) == pytest.approx(1)


def test_perplexity_is_the_number_of_words_where_all_are_equally_probable():
    document, word, vocabulary = lda.bars()
    theta = np.random.default_rng(5).dirichlet(np.ones(4), size=max(document) + 1)
    phi = np.full((4, len(vocabulary)), 1 / len(vocabulary))
    sure = np.eye(len(vocabulary))[[5, 5, 5, 5]]

    assert lda.perplexity(theta, phi, document, word) == pytest.approx(len(vocabulary))
    assert lda.perplexity(theta, sure, document[word == 5], word[word == 5]) == pytest.approx(1)


def test_what_is_held_out_and_what_is_kept_are_the_corpus():
    document, word, vocabulary = lda.bars()
    kept, out = lda.held_out((document, word, vocabulary), every=7)
    both = np.concatenate([kept[0], out[0]]), np.concatenate([kept[1], out[1]])

    assert len(out[1]) == len(word) // 7
    assert kept[2] is vocabulary
    assert sorted(zip(*both, strict=True)) == sorted(zip(document, word, strict=True))


# ---- samplers --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", lda.WAYS)
def test_each_way_is_proved_and_says_whether_it_is_exact(way):
    model = lda.model(corpus=lda.bars(documents=4, length=10, side=2), topics=3)
    assert gp.compile(model, **lda.WAYS[way]).verify().proved
    if way in EXACT:
        gp.compile(model, **lda.WAYS[way], exact=True)
    else:
        with pytest.raises(gp.CompileError):
            gp.compile(model, **lda.WAYS[way], exact=True)


def likelihoods(way, corpus, prior, *, draws, warmup, chains=4):
    """log p(w, z) of each draw, and the draws."""
    sampler = gp.compile(lda.model(corpus=corpus, **prior), **lda.WAYS[way])
    found = sampler.sample(draws=draws, warmup=warmup, chains=chains, seed=6, progress=False)
    fit = [[lda.collapsed_log_likelihood(z, corpus, **prior) for z in c] for c in found["z"]]
    return np.array(fit), found


def test_the_ways_agree_on_two_thousand_words_with_scans_interpreted(monkeypatch):
    monkeypatch.setattr(scans, "is_compiled", lambda: False)
    corpus, run = small_corpus(), {"draws": 20, "warmup": 15}
    fits = {way: likelihoods(way, corpus, SMALL, **run)[0].mean(axis=1) for way in EXACT}
    other = likelihoods("naive", corpus, {**SMALL, "eta": 30}, **run)[1]["z"]
    wrong = np.array([[lda.collapsed_log_likelihood(z, corpus, **SMALL) for z in c] for c in other])

    for way in EXACT[1:]:
        assert abs(distance(fits["naive"], fits[way])) < 4
    assert abs(distance(fits["naive"], wrong.mean(axis=1))) > 4


def test_labels_drawn_at_once_leave_a_random_start_behind():
    corpus = small_corpus()
    fit, _ = likelihoods("approximately collapsed", corpus, SMALL, draws=20, warmup=15)
    rng = np.random.default_rng(8)
    dealt = [
        lda.collapsed_log_likelihood(rng.integers(4, size=len(corpus[1])), corpus, **SMALL)
        for _ in range(8)
    ]
    assert distance(fit.mean(axis=1), np.array(dealt)) > 4


def test_scans_interpreted_and_compiled_give_the_same_draws(monkeypatch):
    if importlib.util.find_spec("numba") is None:
        pytest.skip("without Numba there is one of them")
    run = {"draws": 3, "warmup": 1, "chains": 1}
    for way in ("collapsed", "partially collapsed"):
        with monkeypatch.context() as patched:
            patched.setattr(scans, "is_compiled", lambda: False)
            _, slow = likelihoods(way, small_corpus(), SMALL, **run)
        _, fast = likelihoods(way, small_corpus(), SMALL, **run)
        assert np.array_equal(slow["z"], fast["z"])
        assert np.array_equal(slow["theta"], fast["theta"])


def test_a_plot_is_a_picture_of_every_way(tmp_path):
    pytest.importorskip("matplotlib")
    lines = {way: np.linspace(-9e5, -6e5, 30) + 1e4 * i for i, way in enumerate(lda.WAYS)}
    lda.plot(tmp_path / "lines.png", lines)
    picture = (tmp_path / "lines.png").read_bytes()
    assert struct.unpack(">II", picture[16:24]) == (520, 320)
    lda.plot(tmp_path / "one.png", {"naive": lines["naive"]})
    assert (tmp_path / "one.png").read_bytes() != picture


@pytest.mark.slow
def test_the_ways_agree_on_topics_that_mix():
    corpus = lda.bars(documents=8, length=30, side=2)
    fits = {
        way: likelihoods(way, corpus, SMALL, draws=1000, warmup=200, chains=8)[0].mean(axis=1)
        for way in EXACT
    }
    for way in EXACT[1:]:
        assert abs(distance(fits["naive"], fits[way])) < 4


@pytest.mark.slow
def test_collapsed_topics_guess_held_out_words_as_well_as_those_of_the_package():
    kept, out = lda.held_out(lda.reuters())
    sweeps, topics, seeds = 200, 20, range(5)
    ours = {way: np.array([guessed(way, kept, out, sweeps, s) for s in seeds]) for way in EXACT}
    fitted = [package(kept, sweeps, topics, seed) for seed in seeds]
    theirs = np.array([lda.perplexity(f.doc_topic_, f.topic_word_, *out) for f in fitted])

    # In as many sweeps from a start that is the same, which the naive sampler does not manage.
    assert abs(distance(ours["collapsed"], theirs)) < 4
    assert distance(ours["naive"], theirs) > 4


def guessed(way, kept, out, sweeps, seed):
    """The perplexity of what was held out, from the labels after the last sweep."""
    draws, _ = lda.followed(way, kept, sweeps, seed=seed)
    theta, phi = lda.from_assignments({"z": draws["z"][:, -1:]}, kept)
    return lda.perplexity(theta[0], phi[0], *out)
