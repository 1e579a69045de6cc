"""Moves of what has no closed form, with a number that they see integrated out."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.errors import CompileError
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.planning import marginal_moves

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
