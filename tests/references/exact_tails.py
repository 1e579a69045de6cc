"""The log distribution functions of every family in arbitrary precision: below, and above.

Each row gives the logs of P(X <= x) and of P(X > x), each with all of its digits: none is one less
the other where that would cancel. Nothing here is shared with the table of families.
"""

import mpmath
from mpmath import exp, log, log1p, mp, mpf

from references.exact_functions import log_normal_cdf, log_of, log_one_minus_exp


def logs_of(below, above):
    return log_of(below, above), log_of(above, below)


def other(log_p):
    """The log of ``1 - p``."""
    return -mpmath.inf if log_p == 0 else log_one_minus_exp(log_p)


def swapped(tails):
    return tails[1], tails[0]


def of_hazard(hazard):
    """Of a lifetime, from its cumulative hazard."""

    def tails(x, **parameters):
        log_q = -hazard(x, **parameters)
        return other(log_q), log_q

    return tails


def normal(z):
    return log_normal_cdf(z), log_normal_cdf(-z)


def gamma(a, x):
    """The lower tail by its series where that is short: DLMF 8.11.4."""
    if x < a + 1:
        series = mpmath.hyp1f1(1, a + 1, x)
        below = exp(a * log(x) - x - mpmath.loggamma(a + 1)) * series
        return logs_of(below, 1 - below)
    if x > 1e6 * (a + 1):  # (the first terms of DLMF 8.11.2: the next one is 1e-18 of them)
        first = (a - 1) / x
        series = first + first * (a - 2) / x
        log_q = (a - 1) * log(x) - x - mpmath.loggamma(a) + log1p(series)
        return other(log_q), log_q
    above = mpmath.gammainc(a, x, mpmath.inf, regularized=True)
    return logs_of(1 - above, above)


def beta(a, b, x, rest):
    """Of Beta(a, b), from x and ``rest = 1 - x``, by the series at the nearer end: DLMF 8.17.8."""
    if x > rest:
        return swapped(beta(b, a, rest, x))
    factor = exp(a * log(x) + b * log(rest) - log(a) - log_beta(a, b))
    below = factor * mpmath.hyp2f1(a + b, 1, a + 1, x)
    return logs_of(below, 1 - below)


def log_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


def student(z, nu):
    """Of the size of a Student-t: inside of z, outside."""
    total = nu + z**2
    return beta(mpf(1) / 2, nu / 2, z**2 / total, nu / total)


def of_size(tails, z):
    """Of what is symmetric about 0, from the tails of its size."""
    half = tails[1] - log(2)
    return (half, other(half)) if z < 0 else (other(half), half)


def student_t(x, nu, mu, tau):
    z = mpmath.sqrt(tau) * (x - mu)
    return (-log(2), -log(2)) if z == 0 else of_size(student(z, nu), z)


def cauchy(x, mu, scale):
    angles = mpmath.atan2(scale, mu - x), mpmath.atan2(scale, x - mu)
    return logs_of(*(a / mp.pi for a in angles))


def half_cauchy(x, scale):
    return logs_of(*(2 / mp.pi * mpmath.atan2(*s) for s in ((x, scale), (scale, x))))


def asymmetric_laplace(x, mu, rate, q):
    z = rate * (x - mu)
    if z < 0:
        log_p = log(q) + (1 - q) * z
        return log_p, other(log_p)
    log_q = log1p(-q) - q * z
    return other(log_q), log_q


def logistic(x, mu, scale):
    z = (x - mu) / scale
    return softplus_of(z), softplus_of(-z)


def softplus_of(z):
    """``-log(1 + exp(-z))``."""
    return -log1p(exp(-z)) if z > 0 else z - log1p(exp(z))


def gumbel(x, mu, scale):
    log_p = -exp(-(x - mu) / scale)
    return log_p, other(log_p)


def inverse_gaussian(x, mu, lam):
    root = mpmath.sqrt(lam / x)
    z, w = root * (x / mu - 1), root * (x / mu + 1)
    reflected = exp(2 * lam / mu + log_normal_cdf(-w))
    return logs_of(exp(log_normal_cdf(z)) + reflected, exp(log_normal_cdf(-z)) - reflected)


def binomial(x, n, p):
    if x >= n:
        return mpf(0), -mpmath.inf
    return swapped(beta(x + 1, n - x, p, 1 - p))


def poisson(x, rate):
    return swapped(gamma(x + 1, rate))


def negative_binomial(x, n, p):
    return beta(n, x + 1, p, 1 - p)


def inflated(base):
    def tails(x, psi, **parameters):
        log_q = log(psi) + base(x, **parameters)[1]
        return other(log_q), log_q

    return tails


TAILS = {
    "Normal": lambda x, mu, tau: normal(mpmath.sqrt(tau) * (x - mu)),
    "StudentT": student_t,
    "Cauchy": cauchy,
    "Laplace": lambda x, mu, rate: of_size((None, -rate * abs(x - mu)), x - mu),
    "AsymmetricLaplace": asymmetric_laplace,
    "Logistic": logistic,
    "Gumbel": gumbel,
    "Gamma": lambda x, shape, rate: gamma(shape, rate * x),
    "InverseGamma": lambda x, shape, scale: swapped(gamma(shape, scale / x)),
    "Exponential": of_hazard(lambda x, rate: rate * x),
    "ChiSquared": lambda x, nu: gamma(nu / 2, x / 2),
    "LogNormal": lambda x, mu, tau: normal(mpmath.sqrt(tau) * (log(x) - mu)),
    "Weibull": of_hazard(lambda x, shape, rate: rate * x**shape),
    "Pareto": of_hazard(lambda x, shape, minimum: shape * log(x / minimum)),
    "HalfNormal": lambda x, tau: gamma(mpf(1) / 2, tau * x**2 / 2),
    "HalfCauchy": half_cauchy,
    "HalfStudentT": lambda x, nu, scale: student(x / scale, nu),
    "Rayleigh": of_hazard(lambda x, tau: tau * x**2 / 2),
    "Maxwell": lambda x, tau: gamma(mpf(3) / 2, tau * x**2 / 2),
    "Chi": lambda x, nu: gamma(nu / 2, x**2 / 2),
    "Nakagami": lambda x, m, omega: gamma(m, m * x**2 / omega),
    "GeneralizedGamma": lambda x, shape, rate, power: gamma(shape, rate * x**power),
    "Lomax": of_hazard(lambda x, shape, scale: shape * log1p(x / scale)),
    "BurrXII": of_hazard(lambda x, c, k, scale: k * log1p((x / scale) ** c)),
    "Gompertz": of_hazard(lambda x, shape, rate: rate * mpmath.expm1(shape * x) / shape),
    "Frechet": lambda x, shape, rate: swapped(of_hazard(lambda y: y)(rate * x**-shape)),
    "BetaPrime": lambda x, a, b: beta(a, b, x / (1 + x), 1 / (1 + x)),
    "FisherSnedecor": lambda x, nu_1, nu_2: beta(
        nu_1 / 2, nu_2 / 2, nu_1 * x / (nu_1 * x + nu_2), nu_2 / (nu_1 * x + nu_2)
    ),
    "InverseGaussian": inverse_gaussian,
    "Beta": lambda x, a, b: beta(a, b, x, 1 - x),
    "BetaExponential": lambda x, a, b: swapped(beta(a, b, exp(-x), -mpmath.expm1(-x))),
    "Kumaraswamy": of_hazard(lambda x, a, b: -b * log_one_minus_exp(a * log(x))),
    "Uniform": lambda x, lower, upper: logs_of(
        (x - lower) / (upper - lower), (upper - x) / (upper - lower)
    ),
    "Bernoulli": lambda x, p: (log1p(-p), log(p)) if x == 0 else (mpf(0), -mpmath.inf),
    "Binomial": binomial,
    "Poisson": poisson,
    "Geometric": of_hazard(lambda x, p: -(x + 1) * log1p(-p)),
    "NegativeBinomial": negative_binomial,
    "ZeroInflatedPoisson": inflated(poisson),
    "ZeroInflatedBinomial": inflated(binomial),
    "ZeroInflatedNegativeBinomial": inflated(negative_binomial),
    "DiscreteUniform": lambda x, lower, upper: logs_of(
        (x - lower + 1) / (upper - lower + 1), (upper - x) / (upper - lower + 1)
    ),
}
