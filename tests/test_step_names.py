"""Steps that draw parts of one array have names of their own, by which nothing is mixed up."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.planning import step_names
from gibbsppl.planning.step_names import called_by_parts

X = np.random.default_rng(1).standard_normal((20, 6))
COUNTS = np.arange(20) % 4


def two_regressions(*seen, parts=((0, 3), (3, 6)), **settings):
    """Regressions whose coefficients are parts of one array, of numbers or of counts."""
    with gp.Model(name="two", coords={"i": 20, "k": 6}) as model:
        b = gp.Array("b", dims="k")
        for start, stop in parts:
            b[start:stop] = gp.Normal(0, sigma=1)
        columns = [gp.Data(f"x{k}", X[:, k], dims="i") for k in range(6)]
        for name, outcome, ks in zip("yw", seen, (range(3), range(3, 6)), strict=True):
            mean = sum(columns[k] * b[k] for k in ks)
            if outcome == "numbers":
                gp.Normal(name, mean, sigma=1, dims="i", observed=X[:, 0])
            else:
                gp.Poisson(name, gp.exp(mean), dims="i", observed=COUNTS)
    return gp.compile(model, **settings)


APART = {"b": "alone"}  # (a joint draw, and beside it proposals, of a part each)


def test_steps_of_parts_are_called_by_what_they_draw():
    sampler = two_regressions("numbers", "counts", blocks=APART)
    names = ["b[3:]", "b[:3]"]

    assert [s.name for s in sampler.schedule.steps] == names
    assert [r.step for r in sampler.verify().rows] == [*names, "(compiled sweep)"]
    assert [s.name for s in sampler.costs().steps] == names
    assert sampler.verify().proved
    assert sampler.schedule.step("b[3:]").is_move
    drawn = sampler.sample(5, warmup=5, chains=1, seed=1, progress=False)
    assert [*drawn.sample_stats] == ["acceptance of b[3:]"]


def test_a_step_of_a_whole_array_has_the_name_of_the_array():
    assert [s.name for s in two_regressions("numbers", "counts").schedule.steps] == ["b"]


def test_a_step_of_many_parts_is_named_by_the_first_and_the_last():
    parts = [(0, 3), (3, 4), (4, 5), (5, 6)]
    graph = two_regressions("numbers", "counts", parts=parts).graph
    first, *others = graph.latent

    told = step_names.part_of("b", others, graph)
    assert told == "b[3:4], b[4:5], b[5:]"
    assert step_names.part_of("b", [first, *others], graph) == "b"
    more = two_regressions("numbers", "counts", parts=[(k, k + 1) for k in range(6)]).graph
    told = step_names.part_of("b", more.latent[1:], more)
    assert told == "b[1:2] to b[5:] (5 statements)"


@pytest.mark.parametrize(
    "settings", [{"blocks": APART}, {"kernels": {"b": gp.Cycle(gp.HMC(), gp.Slice())}}]
)
def test_sweeps_in_loops_have_the_matrix_of_each_part(settings):
    sampler = two_regressions("numbers", "counts", **settings)
    (chain,), _ = sampler.initial_states(1, 5)

    assert beside(sampler, chain.state, chain.rng).far == []


def test_each_part_is_put_to_its_mode():
    sampler = two_regressions("counts", "counts", blocks=APART)
    b = sampler.maximise(seed=1).state["b"]
    mean = np.exp(X[:, :3] @ b[:3]), np.exp(X[:, 3:] @ b[3:])
    slope = X.T @ COUNTS - np.concatenate([X[:, :3].T @ mean[0], X[:, 3:].T @ mean[1]]) - b

    assert np.abs(slope).max() < 1e-3


def test_equal_names_of_two_steps_are_refused(monkeypatch):
    schedule = two_regressions("numbers", "counts", blocks=APART).schedule
    with pytest.raises(AssertionError, match="several steps are called b"):
        replace(schedule, steps=(schedule.steps[0],) * 2)

    monkeypatch.setattr(import_module("gibbsppl.planning.plan"), "called_by_parts", lambda s, _: s)
    with pytest.raises(AssertionError, match="two: several steps are called b"):
        two_regressions("numbers", "counts", blocks=APART)
    assert called_by_parts(schedule.steps[0], schedule.graph) is schedule.steps[0]
