"""Standard deviations, variances and precisions, in every spelling."""

import gibbsppl as gp
from forms.form import Form, numbers

Y = numbers(20)


def precision():
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, tau=0.01)
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau, dims="n", observed=Y)
    return m


def precision_in_two_children():
    with gp.Model(coords={"g": 4, "n": 20}) as m:
        tau = gp.Gamma("tau", 1, rate=1)
        theta = gp.Normal("theta", 0, tau=2 * tau, dims="g")
        gp.Normal("x", theta, tau=tau, dims="g", observed=numbers(4))
        gp.Normal("y", 1, var=1 / tau, dims="n", observed=Y)
        gp.LogNormal("z", 1, tau=tau, dims="n", observed=Y**2 + 0.1)
    return m


def precision_of_known_weights():
    with gp.Model() as m:
        weight = gp.Data("weight", Y**2 + 0.1, dims="n")
        mu = gp.Normal("mu", 0, tau=0.01)
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", mu, tau=tau * weight, dims="n", observed=Y)
    return m


def chi_squared_precision():
    with gp.Model() as m:
        tau = gp.ChiSquared("tau", 3)
        gp.Normal("y", 0, tau=tau, dims="n", observed=Y)
    return m


def precision_per_group():
    with gp.Model(coords={"g": 3, "n": 20}) as m:
        rate = gp.Gamma("rate", 1, rate=1)
        tau = gp.Gamma("tau", 2, rate=rate, dims="g")
        gp.Normal("y", 0, tau=tau, dims=("n", "g"), observed=numbers(20, 3))
    return m


def variance():
    with gp.Model() as m:
        var = gp.InverseGamma("var", 2, 1)
        gp.Normal("y", 0, var=var, dims="n", observed=Y)
    return m


def gamma_variance():
    with gp.Model() as m:
        var = gp.Gamma("var", 2, rate=1)
        gp.Normal("y", 0, var=var, dims="n", observed=Y)
    return m


def uniform_sd():
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, tau=0.01)
        sd = gp.Uniform("sd", 0, 100)
        gp.Normal("y", mu, sigma=sd, dims="n", observed=Y)
        gp.Deterministic("precision", sd**-2)
    return m


def half_normal_sd():
    with gp.Model() as m:
        sd = gp.HalfNormal("sd", sigma=2)
        gp.Normal("y", 0, sigma=sd, dims="n", observed=Y)
    return m


def half_cauchy_sd():
    with gp.Model() as m:
        sd = gp.HalfCauchy("sd", 2)
        gp.Normal("y", 0, sigma=sd, dims="n", observed=Y)
    return m


def sum_of_variances():
    with gp.Model() as m:
        within = gp.InverseGamma("within", 2, 1)
        between = gp.InverseGamma("between", 2, 1)
        gp.Normal("y", 0, var=within + between, dims="n", observed=Y)
    return m


def precision_that_scales_the_mean():
    with gp.Model() as m:
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", tau, tau=tau, dims="n", observed=Y + 1)
    return m


def student_t_as_a_mixture():
    with gp.Model(coords={"n": 20}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        tau = gp.Gamma("tau", 1, rate=1)
        w = gp.Gamma("w", 2, rate=2, dims="n")
        gp.Normal("y", mu, tau=tau * w, dims="n", observed=Y)
    return m


FORMS = (
    Form(precision, {"mu": "Normal", "tau": "Gamma"}),
    Form(precision_in_two_children, {"theta": "Normal", "tau": "Gamma"}),
    Form(precision_of_known_weights, {"mu": "Normal", "tau": "Gamma"}),
    Form(chi_squared_precision, {"tau": "Gamma"}),
    Form(precision_per_group, {"tau": "Gamma", "rate": "Gamma"}),
    Form(variance, {"var": "InverseGamma"}),
    Form(gamma_variance, {"var": "GeneralizedInverseGaussian"}),
    Form(uniform_sd, {"mu": "Normal", "sd": "Gamma"}),
    Form(half_normal_sd, {"sd": "GeneralizedInverseGaussian"}),
    Form(half_cauchy_sd, {"sd": "concave"}),
    Form(sum_of_variances, {"within": "slice", "between": "slice"}),
    Form(precision_that_scales_the_mean, {"tau": "slice"}),
    Form(student_t_as_a_mixture, {"w": "Gamma", "mu": "Normal", "tau": "Gamma"}),
)
