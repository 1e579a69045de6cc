"""The table of distributions of numbers, as the reference knows them."""

import math

import numpy as np
from scipy import stats

from against_reference import scalars
from against_reference.scalars import (
    ANGLE,
    BINARY,
    COUNT,
    POSITIVE,
    REAL,
    UNIT,
    Row,
    of_scipy,
)

INF = math.inf


def half_line(**_):
    return 0.0, INF


def unit(**_):
    return 0.0, 1.0


def whole(**_):
    return 0.0, INF


def up_to_n(n, **_):
    return 0.0, n


def inverse_square(name):
    """The precision that a standard deviation is."""
    return lambda **p: {**{k: v for k, v in p.items() if k != name}, "tau": p[name] ** -2.0}


def inverse(old, new):
    """A parameter that is the inverse of another."""
    return lambda **p: {**{k: v for k, v in p.items() if k != old}, new: 1 / p[old]}


def sd(tau, **_):
    return tau**-0.5


def mu(mu, **_):
    return mu


def scale(scale, **_):
    return scale


NORMAL_SPELLINGS = {
    ("mu", "tau"): None,
    ("mu", "sigma"): inverse_square("sigma"),
    ("mu", "var"): inverse("var", "tau"),
}
TAU_SPELLINGS = {("tau",): None, ("sigma",): inverse_square("sigma")}

REAL_ROWS = (
    Row("Normal", REAL, {"mu": REAL, "tau": POSITIVE}, of_scipy(stats.norm, lambda **_: (), loc=mu,
        scale=sd), spellings=NORMAL_SPELLINGS),
    Row("StudentT", REAL, {"nu": POSITIVE, "mu": REAL, "tau": POSITIVE},
        of_scipy(stats.t, lambda nu, **_: (nu,), loc=mu, scale=sd),
        spellings={("nu", "mu", "tau"): None, ("nu", "mu", "sigma"): inverse_square("sigma")}),
    Row("Cauchy", REAL, {"mu": REAL, "scale": POSITIVE},
        of_scipy(stats.cauchy, lambda **_: (), loc=mu, scale=scale)),
    Row("Laplace", REAL, {"mu": REAL, "rate": POSITIVE},
        of_scipy(stats.laplace, lambda **_: (), scalars.log_laplace, loc=mu,
                 scale=lambda rate, **_: 1 / rate),
        spellings={("mu", "rate"): None, ("mu", "scale"): inverse("scale", "rate")}),
    Row("AsymmetricLaplace", REAL, {"mu": REAL, "rate": POSITIVE, "q": UNIT},
        scalars.asymmetric_laplace,
        spellings={("mu", "rate", "q"): None, ("mu", "scale", "q"): inverse("scale", "rate")}),
    Row("Logistic", REAL, {"mu": REAL, "scale": POSITIVE},
        of_scipy(stats.logistic, lambda **_: (), loc=mu, scale=scale)),
    Row("Gumbel", REAL, {"mu": REAL, "scale": POSITIVE},
        of_scipy(stats.gumbel_r, lambda **_: (), loc=mu, scale=scale)),
    Row("VonMises", ANGLE, {"mu": REAL, "kappa": POSITIVE}, scalars.von_mises,
        lambda **_: (-math.pi, math.pi), has_tails=False),
    Row("Flat", REAL, {}, lambda: scalars.flat(-INF), has_tails=False, proper=False),
)

POSITIVE_ROWS = (
    Row("Gamma", POSITIVE, {"shape": POSITIVE, "rate": POSITIVE},
        of_scipy(stats.gamma, lambda shape, **_: (shape,), scale=lambda rate, **_: 1 / rate),
        half_line, {
            ("shape", "rate"): None,
            ("shape", "scale"): inverse("scale", "rate"),
            ("mu", "shape"): lambda mu, shape: {"shape": shape, "rate": shape / mu},
            ("mu", "sigma"): lambda mu, sigma: {
                "shape": (mu / sigma) ** 2, "rate": mu / sigma**2},
        }),
    Row("InverseGamma", POSITIVE, {"shape": POSITIVE, "scale": POSITIVE},
        of_scipy(stats.invgamma, lambda shape, **_: (shape,), scale=scale), half_line),
    Row("Exponential", POSITIVE, {"rate": POSITIVE},
        of_scipy(stats.expon, lambda **_: (), scale=lambda rate, **_: 1 / rate), half_line,
        {("rate",): None, ("scale",): inverse("scale", "rate")}),
    Row("ChiSquared", POSITIVE, {"nu": POSITIVE}, of_scipy(stats.chi2, lambda nu: (nu,)),
        half_line),
    Row("LogNormal", POSITIVE, {"mu": REAL, "tau": POSITIVE},
        of_scipy(stats.lognorm, lambda tau, **_: (tau**-0.5,), scale=lambda mu, **_: np.exp(mu)),
        half_line, NORMAL_SPELLINGS),
    Row("Weibull", POSITIVE, {"shape": POSITIVE, "rate": POSITIVE},
        of_scipy(stats.weibull_min, lambda shape, **_: (shape,),
                 scale=lambda shape, rate: rate ** (-1 / shape)), half_line,
        {("shape", "rate"): None,
         ("shape", "scale"): lambda shape, scale: {"shape": shape, "rate": scale**-shape}}),
    Row("Pareto", POSITIVE, {"shape": POSITIVE, "minimum": POSITIVE},
        of_scipy(stats.pareto, lambda shape, **_: (shape,), scalars.log_pareto,
                 scale=lambda minimum, **_: minimum),
        lambda minimum, **_: (minimum, INF)),
    Row("HalfNormal", POSITIVE, {"tau": POSITIVE},
        of_scipy(stats.halfnorm, lambda **_: (), scale=sd), half_line, TAU_SPELLINGS),
    Row("HalfCauchy", POSITIVE, {"scale": POSITIVE},
        of_scipy(stats.halfcauchy, lambda **_: (), scale=scale), half_line),
    Row("HalfStudentT", POSITIVE, {"nu": POSITIVE, "scale": POSITIVE}, scalars.half_student,
        half_line),
    Row("GeneralizedGamma", POSITIVE, {"shape": POSITIVE, "rate": POSITIVE, "power": POSITIVE},
        of_scipy(stats.gengamma, lambda shape, power, **_: (shape, power),
                 scale=lambda rate, power, **_: rate ** (-1 / power)), half_line,
        {("shape", "rate", "power"): None,
         ("shape", "scale", "power"): lambda shape, scale, power: {
             "shape": shape, "rate": scale**-power, "power": power}}),
    Row("GeneralizedInverseGaussian", POSITIVE, {"p": REAL, "a": POSITIVE, "b": POSITIVE},
        scalars.generalized_inverse_gaussian, half_line, has_tails=False),
    Row("InverseGaussian", POSITIVE, {"mu": POSITIVE, "lam": POSITIVE}, scalars.inverse_gaussian,
        half_line),
    Row("ModifiedHalfNormal", POSITIVE, {"a": POSITIVE, "b": POSITIVE, "c": REAL},
        scalars.modified_half_normal, half_line, has_tails=False),
    Row("PolyaGamma", POSITIVE, {"b": POSITIVE, "c": REAL}, scalars.polya_gamma, half_line,
        has_tails=False),
    Row("BetaPrime", POSITIVE, {"a": POSITIVE, "b": POSITIVE},
        of_scipy(stats.betaprime, lambda a, b: (a, b)), half_line),
    Row("BetaExponential", POSITIVE, {"a": POSITIVE, "b": POSITIVE}, scalars.beta_exponential,
        half_line),
    Row("Rayleigh", POSITIVE, {"tau": POSITIVE},
        of_scipy(stats.rayleigh, lambda **_: (), scale=sd), half_line, TAU_SPELLINGS),
    Row("Maxwell", POSITIVE, {"tau": POSITIVE},
        of_scipy(stats.maxwell, lambda **_: (), scale=sd), half_line, TAU_SPELLINGS),
    Row("Chi", POSITIVE, {"nu": POSITIVE}, of_scipy(stats.chi, lambda nu: (nu,)), half_line),
    Row("Nakagami", POSITIVE, {"m": POSITIVE, "omega": POSITIVE},
        of_scipy(stats.nakagami, lambda m, **_: (m,), scale=lambda omega, **_: omega**0.5),
        half_line),
    Row("Gompertz", POSITIVE, {"shape": POSITIVE, "rate": POSITIVE}, scalars.gompertz, half_line),
    Row("Frechet", POSITIVE, {"shape": POSITIVE, "rate": POSITIVE},
        of_scipy(stats.invweibull, lambda shape, **_: (shape,), scalars.log_frechet,
                 scale=lambda shape, rate: rate ** (1 / shape)), half_line,
        {("shape", "rate"): None,
         ("shape", "scale"): lambda shape, scale: {"shape": shape, "rate": scale**shape}}),
    Row("Lomax", POSITIVE, {"shape": POSITIVE, "scale": POSITIVE},
        of_scipy(stats.lomax, lambda shape, **_: (shape,), scale=scale), half_line),
    Row("BurrXII", POSITIVE, {"c": POSITIVE, "k": POSITIVE, "scale": POSITIVE},
        of_scipy(stats.burr12, lambda c, k, **_: (c, k), scale=scale), half_line),
    Row("FisherSnedecor", POSITIVE, {"nu_1": POSITIVE, "nu_2": POSITIVE},
        of_scipy(stats.f, lambda nu_1, nu_2: (nu_1, nu_2)), half_line),
    Row("HalfFlat", POSITIVE, {}, lambda: scalars.flat(0.0), half_line, has_tails=False,
        proper=False),
)

UNIT_ROWS = (
    Row("Beta", UNIT, {"a": POSITIVE, "b": POSITIVE}, of_scipy(stats.beta, lambda a, b: (a, b)),
        unit, {("a", "b"): None, ("mu", "kappa"): lambda mu, kappa: {
            "a": mu * kappa, "b": (1 - mu) * kappa}}),
    Row("Kumaraswamy", UNIT, {"a": POSITIVE, "b": POSITIVE}, scalars.kumaraswamy, unit),
)

UNIFORM = Row("Uniform", REAL, {"lower": REAL, "upper": REAL}, scalars.uniform,
              lambda lower, upper: (lower, upper))
DISCRETE_UNIFORM = Row("DiscreteUniform", COUNT, {"lower": COUNT, "upper": COUNT},
                       scalars.discrete_uniform, lambda lower, upper: (lower, upper), whole=True)
HYPERGEOMETRIC = Row("Hypergeometric", COUNT, {"N": COUNT, "D": COUNT, "n": COUNT},
                     scalars.hypergeometric,
                     lambda N, D, n: (np.maximum(0, n + D - N), np.minimum(n, D)),
                     has_tails=False, whole=True)


def logit_of(**p):
    """The probability of a logit."""
    rest = {k: v for k, v in p.items() if k != "logit_p"}
    return {**rest, "p": 1 / (1 + np.exp(-p["logit_p"]))}


def waiting(**p):
    """The number and probability of a mean and a size."""
    rest = {k: v for k, v in p.items() if k not in ("mu", "alpha")}
    return {**rest, "n": p["alpha"], "p": p["alpha"] / (p["alpha"] + p["mu"])}


COUNT_ROWS = (
    Row("Bernoulli", BINARY, {"p": UNIT}, scalars.bernoulli, unit,
        {("p",): None, ("logit_p",): logit_of}, whole=True),
    Row("Binomial", COUNT, {"n": COUNT, "p": UNIT}, scalars.binomial, up_to_n,
        {("n", "p"): None, ("n", "logit_p"): logit_of}, whole=True),
    Row("Poisson", COUNT, {"rate": POSITIVE}, scalars.poisson, whole, whole=True),
    Row("Geometric", COUNT, {"p": UNIT}, lambda p: scalars.negative_binomial(1.0, p), whole,
        whole=True),
    Row("NegativeBinomial", COUNT, {"n": POSITIVE, "p": UNIT}, scalars.negative_binomial, whole,
        {("n", "p"): None, ("mu", "alpha"): waiting}, whole=True),
    Row("BetaBinomial", COUNT, {"n": COUNT, "alpha": POSITIVE, "beta": POSITIVE},
        scalars.beta_binomial, up_to_n, has_tails=False, whole=True),
    Row("ZeroInflatedPoisson", COUNT, {"psi": UNIT, "rate": POSITIVE},
        scalars.zero_inflated(scalars.poisson), whole, whole=True),
    Row("ZeroInflatedBinomial", COUNT, {"psi": UNIT, "n": COUNT, "p": UNIT},
        scalars.zero_inflated(scalars.binomial), up_to_n,
        {("psi", "n", "p"): None, ("psi", "n", "logit_p"): logit_of}, whole=True),
    Row("ZeroInflatedNegativeBinomial", COUNT, {"psi": UNIT, "n": POSITIVE, "p": UNIT},
        scalars.zero_inflated(scalars.negative_binomial), whole,
        {("psi", "n", "p"): None, ("psi", "mu", "alpha"): waiting}, whole=True),
    Row("ChineseRestaurantTable", COUNT, {"n": COUNT, "alpha": POSITIVE}, scalars.tables, up_to_n,
        has_tails=False, whole=True),
    HYPERGEOMETRIC,
    DISCRETE_UNIFORM,
)

ROWS = {r.name: r for r in (*REAL_ROWS, *POSITIVE_ROWS, *UNIT_ROWS, UNIFORM, *COUNT_ROWS)}


def is_proper(family):
    """Whether a density integrates to one; all of vectors and matrices do."""
    return family not in ROWS or ROWS[family].proper


# The kinds of what is written where a spelling has other names than the first.
SPELLED = {"sigma": POSITIVE, "var": POSITIVE, "scale": POSITIVE, "rate": POSITIVE,
           "mu": POSITIVE, "kappa": POSITIVE, "alpha": POSITIVE, "logit_p": REAL}


def kind_of_parameter(row, name):
    """The kind of what may be written for a parameter."""
    if row.name == "Beta" and name == "mu":
        return UNIT
    return row.parameters.get(name, SPELLED.get(name))
