"""Every row of the table against SciPy's distributions, and against its own other facts.

``EXAMPLES`` has parameter values per row; a row without an example fails.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy import integrate, special, stats

from gibbsppl import runtime
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, InverseEntry, Leaf, LogDet, Over
from gibbsppl.algebra.functions import Expit, LogFoxWright, Phi
from gibbsppl.algebra.near_one import called_as, terms_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.families import FAMILIES, Family
from gibbsppl.model.forward import drawn
from gibbsppl.model.graph import Statement
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
        case Leaf() if all(at.get(i) == slice(None) for i in expr.indices):
            return values[expr.array.name]
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
            return sum(evaluate(a, values, at) for a in terms_of(expr))
        case sp.Mul():
            return np.prod(np.broadcast_arrays(*(evaluate(a, values, at) for a in expr.args)), 0)
        case sp.Pow():
            base, power = (np.asarray(evaluate(a, values, at), float) for a in expr.args)
            return base**power
        case sp.Function():
            # (logs as they stand: how they are called near 1 is compared in arbitrary precision)
            name, arguments = ("log", expr.args) if expr.func is sp.log else called_as(expr)
            return getattr(functions, name)(*(evaluate(a, values, at) for a in arguments))
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


class Integrated:
    """A distribution given by its log density above a lower end, all else by quadrature."""

    def __init__(self, logpdf: Callable[[Any], Any], lower: float, upper: float = np.inf) -> None:
        self.logpdf, self.lower, self.upper = logpdf, lower, upper

    def pdf(self, x: Any) -> Any:
        return np.exp(self.logpdf(x))

    def cdf(self, x: Any) -> Any:
        length = np.asarray(x, float) - self.lower

        def density(u: float) -> Any:  # near a lower end of 0 it may be a power
            return 6 * u**5 * length * self.pdf(self.lower + u**6 * length)

        return integrate.quad_vec(density, 0, 1, epsabs=1e-13, epsrel=1e-12)[0]

    def ppf(self, q: Any) -> Any:
        q = np.asarray(q, float)
        low, high = (np.full(q.shape, b) for b in (self.lower, min(self.upper, 1e3)))
        for _ in range(60):
            middle = (low + high) / 2
            below = self.cdf(middle) < q
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2

    def expect(self, f: Callable[[float], float]) -> float:
        ends, options = (self.lower, self.upper), {"limit": 400, "epsabs": 1e-11}
        if self.lower == 0:

            def weighted(u: float) -> float:
                return float(f(np.exp(u)) * np.exp(self.logpdf(np.exp(u)) + u))

            parts = (integrate.quad(weighted, *e, **options)[0] for e in ((-40, 0), (0, 9)))
            return float(sum(parts))
        return float(integrate.quad(lambda x: f(x) * self.pdf(x), *ends, **options)[0])

    def mean(self) -> float:
        return self.expect(lambda x: x)

    def var(self) -> float:
        mean = self.mean()
        return self.expect(lambda x: (x - mean) ** 2)

    def support(self) -> tuple[float, float]:
        return self.lower, self.upper


def generalized_inverse_gaussian(p: float, a: float, b: float) -> Integrated:
    return Integrated(stats.geninvgauss(p, (a * b) ** 0.5, scale=(b / a) ** 0.5).logpdf, 0.0)


def modified_half_normal(a: float, b: float, c: float) -> Integrated:
    """With the normaliser as a parabolic cylinder function: DLMF 12.5.1."""
    cylinder = mpmath.log(mpmath.pcfd(-a, -c / mpmath.sqrt(2 * b)))
    log_z = float(mpmath.loggamma(a) - a / 2 * mpmath.log(2 * b) + c**2 / (8 * b) + cylinder)
    return Integrated(lambda x: (a - 1) * np.log(x) - b * x**2 + c * x - log_z, 0.0)


def von_mises(mu: float, kappa: float) -> Integrated:
    return Integrated(stats.vonmises(kappa, mu).logpdf, -np.pi, np.pi)


class PolyaGamma(Integrated):
    """By the Fourier series of the density on an interval beyond which there is nothing (1e-17)."""

    def __init__(self, b: float, c: float) -> None:
        super().__init__(lambda x: np.log(np.maximum(self.pdf(x), 1e-300)), 0.0)
        self.period = 8.0 + b
        end = 38 / b + abs(c) / 2  # the transform falls to exp(-38) there
        highest = 4 * end * np.sqrt(end**2 - c**2 / 4)
        t = 2j * np.pi / self.period * np.arange(1 + int(highest * self.period / 2 / np.pi))
        logs = self.log_cosh(np.array(c / 2)) - self.log_cosh(np.sqrt(c**2 / 4 + t / 2))
        self.terms = np.exp(b * logs) * np.where(t == 0, 1, 2) / self.period
        self.t = t

    @staticmethod
    def log_cosh(s: Any) -> Any:
        return s + np.log(1 + np.exp(-2 * s)) - np.log(2)

    def summed(self, terms: Any, x: Any) -> Any:
        x = np.asarray(x, float)
        parts = [(np.exp(np.multiply.outer(v, self.t)) @ terms).real for v in np.ravel(x)]
        return np.reshape(parts, x.shape)

    def pdf(self, x: Any) -> Any:
        inside = np.minimum(x, self.period)
        return np.where(inside < self.period, np.maximum(self.summed(self.terms, inside), 0), 0)

    def cdf(self, x: Any) -> Any:
        x = np.minimum(x, self.period)
        integrals = self.terms[1:] / self.t[1:]
        waves = self.summed(np.append(0, integrals), x) - integrals.sum().real
        return np.clip(x / self.period + waves, 0, 1)


class Kumaraswamy(stats.rv_continuous):
    """The distribution of the a-th root of a Beta(1, b) variable: SciPy does not have it."""

    def _argcheck(self, a: Any, b: Any) -> Any:
        return (a > 0) & (b > 0)

    def _logpdf(self, x: Any, a: Any, b: Any) -> Any:
        return np.log(a * b) + (a - 1) * np.log(x) + (b - 1) * np.log1p(-(x**a))

    def _pdf(self, x: Any, a: Any, b: Any) -> Any:
        return np.exp(self._logpdf(x, a, b))

    def _sf(self, x: Any, a: Any, b: Any) -> Any:
        return np.exp(b * np.log1p(-(x**a)))

    def _cdf(self, x: Any, a: Any, b: Any) -> Any:
        return -np.expm1(b * np.log1p(-(x**a)))

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        return (-np.expm1(np.log1p(-q) / b)) ** (1 / a)


class BetaExponential(stats.rv_continuous):
    """The distribution of minus the log of a Beta(a, b) variable: SciPy does not have it."""

    def _argcheck(self, a: Any, b: Any) -> Any:
        return (a > 0) & (b > 0)

    def _logpdf(self, x: Any, a: Any, b: Any) -> Any:
        return -a * x + (b - 1) * np.log(-np.expm1(-x)) - special.betaln(a, b)

    def _pdf(self, x: Any, a: Any, b: Any) -> Any:
        return np.exp(self._logpdf(x, a, b))

    def _sf(self, x: Any, a: Any, b: Any) -> Any:
        rest = -np.expm1(-x)
        return np.where(x > 1.0, stats.beta.cdf(np.exp(-x), a, b), stats.beta.sf(rest, b, a))

    def _cdf(self, x: Any, a: Any, b: Any) -> Any:
        rest = -np.expm1(-x)
        return np.where(x > 1.0, stats.beta.sf(np.exp(-x), a, b), stats.beta.cdf(rest, b, a))

    def _ppf(self, q: Any, a: Any, b: Any) -> Any:
        share, rest = stats.beta.isf(q, a, b), stats.beta.ppf(q, b, a)
        return np.where(share < 0.5, -np.log(share), -np.log1p(-np.minimum(rest, 0.9)))


beta_exponential = BetaExponential(a=0.0, shapes="a, b", name="beta_exponential")
kumaraswamy = Kumaraswamy(a=0.0, b=1.0, shapes="a, b", name="kumaraswamy")


def asymmetric_laplace(mu: float, rate: float, q: float) -> Any:
    kappa = (q / (1 - q)) ** 0.5
    return stats.laplace_asymmetric(kappa, mu, kappa / (rate * q))


def tables_of(n: int, alpha: float) -> Any:
    """The number of tables, customer by customer: each opens one or does not."""
    masses = np.array([1.0])
    for seated in range(n):
        opens = alpha / (alpha + seated)
        masses = np.append(masses * (1 - opens), 0) + np.append(0, masses * opens)
    return stats.rv_discrete(values=(range(n + 1), masses))


class ZeroInflated:
    """Counts of a distribution with probability psi, else 0."""

    def __init__(self, psi: float, base: Any) -> None:
        self.psi, self.base = psi, base
        self.x = np.arange(base.ppf(1 - 1e-15) + 1)

    def pmf(self, x: Any) -> Any:
        return self.psi * self.base.pmf(x) + (1 - self.psi) * (np.asarray(x) == 0)

    def logpmf(self, x: Any) -> Any:
        return np.log(self.pmf(x))

    def logcdf(self, x: Any) -> Any:
        return np.log1p(-self.psi * self.base.sf(x))

    def logsf(self, x: Any) -> Any:
        return np.log(self.psi) + self.base.logsf(x)

    def ppf(self, q: Any) -> Any:
        return self.x[np.searchsorted(np.exp(self.logcdf(self.x)), q)]

    def mean(self) -> float:
        return float((self.x * self.pmf(self.x)).sum())

    def var(self) -> float:
        return float(((self.x - self.mean()) ** 2 * self.pmf(self.x)).sum())

    def support(self) -> tuple[float, float]:
        return tuple(map(float, self.base.support()))


class HuangWand:
    """Inverse-Wishart matrices whose scales a are mixed over: SciPy has the parts."""

    def __init__(self, nu: float, scale: Any) -> None:
        self.nu, self.scale = nu, np.asarray(scale)
        self.mixing = stats.invgamma(0.5, scale=self.scale**-2)

    def given(self, a: Any) -> Any:
        return stats.invwishart(self.nu + len(self.scale) - 1, 2 * self.nu * np.diag(1 / a))

    def logpdf(self, x: Any) -> float:
        """``p(x | a) p(a) / p(a | x)`` at any a, its conditional being inverse-Gamma."""
        rate = self.nu * np.diag(np.linalg.inv(x)) + self.scale**-2
        a = np.array([0.7, 2.0, 1.1]) * rate  # (of the size of likely ones, for the digits)
        posterior = stats.invgamma((self.nu + len(a)) / 2, scale=rate)
        mixed = self.mixing.logpdf(a).sum() - posterior.logpdf(a).sum()
        return float(self.given(a).logpdf(x) + mixed)

    def rvs(self, n: int, random_state: Any) -> Any:
        scales = self.mixing.rvs((n, len(self.scale)), random_state=random_state)
        return np.array([self.given(a).rvs(random_state=random_state) for a in scales])


def example(family: str, reference: Any, **parameters: Any) -> Example:
    values = {name: np.asarray(p, float) for name, p in parameters.items()}
    return Example(family, values, reference)


EXAMPLES = (
    example("Normal", stats.norm(1.3, 0.5), mu=1.3, tau=4.0),
    example("Normal", stats.norm(-2.0, 10.0), mu=-2.0, tau=0.01),
    example("StudentT", stats.t(4.5, 1.3, 0.5), nu=4.5, mu=1.3, tau=4.0),
    example("StudentT", stats.t(0.7, -1.0, 2.0), nu=0.7, mu=-1.0, tau=0.25),
    example("Laplace", stats.laplace(1.3, 0.5), mu=1.3, rate=2.0),
    example("Cauchy", stats.cauchy(1.3, 0.5), mu=1.3, scale=0.5),
    example("AsymmetricLaplace", asymmetric_laplace(1.3, 2.0, 0.3), mu=1.3, rate=2.0, q=0.3),
    example("AsymmetricLaplace", asymmetric_laplace(0.0, 0.1, 0.98), mu=0.0, rate=0.1, q=0.98),
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
    example("Gumbel", stats.gumbel_r(1.3, 0.5), mu=1.3, scale=0.5),
    example("Rayleigh", stats.rayleigh(scale=0.5), tau=4.0),
    example("Maxwell", stats.maxwell(scale=0.5), tau=4.0),
    example("Chi", stats.chi(3.5), nu=3.5),
    example("Chi", stats.chi(0.1), nu=0.1),
    example("Nakagami", stats.nakagami(2.5, scale=3.0**0.5), m=2.5, omega=3.0),
    example("Nakagami", stats.nakagami(0.05, scale=3.0**0.5), m=0.05, omega=3.0),
    example(
        "GeneralizedGamma",
        stats.gengamma(2.5, 1.7, scale=3.0 ** (-1 / 1.7)),
        shape=2.5,
        rate=3.0,
        power=1.7,
    ),
    example(
        "GeneralizedGamma", stats.gengamma(0.1, 0.6), shape=0.1, rate=1.0, power=0.6
    ),
    example("Lomax", stats.lomax(2.7, scale=1.5), shape=2.7, scale=1.5),
    example("Lomax", stats.lomax(0.3, scale=1e-6), shape=0.3, scale=1e-6),
    example("BurrXII", stats.burr12(1.7, 2.5, scale=1.5), c=1.7, k=2.5, scale=1.5),
    example("BurrXII", stats.burr12(0.4, 0.3, scale=2.0), c=0.4, k=0.3, scale=2.0),
    example("Gompertz", stats.gompertz(3.0 / 1.7, scale=1 / 1.7), shape=1.7, rate=3.0),
    example("Gompertz", stats.gompertz(1e-6, scale=0.2), shape=5.0, rate=5e-6),
    example("Gompertz", stats.expon(scale=0.5), shape=1e-12, rate=2.0),
    example("Frechet", stats.invweibull(2.7, scale=3.0 ** (1 / 2.7)), shape=2.7, rate=3.0),
    example("Frechet", stats.invweibull(0.2, scale=3.0**5), shape=0.2, rate=3.0),
    example("BetaPrime", stats.betaprime(2.5, 3.2), a=2.5, b=3.2),
    example("BetaPrime", stats.betaprime(0.1, 0.3), a=0.1, b=0.3),
    example("BetaExponential", beta_exponential(2.5, 1.2), a=2.5, b=1.2),
    example("BetaExponential", beta_exponential(0.3, 0.05), a=0.3, b=0.05),
    example("BetaExponential", beta_exponential(0.05, 40.0), a=0.05, b=40.0),
    example("FisherSnedecor", stats.f(3.5, 4.7), nu_1=3.5, nu_2=4.7),
    example("FisherSnedecor", stats.f(0.2, 1.5), nu_1=0.2, nu_2=1.5),
    example("FisherSnedecor", stats.f(1.0, 30.0), nu_1=1.0, nu_2=30.0),
    example("InverseGaussian", stats.invgauss(1.5 / 2.5, scale=2.5), mu=1.5, lam=2.5),
    example("InverseGaussian", stats.invgauss(60.0, scale=0.05), mu=3.0, lam=0.05),
    example("InverseGaussian", stats.invgauss(1e-4, scale=2e4), mu=2.0, lam=2e4),
    example(
        "GeneralizedInverseGaussian",
        generalized_inverse_gaussian(1.3, 2.0, 0.7),
        p=1.3,
        a=2.0,
        b=0.7,
    ),
    example(
        "GeneralizedInverseGaussian",
        generalized_inverse_gaussian(-2.5, 0.4, 3.0),
        p=-2.5,
        a=0.4,
        b=3.0,
    ),
    example(
        "GeneralizedInverseGaussian",
        generalized_inverse_gaussian(0.0, 0.5, 0.02),
        p=0.0,
        a=0.5,
        b=0.02,
    ),
    example(
        "ModifiedHalfNormal", modified_half_normal(2.3, 0.7, 1.2), a=2.3, b=0.7, c=1.2
    ),
    example(
        "ModifiedHalfNormal", modified_half_normal(0.6, 2.0, -3.0), a=0.6, b=2.0, c=-3.0
    ),
    example(
        "ModifiedHalfNormal", modified_half_normal(5.0, 0.5, 6.0), a=5.0, b=0.5, c=6.0
    ),
    example("PolyaGamma", PolyaGamma(1.0, 0.8), b=1.0, c=0.8),
    example("PolyaGamma", PolyaGamma(2.5, -1.5), b=2.5, c=-1.5),
    example("PolyaGamma", PolyaGamma(30.0, 4.0), b=30.0, c=4.0),
    example("VonMises", von_mises(0.7, 2.5), mu=0.7, kappa=2.5),
    example("VonMises", von_mises(-3.0, 0.01), mu=-3.0, kappa=0.01),
    example("VonMises", von_mises(2.0, 200.0), mu=2.0, kappa=200.0),
    example("Kumaraswamy", kumaraswamy(2.5, 1.2), a=2.5, b=1.2),
    example("Kumaraswamy", kumaraswamy(0.2, 0.4), a=0.2, b=0.4),
    example("Beta", stats.beta(2.5, 1.2), a=2.5, b=1.2),
    example("Beta", stats.beta(0.3, 0.7), a=0.3, b=0.7),
    example("Beta", stats.beta(0.02, 1.7), a=0.02, b=1.7),
    example("Uniform", stats.uniform(-1.0, 3.5), lower=-1.0, upper=2.5),
    example("Bernoulli", stats.bernoulli(0.3), p=0.3),
    example("Binomial", stats.binom(7, 0.3), n=7, p=0.3),
    example("BetaBinomial", stats.betabinom(7, 2.5, 1.2), n=7, alpha=2.5, beta=1.2),
    example("BetaBinomial", stats.betabinom(20, 0.1, 0.3), n=20, alpha=0.1, beta=0.3),
    example("ChineseRestaurantTable", tables_of(12, 1.7), n=12, alpha=1.7),
    example("ChineseRestaurantTable", tables_of(40, 0.3), n=40, alpha=0.3),
    example("ChineseRestaurantTable", tables_of(9, 60.0), n=9, alpha=60.0),
    example("Poisson", stats.poisson(3.4), rate=3.4),
    example("ZeroInflatedPoisson", ZeroInflated(0.7, stats.poisson(3.4)), psi=0.7, rate=3.4),
    example("ZeroInflatedPoisson", ZeroInflated(0.2, stats.poisson(0.1)), psi=0.2, rate=0.1),
    example("ZeroInflatedBinomial", ZeroInflated(0.7, stats.binom(7, 0.3)), psi=0.7, n=7, p=0.3),
    example(
        "ZeroInflatedNegativeBinomial",
        ZeroInflated(0.7, stats.nbinom(2.5, 0.4)),
        psi=0.7,
        n=2.5,
        p=0.4,
    ),
    example("Geometric", stats.geom(0.3, loc=-1), p=0.3),
    example("NegativeBinomial", stats.nbinom(2.5, 0.4), n=2.5, p=0.4),
    example(
        "Categorical", stats.rv_discrete(values=(range(3), [0.2, 0.5, 0.3])), p=[0.2, 0.5, 0.3]
    ),
    example("DiscreteUniform", stats.randint(-2, 5), lower=-2, upper=4),
    example("Hypergeometric", stats.hypergeom(20, 7, 12), N=20, D=7, n=12),
    example("Hypergeometric", stats.hypergeom(20, 15, 12), N=20, D=15, n=12),
    example("Dirichlet", stats.dirichlet([0.8, 2.0, 3.5]), a=[0.8, 2.0, 3.5]),
    example("Dirichlet", stats.dirichlet([0.2, 0.1, 0.3]), a=[0.2, 0.1, 0.3]),
    example("Multinomial", stats.multinomial(6, [0.2, 0.5, 0.3]), n=6, p=[0.2, 0.5, 0.3]),
    example(
        "MvNormal",
        stats.multivariate_normal([1.0, -2.0, 0.5], np.linalg.inv(MATRIX)),
        mu=[1.0, -2.0, 0.5],
        tau=MATRIX,
    ),
    example(
        "MvStudentT",
        stats.multivariate_t([1.0, -2.0, 0.5], np.linalg.inv(MATRIX), 4.5),
        nu=4.5,
        mu=[1.0, -2.0, 0.5],
        tau=MATRIX,
    ),
    example(
        "MvStudentT",
        stats.multivariate_t([1.0, -2.0, 0.5], np.linalg.inv(MATRIX) / 100, 0.7),
        nu=0.7,
        mu=[1.0, -2.0, 0.5],
        tau=100 * MATRIX,
    ),
    example("Wishart", stats.wishart(4.5, MATRIX), nu=4.5, V=MATRIX),
    example("InverseWishart", stats.invwishart(12.5, MATRIX), nu=12.5, S=MATRIX),
    example("HuangWand", HuangWand(2.0, [0.5, 3.0, 1.2]), nu=2.0, scale=[0.5, 3.0, 1.2]),
    example("HuangWand", HuangWand(4.5, [2.0, 2.0, 0.1]), nu=4.5, scale=[2.0, 2.0, 0.1]),
    example(
        "VonMisesFisher",
        stats.vonmises_fisher([0.6, 0.0, -0.8], 4.0),
        mu=[0.6, 0.0, -0.8],
        kappa=4.0,
    ),
    example(
        "VonMisesFisher",
        stats.vonmises_fisher([0.0, 1.0, 0.0], 0.1),
        mu=[0.0, 1.0, 0.0],
        kappa=0.1,
    ),
    example(
        "VonMisesFisher",
        stats.vonmises_fisher([0.6, 0.8, 0.0], 90.0),
        mu=[0.6, 0.8, 0.0],
        kappa=90.0,
    ),
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


# Improper: no distribution to compare with.
IMPROPER = {"Flat", "HalfFlat"}


def test_every_row_has_an_example_and_simulates() -> None:
    assert {e.family for e in EXAMPLES} == set(FAMILIES) - IMPROPER
    for row in FAMILIES.values():
        assert hasattr(simulation, row.simulate)


def test_every_draw_that_a_row_names_exists() -> None:
    for row in FAMILIES.values():
        if row.natural is not None:
            assert hasattr(runtime, row.natural.draw)
            assert row.natural.truncated is None or hasattr(runtime, row.natural.truncated)


@pytest.mark.parametrize("name", sorted(IMPROPER))
def test_improper_rows_have_log_density_0_and_say_that_they_have_no_draws(name: str) -> None:
    row = FAMILIES[name]
    assert row.log_density(target_of(row), ()) == 0
    with pytest.raises(ValueError, match="an improper prior has no distribution"):
        getattr(simulation, row.simulate)(np.random.default_rng(1), size=(3,))


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
    ("AsymmetricLaplace", "scale"): {"mu": 1.3, "scale": 0.5, "q": 0.3},
    ("Gamma", "scale"): {"shape": 2.5, "scale": 1 / 3},
    ("Gamma", "mu", "shape"): {"mu": 2.5 / 3, "shape": 2.5},
    ("Gamma", "mu", "sigma"): {"mu": 2.5 / 3, "sigma": 2.5**0.5 / 3},
    ("Exponential", "scale"): {"scale": 1 / 3},
    ("LogNormal", "sigma"): {"mu": 0.3, "sigma": 0.5},
    ("LogNormal", "var"): {"mu": 0.3, "var": 0.25},
    ("Weibull", "scale"): {"shape": 1.7, "scale": 3.0 ** (-1 / 1.7)},
    ("HalfNormal", "sigma"): {"sigma": 0.5},
    ("Rayleigh", "sigma"): {"sigma": 0.5},
    ("Maxwell", "sigma"): {"sigma": 0.5},
    ("GeneralizedGamma", "scale"): {"shape": 2.5, "scale": 3.0 ** (-1 / 1.7), "power": 1.7},
    ("Frechet", "scale"): {"shape": 2.7, "scale": 3.0 ** (1 / 2.7)},
    ("Beta", "mu", "kappa"): {"mu": 2.5 / 3.7, "kappa": 3.7},
    ("Bernoulli", "logit_p"): {"logit_p": np.log(0.3 / 0.7)},
    ("Binomial", "logit_p"): {"n": 7, "logit_p": np.log(0.3 / 0.7)},
    ("NegativeBinomial", "mu", "alpha"): {"mu": 2.5 * 0.6 / 0.4, "alpha": 2.5},
    ("ZeroInflatedBinomial", "logit_p"): {"psi": 0.7, "n": 7, "logit_p": np.log(0.3 / 0.7)},
    ("ZeroInflatedNegativeBinomial", "mu", "alpha"): {
        "psi": 0.7,
        "mu": 2.5 * 0.6 / 0.4,
        "alpha": 2.5,
    },
    ("MvNormal", "cov"): {"mu": np.array([1.0, -2.0, 0.5]), "cov": np.linalg.inv(MATRIX)},
    ("MvStudentT", "scale"): {
        "nu": 4.5,
        "mu": np.array([1.0, -2.0, 0.5]),
        "scale": np.linalg.inv(MATRIX),
    },
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
    for name, written in (("MvNormal", "cov"), ("MvStudentT", "scale"), ("Wishart", "R")):
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


# Structural zeros: where one source of zeros is all but impossible, the other is not forgotten.

ZEROS = [
    ("ZeroInflatedPoisson", {"psi": 1 - 2.0**-53, "rate": 1e4}),
    ("ZeroInflatedPoisson", {"psi": 1 - 1e-9, "rate": 20.0}),
    ("ZeroInflatedPoisson", {"psi": 1e-300, "rate": 20.0}),
    ("ZeroInflatedBinomial", {"psi": 1 - 2.0**-53, "n": 5000.0, "p": 0.999}),
    ("ZeroInflatedNegativeBinomial", {"psi": 1 - 2.0**-53, "n": 2.5, "p": 1e-100}),
]


def exact_log_zero(name: str, psi: Any, p: Mapping[str, Any]) -> float:
    match name.removeprefix("ZeroInflated"):
        case "Poisson":
            zero = mpmath.exp(-p["rate"])
        case "Binomial":
            zero = (1 - p["p"]) ** p["n"]
        case _:
            zero = p["p"] ** p["n"]
    return float(mpmath.log(1 - psi + psi * zero))


@pytest.mark.parametrize(("name", "parameters"), ZEROS)
def test_zeros_of_both_kinds_are_counted_at_extremes(name: str, parameters: Any) -> None:
    with mpmath.workdps(60):
        exact = {n: mpmath.mpf(v) for n, v in parameters.items()}
        expected = exact_log_zero(name, exact["psi"], exact)
        log_psi = float(mpmath.log(exact["psi"]))
    row = FAMILIES[name]
    base = FAMILIES[name.removeprefix("ZeroInflated")]
    rest = {n: v for n, v in parameters.items() if n != "psi"}
    assert density_at(row, parameters, 0.0) == pytest.approx(expected, rel=1e-14)
    assert density_at(row, parameters, 3.0) == pytest.approx(
        density_at(base, rest, 3.0) + log_psi, rel=1e-14
    )


@pytest.mark.parametrize("logit", [-700.0, 60.0, 700.0])
def test_log_odds_of_structural_zeros_far_out(logit: float) -> None:
    row = FAMILIES["ZeroInflatedPoisson"]
    leaves = {**symbols_of(row), "psi": Expit(Array("e")[()])}
    expr = row.log_density(target_of(row), (), **leaves)
    with mpmath.workdps(700):
        psi = 1 / (1 + mpmath.exp(-mpmath.mpf(logit)))
        expected = exact_log_zero(row.name, psi, {"rate": mpmath.mpf(650)})
    found = evaluate(expr, {X: 0.0, "e": logit, "rate": 650.0})
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-300)


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
    """The derivative by mpmath, in 30 digits."""
    natural = case.row.natural
    leaves = [sp.Symbol(f"eta_{i}") for i in range(len(eta))]
    known = {n: sp.Float(float(case.parameters[n])) for n in natural.known}
    expr = natural.log_partition(*leaves, **known)
    value = sp.lambdify(leaves, expr, [EXACT, "mpmath"])
    with mpmath.workdps(30):
        point = tuple(mpmath.mpf(float(e)) for e in eta)
        return float(mpmath.diff(value, point, tuple(int(i == j) for i in range(len(eta)))))


def exact_log_fox_wright(a: mpmath.mpf, z: mpmath.mpf) -> mpmath.mpf:
    terms = mpmath.nsum(lambda k: mpmath.gamma((a + k) / 2) * z**k / mpmath.factorial(k), [0, 200])
    return mpmath.log(terms)


EXACT = {
    "Softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "LogBesselI": lambda order, x: mpmath.log(mpmath.besseli(order, x)),
    "LogBesselK": lambda order, x: mpmath.log(mpmath.besselk(order, x)),
    "LogFoxWright": exact_log_fox_wright,
    "Where": lambda chosen, yes, no: yes if chosen else no,
    "Equals": lambda a, b: a == b,
}


def mean_statistics(case: Example) -> list[float]:
    reference = reference_of(case)
    if isinstance(reference, Integrated):
        count = len(statistics_at(case, 0.5))
        return [reference.expect(lambda x, j=j: statistics_at(case, x)[j]) for j in range(count)]
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
    names = [f"eta_{j}" for j in range(len(eta))]
    known = {n: symbols_of(case.row)[n] for n in natural.known}
    domain = natural.domain(*(Array(n)[()] for n in names), **known)
    values = {**case.parameters, **dict(zip(names, eta, strict=True))}
    for condition in domain:
        assert np.all(np.asarray(evaluate(condition, values)) > 0)


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
    x = np.unique(reference.ppf(np.array([1e-6, 1e-3, 0.3, 0.5, 0.8, 0.999])))
    for formula, expected in ((row.log_cdf, reference.logcdf(x)), (row.log_sf, reference.logsf(x))):
        found = evaluate(formula(target_of(row), **symbols_of(row)), {**case.parameters, X: x})
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-14)


# Their distribution functions are integrals without a closed form.
NOT_TRUNCATED = {
    "GeneralizedInverseGaussian",
    "ModifiedHalfNormal",
    "PolyaGamma",
    "VonMises",
    "BetaBinomial",
    "Categorical",
    "ChineseRestaurantTable",
    "Hypergeometric",
}


def test_every_scalar_row_can_be_truncated_but_a_few() -> None:
    without = {e.family for e in SCALAR if e.row.log_cdf is None or e.row.log_sf is None}
    assert without == NOT_TRUNCATED


# Far out: where SciPy's distribution functions have lost their digits, arbitrary precision has not.


def exact_inverse_gaussian(x: Any, mu: Any, lam: Any) -> tuple[Any, Any]:
    root = mpmath.sqrt(lam / x)
    z, w = root * (x / mu - 1), root * (x / mu + 1)
    reflected = mpmath.exp(2 * lam / mu) * mpmath.ncdf(-w)
    return mpmath.ncdf(z) + reflected, mpmath.ncdf(-z) - reflected


def exact_of_hazard(hazard: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """The distribution functions of a lifetime, from its cumulative hazard."""
    return lambda x, **p: (-mpmath.expm1(-hazard(x, **p)), mpmath.exp(-hazard(x, **p)))


def exact_frechet(x: Any, shape: Any, rate: Any) -> tuple[Any, Any]:
    return mpmath.exp(-rate * x**-shape), -mpmath.expm1(-rate * x**-shape)


def exact_poisson(x: Any, rate: Any) -> tuple[Any, Any]:
    terms = [rate**k / mpmath.factorial(k) for k in range(int(x) + 1)]
    below = mpmath.fsum(terms) * mpmath.exp(-rate)
    return below, 1 - below


def exact_binomial(x: Any, n: Any, p: Any) -> tuple[Any, Any]:
    terms = [mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(int(x) + 1)]
    return mpmath.fsum(terms), 1 - mpmath.fsum(terms)


def exact_negative_binomial(x: Any, n: Any, p: Any) -> tuple[Any, Any]:
    terms = [mpmath.rf(n, k) / mpmath.factorial(k) * (1 - p) ** k for k in range(int(x) + 1)]
    below = mpmath.fsum(terms) * p**n
    return below, 1 - below


def exact_fisher_snedecor(x: Any, nu_1: Any, nu_2: Any) -> tuple[Any, Any]:
    share, (a, b) = nu_2 / (nu_1 * x + nu_2), (nu_1 / 2, nu_2 / 2)
    below = mpmath.betainc(a, b, 0, 1 - share, regularized=True)
    return below, mpmath.betainc(b, a, 0, share, regularized=True)


def exact_inflated(x: Any, psi: Any, rate: Any) -> tuple[Any, Any]:
    above = psi * exact_poisson(x, rate)[1]
    return 1 - above, above


def exact_cauchy(x: Any, mu: Any, scale: Any) -> tuple[Any, Any]:
    angle = mpmath.atan2(scale, mu - x)  # from the far left it is seen as small
    return angle / mpmath.pi, 1 - angle / mpmath.pi


def exact_asymmetric(x: Any, mu: Any, rate: Any, q: Any) -> tuple[Any, Any]:
    if x < mu:
        below = q * mpmath.exp((1 - q) * rate * (x - mu))
        return below, 1 - below
    above = (1 - q) * mpmath.exp(-q * rate * (x - mu))
    return 1 - above, above


exact_lomax = exact_of_hazard(lambda x, shape, scale: shape * mpmath.log1p(x / scale))
exact_burr = exact_of_hazard(lambda x, c, k, scale: k * mpmath.log1p((x / scale) ** c))
exact_gompertz = exact_of_hazard(lambda x, shape, rate: rate * mpmath.expm1(shape * x) / shape)
exact_kumaraswamy = exact_of_hazard(lambda x, a, b: -b * mpmath.log1p(-(x**a)))
exact_geometric = exact_of_hazard(lambda x, p: -(x + 1) * mpmath.log1p(-p))

FAR_OUT: tuple[tuple[str, Callable[..., tuple[Any, Any]], Mapping[str, float], float], ...] = (
    ("Cauchy", exact_cauchy, {"mu": 0.0, "scale": 2.0}, -1e30),
    ("Cauchy", exact_cauchy, {"mu": 0.0, "scale": 2.0}, -1e-30),
    ("Cauchy", exact_cauchy, {"mu": 0.0, "scale": 2.0}, 0.0),
    ("Cauchy", exact_cauchy, {"mu": 1.0, "scale": 2.0}, 1e20),
    ("AsymmetricLaplace", exact_asymmetric, {"mu": 1.0, "rate": 2.0, "q": 0.3}, -2000.0),
    ("AsymmetricLaplace", exact_asymmetric, {"mu": 1.0, "rate": 2.0, "q": 0.3}, 1000.0),
    ("AsymmetricLaplace", exact_asymmetric, {"mu": 1.0, "rate": 2.0, "q": 1e-12}, 1.0),
    ("InverseGaussian", exact_inverse_gaussian, {"mu": 1.5, "lam": 2.5}, 1e-4),
    ("InverseGaussian", exact_inverse_gaussian, {"mu": 1.5, "lam": 2.5}, 3e3),
    ("InverseGaussian", exact_inverse_gaussian, {"mu": 2.0, "lam": 2e4}, 1.5),
    ("InverseGaussian", exact_inverse_gaussian, {"mu": 2.0, "lam": 2e4}, 3.0),
    ("Lomax", exact_lomax, {"shape": 0.3, "scale": 2.0}, 1e-30),
    ("Lomax", exact_lomax, {"shape": 40.0, "scale": 2.0}, 1e30),
    ("BurrXII", exact_burr, {"c": 1.7, "k": 0.4, "scale": 2.0}, 1e-40),
    ("BurrXII", exact_burr, {"c": 30.0, "k": 0.4, "scale": 2.0}, 1e200),
    ("FisherSnedecor", exact_fisher_snedecor, {"nu_1": 3.0, "nu_2": 5.0}, 1e-20),
    ("FisherSnedecor", exact_fisher_snedecor, {"nu_1": 3.0, "nu_2": 5.0}, 1e20),
    ("FisherSnedecor", exact_fisher_snedecor, {"nu_1": 400.0, "nu_2": 0.3}, 0.02),
    ("Gompertz", exact_gompertz, {"shape": 1e-12, "rate": 2.0}, 1e-30),
    ("Gompertz", exact_gompertz, {"shape": 1e-12, "rate": 2.0}, 400.0),
    ("Gompertz", exact_gompertz, {"shape": 30.0, "rate": 2.0}, 1.0),
    ("Frechet", exact_frechet, {"shape": 1.5, "rate": 2.0}, 1e-4),
    ("Frechet", exact_frechet, {"shape": 1.5, "rate": 2.0}, 1e40),
    ("Kumaraswamy", exact_kumaraswamy, {"a": 2.5, "b": 1.2}, 1e-30),
    ("Kumaraswamy", exact_kumaraswamy, {"a": 0.01, "b": 1.2}, 1e-200),
    ("Poisson", exact_poisson, {"rate": 900.0}, 3.0),
    ("Poisson", exact_poisson, {"rate": 1e-3}, 60.0),
    ("Binomial", exact_binomial, {"n": 2000.0, "p": 0.7}, 4.0),
    ("Binomial", exact_binomial, {"n": 400.0, "p": 1e-3}, 250.0),
    ("Binomial", exact_binomial, {"n": 1e4, "p": 5e-3}, 2.0),
    ("NegativeBinomial", exact_negative_binomial, {"n": 2.5, "p": 1e-8}, 3.0),
    ("NegativeBinomial", exact_negative_binomial, {"n": 2.5, "p": 0.99}, 200.0),
    ("Geometric", exact_geometric, {"p": 1e-20}, 3.0),
    ("Geometric", exact_geometric, {"p": 0.9}, 900.0),
    ("ZeroInflatedPoisson", exact_inflated, {"psi": 1e-9, "rate": 900.0}, 3.0),
    ("ZeroInflatedPoisson", exact_inflated, {"psi": 1 - 1e-9, "rate": 900.0}, 3.0),
    ("ZeroInflatedPoisson", exact_inflated, {"psi": 0.4, "rate": 1e-3}, 60.0),
)


@pytest.mark.parametrize("far", FAR_OUT, ids=lambda far: f"{far[0]}-{far[3]:g}")
def test_log_cdf_and_log_sf_keep_their_digits_in_both_tails(far: Any) -> None:
    name, exact, parameters, x = far
    row = FAMILIES[name]
    with mpmath.workdps(700):
        below, above = exact(mpmath.mpf(x), **{n: mpmath.mpf(v) for n, v in parameters.items()})
        expected = [float(log_of(p, q)) for p, q in ((below, above), (above, below))]
    for formula, log_p in zip((row.log_cdf, row.log_sf), expected, strict=True):
        found = evaluate(formula(target_of(row), **symbols_of(row)), {**parameters, X: x})
        assert float(found) == pytest.approx(log_p, rel=1e-10, abs=1e-300)


def log_of(p: Any, rest: Any) -> Any:
    """``log p``, from ``rest = 1 - p`` where that is the smaller."""
    return mpmath.log1p(-rest) if p > 0.5 else mpmath.log(p)


# Truncated counts: the bounds are among the values.

TRUNCATED_COUNTS = [
    ("Poisson", {"rate": 3.4}, 2, None),
    ("Poisson", {"rate": 3.4}, None, 4),
    ("Poisson", {"rate": 3.4}, 0, 6),
    ("Poisson", {"rate": 300.0}, 2, 5),
    ("Poisson", {"rate": 3.4}, 30, 40),
    ("Binomial", {"n": 7, "p": 0.3}, 3, None),
    ("Binomial", {"n": 7, "p": 0.3}, 0, 2),
    ("Binomial", {"n": 7, "p": 0.3}, 5, 7),
    ("Binomial", {"n": 7, "p": 0.3}, 4, 4),
    ("NegativeBinomial", {"n": 2.5, "p": 0.4}, 1, None),
    ("NegativeBinomial", {"n": 2.5, "p": 0.4}, 3, 6),
    ("Geometric", {"p": 0.3}, 1, None),
    ("Geometric", {"p": 0.3}, 0, 3),
    ("Bernoulli", {"p": 0.3}, 1, None),
    ("Bernoulli", {"p": 0.3}, 0, 1),
    ("ZeroInflatedPoisson", {"psi": 0.7, "rate": 3.4}, 0, 4),
    ("ZeroInflatedPoisson", {"psi": 0.7, "rate": 3.4}, 1, None),
    ("ZeroInflatedBinomial", {"psi": 0.7, "n": 7, "p": 0.3}, None, 2),
    ("ZeroInflatedNegativeBinomial", {"psi": 0.7, "n": 2.5, "p": 0.4}, 1, 6),
    ("DiscreteUniform", {"lower": -2, "upper": 4}, -1, 3),
    ("DiscreteUniform", {"lower": -2, "upper": 4}, None, -2),
]


def truncated(family: str, parameters: Any, lower: Any, upper: Any) -> Statement:
    arguments = tuple((n, sp.nsimplify(v)) for n, v in parameters.items())
    bounds = [None if b is None else sp.Integer(b) for b in (lower, upper)]
    over = (Range(K, 0, 3000),)
    return Statement("x", Array(X)[K], over, (), FAMILIES[family], arguments, *bounds)


def values_of(statement: Statement) -> Any:
    """All values of the statement with a mass worth speaking of."""
    lower, upper = statement.support.lower, statement.support.upper
    return np.arange(int(lower), (400 if upper == sp.oo else int(upper)) + 1)


def masses_at(statement: Statement, x: Any, values: Mapping[str, float]) -> Any:
    logs = evaluate(statement.log_density, {**values, X: x}, {K: slice(None)})
    return np.broadcast_to(np.exp(logs), x.shape)


@pytest.mark.parametrize("case", TRUNCATED_COUNTS, ids=str)
def test_masses_of_truncated_counts_sum_to_one_and_bounds_may_vary(case: Any) -> None:
    statement = truncated(*case)
    x = values_of(statement)
    assert masses_at(statement, x, {}).sum() == pytest.approx(1, rel=1e-9)
    low, high = Array("low")[()], Array("high")[()]
    varying = replace(
        statement,
        lower=None if statement.lower is None else low,
        upper=None if statement.upper is None else high,
    )
    bounds = {"low": float(statement.lower or 0), "high": float(statement.upper or 0)}
    assert masses_at(varying, x, bounds).sum() == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("case", TRUNCATED_COUNTS, ids=str)
def test_truncated_counts_are_simulated_with_their_masses(case: Any) -> None:
    statement = truncated(*case)
    x = values_of(statement)
    masses = masses_at(statement, x, {})
    draws = drawn(np.random.default_rng(3), statement, {}, {K: 3000})
    assert set(np.unique(draws)) <= set(x)
    common = masses * 3000 >= 5
    found = np.append([(draws == v).sum() for v in x[common]], 0)
    expected = np.append(masses[common] * 3000, 0)
    found[-1], expected[-1] = 3000 - found.sum(), 3000 - expected.sum()
    kept = expected > 1e-6
    statistic = ((found[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert stats.chi2.sf(statistic, max(kept.sum() - 1, 1)) > 1e-4 / len(TRUNCATED_COUNTS)


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


def test_planted_bugs_of_the_new_normalisers_are_caught() -> None:
    for family, wrong in (
        ("ModifiedHalfNormal", lambda density, p: density + p["a"] * sp.log(p["b"]) / 2),
        ("GeneralizedInverseGaussian", lambda density, p: density + sp.log(2)),
        ("VonMises", lambda density, p: density + p["kappa"]),
    ):
        case = next(e for e in EXAMPLES if e.family == family)
        density = case.row.log_density

        def spoilt(x: Any, e: Any, f: Any = density, w: Any = wrong, **p: Any) -> Any:
            return w(f(x, e, **p), p)

        with pytest.raises(AssertionError):
            test_log_density_of_scalars_is_scipys(swapped(case, log_density=spoilt))


def test_planted_bugs_of_mixtures_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(e for e in EXAMPLES if e.family == "HuangWand")
    density = case.row.log_density
    unscaled = swapped(
        case, log_density=lambda x, e, **p: density(x, e, **p) + sp.log(p["nu"]) / 2
    )
    with pytest.raises(AssertionError):
        test_log_density_of_events_is_scipys(unscaled)

    row = FAMILIES["ZeroInflatedPoisson"]
    sampling, structural = (
        replace(row, log_density=lambda x, e, psi, rate, f=f: f(psi) - rate * (1 - x))
        for f in (sp.log, lambda psi: sp.log(1 - psi))
    )
    for forgetful, zeros in ((sampling, ZEROS[1]), (structural, ZEROS[1])):
        monkeypatch.setitem(FAMILIES, row.name, forgetful)
        with pytest.raises(AssertionError):
            test_zeros_of_both_kinds_are_counted_at_extremes(*zeros)


def test_an_open_lower_bound_of_counts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """P(X > l) for P(X >= l)."""
    monkeypatch.setattr(Support, "is_discrete", property(lambda _: False))
    with pytest.raises(AssertionError):
        test_masses_of_truncated_counts_sum_to_one_and_bounds_may_vary(TRUNCATED_COUNTS[0])


@pytest.mark.parametrize("a", [0.3, 1.0, 2.5, 40.0])
def test_the_normaliser_without_a_linear_term_is_a_gamma_function(a: float) -> None:
    exact = float(exact_log_fox_wright(mpmath.mpf(a), mpmath.mpf(0)))
    assert float(LogFoxWright(sp.Float(a), sp.S.Zero)) == pytest.approx(exact, rel=1e-12, abs=1e-12)
    assert LogFoxWright(sp.Symbol("a"), sp.S.Zero).free_symbols == {sp.Symbol("a")}
