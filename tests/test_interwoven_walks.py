"""Interweaving of random walks from an element with a prior of its own: scales of their steps."""

import re
from functools import cache

import numpy as np
import pytest
from updates_checked import failed, joint, recentred_with_lost, scales

import gibbsppl as gp
from gibbsppl.derive.conditionals import Conditional
from gibbsppl.errors import CompileError
from gibbsppl.model.density import log_joint
from gibbsppl.model.forward import simulate
from gibbsppl.model.stand_ins import with_originals, with_stand_ins
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.planning.information import block_of_group
from gibbsppl.planning.updates_of_scales import known_of_steps
from gibbsppl.rewrites.recentring import anchor_of, is_recentrable, recentred

LEVEL = 1e-3
Y = (0.3, -1.1, 0.7, 1.9, 0.4)
STEP = 1e-5


# ---- models ----------------------------------------------------------------------------------


def walk(step=None, sees=None, start=None, size=5):
    """A walk from a start; ``step``, ``start`` and ``sees`` say how it goes on and is seen."""
    with gp.Model(coords={"t": size}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0.5, tau=0.4) if start is None else start(tau)
        x[1:] = gp.Normal(x.lag("t"), tau=tau) if step is None else step(x, tau)
        if sees is None:
            gp.Normal("y", x, tau=1, dims="t", observed=np.resize(Y, size))
        else:
            sees(x)
    return m


def of_a_half_normal_scale():
    with gp.Model(coords={"t": 5}) as m:
        tau = gp.HalfNormal("tau", sigma=1.5)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0.5, tau=0.4)
        x[1:] = gp.Normal(x.lag("t"), sigma=tau)
        gp.Normal("y", x, tau=1, dims="t", observed=Y)
    return m


def of_heavy_tails():
    return walk(lambda x, tau: gp.StudentT(5, mu=x.lag("t"), tau=tau))


def of_counts():
    return walk(sees=lambda x: gp.Poisson("n", gp.exp(x), dims="t", observed=[1, 0, 3, 2, 1]))


def read_in_a_sum():
    return walk(sees=lambda x: gp.Normal("y", x.sum("t"), tau=1, observed=1.3))


def of_several_series():
    """Each from a start of its own, which has a mean that is drawn, by steps of its own scale."""
    with gp.Model(coords={"g": 2, "t": 3}) as m:
        mu = gp.Normal("mu", 0, tau=1)
        tau = gp.Gamma("tau", 3, rate=2, dims="g")
        x = gp.Array("x", dims=("g", "t"))
        x[:, 0] = gp.Normal(mu, tau=0.5)
        x[:, 1:] = gp.Normal(x.lag("t"), tau=tau)
        gp.Normal("y", x, tau=1, dims=("g", "t"), observed=[[1, 0.3, -1], [2, 0.1, 0.7]])
    return m


def of_one_scale_for_all():
    with gp.Model(coords={"t": 3, "g": 2}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        x = gp.Array("x", dims=("t", "g"))
        x[0, :] = gp.Normal(0, tau=0.5)
        x[1:, :] = gp.Normal(x.lag("t"), tau=tau)
        gp.Normal("y", x, tau=1, dims=("t", "g"), observed=[[1, 2], [0.3, 0.1], [-1, 0.7]])
    return m


MODELS = {
    f.__name__: f
    for f in (walk, of_a_half_normal_scale, of_heavy_tails, of_counts, read_in_a_sum,
              of_several_series, of_one_scale_for_all)
}  # fmt: skip


@cache
def compiled(name):
    return gp.compile(MODELS[name](), blocks=False, interweave=("tau",))


# ---- the graph -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_density_of_the_new_graph_is_the_old_one_times_the_jacobian(name):
    """The Jacobian by differences, of all elements in all of the others."""
    model = MODELS[name]()
    graph, rng = model.graph, np.random.default_rng(3)
    values = {**model.data, **simulate(rng, graph, model.data, observed=False)}
    (steps,) = (s for s in graph.statements_of("x") if anchor_of(graph, s) is not None)
    made = recentred(graph, steps, "new", "scale")
    apart = with_stand_ins((made.stand_in,), values, graph.sizes)
    back = with_originals((made.stand_in,), apart, graph.sizes)

    def at(place, by):
        moved = np.array(apart["new"])
        moved[place] += by
        return with_originals((made.stand_in,), {**apart, "new": moved}, graph.sizes)["x"]

    columns = [
        np.ravel(at(place, STEP) - at(place, -STEP)) / (2 * STEP)
        for place in np.ndindex(*np.shape(apart["new"]))
    ]
    slope = np.linalg.slogdet(np.array(columns))[1]

    np.testing.assert_allclose(back["x"], values["x"], rtol=1e-12, atol=1e-12)
    found = log_joint(made.graph, apart)
    assert found == pytest.approx(log_joint(graph, values) + slope, rel=1e-8)


def test_steps_in_units_of_their_scale_do_not_read_it():
    graph = walk().graph
    made = recentred(graph, graph.statement("x[1:]"), "z", "scale").graph

    assert [str(s) for s in made.statements_of("z")] == [
        "z[0] ~ Normal(mu=0.5, tau=0.4)",
        "z[t] ~ Normal(mu=z[t - 1], tau=1)",
    ]


# ---- exactness -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_each_step_has_the_joint_density_with_the_jacobian(name):
    sampler = compiled(name)
    found = sampler.verify()

    assert {i.variable for i in sampler.schedule.interwoven.values()} == {"tau"}
    assert found.passed, f"\n{found}"


def test_a_scale_with_a_half_normal_prior_has_a_closed_form():
    (update,) = compiled("of_a_half_normal_scale").schedule.interwoven.values()
    assert isinstance(update.conditional, Conditional)


BUGS = {
    "the walk is not put back": (r' {4}s\["x"\] = x_of.*\n', ""),
    "the start moves along": (
        r"return \(x_eta - x_eta\[0\]\) / sqrt\(tau\) \+ x_eta\[0\]",
        "return x_eta / sqrt(tau)",
    ),
    "from another element": (
        r"return \(x_eta - x_eta\[0\]\) / sqrt\(tau\) \+ x_eta\[0\]",
        "return x_eta[1] + (x_eta - x_eta[1]) / sqrt(tau)",
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug):
    sampler = compiled("walk")
    wrong, count = re.subn(*BUGS[bug], sampler.source)

    assert count == 1, sampler.source
    assert failed(sampler) == set()
    assert failed(sampler, wrong) == {"tau_with_x, x moved"}


@pytest.mark.parametrize("count", [-1, 1, 4], ids=["the start counts", "one less", "none"])
def test_a_jacobian_of_other_elements_is_found(count, monkeypatch):
    """Conditional and new graph agree, and are wrong: four steps are scaled, of five elements."""

    monkeypatch.setattr("gibbsppl.rewrites.interweaving.recentred", recentred_with_lost(count))
    sampler = gp.compile(walk(), blocks=False, interweave="tau")
    assert failed(sampler) == {"tau_with_x, x moved"}


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
    source = compiled("walk").source
    wrong, count = re.subn(r"return exp\(log_tau\)", "return 1.5 * exp(log_tau)", source)

    assert count == 1
    assert not swept("walk", wrong, replicates=200).passed


# ---- the plan --------------------------------------------------------------------------------


def test_scales_of_walks_are_drawn_once_more():
    assert scales(walk()) == ["tau"]
    assert scales(of_several_series()) == ["tau"]
    assert scales(walk(), interweave=False) == []


def test_a_start_in_units_of_the_steps_moves_along():
    model = walk(start=lambda tau: gp.Normal(0, tau=tau))
    (first,) = (s for s in model.graph.statements_of("x") if is_recentrable(model.graph, s))
    assert scales(model) == ["tau"]
    assert recentred(model.graph, first, "z", "scale").is_free_of("tau")


def seen_walk(size, step, seed=1):
    """A walk of so many steps of some size, seen with noise of 1."""
    rng = np.random.default_rng(seed)
    seen = np.cumsum(step * rng.normal(size=size)) + rng.normal(size=size)
    return walk(
        sees=lambda x: gp.Normal("y", x, tau=1, dims="t", observed=seen),
        start=lambda tau: gp.Normal(0, tau=0.1),
        size=size,
    )


def test_a_walk_that_comes_far_is_left_alone():
    """Data tell of its distance from the start in units of the steps, and so of the scale."""
    assert scales(seen_walk(30, 0.2)) == ["tau"]
    assert scales(seen_walk(300, 2)) == []


def test_what_is_known_of_a_scale_is_the_square_of_the_distance():
    """In units of the noise; of five elements four are drawn by steps, each known by 2."""
    model = walk()
    x = np.array([0.5, 1.5, -1.0, 0.0, 2.5])
    block = block_of_group(model.graph, "x", model.data)
    known = known_of_steps(model.graph, block, "x", {**model.data, "tau": 0.7, "x": x})
    assert known == pytest.approx(np.sum((x - x[0]) ** 2) / (2 * 4), rel=1e-12)


def of_second_order():
    with gp.Model(coords={"t": 6}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        x = gp.Array("x", dims="t")
        x[:2] = gp.Normal(0, tau=0.5)
        x[2:] = gp.Normal(2 * x.lag("t") - x.lag("t", 2), tau=tau)
        gp.Normal("y", x, tau=1, dims="t", observed=np.resize(Y, 6))
    return m


def returning(x, tau):
    return gp.Normal(0.5 * x.lag("t"), tau=tau)


LEFT_ALONE = {
    "of second order": of_second_order(),
    "returning": walk(returning),
    "a constant added": walk(lambda x, tau: gp.Normal(1 + x.lag("t"), tau=tau)),
    "a start of another scale": walk(start=lambda tau: gp.Normal(0, tau=1 + tau)),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_does_not_move_in_proportion_is_left_alone(name):
    """Steps that read where the walk is in other units, or from a start that moves, too."""
    assert scales(LEFT_ALONE[name]) == []
    with pytest.raises(CompileError, match="tau is no location or scale"):
        gp.compile(LEFT_ALONE[name], interweave="tau")


def test_of_a_level_with_a_slope_the_slope_moves():
    """The steps of the level are about the slope, which is in no units of their scale."""
    with gp.Model(coords={"t": 6}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        tau_slope = gp.Gamma("tau_slope", 3, rate=2)
        level, slope = gp.Array("level", dims="t"), gp.Array("slope", dims="t")
        slope[0] = gp.Normal(0, tau=1)
        slope[1:] = gp.Normal(slope.lag("t"), tau=tau_slope)
        level[0] = gp.Normal(0, tau=0.5)
        level[1:] = gp.Normal(level.lag("t") + slope.lag("t"), tau=tau)
        gp.Normal("y", level, tau=1, dims="t", observed=np.resize(Y, 6))
    sampler = gp.compile(m, blocks=False, interweave="tau_slope")
    assert scales(m) == ["tau_slope"]
    assert sampler.verify().passed


@pytest.mark.slow
def test_a_scale_of_small_steps_mixes_faster():
    model = seen_walk(300, 0.05)
    sizes = [
        float(ess_bulk(gp.compile(model, interweave=how).sample(
            2000, chains=2, seed=1, progress=False)["tau"]))
        for how in (True, False)
    ]  # fmt: skip
    assert sizes[0] > 2 * sizes[1]
