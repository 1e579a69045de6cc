"""The log density of every family in arbitrary precision, term by term, from its textbook formula.

Each row gives the terms that the log density is the sum of: what is lost to rounding is in
proportion to their sizes. Nothing here is shared with the table of families.
"""

import mpmath
from mpmath import exp, log, log1p, loggamma, mp, mpf

from references import exact_functions
from references.exact_functions import log_one_minus_exp, log_polya_gamma, stirling_row


def rising(a, m):
    """``log(gamma(a + m) / gamma(a))``: one term, for its parts are far larger where a is."""
    return loggamma(a + m) - loggamma(a)


def log_choose(n, x):
    return [rising(n - x + 1, x), -loggamma(x + 1)]


def log_beta(a, b):
    return [loggamma(a), loggamma(b), -loggamma(a + b)]


def minus(terms):
    return [-t for t in terms]


def times(c, x):
    """``c * log(x)``, 0 where c is 0."""
    return mpf(0) if c == 0 else c * log(x)


def normal(x, mu, tau):
    return [log(tau) / 2, -log(2 * mp.pi) / 2, -tau * (x - mu) ** 2 / 2]


def student_t(x, nu, mu, tau):
    return [
        rising(nu / 2, mpf(1) / 2),
        log(tau) / 2,
        -log(nu * mp.pi) / 2,
        -(nu + 1) / 2 * log1p(tau * (x - mu) ** 2 / nu),
    ]


def gamma(x, shape, rate):
    return [shape * log(rate), -loggamma(shape), (shape - 1) * log(x), -rate * x]


def beta(x, a, b):
    return [*minus(log_beta(a, b)), (a - 1) * log(x), (b - 1) * log1p(-x)]


def gig(x, p, a, b):
    root = mpmath.sqrt(a * b)
    return [
        p * log(a) / 2,
        -p * log(b) / 2,
        -log(2),
        -log(mpmath.besselk(p, root)),
        (p - 1) * log(x),
        -a * x / 2,
        -b / x / 2,
    ]


def modified_half_normal(x, a, b, c):
    z = c / mpmath.sqrt(b)
    normaliser = exact_functions.log_fox_wright(a, z)
    return [log(2), a * log(b) / 2, -normaliser, (a - 1) * log(x), -b * x**2, c * x]


def polya_gamma(x, b, c):
    return [b * log(mpmath.cosh(c / 2)), -(c**2) * x / 2, log_polya_gamma(b, x)]


def binomial(x, n, p):
    return [*log_choose(n, x), times(x, p), (n - x) * log1p(-p)]


def poisson(x, rate):
    return [x * log(rate), -rate, -loggamma(x + 1)]


def negative_binomial(x, n, p):
    ways = [rising(n, x), -loggamma(x + 1)]
    return [*ways, n * log(p), mpf(0) if x == 0 else x * log1p(-p)]


def inflated(base):
    def terms(x, psi, **parameters):
        own = base(x, **parameters)
        if x != 0:
            return [log(psi), *own]
        # (what is in the log is a sum, rounded at 1)
        return [mpf(1), mpf(-1), log1p(psi * mpmath.expm1(mpmath.fsum(own)))]

    return terms


def restaurant(x, n, alpha):
    ways = log(stirling_row(int(n))[int(x)])
    return [-rising(alpha, n), ways, x * log(alpha)]


def asymmetric_laplace(x, mu, rate, q):
    """Its loss is half the distance and a slope, ``u (q - 1)`` below and ``u q`` above together."""
    half, slope = abs(x - mu) / 2, (q - mpf(1) / 2) * (x - mu)
    return [log(q), log1p(-q), log(rate), -rate * half, -rate * slope]


def logistic(x, mu, scale):
    z = abs(x - mu) / scale
    return [-z, -2 * log1p(exp(-z)), -log(scale)]


def gompertz(x, shape, rate):
    return [log(rate), shape * x, -rate * mpmath.expm1(shape * x) / shape]


def burr(x, c, k, scale):
    hazard = log1p((x / scale) ** c)
    return [log(c), log(k), -c * log(scale), (c - 1) * log(x), -(k + 1) * hazard]


def fisher_snedecor(x, nu_1, nu_2):
    a, b = nu_1 / 2, nu_2 / 2
    return [
        *minus(log_beta(a, b)),
        a * log(nu_1 / nu_2),
        (a - 1) * log(x),
        -(a + b) * log1p(nu_1 * x / nu_2),
    ]


def kumaraswamy(x, a, b):
    return [log(a), log(b), (a - 1) * log(x), (b - 1) * log(-mpmath.expm1(a * log(x)))]


SCALAR = {
    "Normal": normal,
    "StudentT": student_t,
    "Cauchy": lambda x, mu, scale: [-log(mp.pi), -log(scale), -log1p(((x - mu) / scale) ** 2)],
    "Laplace": lambda x, mu, rate: [log(rate), -log(2), -rate * abs(x - mu)],
    "AsymmetricLaplace": asymmetric_laplace,
    "Logistic": logistic,
    "Gumbel": lambda x, mu, scale: [
        -(x - mu) / scale,
        -exp(-(x - mu) / scale),
        -log(scale),
    ],
    "Gamma": gamma,
    "InverseGamma": lambda x, shape, scale: [
        shape * log(scale),
        -loggamma(shape),
        -(shape + 1) * log(x),
        -scale / x,
    ],
    "Exponential": lambda x, rate: [log(rate), -rate * x],
    "ChiSquared": lambda x, nu: gamma(x, nu / 2, mpf(1) / 2),
    "LogNormal": lambda x, mu, tau: [-log(x), *normal(log(x), mu, tau)],
    "Weibull": lambda x, shape, rate: [
        log(shape),
        log(rate),
        (shape - 1) * log(x),
        -rate * x**shape,
    ],
    "Pareto": lambda x, shape, minimum: [
        log(shape),
        shape * log(minimum),
        -(shape + 1) * log(x),
    ],
    "HalfNormal": lambda x, tau: [log(2), *normal(x, 0, tau)],
    "HalfCauchy": lambda x, scale: [log(2 / mp.pi), -log(scale), -log1p((x / scale) ** 2)],
    "HalfStudentT": lambda x, nu, scale: [log(2), *student_t(x, nu, 0, scale**-2)],
    "Rayleigh": lambda x, tau: [log(tau), log(x), -tau * x**2 / 2],
    "Maxwell": lambda x, tau: [
        log(2 / mp.pi) / 2,
        log(tau) * 3 / 2,
        2 * log(x),
        -tau * x**2 / 2,
    ],
    "Chi": lambda x, nu: [
        (1 - nu / 2) * log(2),
        -loggamma(nu / 2),
        (nu - 1) * log(x),
        -(x**2) / 2,
    ],
    "Nakagami": lambda x, m, omega: [log(2 * x), *gamma(x**2, m, m / omega)],
    "GeneralizedGamma": lambda x, shape, rate, power: [
        log(power),
        (power - 1) * log(x),
        *gamma(x**power, shape, rate),
    ],
    "Lomax": lambda x, shape, scale: [log(shape), -log(scale), -(shape + 1) * log1p(x / scale)],
    "BurrXII": burr,
    "Gompertz": gompertz,
    "Frechet": lambda x, shape, rate: [
        log(shape),
        log(rate),
        -(shape + 1) * log(x),
        -rate * x**-shape,
    ],
    "BetaPrime": lambda x, a, b: [
        *minus(log_beta(a, b)),
        (a - 1) * log(x),
        -(a + b) * log1p(x),
    ],
    "BetaExponential": lambda x, a, b: [
        *minus(log_beta(a, b)),
        -a * x,
        (b - 1) * log_one_minus_exp(-x),
    ],
    "FisherSnedecor": fisher_snedecor,
    "InverseGaussian": lambda x, mu, lam: [
        log(lam) / 2,
        -log(2 * mp.pi) / 2,
        -log(x) * 3 / 2,
        -lam * (x - mu) ** 2 / (2 * mu**2 * x),
    ],
    "GeneralizedInverseGaussian": gig,
    "ModifiedHalfNormal": modified_half_normal,
    "PolyaGamma": polya_gamma,
    "VonMises": lambda x, mu, kappa: [
        kappa * mpmath.cos(x - mu),
        -log(2 * mp.pi),
        -log(mpmath.besseli(0, kappa)),
    ],
    "Beta": beta,
    "Kumaraswamy": kumaraswamy,
    "Uniform": lambda x, lower, upper: [-log(upper - lower)],
    "Flat": lambda x: [mpf(0)],
    "HalfFlat": lambda x: [mpf(0)],
    "Bernoulli": lambda x, p: [log(p) if x == 1 else log1p(-p)],
    "Binomial": binomial,
    "BetaBinomial": lambda x, n, alpha, beta: [
        *log_choose(n, x),
        rising(alpha, x),
        rising(beta, n - x),
        -rising(alpha + beta, n),
    ],
    "ChineseRestaurantTable": restaurant,
    "Poisson": poisson,
    "Geometric": lambda x, p: [log(p), mpf(0) if x == 0 else x * log1p(-p)],
    "NegativeBinomial": negative_binomial,
    "ZeroInflatedPoisson": inflated(poisson),
    "ZeroInflatedBinomial": inflated(binomial),
    "ZeroInflatedNegativeBinomial": inflated(negative_binomial),
    "DiscreteUniform": lambda x, lower, upper: [-log(upper - lower + 1)],
    "Hypergeometric": lambda x, N, D, n: [
        *log_choose(D, x),
        *log_choose(N - D, n - x),
        *minus(log_choose(N, n)),
    ],
}


# Vectors and matrices: arguments are mpmath matrices.


def quadratic(x, mu, tau):
    away = x - mu
    return (away.T * tau * away)[0]


def log_det(matrix):
    return log(mpmath.det(matrix))


def log_multivariate_gamma(a, p):
    return [
        log(mp.pi) * p * (p - 1) / 4,
        *(loggamma(a - mpf(j) / 2) for j in range(p)),
    ]


def trace(matrix):
    return sum(matrix[i, i] for i in range(matrix.rows))


def mv_normal(x, mu, tau):
    return [log_det(tau) / 2, -len(x) * log(2 * mp.pi) / 2, -quadratic(x, mu, tau) / 2]


def mv_student_t(x, nu, mu, tau):
    p = len(x)
    return [
        rising(nu / 2, mpf(p) / 2),
        -p * log(nu * mp.pi) / 2,
        log_det(tau) / 2,
        -(nu + p) / 2 * log1p(quadratic(x, mu, tau) / nu),
    ]


def wishart(x, nu, V):
    p = x.rows
    return [
        (nu - p - 1) / 2 * log_det(x),
        -trace(mpmath.inverse(V) * x) / 2,
        -nu / 2 * log_det(V),
        -nu * p / 2 * log(2),
        *minus(log_multivariate_gamma(nu / 2, p)),
    ]


def inverse_wishart(x, nu, S):
    p = x.rows
    return [
        -(nu + p + 1) / 2 * log_det(x),
        -trace(S * mpmath.inverse(x)) / 2,
        nu / 2 * log_det(S),
        -nu * p / 2 * log(2),
        *minus(log_multivariate_gamma(nu / 2, p)),
    ]


def huang_wand(x, nu, scale):
    """The mixture over a, by quadrature: one integral for each a_k."""
    p, inverse = x.rows, mpmath.inverse(x)
    df = nu + p - 1
    terms = [
        -(df + p + 1) / 2 * log_det(x),
        df * p / 2 * log(2 * nu),
        -df * p / 2 * log(2),
        *minus(log_multivariate_gamma(df / 2, p)),
    ]
    for k in range(p):
        rate = nu * inverse[k, k] + scale[k] ** -2

        def density(t, rate=rate):  # (of log a, InverseGamma(1/2, 1 / scale**2) times the rest)
            return exp(-t * (df + 1) / 2 - rate * exp(-t))

        terms.append(log(mpmath.quad(density, [-8, -2, 0, 2, 5, 10, 30, 60])))
        terms.append(-log(scale[k]) - loggamma(mpf(1) / 2))
    return terms


def von_mises_fisher(x, mu, kappa):
    half = mpf(len(x)) / 2
    bessel = log(mpmath.besseli(half - 1, kappa))
    return [kappa * (mu.T * x)[0], (half - 1) * log(kappa), -half * log(2 * mp.pi), -bessel]


EVENTS = {
    "Categorical": lambda x, p: [log(p[int(x)])],
    "Dirichlet": lambda x, a: [
        loggamma(sum(a)),
        *(-loggamma(v) for v in a),
        *((v - 1) * log(share) for v, share in zip(a, x, strict=True)),
    ],
    "Multinomial": lambda x, n, p: [
        loggamma(n + 1),
        *(-loggamma(v + 1) for v in x),
        *(times(v, share) for v, share in zip(x, p, strict=True)),
    ],
    "MvNormal": mv_normal,
    "MvStudentT": mv_student_t,
    "Wishart": wishart,
    "InverseWishart": inverse_wishart,
    "HuangWand": huang_wand,
    "VonMisesFisher": von_mises_fisher,
}
