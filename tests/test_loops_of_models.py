"""A sweep in plain loops is the sweep in NumPy, for every model of the library and many forms.

What is replayed where random numbers come in another order is told in `replays`. The text that
Numba compiles is the same one: compiled and not, it makes the same chain.
"""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from forms import FORMS
from replays import beside
from test_chains_of_labels import CHAINS

import gibbsppl as gp
import models
from gibbsppl.code import loop_program
from gibbsppl.code.arrays import fusion, lifting, sharing, storage
from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.checking import check
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Number,
    Position,
    Size,
    Span,
    mapped,
    negative,
)
from gibbsppl.code.arrays.statements import Add, Draw, Let, Loop, Store, with_expressions
from gibbsppl.code.loop_program import LoopProgram
from gibbsppl.errors import NotLoweredError, RunError
from gibbsppl.runtime import freeze
from models import factorisation_machine, lda

# Sizes at which a sweep in plain Python takes a fraction of a second.
SMALL = {
    "lda": lambda: lda.model(corpus=lda.bars(documents=4, length=10, side=2), topics=3),
    "poisson_factorisation": lambda: models.poisson_factorisation.model(documents=6, words=8),
    "factorisation_machine": lambda: factorisation_machine.model(
        features=factorisation_machine.FEATURES[:40], y=factorisation_machine.RATINGS[:40]
    ),
}
FIVE = ("rats", "gaussian_mixture", "hidden_markov", "pumps", "eight_schools")


@pytest.fixture(autouse=True, scope="module")
def every_pass_leaves_a_sweep():
    """What holds of sweeps holds after each pass, of every model here."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("FIRST", "PASSES"):
            found = (_looked_at(one) for one in getattr(loop_program, name))
            patched.setattr(loop_program, name, tuple(found))
        of_size = (_looked_at_by_size(one) for one in loop_program.BY_SIZE)
        patched.setattr(loop_program, "BY_SIZE", tuple(of_size))
        yield


def _looked_at(one):
    return lambda sweep: check(one(sweep), {})


def _looked_at_by_size(one):
    return lambda sweep, sizes: check(one(sweep, sizes), sizes)


@cache
def sampler_of(name):
    """The sampler of a model of the library."""
    return gp.compile(SMALL.get(name, getattr(models, name).model)())


def started(sampler, sweeps=0, seed=7):
    """A state and a stream to sweep on from."""
    (chain,), _ = sampler.initial_states(1, seed)
    with np.errstate(all="ignore"):
        for _ in range(sweeps):
            sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    return chain.state, chain.rng


# ---- the same sweep ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", models.NAMES)
def test_a_sweep_in_loops_is_the_sweep_in_numpy(name):
    sampler = sampler_of(name)
    program = sampler.loops()
    state, rng = started(sampler)

    for is_frozen in (False, False, True):
        if is_frozen:
            freeze(state)
        assert beside(sampler, state, rng, program).far == []


def test_vectors_of_a_block_are_read_side_by_side():
    """The sum over measurements is of copies, of elements of a block one beside the other."""
    rng = np.random.default_rng(1)
    y = rng.standard_normal((200, 5)) + 3 * rng.integers(2, size=(200, 1))
    names = [f"y{j}" for j in range(5)]
    model = models.iris.model(y, measurements=names, components=2, prior_mean=np.zeros(5))
    sampler = gp.compile(model)
    program = sampler.loops()
    state, rng = started(sampler)

    assert "y_in_block[measurement_prime, flower_in_block]" in program.module.text
    assert beside(sampler, state, rng, program).far == []


def test_a_mean_is_solved_for_without_an_inverse():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((60, 30))
    columns = [f"x{j}" for j in range(30)]
    y = x[:, 0] + rng.standard_normal(60)
    sampler = gp.compile(models.horseshoe.model(x=x, y=y, columns=columns))
    program = sampler.loops()
    state, rng = started(sampler)

    assert "solution(equations, equations_right, solved)" in program.module.text
    assert "inverse(" not in program.module.text
    assert beside(sampler, state, rng, program).far == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "way"), [(n, w) for n in models.NAMES for w in getattr(getattr(models, n), "WAYS", ())]
)
def test_another_way_to_sample_in_loops_is_the_one_in_numpy(name, way):
    module = getattr(models, name)
    sampler = gp.compile(SMALL.get(name, module.model)(), **module.WAYS[way])
    try:
        program = sampler.loops()
        assert program.module.text
    except NotLoweredError as error:
        pytest.skip(str(error))
    state, rng = started(sampler)

    for _ in range(2):
        assert beside(sampler, state, rng, program).far == []


@pytest.mark.parametrize("size", [3, 30])  # (a table of loops, and one of the program in NumPy)
def test_a_sweep_of_a_model_without_data_in_loops_is_the_one_in_numpy(size):
    with gp.Model(coords={"i": size}) as model:
        a, b = (gp.Normal(n, 0, sigma=1) for n in "ab")
        tau = gp.Gamma("tau", 3, rate=2)
        gp.Normal("y", a + b / 8, tau=tau, dims="i")
    sampler = gp.compile(model)
    state, rng = started(sampler)

    for _ in range(2):
        assert beside(sampler, state, rng, sampler.loops()).far == []


# What has the prior as its conditional is drawn by the kernel of its family; of small shapes by
# their logs, between bounds by rejection.
DIMS = {"dims": "n"}
BETWEEN = {"dims": "n", "lower": 0.2, "upper": 0.9}
PRIORS = {
    "bernoulli": lambda: gp.Bernoulli("x", 0.3, **DIMS),
    "beta": lambda: gp.Beta("x", 2, 3, **DIMS),
    "beta, bounded": lambda: gp.Beta("x", 2, 3, **BETWEEN),
    "beta, small": lambda: gp.Beta("x", 0.05, 0.02, **DIMS),
    "beta exponential": lambda: gp.BetaExponential("x", 1.5, 2, **DIMS),
    "beta prime": lambda: gp.BetaPrime("x", 2, 3, **DIMS),
    "beta prime, bounded": lambda: gp.BetaPrime("x", 2, 3, **BETWEEN),
    "binomial": lambda: gp.Binomial("x", 7, 0.3, **DIMS),
    "chi-squared": lambda: gp.ChiSquared("x", 3, **DIMS),
    "chi-squared, small": lambda: gp.ChiSquared("x", 0.1, **DIMS),
    "discrete uniform": lambda: gp.DiscreteUniform("x", 1, 6, **DIMS),
    "exponential": lambda: gp.Exponential("x", rate=2, **DIMS),
    "exponential, bounded": lambda: gp.Exponential("x", rate=2, **BETWEEN),
    "gamma": lambda: gp.Gamma("x", 2, rate=3, **DIMS),
    "gamma, bounded": lambda: gp.Gamma("x", 2, rate=3, **BETWEEN),
    "gamma, small": lambda: gp.Gamma("x", 0.01, rate=3, **DIMS),
    "generalised inverse Gaussian": lambda: gp.GeneralizedInverseGaussian("x", 1, 2, 0.5, **DIMS),
    "geometric": lambda: gp.Geometric("x", 0.3, **DIMS),
    "half-normal": lambda: gp.HalfNormal("x", sigma=2, **DIMS),
    "half-normal, bounded": lambda: gp.HalfNormal("x", sigma=2, **BETWEEN),
    "inverse gamma": lambda: gp.InverseGamma("x", 2, scale=3, **DIMS),
    "inverse gamma, bounded": lambda: gp.InverseGamma("x", 2, scale=3, **BETWEEN),
    "inverse gamma, small": lambda: gp.InverseGamma("x", 0.05, scale=3, **DIMS),
    "inverse Gaussian": lambda: gp.InverseGaussian("x", 1.5, 2, **DIMS),
    "Laplace": lambda: gp.Laplace("x", 1, scale=2, **DIMS),
    "log-normal": lambda: gp.LogNormal("x", 1, sigma=2, **DIMS),
    "log-normal, bounded": lambda: gp.LogNormal("x", 1, sigma=2, **BETWEEN),
    "modified half-normal": lambda: gp.ModifiedHalfNormal("x", 2, 1, 0.5, **DIMS),
    "negative binomial": lambda: gp.NegativeBinomial("x", 2.5, 0.3, **DIMS),
    "normal, bounded": lambda: gp.Normal("x", 1, sigma=2, **BETWEEN),
    "Pareto": lambda: gp.Pareto("x", 3, 1, **DIMS),
    "Poisson": lambda: gp.Poisson("x", 3.5, **DIMS),
    "Poisson, bounded": lambda: gp.Poisson("x", 3.5, dims="n", lower=1, upper=6),
    "uniform": lambda: gp.Uniform("x", -1, 2, **DIMS),
    "Weibull": lambda: gp.Weibull("x", 1.5, scale=2, **DIMS),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("size", [1, 5])
def test_a_draw_of_a_family_in_loops_is_the_one_in_numpy(name, size):
    with gp.Model(coords={"n": size}) as model:
        PRIORS[name]()
    sampler = gp.compile(model)
    state, rng = started(sampler)

    assert beside(sampler, state, rng).far == []


@pytest.mark.parametrize("name", CHAINS)
def test_a_draw_of_chains_of_labels_in_loops_is_the_one_in_numpy(name):
    sampler = gp.compile(CHAINS[name]())
    program = sampler.loops()
    state, rng = started(sampler)

    for _ in range(5):
        assert beside(sampler, state, rng, program).far == []


# Forms of which each asks something else of loops.
TELLING = (
    "product_over_a_dim",
    "running_product",
    "regions_of_three_families",
    "covariance_by_element",
    "cells_of_a_total",
    "dirichlet_hierarchy",
    "logistic_regression",
    "robust_regression",
    "one_axis_of_two",
    "one_concentration_of_two_sizes",
    "scaled_matrix",
    "stick",
    "gamma_prior_of_a_bound_below_pareto",
    "location_in_units_of_1e+150",
)


def marked(form):
    return form if form.name in TELLING else pytest.param(form, marks=pytest.mark.slow)


@pytest.mark.parametrize("form", [marked(f) for f in FORMS], ids=[f.name for f in FORMS])
@pytest.mark.parametrize("is_alone", [False, True], ids=["as_planned", "one_by_one"])
def test_a_sweep_of_a_form_in_loops_is_the_one_in_numpy(form, is_alone):
    sampler = form.compiled() if is_alone else gp.compile(form.build())
    try:
        program = sampler.loops()
        assert program.module.text
    except NotLoweredError as error:
        pytest.skip(str(error))
    state, rng = started(sampler)

    for _ in range(2):
        assert beside(sampler, state, rng, program).far == []


# ---- the same chain, compiled --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [n if n in FIVE else pytest.param(n, marks=pytest.mark.slow) for n in models.NAMES],
)
def test_compiled_loops_make_the_chain_of_plain_ones(name):
    pytest.importorskip("numba")
    sampler = sampler_of(name)
    program = sampler.loops()
    state, rng = started(sampler, sweeps=1)
    chains = []
    for runner in (program.plain(), program.compiled()):
        own, stream = copy.deepcopy(state), copy.deepcopy(rng)
        arrays = program.arrays_of(own)
        with np.errstate(all="ignore"):
            runner.sweep(program.arguments(stream, arrays))
        chains.append((arrays, stream.bit_generator.state))
    (plain, stream), (compiled, other) = chains

    assert stream == other
    for array, values in plain.items():
        size = np.max(np.abs(values), initial=0.0)
        digits = 1e-12 if values.dtype.kind == "f" else 0.0
        np.testing.assert_allclose(compiled[array], values, rtol=0.0, atol=digits * size)


# ---- planted bugs --------------------------------------------------------------------------------


# Not those with sums that vanish: of data about their mean, or slopes at a least-squares centre.
PLANTED_IN = (
    "gaussian_mixture",
    "hidden_markov",
    "pumps",
    "eight_schools",
    "beetles",
    "seeds",  # (columns of salm add up to zero: what is lost with them is nothing)
    "dirichlet_process",
    "potts_segmentation",
    "iris",
)


def mutants(statements, change):
    """Statements with the change made at one place, for each place where there is one to make."""
    for n, s in enumerate(statements):
        before, after = statements[:n], statements[n + 1 :]
        found = change(s)
        if found is not None:
            yield (*before, *found, *after)
        if isinstance(s, Loop):
            for body in mutants(s.body, change):
                yield (*before, replace(s, body=body), *after)
        if isinstance(s, Draw) and s.density is not None:
            for body in mutants(s.density.body, change):
                yield (*before, replace(s, density=replace(s.density, body=body)), *after)


def without_an_addition(sweep):
    return mutants(sweep.statements, lambda s: () if isinstance(s, Add) else None)


def with_another_sign(sweep):
    def change(s):
        if isinstance(s, Add) and s.by == "sum":
            return (replace(s, value=negative(s.value)),)
        if isinstance(s, Draw) and s.density is not None:
            return (replace(s, density=replace(s.density, value=negative(s.density.value))),)
        return None

    return mutants(sweep.statements, change)


def with_two_arguments_exchanged(sweep):
    def change(s):
        if not isinstance(s, Draw) or len(s.arguments) < 2:
            return None
        first, second, *others = s.arguments
        if len(first.own) != len(second.own) or (first.own and s.own):  # (of other shapes)
            return None
        return (replace(s, arguments=(second, first, *others)),)

    return mutants(sweep.statements, change)


def slightly_off(value):
    return Apply("*", (Number(1 + 1e-6), value))


def is_number(argument):
    """Whether an argument is a number as it stands, such as a bound of 0."""
    return isinstance(argument.value, Number)


def with_a_draw_slightly_off(sweep):
    """Too little to change a label or a count that is drawn from the same random numbers."""

    def of_argument(s, n):
        # (what chains of labels are given besides weights and transitions are whole numbers)
        if not isinstance(s, Draw) or n >= len(s.arguments[:2]) or is_number(s.arguments[n]):
            return None
        found = list(s.arguments)
        found[n] = replace(found[n], value=slightly_off(found[n].value))
        return (replace(s, arguments=tuple(found)),)

    def of_density(s):
        if not isinstance(s, Draw) or s.density is None:
            return None
        return (replace(s, density=replace(s.density, value=slightly_off(s.density.value))),)

    yield from mutants(sweep.statements, lambda s: of_argument(s, 0))
    yield from mutants(sweep.statements, lambda s: of_argument(s, 1))
    yield from mutants(sweep.statements, of_density)


def without_a_value_put_back(sweep):
    def change(s):
        is_state = isinstance(s, Store) and s.target.array in sweep.arrays
        return () if is_state else None

    return mutants(sweep.statements, change)


def is_drawn(array):
    """Whether a sweep draws an array."""
    return array.kind == "state" and not array.is_tuning


def with_a_stale_array(sweep):
    """Something that is read after it was drawn is read as it was before the sweep."""
    for name, array in sweep.arrays.items():
        if not is_drawn(array):
            continue
        spans = tuple(Span(f"{name} {n}", ZERO, Size(d)) for n, d in enumerate(array.dims))
        whole = Element(name, tuple(Position(s.dim) for s in spans))
        kept = Let(f"{name} before", spans, whole, type=array.type)
        first = next((n for n, s in enumerate(sweep.statements) if name in writes([s])), None)
        if first is None:
            continue

        def change(s, name=name):
            def one(e):
                is_read = isinstance(e, Element) and e.array == name
                return Element(f"{name} before", e.indices) if is_read else None

            if isinstance(s, Let | Add):
                found = with_expressions(s, lambda e: mapped(e, one))
                return (found,) if found != s else None
            return None

        done, rest = sweep.statements[: first + 1], sweep.statements[first + 1 :]
        for changed in mutants(rest, change):
            yield (kept, *done, *changed)


WRONG = (
    without_an_addition,
    with_another_sign,
    with_two_arguments_exchanged,
    with_a_draw_slightly_off,
    without_a_value_put_back,
    with_a_stale_array,
)


def moving(sampler, names):
    """A state and a stream by which the next sweep changes all arrays: a stale one is another."""
    state, rng = started(sampler, sweeps=1)
    for _ in range(50):
        now, stream = copy.deepcopy((state, rng))
        with np.errstate(all="ignore"):
            sampler.program.sweep(rng, state, sampler.constants)
        if not any(np.array_equal(now[n], state[n]) for n in names):
            return now, stream
    pytest.fail("an array stays as it is in all sweeps")


@pytest.mark.parametrize("wrong", WRONG)
def test_planted_bugs_are_caught(wrong):
    tried, missed = 0, []
    for name in PLANTED_IN:
        sampler = sampler_of(name)
        if wrong is without_a_value_put_back and sampler.schedule.proposed:
            # (what is tried last stays where it is accepted)
            sampler = gp.compile(getattr(models, name).model(), exact=True)
        right = sampler.loops().sweep_value
        state, rng = moving(sampler, [n for n, a in right.arrays.items() if is_drawn(a)])
        assert is_missed(sampler, state, rng, program_of(sampler, right))
        for statements in wrong(right):
            program = program_of(sampler, replace(right, statements=statements))
            tried += 1
            if is_missed(sampler, state, rng, program):
                missed.append((name, difference(right.statements, statements)))

    assert missed == []
    assert tried > 15


NOTHING = frozenset()
# Passes that overlook something, and a model whose sweep they spoil.
OVERLOOKED = {
    "what is shared never changes": (sharing, "reads", lambda _: NOTHING, "robust_regression"),
    "what is lifted never changes": (lifting, "writes", lambda _: NOTHING, "dyes"),
    "all loops are one": (fusion, "can_fuse", lambda *_: True, "gaussian_mixture"),
    "statements have no order": (fusion, "are_ordered", lambda *_: False, "gaussian_mixture"),
    "a common loop for any axis": (
        storage, "_is_of_loop", lambda found, dims: any(i.free & dims for i in found),
        "negative_binomial",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OVERLOOKED)
def test_passes_that_overlook_something_are_caught(name, monkeypatch):
    module, function, wrong, model = OVERLOOKED[name]
    sampler = sampler_of(model)
    state, rng = started(sampler, sweeps=1)
    assert is_missed(sampler, state, rng, sampler.loops())
    monkeypatch.setattr(module, function, wrong)

    assert not is_missed(sampler, state, rng, sampler.loops())


def program_of(sampler, sweep):
    """The program in loops of a sweep that stands for the one of a sampler."""
    return LoopProgram.of(sweep, sampler.data, sampler.schedule.whole.sizes)


# What a wrong program may raise.
FAILURES = (
    *(ArithmeticError, AssertionError, LookupError, NameError, TypeError, ValueError),
    RunError,
)


def is_missed(sampler, state, rng, program):
    """Whether the check finds nothing wrong with a program."""
    own, stream = copy.deepcopy((state, rng))
    try:
        return beside(sampler, own, stream, program).far == []
    except FAILURES:
        return False


def difference(right, wrong):
    """What is in one of two lists of statements alone, as text."""
    texts = [set("\n".join(map(str, statements)).split("\n")) for statements in (right, wrong)]
    return "; ".join(sorted(texts[0] ^ texts[1]))
