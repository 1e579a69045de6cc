"""Observed sums of random variables in programs: ``y[i] ~ dsum(a[i], b[i])``."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.output.diagnostics import mcse_mean

COUNTS = """
model {
  for (i in 1:3) { y[i] ~ dsum(a[i], b[i]) }
  for (j in 1:3) { a[j] ~ dpois(2); b[j] ~ dpois(3) }
  total <- sum(b)
}
"""
Y = np.array([3, 5, 0])


def drawn(text, data, **settings):
    sampler = gp.compile(gp.read_bugs(text, data))
    assert sampler.verify().proved
    return sampler.sample(2000, seed=1, progress=False, **settings)


def assert_means(draws, wanted):
    """At a level of 1e-5 for each, Bonferroni over the elements."""
    flat = draws.reshape(*draws.shape[:2], -1)
    for k, mean in enumerate(np.ravel(wanted)):
        error = mcse_mean(flat[..., k])
        gap = abs(flat[..., k].mean() - mean)
        assert gap <= stats.norm.isf(1e-5 / 2 / np.size(wanted)) * error + 1e-12


def test_counts_given_their_sum_are_binomial():
    draws = drawn(COUNTS, {"y": Y})
    assert (draws["a"] + draws["b"] == Y).all()
    assert_means(draws["a"], 0.4 * Y)
    assert (draws["total"] == draws["b"].sum(-1)).all()


def test_binomials_given_their_sum_are_hypergeometric():
    text = "model { y ~ dsum(a, b)  a ~ dbin(0.3, 10)  b ~ dbin(0.3, 5) }"
    draws = drawn(text, {"y": 4})
    assert_means(draws["a"][..., None], [4 * 10 / 15])


def test_normals_given_their_sum_share_what_is_left():
    text = """
    model {
      for (i in 1:2) { y[i] ~ dsum(a[i], b[i], 1) }
      for (k in 1:2) { b[k] ~ dnorm(m, 4) }
      for (k in 1:2) { a[k] ~ dnorm(0, 1) }
      m ~ dnorm(2, 1)
    }
    """
    y = np.array([3.0, 6.0])
    draws = drawn(text, {"y": y})
    np.testing.assert_allclose(draws["a"] + draws["b"] + 1, np.broadcast_to(y, draws["a"].shape))
    # (a, m) are normal with what y - 1 - a is told to be
    precision = np.array([[5, 0, 4], [0, 5, 4], [4, 4, 9.0]])
    mean = np.linalg.solve(precision, [4 * 2, 4 * 5, 2 + 4 * 7])
    assert_means(np.concatenate([draws["a"], draws["m"][..., None]], -1), mean)


def test_a_sum_that_is_not_observed_is_computed():
    text = "model { y ~ dsum(a, b)  a ~ dpois(2)  b ~ dpois(3)  z ~ dpois(y + 1) }"
    draws = drawn(text, {"z": 9})
    assert (draws["y"] == draws["a"] + draws["b"]).all()


@pytest.mark.parametrize(
    ("old", "new", "data"),
    [
        ("dsum(a[i], b[i])", "dsum(a[i], b[4 - i])", {"y": Y}),
        ("b[j] ~ dpois(3)", "b[j] ~ dpois(3) T(0, 9)", {"y": Y}),
        ("b[j] ~ dpois(3)", "b[j] ~ dpois(3)", {"y": np.ma.masked_array(Y, [False, True, False])}),
    ],
)
def test_sums_without_such_a_summand_are_refused(old, new, data):
    text = COUNTS.replace(old, new).replace("a[j] ~ dpois(2)", "a[j] ~ dpois(2) T(0, 9)")
    with pytest.raises(BugsError, match=r"line 3.*dsum.*last summand"):
        gp.read_bugs(text, data)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ dsum(b, b)  b ~ dpois(3)",
        "y ~ dsum(b, a)  b ~ dpois(3)  a ~ dcat(p[])",
        "y ~ dsum(b, a)  b ~ dpois(a)  a ~ dpois(2)",
    ],
)
def test_a_summand_that_cannot_be_computed_is_passed_over(text):
    """Twice in the sum, without a log density of numbers, or read by another summand."""
    data = {"y": 4, "p": [0.2, 0.3, 0.5]} if "p[]" in text else {"y": 4}
    if "(b, b)" in text:
        with pytest.raises(BugsError, match="last summand"):
            gp.read_bugs(f"model {{ {text} }}", data)
        return
    draws = drawn(f"model {{ {text} }}", data)
    assert (draws["a"] + draws["b"] == 4).all()


def test_the_second_reader_tells_a_wrong_rest(monkeypatch):
    """Planted: the summand takes the sum for the rest."""
    from gibbsppl.bugs import observed_sums

    monkeypatch.setattr(observed_sums, "reduce", lambda _, values: values[0])
    sampler = gp.compile(gp.read_bugs(COUNTS, {"y": Y}))
    assert not sampler.verify().passed
