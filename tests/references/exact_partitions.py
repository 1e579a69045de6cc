"""The log partition functions of the families in arbitrary precision, term by term.

Each row gives the natural parameters, as what multiplies the statistics in the textbook's density
at some parameters, and the terms of the log partition as a function of them. Nothing here is shared
with the table of families.
"""

import mpmath
from mpmath import exp, log, log1p, loggamma, mp, mpf, sqrt

from references.exact_densities import rising
from references.exact_functions import log_fox_wright, log_one_minus_exp


def normal(first, second):
    return [-(first**2) / (4 * second), log(mp.pi) / 2, -log(-second) / 2]


def gamma(power, rate):
    """``log(gamma(a) / b**a)``."""
    return [loggamma(power), -power * log(rate)]


def softplus(x):
    return log1p(exp(x)) if x < 0 else x + log1p(exp(-x))


def beta(a, b):
    return [loggamma(a), -rising(b, a)] if a < b else [loggamma(b), -rising(a, b)]


def gig(power, rate, scale):
    order, root = power + 1, 2 * sqrt(rate * scale)
    return [log(2), log(mpmath.besselk(order, root)), order * log(scale / rate) / 2]


def polya_gamma(eta, b):
    root = sqrt(-eta / 2)
    return [-b * root, -b * log1p(exp(-2 * root)), b * log(2)]


def von_mises(first, second):
    kappa = sqrt(first**2 + second**2)
    return [log(2 * mp.pi), log(mpmath.besseli(0, kappa))]


# (natural parameters at parameters, terms of the log partition at those and what must be known)
PARTITIONS = {
    "Normal": (lambda mu, tau: (mu * tau, -tau / 2), normal),
    "Gamma": (
        lambda shape, rate: (shape - 1, -rate),
        lambda power, slope: gamma(power + 1, -slope),
    ),
    "InverseGamma": (
        lambda shape, scale: (-shape - 1, -scale),
        lambda power, slope: gamma(-power - 1, -slope),
    ),
    "Beta": (lambda a, b: (a - 1, b - 1), lambda a, b: beta(a + 1, b + 1)),
    "BetaExponential": (lambda a, b: (-a, b - 1), lambda a, b: beta(-a, b + 1)),
    "LogNormal": (
        lambda mu, tau: (mu * tau - 1, -tau / 2),
        lambda first, second: normal(first + 1, second),
    ),
    "Exponential": (lambda rate: (-rate,), lambda slope: [-log(-slope)]),
    "HalfNormal": (
        lambda tau: (-tau / 2,),
        lambda slope: [log(mp.pi) / 2, -log(-slope) / 2, -log(2)],
    ),
    "Laplace": (lambda mu, rate: (-rate,), lambda slope, mu: [log(2), -log(-slope)]),
    "Pareto": (
        lambda shape, minimum: (-shape - 1,),
        lambda power, minimum: [-log(-power - 1), (power + 1) * log(minimum)],
    ),
    "Weibull": (
        lambda shape, rate: (-rate,),
        lambda slope, shape: [-log(-slope), -log(shape)],
    ),
    "ChiSquared": (
        lambda nu: (nu / 2 - 1,),
        lambda power: gamma(power + 1, mpf(1) / 2),
    ),
    "InverseGaussian": (
        lambda mu, lam: (-lam / 2 / mu**2, -lam / 2),
        lambda rate, scale: [log(mp.pi) / 2, -log(-scale) / 2, -2 * sqrt(rate * scale)],
    ),
    "BetaPrime": (
        lambda a, b: (a - 1, -a - b),
        lambda power, total: beta(power + 1, -power - total - 1),
    ),
    "GeneralizedInverseGaussian": (
        lambda p, a, b: (p - 1, -a / 2, -b / 2),
        lambda power, rate, scale: gig(power, -rate, -scale),
    ),
    "ModifiedHalfNormal": (
        lambda a, b, c: (a - 1, c, -b),
        lambda power, slope, square: [
            log_fox_wright(power + 1, slope / sqrt(-square)),
            -log(2),
            -(power + 1) * log(-square) / 2,
        ],
    ),
    "PolyaGamma": (lambda b, c: (-(c**2) / 2,), polya_gamma),
    "VonMises": (lambda mu, kappa: (kappa, kappa * mu), von_mises),
    "Uniform": (
        lambda lower, upper: (),
        lambda lower, upper: [log(upper - lower)],
    ),
    "Bernoulli": (lambda p: (p,), lambda eta: [softplus(eta)]),
    "Binomial": (lambda n, p: (p,), lambda eta, n: [n * softplus(eta)]),
    "Poisson": (lambda rate: (rate,), lambda eta: [exp(eta)]),
    "Geometric": (lambda p: (-p,), lambda eta: [-log_one_minus_exp(eta)]),
    "NegativeBinomial": (lambda n, p: (-p,), lambda eta, n: [-n * log_one_minus_exp(eta)]),
    "ChineseRestaurantTable": (
        lambda n, alpha: (alpha,),
        lambda eta, n: [rising(exp(eta), n)],
    ),
    "DiscreteUniform": (
        lambda lower, upper: (),
        lambda lower, upper: [log(upper - lower + 1)],
    ),
}
