"""Means that are sums, products and contractions of latent arrays."""

import gibbsppl as gp
from forms.form import Form, numbers

X = numbers(20, 3)
Y = numbers(20, seed=4)


def regression():
    with gp.Model(coords={"n": 20, "p": 3}) as m:
        design = gp.Data("X", X, dims=("n", "p"))
        alpha = gp.Normal("alpha", 0, tau=0.01)
        lam = gp.Gamma("lam", 1, rate=1)
        tau = gp.Gamma("tau", 1, rate=1)
        beta = gp.Normal("beta", 0, tau=lam, dims="p")
        gp.Normal("y", alpha + design @ beta, tau=tau, dims="n", observed=Y)
    return m


def several_outputs():
    with gp.Model(coords={"n": 20, "p": 3, "q": 2}) as m:
        design = gp.Data("X", X, dims=("n", "p"))
        beta = gp.Normal("beta", 0, tau=1, dims=("p", "q"))
        tau = gp.Gamma("tau", 1, rate=1, dims="q")
        gp.Normal("y", design @ beta, tau=tau, dims=("n", "q"), observed=numbers(20, 2))
    return m


def growth_curves():
    with gp.Model(coords={"rat": 4, "day": 5}) as m:
        age = gp.Data("age", [8, 15, 22, 29, 36], dims="day")
        mu_a = gp.Normal("mu_a", 0, tau=0.01)
        mu_b = gp.Normal("mu_b", 0, tau=0.01)
        tau_a, tau_b = gp.Gamma("tau_a", 1, rate=1), gp.Gamma("tau_b", 1, rate=1)
        tau = gp.Gamma("tau", 1, rate=1)
        a = gp.Normal("a", mu_a, tau=tau_a, dims="rat")
        b = gp.Normal("b", mu_b, tau=tau_b, dims="rat")
        mean = gp.Deterministic("mean", a + b * (age - 22) / 10)
        gp.Normal("y", mean, tau=tau, dims=("rat", "day"), observed=numbers(4, 5))
        gp.Deterministic("sigma", 1 / gp.sqrt(tau))
    return m


def sum_over_a_latent_dim():
    with gp.Model(coords={"k": 3}) as m:
        x = gp.Normal("x", 0, tau=1, dims="k")
        gp.Normal("y", x.sum("k"), tau=2, observed=1.3)
    return m


def sum_and_rows():
    with gp.Model(coords={"i": 3, "k": 2}) as m:
        x = gp.Normal("x", 0, tau=1, dims=("k", "i"))
        gp.Normal("y", x.sum("k"), tau=2, dims="i", observed=numbers(3))
        gp.Normal("z", x, tau=1, dims=("k", "i"), observed=numbers(2, 3))
    return m


def sum_over_everything():
    with gp.Model(coords={"i": 3, "k": 2}) as m:
        x = gp.Normal("x", 0, tau=1, dims=("i", "k"))
        gp.Normal("y", x.sum(("i", "k")), tau=2, observed=0.7)
    return m


def sums_over_each_axis():
    with gp.Model(coords={"i": 3, "k": 2}) as m:
        x = gp.Normal("x", 0, tau=1, dims=("i", "k"))
        gp.Normal("y", x.sum("k"), tau=2, dims="i", observed=numbers(3))
        gp.Normal("z", x.sum("i"), tau=2, dims="k", observed=numbers(2))
    return m


def product_of_latents():
    with gp.Model(coords={"n": 20}) as m:
        a = gp.Normal("a", 1, tau=1)
        b = gp.Normal("b", 1, tau=1)
        x = gp.Data("x", X[:, 0], dims="n")
        gp.Normal("y", a * b * x, tau=1, dims="n", observed=Y)
    return m


def product_over_a_dim():
    with gp.Model(coords={"k": 2}) as m:
        x = gp.Normal("x", 1, tau=1, dims="k")
        gp.Normal("y", x.prod("k"), tau=2, observed=1.3)
    return m


def square_of_a_latent():
    with gp.Model() as m:
        x = gp.Normal("x", 1, tau=1)
        gp.Normal("y", x**2, tau=2, observed=1.3)
    return m


def square_of_a_residual():
    with gp.Model(coords={"n": 20}) as m:
        x = gp.Normal("x", 1, tau=1)
        gp.Potential("pull", -0.5 * (x - 3) ** 2)
        gp.Normal("y", x, tau=0.5, dims="n", observed=Y)
    return m


def logistic_regression():
    with gp.Model(coords={"n": 20, "p": 3}) as m:
        design = gp.Data("X", X, dims=("n", "p"))
        beta = gp.Normal("beta", 0, tau=0.5, dims="p")
        gp.Bernoulli("y", logit_p=design @ beta, dims="n", observed=(Y > 0).astype(int))
    return m


def logistic_intercepts():
    with gp.Model(coords={"g": 4, "n": 5}) as m:
        a = gp.Normal("a", 0, tau=0.5, dims="g")
        gp.Bernoulli("y", logit_p=a, dims=("g", "n"), observed=(numbers(4, 5) > 0).astype(int))
    return m


def poisson_regression():
    with gp.Model(coords={"n": 20}) as m:
        x = gp.Data("x", X[:, 0], dims="n")
        a = gp.Normal("a", 0, tau=0.5)
        b = gp.Normal("b", 0, tau=0.5)
        gp.Poisson("y", rate=gp.exp(a + b * x), dims="n", observed=(Y > 0) + (Y > 1))
    return m


def greater_of_two():
    with gp.Model() as m:
        a, b = gp.Normal("a", 0, tau=1), gp.Normal("b", 0, tau=1)
        gp.Normal("y", gp.max(a, b), tau=2, observed=0.4)
        gp.Normal("z", gp.min(a, b), tau=2, observed=-0.4)
    return m


def change_point():
    with gp.Model() as m:
        time = gp.Data("time", [1.0, 2.0, 3.0, 4.0, 5.0], dims="t")
        change = gp.Uniform("change", 0, 6)
        low, high = gp.Normal("low", 0, tau=1), gp.Normal("high", 0, tau=1)
        late = gp.step(time - change)
        gp.Normal(
            "y", low * (1 - late) + high * late, tau=2, dims="t", observed=[0.1, 0.2, 2.1, 2.0, 2.2]
        )
    return m


def absolute_value():
    with gp.Model() as m:
        x = gp.Normal("x", 1, tau=1)
        gp.Normal("y", abs(x), tau=2, observed=0.5)
    return m


FORMS = (
    Form(regression, {"alpha": "Normal", "lam": "Gamma", "tau": "Gamma", "beta": "block MvNormal"}),
    Form(several_outputs, {"beta": "block MvNormal", "tau": "Gamma"}),
    Form(
        growth_curves,
        dict.fromkeys(("mu_a", "mu_b", "a", "b"), "Normal")
        | dict.fromkeys(("tau_a", "tau_b", "tau"), "Gamma"),
    ),
    Form(sum_over_a_latent_dim, {"x": "block MvNormal"}),
    Form(sum_and_rows, {"x": "block MvNormal"}),
    Form(sum_over_everything, {"x": "block MvNormal"}),
    Form(sums_over_each_axis, {"x": "block MvNormal"}),
    Form(product_of_latents, {"a": "Normal", "b": "Normal"}),
    Form(product_over_a_dim, {"x": "each slice"}),
    Form(square_of_a_latent, {"x": "slice"}),
    Form(square_of_a_residual, {"x": "Normal"}),
    Form(logistic_regression, {"beta": "each concave"}),
    Form(logistic_intercepts, {"a": "concave"}),
    Form(poisson_regression, {"a": "concave", "b": "concave"}),
    Form(greater_of_two, {"a": "slice", "b": "slice"}),
    Form(change_point, {"change": "slice", "low": "Normal", "high": "Normal"}),
    Form(absolute_value, {"x": "slice"}),
)
