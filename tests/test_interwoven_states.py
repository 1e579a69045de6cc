"""Interweaving of arrays that several statements draw: states that depend on those before."""

import re
from functools import cache

import numpy as np
import pytest
from updates_checked import failed, joint, recentred_with_lost, scales

import gibbsppl as gp
from gibbsppl.errors import CompileError
from gibbsppl.model.density import log_joint
from gibbsppl.model.forward import simulate
from gibbsppl.model.stand_ins import with_originals, with_stand_ins
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.planning.information import block_of_group, rate_of_scale
from gibbsppl.rewrites.recentring import is_recentrable, recentred

LEVEL = 1e-3
Y = (0.3, -1.1, 0.7, 1.9, 0.4)


# ---- models ----------------------------------------------------------------------------------


def states(first, later, sees=None, lags=1, size=5):
    """States with a location, a scale, and a share kept; ``first`` and ``later`` draw them."""
    with gp.Model(coords={"t": size}) as m:
        mu = gp.Normal("mu", 0, tau=1)
        phi = gp.Uniform("phi", -1, 1)
        tau = gp.Gamma("tau", 3, rate=2)
        h = gp.Array("h", dims="t")
        h[slice(lags) if lags > 1 else 0] = first(mu, phi, tau)
        h[lags:] = later(mu, phi, tau, h)
        if sees is None:
            gp.Normal("y", h, tau=1, dims="t", observed=np.resize(Y, size))
        else:
            sees(h)
    return m


def returning(mu, phi, tau, h):
    return gp.Normal(mu + phi * (h.lag("t") - mu), tau=tau)


def autoregression():
    return states(lambda mu, phi, tau: gp.Normal(mu, tau=tau), returning)


def of_counts():
    """No closed form of what moves along."""
    return states(
        lambda mu, phi, tau: gp.Normal(mu, tau=tau),
        returning,
        lambda h: gp.Poisson("n", gp.exp(h), dims="t", observed=[1, 0, 3, 2, 1]),
    )


def with_a_wider_start():
    """In the first state's own units the others have another scale."""
    return states(lambda mu, phi, tau: gp.Normal(mu, tau=tau / 4), returning)


def of_two_lags():
    return states(
        lambda mu, phi, tau: gp.Normal(mu, tau=tau),
        lambda mu, phi, tau, h: gp.Normal(
            mu + phi * (h.lag("t") - mu) - 0.3 * (h.lag("t", 2) - mu), tau=tau
        ),
        lags=2,
    )


def of_two_families():
    """Heavy tails of the steps; the mean is written as a weighted one."""
    return states(
        lambda mu, phi, tau: gp.Normal(mu, tau=tau),
        lambda mu, phi, tau, h: gp.StudentT(
            5, mu=phi * h.lag("t") + (1 - phi) * mu, tau=tau
        ),
    )


def walk():
    """A walk whose first step is like all others."""
    return states(
        lambda mu, phi, tau: gp.Normal(mu, tau=tau),
        lambda mu, phi, tau, h: gp.Normal(h.lag("t"), tau=tau),
    )


def several_series():
    with gp.Model(coords={"g": 2, "t": 3}) as m:
        mu = gp.Normal("mu", 0, tau=1, dims="g")
        tau = gp.Gamma("tau", 3, rate=2, dims="g")
        h = gp.Array("h", dims=("g", "t"))
        h[:, 0] = gp.Normal(mu, tau=tau)
        h[:, 1:] = gp.Normal(mu + 0.5 * (h.lag("t") - mu), tau=tau)
        gp.Normal("y", h, tau=1, dims=("g", "t"), observed=[[1, 0.3, -1], [2, 0.1, 0.7]])
    return m


MODELS = {
    f.__name__: f
    for f in (autoregression, of_counts, with_a_wider_start, of_two_lags, of_two_families, walk,
              several_series)
}  # fmt: skip


@cache
def compiled(name):
    return gp.compile(MODELS[name](), blocks=False, interweave=("mu", "tau"))


# ---- the graph -------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["location", "scale"])
@pytest.mark.parametrize("name", MODELS)
def test_the_density_of_the_new_graph_is_the_old_one_times_the_jacobian(name, what):
    model = MODELS[name]()
    graph, rng = model.graph, np.random.default_rng(3)
    values = {**model.data, **simulate(rng, graph, model.data, observed=False)}
    (first,) = (s for s in graph.statements_of("h") if is_recentrable(graph, s))
    made = recentred(graph, first, "new", what)
    apart = with_stand_ins((made.stand_in,), values, graph.sizes)
    back = with_originals((made.stand_in,), apart, graph.sizes)
    moved = with_originals((made.stand_in,), {**apart, "new": apart["new"] + 1}, graph.sizes)
    # (linear in the new array: its slope is a difference)
    slope = np.log(moved["h"] - back["h"]).sum()

    np.testing.assert_allclose(back["h"], values["h"], rtol=1e-12, atol=1e-12)
    found = log_joint(made.graph, apart)
    assert found == pytest.approx(log_joint(graph, values) + slope, rel=1e-9)


def test_standardised_states_read_neither_location_nor_scale():
    graph = autoregression().graph
    made = recentred(graph, graph.statement("h[0]"), "z", "scale").graph

    assert [str(s) for s in made.statements_of("z")] == [
        "z[0] ~ Normal(mu=0, tau=1)",
        "z[t] ~ Normal(mu=phi*z[t - 1], tau=1)",
    ]


# ---- exactness -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_each_step_has_the_joint_density_with_the_jacobian(name):
    sampler = compiled(name)
    found = sampler.verify()

    assert {i.variable for i in sampler.schedule.interwoven.values()} == {"mu", "tau"}
    assert found.passed, f"\n{found}"


BUGS = {
    "the first state stays where it is": (
        r"return h_eta / sqrt\(tau\) \+ mu",
        "h = s['h'].copy(); h[1:] = (h_eta / sqrt(tau) + mu)[1:]; return h",
    ),
    "the states are not put back": (r' {4}s\["h"\] = h_of.*\n', ""),
    "another location": (r"return sqrt\(tau\) \* \(h - mu\)", "return sqrt(tau) * h"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    sampler = compiled("autoregression")
    wrong, count = re.subn(*BUGS[bug], sampler.source)

    assert count == 1, sampler.source
    assert failed(sampler) == set()
    assert failed(sampler, wrong) == {"mu_with_h, h moved", "tau_with_h, h moved"}


@pytest.mark.parametrize("count", [1, 4], ids=["the first", "all others"])
def test_a_jacobian_that_is_forgotten_of_some_states_is_found(count, monkeypatch):
    """Conditional and new graph agree, and are wrong."""

    assert failed(compiled("autoregression")) == set()
    monkeypatch.setattr("gibbsppl.rewrites.interweaving.recentred", recentred_with_lost(count))
    sampler = gp.compile(autoregression(), blocks=False, interweave="tau")
    assert failed(sampler) == {"tau_with_h, h moved"}


def swept(name, source=None, replicates=1500):
    return joint(
        name, compiled(name), source, replicates=replicates, level=LEVEL / len(MODELS)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_sweeps_leave_the_joint_distribution_as_it_is(name):
    found = swept(name)

    assert found.passed, f"\n{found}"


def test_the_joint_distribution_finds_a_scale_that_is_too_large():
    source = compiled("autoregression").source
    wrong, count = re.subn(r"return exp\(log_tau\)", "return 1.5 * exp(log_tau)", source)

    assert count == 1
    assert not swept("autoregression", wrong, replicates=200).passed


# ---- the plan --------------------------------------------------------------------------------


def test_scales_of_states_are_drawn_once_more():
    assert scales(autoregression()) == ["tau"]
    assert scales(of_counts()) == ["tau"]
    assert scales(autoregression(), interweave=False) == []


NOT_IN_UNITS = {
    "another scale of the first": states(lambda mu, phi, tau: gp.Normal(mu, tau=1), returning),
    "a constant added": states(
        lambda mu, phi, tau: gp.Normal(mu, tau=tau),
        lambda mu, phi, tau, h: gp.Normal(1 + h.lag("t"), tau=tau),
    ),
    "no linear mean": states(
        lambda mu, phi, tau: gp.Normal(0, tau=tau),
        lambda mu, phi, tau, h: gp.Normal(gp.exp(h.lag("t")), tau=tau),
    ),
}


@pytest.mark.parametrize("name", NOT_IN_UNITS)
def test_what_does_not_move_in_proportion_is_left_alone(name):
    assert scales(NOT_IN_UNITS[name]) == []
    with pytest.raises(CompileError, match="tau is no location or scale"):
        gp.compile(NOT_IN_UNITS[name], interweave="tau")


def test_states_of_which_some_are_known_are_left_alone():
    with gp.Model(coords={"t": 4}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        h = gp.Array("h", dims="t")
        h[0] = 0
        h[1:] = gp.Normal(h.lag("t"), tau=tau)
        gp.Normal("y", h, tau=1, dims="t", observed=Y[:4])

    assert scales(m) == []


def test_theory_of_states_is_that_of_independent_ones_where_they_are():
    """At a share kept of 0; and the more is known of each state, the faster is the plain draw."""
    model = autoregression()
    with gp.Model(coords={"t": 5}) as other:
        mu, tau = gp.Normal("mu", 0, tau=1), gp.Gamma("tau", 3, rate=2)
        h = gp.Normal("h", mu, tau=tau, dims="t")
        gp.Normal("y", h, tau=1, dims="t", observed=Y)

    def rate(m, phi, tau):
        values = {**m.data, "mu": 0.3, "phi": phi, "tau": tau, "h": np.arange(5.0)}
        return rate_of_scale(m.graph, block_of_group(m.graph, "h", m.data), ("tau",), values)

    assert rate(model, 0.0, 0.7) == pytest.approx(rate(other, 0.0, 0.7), rel=1e-12)
    assert rate(model, 0.5, 0.01) < rate(model, 0.5, 1) < rate(model, 0.5, 100)


@pytest.mark.slow
def test_a_scale_of_states_of_which_little_is_known_mixes_faster():
    model = states(lambda mu, phi, tau: gp.Normal(mu, tau=tau), returning, size=100)
    sizes = [
        float(ess_bulk(gp.compile(model, interweave=how).sample(
            4000, chains=2, seed=1, progress=False)["tau"]))
        for how in (True, False)
    ]  # fmt: skip
    assert sizes[0] > 2 * sizes[1]
