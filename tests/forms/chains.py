"""Lags, regions and running sums."""

import numpy as np

import gibbsppl as gp
from forms.form import Form, numbers

T = 8
Y = np.cumsum(numbers(T))


def random_walk():
    with gp.Model(coords={"t": T}) as m:
        tau = gp.Gamma("tau", 1, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=tau)
        gp.Normal("y", x, tau=4, dims="t", observed=Y)
    return m


def autoregression():
    with gp.Model(coords={"t": T}) as m:
        phi = gp.Normal("phi", 0, tau=1)
        c = gp.Normal("c", 0, tau=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(c + phi * x.lag("t", 1), tau=3)
        gp.Normal("y", x, tau=4, dims="t", observed=Y)
    return m


def observed_autoregression():
    with gp.Model(coords={"t": T}) as m:
        phi = gp.Normal("phi", 0, tau=1)
        tau = gp.Gamma("tau", 1, rate=1)
        y = gp.Array("y", dims="t", observed=Y)
        y[0] = gp.Normal(0, tau=1)
        y[1:] = gp.Normal(phi * y.lag("t", 1), tau=tau)
    return m


def two_lags():
    with gp.Model(coords={"t": T}) as m:
        x = gp.Array("x", dims="t")
        x[0:2] = gp.Normal(0, tau=1)
        x[2:] = gp.Normal(1.2 * x.lag("t", 1) - 0.5 * x.lag("t", 2), tau=2)
        gp.Normal("y", x, tau=4, dims="t", observed=Y)
    return m


def seasonal_lag():
    with gp.Model(coords={"t": T}) as m:
        x = gp.Array("x", dims="t")
        x[:4] = gp.Normal(0, tau=1)
        x[4:] = gp.Normal(x.lag("t", 4), tau=2)
        gp.Normal("y", x, tau=4, dims="t", observed=Y)
    return m


def constant_start():
    with gp.Model(coords={"t": T}) as m:
        tau = gp.Gamma("tau", 1, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = 2.0
        x[1:] = gp.Normal(x.lag("t", 1), tau=tau)
        gp.Normal("y", x, tau=4, dims="t", observed=Y)
    return m


def several_walks():
    with gp.Model(coords={"s": 3, "t": 5}) as m:
        tau = gp.Gamma("tau", 1, rate=1, dims="s")
        x = gp.Array("x", dims=("s", "t"))
        x[:, 0] = gp.Normal(0, tau=1)
        x[:, 1:] = gp.Normal(x.lag("t", 1), tau=tau)
        gp.Normal("y", x, tau=4, dims=("s", "t"), observed=numbers(3, 5))
    return m


def running_sum():
    with gp.Model(coords={"t": T}) as m:
        tau = gp.Gamma("tau", 1, rate=1)
        step = gp.Normal("step", 0, tau=tau, dims="t")
        gp.Normal("y", step.cumsum("t"), tau=4, dims="t", observed=Y)
    return m


def running_product():
    with gp.Model(coords={"t": 4}) as m:
        growth = gp.Gamma("growth", 3, rate=3, dims="t")
        gp.Poisson("y", rate=3 * gp.cumprod(growth, "t"), dims="t", observed=[2, 4, 5, 9])
    return m


def volatility():
    with gp.Model(coords={"t": 6}) as m:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, tau=1)
        h[1:] = gp.Normal(0.9 * h.lag("t", 1), tau=4)
        gp.Normal("y", 0, var=gp.exp(h), dims="t", observed=numbers(6))
    return m


def gamma_chain():
    with gp.Model(coords={"t": 6}) as m:
        rate = gp.Array("rate", dims="t")
        rate[0] = gp.Gamma(2, rate=1)
        rate[1:] = gp.Gamma(4, rate=4 / rate.lag("t", 1))
        gp.Poisson("y", rate=rate, dims="t", observed=[1, 2, 2, 4, 3, 5])
    return m


def hidden_markov():
    with gp.Model(coords={"t": 9, "state": 3}) as m:
        first = gp.Data("first", [0.2, 0.3, 0.5], dims="state")
        P = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
        mu = gp.Normal("mu", 0, tau=1, dims="state")
        z = gp.Array("z", dims="t", event="state")
        z[0] = gp.Categorical(first)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", mu[z], tau=4, dims="t", observed=numbers(9))
    return m


def regions_of_three_families():
    with gp.Model(coords={"t": 6}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:3] = gp.StudentT(4, 0, sigma=1)
        x[3:] = gp.Normal(1, tau=2)
        gp.Normal("y", x, tau=1, dims="t", observed=numbers(6))
    return m


def partly_observed_walk():
    y = np.ma.masked_array(Y, mask=[0, 1, 0, 0, 1, 1, 0, 0])
    with gp.Model(coords={"t": T}) as m:
        tau = gp.Gamma("tau", 1, rate=1)
        y_ = gp.Array("y", dims="t", observed=y)
        y_[0] = gp.Normal(0, tau=1)
        y_[1:] = gp.Normal(y_.lag("t", 1), tau=tau)
    return m


def missing():
    y = np.ma.masked_array(Y, mask=[0, 1, 0, 0, 1, 1, 0, 0])
    with gp.Model() as m:
        mu, tau = gp.Normal("mu", 0, tau=0.01), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, dims="t", observed=y)
    return m


def missing_in_a_table():
    y = np.ma.masked_array(numbers(4, 3), mask=numbers(4, 3, seed=7) > 0.5)
    with gp.Model(coords={"i": 4, "j": 3}) as m:
        mu = gp.Normal("mu", 0, tau=0.1, dims="i")
        tau = gp.Gamma("tau", 1, rate=1, dims="j")
        gp.Normal("y", mu, tau=tau, dims=("i", "j"), observed=y)
    return m


FORMS = (
    Form(random_walk, {"x[0]": "Normal", "x[1:]": "each Normal", "tau": "Gamma"}),
    Form(
        autoregression,
        {"x[0]": "Normal", "x[1:]": "each Normal", "phi": "Normal", "c": "Normal"},
    ),
    Form(observed_autoregression, {"phi": "Normal", "tau": "Gamma"}),
    Form(two_lags, {"x[:2]": "each Normal", "x[2:]": "each Normal"}),
    Form(seasonal_lag, {"x[:4]": "Normal", "x[4:]": "Normal"}),
    Form(constant_start, {"x[1:]": "each Normal", "tau": "Gamma"}),
    Form(several_walks, {"x[:, 0]": "Normal", "x[:, 1:]": "each Normal", "tau": "Gamma"}),
    Form(running_sum, {"step": "block MvNormal", "tau": "Gamma"}),
    Form(running_product, {"growth": "each slice"}),
    Form(volatility, {"h[0]": "concave", "h[1:]": "each concave"}),
    Form(
        gamma_chain,
        {
            "rate[0]": "GeneralizedInverseGaussian",
            "rate[1:]": "each GeneralizedInverseGaussian",
        },
    ),
    Form(
        hidden_markov,
        {"z": "chain", "P": "Dirichlet", "mu": "Normal"},
        blocks={},
    ),
    Form(regions_of_three_families, {"x[0]": "Normal", "x[1:3]": "slice", "x[3:]": "Normal"}),
    Form(partly_observed_walk, {"y[1:]": "each Normal", "tau": "Gamma"}),
    Form(missing, {"y": "Normal", "mu": "Normal", "tau": "Gamma"}),
    Form(missing_in_a_table, {"y": "Normal", "mu": "Normal", "tau": "Gamma"}),
)
