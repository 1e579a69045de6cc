"""The table of the distributions of BUGS against SciPy's, and against formulas of the manuals.

``EXAMPLES`` has parameter values and an independent log density for each row; a row without an
example fails. Where a row has an auxiliary variable, it is summed or integrated out.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy import integrate, special, stats

import gibbsppl as gp
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs import distributions, fields
from gibbsppl.bugs.densities import canonical
from gibbsppl.bugs.distributions import DISTRIBUTIONS, distribution, meaning_of
from gibbsppl.bugs.functions import FUNCTIONS
from gibbsppl.bugs.intervals import INTERVAL, ROUNDED
from gibbsppl.bugs.rows import (
    Distribution,
    Field,
    Interval,
    LogLikelihood,
    Meaning,
    Unsupported,
    shares,
)
from gibbsppl.families import FAMILIES
from gibbsppl.language.distributions import spellings, written
from gibbsppl.language.tensors import Tensor
from gibbsppl.model.evaluation import evaluate

K, NODE = Dim("k"), Dim("node")
EVENT = (K, primed(K))

OMEGA = np.array([[2.0, 0.4], [0.4, 1.5]])
VALUE = np.array([[1.2, 0.3], [0.3, 0.8]])


# ---- the log density of a row, by its meaning ------------------------------------------------


@dataclass(frozen=True, eq=False)
class Example:
    """A row at parameter values; ``log_density`` is the independent one, at the ``values``."""

    name: str
    parameters: tuple
    log_density: Callable[[Any], Any]
    values: tuple

    @property
    def row(self) -> Distribution:
        return DISTRIBUTIONS[self.name]

    def __str__(self) -> str:
        return f"{self.name}-{'-'.join(str(np.ravel(p)[0]) for p in self.parameters)}"


def length_of(case: Example) -> int:
    """The size of the event dim: that of vectors, or the number of labels."""
    if case.row.labels is not None:
        sizes = [len(p) if np.ndim(p) else p for p in case.parameters]
        return case.row.labels.count(*sizes)
    return max((len(p) for p in case.parameters if np.ndim(p)), default=1)


def leaves_of_parameters(case: Example) -> list:
    names = case.row.parameters.items()
    return [Array(f"parameter_{n}")[EVENT[:axes]] for n, axes in names]


def tables_of(case: Example) -> Mapping[str, Any]:
    return case.row.labels.tables(length_of(case)) if case.row.labels else {}


def auxiliary_leaves(row: Distribution, of_node: bool = True) -> dict:
    at = (NODE,) if of_node else ()
    return {n: Array(f"auxiliary_{n}")[*at, *EVENT[: a.axes]] for n, a in row.auxiliaries.items()}


def parameters_of(case: Example) -> list:
    """The parameters as leaves, weights divided by their sum."""
    given = dict(zip(case.row.parameters, leaves_of_parameters(case), strict=True))
    if case.row.weights:
        given[case.row.weights] = shares(given[case.row.weights], K)
    return list(given.values())


def expression(found: Meaning, x: Any) -> Any:
    family, arguments = canonical(found, EVENT)
    return family.log_density(x, EVENT, **arguments)


def arrays_of(case: Example) -> dict:
    given = zip(case.row.parameters, case.parameters, strict=True)
    arrays = {f"parameter_{n}": np.asarray(v, float) for n, v in given}
    return arrays | {f"table_{n}": v for n, v in tables_of(case).items()}


def at_nodes(case: Example, expr: Any, arrays: Mapping[str, Any], count: int) -> Any:
    size = length_of(case)
    sizes = {K: size, primed(K): size, NODE: count}
    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate(expr, (Range(NODE, 0, count),), arrays, sizes), (count,))


def log_density(case: Example, value: Any) -> float:
    """The log density at one value, as BUGS has it."""
    row = case.row
    nodes, log_masses = nodes_of(case)
    others = {n: Array(f"table_{n}")[K] for n in tables_of(case)} | auxiliary_leaves(row)
    found = meaning_of(row, parameters_of(case), EVENT, others)
    density = expression(found, Array("x")[EVENT[: row.event]])
    x = {"x": np.asarray(value, float) - row.values_from}
    arrays = {**arrays_of(case), **nodes, **x}
    return float(special.logsumexp(at_nodes(case, density, arrays, len(log_masses)) + log_masses))


def nodes_of(case: Example) -> tuple[dict, Any]:
    """Values of the auxiliary variable, with the logs of their masses; one node without any."""
    if not case.row.auxiliaries:
        return {}, np.zeros(1)
    ((name, auxiliary),) = case.row.auxiliaries.items()
    found = meaning_of(auxiliary, parameters_of(case), EVENT)
    prior = expression(found, auxiliary_leaves(case.row)[name])
    if found.family in ("Categorical", "Poisson"):
        at = np.arange(length_of(case) if found.family == "Categorical" else 400)
        log_lengths = np.zeros(len(at))
    else:
        at, log_lengths = positive_nodes(length_of(case) if auxiliary.axes else 0)
    if auxiliary.axes:
        prior = Over(prior, K)
    nodes = {f"auxiliary_{name}": at}
    logs = at_nodes(case, prior, arrays_of(case) | nodes, len(at))
    return nodes, logs + log_lengths


def positive_nodes(length: int) -> tuple[Any, Any]:
    """Nodes of the trapezoid rule over logs, of numbers (0) or vectors; logs of their lengths."""
    u = np.linspace(-60, 12, 501 if length else 4001)
    logs = np.stack([np.ravel(p) for p in np.meshgrid(*[u] * max(length, 1))], axis=-1)
    lengths = logs.sum(-1) + logs.shape[-1] * np.log(u[1] - u[0])
    return np.exp(logs if length else logs[:, 0]), lengths


# ---- examples --------------------------------------------------------------------------------


def of_scipy(frozen: Any) -> Callable[[Any], Any]:
    return getattr(frozen, "logpdf", None) or frozen.logpmf


def by_weights(p: Any) -> Callable[[int], float]:
    return lambda y: np.log(p[y - 1] / np.sum(p))


def ordered(cdf: Callable[[Any], Any], mu: float, cuts: Any) -> Callable[[int], float]:
    ends = cdf(np.array([-np.inf, *cuts, np.inf]) - mu)
    return lambda y: np.log(ends[y] - ends[y - 1])


def normal_mixture(mu: Any, tau: Any, pi: Any) -> Callable[[float], float]:
    shares_of = np.divide(pi, np.sum(pi))
    sds = np.power(tau, -0.5)
    return lambda y: np.log(np.sum(shares_of * stats.norm(mu, sds).pdf(y)))


def scaled_gamma(s: float, df: float) -> Callable[[float], float]:
    """The precision of a sd that is half-t: the density of the sd, times its derivative."""
    return lambda tau: stats.t(df, 0, s).logpdf(tau**-0.5) - 1.5 * np.log(tau)


def scaled_wishart(s: Any, df: float) -> Callable[[Any], float]:
    """Huang and Wand (2013), section 2: the density of the covariance matrix, its a integrated out.

    The inverse has the Jacobian ``|Omega|^-(p + 1)``.
    """
    s, p = np.asarray(s, float), len(s)
    nu, half = df + p - 1, (df + p) / 2

    def log_pdf(omega: Any) -> float:
        log_det = np.linalg.slogdet(omega)[1]
        constant = nu * p / 2 * np.log(df) - special.multigammaln(nu / 2, p)
        mixed = special.gammaln(half) - half * np.log(df * np.diag(omega) + s**-2)
        own = (nu + p + 1) / 2 * log_det
        return constant + own + (mixed - np.log(s) - special.gammaln(0.5)).sum() - (p + 1) * log_det

    return log_pdf


def share_of(p: Any) -> Any:
    return np.divide(p, np.sum(p))


def columns(frozen: Any) -> Callable[[Any], Any]:
    return lambda x: of_scipy(frozen)(np.asarray(x, float))


COUNTS, LINE, POSITIVE = (0, 1, 2, 5), (-2.5, 0.1, 0.4, 3.0), (0.02, 0.4, 1.1, 6.0)
UNIT = (0.05, 0.3, 0.9)
VECTORS = ([0.3, -0.7], [2.0, 1.0])
SHARES = ([0.3, 0.7], [0.05, 0.95])


def example(name: str, parameters: Any, reference: Any, values: Any) -> Example:
    found = reference if callable(reference) else of_scipy(reference)
    return Example(name, tuple(parameters), found, tuple(values))


EXAMPLES = (
    example("dbern", (0.3,), stats.bernoulli(0.3), (0, 1)),
    example("dbin", (0.3, 5), stats.binom(5, 0.3), COUNTS),
    example("dbin", (0.9, 40), stats.binom(40, 0.9), (0, 17, 40)),
    example("dbetabin", (1.5, 2.5, 5), stats.betabinom(5, 1.5, 2.5), COUNTS),
    example("dcat", ([0.2, 0.5, 0.3],), by_weights([0.2, 0.5, 0.3]), (1, 2, 3)),
    example("dcat", ([2.0, 0.0, 5.0, 1.0],), by_weights([2.0, 0.0, 5.0, 1.0]), (1, 3, 4)),
    example("dgeom0", (0.3,), stats.geom(0.3, loc=-1), COUNTS),
    example("dgeom1", (0.3,), stats.geom(0.3), (1, 2, 7)),
    example("dhyper", (5, 4, 3, 1.0), stats.hypergeom(9, 5, 3), (0, 1, 3)),
    example("dhyper", (5, 4, 3, 1.5), stats.nchypergeom_fisher(9, 5, 3, 1.5), (0, 1, 2, 3)),
    example("dhyper", (9, 3, 8, 0.2), stats.nchypergeom_fisher(12, 9, 8, 0.2), (5, 6, 8)),
    example("dnegbin", (0.4, 2.5), stats.nbinom(2.5, 0.4), COUNTS),
    example("dpois", (1.7,), stats.poisson(1.7), COUNTS),
    example(
        "dordered.logit",
        (0.3, [-1.0, 0.5, 2.0]),
        ordered(special.expit, 0.3, [-1.0, 0.5, 2.0]),
        (1, 2, 3, 4),
    ),
    example("dordered.logit", (-0.7, [0.5]), ordered(special.expit, -0.7, [0.5]), (1, 2)),
    example("dordered.logit", (2, [0.0, 9]), ordered(special.expit, 2, [0, 9]), (1, 2, 3)),
    example(
        "dordered.probit",
        (0.3, [-1.0, 0.5, 2.0]),
        ordered(special.ndtr, 0.3, [-1.0, 0.5, 2.0]),
        (1, 2, 3, 4),
    ),
    example("dordered.probit", (-0.7, [0.5]), ordered(special.ndtr, -0.7, [0.5]), (1, 2)),
    example("dnorm", (0.5, 4.0), stats.norm(0.5, 0.5), LINE),
    example("dt", (0.3, 4.0, 5.0), stats.t(5, 0.3, 0.5), LINE),
    example("dt", (-1.0, 0.01, 0.7), stats.t(0.7, -1, 10), LINE),
    example("ddexp", (0.2, 4.0), stats.laplace(0.2, 0.25), LINE),
    example("dlogis", (0.2, 4.0), stats.logistic(0.2, 0.25), LINE),
    example("dgumbel", (0.2, 4.0), stats.gumbel_r(0.2, 0.25), LINE),
    example(
        "dnormmix",
        ([0.0, 1.0], [1.0, 4.0], [0.3, 0.7]),
        normal_mixture([0.0, 1.0], [1.0, 4.0], [0.3, 0.7]),
        LINE,
    ),
    example(
        "dnormmix",
        ([0.0, 1.0, 3.0], [1.0, 4.0, 0.1], [3.0, 7.0, 2.0]),
        normal_mixture([0.0, 1.0, 3.0], [1.0, 4.0, 0.1], [3.0, 7.0, 2.0]),
        LINE,
    ),
    example("dnt", (1.0, 4.0, 5.0), stats.nct(5, 2.0, scale=0.5), LINE),
    example("dnt", (0.0, 4.0, 3.0), stats.t(3, scale=0.5), LINE),
    example("dbeta", (1.5, 2.5), stats.beta(1.5, 2.5), UNIT),
    example("dunif", (-1.0, 2.0), stats.uniform(-1, 3), (-0.9, 1.9)),
    example("dchisqr", (3.0,), stats.chi2(3), POSITIVE),
    example("dexp", (4.0,), stats.expon(scale=0.25), POSITIVE),
    example("df", (3.0, 5.0), stats.f(3, 5), POSITIVE),
    example("dgamma", (2.1, 0.7), stats.gamma(2.1, scale=1 / 0.7), POSITIVE),
    example("dgamma", (0.1, 5.0), stats.gamma(0.1, scale=0.2), POSITIVE),
    example("dgen.gamma", (2.1, 0.7, 1.5), stats.gengamma(2.1, 1.5, scale=1 / 0.7), POSITIVE),
    example("dgen.gamma", (0.4, 3.0, 0.6), stats.gengamma(0.4, 0.6, scale=1 / 3), POSITIVE),
    example("dlnorm", (0.2, 4.0), stats.lognorm(0.5, scale=np.exp(0.2)), POSITIVE),
    example("dnchisqr", (3.0, 2.0), stats.ncx2(3, 2), POSITIVE),
    example("dpar", (2.0, 0.3), stats.pareto(2, scale=0.3), (0.31, 1.1, 6.0)),
    example("dscaled.gamma", (2.0, 3.0), scaled_gamma(2.0, 3.0), POSITIVE),
    example("dscaled.gamma", (0.5, 1.0), scaled_gamma(0.5, 1.0), POSITIVE),
    example("dweib", (1.5, 0.7), stats.weibull_min(1.5, scale=0.7 ** (-1 / 1.5)), POSITIVE),
    example("dburrXII", (1.5, 2.5), stats.burr12(2.5, 1.5), POSITIVE),
    example("dgpz", (0.4, 1.2), stats.gompertz(3.0, scale=2.5), POSITIVE),
    example("dinv.gauss", (1.5, 2.5), stats.invgauss(0.6, scale=2.5), POSITIVE),
    example("dinv.weib", (1.5, 2.5), stats.invweibull(1.5, scale=2.5), (0.2, 1.1, 6.0)),
    example("dlog.logis", (1.5, 2.5), stats.fisk(1.5, scale=2.5), POSITIVE),
    example("ddirch", ([1.5, 2.5],), columns(stats.dirichlet([1.5, 2.5])), SHARES),
    example(
        "dmulti",
        ([2.0, 3.0, 5.0], 6),
        columns(stats.multinomial(6, [0.2, 0.3, 0.5])),
        ([1, 2, 3], [0, 6, 0]),
    ),
    example(
        "dmnorm",
        ([0.3, 0.7], OMEGA),
        columns(stats.multivariate_normal([0.3, 0.7], np.linalg.inv(OMEGA))),
        VECTORS,
    ),
    example(
        "dmnorm.vcov",
        ([0.3, 0.7], OMEGA),
        columns(stats.multivariate_normal([0.3, 0.7], OMEGA)),
        VECTORS,
    ),
    example(
        "dmt",
        ([0.3, 0.7], OMEGA, 3.0),
        columns(stats.multivariate_t([0.3, 0.7], np.linalg.inv(OMEGA), 3)),
        VECTORS,
    ),
    example(
        "dwish", (OMEGA, 3.5), columns(stats.wishart(3.5, np.linalg.inv(OMEGA))), (VALUE, OMEGA)
    ),
    example("dscaled.wishart", ([1.0, 2.0], 3.0), scaled_wishart([1.0, 2.0], 3.0), (VALUE, OMEGA)),
    example("dscaled.wishart", ([0.3, 2.0], 2.0), scaled_wishart([0.3, 2.0], 2.0), (VALUE,)),
)

ROWS = tuple(r for n, r in DISTRIBUTIONS.items() if isinstance(r, Distribution) and n == r.names[0])
IMPROPER = {"dflat"}


def cases(examples: Any) -> Any:
    return pytest.mark.parametrize("case", examples, ids=str)


def test_every_row_has_an_example():
    assert {e.name for e in EXAMPLES} == {r.names[0] for r in ROWS} - IMPROPER


@cases(EXAMPLES)
def test_log_densities_are_those_of_the_manuals(case):
    for value in case.values:
        found, expected = log_density(case, value), case.log_density(value)
        assert found == pytest.approx(float(np.ravel(expected)[0]), rel=1e-9, abs=1e-9)


# What JAGS 4.3.1 prints for logdensity.*, to six digits.
JAGS = (
    ("dbern", (0.3,), 1, -1.20397),
    ("dbin", (0.3, 5), 2, -1.17539),
    ("dbetabin", (1.5, 2.5, 5), 2, -1.51537),
    ("dcat", ([2, 3, 1],), 2, -0.693147),
    ("dhyper", (5, 4, 3, 1.5), 2, -0.652036),
    ("dhyper", (5, 4, 3, 1), 2, -0.741937),
    ("dnegbin", (0.4, 2.5), 3, -1.94183),
    ("dpois", (1.7,), 2, -1.33189),
    ("dordered.logit", (0.3, [-1, 0.5, 2]), 1, -1.54101),
    ("dordered.logit", (0.3, [-1, 0.5, 2]), 2, -1.09163),
    ("dordered.logit", (0.3, [-1, 0.5, 2]), 4, -1.86779),
    ("dordered.logit", (0.3, [0.5]), 2, -0.798139),
    ("dordered.probit", (0.3, [-1, 0.5, 2]), 1, -2.3351),
    ("dordered.probit", (0.3, [-1, 0.5, 2]), 3, -0.977701),
    ("dordered.probit", (0.3, [-1, 0.5, 2]), 4, -3.1108),
    ("dnorm", (0.5, 2), 1.3, -1.21236),
    ("dt", (0.3, 2, 5), 1.1, -1.30584),
    ("ddexp", (0.2, 2), 1, -1.6),
    ("dlogis", (0.2, 2), 1, -1.27465),
    ("dnormmix", ([0, 1], [1, 4], [3, 7]), 0.3, -1.1269),
    ("dnt", (1, 2, 5), 0.4, -0.963617),
    ("dbeta", (1.5, 2.5), 0.3, 0.49086),
    ("dunif", (0, 2), 1, -0.693147),
    ("dchisqr", (3,), 2, -1.57236),
    ("dexp", (2,), 1.1, -1.50685),
    ("df", (3, 5), 1.1, -1.11799),
    ("dgamma", (2.1, 0.7), 1.1, -1.45961),
    ("dgen.gamma", (2.1, 0.7, 1.5), 1.2, -1.14138),
    ("dlnorm", (0.2, 2), 1.5, -1.02005),
    ("dnchisqr", (3, 2), 1.5, -2.00841),
    ("dpar", (2, 1.5), 3, -1.79176),
    ("dscaled.gamma", (2, 3), 0.7, -1.38398),
    ("dweib", (1.5, 0.7), 1.2, -0.780223),
    ("ddirch", ([1.5, 2.5],), [0.3, 0.7], 0.49086),
    ("dmulti", ([2, 3], 4), [1, 3], -1.06247),
    ("dmnorm", ([0.3, 0.7], OMEGA), [1, 2], -3.43748),
    ("dmnorm.vcov", ([0.3, 0.7], OMEGA), [1, 2], -2.95608),
    ("dmt", ([0.3, 0.7], OMEGA, 3), [1, 2], -3.51953),
    ("dwish", (OMEGA, 3.5), VALUE, -2.94387),
)


@pytest.mark.parametrize(("name", "parameters", "value", "expected"), JAGS)
def test_log_densities_are_those_that_jags_prints(name, parameters, value, expected):
    found = log_density(example(name, parameters, abs, ()), value)

    assert found == pytest.approx(expected, rel=1e-5)


def test_a_scaled_wishart_matrix_is_that_of_jags_up_to_a_constant():
    """That is a function of the degrees of freedom alone, and not what makes it a density."""
    other = np.array([[5.0, -1.0], [-1.0, 0.4]])
    at_two, at_three = (example("dscaled.wishart", ([1, 2], df), abs, ()) for df in (2, 3))
    wide = example("dscaled.wishart", ([3, 0.5], 2), abs, ())
    found = log_density(at_two, other) - log_density(at_two, VALUE)

    assert found == pytest.approx(-4.20022 + 2.98477, abs=2e-5)
    assert log_density(wide, other) - log_density(at_two, other) == pytest.approx(
        -6.78367 + 4.20022, abs=2e-5
    )
    assert log_density(at_three, other) - log_density(at_three, VALUE) == pytest.approx(
        -4.28286 + 2.74365, abs=2e-5
    )


# ---- normalisation ---------------------------------------------------------------------------

SCALAR = tuple(e for e in EXAMPLES if e.row.event == 0)
# With an auxiliary variable a density takes long: one example of each.
CONTINUOUS = tuple(e for e in SCALAR if isinstance(e.values[0], float))
DISCRETE = tuple(e for e in SCALAR if e not in CONTINUOUS)


@cases(DISCRETE)
def test_masses_sum_to_one(case):
    first = case.row.values_from
    match case.name:
        case "dbern":
            last = 1
        case "dbin" | "dbetabin":
            last = case.parameters[-1]
        case "dcat" | "dhyper" | "dordered.logit" | "dordered.probit":
            last = first + length_of(case) - 1
        case _:
            last = 120

    total = sum(np.exp(log_density(case, v)) for v in range(first, last + 1))
    assert total == pytest.approx(1, abs=1e-10)


# Between these ends is all of the mass, to the error allowed below.
ENDS = {
    "dunif": (-1.0, 2.0),
    "dbeta": (1e-20, 1.0),
    "dpar": (0.3, 1e14),
}
FAR_OUT = (1e-130, 1e30)


def integral(case):
    """Over the log of positive values, which may have their mass near 0; in parts."""
    if case.values == LINE:
        parts = np.array([-1e9, -1e3, -10, -1, 0, 0.5, 1, 2, 10, 1e3, 1e9])
        return sum(quadrature(lambda x: log_density(case, x), parts))
    lower, upper = ENDS.get(case.name, FAR_OUT)
    if case.name == "dunif":
        return sum(quadrature(lambda x: log_density(case, x), [lower, upper]))
    inner = (p for p in (1e-40, 1e-8, 0.1, 1, 5, 1e3, 1e8) if lower < p < upper)
    parts = np.log([lower, *inner, upper])
    return sum(quadrature(lambda u: log_density(case, np.exp(u)) + u, parts))


def quadrature(logs, parts):
    for ends in pairwise(parts):
        yield integrate.quad(lambda x: np.exp(logs(x)), *ends, limit=200, epsabs=1e-9)[0]


@cases([e for e in CONTINUOUS if not (e.name == "dt" and e.parameters[2] < 1)])
def test_densities_integrate_to_one(case):
    assert integral(case) == pytest.approx(1, abs=1e-7)


def test_masses_of_count_vectors_sum_to_one():
    (case,) = (e for e in EXAMPLES if e.name == "dmulti")
    vectors = [v for v in product(range(7), repeat=3) if sum(v) == 6]

    assert sum(np.exp(log_density(case, v)) for v in vectors) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", ["dmnorm", "dmnorm.vcov"])
def test_densities_of_vectors_integrate_to_one(name):
    (case,) = (e for e in EXAMPLES if e.name == name)
    x, row = Array("x")[K], case.row
    density = expression(meaning_of(row, parameters_of(case), EVENT), Array("x")[NODE, K])
    at = np.linspace(-12, 12, 241)
    grid = np.stack([np.ravel(g) for g in np.meshgrid(at, at)], axis=-1)
    logs = at_nodes(case, density, {**arrays_of(case), "x": grid}, len(grid))

    assert x.array.name == "x"
    assert np.exp(logs).sum() * (at[1] - at[0]) ** 2 == pytest.approx(1, abs=1e-9)


# ---- names, numbers of parameters, spellings -------------------------------------------------

# Distributions of the JAGS manual (modules bugs, glm, mix, msm), their aliases, and of OpenBUGS.
NAMES = """
dbern dbeta dbin dbinom dcat dchisqr dchisq ddexp ddirch ddirich dexp df dgamma dgen.gamma dggamma
dhyper dinterval dlnorm dlogis dmnorm dmnorm.vcov dmt dmulti dmultinom dnegbin dnbinom dnchisqr
dnorm dnt dpar dpois dround drw1 dsample dsum sum dt dunif dweib dweibull dwish dordered.logit
dordered.probit dscaled.gamma dscaled.wishart dbetabin dbetabinom dnormmix dpick dmstate dflat
dgeom0 dgeom1 dloglik dpolygene dstable dtrap dtriang dweib3 dgev dgpar dzipf dcat2 stoch.trend
rand.walk car.normal car.l1 car.proper mv.car spatial.exp spatial.disc spatial.pred
spatial.unipred dpois.conv dbs dburrXII dburrX dexp.power dexp.weib dext.exp dext.weib dflex.weib
dgen.exp dgp.weib dgpz dgumbel dinv.gauss dinv.weib dlin.fr dlogistic.exp dlog.logis dlog.weib
dweib.modified
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_every_distribution_of_jags_and_openbugs_has_a_row(name):
    row = DISTRIBUTIONS[name]

    assert name in row.names
    if isinstance(row, Unsupported):
        assert row.message.startswith(f"{name}: not supported: ")
        assert distribution(name, 1) is row
    else:
        assert distribution(name, len(row.parameters)) is row


ARITIES = {
    "dbern": "p",
    "dbin": "p n",
    "dbetabin": "a b n",
    "dhyper": "n1 n2 m1 psi",
    "dnegbin": "p r",
    "dt": "mu tau k",
    "dnt": "mu tau k",
    "dgen.gamma": "r lambda b",
    "dgamma": "r lambda",
    "dpar": "alpha c",
    "dweib": "v lambda",
    "dnchisqr": "k delta",
    "df": "n m",
    "dmt": "mu Omega k",
    "dwish": "R k",
    "dmulti": "p n",
    "dnormmix": "mu tau pi",
    "dordered.logit": "mu c",
    "dscaled.wishart": "s df",
    "dinterval": "t c",
    "car.normal": "adj weights num tau",
    "car.proper": "mu C adj num M tau gamma",
    "dflat": "",
}


@pytest.mark.parametrize("name", ARITIES)
def test_parameters_are_in_the_order_of_the_manuals(name):
    assert " ".join(DISTRIBUTIONS[name].parameters) == ARITIES[name]


def test_aliases_are_the_same_rows():
    for row in DISTRIBUTIONS.values():
        assert all(DISTRIBUTIONS[n] is row for n in row.names)


MESSAGES = {
    ("dnorm", 1): "dnorm: found 1 parameter, expected 2 (mu, tau); write dnorm(mu, tau).",
    ("dflat", 2): "dflat: found 2 parameters, expected none; write dflat().",
    ("dbinom", 3): "dbinom: found 3 parameters, expected 2 (p, n); write dbinom(p, n).",
    ("df", 4): """df: found 4 parameters, expected 2 (n, m);
        write z ~ df(n, m) and x <- mu + z / sqrt(tau).""",
    ("dnrom", 2): """dnrom: no distribution of JAGS or OpenBUGS has that name;
        write dnorm, if that is meant.""",
    ("dpick", 3): """dpick: not supported: it chooses between two values;
        write z ~ dbern(p) and x <- ifelse(z, a, b).""",
}


@pytest.mark.parametrize(("name", "count"), MESSAGES)
def test_what_is_wrong_is_said_with_what_to_write(name, count):
    assert distribution(name, count).message == " ".join(MESSAGES[name, count].split())


def test_a_name_unlike_any_other_is_told_of_log_likelihoods():
    assert "dloglik" in distribution("qqqqqqq", 2).message


def test_what_unsupported_rows_propose_is_supported():
    """The distributions and functions that messages tell to write."""
    rows = [r for r in (*DISTRIBUTIONS.values(), *FUNCTIONS.values()) if isinstance(r, Unsupported)]
    proposed = {n for r in rows for n in re.findall(r"([a-zA-Z][\w.]*)\(", r.instead)}

    assert len(proposed) > 20
    for name in proposed - {"probit"}:
        known = DISTRIBUTIONS.get(name) or FUNCTIONS.get(name)
        assert known is not None, name
        assert not isinstance(known, Unsupported), name


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.names[0])
def test_meanings_are_in_a_spelling_of_their_family(row):
    case = next((e for e in EXAMPLES if e.row is row), example(row.names[0], (), abs, ()))
    others = {n: Array(n)[K] for n in tables_of(case)} | auxiliary_leaves(row, of_node=False)
    parameters = leaves_of_parameters(case)
    found = [meaning_of(row, parameters, EVENT, others)]
    found += [meaning_of(a, parameters, EVENT) for a in row.auxiliaries.values()]
    for m in found:
        family = FAMILIES[m.family]
        assert set(m.arguments) in map(set, spellings(family))
        tensors = {n: Tensor(sp.sympify(v)) for n, v in m.arguments.items()}
        assert written(family, "x", (), tensors).family is family
        assert row.auxiliaries or family.event == row.event
    assert row.positive is None or row.positive in FAMILIES
    for known in (row.weights, row.increasing):
        assert known is None or row.parameters[known] == 1


def test_weights_may_have_any_scale():
    for name, parameters, value in (
        ("dcat", ([0.2, 0.5, 0.3],), 2),
        ("dmulti", ([0.2, 0.5, 0.3], 6), [1, 2, 3]),
        ("dnormmix", ([0.0, 1.0], [1.0, 4.0], [0.3, 0.7]), 0.3),
    ):
        at = list(DISTRIBUTIONS[name].parameters).index(DISTRIBUTIONS[name].weights)
        scaled = [np.multiply(p, 7) if i == at else p for i, p in enumerate(parameters)]
        once, more = (log_density(example(name, p, abs, ()), value) for p in (parameters, scaled))
        assert once == pytest.approx(more, rel=1e-12)


def test_flat_densities_have_no_mass():
    row = distribution("dflat", 0)

    assert expression(meaning_of(row, ()), Array("x")[()]) == 0
    assert FAMILIES[row.positive].log_density(Array("x")[()], ()) == 0
    assert FAMILIES[row.positive].support(()).lower == 0


@pytest.mark.parametrize("mu", [-200.0, 80.0, 700.0])
def test_ordered_logits_keep_their_digits_far_out(mu):
    cuts = np.array([-1.0, 0.5, 2.0])
    case = example("dordered.logit", (mu, cuts), abs, ())
    a, b = cuts[1] - mu, cuts[0] - mu
    middle = -np.logaddexp(0, -a) - np.logaddexp(0, b) + np.log(-np.expm1(b - a))

    assert log_density(case, 1) == pytest.approx(-np.logaddexp(0, -b), rel=1e-12)
    assert log_density(case, 2) == pytest.approx(middle, rel=1e-12)
    assert log_density(case, 4) == pytest.approx(-np.logaddexp(0, cuts[2] - mu), rel=1e-12)


# ---- what is seen of other variables ---------------------------------------------------------


def test_intervals_are_those_between_cut_points():
    cuts, t = np.array([1.0, 2.5, 4.0]), np.array([0.3, 1.0, 1.1, 2.5, 3.0, 4.0, 9.0])
    value = np.searchsorted(cuts, t, side="left")
    lower, upper = INTERVAL.bounds(value, cuts)
    below, has_below, above, has_above = INTERVAL.ends(value, 3)

    assert value.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert ((lower < t) & (t <= upper)).all()
    np.testing.assert_array_equal(np.where(has_below, cuts[below], -np.inf), lower)
    np.testing.assert_array_equal(np.where(has_above, cuts[above], np.inf), upper)


def test_each_value_may_have_cut_points_of_its_own():
    lower, upper = INTERVAL.bounds([0, 1, 1], np.array([[1.0], [2.0], [3.0]]))

    assert lower.tolist() == [-np.inf, 2.0, 3.0]
    assert upper.tolist() == [1.0, np.inf, np.inf]


@pytest.mark.parametrize(
    ("value", "cuts", "message"),
    [
        ([0, 3], [1.0, 2.0], "found values from 0 to 3; expected whole numbers from 0 to 2"),
        ([0.5], [1.0, 2.0], "expected whole numbers"),
        ([0], [2.0, 1.0], "expected them in increasing order"),
    ],
)
def test_values_that_are_no_intervals_are_refused(value, cuts, message):
    with pytest.raises(gp.ModelError, match=message):
        INTERVAL.bounds(value, cuts)


def test_what_is_rounded_is_within_half_a_unit():
    t = np.array([1.2345, -0.678, 123.4, 0.0004])
    for digits in (2, 0, -1):
        lower, upper = ROUNDED.bounds(np.round(t, digits), digits)
        assert ((lower <= t) & (t <= upper)).all()
        np.testing.assert_allclose(upper - lower, 10.0**-digits, rtol=1e-12)


def test_other_observations_are_rows_of_their_kind():
    assert isinstance(distribution("dinterval", 2), Interval)
    assert isinstance(distribution("dloglik", 1), LogLikelihood)
    assert isinstance(distribution("car.normal", 4), Field)


# ---- fields on maps --------------------------------------------------------------------------

# A map of two parts: 1 - 2 - 3 - 1 and 4 - 5.
ADJ, NUM = [2, 3, 1, 3, 1, 2, 5, 4], [2, 2, 2, 1, 1]
X = np.array([0.3, -1.0, 2.0, 0.5, 1.5])


def field_log_density(row, x, given):
    """The sum of the log densities of sites and of pairs."""
    known = [given[n] for n in row.known]
    others = {n: v for n, v in given.items() if n not in (*row.known, row.centre)}
    sites = row.sites(*known)
    x = x - given[row.centre] if row.centre else x
    total = sum(
        row.site(sp.Float(v), **others, **{n: sp.Float(d[i]) for n, d in sites.of_sites.items()})
        for i, v in enumerate(x)
    )
    for p, (i, j) in enumerate(zip(sites.first, sites.second, strict=True)):
        own = {n: sp.Float(d[p]) for n, d in sites.of_pairs.items()}
        total += row.pair(sp.Float(x[i]), sp.Float(x[j]), **others, **own)
    return float(total)


def matrix_of(weights):
    """The matrix of weights, from GeoBUGS's vectors."""
    found = np.zeros((len(NUM), len(NUM)))
    found[np.repeat(np.arange(len(NUM)), NUM), np.array(ADJ) - 1] = weights
    return found


def test_intrinsic_fields_have_the_density_of_their_differences():
    """Of dimension n less the number of parts: the product of the eigenvalues that are not zero."""
    W = matrix_of([2.0, 0.5, 2.0, 1.0, 0.5, 1.0, 3.0, 3.0])
    given = {"adj": ADJ, "weights": W[W > 0], "num": NUM}
    laplacian = np.diag(W.sum(1)) - W
    for tau in (0.3, 4.0):
        expected = 1.5 * np.log(tau) - tau / 2 * X @ laplacian @ X
        row = fields.INTRINSIC
        assert field_log_density(row, X, given | {"tau": tau}) == pytest.approx(expected)
    assert row.is_centred


def test_proper_fields_are_multivariate_normal():
    W = matrix_of(1.0)
    M = 1 / W.sum(1)
    C = (W / W.sum(1)[:, None])[W > 0]
    given = {"C": C, "adj": ADJ, "num": NUM, "M": M, "mu": np.linspace(-1, 1, 5)}
    for tau, gamma in ((2.0, 0.7), (0.5, -0.4), (1.0, 0.0)):
        precision = tau * np.diag(1 / M) @ (np.eye(5) - gamma * matrix_of(C))
        expected = stats.multivariate_normal(given["mu"], np.linalg.inv(precision)).logpdf(X)
        found = field_log_density(fields.PROPER, X, given | {"tau": tau, "gamma": gamma})
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("adj", "weights", "num", "message"),
    [
        ([2, 1], [1, 1], [1, 1, 1], "found 2 neighbours and 2 weights, but num says"),
        ([2, 1], [1], [1, 1], "found 2 neighbours and 1 weights"),
        ([3, 1], [1, 1], [1, 1], "expected sites from 1 to 2"),
        ([1, 1], [1, 1], [1, 1], "found site 1 among its own neighbours"),
        ([2, 3, 2], [1, 1, 1], [1, 1, 1], "found site 2 among the neighbours of site 1, but not"),
        ([2, 2, 1], [1, 1, 1], [2, 1], "found a site twice"),
        ([2, 1], [1, 2], [1, 1], "found 1 from site 1 to site 2, and 2 back"),
        ([2, 1], [-1, -1], [1, 1], "found the weight -1; expected positive ones"),
        ([2.5, 1], [1, 1], [1, 1], "expected a vector of whole numbers"),
    ],
)
def test_maps_that_are_none_are_refused(adj, weights, num, message):
    with pytest.raises(gp.ModelError, match=message):
        fields.INTRINSIC.sites(adj, weights, num)


def test_variances_of_sites_fit_the_map():
    with pytest.raises(gp.ModelError, match="expected 2 positive numbers"):
        fields.PROPER.sites([1.0, 1.0], [2, 1], [1, 1], [1.0, 0.0])


def test_a_site_without_neighbours_is_refused_and_each_part_of_a_map_has_a_level():
    with pytest.raises(gp.ModelError, match="found site 3 without neighbours"):
        fields.INTRINSIC.sites([2, 1], [1.0, 1.0], [1, 1, 0])
    sites = fields.INTRINSIC.sites([2, 1, 4, 3], [1.0] * 4, [1, 1, 1, 1])

    assert sites.of_sites["rank"].sum() == pytest.approx(2)


# ---- rows in models --------------------------------------------------------------------------


def declared(name, statement_dims, row, tensors, sizes, **options):
    """A statement of a row in the model that is open, its auxiliaries and tables beside it."""
    model = sizes["model"]
    event = (Dim("k"), Dim("k'"))
    others = {}
    for which, auxiliary in row.auxiliaries.items():
        found = meaning_of(auxiliary, tensors, event)
        dims = (*statement_dims, "k") if auxiliary.axes else statement_dims
        label = {"event": "k"} if found.family == "Categorical" else {}
        arguments = {n: Tensor(e, model) for n, e in found.arguments.items()}
        made = getattr(gp, found.family)(f"{name}_{which}", **arguments, dims=dims, **label)
        others[which] = made.expr
    if row.labels is not None:
        for which, table in row.labels.tables(sizes["k"]).items():
            of = {"of": "cut"} if table.dtype.kind == "i" else {}
            kind = gp.Index if of else gp.Data
            others[which] = kind(which, table, dims="k", **of).expr
    found = meaning_of(row, tensors, event, others)
    arguments = {n: Tensor(sp.sympify(e), model) for n, e in found.arguments.items()}
    return getattr(gp, found.family)(name, **arguments, **options)


def verified(model, **settings):
    sampler = gp.compile(model, **settings)
    assert sampler.verify().proved
    return {s.statement.name: s.kind for s in sampler.schedule.steps}


GRADES = np.array([1, 2, 2, 3, 4, 1, 3, 3, 2, 4, 1, 2])


@pytest.mark.parametrize("name", ["dordered.logit", "dordered.probit"])
def test_grades_give_their_slope_an_exact_draw(name):
    with gp.Model(coords={"i": 12, "k": 4, "cut": 3}) as model:
        x = gp.Data("x", np.linspace(-1, 1, 12), dims="i")
        slope = gp.Normal("slope", 0, tau=0.1)
        c = gp.Data("c", [-1.0, 0.2, 1.0], dims="cut").expr
        tensors = [(slope * x).expr, c.xreplace({Dim("cut"): Dim("k")})]
        declared("y", ("i",), distribution(name, 2), tensors, {"k": 4, "model": model},
                 dims="i", event="k", observed=GRADES - 1)  # fmt: skip
    kinds = verified(model, exact=True)

    assert set(kinds.values()) <= {"exact", "concave"}


def test_odds_ratios_of_tables_have_an_exact_draw():
    with gp.Model(coords={"j": 3, "k": 6}) as model:
        psi = gp.Gamma("psi", 1, rate=1)
        numbers = [*map(sp.Integer, (5, 4, 3)), psi.expr]
        declared("y", ("j",), distribution("dhyper", 4), numbers, {"k": 6, "model": model},
                 dims="j", event="k", observed=[2, 3, 1])  # fmt: skip
    kinds = verified(model)

    assert kinds == {"psi": "concave"}


NUMBERS = np.array([0.3, 1.4, -0.8, 2.2, 0.9])


def test_mixtures_and_non_central_t_values_are_explained_by_labels_and_weights():
    with gp.Model(coords={"i": 5, "k": 2}) as mixture:
        mu = gp.Normal("mu", 0, tau=0.1, dims="k")
        tau, p = (gp.Data(n, v, dims="k") for n, v in (("tau", [1.0, 4.0]), ("p", [0.3, 0.7])))
        row = distribution("dnormmix", 3)
        declared("y", ("i",), row, [mu.expr, tau.expr, p.expr], {"model": mixture},
                 dims="i", observed=NUMBERS)  # fmt: skip
    with gp.Model(coords={"i": 5}) as shifted:
        mu = gp.Normal("mu", 0, tau=0.1)
        parameters = [mu.expr, sp.Integer(2), sp.Integer(5)]
        declared("y", ("i",), distribution("dnt", 3), parameters, {"model": shifted},
                 dims="i", observed=NUMBERS)  # fmt: skip

    assert set(verified(mixture).values()) == {"exact", "finite"}
    assert set(verified(shifted).values()) == {"exact"}


def test_scaled_precisions_have_exact_draws():
    with gp.Model(coords={"i": 5}) as single:
        parameters = [sp.Integer(2), sp.Integer(3)]
        tau = declared("tau", (), distribution("dscaled.gamma", 2), parameters, {"model": single})
        gp.Normal("y", 0, tau=tau, dims="i", observed=NUMBERS)
    with gp.Model(coords={"i": 5, "k": 2}) as matrix:
        scale = gp.Data("scale", [1.0, 2.0], dims="k")
        row = distribution("dscaled.wishart", 2)
        omega = declared("omega", (), row, [scale.expr, sp.Integer(2)], {"model": matrix},
                         dims=("k", "k'"))  # fmt: skip
        values = np.stack([NUMBERS, NUMBERS[::-1]], axis=-1)
        gp.MvNormal("y", 0, tau=omega, dims=("i", "k"), event="k", observed=values)

    assert set(verified(single).values()) == {"exact"}
    assert set(verified(matrix).values()) == {"exact"}


# ---- planted bugs ----------------------------------------------------------------------------


def swapped(name, monkeypatch, **changes):
    """The table with a wrong row."""
    wrong = replace(DISTRIBUTIONS[name], **changes)
    table = {**DISTRIBUTIONS, **dict.fromkeys(wrong.names, wrong)}
    monkeypatch.setitem(globals(), "DISTRIBUTIONS", table)


BUGS = {
    "a scale for a rate": ("dgamma", lambda r, b: Meaning("Gamma", {"shape": r, "scale": b})),
    "a sd for a precision": ("dnorm", lambda m, t: Meaning("Normal", {"mu": m, "sigma": t})),
    "parameters swapped": ("dbin", lambda n, p: Meaning("Binomial", {"n": n, "p": p})),
    "successes for failures": (
        "dnegbin",
        lambda p, r: Meaning("NegativeBinomial", {"n": r, "p": 1 - p}),
    ),
    "a matrix for its inverse": ("dwish", lambda R, k: Meaning("Wishart", {"nu": k, "V": R})),
    "a power forgotten": (
        "dgen.gamma",
        lambda r, m, b: Meaning("GeneralizedGamma", {"shape": r, "rate": m, "power": b}),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug, monkeypatch):
    name, wrong = BUGS[bug]
    case = next(e for e in EXAMPLES if e.name == name)
    swapped(name, monkeypatch, meaning=wrong)
    with pytest.raises(AssertionError):
        test_log_densities_are_those_of_the_manuals(case)


def test_values_that_start_elsewhere_are_caught(monkeypatch):
    swapped("dcat", monkeypatch, values_from=0)
    with pytest.raises((AssertionError, gp.ModelError)):
        test_log_densities_are_those_of_the_manuals(
            next(e for e in EXAMPLES if e.name == "dcat")
        )


def test_an_auxiliary_variable_of_another_scale_is_caught(monkeypatch):
    row = DISTRIBUTIONS["dscaled.gamma"]
    (auxiliary,) = row.auxiliaries.values()
    wrong = replace(auxiliary, meaning=lambda s, df: Meaning(
        "Gamma", {"shape": distributions.HALF, "rate": s**2}
    ))  # fmt: skip
    swapped("dscaled.gamma", monkeypatch, auxiliaries={"weight": wrong})
    with pytest.raises(AssertionError):
        test_log_densities_are_those_of_the_manuals(
            next(e for e in EXAMPLES if e.name == "dscaled.gamma")
        )
