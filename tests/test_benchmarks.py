"""The hand-written sweeps still run, and sample what they should."""

# The folder of benchmarks is on the path before they are imported.

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import factorisation_by_hand
import interweaving
import ising_by_hand
import joint
import lda_by_hand
import markov_by_hand
import rats_by_hand
import regression_by_hand
from references import ising as ising_exactly
from references.monte_carlo import disagreements, mean_and_error

import gibbsppl as gp
from models import (
    eight_schools,
    hidden_markov,
    iris,
    lda,
    linear_regression,
    matrix_factorisation,
    rats,
    spike_and_slab,
)

RNG = np.random.default_rng(1)


def test_rats_by_hand_agrees_with_the_reference():
    kept = rats_by_hand.run(draws=400, warmup=100, chains=4)
    found = {"alpha0": kept["mu_a"] - 22 * kept["mu_b"], "mu_b": kept["mu_b"]}
    assert disagreements(found, rats.REFERENCE) == {}


def test_regression_by_hand_agrees_with_the_reference():
    constants = regression_by_hand.prepare(linear_regression.X, linear_regression.Y)
    rng = np.random.default_rng(1)
    state = regression_by_hand.start(rng, constants)
    kept = []
    for _ in range(1100):
        regression_by_hand.sweep(rng, state, constants)
        kept.append([*state["beta"], state["tau"], state["tau_beta"]])
    names = ["intercept", *(f"beta[{c}]" for c in linear_regression.COLUMNS), "tau", "tau_beta"]
    found = dict(zip(names, np.array(kept[100:]).T, strict=True))
    assert disagreements(found, linear_regression.REFERENCE) == {}


@pytest.mark.slow
def test_gates_by_hand_agree_with_the_reference():
    pytest.importorskip("numba")
    import gates_by_hand

    x, y = linear_regression.X, linear_regression.Y
    prepared, rng = gates_by_hand.prepare(np.asarray(x, dtype=float), np.asarray(y)), RNG
    beta, gate, tau = state = np.zeros(11), np.zeros(10), np.ones(1)
    kept = []
    for _ in range(20_000):
        gates_by_hand.sweep(rng, prepared, (0.5, 4.0, 0.01, 0.01), state, 1)
        kept.append({"tau": tau[0], "gate": gate.copy(), "beta": beta[:10].copy()})
    draws = {n: np.array([k[n] for k in kept[500:]])[None] for n in kept[0]}
    assert disagreements(spike_and_slab.quantities(draws), spike_and_slab.REFERENCE) == {}


def test_states_by_hand_agree_with_the_reference():
    constants = markov_by_hand.prepare(hidden_markov.EARTHQUAKES["counts"], 2)
    rng = np.random.default_rng(1)
    state = markov_by_hand.start(rng, constants)
    kept = []
    for _ in range(2100):
        markov_by_hand.sweep(rng, state, constants)
        kept.append(dict(state))
    draws = {n: np.array([s[n] for s in kept[100:]])[None] for n in ("rate", "P", "z")}
    assert disagreements(hidden_markov.quantities(draws), hidden_markov.REFERENCE) == {}


def test_factorisation_by_hand_agrees_with_the_reference():
    factorisation = matrix_factorisation
    shape = len(factorisation.JUDGES), len(factorisation.QUALITIES)
    constants = factorisation_by_hand.prepare(*factorisation.OBSERVED, shape, 7.6)
    rng = np.random.default_rng(1)
    state = factorisation_by_hand.start(rng, constants, 2)
    draws = {name: np.empty((1, 2000, len(state[name]), 2)) for name in "UV"}
    for sweep in range(-100, 2000):
        factorisation_by_hand.sweep(rng, state, constants)
        for name, kept in draws.items():
            kept[0, sweep] = state[name]
    assert disagreements(factorisation.quantities(draws), factorisation.REFERENCE) == {}


def test_topics_by_hand_find_the_bars():
    constants = lda_by_hand.prepare(*lda.bars(), 6)
    rng = np.random.default_rng(1)
    state = lda_by_hand.start(rng, constants)
    lda_by_hand.sweep(rng, state, constants)
    first = lda_by_hand.log_likelihood(state, constants)
    for _ in range(100):
        lda_by_hand.sweep(rng, state, constants)
    assert lda_by_hand.log_likelihood(state, constants) > first


@pytest.mark.slow
def test_topics_by_metropolis_are_those_of_exact_draws():
    """The log likelihood of labels, of many sweeps, beside that of collapsed draws."""
    pytest.importorskip("numba")
    import metropolis_by_hand

    corpus, rng, found = lda.bars(), np.random.default_rng(1), []
    tokens, state = metropolis_by_hand.prepared(*corpus[:2], 6)
    for _ in range(6000):
        metropolis_by_hand.topics(rng, tokens, state, (lda.ALPHA, lda.ETA), 5)
        found.append(lda.collapsed_log_likelihood(state[0], corpus, 6))
    sampler = gp.compile(lda.model(corpus=corpus, topics=6), **lda.WAYS["collapsed"])
    run = {"warmup": 500, "chains": 1, "thin": 5, "seed": 2, "keep": ["z"]}
    z = sampler.sample(6000, progress=False, backend="compiled", **run)["z"][0]
    exact = np.array([lda.collapsed_log_likelihood(labels, corpus, 6) for labels in z])
    own = {"log likelihood": np.array(found[500:])[None]}
    assert disagreements(own, {"log likelihood": mean_and_error(exact)}) == {}


@pytest.mark.slow
def test_vectors_by_hand_agree_with_the_reference():
    pytest.importorskip("numba")
    import vectors_by_hand

    about = np.array([6.0, 3.0, 4.0, 1.0])
    y, rng, kept = iris.FLOWERS - about, np.random.default_rng(1), []
    state = np.full(3, 1 / 3), y[[0, 60, 120]].copy(), np.tile(5 * np.eye(4), (3, 1, 1))
    z, columns = np.zeros(len(y), np.int64), np.ascontiguousarray(y.T)
    for _ in range(20_000):
        prior = (10.0, 0.1, 10.0, 0.5)
        vectors_by_hand.mixture_of_vectors(rng, y, columns, prior, state, z, 1)
        kept.append([x.copy() for x in (*state, z)])
    weight, mu, tau, labels = (np.array(x)[None] for x in zip(*kept[500:], strict=True))
    draws = {"weight": weight, "mu": mu + about, "tau": tau, "z": labels}
    assert disagreements(iris.quantities(draws), iris.REFERENCE) == {}


def test_spins_by_hand_have_the_energy_that_onsager_found():
    rng, coupling = np.random.default_rng(1), 0.3
    spins, bounds = ising_by_hand.start(rng, 128), ising_by_hand.thresholds(coupling)
    kept = []
    for _ in range(1100):
        ising_by_hand.sweep(rng, spins, bounds)
        kept.append(ising_by_hand.energy(spins))
    exact = {"energy": (ising_exactly.onsager_energy(coupling), 0)}
    assert disagreements({"energy": np.array(kept[100:])}, exact) == {}


def test_effective_draws_of_two_ways_are_measured(monkeypatch):
    """Of each way the size and the time of the same sweeps."""
    monkeypatch.setattr(joint, "SWEEPS", 60)
    sampler = gp.compile(eight_schools.model())
    micro, per_sweep = interweaving.turn(sampler, 2000, seed=1)

    assert micro > 0
    assert 0 < per_sweep < np.inf
    for blocks in (False, None):
        sizes = joint.measured(rats, blocks, seed=1)
        assert all(0 < size < np.inf for size in sizes)
