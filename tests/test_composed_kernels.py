"""Cycles and mixtures of kernels: what they carry out and leave invariant, and what they refuse."""

import pickle

import numpy as np
import pytest
from replays import beside
from test_loops_of_moves import assert_compiled_is_plain, assert_the_same, started
from test_walks import groups, regression

import gibbsppl as gp
from gibbsppl.cache.fingerprint import fingerprint
from gibbsppl.checks import enumeration
from gibbsppl.checks.draws_called import calls_against_steps
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.code import composed as written
from gibbsppl.code.lowering import composed as lowered
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import CompileError
from gibbsppl.initial.search import initial_state
from gibbsppl.planning import functions_of
from gibbsppl.schedule.composed import Composed


def turned(rng, value):
    return -value


def staying(rng, value, log_density):
    return value


def data(name, values, dims):
    return gp.Data(name, np.asarray(values, float), dims=dims)


def two_modes():
    with gp.Model(name="two modes") as model:
        x = gp.Normal("x", 0, sigma=10)
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", x**2, tau=tau, observed=16)
    return model


def spins():
    """Three labels in a row, and one that they all see."""
    with gp.Model(coords={"i": 3, "k": 3, "s": 2}) as model:
        side = gp.Categorical("side", data("q", [0.7, 0.3], "s"), event="s")
        z = gp.Categorical("z", data("p", [0.2, 0.3, 0.5], "k"), dims="i", event="k")
        w = data("w", [[0.1, 0.7, 0.2], [0.6, 0.2, 0.2]], ("s", "k"))
        gp.Bernoulli("y", w[side, z], dims="i", observed=[1, 0, 1])
    return model


# A walk that is fixed has probabilities that can be enumerated.
WALK = gp.RandomWalk(scale=0.8)
KERNELS = {
    "mixture": gp.Mix(WALK, gp.Exact(), weights=(0.9, 0.1)),
    "cycle": gp.Cycle(WALK, gp.Exact()),
    "symmetric": gp.Cycle(WALK, gp.RandomWalk(scale=2.0), symmetric=True),
    "nested": gp.Mix(
        gp.Cycle(gp.RandomWalk(scale=2.0), gp.Mix(WALK, gp.Exact())), WALK, weights=(1, 3)
    ),
}


def enumerated(sampler):
    start, _ = initial_state(np.random.default_rng(1), sampler.graph, sampler.data)
    own = (sampler.graph, sampler.program, sampler.schedule.steps, sampler.data, start)
    return enumerate_sweep(*own, sampler.schedule)


# ---- labels, exactly -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "scan"),
    [*((name, "systematic") for name in KERNELS), ("cycle", "random"), ("nested", "symmetric")],
)
def test_a_sweep_leaves_the_exact_posterior_as_it_is(name, scan):
    sampler = gp.compile(spins(), kernels={"z": KERNELS[name], "side": WALK}, scan=scan)
    found = enumerated(sampler)

    assert found.passed
    assert sampler.verify().proved
    np.testing.assert_allclose(found.transition.sum(axis=1), 1.0, rtol=1e-12)


def alone(kernel):
    with gp.Model(coords={"k": 4}) as model:
        z = gp.Categorical("z", data("p", [0.1, 0.2, 0.3, 0.4], "k"), event="k")
        gp.Poisson("y", gp.exp(0.5 * z), observed=2)
    return enumerated(gp.compile(model, kernels={"z": kernel}))


def test_mixtures_and_symmetric_cycles_are_reversible_and_plain_cycles_are_not():
    small, large = WALK, gp.RandomWalk(scale=3.0)

    assert alone(gp.Mix(small, large, weights=(1, 2))).is_reversible
    assert alone(gp.Cycle(small, large, symmetric=True)).is_reversible
    assert alone(gp.Cycle(gp.Cycle(small, large), gp.Exact(), symmetric=True)).is_reversible
    assert not alone(gp.Cycle(small, large)).is_reversible
    assert alone(gp.Cycle(small, large)).passed


def test_the_matrix_of_a_kernel_is_made_of_those_of_its_parts():
    small, large = WALK, gp.RandomWalk(scale=3.0)
    a, b = (alone(k).transition for k in (small, large))

    for kernel, expected in (
        (gp.Cycle(small, large), a @ b),
        (gp.Cycle(small, large, symmetric=True), a @ b @ b @ a),
        (gp.Mix(small, large, weights=(3, 1)), 0.75 * a + 0.25 * b),
        (gp.Mix(gp.Cycle(small, large), small), (a @ b + a) / 2),
    ):
        np.testing.assert_allclose(alone(kernel).transition, expected, atol=1e-14)


def test_a_sweep_moves_as_often_as_its_matrix_says():
    """The matrix is that of the generated sweep: the weights of the mixture are in both."""
    with gp.Model(coords={"k": 3}) as model:
        gp.Categorical("z", data("p", [0.2, 0.3, 0.5], "k"), event="k")
    sampler = gp.compile(model, kernels={"z": gp.Mix(WALK, gp.Exact(), weights=(0.8, 0.2))})
    found, rng = enumerated(sampler), np.random.default_rng(2)
    count = 4000
    state = {"z": np.array(0)}
    stays = 0
    for _ in range(count):
        state["z"] = np.array(0)
        sampler.program.sweep(rng, state, sampler.constants)
        stays += int(state["z"] == 0)
    share = found.transition[0, 0]

    assert abs(stays / count - share) < 5 * np.sqrt(share * (1 - share) / count)


# ---- the generated sweep ---------------------------------------------------------------------


APART = gp.Cycle(gp.Exact(), gp.Mix(gp.Slice(), gp.RandomWalk()))
# Models with kernels of all kinds, and further settings.
MANY = {
    "numbers": (
        two_modes,
        {
            "x": gp.Mix(gp.RandomWalk(), gp.Cycle(gp.Slice(), WALK, symmetric=True)),
            "tau": gp.Cycle(gp.RandomWalk(), gp.Exact()),
        },
    ),
    "labels": (spins, {"z": KERNELS["nested"], "side": APART}),
    "groups": (
        groups,
        {
            "a": gp.Mix(gp.OverRelaxed(-0.5), gp.RandomWalk(), gp.AdaptiveRejection()),
            "mu": gp.Mix(gp.Exact(), gp.RandomWalk(), weights=(2, 1)),
            "tau": APART,
        },
    ),
    "units": (groups, {"a": APART, "mu": APART}),
    "vectors": (regression, {"beta": gp.Mix(gp.RandomWalk(), gp.EllipticalSlice())}),
}


def compiled(name):
    make, kernels = MANY[name]
    return gp.compile(make(), kernels=kernels, scan="random" if name == "units" else "systematic")


@pytest.mark.parametrize(
    "name",
    [n if n != "groups" else pytest.param(n, marks=pytest.mark.slow) for n in MANY],
)
def test_the_sweep_is_verified_and_loops_make_the_same(name):
    sampler = compiled(name)

    assert sampler.verify().proved
    assert_the_same(sampler, sweeps=8)


@pytest.mark.parametrize("name", ["numbers", pytest.param("groups", marks=pytest.mark.slow)])
def test_compiled_loops_make_the_chain_of_plain_ones(name):
    assert_compiled_is_plain(compiled(name))


def test_the_choice_is_that_of_numpy():
    from gibbsppl import runtime
    from gibbsppl.runtime.loops import units

    shares = (0.2, 0.5, 0.3)
    ours, theirs, numpys = (np.random.default_rng(3) for _ in range(3))
    ends = np.cumsum(shares) / np.cumsum(shares)[-1]
    for _ in range(200):
        part = runtime.chosen_part(ours, shares)
        assert part == units.chosen_part(theirs, ends) == numpys.choice(3, p=shares)


def test_what_is_recorded_is_told_by_part():
    kernel = gp.Mix(gp.RandomWalk(), gp.Proposal(turned), weights=(0.9, 0.1))
    sampler = gp.compile(two_modes(), kernels={"x": kernel})
    draws = sampler.sample(600, warmup=200, chains=2, seed=1, progress=False)
    walk, jump = (draws.sample_stats[f"acceptance of x by {k}"] for k in (
        "random walk", "your proposal turned"
    ))

    assert (np.isnan(walk) != np.isnan(jump)).all()  # (one of them in each sweep)
    assert 0.05 < np.isfinite(jump).mean() < 0.15
    assert np.nanmean(jump) == 1.0  # (the density is symmetric)
    assert set(draws.summary().acceptance) == {"x by random walk", "x by your proposal turned"}
    assert draws.summary("tau").acceptance == {}
    again = sampler.sample(600, warmup=200, chains=2, seed=1, progress=False)
    assert np.array_equal(draws["x"], again["x"])


def test_widths_of_parts_adapt_apart():
    kernel = gp.Cycle(gp.RandomWalk(target_accept=0.2), gp.RandomWalk(target_accept=0.8))
    sampler = gp.compile(two_modes(), kernels={"x": kernel})
    draws = sampler.sample(1000, warmup=1500, chains=1, seed=1, progress=False)
    rates = draws.summary().acceptance

    assert list(rates) == ["x by random walk", "x by random walk (2)"]
    assert rates["x by random walk"] < 0.35
    assert rates["x by random walk (2)"] > 0.6


def test_steps_are_named_told_and_ordered_together():
    kernel = gp.Mix(gp.RandomWalk(), gp.Cycle(staying, gp.Slice()), weights=(3, 1))
    sampler = gp.compile(two_modes(), kernels={"x": kernel}, order=("tau", "x by slice"))
    names = ["x by random walk", "x by your kernel staying", "x by slice"]

    assert [s.name for s in sampler.schedule.steps] == ["tau", *names]
    told = "x in each sweep: one of random walk (75 %), (your kernel staying, then slice) (25 %)"
    assert told in str(sampler)
    assert sampler.explain("x").count("log density") >= 3
    assert sampler.explain("x by slice") in sampler.explain("x")
    assert f"The kernel that it is a part of\n   {told}" in sampler.explain("x by slice")
    assert sampler.check_kernel("x", replicates=50, seed=1).passed
    assert sampler.check_kernel("x by slice", replicates=50, seed=1).passed
    weighted = gp.compile(
        two_modes(), kernels={"x": kernel}, scan=gp.RandomScan({"x": 3.0})
    )
    assert weighted.schedule.weights == (3.0, 1.0)
    assert [len(u) for u in weighted.schedule.units] == [3, 1]


def test_moments_of_the_exact_conditional_are_those_of_the_exact_part():
    plain = gp.compile(two_modes())
    mixed = gp.compile(two_modes(), kernels={"tau": gp.Mix(gp.RandomWalk(), gp.Exact())})
    draws = mixed.sample(20, warmup=5, chains=1, seed=1, progress=False)

    means = [s.conditional_mean(draws, "tau")["tau"] for s in (plain, mixed)]
    np.testing.assert_allclose(*means)


def test_kernels_are_values():
    same = [gp.Mix(gp.Slice(), WALK, weights=(1, 2)) for _ in range(2)]
    other = gp.Mix(gp.Slice(), WALK, weights=(1, 3))

    assert same[0] == same[1] != other
    assert pickle.loads(pickle.dumps(same[0])) == same[0]
    assert fingerprint(same[0]) == fingerprint(same[1]) != fingerprint(other)
    assert fingerprint(gp.Cycle(WALK, WALK)) != fingerprint(gp.Cycle(WALK, WALK, symmetric=True))


@pytest.mark.parametrize(
    "backend", ["numpy", pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_a_chain_taken_up_again_goes_on(backend):
    """The state has the tuning of all parts, also of those that were not chosen so far."""
    seldom = gp.Mix(gp.Slice(), gp.Cycle(gp.RandomWalk(), gp.Slice()), weights=(0.98, 0.02))
    sampler = gp.compile(two_modes(), kernels={"x": seldom})
    settings = {"warmup": 20, "chains": 2, "seed": 1, "backend": backend, "progress": False}
    short, long = (sampler.sample(n, **settings) for n in (10, 40))

    assert np.array_equal(short["x"], long["x"][:, :10])


def test_predictions_by_several_kernels_are_drawn():
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.5)
        gp.Normal("new", mu, sigma=1)
    sampler = gp.compile(model, kernels={"new": gp.Mix(gp.AdaptiveRejection(), gp.Exact())})

    assert sampler.verify().proved
    assert_the_same(sampler)
    draws = sampler.sample(50, warmup=5, chains=2, seed=1, keep=["new"], progress=False)
    assert draws["new"].std() > 0.3


# ---- planted bugs ----------------------------------------------------------------------------


def first_part_only(module, turn, drawn):
    if isinstance(turn, str):
        return drawn(module, module.schedule.step(turn))
    return first_part_only(module, turn.parts[0], drawn)


def with_other_weights(module, turn, drawn, own=written.lines_of_turn):
    if not isinstance(turn, str) and turn.weights:
        turn = Composed(turn.parts, (1.0,) * len(turn.parts))
    return own(module, turn, drawn)


def in_reverse(module, turn, drawn, own=written.lines_of_turn):
    if not isinstance(turn, str):
        turn = Composed(turn.parts[::-1], turn.weights)
    return own(module, turn, drawn)


PLANTED = {
    "a part of a cycle left out": (first_part_only, gp.Cycle(gp.Slice(), gp.RandomWalk())),
    "a part of a mixture left out": (first_part_only, gp.Mix(gp.Slice(), gp.RandomWalk())),
    "weights not used": (with_other_weights, gp.Mix(gp.Slice(), WALK, weights=(0.9, 0.1))),
    "parts in another order": (in_reverse, gp.Cycle(gp.Slice(), gp.RandomWalk())),
    "weights of other parts": (in_reverse, gp.Mix(gp.Slice(), WALK, weights=(0.9, 0.1))),
}


@pytest.mark.parametrize("scan", ["systematic", "random"])
@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_of_the_source_are_caught(name, scan, monkeypatch):
    wrong, kernel = PLANTED[name]
    sampler = gp.compile(two_modes(), kernels={"x": kernel}, scan=scan)
    schedule, data = sampler.schedule, sampler.data
    state, rng = started(sampler)
    state = {n: a for n, a in state.items() if not n.startswith("~")}
    right = sampler.program
    for module in ("sweep", "units"):
        monkeypatch.setattr(f"gibbsppl.code.{module}.lines_of_turn", wrong)
    program = load(write_numpy(schedule), functions_of(schedule))

    assert not any(calls_against_steps(rng, schedule, right, data, state).values())
    assert any(calls_against_steps(rng, schedule, program, data, state).values())


def assert_beside(sampler, state, rng, program):
    for _ in range(8):
        assert beside(sampler, state, rng, program).far == []


def test_loops_with_other_weights_are_not_the_sweep_of_numpy(monkeypatch):
    sampler = gp.compile(two_modes(), kernels={"x": PLANTED["weights not used"][1]})
    monkeypatch.setattr(lowered.np, "cumsum", lambda shares: np.arange(1.0, 1 + len(shares)))
    program = sampler.loops()
    monkeypatch.undo()
    state, rng = started(sampler)

    with pytest.raises(LookupError, match="loops draw by walk where the sweep in NumPy does not"):
        assert_beside(sampler, state, rng, program)


def test_a_matrix_with_a_part_left_out_is_not_reversible(monkeypatch):
    kernel = gp.Cycle(WALK, gp.RandomWalk(scale=3.0), symmetric=True)
    own = enumeration.composed_matrix
    assert alone(kernel).is_reversible

    def without_the_way_back(turn, of):
        return own(turn if isinstance(turn, str) else Composed(turn.parts[:2]), of)

    monkeypatch.setattr(enumeration, "composed_matrix", without_the_way_back)
    assert not alone(kernel).is_reversible


# ---- refusals --------------------------------------------------------------------------------


def refused(kernel, model=None, **settings):
    def compiled_with():
        made = kernel() if callable(kernel) else kernel
        gp.compile(model or two_modes(), kernels={"x": made}, **settings)

    with pytest.raises(CompileError) as caught:
        compiled_with()
    return str(caught.value)


def test_what_is_no_kernel_is_refused():
    assert "Mix, part 2: found 3, expected gp.Slice()" in refused(lambda: gp.Mix(gp.Slice(), 3))
    assert "Cycle, part 1: found the class Slice" in refused(lambda: gp.Cycle(gp.Slice, WALK))
    assert "Cycle: found 1 kernel, expected at least two" in refused(lambda: gp.Cycle(WALK))
    assert "Mix: found 0 kernels" in refused(gp.Mix)
    assert "cannot be called with three arguments" in refused(lambda: gp.Mix(turned, WALK))
    assert "Cycle(symmetric): found 1" in refused(lambda: gp.Cycle(WALK, WALK, symmetric=1))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((1, 2, 3), "found 3 weights of 2 kernels, expected one of each"),
        ((1, 0), "found 0, expected positive numbers; leave a kernel out"),
        ((1, np.nan), "found nan, expected positive numbers"),
        ((1, "a"), "found 'a', expected positive numbers"),
        (0.5, "found 0.5, expected 2 numbers"),
        ("ab", "found 'ab', expected 2 numbers"),
        ((1e308, 1e308), "expected numbers with a finite sum"),
    ],
)
def test_weights_are_checked(weights, message):
    assert message in refused(lambda: gp.Mix(WALK, WALK, weights=weights))


def test_a_part_that_does_not_apply_is_named_with_the_reason():
    found = refused(gp.Mix(gp.RandomWalk(), gp.Cycle(gp.Slice(), gp.Exact())))
    assert "kernels['x']: no exact draw of x is known" in found
    assert "(It is part 2 of the cycle of slice, exact draw.)" in found
    assert "(It is part 2 of the mixture of random walk (50 %)" in found
    assert "over-relaxation needs" in refused(gp.Mix(gp.Slice(), gp.OverRelaxed()))


def test_a_mixture_with_a_move_does_not_make_a_stale_variable_fresh():
    with gp.Model(coords={"k": 3, "i": 6}) as model:
        theta = gp.Dirichlet("theta", data("a", [1, 1, 1], "k"), dims="k")
        mu = gp.Normal("mu", 0, sigma=3, dims="k")
        z = gp.Categorical("z", theta, dims="i", event="k")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[-1, 0, 1, 2, 3, 0])
    exact_first = gp.Mix(gp.Exact(), gp.Slice())
    with pytest.raises(CompileError, match="moved from its current value, which is stale"):
        gp.compile(model, kernels={"theta": exact_first}, collapse="theta")
    # (a cycle that begins with an exact draw does)
    cycle = gp.compile(
        model, kernels={"theta": gp.Cycle(gp.Exact(), gp.Slice())}, collapse="theta"
    )
    assert cycle.verify().passed


# ---- the joint distribution ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [
        gp.Mix(gp.RandomWalk(), gp.Proposal(turned), weights=(0.7, 0.3)),
        gp.Cycle(gp.Slice(), gp.RandomWalk(), symmetric=True),
    ],
    ids=str,
)
def test_kernels_leave_the_joint_distribution_as_it_is(kernel):
    sampler = gp.compile(two_modes(), kernels={"x": kernel})

    assert sampler.check_kernel("x", replicates=2000, seed=1).passed


@pytest.mark.slow
def test_a_wrong_part_is_found_by_the_joint_distribution():
    def drifting(rng, value, log_density):
        return value + 0.3

    sampler = gp.compile(two_modes(), kernels={"x": gp.Mix(gp.Slice(), drifting)})

    assert not sampler.check_kernel("x", replicates=2000, seed=1).passed
