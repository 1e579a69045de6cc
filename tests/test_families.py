"""Every row of the table against SciPy's distributions, and against its own other facts.

``EXAMPLES`` has parameter values per row; a row without an example fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy import integrate, stats

from gibbsppl.expressions import (
    FUNCTIONS,
    Array,
    Dim,
    Expit,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Phi,
    Softplus,
    primed,
)
from gibbsppl.families import FAMILIES, Family
from gibbsppl.runtime import functions, simulation

K = Dim("k")
SIZE = 3  # of the event dim
SIZES = {K: SIZE, primed(K): SIZE}
X = "x"

MATRIX = np.array([[2.0, 0.4, -0.3], [0.4, 1.5, 0.2], [-0.3, 0.2, 1.0]])


def evaluate(
    expr: Any, values: Mapping[str, Any], at: Mapping[Any, int] | None = None
) -> Any:
    """The value of an expression, the slow and obvious way; free leaves may be whole arrays."""
    at = at or {}
    if expr in at:
        return at[expr]
    match expr:
        case Leaf():
            position = tuple(int(evaluate(i, values, at)) for i in expr.indices)
            return values[expr.array.name][position] if position else values[expr.array.name]
        case Over():
            (dim,) = expr.bound
            return sum(evaluate(expr.body, values, {**at, dim: i}) for i in range(SIZES[dim]))
        case LogDet():
            return np.linalg.slogdet(bound_matrix(expr, values, at))[1]
        case InverseEntry():
            row, column = (evaluate(i, values, at) for i in expr.args[3:])
            return np.linalg.inv(bound_matrix(expr, values, at))[row, column]
        case sp.Add():
            return sum(evaluate(a, values, at) for a in expr.args)
        case sp.Mul():
            return np.prod(np.broadcast_arrays(*(evaluate(a, values, at) for a in expr.args)), 0)
        case sp.Pow():
            base, power = (np.asarray(evaluate(a, values, at), float) for a in expr.args)
            return base**power
        case sp.Function():
            name = FUNCTIONS[expr.func]
            return getattr(functions, name)(*(evaluate(a, values, at) for a in expr.args))
    return float(expr)


def bound_matrix(expr: Any, values: Mapping[str, Any], at: Mapping[Any, int]) -> Any:
    k, l = expr.bound
    return np.array(
        [
            [evaluate(expr.body, values, {**at, k: i, l: j}) for j in range(SIZES[l])]
            for i in range(SIZES[k])
        ]
    )


@dataclass(frozen=True, eq=False)
class Example:
    """Parameter values of a row, and SciPy's distribution with them."""

    family: str
    parameters: Mapping[str, Any]
    reference: Any

    @property
    def row(self) -> Family:
        return FAMILIES[self.family]

    def __str__(self) -> str:
        return f"{self.family}-{'-'.join(str(np.ravel(p)[0]) for p in self.parameters.values())}"


def example(family: str, reference: Any, **parameters: Any) -> Example:
    values = {name: np.asarray(p, float) for name, p in parameters.items()}
    return Example(family, values, reference)


EXAMPLES = (
    example("Normal", stats.norm(1.3, 0.5), mu=1.3, tau=4.0),
    example("Normal", stats.norm(-2.0, 10.0), mu=-2.0, tau=0.01),
    example("StudentT", stats.t(4.5, 1.3, 0.5), nu=4.5, mu=1.3, tau=4.0),
    example("StudentT", stats.t(0.7, -1.0, 2.0), nu=0.7, mu=-1.0, tau=0.25),
    example("Laplace", stats.laplace(1.3, 0.5), mu=1.3, rate=2.0),
    example("Logistic", stats.logistic(1.3, 0.5), mu=1.3, scale=0.5),
    example("Gamma", stats.gamma(2.5, scale=1 / 3.0), shape=2.5, rate=3.0),
    example("Gamma", stats.gamma(0.05, scale=1 / 3.0), shape=0.05, rate=3.0),
    example("Gamma", stats.gamma(0.4, scale=5.0), shape=0.4, rate=0.2),
    example("InverseGamma", stats.invgamma(2.5, scale=3.0), shape=2.5, scale=3.0),
    example("InverseGamma", stats.invgamma(0.05, scale=3.0), shape=0.05, scale=3.0),
    example("Exponential", stats.expon(scale=1 / 3.0), rate=3.0),
    example("ChiSquared", stats.chi2(3.5), nu=3.5),
    example("LogNormal", stats.lognorm(0.5, scale=np.exp(0.3)), mu=0.3, tau=4.0),
    example("Weibull", stats.weibull_min(1.7, scale=3.0 ** (-1 / 1.7)), shape=1.7, rate=3.0),
    example("Pareto", stats.pareto(2.7, scale=1.5), shape=2.7, minimum=1.5),
    example("HalfNormal", stats.halfnorm(scale=0.5), tau=4.0),
    example("HalfCauchy", stats.halfcauchy(scale=2.5), scale=2.5),
    example("HalfStudentT", stats.foldnorm(0.0), nu=3.5, scale=2.0),
    example("HalfStudentT", stats.foldnorm(0.0), nu=1.0, scale=2.0),
    example("Beta", stats.beta(2.5, 1.2), a=2.5, b=1.2),
    example("Beta", stats.beta(0.3, 0.7), a=0.3, b=0.7),
    example("Beta", stats.beta(0.02, 1.7), a=0.02, b=1.7),
    example("Uniform", stats.uniform(-1.0, 3.5), lower=-1.0, upper=2.5),
    example("Bernoulli", stats.bernoulli(0.3), p=0.3),
    example("Binomial", stats.binom(7, 0.3), n=7, p=0.3),
    example("Poisson", stats.poisson(3.4), rate=3.4),
    example("Geometric", stats.geom(0.3, loc=-1), p=0.3),
    example("NegativeBinomial", stats.nbinom(2.5, 0.4), n=2.5, p=0.4),
    example(
        "Categorical", stats.rv_discrete(values=(range(3), [0.2, 0.5, 0.3])), p=[0.2, 0.5, 0.3]
    ),
    example("DiscreteUniform", stats.randint(-2, 5), lower=-2, upper=4),
    example("Dirichlet", stats.dirichlet([0.8, 2.0, 3.5]), a=[0.8, 2.0, 3.5]),
    example("Dirichlet", stats.dirichlet([0.2, 0.1, 0.3]), a=[0.2, 0.1, 0.3]),
    example("Multinomial", stats.multinomial(6, [0.2, 0.5, 0.3]), n=6, p=[0.2, 0.5, 0.3]),
    example(
        "MvNormal",
        stats.multivariate_normal([1.0, -2.0, 0.5], np.linalg.inv(MATRIX)),
        mu=[1.0, -2.0, 0.5],
        tau=MATRIX,
    ),
    example("Wishart", stats.wishart(4.5, MATRIX), nu=4.5, V=MATRIX),
    example("InverseWishart", stats.invwishart(12.5, MATRIX), nu=12.5, S=MATRIX),
)


class HalfStudent:
    """|T| * scale of a Student-t: SciPy has no such distribution."""

    def __init__(self, nu: float, scale: float) -> None:
        self.nu, self.t = nu, stats.t(nu, 0, scale)

    def logpdf(self, x: Any) -> Any:
        return self.t.logpdf(x) + np.log(2)

    def cdf(self, x: Any) -> Any:
        return 1 - 2 * self.t.sf(x)

    def logcdf(self, x: Any) -> Any:
        return np.log(2 * integrate.quad_vec(lambda u: x * self.t.pdf(u * x), 0, 1)[0])

    def logsf(self, x: Any) -> Any:
        low = self.t.sf(x) > 0.4  # where SciPy's own survival function has lost digits
        return np.where(low, np.log1p(-np.exp(self.logcdf(x))), np.log(2) + self.t.logsf(x))

    def ppf(self, q: Any) -> Any:
        return self.t.ppf((1 + np.asarray(q)) / 2)

    def mean(self) -> float:
        return float(2 * self.t.expect(lambda x: x, lb=0)) if self.nu > 1 else np.inf

    def var(self) -> float:
        return float(self.t.var() - self.mean() ** 2) if self.nu > 2 else np.inf


def reference_of(case: Example) -> Any:
    if case.family == "HalfStudentT":
        return HalfStudent(**{n: float(v) for n, v in case.parameters.items()})
    return case.reference


SCALAR = tuple(e for e in EXAMPLES if e.row.event == 0)
CONTINUOUS = tuple(e for e in SCALAR if hasattr(reference_of(e), "logpdf"))
DISCRETE = tuple(e for e in SCALAR if e not in CONTINUOUS)
EXPONENTIAL = tuple(e for e in EXAMPLES if e.row.natural is not None)


def cases(examples: Any) -> Any:
    return pytest.mark.parametrize("case", examples, ids=str)


@cache
def target_of(row: Family) -> Leaf:
    return Array(X)[indices_of(row.event)]


def indices_of(event: int) -> tuple[Dim, ...]:
    return (K, primed(K))[:event]


def event_of(row: Family) -> tuple[Dim, ...]:
    """The event dims as statements pass them: of a label, that of its probabilities."""
    return indices_of(max(row.event, *(p.event == 1 for p in row.parameters.values())))


def symbols_of(row: Family) -> dict[str, Leaf]:
    return {n: Array(n)[indices_of(p.event)] for n, p in row.parameters.items()}


def log_density(case: Example, x: Any) -> Any:
    """The row's log density at whole arrays of scalars, or at one event."""
    row = case.row
    if row.name == "Categorical":
        return np.array([density_at(row, case.parameters, v) for v in np.ravel(x)])
    return density_at(row, case.parameters, x) + (0.0 * x if row.event == 0 else 0.0)


def density_at(row: Family, parameters: Mapping[str, Any], x: Any) -> Any:
    expr = row.log_density(target_of(row), event_of(row), **symbols_of(row))
    return evaluate(expr, {**parameters, X: x})


def points_of(case: Example, n: int = 6) -> Any:
    """Points inside the support: quantiles of scalars, SciPy's own draws of events."""
    reference = reference_of(case)
    if case.row.event == 0:
        return np.unique(reference.ppf(np.linspace(0.03, 0.97, n)))
    return reference.rvs(n, random_state=np.random.default_rng(5))


def test_every_row_has_an_example_and_simulates() -> None:
    assert {e.family for e in EXAMPLES} == set(FAMILIES)
    for row in FAMILIES.values():
        assert hasattr(simulation, row.simulate)


@cases(SCALAR)
def test_log_density_of_scalars_is_scipys(case: Example) -> None:
    x, reference = points_of(case), reference_of(case)
    expected = getattr(reference, "logpdf", None) or reference.logpmf
    np.testing.assert_allclose(log_density(case, x), expected(x), rtol=1e-10, atol=1e-10)


@cases([e for e in EXAMPLES if e.row.event > 0])
def test_log_density_of_events_is_scipys(case: Example) -> None:
    reference = reference_of(case)
    density = getattr(reference, "logpdf", None) or reference.logpmf
    for x in points_of(case):
        scipys = density(x.T if x.ndim == 1 else x)
        np.testing.assert_allclose(log_density(case, x), scipys, rtol=1e-10, atol=1e-10)


@cases(CONTINUOUS)
def test_density_integrates_to_one_where_scipys_does(case: Example) -> None:
    reference = reference_of(case)
    lower, upper = reference.ppf(0.2), reference.ppf(0.9)

    def density(x: Any) -> float:
        return float(np.exp(log_density(case, x)))

    if lower > 0:  # over log(x): small shapes have their mass near 0
        found = integrate.quad(lambda u: density(np.exp(u)) * np.exp(u), *np.log([lower, upper]))
    else:
        found = integrate.quad(density, lower, upper)
    assert found[0] == pytest.approx(0.7, abs=1e-8)


@cases(DISCRETE)
def test_masses_sum_to_one(case: Example) -> None:
    reference = reference_of(case)
    x = np.arange(int(reference.support()[0]), int(reference.ppf(1 - 1e-13)) + 1)
    assert np.exp(log_density(case, x)).sum() == pytest.approx(1, abs=1e-11)


def test_multinomial_masses_sum_to_one() -> None:
    (case,) = (e for e in EXAMPLES if e.family == "Multinomial")
    counts = [np.array(c) for c in product(range(7), repeat=3) if sum(c) == 6]
    assert sum(np.exp(log_density(case, c)) for c in counts) == pytest.approx(1, abs=1e-12)


@cases(SCALAR)
def test_points_of_scipy_are_in_the_support(case: Example) -> None:
    row = case.row
    support = row.support(event_of(row), **symbols_of(row))
    lower, upper = (bound(b, case.parameters) for b in (support.lower, support.upper))
    x = points_of(case)
    assert np.all((lower <= x) & (x <= upper))
    scipys = reference_of(case).support() if case.family != "HalfStudentT" else (0, np.inf)
    assert (lower, upper) == pytest.approx(scipys)


def bound(b: Any, parameters: Mapping[str, Any]) -> float:
    return float(evaluate(b, parameters)) if b.is_finite is not False else float(b)


# Spellings: the same density, however the parameters are written.

SPELLED: Mapping[tuple[str, ...], Mapping[str, Any]] = {
    ("Normal", "sigma"): {"mu": 1.3, "sigma": 0.5},
    ("Normal", "var"): {"mu": 1.3, "var": 0.25},
    ("StudentT", "sigma"): {"nu": 4.5, "mu": 1.3, "sigma": 0.5},
    ("Laplace", "scale"): {"mu": 1.3, "scale": 0.5},
    ("Gamma", "scale"): {"shape": 2.5, "scale": 1 / 3},
    ("Gamma", "mu", "shape"): {"mu": 2.5 / 3, "shape": 2.5},
    ("Gamma", "mu", "sigma"): {"mu": 2.5 / 3, "sigma": 2.5**0.5 / 3},
    ("Exponential", "scale"): {"scale": 1 / 3},
    ("LogNormal", "sigma"): {"mu": 0.3, "sigma": 0.5},
    ("LogNormal", "var"): {"mu": 0.3, "var": 0.25},
    ("Weibull", "scale"): {"shape": 1.7, "scale": 3.0 ** (-1 / 1.7)},
    ("HalfNormal", "sigma"): {"sigma": 0.5},
    ("Beta", "mu", "kappa"): {"mu": 2.5 / 3.7, "kappa": 3.7},
    ("Bernoulli", "logit_p"): {"logit_p": np.log(0.3 / 0.7)},
    ("Binomial", "logit_p"): {"n": 7, "logit_p": np.log(0.3 / 0.7)},
    ("NegativeBinomial", "mu", "alpha"): {"mu": 2.5 * 0.6 / 0.4, "alpha": 2.5},
    ("MvNormal", "cov"): {"mu": np.array([1.0, -2.0, 0.5]), "cov": np.linalg.inv(MATRIX)},
    ("Wishart", "R"): {"nu": 4.5, "R": np.linalg.inv(MATRIX)},
}


def other_spellings() -> list[tuple[str, tuple[str, ...]]]:
    return [
        (row.name, names)
        for row in FAMILIES.values()
        for names in row.spellings
        if names != tuple(row.parameters)
    ]


def test_every_spelling_has_values_and_known_parameters() -> None:
    listed = {(name, frozenset(v)) for (name, *_), v in SPELLED.items()}
    assert listed == {(name, frozenset(names)) for name, names in other_spellings()}
    for row in FAMILIES.values():
        assert not row.spellings or tuple(row.parameters) in row.spellings
        for names in row.spellings:
            assert set(names) <= set(row.parameters) | set(row.spelled)


def canonical_of(row: Family, written: Mapping[str, Any]) -> Mapping[str, Any]:
    """The canonical parameters as expressions of leaves of the written ones."""
    names = next(n for n in row.spellings if set(n) == set(written))
    known = {**row.parameters, **row.spelled}
    leaves = {n: Array(n)[indices_of(known[n].event)] for n in names}
    event = {"event": event_of(row)} if row.event else {}
    return row.spellings[names](**leaves, **event)


@pytest.mark.parametrize("key", SPELLED, ids="-".join)
def test_spellings_agree(key: tuple[str, ...]) -> None:
    row, written = FAMILIES[key[0]], SPELLED[key]
    case = next(e for e in EXAMPLES if e.family == row.name)
    canonical = canonical_of(row, written)
    assert set(canonical) == set(row.parameters)
    expr = row.log_density(target_of(row), event_of(row), **canonical)
    points = points_of(case) if row.event else [points_of(case)]
    for x in points:
        found = evaluate(expr, {**written, X: x})
        np.testing.assert_allclose(found, log_density(case, x), rtol=1e-9, atol=1e-9)


def test_inverses_are_never_nested_or_inverted_back() -> None:
    """The determinant of a covariance is a statistic of it, not of its inverse."""
    for name, written in (("MvNormal", "cov"), ("Wishart", "R")):
        row = FAMILIES[name]
        canonical = canonical_of(row, SPELLED[name, written])
        expr = row.log_density(target_of(row), event_of(row), **canonical)
        assert all(isinstance(d.body, Leaf) for d in expr.atoms(LogDet, InverseEntry))


@pytest.mark.parametrize("logit", [-800.0, -40.0, 40.0, 800.0])
def test_log_odds_far_out_stay_finite(logit: float) -> None:
    for name, x, n in (("Bernoulli", 1.0, 1.0), ("Bernoulli", 0.0, 1.0), ("Binomial", 2.0, 5.0)):
        row = FAMILIES[name]
        canonical = {**symbols_of(row), "p": Expit(Array("e")[()])}
        expr = row.log_density(target_of(row), (), **canonical)
        found = evaluate(expr, {X: x, "n": n, "e": logit})
        choose = np.log(10) if name == "Binomial" else 0.0
        assert found == pytest.approx(choose + x * logit - n * max(logit, 0), rel=1e-12)
    for name in ("Geometric", "NegativeBinomial", "Bernoulli"):
        row = FAMILIES[name]
        for atom in (Expit, Phi):
            expr = row.log_density(
                target_of(row), (), **{**symbols_of(row), "p": atom(sp.Integer(-30))}
            )
            assert np.isfinite(evaluate(expr, {X: 1.0, "n": 2.0}))


def test_mean_and_dispersion_lose_no_digits_near_probability_one() -> None:
    row = FAMILIES["NegativeBinomial"]
    expr = row.log_density(target_of(row), (), **canonical_of(row, {"mu": 0, "alpha": 0}))
    found = evaluate(expr, {X: 1.0, "mu": 1e-20, "alpha": 2.0})
    assert found == pytest.approx(np.log(1e-20), rel=1e-12)  # n (1 - p) p**n


# Exponential families: the log density is affine in the statistics.


def pairs(row: Family) -> tuple[Any, Any, Any, Any]:
    """Statistics, log base, natural parameters as leaves, log partition of a row."""
    natural, x, event = row.natural, target_of(row), event_of(row)
    known = {n: symbols_of(row)[n] for n in natural.known}
    statistics = natural.statistics(x, event, **known)
    base = natural.log_base(x, event, **known)
    return statistics, base, known, natural


def statistics_at(case: Example, x: Any) -> list[Any]:
    """All entries of all statistics at one point."""
    row = case.row
    statistics, _, _, _ = pairs(row)
    values = {**case.parameters, X: x}
    entries: list[Any] = []
    for s in statistics:
        dims = sorted((d for d in (K, primed(K)) if d in s.free_symbols), key=str)
        positions = product(*(range(SIZES[d]) for d in dims))
        entries += (evaluate(s, values, dict(zip(dims, p, strict=True))) for p in positions)
    return entries


def base_at(case: Example, x: Any) -> Any:
    return evaluate(pairs(case.row)[1], {**case.parameters, X: x})


def many_points(case: Example, n: int) -> list[Any]:
    if case.row.event == 0:
        return list(points_of(case, n))
    return list(reference_of(case).rvs(n, random_state=np.random.default_rng(6)))


@cache
def fitted(case: Example) -> tuple[Any, float, float]:
    """Natural parameters and minus log partition by a linear solve, with the largest residual."""
    points = many_points(case, 20)
    design = np.array([[*statistics_at(case, x), 1.0] for x in points], float)
    heights = np.array([float(np.ravel(log_density(case, x))[0]) for x in points])
    heights -= np.array([base_at(case, x) for x in points])
    solution, *_ = np.linalg.lstsq(design, heights, rcond=None)
    residual = np.abs(design @ solution - heights).max() / np.abs(heights).max()
    return solution[:-1], -solution[-1], float(residual)


@cases(EXPONENTIAL)
def test_log_density_is_affine_in_the_statistics(case: Example) -> None:
    assert fitted(case)[2] < 1e-8


def natural_values(case: Example) -> list[Any]:
    """The natural parameters of an example, in the shapes that draws take."""
    eta, _, _ = fitted(case)
    shapes = [entry_shape(s) for s in pairs(case.row)[0]]
    parts = np.split(eta, np.cumsum([int(np.prod(s)) for s in shapes])[:-1]) if shapes else []
    return [p.reshape(s)[()] for p, s in zip(parts, shapes, strict=True)]


def entry_shape(statistic: Any) -> tuple[int, ...]:
    return tuple(SIZES[d] for d in (K, primed(K)) if d in statistic.free_symbols)


def partition_at(case: Example, eta: list[Any]) -> float:
    natural, event = case.row.natural, event_of(case.row)
    names = [f"eta_{j + 1}" for j in range(len(eta))]
    shapes = [entry_shape(s) for s in pairs(case.row)[0]]
    leaves = [Array(n)[indices_of(len(s))] for n, s in zip(names, shapes, strict=True)]
    keyword = {"event": event} if case.row.event else {}
    known = {n: symbols_of(case.row)[n] for n in natural.known}
    expr = natural.log_partition(*leaves, **known, **keyword)
    return float(evaluate(expr, {**case.parameters, **dict(zip(names, eta, strict=True))}))


PARTITIONED = tuple(e for e in EXPONENTIAL if e.row.natural.log_partition is not None)


@cases([e for e in PARTITIONED if e.family != "Multinomial"])
def test_log_partition_normalises(case: Example) -> None:
    assert partition_at(case, natural_values(case)) == pytest.approx(
        fitted(case)[1], rel=1e-7, abs=1e-7
    )


def test_log_partition_of_the_multinomial_takes_any_scale() -> None:
    """The counts sum to n, so that log weights are free up to a constant."""
    (case,) = (e for e in EXAMPLES if e.family == "Multinomial")
    weights = np.log(case.parameters["p"])
    assert partition_at(case, [weights]) == pytest.approx(0, abs=1e-12)
    assert partition_at(case, [weights + 2]) == pytest.approx(12)


@cases([e for e in PARTITIONED if e.row.event == 0 and pairs(e.row)[0]])
def test_gradient_of_the_log_partition_is_the_mean_of_the_statistics(case: Example) -> None:
    eta = natural_values(case)
    for j, expected in enumerate(mean_statistics(case)):
        assert gradient(case, eta, j) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def gradient(case: Example, eta: list[Any], j: int) -> float:
    """The derivative by SymPy, Softplus spelled out."""
    natural = case.row.natural
    leaves = [sp.Symbol(f"eta_{i}") for i in range(len(eta))]
    known = {n: sp.Float(float(case.parameters[n])) for n in natural.known}
    expr = natural.log_partition(*leaves, **known).replace(
        Softplus, lambda u: sp.log(1 + sp.exp(u))
    )
    return float(expr.diff(leaves[j]).subs(dict(zip(leaves, eta, strict=True))))


def mean_statistics(case: Example) -> list[float]:
    reference = reference_of(case)
    if case in CONTINUOUS:

        def average(j: int) -> float:  # over quantiles: E t = integral of t(ppf(u))
            def at_quantile(u: float, quantile: Any) -> float:
                return float(statistics_at(case, quantile(u))[j])

            halves = (reference.ppf, reference.isf)
            options = {"limit": 400, "epsabs": 1e-10}
            return sum(integrate.quad(at_quantile, 0, 0.5, args=(q,), **options)[0] for q in halves)

        return [average(j) for j in range(len(statistics_at(case, reference.ppf(0.5))))]
    x = np.arange(int(reference.support()[0]), int(reference.ppf(1 - 1e-14)) + 1)
    return [float((t * reference.pmf(x)).sum()) for t in statistics_at(case, x.astype(float))]


@cases([e for e in EXPONENTIAL if e.row.event < 2 and e.family != "MvNormal"])
def test_natural_parameters_are_in_the_domain(case: Example) -> None:
    natural, eta = case.row.natural, natural_values(case)
    known = {n: case.parameters[n] for n in natural.known}
    names = [sp.Symbol(f"eta_{j}") for j in range(len(eta))]
    domain = natural.domain(*names, **{n: sp.Float(float(v)) for n, v in known.items()})
    for condition in domain:
        f = sp.lambdify(names, condition, "numpy")
        assert np.all(np.asarray(f(*eta), float) > 0)


# Moments and distribution functions.


@cases([e for e in SCALAR if e.row.mean is not None])
def test_mean_and_variance_are_scipys(case: Example) -> None:
    row, reference = case.row, reference_of(case)
    with np.errstate(all="ignore"):
        moments = ((row.mean, reference.mean()), (row.variance, reference.var()))
        for formula, expected in moments:
            found = evaluate(formula(event_of(row), **symbols_of(row)), case.parameters)
            assert equal_or_missing(float(found), float(expected))


def equal_or_missing(found: float, expected: float) -> bool:
    """Equal; SciPy says infinite and undefined in its own ways."""
    return found == pytest.approx(expected, rel=1e-7) or not (
        np.isfinite(found) or np.isfinite(expected)
    )


@cases([e for e in SCALAR if e.row.log_cdf is not None])
def test_log_cdf_and_log_sf_are_scipys(case: Example) -> None:
    row, reference = case.row, reference_of(case)
    x = reference.ppf(np.array([1e-6, 1e-3, 0.3, 0.5, 0.8, 0.999]))
    for formula, expected in ((row.log_cdf, reference.logcdf(x)), (row.log_sf, reference.logsf(x))):
        found = evaluate(formula(target_of(row), **symbols_of(row)), {**case.parameters, X: x})
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-14)


def test_every_continuous_row_can_be_truncated() -> None:
    for case in CONTINUOUS:
        assert case.row.log_cdf is not None
        assert case.row.log_sf is not None


# Planted bugs: the comparisons above must see them.


def swapped(case: Example, **changes: Any) -> Example:
    """The example with a wrong row: SciPy's distribution stays."""
    wrong = replace(case.row, **changes)

    @dataclass(frozen=True, eq=False)
    class Wrong(Example):
        @property
        def row(self) -> Family:
            return wrong

    return Wrong(case.family, case.parameters, case.reference)


def test_planted_bugs_are_caught() -> None:
    gamma = next(e for e in EXAMPLES if e.family == "Gamma")
    density, natural = gamma.row.log_density, gamma.row.natural
    scaled = swapped(
        gamma, log_density=lambda x, e, shape, rate: density(x, e, shape=shape, rate=1 / rate)
    )
    unscaled = swapped(
        gamma, log_density=lambda x, e, **p: density(x, e, **p) - p["shape"] * sp.log(p["rate"])
    )
    for wrong in (scaled, unscaled):
        with pytest.raises(AssertionError):
            test_log_density_of_scalars_is_scipys(wrong)
    no_log = swapped(gamma, natural=replace(natural, statistics=lambda x, e: (x**2, x)))
    with pytest.raises(AssertionError):
        test_log_density_is_affine_in_the_statistics(no_log)
    shifted = replace(natural, log_partition=lambda a, b: natural.log_partition(a + 1, b))
    with pytest.raises(AssertionError):
        test_log_partition_normalises(swapped(gamma, natural=shifted))
    with pytest.raises(AssertionError):
        test_log_cdf_and_log_sf_are_scipys(swapped(gamma, log_cdf=gamma.row.log_sf))
    with pytest.raises(AssertionError):
        test_mean_and_variance_are_scipys(swapped(gamma, variance=gamma.row.mean))
