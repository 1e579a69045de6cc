"""Moves on request and orders that are drawn, in loops: the sweep is the one in NumPy."""

import copy
from functools import cache

import numpy as np
import pytest
from replays import beside
from test_elliptical_slice import MODELS as ELLIPTICAL
from test_elliptical_slice import compiled as elliptical
from test_walks import chain_with_a_gap, groups, line, regression

import gibbsppl as gp
import models
from gibbsppl.code.arrays.expressions import negative
from gibbsppl.code.loop_text import statements as texts
from gibbsppl.code.lowering import blocks, moved_entries, units
from gibbsppl.code.lowering import elliptical as ellipses
from gibbsppl.code.lowering import moves as lowered
from gibbsppl.code.lowering import tied as lowered_tied
from gibbsppl.code.lowering import vector_walks as lowered_vectors
from gibbsppl.errors import CompileError, RunError
from gibbsppl.run.choice import asked_for, engine_for
from gibbsppl.run.engines import Interpreted
from gibbsppl.runtime import freeze, layouts, patterns


def started(sampler, seed=7):
    ((chain,), _) = sampler.initial_states(1, seed)
    return chain.state, chain.rng


def assert_the_same(sampler, sweeps=3):
    program = sampler.loops()
    state, rng = started(sampler)
    for n in range(sweeps):
        if n == sweeps - 1:
            freeze(state)
        assert beside(sampler, state, rng, program).far == []


@cache
def bounded():
    """Values between bounds of all kinds, of which some are moved one by one."""
    with gp.Model(coords={"n": 4}) as model:
        low, high = gp.Data("low", -np.arange(4.0), dims="n"), gp.Data("high", 5.0)
        x = gp.Uniform("x", low, high, dims="n")
        below = gp.Normal("below", 0, sigma=1, upper=0.5)
        share = gp.Beta("share", 2, 2, dims="n")
        k = gp.Binomial("k", 9, share, dims="n")
        gp.Normal("y", x.sum("n") + below, sigma=1, observed=1.0)
        gp.Poisson("z", k + 1, dims="n", observed=[2, 0, 5, 3])
    return model


@cache
def pieces(*, with_groups=False):
    """Coefficients along two axes that are drawn as one vector, of each group."""
    rng = np.random.default_rng(1)
    own, of = (("g",), (2,)) if with_groups else ((), ())
    with gp.Model(coords={"n": 6, "k": 3, "m": 2, "g": 2}) as model:
        x = gp.Data("x", rng.standard_normal((6, 3)), dims=("n", "k"))
        z = gp.Data("z", rng.standard_normal((6, 2)), dims=("n", "m"))
        tau = gp.Gamma("tau", 2, rate=2)
        b = gp.Normal("b", 0, tau=1, dims=("k", *own, "m"))
        mu = (x * z * b).sum("k").sum("m")
        gp.Normal("y", mu, tau=tau, dims=("n", *own), observed=rng.standard_normal((6, *of)))
    return model


def pieces_of_groups():
    return pieces(with_groups=True)


WALK, FIXED = gp.RandomWalk(), gp.RandomWalk(scale=0.7)
AIMED = gp.RandomWalk(scale=0.7, target_accept=0.3)
CASES = [
    *((groups, n, k) for n in ("mu", "tau", "p", "a", "count") for k in (WALK, FIXED, AIMED)),
    *((bounded, n, WALK) for n in ("below", "share", "k")),
    *((chain_with_a_gap, n, WALK) for n in "xy"),
    *((groups, n, gp.OverRelaxed(-0.6)) for n in ("mu", "a")),
    *((m, n, gp.OverRelaxed(-0.6)) for m, n in ((line, "beta"), (pieces, "b"))),
    (pieces_of_groups, "b", gp.OverRelaxed(-0.6)),
    (groups, "mu", gp.Slice()),
    (groups, "mu", gp.AdaptiveRejection()),
]


@pytest.mark.parametrize(("make", "name", "kernel"), CASES, ids=lambda v: getattr(v, "__name__", v))
def test_a_sweep_by_a_kernel_in_loops_is_the_one_in_numpy(make, name, kernel):
    assert_the_same(gp.compile(make(), kernels={name: kernel}))


def test_elements_between_bounds_step_in_turn():
    assert_the_same(gp.compile(bounded(), kernels={"x": WALK}, blocks={"x": "elements"}))


@pytest.mark.parametrize("make", [pieces, pieces_of_groups])
def test_a_draw_along_two_axes_in_loops_is_the_one_in_numpy(make):
    sampler = gp.compile(make())

    assert len(sampler.schedule.steps[0].dense) == 2
    assert_the_same(sampler)


def as_sparse(owners, first, second, *, dense, last):
    """The layout as a sparse matrix, however few the elements are."""
    apart = first != second
    inside = layouts._Inside.of(np.zeros(len(owners), dtype=bool), first[apart], second[apart])
    return layouts._sparse(inside.inner, inside.border, len(inside.a), 1)


def lattice():
    """A plane of elements, each tied to its neighbours, with normal observations."""
    i, j = np.divmod(np.arange(12), 4)
    near = np.argwhere(np.abs(i - i[:, None]) + np.abs(j - j[:, None]) == 1)
    one, other = near[near[:, 0] < near[:, 1]].T
    with gp.Model(coords={"n": 12, "pair": len(one)}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        a = gp.Index("a", one, of="n", dims="pair")
        b = gp.Index("b", other, of="n", dims="pair")
        sigma, weight = gp.Gamma("sigma", 2, rate=1), gp.Data("w", 1 + np.arange(12.0), dims="n")
        x = gp.Normal("x", 0, tau=gp.Gamma("phi", 2, rate=1), dims="n")
        gp.Normal("away", x[a] - x[b], tau=tau, dims="pair", observed=np.zeros(len(one)))
        gp.Normal("y", x, sigma=sigma / weight, dims="n", observed=np.arange(12.0))
    return model


def test_a_sparse_joint_draw_in_loops_is_the_one_in_numpy(monkeypatch):
    monkeypatch.setattr(patterns, "layout_of", as_sparse)
    sampler = gp.compile(lattice())

    assert "joint_sparse" in sampler.loops().module.text
    assert_the_same(sampler)


def test_an_ellipse_with_a_sparse_normal_part_in_loops_is_the_one_in_numpy(monkeypatch):
    monkeypatch.setattr(patterns, "layout_of", as_sparse)
    sampler = elliptical(ELLIPTICAL["walk"])

    assert "joint_sparse_apart" in sampler.loops().module.text
    assert_the_same(sampler)


@cache
def vectors():
    """Coefficients of two groups, some of them bounded, and a vector with gaps."""
    rng = np.random.default_rng(2)
    with gp.Model(coords={"n": 8, "k": 3, "g": 2}) as model:
        x = gp.Data("x", rng.standard_normal((8, 3)), dims=("n", "k"))
        beta = gp.Normal("beta", 0, sigma=2, dims=("g", "k"))
        gamma = gp.Normal("gamma", 0, sigma=1, dims="k", lower=-1)
        eta = (x * (beta + gp.exp(gamma))).sum("k")
        gp.Poisson("y", gp.exp(eta), dims=("n", "g"), observed=rng.poisson(2, (8, 2)))
    return model


@cache
def vector_with_gaps():
    y = [0.4, np.nan, 1.0, np.nan, np.nan]
    with gp.Model(coords={"t": 5}) as model:
        z = gp.Normal("z", 0, sigma=1, dims="t", observed=y, missing=np.nan)
        gp.Poisson("count", gp.exp(z.sum("t") / 3), observed=4)
    return model


VECTORS = [
    *((vectors, n, k) for n in ("beta", "gamma") for k in (WALK, FIXED, AIMED)),
    (vector_with_gaps, "z", WALK),
    (regression, "beta", WALK),
]


@pytest.mark.parametrize(
    ("make", "name", "kernel"), VECTORS, ids=lambda v: getattr(v, "__name__", v)
)
def test_a_walk_of_vectors_in_loops_is_the_one_in_numpy(make, name, kernel):
    sampler = gp.compile(make(), kernels={name: kernel})

    assert sampler.schedule.step(name).joint
    assert_the_same(sampler, sweeps=15)


@pytest.mark.parametrize("name", ELLIPTICAL)
def test_an_elliptical_slice_in_loops_is_the_one_in_numpy(name):
    assert_the_same(elliptical(ELLIPTICAL[name]))


@pytest.mark.parametrize("kernel", [None, gp.Slice(), gp.RandomWalk()], ids=str)
@pytest.mark.parametrize("name", ["process", "partly_known"])
def test_elements_of_a_dense_prior_in_loops_are_those_in_numpy(name, kernel):
    asked = {"blocks": {"x": "elements"}} if kernel is None else {"kernels": {"x": kernel}}
    sampler = gp.compile(elliptical_model(name), **asked)

    assert not sampler.schedule.step("x").is_coloured
    assert_the_same(sampler)


@pytest.mark.parametrize("kernel", [gp.AdaptiveRejection(), gp.Slice()], ids=str)
def test_elements_of_a_dense_prior_read_each_other_once_a_draw(kernel):
    costs = gp.compile(elliptical_model("process"), kernels={"x": kernel}).costs()

    (step,) = costs.steps
    assert step.plates == "t**2"


def shares():
    """Shares of two groups, some of them zero, in a density of no family."""
    weight = gp.Data("weight", [0.7, 1.5, 2.0], dims="k")
    a = gp.Dirichlet("x", weight, dims=("g", "k"))
    tau = gp.Gamma("tau", 2, rate=1)
    gp.Normal("y", gp.exp(a).sum("k"), tau=tau, dims="g", observed=[3.7, 4.4])


def counts():
    n = gp.Multinomial("x", 9, p=gp.Data("p", [0.2, 0.3, 0.5], dims="k"), dims="k")
    gp.Normal("y", gp.exp(n / 5).sum("k"), sigma=1, observed=6.0)


def directions():
    mu = gp.Data("mu", [0.0, 0.0, 1.0], dims="k")
    v = gp.VonMisesFisher("x", mu=mu, kappa=2.0, dims=("g", "k"))
    gp.Poisson("y", gp.exp(v.sum("k")), dims="g", observed=[2, 1])


def matrices():
    gp.HuangWand("x", nu=2.0, scale=1.0, dims=("k", "k'"), event=("k", "k'"))


TIED = {f.__name__: f for f in (shares, counts, directions, matrices)}


def tied(name):
    with gp.Model(coords={"g": 2, "k": 3}) as model:
        TIED[name]()
    return model


@pytest.mark.parametrize("name", TIED)
def test_moves_of_tied_entries_in_loops_are_those_in_numpy(name):
    sampler = gp.compile(tied(name), rewrites=False)

    assert sampler.schedule.step("x").kernel == "slice"
    assert_the_same(sampler)


def moved_by_hand(rng, value, log_density):
    return value


@pytest.mark.parametrize(
    "kernel",
    [moved_by_hand, gp.Proposal(lambda rng, value: value)],
    ids=["a function", "a proposal"],
)
def test_functions_of_the_user_are_called_in_numpy_alone(kernel):
    pytest.importorskip("numba")
    sampler = gp.compile(groups(), kernels={"tau": kernel})
    told = r"tau: your .*loops do not call. No compiled sweep.*leave backend= out"
    with pytest.raises(CompileError, match=told):
        sampler.sample(1, backend="compiled", progress=False)
    numpy = Interpreted(sampler.program, sampler.constants)

    given = (asked_for("auto"), lambda: numpy, sampler.loops, 10**12, sampler.derivation.worth)
    assert engine_for(*given) is numpy


# ---- orders ----------------------------------------------------------------------------------


SCANS = ("random", "symmetric")


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("name", ["pumps", "eight_schools", "hidden_markov", "gaussian_mixture"])
def test_a_sweep_in_an_order_of_its_own_is_the_one_in_numpy(name, scan):
    assert_the_same(gp.compile(getattr(models, name).model(), scan=scan), sweeps=4)


@pytest.mark.parametrize("scan", [*SCANS, gp.RandomScan({"tau": 3.0, "mu": 0.5})], ids=str)
def test_units_of_moves_in_an_order_of_their_own_are_those_in_numpy(scan):
    kernels = {"tau": WALK, "mu": gp.OverRelaxed(), "count": gp.Slice()}

    assert_the_same(gp.compile(groups(), kernels=kernels, scan=scan), sweeps=6)


@pytest.mark.parametrize("weights", [None, [0.5, 2.0, 1.0]])
def test_units_are_drawn_as_numpy_draws_them(weights):
    from gibbsppl.runtime.loops.units import equal_units, weighted_units

    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(20):
        out = np.zeros(3, dtype=np.int64)
        if weights is None:
            equal_units(ours, out)
            expected = theirs.integers(3, size=3)
        else:
            shares = np.array(weights) / sum(weights)
            weighted_units(ours, np.cumsum(shares), out)
            expected = theirs.choice(3, size=3, p=shares)
        np.testing.assert_array_equal(out, expected)
    assert ours.bit_generator.state == theirs.bit_generator.state


# ---- compiled --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("scan", ["systematic", "random", gp.RandomScan({"tau": 3.0})], ids=str)
def test_compiled_loops_make_the_chain_of_plain_ones(scan):
    pytest.importorskip("numba")
    kernels = {"tau": WALK, "mu": gp.OverRelaxed(), "count": WALK, "a": AIMED}
    assert_compiled_is_plain(gp.compile(groups(), kernels=kernels, scan=scan))


def assert_compiled_is_plain(sampler, sweeps=5):
    program = sampler.loops()
    state, rng = started(sampler)
    chains = []
    for runner in (program.plain(), program.compiled()):
        own, stream = copy.deepcopy((state, rng))
        arrays = program.arrays_of(own)
        with np.errstate(all="ignore"):
            runner.sweep(program.arguments(stream, arrays), sweeps)
        chains.append((arrays, stream.bit_generator.state))
    (plain, stream), (compiled, other) = chains

    assert stream == other
    for array, values in plain.items():
        np.testing.assert_allclose(compiled[array], values, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["process", "walk", "effects"])
def test_compiled_elliptical_slices_make_the_chain_of_plain_ones(name):
    pytest.importorskip("numba")
    sampler = elliptical(ELLIPTICAL[name])
    assert_compiled_is_plain(sampler)


@pytest.mark.slow
@pytest.mark.parametrize("name", TIED)
def test_compiled_moves_of_tied_entries_make_the_chain_of_plain_ones(name):
    pytest.importorskip("numba")
    assert_compiled_is_plain(gp.compile(tied(name), rewrites=False))


@pytest.mark.slow
def test_compiled_walks_of_vectors_make_the_chain_of_plain_ones():
    pytest.importorskip("numba")
    kernels = {"beta": WALK, "gamma": AIMED}
    assert_compiled_is_plain(gp.compile(vectors(), kernels=kernels), sweeps=12)


@pytest.mark.slow
def test_the_share_of_accepted_steps_is_recorded_as_in_numpy():
    pytest.importorskip("numba")
    sampler = gp.compile(groups(), kernels={"tau": WALK, "mu": FIXED, "a": WALK})
    draws = [
        sampler.sample(40, warmup=3, chains=2, seed=3, thin=2, progress=False, backend=b)
        for b in ("compiled", "numpy")
    ]
    rates = [d.sample_stats["acceptance of tau"] for d in draws]

    assert draws[0].attributes["backend"] == "compiled"
    assert set(draws[0].sample_stats) == set(draws[1].sample_stats)
    assert set(np.unique(rates[0])) == {0.0, 0.5, 1.0}
    shares = [d.sample_stats["acceptance of a"] * 6 for d in draws]
    assert all(np.allclose(s, np.round(s)) for s in shares)
    assert abs(shares[0].mean() - shares[1].mean()) < 1.0


def test_what_is_first_moved_after_warm_up_does_not_adapt():
    sampler = gp.compile(groups(), kernels={"tau": WALK})
    program = sampler.loops()
    state, rng = started(sampler)
    del state["~tau"]
    freeze(state)
    arrays = program.arrays_of(state)
    program.plain().sweep(program.arguments(rng, arrays))

    assert arrays["~tau.log_scale"] == 0
    assert arrays["~tau.moves"] == 0
    assert arrays["~tau.proposed"] == 1


# ---- planted bugs ----------------------------------------------------------------------------


def always_in_order(w):
    turn = w.own_dim("turn", len(w.schedule.units))
    table = w.given("units", (turn.dim,), np.arange(len(w.schedule.units)))
    return units.Element(table, (units.Position(turn.dim),)), turn


def backwards(spans):
    (span,) = spans
    return lowered.total([span.stop, lowered.Number(-1), negative(lowered.Position(span.dim))])



def not_counted(w, step, *_):
    fields = {lowered.ACCEPTED: "float", lowered.PROPOSED: "int"}
    names = (w.tuning(lowered.field_of(step.name, f), kind=k).array for f, k in fields.items())
    return [lowered.Add(name, (), lowered.ZERO, ()) for name in names]


def elliptical_model(name):
    with gp.Model(coords={"t": 4}) as model:
        ELLIPTICAL[name]()
    return model


PLANTED = {
    "what is learnt is forgotten": (
        lowered, "_learnt", lambda here, *_: lowered.Store(here, here), groups, {"tau": WALK}, {}
    ),
    "no step is counted": (
        lowered, "_counted", not_counted, groups, {"tau": WALK}, {},
    ),
    "a walk between bounds without them": (
        texts, "PROTOCOLS", {**texts.PROTOCOLS, "walk": texts.PROTOCOLS["slice"]}, bounded,
        {"below": WALK}, {},
    ),
    "vectors of another order": (
        lowered_vectors, "place_in_one", backwards, vectors, {"beta": WALK}, {},
    ),
    "a walk of vectors without bounds": (
        lowered_vectors, "end_of", lambda *_: lowered.Number(-np.inf), vectors, {"gamma": WALK}, {},
    ),
    "a line without its slope": (
        lowered_tied, "total", lambda terms: terms[0], lambda: tied("shares"), {}, {},
    ),
    "tied entries without their density": (
        moved_entries, "weighted_statistic", lambda *_: lowered.ZERO,
        lambda: tied("counts"), {}, {},
    ),
    "axes in another order": (
        blocks, "place_in_one",
        lambda spans: lowered.total([lowered.Position(s.dim) for s in spans]),
        pieces, {}, {},
    ),
    "what is tried is not looked at": (
        ellipses, "put_values", lambda *_: None, lambda: elliptical_model("process"),
        {"x": gp.EllipticalSlice()}, {},
    ),
    "coefficients of nothing": (
        ellipses, "coefficients_of", lambda w, step: (lowered.ZERO,) * len(step.parameters),
        lambda: elliptical_model("effects"), {"x": gp.EllipticalSlice()}, {},
    ),
    "units in order": (units, "_drawn", always_in_order, groups, {}, {"scan": "random"}),
    "alpha of the other sign": (
        blocks, "Number", lambda value: lowered.Number(-value), line,
        {"beta": gp.OverRelaxed(-0.6)}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_caught(name, monkeypatch):
    module, function, wrong, make, kernels, settings = PLANTED[name]
    sampler = gp.compile(make(), kernels=kernels, **settings)
    state, rng = started(sampler)
    monkeypatch.setattr(module, function, wrong)
    try:
        program = sampler.loops()
        found = [line for _ in range(3) for line in beside(sampler, state, rng, program).far]
    except (ArithmeticError, AssertionError, LookupError, RunError, ValueError) as error:
        found = [str(error)]

    assert found != []


# ---- labels that are read as positions -------------------------------------------------------


def labels_in_two_ways():
    """Labels of different ranges, both positions in one array."""
    with gp.Model(coords={"i": 3, "k": 3, "s": 2}) as model:
        p, q = gp.Data("p", [0.2, 0.3, 0.5], dims="k"), gp.Data("q", [0.7, 0.3], dims="s")
        side = gp.Categorical("side", q, event="s")
        z = gp.Categorical("z", p, dims="i", event="k")
        w = gp.Data("w", [[0.1, 0.7, 0.2], [0.6, 0.2, 0.2]], dims=("s", "k"))
        gp.Bernoulli("y", w[side, z], dims="i", observed=[1, 0, 1])
    return model


KERNELS_OF_LABELS = {
    "drawn": {},
    "walked": {"z": gp.RandomWalk(), "side": gp.RandomWalk()},
    "sliced": {"z": gp.Slice(), "side": gp.Slice()},
}


@pytest.mark.parametrize("name", KERNELS_OF_LABELS)
def test_labels_of_different_ranges_in_loops_are_those_in_numpy(name):
    assert_the_same(gp.compile(labels_in_two_ways(), kernels=KERNELS_OF_LABELS[name]), sweeps=6)


def test_compiled_labels_that_move_are_positions():
    pytest.importorskip("numba")
    kernels = {"z": gp.RandomWalk(), "side": gp.Slice()}
    assert_compiled_is_plain(gp.compile(labels_in_two_ways(), kernels=kernels))
