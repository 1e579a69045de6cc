"""Forms of several unknowns: mixtures of scales, shared and nested scales, orders, chains."""

import numpy as np

import gibbsppl as gp
from forms.catalogue_row import COUNTS, POSITIVE, WEIGHT, A, B, N, Y
from forms.form import Form, codes, numbers

CENTRES = numbers(8, seed=71)
GIG = "GeneralizedInverseGaussian"


def half_cauchy_by_inverse_gammas() -> gp.Model:
    """A half-Cauchy standard deviation as two inverse Gammas."""
    with gp.Model() as m:
        a = gp.InverseGamma("a", 0.5, 1 / 4)
        var = gp.InverseGamma("var", 0.5, 1 / a)
        gp.Normal("y", 0, var=var, dims="n", observed=Y)
    return m


def horseshoe() -> gp.Model:
    """Local and global scales, each as two inverse Gammas."""
    with gp.Model(coords={"p": 3, "n": N}) as m:
        design = gp.Data("X", numbers(N, 3, seed=72), dims=("n", "p"))
        nu = gp.InverseGamma("nu", 0.5, 1, dims="p")
        local = gp.InverseGamma("local", 0.5, 1 / nu, dims="p")
        xi = gp.InverseGamma("xi", 0.5, 1)
        overall = gp.InverseGamma("overall", 0.5, 1 / xi)
        beta = gp.Normal("beta", 0, var=local * overall, dims="p")
        gp.Normal("y", design @ beta, tau=2, dims="n", observed=Y)
    return m


def lasso() -> gp.Model:
    """Laplace coefficients as Normals of exponential variances."""
    with gp.Model(coords={"p": 3, "n": N}) as m:
        design = gp.Data("X", numbers(N, 3, seed=72), dims=("n", "p"))
        rate = gp.Gamma("rate", A, rate=B)
        var = gp.Exponential("var", rate=rate, dims="p")
        beta = gp.Normal("beta", 0, sigma=gp.sqrt(var), dims="p")
        gp.Normal("y", design @ beta, tau=2, dims="n", observed=Y)
    return m


def quantile_regression() -> gp.Model:
    """Asymmetric Laplace errors as Normals whose mean and variance hold an Exponential."""
    with gp.Model(coords={"n": 8}) as m:
        b = gp.Normal("b", 0, tau=1)
        scale = gp.InverseGamma("scale", A, B)
        v = gp.Exponential("v", scale=scale, dims="n")
        gp.Normal("y", b + 0.7 * v, var=2.5 * scale * v, dims="n", observed=CENTRES)
    return m


def student_errors() -> gp.Model:
    """Student-t errors as Normals of inverse Gamma variances."""
    with gp.Model(coords={"n": 8}) as m:
        mu = gp.Normal("mu", 0, tau=1)
        sd = gp.Uniform("sd", 0, 5)
        v = gp.InverseGamma("v", 2, 2, dims="n")
        gp.Normal("y", mu, sigma=sd * gp.sqrt(v), dims="n", observed=CENTRES)
    return m


def product_of_deviations() -> gp.Model:
    """A standard deviation that is a product of two unknown ones."""
    with gp.Model(coords={"i": 4, "j": 2}) as m:
        row = gp.Uniform("row", 0.1, 5, dims="i")
        column = gp.HalfNormal("column", sigma=2, dims="j")
        gp.Normal("y", 0, sigma=row * column, dims=("i", "j"), observed=CENTRES.reshape(4, 2))
    return m


def deviations_by_level() -> gp.Model:
    """Uniform priors of the standard deviations of each level."""
    with gp.Model(coords={"g": 4, "i": 2}) as m:
        mu = gp.Flat("mu")
        between, within = gp.Uniform("between", 0, 10), gp.Uniform("within", 0, 10)
        theta = gp.Normal("theta", mu, sigma=between, dims="g")
        gp.Normal("y", theta, sigma=within, dims=("g", "i"), observed=CENTRES.reshape(4, 2))
    return m


def named_transforms() -> gp.Model:
    """A precision by way of named functions of it."""
    with gp.Model() as m:
        tau = gp.Gamma("tau", A, rate=B)
        sd = gp.Deterministic("sd", 1 / gp.sqrt(tau))
        var = gp.Deterministic("var", sd**2)
        gp.Normal("y", 0, sigma=sd, dims="n", observed=Y)
        gp.LogNormal("z", 0, var=var, dims="n", observed=POSITIVE)
    return m


def log_scales() -> gp.Model:
    """Uniform and flat priors of the logs of scales."""
    with gp.Model() as m:
        log_sd = gp.Uniform("log_sd", -5, 5)
        log_rate = gp.Uniform("log_rate", -4, 4)
        gp.Normal("y", 0, sigma=gp.exp(log_sd), dims="n", observed=Y)
        gp.Exponential("z", rate=gp.exp(log_rate), dims="n", observed=POSITIVE)
    return m


def rates_of_rates() -> gp.Model:
    """Gamma rates whose own rate and scale are unknown."""
    with gp.Model(coords={"n": N}) as m:
        scale = gp.InverseGamma("scale", A, B)
        rate = gp.Gamma("rate", 2, scale=scale, dims="n")
        gp.Poisson("y", rate=gp.Data("w", WEIGHT, dims="n") * rate, dims="n", observed=COUNTS)
    return m


def rates_of_groups() -> gp.Model:
    """Rates by an index, on a log scale with offsets."""
    with gp.Model(coords={"g": 3, "n": N}) as m:
        group = gp.Index("group", codes(N, 3, seed=73), of="g", dims="n")
        offset = gp.Data("offset", np.log(WEIGHT), dims="n")
        rate = gp.Gamma("rate", A, rate=B, dims="g")
        gp.Poisson("y", rate=gp.exp(gp.log(rate[group]) + offset), dims="n", observed=COUNTS)
    return m


def autoregressive_counts() -> gp.Model:
    """A reproduction number: counts whose rate is a multiple of the count before."""
    with gp.Model(coords={"t": 6}) as m:
        x = gp.Gamma("x", A, rate=B)
        y = gp.Array("y", dims="t", observed=[1, 2, 2, 5, 7, 9])
        y[0] = gp.Poisson(rate=1)
        y[1:] = gp.Poisson(rate=x * y.lag("t", 1))
    return m


def bounded_autoregression() -> gp.Model:
    """A coefficient between -1 and 1."""
    with gp.Model(coords={"t": 8}) as m:
        phi = gp.Uniform("phi", -1, 1)
        sd = gp.HalfFlat("sd")
        y = gp.Array("y", dims="t", observed=CENTRES)
        y[0] = gp.Normal(0, tau=1)
        y[1:] = gp.Normal(phi * y.lag("t", 1), sigma=sd)
    return m


def ordered_means() -> gp.Model:
    """Means in order, each between its neighbours."""
    with gp.Model(coords={"k": 3, "n": 8}) as m:
        mu = gp.Normal("mu", 0, tau=0.1, dims="k")
        gp.Constraint("order", mu.lag("k", 1) < mu)
        group = gp.Index("group", codes(8, 3, seed=74), of="k", dims="n")
        gp.Normal("y", mu[group], tau=1, dims="n", observed=CENTRES)
    return m


def genotypes() -> gp.Model:
    """Counts of two, one and no copies of an allele: p**2, 2 p (1 - p), (1 - p)**2."""
    with gp.Model() as m:
        p = gp.Beta("p", A, B)
        gp.Potential("two", 4 * gp.log(p**2))
        gp.Potential("one", 7 * gp.log(2 * p * (1 - p)))
        gp.Potential("none", 3 * gp.log((1 - p) ** 2))
    return m


def recaptures() -> gp.Model:
    """A probability of detection that animals of an unknown number share."""
    with gp.Model(coords={"site": 4}) as m:
        p = gp.Beta("p", A, B)
        animals = gp.Poisson("animals", rate=6, dims="site")
        gp.Binomial("y", animals, p, dims="site", observed=[3, 5, 0, 4])
    return m


def beta_by_mean() -> gp.Model:
    """A Beta prior by its mean and concentration."""
    with gp.Model() as m:
        p = gp.Beta("p", mu=0.3, kappa=5)
        gp.Binomial("y", 9, p, observed=4)
    return m


def gamma_by_mean() -> gp.Model:
    """A Gamma prior by its mean and standard deviation."""
    with gp.Model() as m:
        x = gp.Gamma("x", mu=2, sigma=1)
        gp.Poisson("y", rate=x, dims="n", observed=COUNTS)
    return m


def mean_of_gammas() -> gp.Model:
    """Gamma values whose mean is unknown."""
    with gp.Model() as m:
        mean = gp.InverseGamma("mean", A, B)
        gp.Gamma("y", mu=mean, shape=2, dims="n", observed=POSITIVE)
    return m


def inverse_gaussian_times() -> gp.Model:
    """First passage times: their inverse mean is a drift."""
    with gp.Model() as m:
        drift = gp.HalfNormal("drift", sigma=2)
        lam = gp.Gamma("lam", A, rate=B)
        gp.InverseGaussian("y", mu=1 / drift, lam=lam, dims="n", observed=POSITIVE)
    return m


FORMS = (
    Form(half_cauchy_by_inverse_gammas, {"a": "InverseGamma", "var": "InverseGamma"}),
    Form(
        horseshoe,
        dict.fromkeys(("nu", "local", "xi", "overall"), "InverseGamma")
        | {"beta": "block MvNormal"},
    ),
    Form(lasso, {"rate": "Gamma", "var": "InverseGaussian", "beta": "block MvNormal"}),
    Form(quantile_regression, {"b": "Normal", "scale": "InverseGamma", "v": "InverseGaussian"}),
    Form(student_errors, {"mu": "Normal", "sd": "Gamma", "v": "InverseGamma"}),
    Form(product_of_deviations, {"row": "Gamma", "column": GIG}),
    Form(
        deviations_by_level,
        {"mu": "Normal", "between": "Gamma", "within": "Gamma", "theta": "Normal"},
    ),
    Form(named_transforms, {"tau": "Gamma"}),
    Form(log_scales, {"log_sd": "Gamma", "log_rate": "Gamma"}),
    Form(rates_of_rates, {"scale": "InverseGamma", "rate": "Gamma"}),
    Form(rates_of_groups, {"rate": "Gamma"}),
    Form(autoregressive_counts, {"x": "Gamma"}),
    Form(bounded_autoregression, {"phi": "Normal", "sd": "Gamma"}),
    Form(ordered_means, {"mu": "each Normal"}),
    Form(genotypes, {"p": "Beta"}),
    Form(recaptures, {"animals": "Poisson", "p": "Beta"}),
    Form(beta_by_mean, {"p": "Beta"}),
    Form(gamma_by_mean, {"x": "Gamma"}),
    Form(mean_of_gammas, {"mean": "InverseGamma"}),
    Form(inverse_gaussian_times, {"drift": "Normal", "lam": "Gamma"}),
)
