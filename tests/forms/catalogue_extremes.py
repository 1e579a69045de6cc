"""Extreme data for one representative of each theme: none, one, all alike, tiny and huge."""

from collections.abc import Callable
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.form import Form, numbers

VALUES = numbers(5, seed=61)
GROUP = [0, 0, 2, 2, 2]


def groups_of_normals() -> gp.Model:
    """Groups with no value, one and several."""
    with gp.Model(coords={"g": 4}) as m:
        group = gp.Index("group", [0, 2, 2, 2, 2], of="g", dims="i")
        mu = gp.Normal("mu", 0, tau=1, dims="g")
        sd = gp.Uniform("sd", 0, 5, dims="g")
        gp.Normal("y", mu[group], sigma=sd[group], dims="i", observed=VALUES)
    return m


def groups_of_variances() -> gp.Model:
    """Groups of which some have no value, under priors that are no Gamma."""
    with gp.Model(coords={"g": 4}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        var = gp.Gamma("var", 2, rate=1, dims="g")
        sd = gp.HalfNormal("sd", sigma=2, dims="g")
        gp.Normal("y", 0, var=var[group], dims="i", observed=VALUES)
        gp.Normal("z", 0, sigma=sd[group], dims="i", observed=VALUES)
    return m


def groups_of_rates() -> gp.Model:
    with gp.Model(coords={"g": 4}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        rate = gp.Gamma("rate", 2, rate=1, dims="g")
        gp.Poisson("y", rate=rate[group], dims="i", observed=[0, 0, 3, 0, 1])
    return m


def groups_of_probabilities() -> gp.Model:
    """Probabilities with no trial, and with trials that all end alike."""
    with gp.Model(coords={"g": 4}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        p = gp.Beta("p", 2, 1, dims="g")
        q = gp.Beta("q", 2, 1, dims="g", upper=0.4)
        gp.Bernoulli("y", p[group], dims="i", observed=[0, 0, 1, 1, 1])
        trials = gp.Data("trials", [0, 0, 3, 3, 0], dims="i")
        gp.Binomial("z", trials, 1 - q[group], dims="i", observed=[0, 0, 3, 3, 0])
    return m


def groups_of_bounds() -> gp.Model:
    with gp.Model(coords={"g": 4}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        theta = gp.Pareto("theta", 2, minimum=0.5, dims="g")
        gp.Uniform("y", 0, theta[group], dims="i", observed=np.abs(VALUES))
    return m


def groups_of_shares() -> gp.Model:
    with gp.Model(coords={"g": 4, "k": 3}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        p = gp.Dirichlet("p", 0.5, dims=("g", "k"), event="k")
        gp.Categorical("y", p[group], dims="i", event="k", observed=[1, 1, 0, 0, 0])
    return m


def sites_without_a_count() -> gp.Model:
    with gp.Model(coords={"site": 3}) as m:
        x = gp.Poisson("x", rate=2, dims="site")
        n = gp.NegativeBinomial("n", n=2, p=0.4, dims="site")
        gp.Binomial("y", x, 0.4, dims="site", observed=[0, 0, 0])
        gp.Binomial("z", n, 0.4, dims="site", observed=[0, 0, 0])
    return m


def one_of_everything() -> gp.Model:
    """One value for each theme."""
    with gp.Model(coords={"i": 1, "k": 1}) as m:
        mu = gp.Normal("mu", 0, tau=1, dims="i")
        sd = gp.HalfNormal("sd", sigma=2, dims="i")
        gp.Normal("y", mu, sigma=sd, dims="i", observed=[0.7])
        rate = gp.Gamma("rate", 2, rate=1, dims="i")
        gp.Exponential("t", rate=rate, dims="i", observed=[0.7])
        p = gp.Uniform("p", 0, 1, dims="i")
        gp.Geometric("g", p, dims="i", observed=[0])
        share = gp.Dirichlet("share", 1, dims="k")
        gp.Categorical("label", share, dims="i", observed=[0])
    return m


def constant_values() -> gp.Model:
    """Values that are all zero: there is no spread to see."""
    with gp.Model() as m:
        tau = gp.Gamma("tau", 2, rate=1)
        var = gp.InverseGamma("var", 2, 1)
        lasso = gp.Exponential("lasso", rate=1)
        gp.Normal("y", 0, tau=tau, dims="i", observed=np.zeros(4))
        gp.Normal("z", 0, var=var, dims="i", observed=np.zeros(4))
        gp.Laplace("w", 0, rate=lasso, dims="i", observed=np.zeros(4))
    return m


def counts_of_zero() -> gp.Model:
    with gp.Model() as m:
        rate = gp.Gamma("rate", 0.5, rate=1)
        p, q = gp.Beta("p", 1, 1), gp.Beta("q", 1, 1)
        gp.Poisson("y", rate=rate, dims="i", observed=np.zeros(4, int))
        gp.Geometric("g", p, dims="i", observed=np.zeros(4, int))
        gp.NegativeBinomial("b", n=3, p=q, dims="i", observed=np.zeros(4, int))
    return m


Unit = float


def location(s: Unit) -> None:
    """A mean of values in some unit."""
    x = gp.Normal("x", 0, sigma=3 * s)
    gp.Normal("y", x, sigma=s, dims="i", observed=s * VALUES)


def bounded_location(s: Unit) -> None:
    """A positive mean of values in some unit."""
    x = gp.Exponential("x", scale=s)
    gp.Normal("y", x, sigma=s, dims="i", observed=s * VALUES)


def rate(s: Unit) -> None:
    """A rate of waiting times in some unit."""
    x = gp.Gamma("x", 2, scale=1 / s)
    gp.Exponential("y", rate=x, dims="i", observed=s * np.abs(VALUES))


def precision(s: Unit) -> None:
    """A precision of values in some unit."""
    x = gp.Gamma("x", 2, scale=s**-2)
    gp.Normal("y", 0, tau=x, dims="i", observed=s * VALUES)


def deviation(s: Unit) -> None:
    """A standard deviation with a uniform prior."""
    x = gp.Uniform("x", 0, 10 * s)
    gp.Normal("y", 0, sigma=x, dims="i", observed=s * VALUES)


def half_normal_deviation(s: Unit) -> None:
    """A standard deviation with a half-normal prior."""
    x = gp.HalfNormal("x", sigma=2 * s)
    gp.Normal("y", 0, sigma=x, dims="i", observed=s * VALUES)


def inverse_scale(s: Unit) -> None:
    """A scale of waiting times with an inverse Gamma prior."""
    x = gp.InverseGamma("x", 3, s)
    gp.Gamma("y", 2, scale=x, dims="i", observed=s * np.abs(VALUES))


def scale_in_a_mean(s: Unit) -> None:
    """A scale that is the mean of values in its unit."""
    x = gp.Rayleigh("x", sigma=s)
    gp.Normal("y", x, sigma=s, dims="i", observed=s * VALUES)


def bound(s: Unit) -> None:
    """A bound of values in some unit."""
    x = gp.Pareto("x", 2, minimum=s)
    gp.Uniform("y", 0, x, dims="i", observed=s * np.abs(VALUES))


UNITS = (1e-150, 1e150)
# The family of each, and the power of the unit in which the latent variable is measured.
MEASURED: dict[Callable[[Unit], Any], tuple[str, int]] = {
    location: ("Normal", 1),
    bounded_location: ("Normal", 1),
    rate: ("Gamma", -1),
    precision: ("Gamma", -2),
    deviation: ("Gamma", 1),
    half_normal_deviation: ("GeneralizedInverseGaussian", 1),
    inverse_scale: ("InverseGamma", 1),
    scale_in_a_mean: ("ModifiedHalfNormal", 1),
    bound: ("Pareto", 1),
}


def declared(declare: Callable[[Unit], None], unit: Unit) -> Form:
    """A model in a unit of measurement, named for both."""

    def build() -> gp.Model:
        with gp.Model() as m:
            declare(unit)
        return m

    build.__name__ = f"{declare.__name__}_in_units_of_{unit:g}"
    return Form(build, {"x": MEASURED[declare][0]})


FORMS = (
    Form(groups_of_normals, {"mu": "Normal", "sd": "Gamma"}),
    Form(
        groups_of_variances,
        {"var": "GeneralizedInverseGaussian", "sd": "GeneralizedInverseGaussian"},
    ),
    Form(groups_of_rates, {"rate": "Gamma"}),
    Form(groups_of_probabilities, {"p": "Beta", "q": "Beta"}),
    Form(groups_of_bounds, {"theta": "Pareto"}),
    Form(groups_of_shares, {"p": "Dirichlet"}),
    Form(sites_without_a_count, {"x": "Poisson", "n": "NegativeBinomial"}),
    Form(
        one_of_everything,
        {
            "mu": "Normal",
            "sd": "GeneralizedInverseGaussian",
            "rate": "Gamma",
            "p": "Beta",
            "share": "Dirichlet",
        },
    ),
    Form(constant_values, {"tau": "Gamma", "var": "InverseGamma", "lasso": "Gamma"}),
    Form(counts_of_zero, {"rate": "Gamma", "p": "Beta", "q": "Beta"}),
    *(declared(declare, unit) for declare in MEASURED for unit in UNITS),
)
