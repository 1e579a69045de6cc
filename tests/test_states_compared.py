"""Densities are compared where they keep their digits and nothing overflows, or rows say so."""

import numpy as np
import pytest
from scipy.special import logsumexp

import gibbsppl as gp
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.checks.results import Row, badness, worst
from gibbsppl.checks.states import found_states
from gibbsppl.checks.verification import _Check
from gibbsppl.checks.wander import wandered
from gibbsppl.initial.search import LEAST, overflows
from gibbsppl.model.density import log_density, log_terms, size_of_terms


def compiled(declare):
    with gp.Model(coords={"i": 3}) as model:
        declare()
    return gp.compile(model)


def vague():
    """From a start without room sweeps go on too."""
    time = gp.Data("time", [10.0, 50, 90], dims="i")
    a, b = gp.Normal("a", 0, tau=1e-4), gp.Normal("b", 0, tau=1e-4)
    gp.Gamma("y", shape=2, rate=gp.exp(a + b * time), dims="i", observed=[2, 5, 3])


def saturated():
    """The mean is zero wherever the exponential overflows."""
    a = gp.Normal("a", 0, sigma=1000)
    gp.Normal("y", 1 / (1 + gp.exp(a)), tau=1, observed=0.0)


def steep():
    """A change of one has a log density of less than -1e80."""
    gp.Poisson("y", gp.exp(200 * gp.Normal("a", 0, sigma=1)), observed=1)


def overflowing_everywhere():
    a = gp.Normal("a", 400, sigma=1e-3)
    gp.Normal("y", 0, tau=gp.exp(a), observed=0.0)


def without_digits_anywhere():
    x = gp.Normal("x", 0, sigma=1e-8)
    gp.Normal("y", x, sigma=1e-8, observed=1.0)


def test_a_start_is_settled_where_there_is_room():
    sampler = compiled(vague)
    graph, data = sampler.graph, sampler.data
    for seed in (3, 4):
        found = next(found_states(np.random.default_rng(seed), graph, sampler.program, data))

        assert len(found.compared) == 2
        values = {**data, **found.start}
        assert min(log_density(f, values, graph.sizes).min() for f in graph.factors) > LEAST
        assert not overflows(graph.factors, values, graph.sizes)


def test_walks_do_not_go_where_a_power_overflows():
    sampler = compiled(saturated)
    graph, data = sampler.graph, sampler.data
    ends = [
        float(wandered(np.random.default_rng(s), graph, data, {"a": np.array(100.0)})["a"])
        for s in range(30)
    ]

    assert max(ends) > 150
    assert max(ends) < np.log(np.finfo(float).max) / 2


def test_changes_are_so_small_that_digits_are_kept():
    sampler = compiled(steep)
    steps, parts = sampler.schedule.steps, (sampler.data, {"a": np.array(0.0)})
    for seed in range(20):
        rng = np.random.default_rng(seed)
        (row,) = ratio_check(rng, sampler.graph, sampler.program, steps, *parts)

        assert row.proved
        assert row.tolerance < 1


@pytest.mark.parametrize("declare", [overflowing_everywhere, without_digits_anywhere])
def test_where_no_state_can_be_compared_nothing_is_proved_and_every_row_says_so(declare):
    sampler = compiled(declare)
    found = sampler.verify(1)

    assert found.passed
    assert {s.name for s in sampler.schedule.steps} < {r.step for r in found.rows}
    # (the sweep that is compiled is compared with that in NumPy)
    assert not any(r.proved for r in found.rows if r.kind != "compiled")
    assert "not proved" in str(found)


def test_the_density_of_a_share_of_exponentials_that_are_no_numbers():
    with gp.Model(coords={"i": 3, "t": 4}) as model:
        x = gp.HalfFlat("x", dims=("i",))
        at = gp.Index("at", np.array([0, 2, 0, 1]), of="i", dims="t")
        power = gp.exp(x.at("i", at))
        gp.Categorical("z", power / (1 + gp.sum(power, "t")), event="t")
    values = {**model.data, "z": np.array(1)}

    for shift in (0.0, 1000.0, 1e5):
        heights = shift + np.array([2.0, 1.5, 3.0])
        found = log_terms(model.graph, {**values, "x": heights})["z"]
        expected = heights[2] - logsumexp([0.0, *heights[[0, 2, 0, 1]]])
        assert found == pytest.approx(expected, rel=1e-12, abs=4 * np.finfo(float).eps * shift)


def test_the_density_of_what_is_left_of_shares_of_exponentials():
    """A part of the product is negative: the log is taken of all of it."""
    with gp.Model(coords={"i": 3}) as model:
        x = gp.HalfFlat("x", dims="i")
        rest = 1 / (gp.sum(gp.exp(-x), "i") - 4)
        gp.Potential("p", gp.log(-(rest * 2)))
    values = {"x": np.array([2.0, 1.5, 3.0])}
    total = np.exp(-values["x"]).sum()

    found = log_terms(model.graph, values)["p"]
    assert found == pytest.approx(np.log(2 / (4 - total)), rel=1e-12)


def of_large_squares():
    """Exponentials of data whose squares are too large for numbers."""
    x = gp.Data("x", [23.0, -22.0, 1.0], dims="i")
    share = gp.Beta("share", 1, 1)
    gp.Bernoulli("z", share, observed=1)
    power = gp.exp(x * x)
    gp.Categorical("y", power / gp.sum(power, "i"), event="i")


def test_shares_of_large_exponentials_of_data_are_compared():
    sampler = compiled(of_large_squares)

    assert all(sampler.verify(seed).proved for seed in range(4))


def far_out():
    """What sweeps lead to is so large that the terms of the auxiliary variable keep no digits."""
    x = gp.HalfStudentT("x", nu=2, scale=1)
    y = gp.HalfFlat("y", dims="i", observed=np.ma.masked_array([0, 0, 5.7], mask=[1, 1, 0]))
    gp.FisherSnedecor("z", nu_1=x, nu_2=y * x, dims="i", observed=[4.7, 0.6, 1.4])


def test_graphs_are_compared_where_all_of_them_keep_digits():
    sampler = compiled(far_out)

    assert all(sampler.verify(seed).proved for seed in range(8))


def of_an_exponential():
    """The conditional of x is a Gamma distribution of exp(-x)."""
    x = gp.Flat("x")
    gp.Exponential("y", rate=gp.exp(-x), dims="i", observed=[0.4, 0.6, 0.7])


@pytest.mark.parametrize(("x", "is_proved"), [(700.0, True), (720.0, False)])
def test_comparisons_stay_where_the_scale_that_is_drawn_keeps_its_digits(x, is_proved):
    sampler = compiled(of_an_exponential)
    steps, parts = sampler.schedule.steps, (sampler.data, {"x": np.array(x)})
    assert 0 < np.exp(-720.0) < np.finfo(float).tiny < np.exp(-700.0)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        (row,) = ratio_check(rng, sampler.graph, sampler.program, steps, *parts)

        assert row.family == "Gamma"
        assert row.proved == is_proved
        assert row.is_hidden != is_proved


def of_a_shifted_count():
    """A missing count has a Binomial of its distance from another count, which is often 0."""
    seen = np.ma.masked_array([0, 0, 1], mask=[1, 1, 0])
    n = gp.Binomial("n", n=3, p=0.2, dims="i", observed=seen)
    gp.Binomial("y", n=n, p=0.5, dims="i", observed=[0, 0, 1])


def test_counts_are_compared_where_they_are_zero():
    sampler = compiled(of_a_shifted_count)

    assert all(sampler.verify(seed).proved for seed in range(4))


def around_far_locations():
    """Squares of locations keep no digits where the locations start, and are left slowly."""
    x = gp.Frechet("x", shape=0.2, scale=1, dims="i")
    gp.StudentT("y", nu=1, mu=x, sigma=1, lower=-0.7, dims="i")
    gp.VonMises("z", mu=0, kappa=gp.minimum(x, 4), dims="i", observed=[0.4, -0.6, 0.7])


def test_where_digits_are_lost_steps_are_compared_nearer_to_the_centre():
    sampler = compiled(around_far_locations)

    assert all(sampler.verify(seed).proved for seed in range(6))


def test_the_size_of_terms_whose_arguments_are_not_known_to_be_positive():
    with gp.Model(coords={"i": 3}) as model:
        flag = gp.Data("flag", [1, 0, 1], dims="i")
        y = gp.Bernoulli("y", 0.5, dims="i")
        gp.Potential("p", gp.loggamma(flag * (1 - y) + 1))
    values = {**model.data, "y": np.array([0, 1, 1])}
    size = sum(size_of_terms(f, values, model.graph.sizes) for f in model.graph.potentials)

    # (log gammas of 2, 1 and 1 are zero; slopes of log(z) + 1/z at most, times the sizes 2, 1, 3)
    assert size == pytest.approx(2 * (np.log(2) + 1 / 2) + 1 + 3, rel=1e-12)


FAILED, OPEN = Row("x", "exact", "-", 1e-3, 1e-9), Row("x", "graph", "-", None, 5.0)
PASSED = Row("x", "exact", "-", 1e-12, 1e-9)
HIDDEN = Row("x", "graph", "-", None, 5.0, is_hidden=True)


@pytest.mark.parametrize("least", range(4))
def test_the_worst_of_comparisons_at_several_states_counts(least):
    """What has nothing to compare with stays so; what rounding hides may be seen elsewhere."""
    in_order = [HIDDEN, PASSED, OPEN, FAILED]
    rows = in_order[: least + 1]

    assert worst(rows) is worst(rows[::-1]) is in_order[least]


def test_a_comparison_of_infinite_tolerance_is_worse_than_one_that_passes():
    nothing = Row("x", "exact", "-", 1.0, np.inf)

    assert not worst([nothing, PASSED]).passed
    assert badness((1.0, np.inf)) == np.inf


def test_a_wrong_draw_at_the_first_state_is_seen_after_later_ones_have_passed(monkeypatch):
    """The first state is so far out that rounding hides another row, and later ones are made."""
    seen = []

    def of_steps(check, rng, state):
        seen.append(state)
        return (FAILED, HIDDEN) if len(seen) <= 2 else (PASSED, PASSED)

    monkeypatch.setattr(_Check, "_of_steps", of_steps)
    monkeypatch.setattr(_Check, "_of_graphs", lambda *_: ())
    sampler = compiled(vague)
    rows = sampler.verify().rows

    assert len(seen) > 2
    assert [r.passed for r in rows[:2]] == [False, True]
