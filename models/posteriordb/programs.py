"""The models of the posteriors: regressions as rows, and all others.

Variables have the names of the published programs, and their priors; where these say nothing of a
parameter, it is flat.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

import gibbsppl as gp
from models.posteriordb import tables


@dataclass(frozen=True, slots=True)
class Regression:
    """A response that depends on columns of a table: normal, or, without noise, a logistic one.

    ``terms`` are the columns that ``beta`` multiplies, ``1`` the constant; with ``level`` a
    variable ``alpha`` is added. Coefficients are normal about 0 with the standard deviation
    ``sd``, or flat; ``noise`` is the prior of ``sigma``, a distribution with its parameters.
    """

    columns: Callable
    response: str
    terms: str
    level: bool = False
    sd: float | None = None
    noise: tuple[str, Mapping] | None = ("HalfFlat", {})

    def design(self):
        """The columns of the terms, side by side, and the response."""
        columns = self.columns()
        response = columns[self.response]
        ones = {"1": np.ones(len(response))}
        return np.column_stack([(columns | ones)[t] for t in self.terms.split()]), response

    def model(self):
        """The model with its data."""
        design, response = self.design()
        with gp.Model(coords=dict(zip(("row", "term"), design.shape, strict=True))) as regression:
            x = gp.Data("x", design, dims=("row", "term"))
            mean = (x * self._coefficients("beta", dims="term")).sum("term")
            if self.level:
                mean = mean + self._coefficients("alpha")
            if self.noise is None:
                gp.Bernoulli("y", gp.expit(mean), dims="row", observed=response.astype(int))
            else:
                name, parameters = self.noise
                sigma = getattr(gp, name)("sigma", **parameters)
                gp.Normal("y", mean, sigma=sigma, dims="row", observed=response)
        return regression

    def _coefficients(self, name, **of):
        if self.sd is None:
            return gp.Flat(name, **of)
        return gp.Normal(name, 0, sigma=self.sd, **of)


@dataclass(frozen=True, slots=True)
class Rates:
    """Numbers of successes by rate: of each several pairs (successes, trials)."""

    observed: Mapping = field(default_factory=dict)

    def model(self):
        """The model with its data: rates are uniform."""
        with gp.Model() as rates:
            for name, counts in self.observed.items():
                rate = gp.Beta(name, 1, 1)
                for i, (successes, trials) in enumerate(counts):
                    gp.Binomial(f"k_{name}_{i}", trials, rate, observed=successes)
        return rates


def radon():
    """Log radon of homes, on the ground floor or not, all counties alike."""
    columns = tables.table("radon_mn")
    with gp.Model(coords={"home": len(columns["floor"])}) as pooled:
        floor = gp.Data("floor", columns["floor"], dims="home")
        alpha = gp.Normal("alpha", 0, sigma=10)
        beta = gp.Normal("beta", 0, sigma=10)
        sigma_y = gp.HalfNormal("sigma_y", sigma=1)
        gp.Normal(
            "y", alpha + beta * floor, sigma=sigma_y, dims="home", observed=columns["log_radon"]
        )
    return pooled


def schools(scale=5):
    """Eight schools; the spread between them is half-Cauchy with a scale."""
    columns = tables.table("eight_schools")
    with gp.Model(coords={"school": len(columns["y"])}) as schools:
        error = gp.Data("error", columns["sigma"], dims="school")
        mu = gp.Normal("mu", 0, sigma=5)
        tau = gp.HalfCauchy("tau", scale)
        theta = gp.Normal("theta", mu, sigma=tau, dims="school")
        gp.Normal("y", theta, sigma=error, dims="school", observed=columns["y"])
    return schools


def moving_average():
    """One lag and one moving average; the error before the first value is 0."""
    y = tables.table("arma")["y"]
    with gp.Model(coords={"time": len(y)}) as series:
        before = gp.Data("before", np.append(0, y[:-1]), dims="time")
        mu = gp.Normal("mu", 0, sigma=10)
        phi = gp.Normal("phi", 0, sigma=2)
        theta = gp.Normal("theta", 0, sigma=2)
        sigma = gp.HalfCauchy("sigma", 2.5)
        nu = gp.Array("nu", dims="time")
        nu[0] = mu + phi * mu
        nu[1:] = mu + phi * before + theta * (before - nu.lag("time", 1))
        gp.Normal("y", nu, sigma=sigma, dims="time", observed=y)
    return series


def volatility(first=0.5):
    """A GARCH(1, 1) process from a known first standard deviation."""
    y = tables.table("garch")["y"]
    with gp.Model(coords={"time": len(y)}) as series:
        before = gp.Data("before", np.append(0, y[:-1]), dims="time")
        mu = gp.Flat("mu")
        alpha0 = gp.HalfFlat("alpha0")
        alpha1 = gp.Uniform("alpha1", 0, 1)
        beta1 = gp.Uniform("beta1", 0, 1)
        gp.Constraint("stationary", alpha1 + beta1 < 1)
        v = gp.Array("v", dims="time")
        v[0] = first**2
        v[1:] = alpha0 + alpha1 * (before - mu) ** 2 + beta1 * v.lag("time", 1)
        gp.Normal("y", mu, var=v, dims="time", observed=y)
    return series


def gaussian_process():
    """Eleven values of a smooth curve; ``sigma`` is the variance of the noise."""
    columns = tables.table("gaussian_process")
    x = columns["x"]
    with gp.Model(coords={"i": len(x)}) as curve:
        apart = gp.Data("apart", (x[:, None] - x) ** 2, dims=("i", "i'"))
        same = gp.Data("same", np.eye(len(x)), dims=("i", "i'"))
        level = gp.Data("level", np.zeros(len(x)), dims="i")
        rho = gp.Gamma("rho", 25, rate=4)
        alpha = gp.HalfNormal("alpha", sigma=2)
        sigma = gp.HalfNormal("sigma", sigma=1)
        covariance = alpha**2 * gp.exp(-apart / (2 * rho**2)) + sigma * same
        gp.MvNormal("y", level, cov=covariance, dims="i", event="i", observed=columns["y"])
    return curve


def avoidance():
    """Dogs: each shock and each one avoided multiplies the chance of a shock.

    The first trial is left out: the chance is 1 there, and every dog was shocked.
    """
    columns = tables.dogs()
    later = columns["avoided"] + columns["shocks"] > 0
    with gp.Model(coords={"trial": int(later.sum())}) as dogs:
        shocks = gp.Data("shocks", columns["shocks"][later], dims="trial")
        avoided = gp.Data("avoided", columns["avoided"][later], dims="trial")
        a = gp.Uniform("a", 0, 1)
        b = gp.Uniform("b", 0, 1)
        chance = a**shocks * b**avoided
        gp.Bernoulli("y", chance, dims="trial", observed=columns["y"][later])
    return dogs


def two_normals():
    """A mixture of two normal distributions, the lower mean first."""
    y = tables.table("two_normals")["y"]
    with gp.Model(coords={"component": 2, "row": len(y)}) as mixture:
        weight = gp.Dirichlet("weight", 5, dims="component", event="component")
        gp.Deterministic("theta", weight.at("component", 0))
        mu = gp.Normal("mu", 0, sigma=2, dims="component")
        gp.Constraint("order", mu.lag("component", 1) < mu)
        sigma = gp.HalfNormal("sigma", sigma=2, dims="component")
        z = gp.Categorical("z", weight, dims="row", event="component")
        gp.Normal("y", mu[z], sigma=sigma[z], dims="row", observed=y)
    return mixture


def captures(occasions=3):
    """Animals that are there with probability ``omega``, and caught with probability ``p``."""
    caught = tables.table("captures")["captures"].astype(int)
    with gp.Model(coords={"animal": len(caught)}) as animals:
        omega = gp.Uniform("omega", 0, 1)
        p = gp.Uniform("p", 0, 1)
        gp.ZeroInflatedBinomial(
            "caught", psi=omega, n=occasions, p=p, dims="animal", observed=caught
        )
    return animals
