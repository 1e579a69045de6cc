"""Simulation of every row of the table of distributions from its canonical parameters.

``simulate_<row>(rng, *parameters, size)``: the parameters broadcast, event axes last, against
``size``. Values are inside the support, as those of ``gibbsppl.runtime.draws``.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> simulate_categorical(rng, np.array([[0.0, 1.0], [1.0, 0.0]]), size=(2,))
array([1, 0])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from gibbsppl.runtime import draws, special
from gibbsppl.runtime.draws import HUGE, Generator, Size, positive, whole
from gibbsppl.runtime.matrices import inverse_wishart_of, mvnormal_information, wishart_of
from gibbsppl.runtime.polya_gamma import polya_gamma
from gibbsppl.runtime.stirling import tables


def simulate_normal(rng: Generator, mu: Any, tau: Any, size: Size) -> Any:
    """Normal values of mean mu and precision tau."""
    return mu + rng.standard_normal(size) / np.sqrt(tau)


def simulate_student_t(rng: Generator, nu: Any, mu: Any, tau: Any, size: Size) -> Any:
    """Student-t values: normal ones whose precision is Gamma(nu / 2, nu / 2) times tau."""
    half = np.asarray(nu) / 2
    precision = draws.gamma_of(rng, half, half, size)
    return mu + rng.standard_normal(size) / np.sqrt(precision) / np.sqrt(tau)


def simulate_laplace(rng: Generator, mu: Any, rate: Any, size: Size) -> Any:
    """Laplace values of mean mu."""
    return draws.laplace(rng, -np.asarray(rate), size, mu)


def simulate_cauchy(rng: Generator, mu: Any, scale: Any, size: Size) -> Any:
    """Cauchy values of median mu."""
    return mu + scale * rng.standard_cauchy(size)


def simulate_asymmetric_laplace(rng: Generator, mu: Any, rate: Any, q: Any, size: Size) -> Any:
    """Values below mu with probability q: a difference of exponential values, of rates q and 1 - q.

    Kozumi and Kobayashi (2011), Journal of Statistical Computation and Simulation 81.
    """
    above, below = rng.standard_exponential(size) / q, rng.standard_exponential(size) / (1.0 - q)
    return mu + (above - below) / rate


def simulate_logistic(rng: Generator, mu: Any, scale: Any, size: Size) -> Any:
    """Logistic values of mean mu."""
    return mu + scale * rng.logistic(0.0, 1.0, size)


def simulate_gamma(rng: Generator, shape: Any, rate: Any, size: Size) -> Any:
    """Gamma values of mean shape / rate."""
    return draws.gamma_of(rng, shape, rate, size)


def simulate_inverse_gamma(rng: Generator, shape: Any, scale: Any, size: Size) -> Any:
    """The inverses of Gamma(shape, rate=scale) values."""
    return draws.inverse_gamma_of(rng, shape, scale, size)


def simulate_exponential(rng: Generator, rate: Any, size: Size) -> Any:
    """Exponential values of mean 1 / rate."""
    return draws.exponential(rng, -np.asarray(rate), size)


def simulate_chi_squared(rng: Generator, nu: Any, size: Size) -> Any:
    """Chi-squared values of mean nu."""
    return draws.gamma_of(rng, np.asarray(nu) / 2, 0.5, size)


def simulate_log_normal(rng: Generator, mu: Any, tau: Any, size: Size) -> Any:
    """The exponentials of Normal(mu, tau) values."""
    return draws.from_log(simulate_normal(rng, mu, tau, size))


def simulate_weibull(rng: Generator, shape: Any, rate: Any, size: Size) -> Any:
    """Values whose power ``shape`` is Exponential(rate)."""
    return draws.weibull(rng, -np.asarray(rate), size, shape)


def simulate_pareto(rng: Generator, shape: Any, minimum: Any, size: Size) -> Any:
    """Values that exceed x with probability ``(minimum / x)**shape``."""
    return draws.pareto_of(rng, shape, minimum, size)


def simulate_half_normal(rng: Generator, tau: Any, size: Size) -> Any:
    """The absolute values of Normal(0, tau) values."""
    return positive(np.abs(rng.standard_normal(size)) / np.sqrt(tau))


def simulate_generalized_gamma(
    rng: Generator, shape: Any, rate: Any, power: Any, size: Size
) -> Any:
    """Values whose power ``power`` is Gamma(shape, rate)."""
    logs = draws.log_gamma_of(rng, shape, size) - np.log(rate)
    return draws.from_log(logs / power)


def simulate_rayleigh(rng: Generator, tau: Any, size: Size) -> Any:
    """The lengths of vectors of 2 Normal(0, tau) values."""
    return simulate_generalized_gamma(rng, 1.0, np.asarray(tau) / 2, 2.0, size)


def simulate_maxwell(rng: Generator, tau: Any, size: Size) -> Any:
    """The lengths of vectors of 3 Normal(0, tau) values."""
    return simulate_generalized_gamma(rng, 1.5, np.asarray(tau) / 2, 2.0, size)


def simulate_chi(rng: Generator, nu: Any, size: Size) -> Any:
    """The roots of chi-squared values of mean nu."""
    return simulate_generalized_gamma(rng, np.asarray(nu) / 2, 0.5, 2.0, size)


def simulate_nakagami(rng: Generator, m: Any, omega: Any, size: Size) -> Any:
    """The roots of Gamma values of shape m and mean omega."""
    return simulate_generalized_gamma(rng, m, np.asarray(m) / omega, 2.0, size)


def simulate_generalized_inverse_gaussian(
    rng: Generator, p: Any, a: Any, b: Any, size: Size
) -> Any:
    """Values with log density ``(p - 1) log(x) - (a x + b / x) / 2``."""
    p, a, b = (np.asarray(v, float)[()] for v in (p, a, b))
    return special.generalized_inverse_gaussian(rng, p - 1.0, -a / 2, -b / 2, size)


def simulate_inverse_gaussian(rng: Generator, mu: Any, lam: Any, size: Size) -> Any:
    """Inverse-Gaussian values of mean mu and variance mu**3 / lam."""
    mu, lam = (np.asarray(v, float)[()] for v in (mu, lam))
    return special.inverse_gaussian(rng, -lam / mu / mu / 2, -lam / 2, size)


def simulate_modified_half_normal(rng: Generator, a: Any, b: Any, c: Any, size: Size) -> Any:
    """Values with log density ``(a - 1) log(x) - b x**2 + c x``."""
    a, b, c = (np.asarray(v, float)[()] for v in (a, b, c))
    return special.modified_half_normal(rng, a - 1.0, c, -b, size)


def simulate_beta_prime(rng: Generator, a: Any, b: Any, size: Size) -> Any:
    """Ratios of Gamma(a, 1) and Gamma(b, 1) values."""
    return draws.from_log(draws.log_gamma_of(rng, a, size) - draws.log_gamma_of(rng, b, size))


def simulate_fisher_snedecor(rng: Generator, nu_1: Any, nu_2: Any, size: Size) -> Any:
    """Ratios of chi-squared values, each over its nu."""
    first, second = (np.asarray(nu, float)[()] for nu in (nu_1, nu_2))
    logs = draws.log_gamma_of(rng, first / 2, size) - draws.log_gamma_of(rng, second / 2, size)
    return draws.from_log(logs + np.log(second) - np.log(first))


def simulate_polya_gamma(rng: Generator, b: Any, c: Any, size: Size) -> Any:
    """PG(b, c) values, of mean ``b tanh(c / 2) / (2 c)``."""
    return polya_gamma(rng, np.asarray(c, float) ** 2 / -2, size, b)


def simulate_lomax(rng: Generator, shape: Any, scale: Any, size: Size) -> Any:
    """Values that exceed x with probability ``(1 + x / scale)**-shape``."""
    return simulate_burr_xii(rng, 1.0, shape, scale, size)


def simulate_burr_xii(rng: Generator, c: Any, k: Any, scale: Any, size: Size) -> Any:
    """Values that exceed x with probability ``(1 + (x / scale)**c)**-k``."""
    hazard = rng.standard_exponential(size) / k
    log_expm1 = hazard + xlogy(1.0, -np.expm1(-hazard))
    return draws.from_log(np.log(scale) + log_expm1 / c)


def simulate_gompertz(rng: Generator, shape: Any, rate: Any, size: Size) -> Any:
    """Lifetimes under the hazard ``rate * exp(shape x)``."""
    log_hazard = xlogy(1.0, rng.standard_exponential(size)) - np.log(rate)
    return positive(np.logaddexp(0.0, np.log(shape) + log_hazard) / shape)


def simulate_frechet(rng: Generator, shape: Any, rate: Any, size: Size) -> Any:
    """The inverses of Weibull(shape, rate) values."""
    logs = np.log(rate) - xlogy(1.0, rng.standard_exponential(size))
    return draws.from_log(logs / shape)


def simulate_gumbel(rng: Generator, mu: Any, scale: Any, size: Size) -> Any:
    """Gumbel values of mode mu."""
    return mu + scale * rng.gumbel(0.0, 1.0, size)


def simulate_flat(rng: Generator, size: Size) -> Any:  # noqa: ARG001  (called as all are)
    """No values: an error that says why."""
    raise ValueError("an improper prior has no distribution to simulate from")


def simulate_half_flat(rng: Generator, size: Size) -> Any:
    """No values: an error that says why."""
    return simulate_flat(rng, size)


@np.errstate(over="ignore")
def simulate_half_cauchy(rng: Generator, scale: Any, size: Size) -> Any:
    """The absolute values of Cauchy values of median scale."""
    return positive(np.minimum(scale * np.abs(rng.standard_cauchy(size)), HUGE))


@np.errstate(over="ignore")
def simulate_half_student_t(rng: Generator, nu: Any, scale: Any, size: Size) -> Any:
    """The absolute values of Student-t values times scale."""
    return positive(np.minimum(scale * np.abs(simulate_student_t(rng, nu, 0.0, 1.0, size)), HUGE))


def simulate_beta(rng: Generator, a: Any, b: Any, size: Size) -> Any:
    """Beta values of mean a / (a + b)."""
    return draws.beta_of(rng, a, b, size)


def simulate_beta_exponential(rng: Generator, a: Any, b: Any, size: Size) -> Any:
    """Minus the logs of Beta(a, b) values."""
    return draws.beta_exponential_of(rng, a, b, size)


def simulate_kumaraswamy(rng: Generator, a: Any, b: Any, size: Size) -> Any:
    """Values of which ``-log(1 - x**a)`` is Exponential(b), strictly inside (0, 1)."""
    power = -np.expm1(-rng.standard_exponential(size) / b)
    return np.minimum(draws.from_log(xlogy(1.0, power) / a), draws.BELOW_ONE)


def simulate_uniform(rng: Generator, lower: Any, upper: Any, size: Size) -> Any:
    """Values of equal density strictly between the bounds."""
    return draws.uniform(rng, size, lower, upper)


def simulate_bernoulli(rng: Generator, p: Any, size: Size) -> Any:
    """1 with probability p, else 0."""
    return (rng.random(size) < p).astype(np.int64)


def simulate_binomial(rng: Generator, n: Any, p: Any, size: Size) -> Any:
    """The number of successes in n trials of probability p."""
    return rng.binomial(whole(n), p, size)[()]


def simulate_beta_binomial(rng: Generator, n: Any, alpha: Any, beta: Any, size: Size) -> Any:
    """The number of successes in n trials of one probability, which is Beta(alpha, beta)."""
    return simulate_binomial(rng, n, draws.beta_of(rng, alpha, beta, size), size)


def simulate_chinese_restaurant_table(rng: Generator, n: Any, alpha: Any, size: Size) -> Any:
    """The number of tables that n customers sit at, where alpha is the weight of a new one."""
    return tables(rng, np.log(alpha), size, n=n)


def simulate_zero_inflated_poisson(rng: Generator, psi: Any, rate: Any, size: Size) -> Any:
    """Poisson counts with probability psi, else 0."""
    return simulate_bernoulli(rng, psi, size) * simulate_poisson(rng, rate, size)


def simulate_zero_inflated_binomial(rng: Generator, psi: Any, n: Any, p: Any, size: Size) -> Any:
    """Numbers of successes with probability psi, else 0."""
    return simulate_bernoulli(rng, psi, size) * simulate_binomial(rng, n, p, size)


def simulate_zero_inflated_negative_binomial(
    rng: Generator, psi: Any, n: Any, p: Any, size: Size
) -> Any:
    """Numbers of failures before n successes with probability psi, else 0."""
    return simulate_bernoulli(rng, psi, size) * simulate_negative_binomial(rng, n, p, size)


def simulate_hypergeometric(rng: Generator, N: Any, D: Any, n: Any, size: Size) -> Any:
    """The number of marked items among n drawn from N, of which D are marked."""
    total, marked = whole(N), whole(D)
    return rng.hypergeometric(marked, total - marked, whole(n), size)[()]


def simulate_poisson(rng: Generator, rate: Any, size: Size) -> Any:
    """Poisson counts of mean rate."""
    return rng.poisson(rate, size)[()]


def simulate_geometric(rng: Generator, p: Any, size: Size) -> Any:
    """The number of failures before the first success."""
    return rng.geometric(p, size)[()] - 1


def simulate_negative_binomial(rng: Generator, n: Any, p: Any, size: Size) -> Any:
    """The number of failures before n successes of probability p."""
    return rng.negative_binomial(n, p, size)[()]


def simulate_discrete_uniform(rng: Generator, lower: Any, upper: Any, size: Size) -> Any:
    """The whole numbers lower..upper, all with the same probability."""
    return draws.discrete_uniform(rng, size, lower, upper)


def simulate_categorical(rng: Generator, p: Any, size: Size) -> Any:
    """Labels with the probabilities p along the last axis (which need not sum to one)."""
    cumulative = np.cumsum(p, -1)
    # A label is how many cumulative sums are passed; the last sum never is, though u * sum may
    # round to it.
    heights = rng.random(size)[..., None] * cumulative[..., -1:]
    return (cumulative[..., :-1] <= heights).sum(-1)


def simulate_dirichlet(rng: Generator, a: Any, size: Size) -> Any:
    """Vectors of sum one of mean a / sum(a), along the last axis."""
    return draws.dirichlet_of(rng, np.asarray(a), size)


def simulate_multinomial(rng: Generator, n: Any, p: Any, size: Size) -> Any:
    """Counts of sum n, along the last axis."""
    return rng.multinomial(whole(n), p, size[:-1] or None)


def simulate_mvnormal(rng: Generator, mu: Any, tau: Any, size: Size) -> Any:
    """Normal vectors of mean mu and precision matrix tau."""
    return mu + mvnormal_information(rng, np.zeros(size), np.asarray(tau))


def simulate_mv_student_t(rng: Generator, nu: Any, mu: Any, tau: Any, size: Size) -> Any:
    """Normal vectors whose precision matrix is Gamma(nu / 2, nu / 2) times tau."""
    half = np.asarray(nu, float) / 2
    precision = np.asarray(draws.gamma_of(rng, half, half, size[:-1]))[..., None]
    return mu + mvnormal_information(rng, np.zeros(size), np.asarray(tau)) / np.sqrt(precision)


def simulate_von_mises(rng: Generator, mu: Any, kappa: Any, size: Size) -> Any:
    """Angles between -pi and pi of mean direction mu."""
    mu, kappa = (np.asarray(v, float)[()] for v in (mu, kappa))
    return special.von_mises(rng, kappa * np.cos(mu), kappa * np.sin(mu), size)


def simulate_von_mises_fisher(rng: Generator, mu: Any, kappa: Any, size: Size) -> Any:
    """Unit vectors of mean direction mu, along the last axis."""
    return special.von_mises_fisher(rng, np.asarray(kappa)[..., None] * mu, size)


def simulate_wishart(rng: Generator, nu: Any, V: Any, size: Size) -> Any:
    """Wishart matrices of mean nu V."""
    return wishart_of(rng, nu, np.asarray(V), size)


def simulate_inverse_wishart(rng: Generator, nu: Any, S: Any, size: Size) -> Any:
    """Matrices whose inverses are Wishart(nu, S^-1)."""
    return inverse_wishart_of(rng, nu, np.asarray(S), size)


def simulate_huang_wand(rng: Generator, nu: Any, scale: Any, size: Size) -> Any:
    """InverseWishart(nu + p - 1, 2 nu diag(1 / a)) matrices, a InverseGamma(1/2, 1 / scale^2)."""
    nu, scale = np.asarray(nu, float), np.asarray(scale, float)
    a = draws.inverse_gamma_of(rng, 0.5, scale**-2.0, size[:-1])
    S = (2.0 * nu[..., None] / a)[..., None] * np.eye(size[-1])
    return inverse_wishart_of(rng, nu + (size[-1] - 1), S, size)
