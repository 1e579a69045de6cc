"""The mean and the variance of every family in arbitrary precision, term by term.

Each row gives the terms that a mean is the sum of, and those of a variance: a variance that is
written as the mean of the square less the square of the mean loses digits in proportion to these.
Nothing here is shared with the table of families.
"""

import mpmath
from mpmath import euler, exp, expm1, inf, log, loggamma, mpf, nan, pi, sqrt

from references import exact_functions


def plain(mean, variance):
    return [mean], [variance]


def above(excess, value, otherwise=inf):
    """A moment that exists where an excess is positive."""
    return value() if excess > 0 else otherwise


def student_t(nu, mu, tau):
    return plain(above(nu - 1, lambda: mu, nan), above(nu - 2, lambda: nu / (nu - 2) / tau))


def asymmetric_laplace(mu, rate, q):
    means = [mu, 1 / (q * rate), -1 / ((1 - q) * rate)]
    return means, [(q * rate) ** -2, ((1 - q) * rate) ** -2]


def inverse_gamma(shape, scale):
    return plain(
        above(shape - 1, lambda: scale / (shape - 1)),
        above(shape - 2, lambda: scale**2 / (shape - 1) ** 2 / (shape - 2)),
    )


def pareto(shape, minimum):
    return plain(
        above(shape - 1, lambda: shape * minimum / (shape - 1)),
        above(shape - 2, lambda: shape * minimum**2 / (shape - 1) ** 2 / (shape - 2)),
    )


def lomax(shape, scale):
    return plain(
        above(shape - 1, lambda: scale / (shape - 1)),
        above(shape - 2, lambda: shape * scale**2 / (shape - 1) ** 2 / (shape - 2)),
    )


def exponential(logs, power=1):
    """A power of the exponential of a sum, which is rounded as its terms are."""
    value = exp(power * mpmath.fsum(logs))
    rounded = value * power * mpmath.fsum(map(abs, logs))
    return [value, rounded, -rounded]


def of_powers(log_moment, most=inf):
    """From a function that gives the log of the mean of a power, of those below ``most``."""
    if most <= 1:
        return [inf], [inf]
    first = log_moment(1)
    if most <= 2:
        return exponential(first), [inf]
    return exponential(first), exponential(log_moment(2)) + minus(exponential(first, 2))


def minus(terms):
    return [-t for t in terms]


def log_ratio(a, b):
    """``log(gamma(a) / gamma(b))``."""
    return loggamma(a) - loggamma(b)


def half_student_t(nu, scale):
    def log_moment(r):
        if r == 2:
            return [log(nu / (nu - 2)), 2 * log(scale)]
        ratio = log_ratio((nu + 1) / 2, nu / 2)
        return [log(2 / sqrt(pi)), log(nu) / 2 + ratio - log(nu - 1), log(scale)]

    return of_powers(log_moment, nu)


def chi(nu):
    def log_moment(r):
        return [log(nu)] if r == 2 else [log(2) / 2 + log_ratio((nu + 1) / 2, nu / 2)]

    return of_powers(log_moment)


def nakagami(m, omega):
    def log_moment(r):
        return [log(omega) * r / 2, 0 if r == 2 else log_ratio(m + mpf(1) / 2, m) - log(m) / 2]

    return of_powers(log_moment)


def weibull(shape, rate):
    return of_powers(lambda r: [loggamma(1 + r / shape), -r / shape * log(rate)])


def frechet(shape, rate):
    return of_powers(lambda r: [loggamma(1 - r / shape), r / shape * log(rate)], shape)


def burr(c, k, scale):
    def log_moment(r):
        return [log(k), r * log(scale), log_ratio(k - r / c, k + 1), loggamma(1 + r / c)]

    return of_powers(log_moment, c * k)


def generalized_gamma(shape, rate, power):
    return of_powers(
        lambda r: [log_ratio(shape + r / power, shape), -r / power * log(rate)]
    )


def kumaraswamy(a, b):
    return of_powers(lambda r: [log(b), log_ratio(b, 1 + r / a + b), loggamma(1 + r / a)])


def gig(p, a, b):
    def log_moment(r):
        logs = [log(mpmath.besselk(order, sqrt(a * b))) for order in (p + r, p)]
        return [mpf(r) / 2 * log(b / a), logs[0], -logs[1]]

    return of_powers(log_moment)


def modified_half_normal(a, b, c):
    def log_moment(r):
        logs = [exact_functions.log_fox_wright(a + s, c / sqrt(b)) for s in (r, 0)]
        return [logs[0], -logs[1], -mpf(r) / 2 * log(b)]

    return of_powers(log_moment)


def polya_gamma(b, c):
    if c == 0:
        return plain(b / 4, b / 24)
    half = mpmath.cosh(c / 2) ** 2
    return plain(
        b * mpmath.tanh(c / 2) / (2 * c), b * (mpmath.sinh(c) - c) / (4 * c**3 * half)
    )


def beta_prime(a, b):
    return plain(
        above(b - 1, lambda: a / (b - 1)),
        above(b - 2, lambda: a * (a + b - 1) / (b - 2) / (b - 1) ** 2),
    )


def fisher_snedecor(nu_1, nu_2):
    def variance():
        share = nu_2 / (nu_2 - 2)
        return 2 * share**2 * (nu_1 + nu_2 - 2) / (nu_1 * (nu_2 - 4))

    return plain(above(nu_2 - 2, lambda: nu_2 / (nu_2 - 2)), above(nu_2 - 4, variance))


def beta_binomial(n, alpha, beta):
    total = alpha + beta
    return plain(
        n * alpha / total, n * (alpha / total) * (beta / total) * (total + n) / (total + 1)
    )


def hypergeometric(N, D, n):
    share = D / N
    return plain(n * share, n * share * (1 - share) * (N - n) / (N - 1) if N > 1 else mpf(0))


def negative_binomial(n, p):
    return plain(n * (1 - p) / p, n * (1 - p) / p**2)


def binomial(n, p):
    return plain(n * p, n * p * (1 - p))


def inflated(base):
    def moments(psi, **parameters):
        (mean,), (variance,) = base(**parameters)
        return [psi * mean], [psi * variance, psi * (1 - psi) * mean**2]

    return moments


MOMENTS = {
    "Normal": lambda mu, tau: plain(mu, 1 / tau),
    "StudentT": student_t,
    "Laplace": lambda mu, rate: plain(mu, 2 / rate**2),
    "AsymmetricLaplace": asymmetric_laplace,
    "Logistic": lambda mu, scale: plain(mu, (pi * scale) ** 2 / 3),
    "Gumbel": lambda mu, scale: ([mu, euler * scale], [(pi * scale) ** 2 / 6]),
    "Gamma": lambda shape, rate: plain(shape / rate, shape / rate**2),
    "InverseGamma": inverse_gamma,
    "Exponential": lambda rate: plain(1 / rate, rate**-2),
    "ChiSquared": lambda nu: plain(nu, 2 * nu),
    "LogNormal": lambda mu, tau: (
        exponential([mu, 1 / (2 * tau)]),
        exponential([log(expm1(1 / tau)), 2 * mu, 1 / tau]),
    ),
    "Weibull": weibull,
    "Pareto": pareto,
    "HalfNormal": lambda tau: plain(sqrt(2 / (pi * tau)), (1 - 2 / pi) / tau),
    "HalfStudentT": half_student_t,
    "Rayleigh": lambda tau: plain(sqrt(pi / (2 * tau)), (2 - pi / 2) / tau),
    "Maxwell": lambda tau: plain(sqrt(8 / (pi * tau)), (3 - 8 / pi) / tau),
    "Chi": chi,
    "Nakagami": nakagami,
    "GeneralizedGamma": generalized_gamma,
    "Lomax": lomax,
    "BurrXII": burr,
    "Frechet": frechet,
    "BetaPrime": beta_prime,
    "FisherSnedecor": fisher_snedecor,
    "InverseGaussian": lambda mu, lam: plain(mu, mu**3 / lam),
    "GeneralizedInverseGaussian": gig,
    "ModifiedHalfNormal": modified_half_normal,
    "PolyaGamma": polya_gamma,
    "Beta": lambda a, b: plain(a / (a + b), a / (a + b) * b / (a + b) / (a + b + 1)),
    "Kumaraswamy": kumaraswamy,
    "Uniform": lambda lower, upper: ([lower / 2, upper / 2], [(upper - lower) ** 2 / 12]),
    "Bernoulli": lambda p: plain(p, p * (1 - p)),
    "Binomial": binomial,
    "BetaBinomial": beta_binomial,
    "Hypergeometric": hypergeometric,
    "Poisson": lambda rate: plain(rate, rate),
    "Geometric": lambda p: plain((1 - p) / p, (1 - p) / p**2),
    "NegativeBinomial": negative_binomial,
    "ZeroInflatedPoisson": inflated(lambda rate: plain(rate, rate)),
    "ZeroInflatedBinomial": inflated(binomial),
    "ZeroInflatedNegativeBinomial": inflated(negative_binomial),
    "DiscreteUniform": lambda lower, upper: (
        [lower / 2, upper / 2],
        [(upper - lower) * (upper - lower + 2) / 12],
    ),
}
