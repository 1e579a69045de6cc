"""Sweeps by means and by modes in loops, and their bounds, are those of the program in NumPy."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from kernels_called import Called
from numpy.testing import assert_allclose
from test_chains_of_labels import CHAINS
from test_readings import READ, at_point, everyday, factorisation, model_of, read_and_drawn

import gibbsppl as gp
from gibbsppl.code.arrays.expressions import ZERO, negative
from gibbsppl.code.arrays.statements import Add, Store, with_expressions
from gibbsppl.code.loop_program import loops_of
from gibbsppl.code.worth import Worth
from gibbsppl.errors import NotLoweredError, RunError
from gibbsppl.fits import sweeping
from gibbsppl.fits.points import moments_at
from gibbsppl.runtime import chain_probabilities, likeliest_chain
from gibbsppl.runtime.loops import chains as kernels
from gibbsppl.runtime.loops import labels as label_kernels


def loops_for(read):
    return loops_of(read.schedule, read.data, read.prepared, is_fit=True)


def told(loops, runner, arrays, rng):
    """The bound after one sweep."""
    outputs, found = loops.outputs(), np.empty(1)
    records = [*loops.unrecorded()[:-1], found]
    with np.errstate(all="ignore"):
        runner.record(loops.arguments(rng, arrays), 1, 1, outputs, records)
    return found[0]


def start_of(read, drawn):
    """A state with moments of the values that one chain begins with."""
    (chain,), _ = drawn.initial_states(1, seed=3)
    return chain.state | moments_at(read.schedule, {**read.derivation.known, **chain.state})


def check_beside(read, state, loops=None, sweeps=5):
    """Five sweeps and their bounds agree to ten digits."""
    s = {n: np.copy(v)[()] for n, v in state.items()}
    loops = loops or loops_for(read)
    arrays = {n: a.copy() for n, a in loops.arrays_of(state).items()}
    runner, rng = loops.plain(), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for sweep in range(sweeps):
            read.program.sweep(np.random.default_rng(0), s, read.constants)
            bound = told(loops, runner, arrays, rng)
            for name, found in arrays.items():
                expected = np.asarray(s[name], dtype=float)
                size = 1.0 + np.abs(expected).max(initial=0.0)
                assert np.all(np.abs(found - expected) <= 1e-10 * size), f"{name}, sweep {sweep}"
            assert_allclose(bound, read.program.bound(s, read.constants), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", everyday(READ))
def test_sweeps_by_means_are_those_in_numpy(name):
    read, _, state = read_and_drawn(model_of(name))
    check_beside(read, state | at_point(read, state))


# ---- by modes ------------------------------------------------------------------------------------


def mixture():
    rng = np.random.default_rng(4)
    y = np.concatenate([rng.normal(-2, 1, 20), rng.normal(3, 1.5, 15)])
    with gp.Model(name="em", coords={"k": 2, "i": len(y)}) as model:
        w = gp.Dirichlet("w", 2, dims="k", event="k")
        mu, tau = gp.Normal("mu", 0, tau=0.1, dims="k"), gp.Gamma("tau", 2, rate=1, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=y)
    return model


def masked():
    """Elements of an array, of which some are observed."""
    y, x = np.array([0.3, np.nan, 1.0, np.nan, np.nan, -0.4]), np.linspace(-1, 2, 6)
    with gp.Model(name="gaps", coords={"i": 6}) as model:
        mu, tau = gp.Normal("mu", 0, tau=0.1), gp.Gamma("tau", 2, rate=1)
        mean = mu * gp.Data("x", x, dims="i")
        gp.Normal("y", mean, tau=tau, dims="i", observed=y, missing=np.nan)
    return model


def in_parts():
    """An array whose first element has a prior of its own, each other one given that before it."""
    with gp.Model(name="parts", coords={"t": 7}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        level = gp.Array("level", dims="t")
        level[0] = gp.Normal(0, tau=0.1)
        level[1:] = gp.Normal(level.lag("t", 1), tau=tau)
        gp.Normal("y", level, tau=2, dims="t", observed=[1.0, 0.2, 2.5, 3.1, 2.2, 0.7, 1.8])
    return model


def truncated():
    with gp.Model(name="truncated", coords={"i": 4}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        lower = gp.Data("least", np.linspace(0.0, 1.0, 4), dims="i")
        x = gp.Normal("x", 0, tau=1, lower=lower, dims="i")
        gp.Normal("y", x, tau=tau, dims="i", observed=[1.0, 0.2, 2.5, 3.1])
    return model


def numbered_from_one():
    with gp.Model(name="dice", coords={"i": 5}) as model:
        n = gp.DiscreteUniform("n", 1, 6, dims="i")
        gp.Normal("y", n, tau=0.5, dims="i", observed=[1.2, 3.7, 5.9, 0.1, 2.4])
    return model


BY = {
    "em": (mixture, {"z": "mean", "w": "mode", "mu": "mode", "tau": "mode"}),
    "hard em": (mixture, dict.fromkeys(("z", "w", "mu", "tau"), "mode")),
    "means of some": (mixture, {"z": "mode", "mu": "mean", "tau": "mean", "w": "mode"}),
    "least squares": (
        lambda: factorisation(np.random.default_rng(2).standard_normal((7, 5))),
        {"U": "mode", "V": "mode"},
    ),
    "a joint mode": (lambda: model_of("rats"), "mode"),
    "the likeliest chain": (lambda: model_of("hidden_markov"), {"z": "mode", "P": "mean"}),
    "missing data": (masked, "mean"),
    "parts, one by one": (in_parts, "mean"),
    "modes one by one": (in_parts, "mode"),
    "between bounds": (truncated, "mean"),
    "labels from one": (numbered_from_one, "mode"),
    "shares from one": (numbered_from_one, "mean"),
}


@pytest.mark.parametrize("name", BY)
def test_sweeps_by_modes_are_those_in_numpy(name):
    make, by = BY[name]
    sampler = gp.compile(make(), blocks=False if "one by one" in name else None)
    by = dict.fromkeys(sampler.graph.drawn, by) if isinstance(by, str) else by
    left = dict.fromkeys(set(sampler.graph.drawn) - set(by), "mean")
    read = sampler.read_by({**left, **by})
    check_beside(read, start_of(read, sampler.read_by({})))


@pytest.mark.parametrize("name", list(CHAINS)[:2])
def test_chains_with_known_labels_are_those_in_numpy(name):
    sampler = gp.compile(CHAINS[name]())
    read = sampler.read_by(dict.fromkeys(sampler.graph.drawn, "mean"))
    check_beside(read, start_of(read, sampler.read_by({})))


def test_a_search_for_a_mode_is_left_to_numpy():
    with gp.Model(name="search") as model:
        x = gp.Normal("x", 0, tau=1)
        gp.Poisson("n", gp.exp(x) + x**2, observed=3)
    read = gp.compile(model).read_by({"x": "mode"})
    with pytest.raises(NotLoweredError, match="x: a search for the mode"):
        loops_for(read)
    best = gp.compile(model).maximise(seed=1, progress=False)
    assert best.converged


# ---- kernels -------------------------------------------------------------------------------------


def chains():
    rng = np.random.default_rng(1)
    yield "plain", rng.normal(size=(9, 3)), rng.normal(size=(3, 3)), {}
    yield "by step", rng.normal(size=(6, 2)), rng.normal(size=(5, 2, 2)), {}
    far = np.where(rng.random((30, 3)) < 0.5, -2000.0, 0.0) * rng.random((30, 3))
    yield "far apart", far, np.log([[1.0, 1e-300, 0.0], [0.0, 1.0, 1e-200], [1e-300, 0.0, 1.0]]), {}
    yield "known", rng.normal(size=(6, 2)), rng.normal(size=(2, 2)), {2: 1, 5: 0}
    yield "one", rng.normal(size=(1, 4)), np.zeros((4, 4)), {}


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_probabilities_of_chains_are_those_of_whole_arrays():
    with np.errstate(divide="ignore"):
        cases = list(chains())
    for name, weights, moves, held in cases:
        check_chain(name, weights, moves, held)


def check_chain(name, weights, moves, held):
    count, size = weights.shape
    known, now = np.zeros(count, dtype=bool), np.zeros(count, dtype=int)
    for t, label in held.items():
        known[t], now[t] = True, label
    shares, pairs = np.eye(size)[now], np.empty((count, size, size))
    entropy, best = np.empty(1), np.empty(count, dtype=int)
    kernels.chain_probabilities(weights.copy(), moves, shares, known, shares, pairs, entropy)
    kernels.likeliest_chain(weights.copy(), moves, 0, now, known, best)
    by_time = moves if moves.ndim == 2 else np.moveaxis(moves, 0, -1)
    options = {"name": "z", "now": now, "known": known}
    expected = chain_probabilities(weights.T, by_time, **options)
    for found, wanted in zip((shares, pairs, entropy[0]), expected, strict=True):
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-11, err_msg=name)
    assert best.tolist() == likeliest_chain(weights.T, by_time, **options).tolist(), name


def test_an_entropy_of_a_chain_that_is_wrong_is_seen(monkeypatch):
    monkeypatch.setattr(kernels, "_entropy_before", lambda pairs, shares: 0.0)
    with pytest.raises(AssertionError, match="plain"):
        check_chain(*next(chains()))


def test_probabilities_of_labels_far_apart():
    out, entropy = np.empty(3), np.empty(1)
    label_kernels.probabilities(np.array([-1e5, -1e5 - 800.0, -np.inf]), out, entropy)
    assert_allclose(out, [1.0, 0.0, 0.0], atol=1e-300)
    assert_allclose(entropy, 0.0, atol=1e-290)
    label_kernels.probabilities(np.zeros(3), out, entropy)
    assert_allclose(entropy, np.log(3), rtol=1e-15)
    with pytest.raises(ValueError, match="no label has a probability"):
        label_kernels.probabilities(np.full(2, -np.inf), out[:2], entropy)


# ---- planted bugs --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Store, Add])
def test_a_sign_that_is_wrong_is_seen(kind):
    read, _, state = read_and_drawn(model_of("gaussian_mixture"))
    state = state | at_point(read, state)
    loops = loops_for(read)
    sweep = loops.sweep_value
    places = [
        n for n, s in enumerate(sweep.statements) if isinstance(s, kind) and s.value != ZERO
    ]
    for n in places[:4]:
        wrong = with_expressions(sweep.statements[n], negative)
        own = (*sweep.statements[:n], wrong, *sweep.statements[n + 1 :])
        other = replace(loops, sweep_value=replace(sweep, statements=own))
        with pytest.raises((AssertionError, ValueError)):
            check_beside(read, state, other, sweeps=2)


# ---- compiled, and fits --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["gaussian_mixture", "local_level",
     *(pytest.param(n, marks=pytest.mark.slow) for n in ("rats", "hidden_markov", "lda", "iris"))],
)  # fmt: skip
def test_compiled_sweeps_are_those_of_plain_loops(name):
    pytest.importorskip("numba")
    read, _, state = read_and_drawn(model_of(name))
    state, loops = state | at_point(read, state), loops_for(read)
    found = []
    for runner in (loops.plain(), loops.compiled()):
        arrays = {n: a.copy() for n, a in loops.arrays_of(state).items()}
        rng = np.random.default_rng(0)
        found.append((arrays, [told(loops, runner, arrays, rng) for _ in range(3)]))
    (plain, bounds), (compiled, others) = found

    for n, values in plain.items():
        size = 1.0 + np.abs(values).max(initial=0.0)
        assert_allclose(compiled[n], values, rtol=0.0, atol=1e-13 * size, err_msg=n)
    assert_allclose(others, bounds, rtol=1e-13)


def test_a_fit_is_the_same_compiled():
    pytest.importorskip("numba")
    sampler = gp.compile(model_of("gaussian_mixture"))
    fits = [
        sampler.variational(seed=1, warmup=0, sweeps=30, tolerance=0, backend=b, progress=False)
        for b in ("numpy", "compiled")
    ]

    assert_allclose(fits[0].trace, fits[1].trace, rtol=1e-10)
    assert_allclose(fits[0].mean("mu"), fits[1].mean("mu"), rtol=1e-10)
    with pytest.raises(RunError, match="backend: found 'jit'"):
        sampler.variational(backend="jit")


def test_sweeps_are_compiled_once_this_has_paid(monkeypatch):
    pytest.importorskip("numba")
    read, drawn, _ = read_and_drawn(model_of("gaussian_mixture"))
    made = sweeping.Sweeps(
        read.schedule, read.data, read.program, read.constants,
        sweeping.Asked("auto"), lambda _: Worth(saved=1.0, compiling=2.5),
    )  # fmt: skip
    (chain,), _ = drawn.initial_states(1, seed=3)
    chain.state |= at_point(read, chain.state)
    bounds, compiled = [], []
    while len(bounds) < 6:
        bounds += made.bounds(chain, 1)
        compiled.append(made.compiled is not None)

    assert compiled == [False, False, False, True, True, True]
    assert (np.diff(bounds) >= -1e-10 * np.abs(bounds[1:])).all()
    assert chain.sweep == made.made == 6


def test_what_goes_wrong_in_loops_is_told_by_numpy():
    pytest.importorskip("numba")
    with gp.Model(name="corner") as model:
        tau = gp.Gamma("tau", 0.1, rate=1)
        gp.Poisson("n", tau, observed=0)
    with pytest.raises(RunError, match="tau: the density is infinite, or largest, at an end"):
        gp.compile(model).maximise(backend="compiled", progress=False)


@pytest.mark.slow
def test_compiled_kernels_of_chains_are_the_plain_ones(monkeypatch):
    pytest.importorskip("numba")
    called = Called("chains")
    with np.errstate(divide="ignore"):
        cases = list(chains())
    for name in ("chain_probabilities", "likeliest_chain"):
        monkeypatch.setattr(importlib.import_module(kernels.__name__), name, getattr(called, name))
    for case in cases:
        check_chain(*case)
