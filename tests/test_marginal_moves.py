"""Moves of what has no closed form, with a number that they see integrated out."""

import numpy as np
import pytest
import sympy as sp
from scipy import stats

import gibbsppl as gp
from gibbsppl.algebra.supports import Support
from gibbsppl.errors import CompileError
from gibbsppl.output.diagnostics import ess_bulk, mcse_mean
from gibbsppl.planning import marginal_gain, marginal_moves
from gibbsppl.planning.marginal_gain import coordinates
from gibbsppl.rewrites import marginal_draws
from gibbsppl.rewrites.integrals import integrated as without_arrays

AGES = np.linspace(1.0, 12.0, 12)
LENGTHS = 2.6 - 0.9 * 0.8**AGES + np.random.default_rng(1).normal(0, 0.1, AGES.size)
FORBIDDEN = {"marginal moves": False}
LEVEL = 1e-4


def growth(lengths=LENGTHS, vague=1e-4):
    """A curve that comes near to a level, at a rate without a closed form."""
    with gp.Model(coords={"cow": AGES.size}) as m:
        ages = gp.Data("ages", AGES, dims="cow")
        level, gap = gp.Normal("level", 0, tau=vague), gp.Normal("gap", 0, tau=1e-2)
        rate = gp.Uniform("rate", 0.5, 1.0)
        tau = gp.Gamma("tau", 1, rate=0.1)
        gp.Normal("y", level - gap * rate**ages, tau=tau, dims="cow", observed=lengths)
    return m


def pumps():
    """The shape and the rate of Gamma rates of failures."""
    with gp.Model(coords={"pump": 3}) as m:
        hours = gp.Data("hours", [94.3, 15.7, 1.05], dims="pump")
        alpha, beta = gp.Exponential("alpha", rate=1), gp.Gamma("beta", 0.1, rate=1)
        theta = gp.Gamma("theta", alpha, rate=beta, dims="pump")
        gp.Poisson("failures", theta * hours, dims="pump", observed=[5, 1, 1])
    return m


def integrated(sampler):
    """The numbers that are integrated out by choice."""
    made = (c for c in sampler.schedule.choices if c.made.what.startswith("integrated out of"))
    return [n for c in made for n in c.variables]


@pytest.mark.parametrize(("model", "name"), [(growth, "level"), (pumps, "beta")])
def test_a_number_that_moves_see_is_integrated_out(model, name):
    sampler = gp.compile(model())

    assert integrated(sampler) == [name]
    assert sampler.verify().passed
    assert f"{name} integrated out of" in str(sampler)


@pytest.mark.parametrize(
    "settings",
    [
        {"rewrites": FORBIDDEN},
        {"rewrites": False},
        {"order": ("beta",)},
        {"interweave": False},
        {"kernels": {"alpha": gp.Slice()}},
        {"collapse": ("theta",)},
    ],
    ids=str,
)
def test_nothing_is_integrated_out_where_the_user_says_how_to_draw(settings):
    assert integrated(gp.compile(pumps(), **settings)) == []


def test_data_far_from_zero_keep_their_digits():
    assert integrated(gp.compile(growth(LENGTHS, 1e-20))) == ["level"]
    assert integrated(gp.compile(growth(LENGTHS + 1e8, 1e-20))) == []


def test_the_next_number_is_integrated_out_where_one_would_lose_digits(monkeypatch):
    true, refused = marginal_moves._keeps_digits, []

    def planted(plan, states):
        refused.append(plan.name)
        return len(refused) > 1 and true(plan, states)

    monkeypatch.setattr(marginal_moves, "MOST", np.inf)
    monkeypatch.setattr(marginal_moves, "_keeps_digits", planted)
    found = integrated(gp.compile(growth()))

    assert len(found) == 1
    assert found == refused[1:2] != refused[:1]


def test_a_sweep_that_is_much_dearer_is_made_if_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(marginal_moves, "MOST", 1.0)
    monkeypatch.setattr(marginal_moves, "shares_of_moves", lambda *_: None)

    assert integrated(gp.compile(pumps())) == []
    assert integrated(gp.compile(pumps(), rewrites={"marginal moves": True})) == ["beta"]


def test_what_cannot_be_asked_for_is_refused():
    asked = {"marginal moves": True}
    with gp.Model() as normal:
        gp.Normal("y", gp.Normal("mu", 0, tau=1), tau=1, observed=1.0)
    with pytest.raises(CompileError, match=r"^rewrites\['marginal moves'\]: no number that moves"):
        gp.compile(normal, rewrites=asked)
    with pytest.raises(CompileError, match=r"^rewrites\['marginal moves'\]: found True beside by="):
        gp.compile(pumps(), rewrites=asked, by={"theta": "mean"})


def test_updates_besides_are_not_given_up():
    before = gp.compile(pumps(), rewrites=FORBIDDEN).schedule
    after = gp.compile(pumps()).schedule

    assert marginal_moves._keeps_updates(after, before, "beta")
    assert not marginal_moves._keeps_updates(gp.compile(growth()).schedule, before_growth(), "tau")


def before_growth():
    """The schedule of a curve whose level and gap are drawn jointly."""
    found = gp.compile(growth(), rewrites=FORBIDDEN).schedule
    assert [{*s.variables} for s in found.steps if s.is_joint] == [{"level", "gap"}]
    return found


def test_the_alternative_is_asked_for_by_its_settings():
    (choice,) = gp.compile(pumps()).schedule.choices

    assert [c.settings for c in choice.others] == [{"rewrites": FORBIDDEN}]
    assert integrated(gp.compile(pumps(), **choice.made.settings)) == ["beta"]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "name"), [(growth, "rate"), (pumps, "alpha")])
def test_the_posterior_is_the_same(model, name):
    samplers = (gp.compile(model(), rewrites=r) for r in (True, FORBIDDEN))
    run = {"draws": 20_000, "chains": 2, "seed": 3, "progress": False}
    one, other = (np.asarray(s.sample(**run)[name]) for s in samplers)
    gaps = [
        (a.mean() - b.mean()) / np.hypot(float(mcse_mean(a)), float(mcse_mean(b)))
        for a, b in ((one, other), (one**2, other**2))
    ]

    assert np.abs(gaps).max() < stats.norm.isf(LEVEL / (2 * len(gaps)))


def test_what_a_recursion_leaves_is_kept_when_its_start_is_integrated_out():
    """The square of the recursion without its start depends on the rate that is moved."""
    with gp.Model(name="decay", coords={"t": 5}) as model:
        rate, first = gp.Beta("rate", 2, 1), gp.Normal("first", 0, tau=1)
        x = gp.Array("x", dims="t")
        x[0] = first
        x[1:] = rate * x.lag("t", 1) + 0.5
        gp.Normal("y", x, tau=4, dims="t", observed=[1.2, 0.9, 1.4, 1.0, 0.7])
    sampler = gp.compile(model, rewrites={"marginal moves": True})

    assert integrated(sampler) == ["first"]
    assert sampler.verify().proved


# ---- what theory tells of it -------------------------------------------------------------------

COUNTS = np.random.default_rng(0).negative_binomial(5, 0.3, size=60)


def sizes():
    """The size of counts whose probability is known as well as it is."""
    with gp.Model(coords={"i": COUNTS.size}) as m:
        r, p = gp.Gamma("r", 1, rate=0.1), gp.Beta("p", 1, 1)
        gp.NegativeBinomial("y", r, p, dims="i", observed=COUNTS)
    return m


def hazards():
    """Increments of a hazard, and a coefficient of the risk: an array is integrated out."""
    rng = np.random.default_rng(3)
    with gp.Model(coords={"i": 40, "t": 6}) as m:
        z = gp.Data("z", 2 + rng.standard_normal(40), dims="i")
        slope = gp.Normal("slope", 0, tau=0.1)
        rate = gp.Gamma("rate", 0.5, rate=1, dims="t")
        deaths = rng.poisson(0.2, size=(40, 6))
        gp.Poisson("y", gp.exp(slope * z) * rate, dims=("i", "t"), observed=deaths)
    return m


@pytest.mark.parametrize(("model", "name"), [(sizes, "p"), (hazards, "rate")])
def test_what_moves_gain_is_told_by_theory(model, name):
    sampler = gp.compile(model())
    (choice,) = (c for c in sampler.schedule.choices if name in c.variables)

    assert integrated(sampler) == [name]
    assert choice.made.share > choice.others[0].share > 0
    assert sampler.verify().passed


def test_the_share_told_is_that_of_the_draws():
    """Of the size, the probability being drawn given it: within a factor of two."""
    (choice,) = (c for c in gp.compile(sizes()).schedule.choices if "p" in c.variables)
    plain = gp.compile(sizes(), rewrites=FORBIDDEN)
    draws = plain.sample(4000, chains=4, seed=2, backend="numpy", progress=False)["r"]
    found = float(np.asarray(ess_bulk(draws))) / draws.size

    assert 0.5 < found / choice.others[0].share < 2


def test_information_is_minus_the_second_derivative():
    """Of the log of a precision, given a group and without it, by the formulas of both."""
    rng, known = np.random.default_rng(4), 2.0
    y = rng.normal(size=30) * 1.3
    with gp.Model(coords={"j": 30}) as m:
        sd = gp.HalfNormal("sd", sigma=2)
        theta = gp.Normal("theta", 0, sigma=sd, dims="j")
        gp.Normal("y", theta, tau=known, dims="j", observed=y)
    sampler = gp.compile(m, rewrites=False, interweave=False)
    graph = sampler.schedule.graph
    apart, _ = without_arrays(graph, sampler.data, ("theta",))
    graphs, own = (graph, marginal_draws._written_out(apart)), coordinates(graph, {"sd"})
    values = {**sampler.data, "sd": np.float64(0.9), "theta": rng.normal(size=30)}
    found = [float(marginal_gain._information(g, own, values)[0, 0]) for g in graphs]

    def given(u):
        return -30 * u - (values["theta"] ** 2).sum() * np.exp(-2 * u) / 2 - np.exp(2 * u) / 8

    def without(u):
        variance = np.exp(2 * u) + 1 / known
        return -np.sum(np.log(variance) + y**2 / variance) / 2 - np.exp(2 * u) / 8

    u, h = np.log(0.9), 1e-3
    exact = [-(f(u + h) - 2 * f(u) + f(u - h)) / h**2 for f in (given, without)]
    # (of both the fourth derivative times h**2/12, and rounding divided by the square of the step)
    assert found == pytest.approx(exact, rel=1e-4)


def test_cheaper_sweeps_are_no_gain():
    """They are so by another way to move, such as slices in place of adaptive rejection."""
    worth = [
        marginal_moves.Plan("x", "y", ratio, None, lambda: None, (0.5, 0.5)).worth
        for ratio in (0.25, 1.0, 2.0)
    ]

    assert worth == [1.0, 1.0, 0.5]


def heavy_tails():
    """A mean and a precision with closed forms given mixing variables, and degrees of freedom."""
    y = np.random.default_rng(0).standard_t(5, size=12)
    with gp.Model(coords={"i": 12}) as m:
        mu, tau = gp.Normal("mu", 0, tau=1e-4), gp.Gamma("tau", 1, rate=0.1)
        gp.StudentT("y", gp.Gamma("nu", 2, rate=0.1), mu, tau=tau, dims="i", observed=y)
    return m


def test_draws_without_auxiliary_variables_are_not_given_them(monkeypatch):
    """Which hold the degrees of freedom far more than the mean does that is integrated out."""
    sampler = gp.compile(heavy_tails())
    (step,) = (s for s in sampler.schedule.steps if s.name == "nu")

    assert integrated(sampler) == []
    assert sampler.schedule.auxiliary
    assert not {*sampler.schedule.auxiliary} & {*sampler.schedule.graph_of(step).drawn}
    given = gp.compile(heavy_tails(), collapse=("mu",)).schedule
    assert not marginal_moves._keeps_updates(given, sampler.schedule, "mu")
    monkeypatch.setattr(marginal_moves, "_given_no_more", lambda *_: True)
    assert marginal_moves._keeps_updates(given, sampler.schedule, "mu")


def test_what_a_rule_prefers_loses_nothing_by_theory(monkeypatch):
    monkeypatch.setattr(marginal_moves, "shares_of_moves", lambda *_: (0.5, 0.5))

    assert integrated(gp.compile(pumps())) == []
    assert integrated(gp.compile(pumps(), rewrites={"marginal moves": True})) == ["beta"]
    monkeypatch.setattr(marginal_moves, "shares_of_moves", lambda *_: None)
    assert integrated(gp.compile(pumps())) == ["beta"]


TRIALS = np.random.default_rng(0).binomial(60, 0.4, size=30)


def trials():
    """A number of trials and the probability of each, both unknown."""
    with gp.Model(coords={"i": TRIALS.size}) as m:
        size, p = gp.Geometric("size", 0.01), gp.Beta("p", 1, 1)
        gp.Binomial("y", size, p, dims="i", observed=TRIALS)
    return m


def test_moves_of_whole_numbers_are_told_by_theory():
    """By steps of one, which differ from slopes by a fraction of what is asked about."""
    sampler = gp.compile(trials())
    (choice,) = (c for c in sampler.schedule.choices if "p" in c.variables)

    assert integrated(sampler) == ["p"]
    assert choice.made.share > 20 * choice.others[0].share > 0
    assert sampler.verify().passed


def test_information_of_whole_numbers_is_of_steps_of_one():
    """Of a number of trials n with one success count k: log n! - log (n-k)! and its prior."""
    graph = gp.compile(trials(), rewrites=FORBIDDEN).schedule.graph
    (own,) = coordinates(graph, {"size"})
    state = {"y": TRIALS, "size": np.int64(70), "p": np.float64(0.4)}
    found = float(marginal_gain._information(graph, (own,), state)[0, 0])

    (n, k) = (70, TRIALS.astype(float))
    assert own.size == 1
    # (the second difference of log n! is log (n+1)/n)
    assert found == pytest.approx(np.sum(np.log((n + 1 - k) / (n - k)) - np.log((n + 1) / n)))
    assert np.isinf(marginal_gain._information(graph, (own,), {**state, "size": TRIALS.max()}))


def test_where_the_log_density_is_not_concave_curvature_counts_either_way():
    saddle, units = np.array([[1.0, 3.0], [3.0, 1.0]]), np.array([100.0, 0.1])
    bent = marginal_gain._bent(saddle)

    assert np.linalg.eigvalsh(bent) == pytest.approx([2, 4])
    # (no matter in which units numbers are)
    scaled = marginal_gain._bent(saddle * units * units[:, None])
    assert scaled == pytest.approx(bent * units * units[:, None])
    known = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert marginal_gain._bent(known) is known


INTERVALS = {
    "any number": (-np.inf, np.inf, 0.3),
    "above": (1.0, np.inf, 1.5),
    "below": (-np.inf, 2.0, 1.2),
    "between": (-1.0, 3.0, 0.5),
}


@pytest.mark.parametrize("name", INTERVALS)
def test_steps_stay_between_ends_and_are_undone(name):
    lower, upper, x = INTERVALS[name]
    moved = marginal_gain._moved_within(Support("real", *map(sp.sympify, (lower, upper))))
    there = [moved(x, step) for step in (-3.0, 0.0, 3.0)]

    assert lower < there[0] < x < there[2] < upper
    assert there[1] == pytest.approx(x)
    assert [moved(t, -s) for t, s in zip(there, (-3.0, 0.0, 3.0), strict=True)] == pytest.approx(
        [x] * 3
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("number", [0, 1])
def test_theory_is_silent_where_information_is_no_number(value, number, monkeypatch):
    """Of a state at an end, a step beyond which is impossible."""
    with gp.Model() as m:
        gp.HalfNormal("sd", sigma=2)
    graph = gp.compile(m).schedule.graph
    found = [np.eye(1), np.eye(1)]
    found[number] = np.array([[value]])
    monkeypatch.setattr(marginal_gain, "_information", lambda *_: found.pop(0))

    assert marginal_gain.shares_of_moves(graph, graph, {"sd"}, [{}]) is None


def test_wrong_information_is_seen(monkeypatch):
    true = marginal_gain.log_density
    monkeypatch.setattr(marginal_gain, "log_density", lambda *k: 1.01 * true(*k))
    with pytest.raises(AssertionError):
        test_information_is_minus_the_second_derivative()


def test_auxiliary_variables_are_drawn_before_what_reads_them():
    """Of degrees of freedom that are moved without them, too: a start has none of them."""
    with gp.Model(coords={"g": 2, "i": 6}) as m:
        nu, mu = gp.Gamma("nu", 4, rate=1), gp.Normal("mu", 0, tau=1, dims="g")
        of = gp.Index("of", [0, 1, 0, 1, 0, 1], of="g", dims="i")
        y = [0.3, -1.2, 4.0, 0.5, -0.1, 0.8]
        gp.StudentT("y", nu=nu, mu=mu[of], sigma=1.5, dims="i", observed=y)
    sampler = gp.compile(m, rewrites={"power of a sum": True, "marginal moves": True})
    names = [s.name for s in sampler.schedule.steps]

    assert names.index("y_weight") < names.index("mu")
    assert "y_weight" not in sampler.schedule.graph_of(sampler.schedule.step("nu")).drawn
    assert sampler.verify().proved
    assert np.isfinite(sampler.sample(5, chains=1, seed=1, progress=False)["nu"]).all()
