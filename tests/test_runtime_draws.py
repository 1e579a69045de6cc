"""Simulation and draws from natural parameters against SciPy's distribution functions.

Every comparison is a p-value; each is held against the family-wise level divided by their number.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_families import (
    EXAMPLES,
    EXPONENTIAL,
    SIZE,
    Example,
    cases,
    event_of,
    natural_values,
    reference_of,
    symbols_of,
)

from gibbsppl import runtime
from gibbsppl.families import FAMILIES
from gibbsppl.runtime import matrices, simulation
from gibbsppl.runtime.draws import TINY

N = 3000
# An upper bound of the comparisons made in this file (each case makes at most nine, twice).
COMPARISONS = 18 * len(EXAMPLES) + 100
LEVEL = 1e-4 / COMPARISONS

PROJECTIONS = np.array([[1.0, 0, 0], [0, 0, 1.0], [1.0, -1.0, 0.5], [0.3, 2.0, -1.0]])


def continuous(values: Any, cdf: Callable[[Any], Any]) -> float:
    return float(stats.kstest(np.ravel(values), cdf).pvalue)


def discrete(values: Any, reference: Any) -> float:
    """Chi-square over values, those with an expectation below 5 pooled."""
    x = np.arange(int(reference.ppf(1e-9)) - 1, int(reference.ppf(1 - 1e-9)) + 2)
    expected = reference.pmf(x) * np.size(values)
    found = np.array([(np.asarray(values) == v).sum() for v in x])
    rare = expected < 5
    cells = [*zip(found[~rare], expected[~rare], strict=True)]
    outside = np.size(values) - found[~rare].sum(), np.size(values) - expected[~rare].sum()
    if outside[1] > 1e-6:
        cells.append(outside)
    elif outside[0]:
        return 0.0
    f, e = np.array(cells).T
    return float(stats.chi2.sf(((f - e) ** 2 / e).sum(), len(cells) - 1))


def p_values(case: Example, x: Any) -> Iterator[float]:
    """Comparisons of many values with exact distribution functions, each a p-value."""
    p = case.parameters
    match case.family:
        case "Dirichlet":
            for parts in ([0], [1], [0, 2]):
                a = p["a"][parts].sum()
                yield continuous(x[:, parts].sum(1), stats.beta(a, p["a"].sum() - a).cdf)
        case "Multinomial":
            for parts in ([0], [1], [0, 2]):
                share = p["p"][parts].sum()
                yield discrete(x[:, parts].sum(1), stats.binom(int(p["n"]), share))
        case "MvNormal":
            centred, cov = x - p["mu"], np.linalg.inv(p["tau"])
            for u in PROJECTIONS:
                yield continuous(centred @ u / np.sqrt(u @ cov @ u), stats.norm.cdf)
            distance = np.einsum("ni,ij,nj->n", centred, p["tau"], centred)
            yield continuous(distance, stats.chi2(SIZE).cdf)
        case "MvStudentT":
            centred, cov, nu = x - p["mu"], np.linalg.inv(p["tau"]), float(p["nu"])
            for u in PROJECTIONS:
                yield continuous(centred @ u / np.sqrt(u @ cov @ u), stats.t(nu).cdf)
            distance = np.einsum("ni,ij,nj->n", centred, p["tau"], centred)
            yield continuous(distance / SIZE, stats.f(SIZE, nu).cdf)
        case "Wishart" | "InverseWishart":
            # u'Xu / u'Vu is chi-squared(nu), and |X| / |V| a product of chi-squared variables
            wishart = x if case.family == "Wishart" else np.linalg.inv(x)
            V = p["V"] if case.family == "Wishart" else np.linalg.inv(p["S"])
            nu = float(p["nu"])
            for u in PROJECTIONS:
                yield continuous(
                    np.einsum("i,nij,j->n", u, wishart, u) / (u @ V @ u), stats.chi2(nu).cdf
                )
            # with e the first unit vector, (|X| / |X_11|) / (same of V) is chi-squared(nu - 2)
            schur = lambda m: np.linalg.det(m) / np.linalg.det(m[..., :2, :2])  # noqa: E731
            yield continuous(schur(wishart) / schur(V), stats.chi2(nu - 2).cdf)
        case "HuangWand":
            # sds are half-t(nu, scale); correlations r have density (1 - r^2)**(nu / 2 - 1)
            half, sds = float(p["nu"]) / 2, np.sqrt(np.einsum("nkk->nk", x))
            for k, A in enumerate(p["scale"]):
                yield continuous(sds[:, k] ** 2 / A**2, stats.f(1, 2 * half).cdf)
                correlation = x[:, k, k - 1] / sds[:, k] / sds[:, k - 1]
                yield continuous((1 + correlation) / 2, stats.beta(half, half).cdf)
        case "VonMisesFisher":
            # in 3 dimensions the cosine of the angle to mu is a truncated exponential variable
            kappa, away = float(p["kappa"]), x - np.outer(x @ p["mu"], p["mu"])
            yield continuous(kappa * (1 - x @ p["mu"]), stats.truncexpon(2 * kappa).cdf)
            first, second = np.linalg.svd(p["mu"][None])[2][1:]
            angle = np.arctan2(away @ first, away @ second)
            yield continuous(angle, stats.uniform(-np.pi, 2 * np.pi).cdf)
        case _ if hasattr(reference_of(case), "pdf") or case.family == "HalfStudentT":
            yield continuous(x, reference_of(case).cdf)
        case _:
            yield discrete(x, reference_of(case))


def shape_of(case: Example, *batch: int) -> tuple[int, ...]:
    return (*batch, *(SIZE,) * case.row.event)


def simulated(case: Example, rng: Any, size: tuple[int, ...]) -> Any:
    return getattr(runtime, case.row.simulate)(rng, *case.parameters.values(), size=size)


def drawn(case: Example, rng: Any, size: tuple[int, ...]) -> Any:
    known = {n: case.parameters[n] for n in case.row.natural.known}
    return getattr(runtime, case.row.natural.draw)(rng, *natural_values(case), size=size, **known)


@cases(EXAMPLES)
def test_simulation_follows_scipys_distribution(case: Example) -> None:
    rng = np.random.default_rng(11)
    x = simulated(case, rng, shape_of(case, N))
    assert x.shape == shape_of(case, N)
    assert min(p_values(case, x)) > LEVEL


@cases(EXPONENTIAL)
def test_draws_from_natural_parameters_follow_scipys_distribution(case: Example) -> None:
    rng = np.random.default_rng(12)
    x = drawn(case, rng, shape_of(case, N))
    assert x.shape == shape_of(case, N)
    assert min(p_values(case, x)) > LEVEL


@cases(EXAMPLES)
def test_single_values_and_empty_arrays(case: Example) -> None:
    rng = np.random.default_rng(13)
    makers = [simulated] + [drawn] * (case.row.natural is not None)
    for make in makers:
        one = make(case, rng, shape_of(case))
        assert np.shape(one) == shape_of(case)
        if case.row.event == 0:
            whole = case.row.support(event_of(case.row), **symbols_of(case.row)).is_discrete
            assert isinstance(one, (int, np.integer) if whole else (float, np.floating))
        assert make(case, rng, shape_of(case, 0)).shape == shape_of(case, 0)
        assert make(case, rng, shape_of(case, 4, 2)).shape == shape_of(case, 4, 2)


# Parameters that differ by element: each value through its own distribution function is uniform.


def test_elements_have_their_own_parameters() -> None:
    rng = np.random.default_rng(14)
    a, b = np.exp(rng.normal(0, 2, (2, N)))
    rate = np.exp(rng.normal(0, 5, N))
    size = (N,)
    checks = (
        (runtime.normal(rng, b, -a, size=size), stats.norm(b / a / 2, (0.5 / a) ** 0.5)),
        (runtime.gamma(rng, a - 1, -rate, size=size), stats.gamma(a, scale=1 / rate)),
        (runtime.inverse_gamma(rng, -a - 1, -rate, size=size), stats.invgamma(a, scale=rate)),
        (runtime.exponential(rng, -rate, size=size), stats.expon(scale=1 / rate)),
        (runtime.pareto(rng, -a - 1, size=size, minimum=b), stats.pareto(a, scale=b)),
    )
    for x, reference in checks:
        assert continuous(reference.cdf(x), stats.uniform.cdf) > LEVEL
    large = a + 0.1
    x = runtime.beta(rng, large - 1, b + 0.1 - 1, size=size)
    assert continuous(stats.beta(large, b + 0.1).cdf(x), stats.uniform.cdf) > LEVEL


def test_rows_of_a_dirichlet_have_their_own_parameters() -> None:
    rng = np.random.default_rng(15)
    for spread in (0.5, 3.0):  # both ways of normalising
        a = np.exp(rng.normal(0, spread, (N, 3)))
        x = runtime.dirichlet(rng, a - 1, size=(N, 3))
        uniform = stats.beta(a[:, 0], a[:, 1:].sum(1)).cdf(x[:, 0])
        keep = a[:, 0] > 0.05
        assert continuous(uniform[keep], stats.uniform.cdf) > LEVEL
        np.testing.assert_allclose(x.sum(-1), 1, rtol=1e-14)


def test_categories_have_their_own_probabilities() -> None:
    rng = np.random.default_rng(16)
    p = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    x = simulation.simulate_categorical(rng, p, size=(N, 3))
    assert set(x[:, 0]) == {1}
    assert set(x[:, 1]) == {0, 2}
    assert set(x[:, 2]) == {2}


# Small shapes: half the mass of a Gamma(1e-3) is below the smallest normal number.


def test_small_shapes_keep_the_mass_above_the_floor() -> None:
    rng = np.random.default_rng(17)
    for shape, rate in ((1e-3, 1e-3), (1e-2, 1e-200), (1e-3, 1.0)):
        x = runtime.gamma(rng, np.full(N, shape - 1), -rate, size=(N,))
        assert x.min() >= TINY
        below = stats.gamma(shape, scale=1 / rate).cdf(TINY)
        floored = int((x <= TINY).sum())
        assert stats.binomtest(floored, N, below).pvalue > LEVEL
        rest = x[x > TINY]
        conditional = lambda v, s=shape, r=rate, f=below: (  # noqa: E731
            (stats.gamma(s, scale=1 / r).cdf(v) - f) / (1 - f)
        )
        assert continuous(rest, conditional) > LEVEL


def test_small_shapes_of_a_simplex_share_no_zeros() -> None:
    """With all shapes 1e-3 one entry has nearly everything: each as often as the other."""
    rng = np.random.default_rng(18)
    x = runtime.dirichlet(rng, np.full((N, 3), 1e-3 - 1), size=(N, 3))
    assert np.isfinite(x).all()
    assert x.min() >= TINY
    winners = np.bincount(x.argmax(1), minlength=3)
    assert stats.chisquare(winners).pvalue > LEVEL


def test_beta_is_strictly_inside_and_symmetric() -> None:
    rng = np.random.default_rng(19)
    x = runtime.beta(rng, np.full(N, 1e-3 - 1), np.full(N, 1e-3 - 1), size=(N,))
    assert x.min() >= TINY
    assert x.max() < 1
    assert stats.binomtest(int((x > 0.5).sum()), N).pvalue > LEVEL


EXTREME_SHAPES = (1e-6, 1e-3, 0.05, 0.5, 1.0, 30.0, 1e8)
EXTREME_RATES = (1e-300, 1e-10, 1.0, 1e10, 1e299)


@pytest.mark.parametrize("shape", EXTREME_SHAPES)
@pytest.mark.parametrize("rate", EXTREME_RATES)
def test_extreme_parameters_stay_inside_the_support(shape: float, rate: float) -> None:
    rng = np.random.default_rng(20)
    for size in ((), (50,)):
        values = [
            runtime.gamma(rng, shape - 1, -rate, size=size),
            runtime.inverse_gamma(rng, -shape - 1, -rate, size=size),
            runtime.exponential(rng, -rate, size=size),
            runtime.half_normal(rng, -rate, size=size),
            runtime.weibull(rng, -rate, size=size, shape=shape),
            runtime.pareto(rng, -shape - 1, size=size, minimum=rate),
            runtime.log_normal(rng, rate, -rate, size=size),
            runtime.simulate_half_cauchy(rng, rate, size=size),
            runtime.simulate_half_student_t(rng, shape, rate, size=size),
            runtime.simulate_gamma(rng, shape, rate, size=size),
            runtime.simulate_chi_squared(rng, shape, size=size),
        ]
        inside = [
            runtime.beta(rng, shape - 1, 1.0, size=size),
            runtime.beta(rng, 1.0, shape - 1, size=size),
            runtime.dirichlet(rng, np.full(3, shape - 1), size=(*size, 3)),
        ]
        line = [
            runtime.normal(rng, rate, -rate, size=size),
            runtime.laplace(rng, -rate, size=size, mu=1.0),
            runtime.simulate_student_t(rng, shape, 0.0, rate, size=size),
        ]
        for x in (*values, *inside, *line):
            assert np.isfinite(x).all()
        for x in (*values, *inside):
            assert np.all(x >= TINY)
        for x in inside[:2]:
            assert np.all(x < 1)


@pytest.mark.parametrize("shape", EXTREME_SHAPES)
@pytest.mark.parametrize("rate", EXTREME_RATES)
def test_extreme_lifetimes_and_lengths_stay_inside_the_support(shape: float, rate: float) -> None:
    rng = np.random.default_rng(28)
    for size in ((), (50,)):
        values = [
            runtime.simulate_generalized_gamma(rng, shape, rate, 0.5, size=size),
            runtime.simulate_generalized_gamma(rng, 2.0, rate, shape, size=size),
            runtime.simulate_rayleigh(rng, rate, size=size),
            runtime.simulate_maxwell(rng, rate, size=size),
            runtime.simulate_chi(rng, shape, size=size),
            runtime.simulate_nakagami(rng, shape, rate, size=size),
            runtime.simulate_beta_prime(rng, shape, 1.0, size=size),
            runtime.simulate_beta_prime(rng, 1.0, shape, size=size),
            runtime.simulate_lomax(rng, shape, rate, size=size),
            runtime.simulate_burr_xii(rng, shape, 0.5, rate, size=size),
            runtime.simulate_burr_xii(rng, 0.5, shape, rate, size=size),
            runtime.simulate_gompertz(rng, shape, rate, size=size),
            runtime.simulate_frechet(rng, shape, rate, size=size),
        ]
        inside = [
            runtime.simulate_kumaraswamy(rng, shape, 1.0, size=size),
            runtime.simulate_kumaraswamy(rng, 1.0, shape, size=size),
        ]
        for x in (*values, *inside):
            assert np.isfinite(x).all()
            assert np.all(x >= TINY)
        for x in inside:
            assert np.all(x < 1)


def test_elements_of_lifetimes_have_their_own_parameters() -> None:
    rng = np.random.default_rng(29)
    a, b = np.exp(rng.normal(0, 1, (2, N)))
    size = (N,)
    checks = (
        (runtime.simulate_lomax(rng, a, b, size=size), stats.lomax(a, scale=b)),
        (runtime.simulate_burr_xii(rng, a, b, a, size=size), stats.burr12(a, b, scale=a)),
        (runtime.simulate_gompertz(rng, a, b, size=size), stats.gompertz(b / a, scale=1 / a)),
        (runtime.simulate_frechet(rng, a, b, size=size), stats.invweibull(a, scale=b ** (1 / a))),
        (runtime.simulate_nakagami(rng, a, b, size=size), stats.nakagami(a, scale=b**0.5)),
        (runtime.simulate_beta_prime(rng, a, b, size=size), stats.betaprime(a, b)),
        (runtime.simulate_gumbel(rng, a, b, size=size), stats.gumbel_r(a, b)),
    )
    for x, reference in checks:
        assert continuous(reference.cdf(x), stats.uniform.cdf) > LEVEL


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: runtime.gamma(rng, 1.0, np.array([-1.0, 1.0]), size=(2,)),
        lambda rng: runtime.gamma(rng, -0.99, 1.0, size=()),
        lambda rng: runtime.gamma(rng, -1.5, -1.0, size=()),
        lambda rng: runtime.inverse_gamma(rng, -2.0, 1.0, size=()),
        lambda rng: runtime.exponential(rng, 1.0, size=()),
        lambda rng: runtime.weibull(rng, 1.0, size=(), shape=2.0),
        lambda rng: runtime.pareto(rng, -0.5, size=(), minimum=2.0),
        lambda rng: runtime.dirichlet(rng, np.array([1.0, -1.5]), size=(2,)),
        lambda rng: runtime.beta(rng, -1.5, 2.0, size=()),
        lambda rng: runtime.mvnormal(rng, np.zeros(2), np.eye(2), size=(2,)),
        lambda rng: matrices.mvnormal_information(rng, np.zeros((5, 2)), -np.ones((5, 2, 2))),
        lambda rng: runtime.wishart(rng, 1.0, np.eye(2), size=(2, 2)),
    ],
)
def test_improper_parameters_raise_and_give_no_value(draw: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError):
        draw(np.random.default_rng(21))


# Multivariate normals: every way of solving gives the same draw from the same numbers.


@pytest.mark.parametrize("batch", [(), (1,), (7,), (300,), (20, 15)])
@pytest.mark.parametrize("size", [1, 2, 6])
def test_ways_of_solving_agree(batch: tuple[int, ...], size: int) -> None:
    rng = np.random.default_rng(22)
    root = rng.standard_normal((*batch, size, size + 2))
    Q, h = root @ root.swapaxes(-1, -2), rng.standard_normal((*batch, size))
    found = matrices.mvnormal_information(np.random.default_rng(23), h, Q)
    z = np.random.default_rng(23).standard_normal(h.shape)
    for index in np.ndindex(batch):
        L = np.linalg.cholesky(Q[index])
        expected = np.linalg.solve(L.T, np.linalg.solve(L, h[index]) + z[index])
        np.testing.assert_allclose(found[index], expected, rtol=1e-8, atol=1e-8)


def test_one_precision_serves_many_vectors() -> None:
    Q, h = np.diag([1e12, 4e12]), np.arange(10.0).reshape(5, 2) * 1e12
    found = matrices.mvnormal_information(np.random.default_rng(24), h, Q)
    np.testing.assert_allclose(found, h / np.diag(Q), atol=1e-4)


def test_a_matrix_of_natural_parameters_need_not_be_symmetric() -> None:
    eta_2 = np.array([[-1.0, 0.6], [0.0, -2.0]])
    even = (eta_2 + eta_2.T) / 2
    for draw, eta_1 in ((runtime.mvnormal, np.ones(2)), (runtime.wishart, 1.5)):
        size = (2,) if draw is runtime.mvnormal else (2, 2)
        one, other = (draw(np.random.default_rng(25), eta_1, e, size=size) for e in (eta_2, even))
        np.testing.assert_array_equal(one, other)


def test_matrices_are_batched_and_symmetric() -> None:
    rng = np.random.default_rng(26)
    scale = np.array([np.eye(3), 100 * np.eye(3)])
    for simulate in (runtime.simulate_wishart, runtime.simulate_inverse_wishart):
        x = simulate(rng, np.array([5.0, 50.0]), scale, size=(2, 3, 3))
        np.testing.assert_array_equal(x, x.swapaxes(-1, -2))
        assert np.linalg.eigvalsh(x).min() > 0
    X = runtime.simulate_wishart(rng, np.full(N, 6.0), np.eye(2), size=(N, 2, 2))
    assert continuous(X[:, 0, 0], stats.chi2(6).cdf) > LEVEL


# Planted bugs: the comparisons above must see them.


def case_of(family: str) -> Example:
    return next(e for e in EXAMPLES if e.family == family)


def spoilt() -> Iterator[tuple[Example, Callable[..., Any]]]:
    size = (N,)
    gamma, normal, beta = case_of("Gamma"), case_of("Normal"), case_of("Beta")
    yield gamma, lambda r, a, b: runtime.gamma(r, a, 1 / b, size=size)  # rate for scale
    yield gamma, lambda r, a, b: runtime.gamma(r, a + 1, b, size=size)  # shape off by one
    yield normal, lambda r, a, b: runtime.normal(r, a, 2 * b, size=size)  # a forgotten half
    yield beta, lambda r, a, b: runtime.beta(r, b, a, size=size)  # arguments swapped
    mv, w, iw = case_of("MvNormal"), case_of("Wishart"), case_of("InverseWishart")
    yield mv, lambda r, a, b: runtime.mvnormal(r, a, np.linalg.inv(b), size=(N, SIZE))
    yield w, lambda r, a, b: runtime.wishart(r, a + 0.5, b, size=(N, SIZE, SIZE))
    yield w, lambda r, a, b: runtime.inverse_wishart(r, -a - 4, b, size=(N, SIZE, SIZE))
    yield iw, lambda r, a, b: runtime.inverse_wishart(r, a, b / 1.2, size=(N, SIZE, SIZE))
    for family in ("Poisson", "Geometric"):
        row = FAMILIES[family]
        yield (
            case_of(family),
            lambda r, a, d=row.natural.draw: getattr(runtime, d)(r, a, size=size) + 1,
        )
    swapped, angle = case_of("GeneralizedInverseGaussian"), case_of("VonMises")
    gig = runtime.generalized_inverse_gaussian
    yield swapped, lambda r, a, b, c: gig(r, a, c, b, size=size)  # the rates swapped
    yield angle, lambda r, a, b: runtime.von_mises(r, b, a, size=size)
    half, sphere = case_of("ModifiedHalfNormal"), case_of("VonMisesFisher")
    yield half, lambda r, a, b, c: runtime.modified_half_normal(r, a, b, c / 2, size=size)
    yield sphere, lambda r, a: runtime.von_mises_fisher(r, a / 2, size=(N, SIZE))
    yield sphere, lambda r, a: runtime.von_mises_fisher(r, a[::-1], size=(N, SIZE))


@pytest.mark.parametrize("bug", range(15))
def test_planted_bugs_are_caught(bug: int) -> None:
    case, draw = list(spoilt())[bug]
    x = draw(np.random.default_rng(27), *natural_values(case))
    assert min(p_values(case, x)) < LEVEL


@pytest.mark.parametrize("eta", [-0.3, -1e-9, -1e-30, -1e-300])
def test_counts_of_failures_have_their_mean_however_large(eta):
    """The sum of draws is the rate of a Gamma elsewhere: integers that overflow would turn it."""
    rng, size = np.random.default_rng(3), 4000
    for n, drawn in ((1, runtime.geometric(rng, eta, (size,))),
                     (2.5, runtime.negative_binomial(rng, eta, (size,), 2.5))):  # fmt: skip
        scaled = drawn * -np.expm1(eta)
        error = np.sqrt(n / size)  # the variance is n q / p^2, at most n / p^2

        assert drawn.sum() >= 0
        assert abs(scaled.mean() - n * np.exp(eta)) < stats.norm.isf(1e-5) * error


def test_minus_the_log_of_a_share_has_its_digits_where_the_share_has_none() -> None:
    rng, size = np.random.default_rng(31), (N,)
    huge = runtime.beta_exponential(rng, -1e-300, 0.0, size=size)
    tiny = runtime.beta_exponential(rng, -1.0, 0.05 - 1, size=size)

    assert continuous(1e-300 * huge, stats.expon.cdf) > LEVEL
    assert continuous((-np.expm1(-tiny)) ** 0.05, stats.uniform.cdf) > LEVEL
