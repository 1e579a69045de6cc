"""Labels along ragged ends in programs: drawn together, forwards and back, as on a box."""

from itertools import pairwise, product

import numpy as np
import pytest
import sympy as sp
from references.monte_carlo import disagreements

import gibbsppl as gp
from gibbsppl.bugs import certain

ALIVE = """
model {
  for (i in 1:N) {
    z[i, f[i]] <- 1
    for (t in (f[i] + 1):T) {
      z[i, t] ~ dbern(phi[t - 1] * z[i, t - 1])
      y[i, t] ~ dbern(p * z[i, t])
    }
  }
  for (t in 1:(T - 1)) { phi[t] <- s / t }
  s ~ dunif(0, 1)
  p ~ dbeta(2, 2)
}
"""
FIRST = [2, 1, 3, 4]
SEEN = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
ALIVE_DATA = {
    "N": 4,
    "T": 4,
    "f": FIRST,
    "y": np.ma.masked_array(SEEN, [[t < f for t in range(4)] for f in FIRST]),
}
STATES = """
model {
  for (i in 1:3) {
    z[i, f[i]] ~ dcat(start[])
    for (t in (f[i] + 1):l[i]) {
      z[i, t] ~ dcat(P[z[i, t - 1], ])
    }
    for (t in f[i]:l[i]) { y[i, t] ~ dnorm(m[z[i, t]], 1) }
  }
  for (k in 1:2) { P[k, 1:2] ~ ddirch(one[]) }
  m[1] <- -1
  m[2] ~ dnorm(1, 1)
}
"""


def states_data():
    y = np.ma.masked_all((3, 4))
    y[0, 1:4], y[1, 0:3], y[2, 2:4] = [-1.0, 1.5, 0.3], [2.0, -0.5, 0.1], [0.2, 1.0]
    return {"f": [2, 1, 3], "l": [4, 3, 4], "y": y, "start": [0.3, 0.7], "one": [1, 1]}


def test_individuals_that_are_seen_from_different_times_on_are_drawn_together():
    sampler = gp.compile(gp.read_bugs(ALIVE, ALIVE_DATA))
    assert sampler.schedule.step("z.padded").kind == "chain"
    assert sampler.schedule.step("p").kind == "exact"
    assert all(sampler.verify(seed=seed).proved for seed in range(3))


def test_their_draws_have_the_posterior_of_all_sequences():
    """By summing over all of them, on a grid of the two probabilities."""
    grid = (np.arange(100) + 0.5) / 100
    s, p = np.meshgrid(grid, grid, indexing="ij")
    weight = p * (1 - p)
    for first, seen in zip(FIRST, SEEN, strict=True):
        total = 0.0
        for tail in product((0, 1), repeat=4 - first):
            path, one = (1, *tail), 1.0
            for n, (before, now) in enumerate(pairwise(path)):
                alive = s / (first + n) * before
                one = one * (alive if now else 1 - alive)
                one = one * (p * now if seen[first + n] else 1 - p * now)
            total = total + one
        weight = weight * total
    weight /= weight.sum()
    draws = gp.compile(gp.read_bugs(ALIVE, ALIVE_DATA)).sample(4000, seed=1, progress=False)
    wanted = {"s": ((weight * s).sum(), 0.0), "p": ((weight * p).sum(), 0.0)}
    assert not disagreements({n: draws[n] for n in wanted}, wanted)


def test_positions_that_no_line_gives_are_no_numbers():
    draws = gp.compile(gp.read_bugs(ALIVE, ALIVE_DATA)).sample(20, seed=1, progress=False)
    given = np.array([[t >= f - 1 for t in range(4)] for f in FIRST])
    assert (np.isfinite(draws["z"]) == given).all()
    assert all((draws["z"][..., i, f - 1] == 1).all() for i, f in enumerate(FIRST))


def test_known_values_that_are_no_labels_stay_out_of_the_box():
    known = np.array([[1 if t == f - 1 else 9 for t in range(4)] for f in FIRST])
    z = np.ma.masked_array(known, [[t >= f for t in range(4)] for f in FIRST])
    text = ALIVE.replace("z[i, f[i]] <- 1", "")
    sampler = gp.compile(gp.read_bugs(text, {**ALIVE_DATA, "z": z}))
    assert "z.table" in sampler.graph.drawn
    assert sampler.verify().proved


def test_states_whose_first_ones_are_drawn_by_a_line_of_their_own_are_drawn_together():
    sampler = gp.compile(gp.read_bugs(STATES, states_data()))
    assert sampler.schedule.step("z.label").kind == "chain"
    assert sampler.schedule.step("P").kind == "exact"
    assert all(sampler.verify(seed=seed).proved for seed in range(3))


def test_their_draws_have_the_posterior_of_all_states():
    """By summing over all of them, on a grid of the two rows of probabilities."""
    text = STATES.replace("m[2] ~ dnorm(1, 1)", "m[2] <- 1")
    data = states_data()
    grid = (np.arange(100) + 0.5) / 100
    a, b = np.meshgrid(grid, grid, indexing="ij")  # (of each state, how likely it is to be 1 next)
    weight = np.ones_like(a)
    for first, last, row in zip([1, 0, 2], [4, 3, 4], data["y"], strict=True):
        y, total = row[first:last], 0.0
        for path in product((0, 1), repeat=last - first):
            seen = data["start"][path[0]] * np.exp(-((y - np.array([-1, 1])[list(path)]) ** 2) / 2)
            seen = np.prod(seen) / data["start"][path[0]] ** (len(y) - 1)
            for before, now in pairwise(path):
                p = (a, b)[before]
                seen = seen * (1 - p if now else p)
            total = total + seen
        weight = weight * total
    weight /= weight.sum()
    draws = gp.compile(gp.read_bugs(text, data)).sample(1000, seed=1, progress=False)
    found = {"a": draws["P"][..., 0, 0], "b": draws["P"][..., 1, 0]}
    wanted = {"a": ((weight * a).sum(), 0.0), "b": ((weight * b).sum(), 0.0)}
    assert not disagreements(found, wanted)


@pytest.mark.parametrize("first", [[2, 2, 2], [1, 1, 3], [3, 1, 2], [3, 3, 3]])
def test_first_states_at_any_times(first):
    text = STATES.replace("l[i]", "4")
    data = states_data() | {"f": first}
    y = np.where([[t >= f - 1 for t in range(4)] for f in first], 0.3, np.nan)
    sampler = gp.compile(gp.read_bugs(text, data | {"y": np.ma.masked_invalid(y)}))
    assert sampler.schedule.step("z.label").kind == "chain"
    assert sampler.verify().proved
    assert np.isfinite(sampler.sample(10, warmup=20, seed=1, progress=False)["z"]).any()


def test_individuals_whose_first_states_are_drawn():
    """Before the first time all are known to be 0, and certain: no probability is the number 0."""
    text = ALIVE.replace("z[i, f[i]] <- 1", "z[i, f[i]] ~ dbern(s)")
    sampler = gp.compile(gp.read_bugs(text, ALIVE_DATA))
    assert sampler.schedule.step("z.padded").kind == "chain"
    assert all(sampler.verify(seed=seed).proved for seed in range(3))


def test_some_of_such_states_are_known():
    z = np.ma.masked_all((3, 4))
    z[0, 1], z[2, 3], z[1, 1] = 2, 1, 1
    sampler = gp.compile(gp.read_bugs(STATES, states_data() | {"z": z}))
    assert sampler.schedule.step("z.label").kind == "chain"
    assert sampler.verify().proved
    draws = sampler.sample(20, warmup=20, seed=1, progress=False)["z"]
    assert (draws[..., 0, 1] == 2).all()
    assert (draws[..., 2, 3] == 1).all()


def test_transitions_that_several_lines_give_are_those_of_one_sequence():
    """The first transition of each is another one: two lines, and the line of first states."""
    text = STATES.replace(
        "for (t in (f[i] + 1):l[i]) {\n      z[i, t] ~ dcat(P[z[i, t - 1], ])",
        "z[i, f[i] + 1] ~ dcat(Q[z[i, f[i]], ])\n"
        "    for (t in (f[i] + 2):l[i]) {\n      z[i, t] ~ dcat(P[z[i, t - 1], ])",
    ).replace("for (k in 1:2) {", "for (k in 1:2) { Q[k, 1:2] ~ ddirch(one[])\n ")
    sampler = gp.compile(gp.read_bugs(text, states_data()))
    assert sampler.schedule.step("z.label").kind == "chain"
    assert all(sampler.verify(seed=seed).proved for seed in range(3))


def test_states_with_known_first_ones_are_drawn_together():
    text = STATES.replace("z[i, f[i]] ~ dcat(start[])", "z[i, f[i]] <- start[i]")
    sampler = gp.compile(gp.read_bugs(text, states_data() | {"start": [1, 2, 2]}))
    assert sampler.schedule.step("z.label[:, 1:]").kind == "chain"
    assert all(sampler.verify(seed=seed).proved for seed in range(3))
    draws = sampler.sample(20, warmup=20, seed=1, progress=False)
    assert (draws["z"][..., 1, 0] == 2).all()
    assert np.isnan(draws["z"][..., 1, 3]).all()


@pytest.mark.parametrize("program", ["alive", "states"])
def test_the_second_reader_tells_labels_that_are_not_certain(program, monkeypatch):
    """Planted: what no line gives is one of two labels, whichever."""
    monkeypatch.setattr(certain, "Equals", lambda *_: sp.Rational(1, 2))
    text = STATES.replace("z[i, f[i]] ~ dcat(start[])", "z[i, f[i]] <- start[i]")
    read = {
        "alive": lambda: gp.read_bugs(ALIVE, ALIVE_DATA),
        "states": lambda: gp.read_bugs(text, states_data() | {"start": [1, 2, 2]}),
    }
    assert not gp.compile(read[program]()).verify().passed
