"""Hierarchies whose hyperparameters have no family, and functions of several unknowns."""

import gibbsppl as gp
from forms.form import Form, codes, counts, numbers


def pumps():
    with gp.Model(coords={"pump": 5}) as m:
        time = gp.Data("time", [94.3, 15.7, 62.9, 126.0, 5.24], dims="pump")
        alpha = gp.Exponential("alpha", rate=1)
        beta = gp.Gamma("beta", 0.1, rate=1)
        theta = gp.Gamma("theta", alpha, rate=beta, dims="pump")
        gp.Poisson("x", rate=theta * time, dims="pump", observed=[5, 1, 5, 14, 3])
    return m


def beta_hierarchy():
    with gp.Model(coords={"g": 4}) as m:
        a = gp.Gamma("a", 2, rate=1)
        b = gp.Gamma("b", 2, rate=1)
        p = gp.Beta("p", a, b, dims="g")
        gp.Binomial("x", 10, p, dims="g", observed=[3, 5, 4, 8])
    return m


def dirichlet_hierarchy():
    with gp.Model(coords={"g": 4, "k": 3, "n": 12}) as m:
        a = gp.Gamma("a", 2, rate=1, dims="k")
        p = gp.Dirichlet("p", a, dims=("g", "k"), event="k")
        group = gp.Index("group", codes(12, 4), of="g", dims="n")
        gp.Categorical("x", p[group], dims="n", observed=codes(12, 3, seed=5))
    return m


def robust_regression():
    with gp.Model(coords={"g": 3, "n": 20}) as m:
        group = gp.Index("group", codes(20, 3), of="g", dims="n")
        mu = gp.Normal("mu", 0, tau=0.1, dims="g")
        gp.StudentT("y", 4, mu[group], sigma=1, dims="n", observed=numbers(20))
    return m


def unknown_degrees_of_freedom():
    with gp.Model(coords={"n": 12}) as m:
        nu = gp.Gamma("nu", 2, rate=0.5)
        gp.StudentT("y", nu, 0, sigma=1, dims="n", observed=numbers(12))
    return m


def unknown_shape():
    with gp.Model(coords={"n": 8}) as m:
        shape = gp.Gamma("shape", 2, rate=1)
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Gamma("y", shape, rate=rate, dims="n", observed=numbers(8) ** 2 + 0.1)
    return m


def two_level_means():
    with gp.Model(coords={"a": 3, "b": 2, "n": 4}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        between = gp.Gamma("between", 2, rate=1)
        theta = gp.Normal("theta", mu, tau=between, dims="a")
        eta = gp.Normal("eta", theta, tau=3, dims=("a", "b"))
        gp.Normal("y", eta, tau=1, dims=("a", "b", "n"), observed=numbers(3, 2, 4))
    return m


def crossed_effects():
    with gp.Model(coords={"a": 3, "b": 4}) as m:
        mu = gp.Normal("mu", 0, tau=0.1)
        row = gp.Normal("row", 0, tau=1, dims="a")
        column = gp.Normal("column", 0, tau=1, dims="b")
        gp.Normal("y", mu + row + column, tau=2, dims=("a", "b"), observed=numbers(3, 4))
    return m


def ratio_of_unknowns():
    with gp.Model(coords={"n": 6}) as m:
        a = gp.Gamma("a", 2, rate=1)
        b = gp.Gamma("b", 3, rate=1)
        gp.Poisson("y", rate=5 * a / b, dims="n", observed=counts(3, 6))
    return m


def sum_of_rates():
    with gp.Model(coords={"n": 6}) as m:
        a = gp.Gamma("a", 2, rate=1)
        b = gp.Gamma("b", 3, rate=1)
        gp.Poisson("y", rate=a + b, dims="n", observed=counts(3, 6))
    return m


def one_concentration_of_two_sizes():
    """What both have of it is not the same: loggamma(2 a), loggamma(3 a)."""
    with gp.Model(coords={"j": 2, "k": 3}) as m:
        a = gp.Gamma("a", 2, rate=1)
        gp.Dirichlet("p", a, dims="j", event="j")
        gp.Dirichlet("q", a, dims="k", event="k")
    return m


def a_bound_by_group_and_row():
    with gp.Model(coords={"row": 2, "g": 3, "n": 5}) as m:
        group = gp.Index("group", codes(5, 3), of="g", dims="n")
        a = gp.Uniform("a", 0, 2, dims=("row", "g"))
        b = gp.Uniform("b", 0, a[group], dims=("row", "n"))
        gp.Exponential("y", rate=b, dims=("row", "n"), observed=counts(3, 2, 5) + 0.5)
    return m


def names_that_are_no_identifiers():
    with gp.Model(coords={"school.id": 3}) as m:
        lam = gp.Gamma("lambda", 2, rate=1)
        tau = gp.Gamma("tau.c", 2, rate=1)
        s = gp.Normal("s", 0, tau=tau)
        log = gp.Normal("log", s, tau=lam, dims="school.id")
        c = gp.Data("c", [0.5, 1.0, 2.0], dims="school.id")
        gp.Normal("exp", log * c + gp.log(c), tau=tau, dims="school.id", observed=[1.0, 2.0, 3.0])
        gp.Deterministic("sqrt", 1 / gp.sqrt(tau))
    return m


FORMS = (
    Form(pumps, {"theta": "Gamma", "beta": "Gamma", "alpha": "concave"}),
    Form(beta_hierarchy, {"p": "Beta", "a": "concave", "b": "concave"}),
    Form(dirichlet_hierarchy, {"p": "Dirichlet", "a": "each concave"}),
    Form(robust_regression, {"mu": "slice"}),
    Form(unknown_degrees_of_freedom, {"nu": "slice"}),
    Form(unknown_shape, {"shape": "concave", "rate": "Gamma"}),
    Form(two_level_means, {"mu": "Normal", "between": "Gamma", "theta": "Normal", "eta": "Normal"}),
    Form(crossed_effects, {"mu": "Normal", "row": "Normal", "column": "Normal"}),
    Form(ratio_of_unknowns, {"a": "Gamma", "b": "GeneralizedInverseGaussian"}),
    Form(one_concentration_of_two_sizes, {"p": "Dirichlet", "q": "Dirichlet", "a": "concave"}),
    Form(a_bound_by_group_and_row, {"b": "Gamma", "a": "Pareto"}),
    Form(sum_of_rates, {"a": "concave", "b": "concave"}),
    Form(
        names_that_are_no_identifiers,
        {"lambda": "Gamma", "tau.c": "Gamma", "s": "Normal", "log": "Normal"},
    ),
)
