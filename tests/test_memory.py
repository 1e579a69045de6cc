"""Temporary arrays in NumPy: counted as texts are written, and held within the limit by parts."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
import models
from gibbsppl.checks.draws_called import calls_against_steps
from gibbsppl.code import by_parts
from gibbsppl.code.program import load
from gibbsppl.code.source import written
from gibbsppl.run.chains import advance

# What a step holds is predicted within this factor, and what Python's own objects take.
FACTOR, OBJECTS = 3.0, 200_000


def mixture(n=4000, components=30, seed=0):
    """A mixture of normal numbers: a log weight for each component of each number."""
    y = 10 * np.random.default_rng(seed).normal(size=n)
    with gp.Model(coords={"i": n, "k": components}, name="mixture") as model:
        w = gp.Dirichlet("w", 1.0, dims="k")
        mu = gp.Normal("mu", 0, sigma=10, dims="k")
        tau = gp.Gamma("tau", 1, rate=1, dims="k")
        z = gp.Categorical("z", w, dims="i")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=y)
    return model


def levels(n=3000, seed=0):
    """Counts of which each has a level of its own, drawn by adaptive rejection."""
    rng = np.random.default_rng(seed)
    with gp.Model(coords={"i": n}, name="levels") as model:
        tau = gp.Gamma("tau", 1, rate=1)
        level = gp.Normal("level", 1, tau=tau, dims="i")
        gp.Poisson("y", gp.exp(level), dims="i", observed=rng.poisson(3.0, n))
    return model


def weighted(n=5000, seed=0):
    """Values with heavy tails, each with a weight."""
    y = np.random.default_rng(seed).standard_t(4, size=n)
    with gp.Model(coords={"i": n}, name="weighted") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.1), gp.Gamma("tau", 1, rate=1)
        gp.StudentT("y", nu=4, mu=mu, tau=tau, dims="i", observed=y)
    return model


def by_group(n=3000, groups=20, seed=0):
    """Labels whose weights are tables, read at the group of each."""
    rng = np.random.default_rng(seed)
    with gp.Model(coords={"i": n, "g": groups, "k": 8}, name="by group") as model:
        group = gp.Index("group", rng.integers(groups, size=n), of="g", dims="i")
        share = gp.Dirichlet("share", 1.0, dims=("g", "k"), event="k")
        mu = gp.Normal("mu", 0, sigma=10, dims="k")
        z = gp.Categorical("z", share[group], dims="i")
        gp.Normal("y", mu[z], tau=1, dims="i", observed=10 * rng.normal(size=n))
    return model


LARGE = (mixture, levels, weighted, by_group)


@pytest.fixture
def in_parts(monkeypatch):
    """Makes parts of 64 kB wherever a step would hold more than 100 kB."""
    monkeypatch.setattr(by_parts, "limit_of", lambda _: 100_000)
    monkeypatch.setattr(by_parts, "A_PART", 1 << 16)


def sweeps(program, sampler, count=3):
    """The state after some sweeps from a start."""
    constants = program.prepare(sampler.derivation.known)
    (chain,), _ = sampler.initial_states(1, seed=1)
    chain.rng = np.random.default_rng(3)
    for _ in range(count):
        advance(program, constants, chain)
    return chain.state


def most_traced(sampler):
    """The most bytes that a sweep in NumPy holds beside its state."""
    constants = sampler.constants
    (chain,), _ = sampler.initial_states(1, seed=1)
    found = []
    for _ in range(5):
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        advance(sampler.program, constants, chain)
        found.append(tracemalloc.get_traced_memory()[1] - before)
        tracemalloc.stop()
    return max(found[2:])


@pytest.mark.parametrize("model", [mixture, by_group, weighted])
def test_parts_draw_what_the_whole_draws(model, in_parts, monkeypatch):
    """Draws that take one number for each element are the same to the last digit."""
    sampler = gp.compile(model())
    found = written(sampler.schedule)

    assert any(h.positions for h in found.held.values())
    parts = sweeps(load(found.source), sampler)
    monkeypatch.undo()
    whole = sweeps(load(written(sampler.schedule).source), sampler)
    for name, values in whole.items():
        np.testing.assert_array_equal(parts[name], values)


def test_a_move_in_parts_has_a_width_for_each_element(in_parts, monkeypatch):
    """What is learnt of each element is kept as if all were moved at once."""
    sampler = gp.compile(levels())
    found = written(sampler.schedule)
    state = sweeps(load(found.source), sampler)
    monkeypatch.undo()
    whole = sweeps(load(written(sampler.schedule).source), sampler)

    assert found.held["level"].positions
    assert state["~level"].value.shape == state["level"].shape == (3000,)
    assert state["~level"].moves == whole["~level"].moves
    assert np.isfinite(state["level"]).all()


@pytest.mark.parametrize("model", LARGE)
def test_parts_pass_the_checks(model, in_parts):
    """The draws of each part are from the conditionals that all elements are drawn from."""
    sampler = gp.compile(model())

    assert "drawn_by_parts" in sampler.source
    assert sampler.verify().passed


PLANTED = (
    (mixture, '{"y": 0}', "{}"),
    (mixture, '"n_i", {"z": 0}, {"y": 0}', '"n_i", {"z": 0, "mu": 0}, {"y": 0}'),
    (by_group, '"group": 0', '"y": 0'),
    (levels, '"n_i", {"level": 0}', '"n_i", {}'),
)


@pytest.mark.parametrize(("model", "right", "wrong"), PLANTED)
def test_what_is_not_cut_is_found(model, right, wrong, in_parts):
    """Planted bugs: an array that all parts read whole, or one that none should be cut of."""
    sampler = gp.compile(model())
    source = sampler.source
    assert right in source
    (chain,), _ = sampler.initial_states(1, seed=1)
    program = load(source.replace(right, wrong))
    state = {n: v for n, v in chain.state.items() if not n.startswith("~")}
    known = sampler.derivation.known
    told = calls_against_steps(np.random.default_rng(1), sampler.schedule, program, known, state)

    assert any("a part is drawn from other parameters" in t or "fails" in t for t in told.values())


def test_a_sum_over_the_data_has_no_parts(in_parts):
    """What all elements of the data go into is computed at once, or in loops."""
    y = np.random.default_rng(0).normal(size=20_000)
    with gp.Model(coords={"i": 20_000}, name="one mean") as model:
        mu, tau = gp.Normal("mu", 0, tau=0.1), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", gp.exp(mu) * gp.Data("x", y**2, dims="i"), tau=tau, dims="i", observed=y)
    found = written(gp.compile(model).schedule)

    assert "drawn_by_parts" not in found.source
    assert not found.is_within
    assert any("in compiled loops" in told for told in found.told)


@pytest.mark.parametrize("model", [mixture, levels, weighted, by_group])
def test_held_bytes_are_those_traced(model):
    """The bytes that a sweep holds are known before it is made."""
    sampler = gp.compile(model(20_000))
    predicted, traced = written(sampler.schedule).most, most_traced(sampler)

    assert predicted <= FACTOR * traced + OBJECTS
    assert traced <= FACTOR * predicted + OBJECTS


@pytest.mark.slow
@pytest.mark.parametrize("name", models.NAMES)
def test_held_bytes_of_the_models(name):
    """The bytes that a sweep of each model holds are known, but for objects of Python."""
    sampler = gp.compile(getattr(models, name).model())
    predicted, traced = written(sampler.schedule).most, most_traced(sampler)

    assert predicted <= FACTOR * traced + OBJECTS
    assert traced <= FACTOR * predicted + OBJECTS


def test_the_schedule_tells_what_is_drawn_in_parts(in_parts):
    """The limit, and what all elements at once would hold, are printed."""
    sampler = gp.compile(mixture())

    assert "z drawn in NumPy at" in str(sampler)
    assert "all at once 2.94 MB, of 100 kB at most" in " ".join(str(sampler).split())
    held = sampler.costs()["z"].held
    assert 0 < held <= 100_000
    assert sampler.costs().memory.in_numpy >= held


def test_loops_are_taken_where_numpy_holds_too_much(monkeypatch):
    """However few sweeps there are."""
    monkeypatch.setattr(by_parts, "limit_of", lambda _: 100_000)
    monkeypatch.setattr(by_parts, "A_PART", 1 << 30)
    sampler = gp.compile(weighted())
    large = replace(sampler.derivation.facts, worth=None)

    assert not large.is_within
    sampler.derivation.facts = large
    draws = sampler.sample(2, warmup=1, chains=1, seed=1, backend="auto", progress=False)
    assert draws.attributes["backend"] == "compiled"


def test_labels_of_a_chain_are_never_drawn_in_parts(in_parts):
    """Parts of a chain would be chains of their own: transitions between them would be lost."""
    with gp.Model(coords={"t": 3000, "k": 5}, name="chain") as model:
        p = gp.Data("p", np.full((5, 5), 0.2), dims=("k", "k'"))
        rate = gp.Data("rate", np.arange(1.0, 6.0), dims="k")
        z = gp.Array("z", dims="t", event="k")
        z[0] = gp.Categorical(p=0.2, event="k")
        z[1:] = gp.Categorical(p=p.at("k", z.lag("t", 1)), event="k'")
        gp.Poisson("y", rate[z], dims="t", observed=np.arange(3000) % 7)
    sampler = gp.compile(model)

    assert sampler.schedule.step("z").kind == "chain"
    assert "drawn_by_parts" not in sampler.source


def test_a_part_that_cannot_be_computed_is_told_of_its_step(in_parts, monkeypatch):
    sampler = gp.compile(mixture())
    monkeypatch.setattr("gibbsppl.checks.in_parts._by_element", lambda *_: 1 / 0)
    found = sampler.verify()

    assert not found.passed
    assert "its call fails with ZeroDivisionError" in str(found)
