"""Simulation of every row of the table of distributions from its canonical parameters.

``simulate_<row>(rng, *parameters, size)``: the parameters broadcast, event axes last, against
``size``. Values are inside the support, as those of ``gibbsppl.runtime.draws``.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> simulate_categorical(rng, np.array([[0.0, 1.0], [1.0, 0.0]]), size=(2,))
array([1, 0])
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import scipy

from gibbsppl.runtime import draws, special
from gibbsppl.runtime.draws import HUGE, positive, whole
from gibbsppl.runtime.matrices import inverse_wishart_of, mvnormal_information, wishart_of
from gibbsppl.runtime.polya_gamma import polya_gamma
from gibbsppl.runtime.stirling import tables
from gibbsppl.runtime.types import Floats, Generator, Integers, Numbers, Size, Values, Wholes


def simulate_normal(rng: Generator, mu: Numbers, tau: Numbers, size: Size) -> Numbers:
    """Normal values of mean mu and precision tau."""
    return mu + rng.standard_normal(size) / np.sqrt(tau)


def simulate_student_t(
    rng: Generator, nu: Numbers, mu: Numbers, tau: Numbers, size: Size
) -> Numbers:
    """Student-t values: normal ones whose precision is Gamma(nu / 2, nu / 2) times tau."""
    half = np.asarray(nu) / 2
    precision = draws.gamma_of(rng, half, half, size)
    return mu + rng.standard_normal(size) / np.sqrt(precision) / np.sqrt(tau)


def simulate_laplace(rng: Generator, mu: Numbers, rate: Numbers, size: Size) -> Numbers:
    """Laplace values of mean mu."""
    return draws.laplace(rng, -np.asarray(rate), size, mu)


def simulate_cauchy(rng: Generator, mu: Numbers, scale: Numbers, size: Size) -> Numbers:
    """Cauchy values of median mu."""
    return mu + scale * rng.standard_cauchy(size)


def simulate_asymmetric_laplace(
    rng: Generator, mu: Numbers, rate: Numbers, q: Numbers, size: Size
) -> Numbers:
    """Values below mu with probability q: a difference of exponential values, of rates q and 1 - q.

    Kozumi and Kobayashi (2011), Journal of Statistical Computation and Simulation 81.
    """
    above, below = rng.standard_exponential(size) / q, rng.standard_exponential(size) / (1.0 - q)
    return mu + (above - below) / rate


def simulate_logistic(rng: Generator, mu: Numbers, scale: Numbers, size: Size) -> Numbers:
    """Logistic values of mean mu."""
    return mu + scale * rng.logistic(0.0, 1.0, size)


def simulate_gamma(rng: Generator, shape: Numbers, rate: Numbers, size: Size) -> Numbers:
    """Gamma values of mean shape / rate."""
    return draws.gamma_of(rng, shape, rate, size)


def simulate_inverse_gamma(rng: Generator, shape: Numbers, scale: Numbers, size: Size) -> Numbers:
    """The inverses of Gamma(shape, rate=scale) values."""
    return draws.inverse_gamma_of(rng, shape, scale, size)


def simulate_exponential(rng: Generator, rate: Numbers, size: Size) -> Numbers:
    """Exponential values of mean 1 / rate."""
    return draws.exponential(rng, -np.asarray(rate), size)


def simulate_chi_squared(rng: Generator, nu: Numbers, size: Size) -> Numbers:
    """Chi-squared values of mean nu."""
    return draws.gamma_of(rng, np.asarray(nu) / 2, 0.5, size)


def simulate_log_normal(rng: Generator, mu: Numbers, tau: Numbers, size: Size) -> Numbers:
    """The exponentials of Normal(mu, tau) values."""
    return draws.from_log(simulate_normal(rng, mu, tau, size))


def simulate_weibull(rng: Generator, shape: Numbers, rate: Numbers, size: Size) -> Numbers:
    """Values whose power ``shape`` is Exponential(rate)."""
    return draws.weibull(rng, -np.asarray(rate), size, shape)


def simulate_pareto(rng: Generator, shape: Numbers, minimum: Numbers, size: Size) -> Numbers:
    """Values that exceed x with probability ``(minimum / x)**shape``."""
    return draws.pareto_of(rng, shape, minimum, size)


def simulate_half_normal(rng: Generator, tau: Numbers, size: Size) -> Numbers:
    """The absolute values of Normal(0, tau) values."""
    return positive(np.abs(rng.standard_normal(size)) / np.sqrt(tau))


def simulate_generalized_gamma(
    rng: Generator, shape: Numbers, rate: Numbers, power: Numbers, size: Size
) -> Numbers:
    """Values whose power ``power`` is Gamma(shape, rate)."""
    logs = draws.log_gamma_of(rng, shape, size) - np.log(rate)
    return draws.from_log(logs / power)


def simulate_rayleigh(rng: Generator, tau: Numbers, size: Size) -> Numbers:
    """The lengths of vectors of 2 Normal(0, tau) values."""
    return simulate_generalized_gamma(rng, 1.0, np.asarray(tau) / 2, 2.0, size)


def simulate_maxwell(rng: Generator, tau: Numbers, size: Size) -> Numbers:
    """The lengths of vectors of 3 Normal(0, tau) values."""
    return simulate_generalized_gamma(rng, 1.5, np.asarray(tau) / 2, 2.0, size)


def simulate_chi(rng: Generator, nu: Numbers, size: Size) -> Numbers:
    """The roots of chi-squared values of mean nu."""
    return simulate_generalized_gamma(rng, np.asarray(nu) / 2, 0.5, 2.0, size)


def simulate_nakagami(rng: Generator, m: Numbers, omega: Numbers, size: Size) -> Numbers:
    """The roots of Gamma values of shape m and mean omega."""
    return simulate_generalized_gamma(rng, m, np.asarray(m) / omega, 2.0, size)


def simulate_generalized_inverse_gaussian(
    rng: Generator, p: Numbers, a: Numbers, b: Numbers, size: Size
) -> Numbers:
    """Values with log density ``(p - 1) log(x) - (a x + b / x) / 2``."""
    p, a, b = (np.asarray(v, float)[()] for v in (p, a, b))
    return special.generalized_inverse_gaussian(rng, p - 1.0, -a / 2, -b / 2, size)


def simulate_inverse_gaussian(rng: Generator, mu: Numbers, lam: Numbers, size: Size) -> Numbers:
    """Inverse-Gaussian values of mean mu and variance mu**3 / lam."""
    mu, lam = (np.asarray(v, float)[()] for v in (mu, lam))
    return special.inverse_gaussian(rng, -lam / mu / mu / 2, -lam / 2, size)


def simulate_modified_half_normal(
    rng: Generator, a: Numbers, b: Numbers, c: Numbers, size: Size
) -> Numbers:
    """Values with log density ``(a - 1) log(x) - b x**2 + c x``."""
    a, b, c = (np.asarray(v, float)[()] for v in (a, b, c))
    return special.modified_half_normal(rng, a - 1.0, c, -b, size)


def simulate_beta_prime(rng: Generator, a: Numbers, b: Numbers, size: Size) -> Numbers:
    """Ratios of Gamma(a, 1) and Gamma(b, 1) values."""
    return draws.from_log(draws.log_gamma_of(rng, a, size) - draws.log_gamma_of(rng, b, size))


def simulate_fisher_snedecor(rng: Generator, nu_1: Numbers, nu_2: Numbers, size: Size) -> Numbers:
    """Ratios of chi-squared values, each over its nu."""
    first, second = (np.asarray(nu, float)[()] for nu in (nu_1, nu_2))
    logs = draws.log_gamma_of(rng, first / 2, size) - draws.log_gamma_of(rng, second / 2, size)
    return draws.from_log(logs + np.log(second) - np.log(first))


def simulate_polya_gamma(rng: Generator, b: Numbers, c: Numbers, size: Size) -> Numbers:
    """PG(b, c) values, of mean ``b tanh(c / 2) / (2 c)``."""
    return polya_gamma(rng, np.asarray(c, float) ** 2 / -2, size, b)


def simulate_lomax(rng: Generator, shape: Numbers, scale: Numbers, size: Size) -> Numbers:
    """Values that exceed x with probability ``(1 + x / scale)**-shape``."""
    return simulate_burr_xii(rng, 1.0, shape, scale, size)


def simulate_burr_xii(
    rng: Generator, c: Numbers, k: Numbers, scale: Numbers, size: Size
) -> Numbers:
    """Values that exceed x with probability ``(1 + (x / scale)**c)**-k``."""
    hazard = rng.standard_exponential(size) / k
    log_expm1 = hazard + scipy.special.xlogy(1.0, -np.expm1(-hazard))
    return draws.from_log(np.log(scale) + log_expm1 / c)


def simulate_gompertz(rng: Generator, shape: Numbers, rate: Numbers, size: Size) -> Numbers:
    """Lifetimes under the hazard ``rate * exp(shape x)``."""
    log_hazard = scipy.special.xlogy(1.0, rng.standard_exponential(size)) - np.log(rate)
    return positive(np.logaddexp(0.0, np.log(shape) + log_hazard) / shape)


def simulate_frechet(rng: Generator, shape: Numbers, rate: Numbers, size: Size) -> Numbers:
    """The inverses of Weibull(shape, rate) values."""
    logs = np.log(rate) - scipy.special.xlogy(1.0, rng.standard_exponential(size))
    return draws.from_log(logs / shape)


def simulate_gumbel(rng: Generator, mu: Numbers, scale: Numbers, size: Size) -> Numbers:
    """Gumbel values of mode mu."""
    return mu + scale * rng.gumbel(0.0, 1.0, size)


def simulate_flat(rng: Generator, size: Size) -> NoReturn:  # noqa: ARG001  (called as all are)
    """No values: an error that says why."""
    raise ValueError("an improper prior has no distribution to simulate from")


def simulate_half_flat(rng: Generator, size: Size) -> Numbers:
    """No values: an error that says why."""
    return simulate_flat(rng, size)


@np.errstate(over="ignore")
def simulate_half_cauchy(rng: Generator, scale: Numbers, size: Size) -> Numbers:
    """The absolute values of Cauchy values of median scale."""
    return positive(np.minimum(scale * np.abs(rng.standard_cauchy(size)), HUGE))


@np.errstate(over="ignore")
def simulate_half_student_t(rng: Generator, nu: Numbers, scale: Numbers, size: Size) -> Numbers:
    """The absolute values of Student-t values times scale."""
    return positive(np.minimum(scale * np.abs(simulate_student_t(rng, nu, 0.0, 1.0, size)), HUGE))


def simulate_beta(rng: Generator, a: Numbers, b: Numbers, size: Size) -> Numbers:
    """Beta values of mean a / (a + b)."""
    return draws.beta_of(rng, a, b, size)


def simulate_beta_exponential(rng: Generator, a: Numbers, b: Numbers, size: Size) -> Numbers:
    """Minus the logs of Beta(a, b) values."""
    return draws.beta_exponential_of(rng, a, b, size)


def simulate_kumaraswamy(rng: Generator, a: Numbers, b: Numbers, size: Size) -> Numbers:
    """Values of which ``-log(1 - x**a)`` is Exponential(b), strictly inside (0, 1)."""
    power = -np.expm1(-rng.standard_exponential(size) / b)
    return np.minimum(draws.from_log(scipy.special.xlogy(1.0, power) / a), draws.BELOW_ONE)


def simulate_uniform(rng: Generator, lower: Numbers, upper: Numbers, size: Size) -> Numbers:
    """Values of equal density strictly between the bounds."""
    return draws.uniform(rng, size, lower, upper)


def simulate_bernoulli(rng: Generator, p: Numbers, size: Size) -> Wholes:
    """1 with probability p, else 0."""
    return (rng.random(size) < p).astype(np.int64)


def simulate_binomial(rng: Generator, n: Values, p: Numbers, size: Size) -> Wholes:
    """The number of successes in n trials of probability p."""
    return rng.binomial(whole(n), p, size)[()]


def simulate_beta_binomial(
    rng: Generator, n: Values, alpha: Numbers, beta: Numbers, size: Size
) -> Wholes:
    """The number of successes in n trials of one probability, which is Beta(alpha, beta)."""
    return simulate_binomial(rng, n, draws.beta_of(rng, alpha, beta, size), size)


def simulate_chinese_restaurant_table(
    rng: Generator, n: Values, alpha: Numbers, size: Size
) -> Wholes:
    """The number of tables that n customers sit at, where alpha is the weight of a new one."""
    return tables(rng, np.log(alpha), size, n=n)


def simulate_zero_inflated_poisson(
    rng: Generator, psi: Numbers, rate: Numbers, size: Size
) -> Wholes:
    """Poisson counts with probability psi, else 0."""
    return simulate_bernoulli(rng, psi, size) * simulate_poisson(rng, rate, size)


def simulate_zero_inflated_binomial(
    rng: Generator, psi: Numbers, n: Values, p: Numbers, size: Size
) -> Wholes:
    """Numbers of successes with probability psi, else 0."""
    return simulate_bernoulli(rng, psi, size) * simulate_binomial(rng, n, p, size)


def simulate_zero_inflated_negative_binomial(
    rng: Generator, psi: Numbers, n: Numbers, p: Numbers, size: Size
) -> Wholes:
    """Numbers of failures before n successes with probability psi, else 0."""
    return simulate_bernoulli(rng, psi, size) * simulate_negative_binomial(rng, n, p, size)


def simulate_hypergeometric(rng: Generator, N: Values, D: Values, n: Values, size: Size) -> Wholes:
    """The number of marked items among n drawn from N, of which D are marked."""
    total, marked = whole(N), whole(D)
    return rng.hypergeometric(marked, total - marked, whole(n), size)[()]


def simulate_poisson(rng: Generator, rate: Numbers, size: Size) -> Wholes:
    """Poisson counts of mean rate."""
    return rng.poisson(rate, size)[()]


def simulate_geometric(rng: Generator, p: Numbers, size: Size) -> Wholes:
    """The number of failures before the first success."""
    return rng.geometric(p, size)[()] - 1


def simulate_negative_binomial(rng: Generator, n: Numbers, p: Numbers, size: Size) -> Wholes:
    """The number of failures before n successes of probability p."""
    return rng.negative_binomial(n, p, size)[()]


def simulate_discrete_uniform(rng: Generator, lower: Values, upper: Values, size: Size) -> Wholes:
    """The whole numbers lower..upper, all with the same probability."""
    return draws.discrete_uniform(rng, size, lower, upper)


def simulate_categorical(rng: Generator, p: Floats, size: Size) -> Wholes:
    """Labels with the probabilities p along the last axis (which need not sum to one)."""
    cumulative = np.cumsum(p, -1)
    # A label is how many cumulative sums are passed; the last sum never is, though u * sum may
    # round to it.
    heights = rng.random(size)[..., None] * cumulative[..., -1:]
    return (cumulative[..., :-1] <= heights).sum(-1)


def simulate_dirichlet(rng: Generator, a: Floats, size: Size) -> Floats:
    """Vectors of sum one of mean a / sum(a), along the last axis."""
    return draws.dirichlet_of(rng, np.asarray(a), size)


def simulate_multinomial(rng: Generator, n: Values, p: Floats, size: Size) -> Integers:
    """Counts of sum n, along the last axis."""
    return rng.multinomial(whole(n), p, size[:-1] or None)


def simulate_mvnormal(rng: Generator, mu: Numbers, tau: Floats, size: Size) -> Floats:
    """Normal vectors of mean mu and precision matrix tau."""
    return mu + mvnormal_information(rng, np.zeros(size), np.asarray(tau))


def simulate_mv_student_t(
    rng: Generator, nu: Numbers, mu: Numbers, tau: Floats, size: Size
) -> Floats:
    """Normal vectors whose precision matrix is Gamma(nu / 2, nu / 2) times tau."""
    half = np.asarray(nu, float) / 2
    precision = np.asarray(draws.gamma_of(rng, half, half, size[:-1]))[..., None]
    return mu + mvnormal_information(rng, np.zeros(size), np.asarray(tau)) / np.sqrt(precision)


def simulate_von_mises(rng: Generator, mu: Numbers, kappa: Numbers, size: Size) -> Numbers:
    """Angles between -pi and pi of mean direction mu."""
    mu, kappa = (np.asarray(v, float)[()] for v in (mu, kappa))
    return special.von_mises(rng, kappa * np.cos(mu), kappa * np.sin(mu), size)


def simulate_von_mises_fisher(rng: Generator, mu: Floats, kappa: Numbers, size: Size) -> Floats:
    """Unit vectors of mean direction mu, along the last axis."""
    return special.von_mises_fisher(rng, np.asarray(kappa)[..., None] * mu, size)


def simulate_wishart(rng: Generator, nu: Numbers, V: Floats, size: Size) -> Floats:
    """Wishart matrices of mean nu V."""
    return wishart_of(rng, nu, np.asarray(V), size)


def simulate_inverse_wishart(rng: Generator, nu: Numbers, S: Floats, size: Size) -> Floats:
    """Matrices whose inverses are Wishart(nu, S^-1)."""
    return inverse_wishart_of(rng, nu, np.asarray(S), size)


def simulate_huang_wand(rng: Generator, nu: Numbers, scale: Numbers, size: Size) -> Floats:
    """InverseWishart(nu + p - 1, 2 nu diag(1 / a)) matrices, a InverseGamma(1/2, 1 / scale^2)."""
    nu, scale = np.asarray(nu, float), np.asarray(scale, float)
    a = draws.inverse_gamma_of(rng, 0.5, scale**-2.0, size[:-1])
    S = (2.0 * nu[..., None] / a)[..., None] * np.eye(size[-1])
    return inverse_wishart_of(rng, nu + (size[-1] - 1), S, size)
