"""One prior and its children: every family as what it is conjugate to."""

import numpy as np

import gibbsppl as gp
from forms.form import Form, counts, numbers

POSITIVE = np.abs(numbers(12)) + 0.1
FLIPS = (numbers(12) > 0.2).astype(int)


def beta_binomial():
    with gp.Model() as m:
        p = gp.Beta("p", 2, 3)
        gp.Binomial("x", 10, p, observed=7)
    return m


def uniform_prior_of_a_probability():
    with gp.Model() as m:
        p = gp.Uniform("p", 0, 1)
        gp.Bernoulli("x", p, dims="n", observed=FLIPS)
    return m


def complement_of_a_probability():
    with gp.Model(coords={"n": 12}) as m:
        p = gp.Beta("p", 2, 2)
        gp.Bernoulli("x", 1 - p, dims="n", observed=FLIPS)
        gp.Bernoulli("y", p, dims="n", observed=1 - FLIPS)
    return m


def geometric_and_negative_binomial():
    with gp.Model(coords={"n": 8}) as m:
        p = gp.Beta("p", 1, 2)
        gp.Geometric("g", p, dims="n", observed=counts(2, 8))
        gp.NegativeBinomial("b", n=3, p=p, dims="n", observed=counts(3, 8))
    return m


def negative_binomial_with_a_mean():
    with gp.Model(coords={"n": 8}) as m:
        mean = gp.Gamma("mean", 2, rate=1)
        gp.NegativeBinomial("b", mu=mean, alpha=3, dims="n", observed=counts(3, 8))
    return m


def poisson_with_exposure():
    with gp.Model() as m:
        time = gp.Data("time", [1.5, 2.0, 4.0], dims="n")
        rate = gp.Exponential("rate", rate=0.5)
        gp.Poisson("x", rate=rate * time, dims="n", observed=[1, 4, 6])
    return m


def poisson_with_a_log_offset():
    with gp.Model() as m:
        offset = gp.Data("offset", [0.1, 0.3, -0.2], dims="n")
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Poisson("x", rate=gp.exp(offset) * rate, dims="n", observed=[1, 4, 6])
        gp.Poisson("y", rate=gp.exp(gp.log(rate) + offset), dims="n", observed=[0, 2, 3])
    return m


def waiting_times():
    with gp.Model(coords={"n": 12}) as m:
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Exponential("x", rate=rate, dims="n", observed=POSITIVE)
        gp.Gamma("y", 2.5, rate=rate, dims="n", observed=POSITIVE)
        gp.Weibull("z", shape=1.5, rate=rate, dims="n", observed=POSITIVE)
    return m


def weibull_with_a_scale():
    with gp.Model(coords={"n": 12}) as m:
        scale = gp.InverseGamma("scale", 3, 2)
        gp.Exponential("x", scale=scale, dims="n", observed=POSITIVE)
        gp.Gamma("y", 2.5, scale=scale, dims="n", observed=POSITIVE)
    return m


def pareto_tail():
    with gp.Model(coords={"n": 12}) as m:
        shape = gp.Gamma("shape", 2, rate=1)
        gp.Pareto("x", shape, minimum=0.05, dims="n", observed=POSITIVE)
    return m


def log_normal():
    with gp.Model(coords={"n": 12}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        tau = gp.Gamma("tau", 1, rate=1)
        gp.LogNormal("x", mu, tau=tau, dims="n", observed=POSITIVE)
    return m


def log_normal_prior_of_a_rate():
    with gp.Model(coords={"n": 4}) as m:
        rate = gp.LogNormal("rate", 0, tau=1)
        gp.Poisson("x", rate=rate, dims="n", observed=counts(2, 4))
    return m


def log_normal_prior_of_a_factor():
    with gp.Model(coords={"n": 12}) as m:
        factor = gp.LogNormal("factor", 0, tau=1)
        gp.LogNormal("x", gp.log(factor), tau=2, dims="n", observed=POSITIVE)
    return m


def half_normal_prior_of_a_location():
    with gp.Model(coords={"n": 12}) as m:
        mu = gp.HalfNormal("mu", tau=1)
        gp.Normal("x", mu, tau=2, dims="n", observed=POSITIVE)
    return m


def uniform_prior_of_a_bound():
    with gp.Model(coords={"n": 5}) as m:
        theta = gp.Pareto("theta", 1, minimum=0.5)
        gp.Uniform("x", 0, theta, dims="n", observed=[0.3, 1.2, 0.8, 2.0, 0.1])
    return m


def dice():
    with gp.Model(coords={"face": 4, "n": 3}) as m:
        p = gp.Dirichlet("p", 1, dims="face")
        gp.Multinomial("x", [5, 9, 4][0], p, dims=("n", "face"), observed=[[1, 2, 1, 1]] * 3)
        gp.Categorical("y", p, dims="n", observed=[0, 3, 3])
    return m


def laplace_location():
    with gp.Model(coords={"n": 9}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Laplace("x", mu, rate=rate, dims="n", observed=numbers(9))
    return m


def logistic_location():
    with gp.Model(coords={"n": 9}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        gp.Logistic("x", mu, scale=1, dims="n", observed=numbers(9))
    return m


def truncated_prior():
    with gp.Model(coords={"n": 9}) as m:
        mu = gp.Normal("mu", 0, tau=0.1, lower=0.2)
        gp.Normal("x", mu, tau=1, dims="n", observed=numbers(9))
    return m


def truncated_child():
    with gp.Model(coords={"n": 12}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        gp.Normal("x", mu, tau=1, lower=0, dims="n", observed=POSITIVE)
    return m


def one_observation():
    with gp.Model(coords={"n": 1, "p": 1}) as m:
        design = gp.Data("design", [[2.0]], dims=("n", "p"))
        tau = gp.Gamma("tau", 1, rate=1)
        beta = gp.Normal("beta", 0, tau=1, dims="p")
        gp.Normal("y", design @ beta, tau=tau, dims="n", observed=[1.5])
    return m


def nothing_observed():
    with gp.Model(coords={"n": 3}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        mu = gp.Normal("mu", 1, tau=tau, dims="n")
        gp.Deterministic("total", mu.sum("n"))
    return m


FORMS = (
    Form(beta_binomial, {"p": "Beta"}),
    Form(uniform_prior_of_a_probability, {"p": "Beta"}),
    Form(complement_of_a_probability, {"p": "Beta"}),
    Form(geometric_and_negative_binomial, {"p": "Beta"}),
    Form(negative_binomial_with_a_mean, {"mean": "concave"}),
    Form(poisson_with_exposure, {"rate": "Gamma"}),
    Form(poisson_with_a_log_offset, {"rate": "Gamma"}),
    Form(waiting_times, {"rate": "Gamma"}),
    Form(weibull_with_a_scale, {"scale": "InverseGamma"}),
    Form(pareto_tail, {"shape": "Gamma"}),
    Form(log_normal, {"mu": "Normal", "tau": "Gamma"}),
    Form(log_normal_prior_of_a_rate, {"rate": "concave"}),
    Form(log_normal_prior_of_a_factor, {"factor": "LogNormal"}),
    Form(half_normal_prior_of_a_location, {"mu": "Normal"}),
    Form(uniform_prior_of_a_bound, {"theta": "Pareto"}),
    Form(dice, {"p": "Dirichlet"}),
    Form(laplace_location, {"mu": "concave", "rate": "Gamma"}),
    Form(logistic_location, {"mu": "concave"}),
    Form(truncated_prior, {"mu": "Normal"}),
    Form(truncated_child, {"mu": "slice"}),
    Form(one_observation, {"beta": "block MvNormal", "tau": "Gamma"}),
    Form(nothing_observed, {"mu": "Normal", "tau": "Gamma"}),
)
