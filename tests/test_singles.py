"""Large arrays in single precision: arithmetic is double, and only what is stored is rounded."""

import copy

import numpy as np
import pytest
from test_loops_of_models import sampler_of, started

import gibbsppl as gp
import models
from gibbsppl.code.arrays import singles
from gibbsppl.code.loop_program import loops_of
from gibbsppl.errors import NotLoweredError, RunError
from gibbsppl.run.engines import Compiled, Interpreted

EPS = float(np.finfo(np.float32).eps)
EVERY_DAY = (
    *("matrix_factorisation", "bayesian_matrix_factorisation", "rats", "iris", "eight_schools"),
    *("gaussian_mixture", "ordered_probit", "bayesian_lasso"),
)


@pytest.fixture
def small_arrays(monkeypatch):
    """Any array is large."""
    monkeypatch.setattr(singles, "LARGE", 1)


def loops(sampler, dtype):
    return loops_of(sampler.schedule, sampler.data, sampler.constants, dtype)


def arrays_of(program, state):
    return {n: np.array(a) for n, a in program.arrays_of(copy.deepcopy(state)).items()}


def kept(program):
    """The arrays in single precision."""
    return {n for n, a in program.sweep_value.arrays.items() if a.type == "single"}


@pytest.mark.parametrize(
    "name",
    [n if n in EVERY_DAY else pytest.param(n, marks=pytest.mark.slow) for n in models.NAMES],
)
@pytest.mark.usefixtures("small_arrays")
def test_what_is_read_is_double_and_what_is_stored_is_rounded_once(name):
    """Without the rounding of stores, a sweep is the sweep of doubles from rounded numbers."""
    sampler = sampler_of(name)
    try:
        double = loops(sampler, "float64")
        assert double.module
    except NotLoweredError as error:
        pytest.skip(str(error))
    single = loops(sampler, "float32")
    state, rng = started(sampler, 2)
    given = {n: a for n, a in single.known.items() if n in kept(single)}
    rounded = {n: a.astype(np.float32) for n, a in double.known.items() if n in given}
    assert all((given[n] == rounded[n]).all() for n in given)
    assert all(a.dtype == np.float32 for a in given.values())

    ours = {
        n: a.astype(np.float32).astype(float) if n in kept(single) else a
        for n, a in arrays_of(double, state).items()
    }
    theirs = copy.deepcopy(ours)
    # (data as rounded, in arrays of doubles: the text of single precision, that of doubles)
    for program, arrays in ((double, ours), (single, theirs)):
        own = program.arguments(copy.deepcopy(rng), arrays)
        wide = [a.astype(float) if getattr(a, "dtype", None) == np.float32 else a for a in own]
        if program is double:
            names = program.module.constants
            first = 2 + len(program.module.state)
            for place, n in enumerate(names, first):
                wide[place] = rounded[n].astype(float) if n in rounded else wide[place]
        with np.errstate(all="ignore"):
            program.plain().sweep(wide)

    for n, array in ours.items():
        np.testing.assert_array_equal(array, theirs[n], err_msg=n)


def factors(n=3000, people=40, things=30, k=4, seed=1):
    """A factorisation, of which single precision holds the ratings."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(people, size=n), rng.integers(things, size=n)
    y = (LEVEL + rng.normal(size=n)).astype(np.float32)
    names = range(people), range(things)
    return models.matrix_factorisation.model((*pairs, y), names, k, level=LEVEL, tau=TAU)


LEVEL, TAU, PEOPLE = 3.3, 10, 40


def natural(program, state, rng):
    """The natural parameters that the rows of the first array are drawn with, in loops."""
    found = []
    runner = program.plain()
    scope = runner.run.__globals__
    kernel = scope["mvnormal"]

    def seen(rng, *arguments):
        found.append([np.array(a) for a in arguments[:2]])
        return kernel(rng, *arguments)

    scope["mvnormal"] = seen
    runner.sweep(program.arguments(copy.deepcopy(rng), arrays_of(program, state)))
    return found[:PEOPLE]


def rounded(state):
    return {n: np.asarray(a).astype(np.float32).astype(float) for n, a in state.items()}


@pytest.mark.usefixtures("small_arrays")
def test_natural_parameters_of_numbers_that_single_precision_holds_are_equal(monkeypatch):
    sampler = gp.compile(factors())
    state, rng = started(sampler, 1)
    double = natural(loops(sampler, "float64"), rounded(state), rng)

    def are_equal():
        found = natural(loops(sampler, "float32"), rounded(state), rng)
        pairs = zip(found, double, strict=True)
        return all((a == b).all() for row in pairs for a, b in zip(*row, strict=True))

    assert are_equal()
    # (the plant: elements are read as they are stored)
    monkeypatch.setattr(singles._Singles, "doubled", lambda _, e: e)
    monkeypatch.setattr(singles._Singles, "by_rows", lambda *_: None)
    assert not are_equal()


@pytest.mark.usefixtures("small_arrays")
def test_natural_parameters_agree_as_far_as_numbers_are_rounded():
    """Each is a sum of products of rounded numbers: their errors add up, and no others."""
    sampler = gp.compile(factors())
    state, rng = started(sampler, 1)
    single, double = (natural(loops(sampler, d), state, rng) for d in ("float32", "float64"))
    of, about = sampler.data["judge_of"], np.abs(state["V"][sampler.data["quality_of"]])
    residual = np.abs(sampler.data["value"] - LEVEL)
    for row in range(PEOPLE):
        own = of == row
        v = about[own]
        # (half a unit in the last place for each factor; the ratings are held as they are)
        linear, square = TAU * v.T @ residual[own] / 2, TAU * v.T @ v / 2
        assert (np.abs(single[row][0] - double[row][0]) <= EPS * linear * (1 + EPS)).all()
        assert (np.abs(single[row][1] - double[row][1]) <= EPS * square * (1 + EPS)).all()
        assert (single[row][1] != double[row][1]).any()


@pytest.mark.usefixtures("small_arrays")
def test_draws_in_single_precision_are_recorded_so_and_compiled_as_they_are_not():
    pytest.importorskip("numba")
    sampler = gp.compile(factors(400, 8, 6, 2))
    draws = sampler.sample(5, warmup=0, chains=1, seed=1, dtype="float32", progress=False)
    program = loops(sampler, "float32")
    (chain,), _ = sampler.initial_states(1, 1)
    arrays = arrays_of(program, chain.state)
    for k in range(5):
        program.plain().sweep(program.arguments(chain.rng, arrays))
        np.testing.assert_allclose(draws["U"][0, k], arrays["U"], rtol=1e-4)

    assert draws["U"].dtype == np.float32
    assert draws.attributes["dtype"] == "float32"


def test_small_arrays_and_those_near_a_bound_stay_double():
    rng = np.random.default_rng(1)
    n = 2 * singles.LARGE
    with gp.Model(coords={"i": n}) as model:
        tau = gp.Gamma("tau", 2, rate=1, dims="i")
        p = gp.Data("p", np.full(n, 1 - 1e-12), dims="i")
        x = gp.Data("x", rng.normal(size=n), dims="i")
        level = gp.Normal("level", 0, tau=1)
        theta = gp.Normal("theta", level + x, tau=tau, dims="i")
        gp.Normal("y", theta * p, tau=1, dims="i", observed=rng.normal(size=n))
    sampler = gp.compile(model, blocks=False, interweave=False)

    assert kept(loops(sampler, "float32")) == {"x", "theta", "y"}
    assert kept(loops(sampler, "float64")) == set()


def test_single_precision_is_that_of_compiled_loops():
    sampler = sampler_of("rats")
    with pytest.raises(RunError, match="dtype: found 'float32' with backend='numpy', expected"):
        sampler.sample(5, backend="numpy", dtype="float32")
    with pytest.raises(RunError, match="dtype: found 'float16', expected one of 'float64', 'float"):
        sampler.sample(5, dtype="float16")


@pytest.mark.usefixtures("small_arrays")
def test_a_row_that_is_multiplied_by_itself_is_made_double_once():
    program = loops(gp.compile(factors(1000)), "float32")
    text = program.module.text
    inner = [line for line in text.splitlines() if "sum_V_quality_of[factor, factor1] +=" in line]

    assert inner
    assert not any("float64" in line for line in inner)


@pytest.mark.usefixtures("small_arrays")
def test_sweeps_in_numpy_go_on_from_a_chain_in_single_precision():
    pytest.importorskip("numba")
    sampler = gp.compile(factors(400, 8, 6, 2))
    (chain,), _ = sampler.initial_states(1, 1)
    Compiled(loops(sampler, "float32")).sweeps(chain, 1)
    left = {n: a.copy() for n, a in chain.state.items()}
    Interpreted(sampler.program, sampler.constants).sweeps(chain, 1)

    assert all(a.dtype == float and (a == a.astype(np.float32)).all() for a in left.values())
    assert all(np.isfinite(a).all() for a in chain.state.values())
