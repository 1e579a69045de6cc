"""Kernels of draws by rejection, against distribution functions and against whole arrays.

The cases and their distribution functions are those of the tests of whole arrays.
"""


import numpy as np
import pytest
import test_polya_gamma
import test_runtime_special
import test_runtime_truncated
from kernels_called import Called
from scipy import stats

from gibbsppl import runtime
from gibbsppl.runtime.loops import over_relaxed, polya_gamma, rejection, truncated

INF = np.inf
LEVEL = 1e-4 / 600
FEW, MANY = 60, 3000

# The module of each kernel, by its name.
MODULES = {
    name: module
    for module in (truncated, rejection, polya_gamma, over_relaxed)
    for name in (*module.APART, "truncated_exponential", "truncated_power", "truncated_uniform",
                 "over_relaxed_normal")
    if hasattr(module, name)
}  # fmt: skip


def cases_of():
    """Each kernel with a case and a function from draws to uniform numbers."""
    for family, (cases, *_) in test_runtime_truncated.FAMILIES.items():
        for case in cases:
            yield f"truncated_{family}", case, _truncated_uniform(family, case)
    for case in test_runtime_truncated.BETA:
        yield "truncated_beta", case, _beta_uniform(case)
    for family, (cases, *_) in test_runtime_special.FAMILIES.items():
        for case in cases:
            yield family, case, _special_uniform(family, case)
    for b, c in (*test_polya_gamma.DRAWN, (1e-3, 2.0), (0.09, 0.5), (1e-9, 1.0), (1.0, 1.9)):
        yield "polya_gamma", (-c * c / 2, b), _polya_gamma_uniform(b, c)


def _truncated_uniform(family, case):
    return lambda x: test_runtime_truncated.uniform_of(family, case, x)


def _beta_uniform(case):
    return lambda x: test_runtime_truncated.beta_uniform(case, x)


def _special_uniform(family, case):
    return lambda x: test_runtime_special.uniform_of(family, case, x)


def _polya_gamma_uniform(b, c):
    if b < 1e-6:  # (most of the mass is below all that a grid reaches)
        return lambda x: stats.norm.cdf(b / 2 / np.sqrt(x)) * 2 - 1

    def uniform(x):
        return test_polya_gamma.cdf_of(b, c)(x)

    return uniform


CASES = [pytest.param(*case, id=f"{case[0]}-{case[1]}") for case in cases_of()]


def drawn(draw, case, n, seed=31):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return np.array([draw(rng, *case) for _ in range(n)])


def compiled_of(name):
    pytest.importorskip("numba")
    module = MODULES[name].__name__.rpartition(".")[2]
    return getattr(Called(module), name)


def within(name, case, x):
    if name.startswith("truncated"):
        return ((x > case[-2]) & (x < case[-1])).all()
    return ((x > 0) & (x < INF)).all()


def kernel_of(name):
    return getattr(MODULES[name], name)


@pytest.mark.parametrize(("name", "case", "_"), CASES)
def test_draws_are_inside_of_their_bounds(name, case, _):
    assert within(name, case, drawn(kernel_of(name), case, 10))


SAME = [
    p for p in CASES
    if p.values[0] in {"truncated_gamma", "truncated_inverse_gamma", "inverse_gaussian",
                       "generalized_inverse_gaussian", "modified_half_normal", "truncated_beta",
                       "truncated_generalized_inverse_gaussian", "beta_prime",
                       "truncated_modified_half_normal", "truncated_beta_prime"}
]  # fmt: skip


@pytest.mark.parametrize(("name", "case", "_"), SAME)
def test_draws_are_those_of_arrays_of_one(name, case, _):
    """The same algorithm with the same random numbers: only roundings may differ."""
    found = drawn(kernel_of(name), case, 10)
    rng = np.random.default_rng(31)
    with np.errstate(all="ignore"):
        expected = [getattr(runtime, name)(rng, *case, size=(1,))[0] for _ in range(10)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


IN_ORDER = {
    "truncated_uniform": ([-3.0, 1.0, -1e308], [2.0, 1.0 + 1e-10, 1e308]),
    "truncated_exponential": tuple(np.transpose(test_runtime_truncated.EXPONENTIAL)),
    "truncated_power": tuple(np.transpose(test_runtime_truncated.POWER)),
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_draws_of_one_random_number_are_those_of_whole_arrays(name):
    arguments = [np.tile(a, 8) for a in IN_ORDER[name]]
    expected = getattr(runtime, name)(np.random.default_rng(5), *arguments, arguments[0].shape)
    rng, draw = np.random.default_rng(5), kernel_of(name)
    with np.errstate(all="ignore"):
        found = [draw(rng, *case) for case in zip(*arguments, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case", "uniform"), CASES)
def test_compiled_draws_follow_their_distribution_functions(name, case, uniform):
    x = drawn(compiled_of(name), case, MANY)
    assert within(name, case, x)
    with np.errstate(all="ignore"):
        assert stats.kstest(uniform(x), stats.uniform.cdf).pvalue > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case", "_"), CASES)
def test_compiled_draws_are_those_of_plain_python(name, case, _):
    found, expected = drawn(compiled_of(name), case, FEW), drawn(kernel_of(name), case, FEW)
    np.testing.assert_array_equal(found, expected)


IMPROPER = [
    *((f"truncated_{family}", case) for family, case in test_runtime_truncated.IMPROPER),
    *test_runtime_special.IMPROPER,
    ("polya_gamma", (0.1, 1.0)), ("polya_gamma", (-0.1, -1.0)), ("polya_gamma", (np.nan, 1.0)),
    ("polya_gamma", (-0.1, np.nan)), ("polya_gamma", (-0.1, INF)),
    ("truncated_poisson", (0.0, 3.0, 2.0)), ("truncated_poisson", (np.nan, 0.0, 2.0)),
    ("truncated_poisson", (0.0, np.nan, 2.0)), ("truncated_poisson", (60.0, 0.0, INF)),
    ("over_relaxed_normal", (0.0, 0.5, 0.0, -0.9)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "case"), IMPROPER, ids=str)
def test_improper_parameters_raise_and_give_no_value(name, case):
    with pytest.raises(ValueError, match=r"\w"):
        drawn(kernel_of(name), case, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "case"), IMPROPER, ids=str)
def test_compiled_improper_parameters_raise(name, case):
    with pytest.raises(ValueError, match=r"\w"):
        drawn(compiled_of(name), case, 1)


@pytest.mark.parametrize("lower", [1e-300, 1e-30, 1e-17, 1e-3])
def test_inverse_gamma_draws_above_a_small_bound_do_not_stick_to_it(lower):
    x = drawn(truncated.truncated_inverse_gamma, (-3.0, -1.0, lower, INF), 200)
    assert stats.kstest(x, stats.invgamma(2.0).cdf).pvalue > 1e-3


POISSON = [(0.0, 0, INF), (1.0, 2, 9), (np.log(1e-9), 1, INF), (np.log(1e3), 1, 3), (3.0, 0, 4),
           (np.log(50.0), 60, INF), (np.log(50.0), 20, 30), (-1.0, 3, 3)]  # fmt: skip


@pytest.mark.parametrize("case", POISSON, ids=str)
def test_truncated_counts_have_their_probabilities(case):
    eta_1, lower, upper = case
    n = 1500
    x = drawn(truncated.truncated_poisson, case, n)
    assert x.dtype.kind == "i"
    last = int(min(upper, max(lower, np.exp(eta_1)) * 3 + 40))
    values = np.arange(lower, last + 1)
    logs = stats.poisson.logpmf(values, np.exp(eta_1))
    weights = np.exp(logs - logs.max())
    cdf = np.cumsum(weights / weights.sum())
    uniform = np.random.default_rng(3).random(n)
    below = np.concatenate([[0.0], cdf])[x - lower]
    spread = below + uniform * (cdf[x - lower] - below)
    assert stats.kstest(spread, stats.uniform.cdf).pvalue > LEVEL


@pytest.mark.parametrize("concentration", [0.0, 1e-9, 0.1, 2.0, 50.0, 1e10])
def test_angles_follow_their_distribution_function(concentration):
    case = concentration * np.cos(1.0), concentration * np.sin(1.0)
    x = drawn(rejection.von_mises, [float(c) for c in case], 1500)
    assert (np.abs(x) < np.pi).all()
    z = np.remainder(x - 1.0 + np.pi, 2 * np.pi) - np.pi
    if concentration > 1e6:
        uniform = stats.norm.cdf(z * np.sqrt(concentration))
    else:
        uniform = stats.vonmises.cdf(z, concentration) if concentration else z / 2 / np.pi + 0.5
    assert stats.kstest(uniform, stats.uniform.cdf).pvalue > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "case"),
    [
        *(("truncated_poisson", case) for case in POISSON),
        *(("von_mises", (k, k)) for k in (0.0, 1e-9, 1.0, 1e10)),
        ("over_relaxed_normal", (1.0, -0.5, 3.0, -0.9)),
    ],
    ids=str,
)
def test_other_compiled_draws_are_those_of_plain_python(name, case):
    found, expected = drawn(compiled_of(name), case, FEW), drawn(kernel_of(name), case, FEW)
    np.testing.assert_array_equal(found, expected)


def test_over_relaxed_moves_are_those_of_whole_arrays():
    rng = np.random.default_rng(4)
    eta_1, eta_2, x = rng.normal(size=20), -rng.gamma(2.0, size=20), rng.normal(size=20)
    expected = runtime.over_relaxed_normal(np.random.default_rng(1), eta_1, eta_2, (20,), x, -0.9)
    rng = np.random.default_rng(1)
    found = [
        over_relaxed.over_relaxed_normal(rng, *case, -0.9)
        for case in zip(eta_1, eta_2, x, strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("b", [1e-300, 1e-90, 1e-12, 0.0999, 0.1, 8.0, 8.5, 1e9, 1e10, 1e12, 1e300])
@pytest.mark.parametrize("eta_1", [0.0, -1e-300, -1e-3, -40.0, -1e10, -1e300])
def test_polya_gamma_numbers_are_positive_numbers_for_all_parameters(b, eta_1):
    x = drawn(polya_gamma.polya_gamma, (eta_1, b), 5)
    assert ((x > 0) & (x < INF)).all()


def test_a_polya_gamma_number_is_zero_where_its_shape_is():
    assert polya_gamma.polya_gamma(np.random.default_rng(1), -0.5, 0.0) == 0.0


@pytest.mark.parametrize(("b", "x"), [(1.0, 0.25), (0.3, 0.01), (5.5, 1.0), (100.0, 30.0),
                                      (1e-3, 0.2), (2.0, 1e-2), (0.5, 5.0)])  # fmt: skip
def test_the_log_density_is_that_of_the_runtime(b, x):
    from gibbsppl.runtime.functions import log_polya_gamma

    found = polya_gamma._log_inverted(b, x)
    assert found == pytest.approx(float(log_polya_gamma(b, x)), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(
    ("name", "case", "wrong"),
    [
        ("truncated_normal", (0.0, -0.5, 5.0, INF), (0.0, -0.6, 5.0, INF)),
        ("truncated_gamma", (-40.0, 7.0, 1.0, 16.9), (-40.0, 6.0, 1.0, 16.9)),
        ("generalized_inverse_gaussian", (0.5, -1.0, -2.0), (0.9, -1.0, -2.0)),
        ("polya_gamma", (-0.5, 1.0), (-3.0, 1.0)),
    ],
)
def test_planted_bugs_are_caught(name, case, wrong):
    uniform = next(u for found, of, u in cases_of() if (found, of) == (name, case))
    x = drawn(kernel_of(name), wrong, 3000)
    assert stats.kstest(uniform(x), stats.uniform.cdf).pvalue < LEVEL


def test_a_compiled_draw_is_that_of_plain_python():
    case = (1.0, -0.5, 3.0, INF)
    found, expected = (
        drawn(of("truncated_normal"), case, FEW) for of in (compiled_of, kernel_of)
    )
    np.testing.assert_array_equal(found, expected)
