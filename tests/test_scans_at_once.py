"""Approximate scans: all labels at once, each as one more element like it given all labels."""

import re
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp
from test_loops_of_moves import assert_compiled_is_plain

import gibbsppl as gp
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.code.program import load
from models import lda

DOCUMENTS, WORDS, TOPICS = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 2, 0]), 3
MEASURED = np.array([-1.2, -0.7, 0.4, 1.1, 1.6])


def topics(documents=DOCUMENTS, words=WORDS):
    """The labels of words, with shares and words of topics integrated out."""
    return lda.model(corpus=(documents, words, ["a", "b", "c"]), topics=TOPICS)


def normals(measured=MEASURED):
    """The labels of numbers, with means, precisions and shares integrated out."""
    with gp.Model(coords={"k": 3, "i": len(measured)}) as m:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        tau = gp.Gamma("tau", 2, rate=1.5, dims="k")
        mu = gp.Normal("mu", 0.3, tau=0.5 * tau, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=measured)
    return m


def gates(measured=MEASURED):
    """Labels 0 and 1 that point to no place: all add to the same sums."""
    with gp.Model(coords={"i": len(measured)}) as m:
        p, b = gp.Beta("p", 2, 1), gp.Normal("b", 0.3, tau=0.5)
        z = gp.Bernoulli("z", p, dims="i")
        gp.Normal("y", b * z, tau=2.0, dims="i", observed=measured)
    return m


# Each model, of one more element like another too; the names integrated out.
CASES = {
    "topics": (lambda *e: topics(*with_more(e, DOCUMENTS, WORDS)), ("theta", "phi")),
    "normals": (lambda *e: normals(*with_more(e, MEASURED)), ("w", "mu", "tau")),
    "gates": (lambda *e: gates(*with_more(e, MEASURED)), ("p", "b")),
}


def with_more(elements, *columns):
    """Columns of data, with some elements once more."""
    return (np.append(c, c[list(elements)]) for c in columns)


@cache
def at_once(name):
    model, names = CASES[name]
    return gp.compile(model(), collapse=names, approximate=True)


def weighed(sampler, state):
    """The log weights that all labels are drawn from, each less what all of its labels share."""
    function = sampler.program.sweep.__globals__["z_at_once"]
    weights = np.asarray(function(state, sampler.constants))
    return weights - np.logaddexp.reduce(weights, axis=0)


@pytest.mark.parametrize("element", [0, 3])
@pytest.mark.parametrize("name", CASES)
def test_a_label_has_the_weights_of_one_more_element_like_it(name, element):
    """As an exact scan of the larger model has them, which takes nothing but that element off."""
    model, names = CASES[name]
    sampler, larger = at_once(name), gp.compile(model(element), collapse=names)
    z = np.array([1, 0, 1, 1, 0]) if name == "gates" else np.array([2, 0, 1, 2, 2])
    found = weighed(sampler, {"z": z})[:, element]
    given = larger.program.given_rest["z"]({"z": np.append(z, 0)}, larger.constants)
    expected = np.asarray(given)[:, -1]

    expected = expected - np.logaddexp.reduce(expected)
    assert found == pytest.approx(expected, rel=0, abs=RELATIVE_TOLERANCE * 100)


@pytest.mark.parametrize("name", CASES)
def test_exact_weights_and_those_drawn_from_are_proved(name):
    assert at_once(name).verify().proved


@pytest.mark.parametrize("name", CASES)
def test_a_sweep_by_other_weights_would_be_found(name):
    """Of the exact ones, in which the element's own contributions are taken off, say."""
    sampler = at_once(name)
    for wrong in (
        sampler.source.replace('rng, "z", z_at_once(s, c)', 'rng, "z", z_given_rest(s, c)'),
        re.sub(r"(def z_at_once.*?\n)(    s = s \|[^\n]*\n)", r"\1\2    s = s | "
               r"{n: v + 1 for n, v in s.items() if '_eta_' in n}" + "\n", sampler.source,
               count=1, flags=re.DOTALL),
    ):  # fmt: skip
        assert wrong != sampler.source
        planted = replace(sampler, program=load(wrong))
        assert not planted.verify().passed


def test_weights_of_words_are_tables():
    """Nothing in them is computed for each word: they are looked up, and multiplied."""
    source = at_once("topics").source
    body = source[source.index("def z_at_once") : source.index("def z_given_rest")]

    assert body.count("runtime.Table(") == 2
    assert 's["z"]' not in body


def test_words_of_the_sampler_tell_in_what_sense_it_is_approximate():
    shown = " ".join(str(at_once("topics")).split())

    assert "1 approximate" in shown
    assert (
        "all at once, approximately: each given all labels before, its own among them, theta, phi "
        "integrated out" in shown
    )


@pytest.mark.parametrize(
    "name", ["topics", *(pytest.param(n, marks=pytest.mark.slow) for n in ("normals", "gates"))]
)
def test_compiled_sweeps_are_plain_ones(name):
    """The same chain from the same generator."""
    pytest.importorskip("numba")
    assert_compiled_is_plain(at_once(name))


def test_labels_of_many_elements_are_not_those_of_the_posterior_but_near_it():
    """With the element itself counted, large counts are hardly changed, small ones are."""
    rng = np.random.default_rng(3)
    z = rng.integers(3, size=3000)
    many = normals(rng.normal(size=3000) + z)
    sampler = gp.compile(many, collapse=("w", "mu", "tau"), approximate=True)
    exact = np.asarray(sampler.program.given_rest["z"]({"z": z}, sampler.constants))
    exact = np.exp(exact - np.logaddexp.reduce(exact, axis=0))
    apart = np.abs(np.exp(weighed(sampler, {"z": z})) - exact).max()
    few = at_once("normals")
    small = np.asarray(few.program.given_rest["z"]({"z": z[:5]}, few.constants))
    small = np.exp(small - np.logaddexp.reduce(small, axis=0))

    # (a label's own share of the sums of a thousand, and of two)
    assert 0 < apart < np.abs(np.exp(weighed(few, {"z": z[:5]})) - small).max() / 10


def transitions(sampler, states, function):
    """The exact transition matrix of a sweep that draws all labels at once, by log weights."""
    rows = []
    for z in states:
        weights = np.asarray(function({"z": np.array(z)}, sampler.constants))
        odds = np.exp(weights - weights.max(axis=0))
        p = odds / odds.sum(axis=0)
        rows.append([np.prod([p[k, n] for n, k in enumerate(other)]) for other in states])
    return np.array(rows)


def test_the_posterior_is_nearly_what_sweeps_leave_as_it_is():
    """Exactly, by all states of the labels; with each element taken off it is further off."""
    corpus = (DOCUMENTS, WORDS, ["a", "b", "c"])
    sampler = at_once("topics")
    states = list(product(range(TOPICS), repeat=len(WORDS)))
    logs = [lda.collapsed_log_likelihood(np.array(z), corpus, TOPICS) for z in states]
    posterior = np.exp(logs - logsumexp(logs))
    names = ("z_at_once", "z_given_rest")
    functions, away = sampler.program.sweep.__globals__, []
    for name in names:
        matrix = transitions(sampler, states, functions[name])
        settled = np.linalg.matrix_power(matrix, 2**16)[0]
        away.append(np.abs(settled - posterior).sum() / 2)

    assert away == pytest.approx([0.098, 0.824], abs=0.0005)  # (as docs/lda.md says)
