"""What rules make of terms: censorings, gates, counts that are sums, sums that may be zero, tails.

That each is the identity it says is checked in `test_rewrites`, for the examples here too.
"""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy as sp
from rewrites import examples, examples_gates, examples_hidden, examples_models
from rewrites.marginals import compared
from scipy import stats
from test_rewrites import declared, latent, made, values_of

import gibbsppl as gp
from gibbsppl.algebra.expressions import Leaf
from gibbsppl.algebra.functions import Equals, LogMass, LogPhi
from gibbsppl.model.density import log_density
from gibbsppl.model.graph import Censoring
from gibbsppl.rewrites.applied import applications
from gibbsppl.rewrites.driver import REWRITES
from gibbsppl.rewrites.rows import Facts


def test_values_are_hidden_by_all_censorings_of_a_statement():
    """Two limits, and an interval between them for values that nothing else hides."""
    (rule,) = (r for r in REWRITES if r.name == "hidden value")
    model = examples_hidden.between_two_detection_limits
    graph, data = declared(model)
    (y,) = (s for s in graph.statements if s.name == "y")
    between = Censoring(Equals(y.target, 0.3) + Equals(y.target, 0.7), sp.S.Zero, sp.S.One)
    three = replace(y, censored=(*y.censored, between))
    graph = replace(graph, statements=tuple(three if s is y else s for s in graph.statements))
    (rewrite,) = applications(graph, data, rule, latent(graph))
    kept = replace(three, censored=three.censored[1:])
    forgotten = replace(rewrite.before, statements=(*graph.statements[:-1], kept))

    assert graph.statements[-1] is three
    assert len(rewrite.statement.over[0]) == len(examples.MEASURED) - 1
    assert not rewrite.graph.statement("y").log_density.has(LogMass, LogPhi)
    assert compared(rewrite, values_of(model, 2)).passed
    assert not compared(replace(rewrite, before=forgotten), values_of(model, 2)).passed


@pytest.mark.parametrize(
    ("model", "terms"),
    [
        (examples_gates.logits_by_a_hidden_state, 1),
        (examples_gates.logits_by_a_known_state, 1),
        (examples_gates.logits_of_those_who_are_there, 2),
    ],
)
def test_log_odds_are_read_at_the_state_that_they_depend_on(model, terms):
    """One variable for each outcome, not one for each value of the state."""
    (rule,) = (r for r in REWRITES if r.name == "Polya-Gamma")
    rewrites = list(applications(*declared(model), rule, {"b"}))

    assert len(rewrites) == terms
    for rewrite in rewrites:
        assert compared(rewrite, values_of(model, 3)).passed


def test_counts_that_are_sums_are_added_up_in_a_table():
    """One variable for each break of a stick, not one for each answer too."""
    (rule,) = (r for r in REWRITES if r.name == "Polya-Gamma")
    model = examples_models.tables_of_answers_one_after_the_other
    (rewrite,) = made(rule, model)
    times = rewrite.data["y_times"]
    wrong = replace(rewrite, data={**rewrite.data, "y_times": times + 1})
    table = declared(model)[1]["y"]
    left = table[:, ::-1].cumsum(axis=1)[:, :0:-1]

    assert np.array_equal(times, left[left > 0])
    assert not compared(wrong, values_of(model, 1)).passed


def facts_of(model):
    graph, data = declared(model)
    return graph, Facts(graph, data, "")


def test_a_sum_is_positive_where_a_weight_of_it_is():
    graph, facts = facts_of(examples_models.choices_of_which_some_are_not_counted)
    (chosen,) = graph.potentials
    (log,) = chosen.log_density.atoms(sp.log)
    (times,) = (x for x in chosen.log_density.atoms(Leaf) if x.array.name == "times")
    total = log.args[0]

    assert facts.is_nonnegative(total)
    assert not facts.is_positive(total)
    assert facts.is_positive_where(total, times, chosen.over)
    assert not facts.is_positive_where(total, sp.S.One, chosen.over)
    assert not facts.is_positive_where(-total, times, chosen.over)
    assert not facts.is_positive_where(total - 1, times, chosen.over)


def test_gates_are_told_from_what_they_are_before():
    graph, facts = facts_of(examples_gates.a_hidden_state_of_each_term)
    leaves = {s.target.array.name: s.target for s in graph.latent}
    z, c, a = leaves["z"], leaves["c"], leaves["a"]

    assert facts.gated(sp.expand(3 * c * (1 - z))) == (1 - z, 3 * c)
    assert facts.gated(sp.expand(a * z * (z - 1))) == (z * (1 - z), -a)
    assert facts.gated(1 + z) == (1, 1 + z)


# ---- far tails -------------------------------------------------------------------------------


CUTS = ((-60.0, -1.0), (-1.0, 1.0), (1.0, 60.0))
DIGITS = 60
MEANS = (-45.0, -38.0, -9.5, -7.0, 0.5, 9.5, 38.0, 45.0)


def grades():
    """An ordered probit with known cuts, one answer of each kind."""
    lower, upper = zip(*CUTS, strict=True)
    with gp.Model(coords={"grade": 3}) as m:
        b = gp.Normal("b", 0, tau=1e-3)
        low, high = gp.Data("low", lower, dims="grade"), gp.Data("high", upper, dims="grade")
        p = gp.Phi(high - b) - gp.Phi(low - b)
        gp.Categorical("y", p, dims="i", event="grade", observed=[0, 1, 2])
    return m


def log_masses(mean):
    """The log probability of each answer, to many digits, from the tail in which it is small."""
    found = []
    with mpmath.workdps(DIGITS):
        for low, high in CUTS:
            ends = (low - mean, high - mean) if mean > 0 else (mean - high, mean - low)
            below, above = (mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2 for z in ends)
            found.append(float(mpmath.log(above - below)))
    return np.array(found)


def is_right(found, mean):
    """Whether logs are those of the masses, but for the rounding of the squares of the ends."""
    expected = log_masses(mean)
    tolerance = 64 * np.finfo(float).eps * (1 + np.abs(expected) + mean**2)
    return bool((np.abs(found - expected) <= tolerance).all())


@pytest.mark.parametrize("mean", MEANS)
def test_the_probability_between_two_cuts_is_right_in_both_tails(mean):
    """Also where it is less than the smallest float, or each end rounds to 1."""
    graph, data = declared(grades)
    y = graph.statement("y")

    assert is_right(log_density(y, {**data, "b": np.array(mean)}, graph.sizes), mean)


def test_a_difference_that_is_taken_as_it_stands_is_seen():
    lower, upper = np.array(CUTS).T
    with np.errstate(all="ignore"):
        plain = {m: np.log(stats.norm.cdf(upper - m) - stats.norm.cdf(lower - m)) for m in MEANS}

    assert [m for m in MEANS if is_right(plain[m], m)] == [0.5, 9.5]


@pytest.mark.parametrize("rewrites", [{}, False])
def test_a_chain_comes_back_from_where_an_answer_is_all_but_impossible(rewrites):
    sampler = gp.compile(grades(), rewrites=rewrites)
    draws = sampler.sample(draws=20, warmup=20, chains=1, seed=1, init={"b": 45.0}, progress=False)

    assert sampler.verify().proved
    assert np.abs(np.asarray(draws["b"])).max() < 45


def test_values_known_by_their_bounds_are_not_taken_for_utilities():
    """Their bounds are theirs, whatever the precision is: the values themselves are the better."""
    graph, data = declared(examples_hidden.found_between_two_visits)
    names = [r.name for r in REWRITES if list(applications(graph, data, r, latent(graph)))]

    assert names == ["hidden value"]


@pytest.mark.parametrize("outcomes", [[0, 1, 1], [0, 1, 2]])
def test_weights_that_add_up_to_one_are_outcomes_only_if_they_are_0_or_1(outcomes):
    """``2 log Phi(x) - log Phi(-x)`` is no probability of a latent normal."""
    with gp.Model(coords={"i": 3}) as m:
        mu = gp.Normal("mu", 0, sigma=1)
        y = gp.Data("y", outcomes, dims="i")
        x = mu * gp.Data("x", [1.0, 0.5, -1.0], dims="i")
        gp.Potential("seen", y * gp.log(gp.Phi(x)) + (1 - y) * gp.log(gp.Phi(-x)))

    assert gp.compile(m, rewrites={"latent normal": True}).verify().proved
