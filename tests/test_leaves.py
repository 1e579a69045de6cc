"""Values that nothing sees: all others are drawn as if they were not there.

Against the same model without them (parameters of the conditionals, to rounding), against integrals
by quadrature, and with planted bugs.
"""

from dataclasses import replace

import numpy as np
import pytest
from references.monte_carlo import disagreements, mean_and_error
from scipy import integrate, stats

import gibbsppl as gp
from gibbsppl.analysis import known_limits
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.errors import CompileError
from gibbsppl.model.density import log_joint
from gibbsppl.rewrites import leaves
from gibbsppl.schedule.staleness import check_fresh

SEEN = [1.5, 0.2, 2.5]
LEVEL = 1e-6


def masked(values, *gaps):
    mask = np.zeros(len(values), dtype=bool)
    mask[list(gaps)] = True
    return np.ma.masked_array(values, mask=mask)


def counts(*, gaps):
    """Counts, the last of them missing."""
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=1)
        values = masked([3, 1, 4, 0, 0], 3, 4) if gaps else [3, 1, 4]
        gp.Poisson("y", rate, dims="i", observed=values)
    return m


def predicted(*, gaps):
    """Observations, and new ones of other parameters beside them."""
    with gp.Model(coords={"new": 4}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=SEEN)
        if gaps:
            other = gp.Normal("other", 2 * mu, tau=tau, dims="new")
            gp.Gamma("far", gp.exp(other), rate=1, dims="new")
    return m


def regions(*, gaps):
    """One array of two statements, one of them not observed at all."""
    with gp.Model(coords={"i": 5 if gaps else 3}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Array("x", dims="i", observed=masked([1.5, 0.2, 2.5, 0, 0], 3, 4) if gaps else SEEN)
        x[:3] = gp.Normal(0, tau=tau)
        if gaps:
            x[3:] = gp.Normal(1, tau=2 * tau)
    return m


def vectors(*, gaps):
    """Vectors that are not observed at all."""
    with gp.Model(coords={"k": 2}) as m:
        unit = gp.Data("unit", np.eye(2), dims=("k", "k'"))
        mu = gp.MvNormal("mu", 0, tau=unit, dims="k", event="k")
        gp.MvNormal("y", mu, tau=2 * unit, dims=("i", "k"), event="k", observed=[[1.0, 2.0]])
        if gaps:
            gp.MvNormal("z", 3 * mu, tau=unit, dims="k", event="k")
    return m


def labels(*, gaps):
    """Labels that nothing is observed of, beside one that is read."""
    with gp.Model(coords={"k": 2, "more": 3}) as m:
        weight = gp.Dirichlet("weight", 1.5, dims="k", event="k")
        gp.Categorical("z", weight, dims="i", event="k", observed=[0, 1, 1])
        if gaps:
            gp.Categorical("w", weight, dims="more", event="k")
    return m


TABLE = [[0.9, 0.1], [0.2, 0.8]]


def diagnoses(*, gaps, table=TABLE, chosen=None):
    """Labels by a row of a table, which others choose; nothing is observed of one of them."""
    with gp.Model(coords={"k": 2, "row": 2}) as m:
        one, other = (gp.Bernoulli(n, p) for n, p in (("one", 0.4), ("other", 0.7)))
        tables = {"seen": [[0.6, 0.4], [0.3, 0.7]], "unseen": table}
        rows = {n: gp.Data(n, t, dims=("row", "k")) for n, t in tables.items()}
        seen, unseen = ((t.at("row", 0), t.at("row", 1)) for t in rows.values())
        either = gp.equals(gp.maximum(one, other), 0)
        gp.Categorical("w", gp.where(either, *seen), event="k", observed=1)
        if gaps:
            condition = either if chosen is None else either * gp.Data("chosen", chosen, dims="k")
            gp.Categorical("z", gp.where(condition, *unseen), event="k")
    return m


WITHOUT = (counts, predicted, regions, vectors, labels, diagnoses)


def parameters(sampler, state):
    """What each step of the variables that both models have is drawn from."""
    constants = sampler.program.prepare(sampler.data)
    return {
        name: [np.asarray(p, dtype=float) for p in given(dict(state), constants)]
        for name, given in sampler.program.given_rest.items()
    }


@pytest.mark.parametrize("model", WITHOUT)
def test_the_others_are_drawn_as_in_the_model_without_them(model):
    whole = gp.compile(model(gaps=True), blocks=False, interweave=False)
    plain = gp.compile(model(gaps=False), blocks=False, interweave=False)
    (start,), _ = whole.initial_states(1, seed=1)
    given = parameters(whole, start.state)

    assert whole.schedule.leaves
    for name, expected in parameters(plain, start.state).items():
        for found, wanted in zip(given[name], expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("model", WITHOUT)
def test_they_are_drawn_last_and_proved(model):
    sampler = gp.compile(model(gaps=True))
    last = [n for s in sampler.schedule.steps for n in s.variables][-len(sampler.schedule.leaves) :]

    assert tuple(last) == sampler.schedule.leaves
    assert sampler.verify().proved
    assert "drawn last: no other variable sees" in str(sampler)
    assert "The others are drawn without it" in sampler.explain(last[-1])


def test_what_is_drawn_from_others_that_nothing_sees_is_drawn_after_them():
    assert gp.compile(predicted(gaps=True)).schedule.leaves == ("other", "far")


def test_they_have_their_distribution():
    sampler = gp.compile(predicted(gaps=True))
    draws = sampler.sample(4000, chains=1, warmup=10, seed=2, progress=False)
    scaled = (draws["other"] - 2 * draws["mu"][..., None]) * np.sqrt(draws["tau"])[..., None]
    mass = stats.gamma.cdf(draws["far"], np.exp(draws["other"]))

    assert stats.kstest(scaled.ravel(), stats.norm.cdf).pvalue > LEVEL
    assert stats.kstest(mass.ravel(), stats.uniform.cdf).pvalue > LEVEL


# ---- bounds ----------------------------------------------------------------------------------

ENDS = [0.0, 0.0, 2.0, 0.7]


def times(shape=2.0, side="above"):
    """Two times that were seen, and two of which only one end, or both, are."""
    with gp.Model(coords={"i": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=1)
        t = gp.Weibull("t", shape, rate=rate, dims="i", observed=masked([0.5, 1.5, 0, 0], 2, 3))
        end = gp.Data("end", ENDS, dims="i")
        if side == "above":
            gp.Potential("later", gp.log(end <= t))
        elif side == "between":
            gp.Potential("later", gp.log((end <= t) * (t < end + 1.6)))
        else:
            gp.Potential("sooner", gp.log(t <= end + 1.6))
    return m


CASES = {
    "Weibull above": (times(), lambda r: stats.weibull_min(2, scale=r**-0.5)),
    "exponential below": (times(1.0, "below"), lambda r: stats.expon(scale=1 / r)),
    "exponential between": (times(1.0, "between"), lambda r: stats.expon(scale=1 / r)),
}
BOUNDS = {
    "above": (ENDS, [np.inf] * 4),
    "below": ([0] * 4, np.add(ENDS, 1.6)),
    "between": (ENDS, np.add(ENDS, 1.6)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_is_the_integral(name):
    """The joint density in which the others are drawn, against the whole one integrated."""
    model, law = CASES[name]
    left = leaves.marginalise_leaves(model.graph, model.data)
    lower, upper = BOUNDS[name.split()[1]]
    for rate in (0.1, 1.0, 7.0):
        values = {**left.data, "rate": rate}
        seen = np.array([0.5, 1.5])
        row = law(rate)
        inside, errors = np.transpose(
            [integrate.quad(row.pdf, lower[i], upper[i], epsabs=0) for i in (2, 3)]
        )
        far = (errors / inside).sum() + 1e3 * np.finfo(float).eps
        expected = stats.gamma.logpdf(rate, 2) + row.logpdf(seen).sum() + np.log(inside).sum()
        assert abs(log_joint(left.graph, values) - expected) <= far


def test_values_with_bounds_are_proved():
    sampler = gp.compile(times())
    draws = sampler.sample(200, chains=2, seed=1, progress=False)["t"]

    assert sampler.schedule.leaves == ("t",)
    assert sampler.verify().proved
    assert "between which bounds" in str(sampler)
    assert (draws[..., 2:] >= ENDS[2:]).all()


def test_a_rate_that_sees_bounds_alone_is_drawn_independently():
    sampler = gp.compile(times())
    draws = sampler.sample(4000, chains=1, warmup=0, seed=3, progress=False)["rate"]
    shape, rate = 4, 1 + 0.5**2 + 1.5**2 + 2.0**2 + 0.7**2
    assert stats.kstest(draws.ravel(), stats.gamma(shape, scale=1 / rate).cdf).pvalue > LEVEL


def test_values_stay_where_without_them_others_would_be_drawn_less_well():
    with gp.Model(coords={"i": 3}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        t = gp.Normal("t", mu, tau=1, dims="i", observed=masked([0.5, 1.5, 0], 2))
        gp.Potential("later", gp.log(gp.Data("end", [0.0, 0.0, 2.0], dims="i") <= t))
    assert not gp.compile(m).schedule.leaves


@pytest.mark.parametrize("name", ["exponential below", "exponential between"])
def test_so_do_those_that_would_be_hidden_anew(name):
    assert not gp.compile(CASES[name][0]).schedule.leaves


def test_answers_that_are_missing_need_no_auxiliary_variables():
    with gp.Model(coords={"i": 5}) as m:
        beta = gp.Normal("beta", 0, tau=0.1)
        x = gp.Data("x", [0.5, -1.0, 2.0, 0.0, 1.0], dims="i")
        gp.Bernoulli("y", gp.expit(beta * x), dims="i", observed=masked([1, 0, 1, 0, 0], 1, 4))
    sampler = gp.compile(m, rewrites={"Polya-Gamma": True})
    assert sampler.schedule.leaves == ("y",)
    assert sampler.verify().proved
    assert sampler.sample(20, warmup=20, seed=1, progress=False)["y"].std(axis=(0, 1))[1] > 0


def draws_of(model, name, **settings):
    return gp.compile(model, **settings).sample(3000, chains=2, seed=4, progress=False)[name]


def beyond_a_truncation():
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=1)
        values = masked([1.5, 0, 0], 1, 2)
        t = gp.Exponential("t", rate=rate, lower=1.0, dims="i", observed=values)
        gp.Potential("later", gp.log(gp.Data("end", [0.0, 0.5, 0.5], dims="i") <= t))
    return m


def below_zero():
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=1)
        t = gp.Exponential("t", rate=rate, dims="i", observed=masked([1.5, 0, 0], 1, 2))
        gp.Potential("later", gp.log(gp.Data("end", [0.0, -1.0, 0.7], dims="i") <= t))
    return m


def beyond_a_uniform():
    with gp.Model() as m:
        a = gp.Gamma("a", 2, rate=1)
        t = gp.Uniform("t", 0, a, dims="i", observed=masked([0.3, 0, 0.5], 1))
        gp.Potential("sooner", gp.log(t <= gp.Data("end", [9.0, 7.0, 9.0], dims="i")))
    return m


@pytest.mark.parametrize(
    ("model", "name", "last"),
    [
        (beyond_a_truncation, "rate", ("t",)),
        (below_zero, "rate", ("t",)),
        (beyond_a_uniform, "a", ()),
    ],
)
def test_bounds_outside_the_support_say_nothing(model, name, last):
    plain = draws_of(model(), name, rewrites={"unseen": False})

    assert gp.compile(model()).schedule.leaves == last
    assert gp.compile(model()).verify().proved
    assert disagreements({name: draws_of(model(), name)}, {name: mean_and_error(plain)}) == {}


def test_a_bound_that_is_data_alone_is_one_on_either_side():
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=1)
        t = gp.Weibull("t", 2.0, rate=rate, dims="i", observed=masked([0.5, 1.5, 0], 2))
        end = gp.Data("end", [9.0, 9.0, 0.7], dims="i")
        gp.Potential("sooner", gp.log((t > 0.2) * (t <= end)))
    found = leaves.marginalise_leaves(m.graph, m.data)
    assert [s.name for s in found.leaves] == ["t"]
    assert found.data["t.between.upper"][2] == 0.7


# ---- what stays ------------------------------------------------------------------------------


def test_values_that_stand_for_missing_ones_are_possible():
    """Each element in its own support."""
    with gp.Model() as m:
        p = gp.Beta("p", 1, 1)
        n = gp.Data("n", [10, 2, 5, 3], dims="i")
        gp.Binomial("y", n=n, p=p, dims="i", observed=masked([9, 0, 3, 0], 1, 3))
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Array("x", dims="j", observed=masked([-1.5, 0.0, 2.0, 0.0], 1, 3))
        x[:2] = gp.Normal(0, tau=tau)
        x[2:] = gp.Gamma(2, rate=tau)
    sampler = gp.compile(m)
    assert set(sampler.schedule.leaves) == {"y", "x"}
    assert sampler.verify().proved
    assert np.isfinite(sampler.sample(20, warmup=20, seed=1, progress=False)["x"]).all()


@pytest.mark.parametrize("which", ["ends", "tau", "rate"])
def test_what_excludes_values_of_its_parameters_stays(which):
    with gp.Model() as m:
        x, z = gp.Normal("x", 0, tau=1), gp.Gamma("z", 2, rate=1)
        gp.Normal("y", x, tau=z, observed=0.3)
        if which == "ends":
            gp.Uniform("o", x, z)
        elif which == "tau":
            gp.Normal("o", 0, tau=z - 1)
        else:
            gp.Exponential("o", rate=1 + x)
    sampler = gp.compile(m)
    assert not sampler.schedule.leaves
    assert sampler.verify().proved


@pytest.mark.parametrize("changes", [{"table": [[0.9, 0.1], [0.2, 0.7]]}, {"chosen": [0, 1]}])
def test_labels_whose_probabilities_are_not_shown_to_sum_to_one_stay(changes):
    assert gp.compile(diagnoses(gaps=True)).schedule.leaves == ("z",)
    assert gp.compile(diagnoses(gaps=True, **changes)).schedule.leaves == ()


def replicated(*, p=None, seen=True):
    """Shares that are not shown to sum to one, read by data and by a replicate of them."""
    with gp.Model(coords={"i": 2, "j": 2, "k": 3}) as m:
        x = gp.Normal("x", 0, sigma=1, dims="i")
        first = gp.Data("first", [0, 1, 1], dims="k")
        share = gp.where(first, 1 / (1 + gp.exp(x)) / 2, gp.expit(x))
        if seen:
            y = [[3, 1, 1], [4, 0, 1]]
            gp.Multinomial("y", n=5, p=share, dims=("i", "k"), event="k", observed=y)
        gp.Multinomial("new", n=7, p=share if p is None else p(x), dims=("i", "k"), event="k")
        gp.Normal("other", x, sigma=1, dims="i", observed=[1.0, 2.0])
    return m


def test_replicates_of_data_exclude_what_these_exclude():
    sampler = gp.compile(replicated())
    assert "new drawn last" in str(sampler)
    assert sampler.verify().proved


@pytest.mark.parametrize(
    "changes",
    [
        {"seen": False},
        {"p": lambda x: gp.expit(x) * gp.Data("shares", [0.5, 0.3, 0.2], dims="k")},
    ],
)
def test_what_data_do_not_exclude_stays(changes):
    assert "new drawn last" not in str(gp.compile(replicated(**changes)))


STEPS = [[-1.0, 0.5], [0.0, 1.5]]


def grades(*, cuts=STEPS, top=1.0, slope=None, link=gp.expit, one=1, scale=1):
    """Ordered answers to two questions by differences of a rising function, two of them missing."""
    cuts = np.array(cuts)
    tables = {"low": np.c_[cuts, cuts[:, -1] + 1], "high": np.c_[cuts[:, 0] - 1, cuts]}
    mask = [[False, False], [True, False], [False, True]]
    answers = np.ma.masked_array([[0, 1], [0, 2], [2, 0]], mask=mask)
    with gp.Model(coords={"child": 3, "item": 2, "grade": 3}) as m:
        ability = gp.Normal("ability", 0, sigma=2, dims="child")
        by = gp.Data("by", [0.7, 3.0], dims="item") if slope is None else slope()
        low, high = (gp.Data(n, t, dims=("item", "grade")) for n, t in tables.items())
        ends = {"is_first": [1, 0, 0], "is_last": [0, 0, 1]}
        is_first, is_last = (gp.Data(n, e, dims="grade") for n, e in ends.items())
        above, below = (link(by * (ability - e)) for e in (high, low))
        p = gp.where(is_first, one - below, gp.where(is_last, top * above, above - below))
        gp.Categorical("y", scale * p, dims=("child", "item"), event="grade", observed=answers)
    return m


def random_slopes():
    return gp.Gamma("by", 2, rate=1, dims="item")


SHOWN = ({}, {"slope": random_slopes}, {"link": gp.Phi}, {"link": lambda x: 1 - gp.expit(-x)})


@pytest.mark.parametrize("changes", SHOWN)
def test_missing_grades_are_integrated_out(changes):
    m = grades(**changes)
    assert [s.name for s in leaves.marginalise_leaves(m.graph, m.data).leaves] == ["y"]


def test_draws_without_missing_grades_are_proved():
    sampler = gp.compile(grades())
    assert sampler.schedule.leaves == ("y",)
    assert sampler.verify().proved


UNORDERED = [[0.5, -1.0], STEPS[1]]
NOT_SHOWN = (
    {"cuts": UNORDERED},  # (a difference that is negative)
    {"slope": lambda: gp.Normal("by", 0, sigma=1, dims="item")},  # (or may be)
    {"top": 0.9},
    {"scale": 0.9},
    {"one": 1.1},
    {"link": gp.exp},
)


@pytest.mark.parametrize("changes", NOT_SHOWN)
def test_missing_grades_stay_unless_their_probabilities_are_shares(changes):
    m = grades(**changes)
    assert leaves.marginalise_leaves(m.graph, m.data).leaves == ()


def test_weights_that_are_no_shares_tell_their_variables_something():
    """An array of positive numbers is no vector of sum one."""
    with gp.Model(coords={"k": 3}) as m:
        weight = gp.Gamma("weight", 2, rate=1, dims="k")
        gp.Normal("seen", weight, sigma=1, dims="k", observed=SEEN)
        gp.Categorical("z", weight, dims="i", event="k", observed=masked([0, 1, 2, 0], 2, 3))
    assert gp.compile(m).schedule.leaves == ()


def test_shares_beside_zeros_are_shares():
    with gp.Model(coords={"k": 3, "j": 2}) as m:
        w = gp.Dirichlet("w", 1.5, dims="j", event="j")
        is_zero = gp.Data("is_zero", [1, 0, 0], dims="k")
        place = gp.Index("place", [0, 0, 1], of="j", dims="k")
        p = gp.where(is_zero, 0.0, w[place])
        gp.Categorical("z", p, dims="i", event="k", observed=masked([1, 2, 2, 1], 2, 3))
    sampler = gp.compile(m)
    assert sampler.schedule.leaves == ("z",)
    assert sampler.verify().proved


@pytest.mark.parametrize("kind", [gp.Categorical, gp.Multinomial])
def test_probabilities_whose_sum_is_not_one_are_seen(kind, monkeypatch):
    """What does not sum to one was taken for shares."""
    monkeypatch.setattr(leaves, "are_shares", lambda *_: True)
    how = {"n": 3} if kind is gp.Multinomial else {}
    dims = ("i", "k") if kind is gp.Multinomial else "i"
    with gp.Model(coords={"i": 4, "k": 2}) as m:
        x = gp.Normal("x", 0, sigma=1)
        gp.Normal("seen", x, sigma=1, observed=0.5)
        first = gp.Data("first", [1, 0], dims="k")
        kind("new", p=gp.where(first, 0.9 * gp.expit(x), gp.expit(-x)), dims=dims, event="k", **how)
    sampler = gp.compile(m)

    assert sampler.schedule.leaves == ("new",)
    assert "new integrated out" in [r.step for r in sampler.verify().rows if not r.passed]


def test_an_array_whose_observed_value_is_impossible_does_not_keep_others():
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("new", mu, tau=1)
        gp.Normal("y", mu, tau=1, dims="i", observed=masked([1.0, 0.0], 1))
        t = gp.Weibull("t", 2.0, rate=1.0, dims="j", observed=masked([0.5, 0.0], 1))
        gp.Potential("later", gp.log(gp.Data("end", [0.9, 0.9], dims="j") <= t))
    found = leaves.marginalise_leaves(m.graph, m.data)
    assert {s.name for s in found.leaves} == {"new", "y"}


def test_a_collapsed_sampler_draws_missing_words_with_all_others():
    with gp.Model(coords={"k": 2}) as m:
        w = gp.Dirichlet("w", 1.0, dims="k", event="k")
        gp.Categorical("z", w, dims="i", event="k", observed=masked([0, 1, 1], 2))
    assert gp.compile(m).schedule.leaves == ("z",)
    assert gp.compile(m, collapse=("w",)).verify().proved


def test_a_kernel_check_makes_new_data_of_what_is_seen():
    assert gp.compile(kernels()).check_kernel("mu", replicates=60, seed=1).passed


def kernels():
    with gp.Model() as m:
        mu, tau = gp.Normal("mu", 0, sigma=3), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=masked([1.0, 2, 3, 0, 2.5], 3))
    return m


def test_what_is_read_by_others_stays():
    with gp.Model(coords={"i": 3}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        x = gp.Normal("x", mu, tau=1, dims="i", observed=masked([0.5, 1.5, 0], 2))
        gp.Normal("y", 2 * x, tau=1, dims="i", observed=[1.0, 2.0, 3.0])
    assert not gp.compile(m).schedule.leaves


def test_elements_that_read_one_another_stay():
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t", observed=masked([1.0, 2.0, 0.0, 0.0], 2, 3))
        mu = gp.Normal("mu", 0, tau=1)
        x[0] = gp.Normal(mu, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=1)
    assert not gp.compile(m).schedule.leaves


def test_an_improper_prior_that_nothing_sees_is_refused_as_ever():
    with gp.Model() as m:
        gp.Flat("free")
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu, tau=1, dims="i", observed=SEEN)
    with pytest.raises(CompileError, match=r"free: the conditional .* no finite integral"):
        gp.compile(m).sample(10, warmup=20, seed=1, progress=False)


def test_a_model_without_observations_is_left_as_it_is():
    with gp.Model() as m:
        x = gp.Normal("x", 0, tau=1)
        gp.Gamma("y", gp.exp(x), rate=1)
    assert not gp.compile(m).schedule.leaves


@pytest.mark.parametrize(
    "asked",
    [
        {"order": ("other",)},
        {"blocks": {"other": "alone"}},
        {"blocks": {("mu", "other"): "together"}},
        {"kernels": {"other": gp.Slice()}},
        {"rewrites": {"unseen": False}},
        {"rewrites": False},
    ],
    ids=str,
)
def test_what_the_user_names_is_drawn_with_all_others(asked):
    assert "other" not in gp.compile(predicted(gaps=True), **asked).schedule.leaves


def test_asked_for_where_there_is_none_it_is_refused():
    with pytest.raises(CompileError, match=r"'unseen'.*no variable that nothing sees"):
        gp.compile(predicted(gaps=False), rewrites={"unseen": True})


# ---- sweeps ----------------------------------------------------------------------------------


def small(scan):
    """Labels, of which one is seen, so that all states can be counted."""
    with gp.Model(coords={"k": 2, "i": 2}) as m:
        z = gp.Categorical("z", gp.Data("q", [0.3, 0.7], dims="k"), event="k")
        p = gp.Data("p", [[0.2, 0.8], [0.6, 0.4]], dims=("k", "l"))
        v = gp.Categorical("v", p[z], dims="i", event="l", observed=masked([1, 0], 1))
        del v
    return gp.compile(m, scan=scan)


@pytest.mark.parametrize("scan", ["systematic", "random", "symmetric"])
def test_sweeps_leave_the_posterior_as_it_is(scan):
    sampler = small(scan)
    assert sampler.schedule.leaves == ("v",)
    (start,), _ = sampler.initial_states(1, seed=1)
    found = enumerate_sweep(
        sampler.graph, sampler.program, sampler.schedule.steps, sampler.data, start.state,
        sampler.schedule,
    )  # fmt: skip
    assert len(found.states) == 4
    assert found.passed


def test_an_order_in_which_they_would_be_stale_is_refused():
    sampler = gp.compile(counts(gaps=True))
    with pytest.raises(CompileError, match="stale"):
        check_fresh(sampler.schedule.only([1, 0]))


# ---- planted bugs ----------------------------------------------------------------------------


def seen_everywhere(monkeypatch):
    monkeypatch.setattr(
        leaves, "_known", lambda graph, _data, own: np.ones(
            [graph.sizes[d] for d in graph.variables[own[0].target.array.name].dims], dtype=bool
        ),
    )  # fmt: skip


def the_other_side(monkeypatch):
    compared = known_limits._compared

    def wrong(*given):
        found = compared(*given)
        return replace(found, is_lower=not found.is_lower)

    monkeypatch.setattr(known_limits, "_compared", wrong)


def test_an_observation_made_of_what_is_missing_is_told(monkeypatch):
    seen_everywhere(monkeypatch)
    with pytest.raises(AssertionError):
        test_the_others_are_drawn_as_in_the_model_without_them(counts)


def test_a_bound_taken_for_the_other_is_told(monkeypatch):
    the_other_side(monkeypatch)
    with pytest.raises((AssertionError, CompileError)):
        test_what_is_left_is_the_integral("Weibull above")


def test_bounds_outside_the_support_that_count_are_told(monkeypatch):
    monkeypatch.setattr(leaves, "_inside_supports", lambda _graph, _data, _own, limits: limits)
    plain = draws_of(beyond_a_truncation(), "rate", rewrites={"unseen": False})

    found = draws_of(beyond_a_truncation(), "rate")
    assert disagreements({"rate": found}, {"rate": mean_and_error(plain)})


DRAWN = {
    "a row": lambda position: gp.Normal(mu=position, sigma=1),
    "between bounds": lambda position: gp.Normal(mu=position, sigma=1, lower=0.1),
    "labels": lambda position: gp.Hypergeometric(N=12, D=7 - position, n=4),
}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
def test_parts_at_one_position_of_an_axis_are_normalised(drawn):
    with gp.Model(coords={"k": 2, "t": 3}) as model:
        x = gp.Array("x", dims=("k", "t"))
        x[0:2, 0] = drawn(0)
        x[0:2, 1:3] = drawn(1)
        gp.Normal("y", mu=gp.Normal("m", mu=0, sigma=1), sigma=1, observed=3.0)
    told = gp.compile(model).verify()

    assert told.proved
    assert "x integrated out" in str(told)
