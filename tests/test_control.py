"""What a user sets of a schedule: its order, its scan, kernels of variables; and what is refused.

Exactness first: transition matrices of small discrete models. What draws real numbers is tested by
the joint distribution in `test_walks`.
"""

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.checks.geweke import geweke
from gibbsppl.cli import main
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import CompileError, RunError
from gibbsppl.initial.search import initial_state
from gibbsppl.kernels.random_walk import proposed
from gibbsppl.planning.order import check_complete
from gibbsppl.runtime.walks import Walk, reflected, walk_integers

LEVEL = 1e-6


def labels():
    """Three tied labels: a chain of a gate, a label of three and a count."""
    with gp.Model(coords={"a": 2, "b": 3, "c": 4}, name="labels") as m:
        P = gp.Data("P", [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], dims=("a", "b"))
        Q = gp.Data("Q", [[4, 3, 2, 1], [1, 1, 1, 7], [2, 5, 2, 1.0]], dims=("b", "c"))
        u = gp.Categorical("u", gp.Data("p", [0.4, 0.6], dims="a"))
        v = gp.Categorical("v", P[u], event="b")
        gp.Categorical("w", Q[v] / 10, event="c")
    return m


def several():
    """Labels of several elements, tied through an observed sum."""
    with gp.Model(coords={"n": 2, "k": 3}, name="several") as m:
        w = gp.Data("w", [0.5, 0.3, 0.2], dims="k")
        z = gp.Categorical("z", w, dims="n", event="k")
        g = gp.Bernoulli("g", 0.3)
        gp.Normal("y", z.sum("n") + g, sigma=0.7, observed=2.5)
    return m


def schools(**more):
    with gp.Model(coords={"school": 4}, name="schools") as m:
        error = gp.Data("error", [15.0, 10.0, 16.0, 11.0], dims="school")
        mu = gp.Normal("mu", 0, sigma=20)
        tau = gp.Gamma("tau", 1, rate=50)
        theta = gp.Normal("theta", mu, tau=tau, dims="school")
        gp.Normal("y", theta, sigma=error, dims="school", observed=[28.0, 8.0, -3.0, 7.0])
    return gp.compile(m, **{"blocks": False, "interweave": False, **more})


def outliers(**more):
    """A model with an auxiliary variable."""
    with gp.Model(coords={"day": 4}, name="outliers") as m:
        level = gp.Normal("level", 0, sigma=10)
        scale = gp.Gamma("scale", 2, rate=2)
        gp.StudentT("size", nu=4, mu=level, tau=scale, dims="day", observed=[0.1, 0.4, 9.0, 0.2])
    return gp.compile(m, **more)


def mixture(**more):
    with gp.Model(coords={"k": 2, "n": 6}, name="mixture") as m:
        w = gp.Dirichlet("w", 1, dims="k")
        mu = gp.Normal("mu", 0, sigma=3, dims="k")
        z = gp.Categorical("z", w, dims="n")
        gp.Normal("y", mu[z], sigma=1, dims="n", observed=[-2.0, -1.0, 0.5, 1.0, 2.0, 3.0])
    return gp.compile(m, **more)


def names(sampler):
    return [s.name for s in sampler.schedule.steps]


def units(sampler):
    steps = sampler.schedule.steps
    return [[steps[j].name for j in unit] for unit in sampler.schedule.units]


def enumerated(sampler, program=None, schedule=None):
    start, _ = initial_state(np.random.default_rng(1), sampler.graph, sampler.data)
    schedule = schedule or sampler.schedule
    return enumerate_sweep(
        sampler.graph, program or sampler.program, schedule.steps, sampler.data, start, schedule
    )


# ---- order -----------------------------------------------------------------------------------


def test_steps_named_come_first_and_the_others_keep_their_order():
    assert names(schools()) == ["theta", "mu", "tau"]
    assert names(schools(order=("tau",))) == ["tau", "theta", "mu"]
    assert names(schools(order=["mu", "tau", "theta"])) == ["mu", "tau", "theta"]
    assert names(schools(order="mu")) == ["mu", "theta", "tau"]
    assert names(schools(blocks=True)) == ["theta, mu", "tau"]
    assert names(schools(blocks=True, order=("tau", "mu"))) == ["tau", "theta, mu"]


def test_the_sweep_is_generated_in_that_order():
    sweep = schools(order=("tau", "mu")).source.partition("def sweep")[2]

    assert re.findall(r'^    s\["(\w+)"\] =', sweep, re.MULTILINE) == ["tau", "mu", "theta"]


def test_an_auxiliary_variable_finds_its_place_before_what_reads_it():
    default = outliers()
    (weight,) = default.schedule.auxiliary
    assert names(default)[0] == weight
    assert names(outliers(order=("scale",))) == [weight, "scale", "level"]
    assert names(outliers(order=(weight, "level"))) == [weight, "level", "scale"]
    for order in (("scale",), ("level", "scale")):
        assert outliers(order=order).verify().proved


def test_an_auxiliary_variable_named_after_what_reads_it_is_refused():
    (weight,) = outliers().schedule.auxiliary
    with pytest.raises(CompileError, match=f"^order: scale comes before {weight}, but its draw re"):
        outliers(order=("scale", weight))


def test_an_order_that_leaves_a_variable_stale_is_refused_with_the_reason():
    assert names(mixture(collapse=("w",)))[:2] == ["z", "w"]
    assert names(mixture(collapse=("w",), order=("mu",))) == ["mu", "z", "w"]
    with pytest.raises(CompileError, match=r"^w: it is stale at the end of a sweep: z was drawn"):
        mixture(collapse=("w",), order=("w",))


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (("tau", "tua"), r"^order: found 'tua', expected names of variables .*Did you mean 'tau'"),
        (("tau", "mu", "tau"), r"^order: 'tau' is named twice"),
        ((1,), r"^order: found 1, expected names of variables"),
        (3, r"^order: found 3, expected names of variables"),
        ({"mu", "tau"}, r"^order: found \{.*\}, expected names of variables"),
        (("y",), r"^order: found 'y', expected names of variables or of their steps: theta, mu"),
    ],
)
def test_wrong_orders_are_refused(order, message):
    with pytest.raises(CompileError, match=message):
        schools(order=order)


def test_an_order_is_the_order_of_the_matrices():
    forward, backward = (
        enumerated(gp.compile(labels(), order=o)) for o in (("u", "v", "w"), ("w", "v", "u"))
    )

    assert forward.passed
    assert backward.passed
    # The reverse order is the reversed chain.
    flow = forward.posterior[:, None] * forward.transition
    back = backward.posterior[:, None] * backward.transition
    np.testing.assert_allclose(flow, back.T, atol=forward.tolerance)
    assert not forward.is_reversible


# ---- scans -----------------------------------------------------------------------------------


def matrices(model):
    """The transition matrix of each step alone."""
    sampler = gp.compile(model)
    return [
        enumerate_sweep(
            sampler.graph, sampler.program, (step,), sampler.data,
            initial_state(np.random.default_rng(1), sampler.graph, sampler.data)[0],
        ).transition
        for step in sampler.schedule.steps
    ]  # fmt: skip


@pytest.mark.parametrize("model", [labels, several])
def test_a_random_scan_is_a_power_of_the_average(model):
    found = enumerated(gp.compile(model(), scan="random"))
    steps = matrices(model())

    assert found.passed
    # (elements that are drawn one after the other are drawn in the same order each time)
    assert found.is_reversible == (model is labels)
    average = sum(steps) / len(steps)
    np.testing.assert_allclose(
        found.transition, np.linalg.matrix_power(average, len(steps)), atol=found.tolerance
    )


def test_weights_are_those_of_the_average():
    sampler = gp.compile(labels(), scan=gp.RandomScan({"v": 2}))
    found = enumerated(sampler)
    u, v, w = (matrices(labels())[names(sampler).index(n)] for n in "uvw")

    assert found.passed
    np.testing.assert_allclose(
        found.transition, np.linalg.matrix_power((u + 2 * v + w) / 4, 3), atol=found.tolerance
    )
    assert "PROBABILITIES = (0.25, 0.5, 0.25)" in sampler.source


def test_a_symmetric_scan_is_reversible_and_a_systematic_one_is_not():
    found = enumerated(gp.compile(labels(), scan="symmetric"))
    u, v, w = matrices(labels())

    assert found.passed
    assert found.is_reversible
    np.testing.assert_allclose(found.transition, u @ v @ w @ v @ u, atol=found.tolerance)
    assert not enumerated(gp.compile(labels())).is_reversible


def frequencies(sampler, start, replicates=4000):
    """How often one generated sweep leads from a state to each state."""
    rng, found = np.random.default_rng(5), {}
    for _ in range(replicates):
        state = {n: np.array(x) for n, x in start.items()}
        sampler.program.sweep(rng, state, sampler.constants)
        key = tuple(int(state[n]) for n in "uvw")
        found[key] = found.get(key, 0) + 1
    return found


@pytest.mark.parametrize("scan", ["random", "symmetric", gp.RandomScan({"v": 5})])
def test_generated_sweeps_have_the_matrix_of_their_scan(scan):
    sampler = gp.compile(labels(), scan=scan)
    found = enumerated(sampler)
    row = found.transition[0]
    counts = frequencies(sampler, found.states[0])
    seen = np.array([counts.get(tuple(int(s[n]) for n in "uvw"), 0) for s in found.states])
    kept = row > 0

    assert seen[~kept].sum() == 0
    assert stats.chisquare(seen[kept], row[kept] * seen.sum() / row[kept].sum()).pvalue > LEVEL


def test_a_sweep_in_another_order_has_another_matrix():
    """The test above would see a scan that is not the one that was asked for."""
    sampler = gp.compile(labels(), scan="random")
    row = enumerated(gp.compile(labels(), scan="symmetric")).transition[0]
    found = enumerated(sampler)
    counts = frequencies(sampler, found.states[0])
    seen = np.array([counts.get(tuple(int(s[n]) for n in "uvw"), 0) for s in found.states])
    kept = row > 0

    expected = row[kept] * seen[kept].sum() / row[kept].sum()
    assert stats.chisquare(seen[kept], expected).pvalue < LEVEL


@pytest.mark.parametrize("scan", ["random", "symmetric"])
def test_units_hold_what_must_be_drawn_together(scan):
    (weight,) = outliers().schedule.auxiliary
    assert units(outliers(scan=scan)) == [[weight, "level"], [weight, "scale"]]
    assert units(schools(scan=scan)) == [["theta"], ["mu"], ["tau"]]
    assert units(schools(scan=scan, blocks=True)) == [["theta, mu"], ["tau"]]
    assert units(mixture(collapse=("w",), scan=scan)) == [["z", "w"], ["w"], ["mu"]]


@pytest.mark.parametrize("scan", ["random", "symmetric"])
@pytest.mark.parametrize("make", [schools, outliers, mixture])
def test_scans_are_verified_and_run_from_the_chains_own_stream(make, scan):
    sampler = make(scan=scan)
    settings = {"warmup": 5, "chains": 2, "progress": False}
    first, again, other = (sampler.sample(20, seed=s, **settings) for s in (1, 1, 2))

    assert sampler.verify().proved
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
        assert (first[name] != other[name]).any()
    assert f"{scan} scan" in str(sampler)
    assert "UNITS = (" in sampler.source


def test_auxiliary_variables_of_a_random_scan_are_not_kept():
    sampler = outliers(scan="random")
    (weight,) = sampler.schedule.auxiliary
    with pytest.raises(RunError, match="holds for one draw of each sweep alone"):
        sampler.sample(5, warmup=20, seed=1, keep=["level", weight], progress=False)


@pytest.mark.parametrize(
    ("scan", "message"),
    [
        ("backwards", r"^scan: found 'backwards', expected 'systematic', 'random', 'symmetric' or"),
        (("random",), r"^scan: found \('random',\), expected"),
    ],
)
def test_wrong_scans_are_refused(scan, message):
    with pytest.raises(CompileError, match=message):
        schools(scan=scan)


@pytest.mark.parametrize("weight", [0, -1, np.inf, True, "much"])
def test_a_weight_that_would_leave_a_variable_as_it_is_is_refused(weight):
    with pytest.raises(CompileError, match=r"weights\['tau'\]\): found .*must be updated"):
        gp.RandomScan({"tau": weight})


def test_a_weight_of_what_is_no_step_is_refused():
    with pytest.raises(CompileError, match=r"^RandomScan\(weights\): found 'sigma', expected name"):
        schools(scan=gp.RandomScan({"sigma": 2.0}))
    (weight,) = outliers().schedule.auxiliary
    with pytest.raises(CompileError, match="is an auxiliary variable, drawn with what reads it"):
        outliers(scan=gp.RandomScan({weight: 2.0}))


# ---- random walks of labels ------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
@pytest.mark.parametrize(("model", "name"), [(labels, "w"), (labels, "v"), (several, "z")])
def test_a_random_walk_of_labels_leaves_the_posterior_as_it_is(model, name, scale):
    sampler = gp.compile(model(), kernels={name: gp.RandomWalk(scale=scale)})
    found = enumerated(sampler)

    assert found.passed
    alone = enumerate_sweep(
        sampler.graph, sampler.program, (sampler.schedule.step(name),), sampler.data,
        found.states[0],
    )  # fmt: skip
    assert alone.is_reversible or sampler.schedule.step(name).is_by_element


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("start", [0, 1, 3])
def test_steps_of_labels_have_the_probabilities_that_are_enumerated(start, scale):
    weights, count = np.log([0.4, 0.3, 0.2, 0.1]), 20_000
    walk = Walk(np.full(count, np.log(scale)), 0.44, adapting=False)
    rng = np.random.default_rng(7)
    x = np.full(count, start)
    moved = walk_integers(rng, x, lambda v: weights[v], walk, 0, 3)
    q = proposed(start, range(4), scale)
    p = q * np.exp(np.minimum(weights - weights[start], 0))
    p[start] = 1 - (p.sum() - p[start])
    seen, kept = np.bincount(moved, minlength=4), p * count > 1e-3

    assert seen[~kept].sum() == 0
    assert stats.chisquare(seen[kept], p[kept] * count / p[kept].sum()).pvalue > LEVEL


def test_steps_that_are_not_reflected_would_be_found(monkeypatch):
    """Clipped at the bounds instead, proposals are not symmetric any more."""
    sampler = gp.compile(labels(), kernels={"w": gp.RandomWalk(scale=2.5)})
    assert enumerated(sampler).passed
    monkeypatch.setattr(
        "gibbsppl.kernels.random_walk._reflected",
        lambda position, size: min(max(position, 0), size - 1),
    )
    assert not enumerated(sampler).passed


@pytest.mark.parametrize(("lower", "upper"), [(0, 4), (-3, np.inf), (-np.inf, 2), (1, 1)])
def test_reflected_steps_are_symmetric(lower, upper):
    low, high = max(lower, -6), min(upper, 6)
    inside = np.arange(low, high + 1.0)
    steps = np.arange(-30, 31.0)
    there = reflected(inside[:, None] + steps, lower, upper)
    ways = np.array([[(row == y).sum() for y in inside] for row in there])

    assert ((there >= lower) & (there <= upper)).all()
    np.testing.assert_array_equal(ways, ways.T)


# ---- kernels: what is chosen, what is refused ------------------------------------------------


def still(rng, value, log_density):
    """A kernel of one's own."""
    new = value + rng.standard_normal(np.shape(value))
    accepted = np.log(rng.random(np.shape(value))) < log_density(new) - log_density(value)
    return np.where(accepted, new, value)


@pytest.mark.parametrize(
    ("kernel", "kind", "how"),
    [
        (gp.Slice(), "move", "slice"),
        (gp.RandomWalk(), "move", "random walk"),
        (gp.RandomWalk(scale=2), "move", "random walk of scale 2"),
        (gp.AdaptiveRejection(), "concave", "adaptive rejection"),
        (still, "move", "your kernel still"),
    ],
)
def test_a_kernel_takes_the_place_of_a_closed_form(kernel, kind, how):
    sampler = schools(kernels={"theta": kernel})
    step = sampler.schedule.step("theta")

    assert (step.kind, step.kernel) == (kind, how)
    assert how in str(sampler)
    assert how in sampler.explain("theta")
    assert sampler.verify().proved
    assert sampler.settings["kernels"] == {"theta": kernel}


@pytest.mark.parametrize(
    "kernels",
    [
        {"tau": gp.RandomWalk(scale=np.int64(2), target_accept=np.float64(0.3))},
        {"theta": gp.OverRelaxed(np.float64(-0.5))},
    ],
    ids=str,
)
def test_settings_of_kernels_may_be_numbers_of_numpy(kernels):
    sampler = schools(kernels=kernels, scan=gp.RandomScan({"mu": np.int64(2)}))

    sampler.sample(2, warmup=1, chains=1, seed=1, progress=False)
    assert "np." not in sampler.source


def test_over_relaxation_is_a_draw_like_any_other_but_for_its_start():
    sampler = schools(kernels={"theta": gp.OverRelaxed(-0.9)})

    assert "over-relaxed by -0.9" in str(sampler)
    assert "schools: 3 steps, 1 by kernels asked for" in str(sampler)
    assert "over_relaxed_normal(" in sampler.source
    assert sampler.verify().proved


def test_a_variable_with_a_kernel_gets_no_auxiliary_variable():
    with gp.Model(coords={"n": 5, "p": 2}, name="logit") as m:
        X = gp.Data("X", np.arange(10.0).reshape(5, 2) / 5 - 1, dims=("n", "p"))
        beta = gp.Normal("beta", 0, sigma=2, dims="p")
        gp.Bernoulli("y", logit_p=X @ beta, dims="n", observed=[0, 1, 0, 1, 1])
    assert gp.compile(m, exact=True).schedule.auxiliary
    sampler = gp.compile(m, kernels={"beta": gp.RandomWalk()})

    assert not sampler.schedule.auxiliary
    assert sampler.schedule.step("beta").joint == (0,)
    assert "as one vector over p" in str(sampler)
    one_by_one = gp.compile(m, kernels={"beta": gp.RandomWalk()}, blocks={"beta": "elements"})
    assert one_by_one.schedule.step("beta").joint == ()
    assert sampler.verify().proved
    assert one_by_one.verify().proved


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ({"tua": gp.Slice()}, r"^kernels: 'tua' is not a latent variable.*Did you mean 'tau'"),
        ({"y": gp.Slice()}, r"^kernels: 'y' is not a latent variable"),
        ({"tau": None}, r"^kernels\['tau'\]: found None, .*every latent variable must be updated"),
        ({"tau": gp.Slice}, r"^kernels\['tau'\]: found the class Slice, .*write gp\.Slice\(\)"),
        ({"tau": "slice"}, r"^kernels\['tau'\]: found 'slice', expected gp\.Slice\(\)"),
        ({"tau": lambda rng: 0}, r"^kernels\['tau'\]: <lambda> cannot be called with three arg"),
        ({"tau": gp.OverRelaxed()}, r"^kernels\['tau'\]: over-relaxation needs .* drawn by locat"),
        ("slice", r"^kernels: found 'slice', expected a dict"),
    ],
)
def test_wrong_kernels_are_refused(kernels, message):
    with pytest.raises(CompileError, match=message):
        schools(kernels=kernels)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gp.RandomWalk(scale=0), r"^RandomWalk\(scale\): found 0, expected a number above"),
        (lambda: gp.RandomWalk(target_accept=1.5), r"^RandomWalk\(target_accept\): found 1\.5"),
        (lambda: gp.OverRelaxed(-1), r"^OverRelaxed\(alpha\): found -1, expected .* between -1 an"),
    ],
)
def test_wrong_settings_of_kernels_are_refused(make, message):
    with pytest.raises(CompileError, match=message):
        make()


def test_kernels_of_what_they_cannot_move_are_refused():
    with pytest.raises(CompileError, match=r"^kernels\['z'\]: NUTS.* moves real values, with or"):
        mixture(kernels={"z": gp.NUTS()})
    with pytest.raises(CompileError, match=r"^kernels\['z'\]: adaptive rejection needs a log dens"):
        mixture(kernels={"z": gp.AdaptiveRejection()})
    with pytest.raises(CompileError, match=r"^kernels\['z'\]: z is drawn label by label with w in"):
        mixture(collapse=("w",), kernels={"z": gp.RandomWalk()})


@pytest.mark.parametrize("kernel", [gp.RandomWalk(), gp.Slice(), gp.OverRelaxed(), still])
def test_a_move_of_what_is_stale_is_refused(kernel):
    """A move starts from the current value; after a reduced draw only a fresh one will do."""
    with pytest.raises(CompileError, match=r"^mu: it is moved from its current value, which is st"):
        mixture(collapse=("mu",), kernels={"mu": kernel})


def test_exact_refuses_kernels_that_do_not_draw_anew():
    assert schools(kernels={"tau": gp.AdaptiveRejection()}, exact=True)
    for kernels, told in (
        ({"tau": gp.Slice()}, "slice of tau"),
        ({"mu": gp.OverRelaxed()}, "over-relaxation of mu"),
    ):
        with pytest.raises(CompileError, match=f"^exact=True, but kernels= asks for {told}, which"):
            schools(kernels=kernels, exact=True)


# ---- programs --------------------------------------------------------------------------------


def test_a_program_with_a_kernel_of_ones_own_is_pickled_with_its_name():
    sampler = schools(kernels={"tau": gp.Slice(), "theta": still})
    again = pickle.loads(pickle.dumps(sampler.program))

    assert again.source == sampler.program.source
    assert again.kernels == {"theta": still}
    assert 'KERNELS = {"theta": None}' in sampler.source.replace("'", '"')


def test_a_kernel_that_cannot_be_sent_elsewhere_is_refused_by_name():
    sampler = schools(kernels={"theta": lambda rng, x, log_density: x})
    with pytest.raises(RunError, match=r"^kernels\['theta'\]: .*<lambda> cannot be sent to an"):
        pickle.dumps(sampler.program)


def test_a_source_without_its_kernels_is_refused():
    sampler = schools(kernels={"theta": still})
    with pytest.raises(CompileError, match=r"^load: the source moves theta by kernels of your own"):
        load(sampler.source)
    assert load(sampler.source, {"theta": still}).kernels == {"theta": still}


# ---- what must not get lost ------------------------------------------------------------------


@pytest.mark.parametrize("kernels", [{}, {"scale": gp.Slice()}, {"scale": gp.RandomWalk()}])
def test_an_improper_conditional_is_refused_whatever_moves_it(kernels):
    with gp.Model(name="improper") as m:
        x = gp.Normal("x", 0, sigma=1)
        scale = gp.HalfFlat("scale")
        gp.Exponential("y", rate=gp.exp(x), observed=1.0)
        gp.Potential("p", -gp.log(scale))
    with pytest.raises((RunError, CompileError), match=r"^scale: .*(improper|no finite integral)"):
        gp.compile(m, kernels=kernels).sample(5, warmup=20, seed=1, chains=1, progress=False)


def test_kernels_of_an_array_that_is_taken_apart_are_those_of_the_whole():
    with gp.Model(coords={"n": 4, "j": 2, "k": 3}, name="categories") as m:
        x = gp.Data("x", [[1.0, 0.2], [0.3, -1], [-1, 0.5], [0.1, 0.1]], dims=("n", "j"))
        b = gp.Normal("b", 0, sigma=1, dims=("j", "k"))
        odds = gp.exp(x @ b)
        gp.Categorical("y", odds / odds.sum("k"), dims="n", event="k", observed=[0, 1, 2, 1])
    whole = gp.compile(m)
    sampler = gp.compile(m, kernels={"b": gp.RandomWalk()})
    relaxed = gp.compile(m, kernels={"b": gp.OverRelaxed()})

    assert whole.schedule.parts
    assert not sampler.schedule.parts
    assert sampler.schedule.step("b").joint == (0, 1)
    assert [s.alpha for s in relaxed.schedule.asked] == [-0.98] * 3
    for made in (sampler, relaxed, gp.compile(m, scan="random"), gp.compile(m, order=("b",))):
        assert made.verify().proved
        made.sample(5, warmup=5, chains=1, seed=1, progress=False)


def test_regions_of_one_array_are_steps_of_their_own():
    with gp.Model(coords={"t": 6}, name="walk") as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=2)
        gp.Normal("y", x, sigma=1, dims="t", observed=[0.0, 1, np.nan, 2, 1, 0], missing=np.nan)
    apart = gp.compile(m, blocks=False).schedule
    first, rest = (s.name for s in apart.steps if s.variables == ("x",))
    for kernel in (gp.RandomWalk(), gp.Slice(), still, gp.OverRelaxed(0.5)):
        sampler = gp.compile(m, kernels={"x": kernel, "y": kernel}, order=(rest, "y", first))
        assert names(sampler) == [rest, "y", first]
        assert sampler.verify().proved
        sampler.sample(5, warmup=5, chains=1, seed=1, progress=False)


def test_a_step_is_found_by_its_name_or_that_of_its_statement():
    schedule = schools(blocks=True).schedule
    assert schedule.step("mu") is schedule.step("theta, mu")
    with pytest.raises(CompileError, match=r"^schools: found no step 'tua', .* of theta, mu, tau"):
        schedule.step("tua")


def test_a_step_that_is_missing_is_refused():
    schedule = schools().schedule
    check_complete(schedule)
    less = replace(schedule, steps=schedule.steps[1:], graphs=schedule.graphs[1:])
    with pytest.raises(CompileError, match=r"^theta: no step of the schedule draws it \(mu, tau\)"):
        check_complete(less)


def test_the_command_line_sets_the_schedule(tmp_path, capsys):
    path = tmp_path / "two.py"
    path.write_text(
        "import gibbsppl as gp\ndef model():\n    with gp.Model() as m:\n"
        "        mu = gp.Normal('mu', 0, sigma=1)\n        tau = gp.Gamma('tau', 2, rate=1)\n"
        "        gp.Normal('y', mu, tau=tau, observed=1.0)\n    return m\n"
    )
    options = ["--order", "tau,mu", "--scan", "random", "--kernel", "mu=over-relaxed"]
    options += ["--kernel", "tau=random-walk"]
    assert main(["source", str(path), *options]) == 0
    shown = capsys.readouterr().out
    assert "UNITS = (draw_tau, draw_mu)" in shown
    assert "over_relaxed_normal(" in shown
    assert "walk_batch(" in shown
    assert main(["check", str(path), "--order", "sigma"]) == 2
    assert "order: found 'sigma'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["check", str(path), "--kernel", "mu=gibbs"])
    assert "one of slice, elliptical-slice, random-walk" in capsys.readouterr().err


def swept_jointly(sampler, program=None):
    """The joint-distribution test of sweeps, by what labels and their weights have in common."""
    functions = {"z given w": lambda v: float(np.log(v["w"])[v["z"]].sum())}
    rng = np.random.default_rng(4)
    settings = {"replicates": 400, "sweeps": 2, "functions": functions, "level": 1e-4}
    return geweke(rng, sampler.graph, sampler.data, program or sampler.program, **settings)


def test_a_unit_without_what_it_leaves_stale_would_be_found():
    with gp.Model(coords={"k": 3, "n": 3}, name="weights") as m:
        w = gp.Dirichlet("w", 0.5, dims="k")
        z = gp.Categorical("z", w, dims="n")
        gp.Normal("y", z, sigma=3, dims="n", observed=[0.0, 1.0, 2.0])
    # (labels are drawn often, their weights seldom)
    sampler = gp.compile(m, collapse=("w",), scan=gp.RandomScan({"z": 9}))
    assert units(sampler) == [["z", "w"], ["w"]]
    assert swept_jointly(sampler).passed

    apart = tuple(unit[:1] for unit in sampler.schedule.units)
    broken = load(write_numpy(replace(sampler.schedule, units=apart)))
    assert not swept_jointly(sampler, broken).passed
