"""A formula declares the model that one would have written."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gibbsppl as gp

RNG = np.random.default_rng(3)
TABLE = pd.DataFrame({
    "y": RNG.normal(3, 2, 40), "x": RNG.normal(5, 2, 40), "k": RNG.poisson(2, 40),
    "b": RNG.integers(0, 2, 40), "g": [*"abcd"] * 10, "h": [*"uuuuvvvv"] * 5,
    "w": RNG.gamma(3, 40, 40), "n": RNG.integers(1, 5, 40),
})  # fmt: skip
PRIORS = {
    "Intercept": gp.Normal(0, sigma=9), "b_x": gp.Normal(0, sigma=3), "sigma": gp.Gamma(2, rate=1),
    "sd_g": gp.Gamma(2, rate=2), "sd_g_x": gp.Gamma(2, rate=3),
}  # fmt: skip


def by_hand():
    with gp.Model(coords={"obs": 40}, name="y") as model:
        x = gp.Data("x", TABLE["x"], dims="obs")
        intercept, b = gp.Normal("Intercept", 0, sigma=9), gp.Normal("b_x", 0, sigma=3)
        of = gp.Index("g_of", TABLE["g"], of="g", dims="obs")
        sd, sd_x = gp.Gamma("sd_g", 2, rate=2), gp.Gamma("sd_g_x", 2, rate=3)
        r = gp.Normal("r_g", 0, sigma=sd, dims="g")
        r_x = gp.Normal("r_g_x", 0, sigma=sd_x, dims="g")
        sigma = gp.Gamma("sigma", 2, rate=1)
        mu = intercept + b * x + r[of] + r_x[of] * x
        gp.Normal("y", mu, sigma=sigma, dims="obs", observed=TABLE["y"])
    return model


@pytest.mark.parametrize("table", [TABLE, pl.DataFrame(TABLE.to_dict("list")),
    TABLE.to_dict("list")], ids=["pandas", "polars", "dict"])  # fmt: skip
def test_it_is_the_model_that_one_would_have_written(table):
    made = gp.formula("y ~ 1 + x + (1 + x || g)", table, priors=PRIORS)

    assert {*str(made.graph).splitlines()} == {*str(by_hand().graph).splitlines()}
    assert made.coords["g"].tolist() == [*"abcd"]
    for name, values in by_hand().data.items():
        np.testing.assert_array_equal(made.data[name], values)


TERMS = {
    "y ~ x": {"Intercept", "b_x", "sigma"},
    "y ~ 0 + x": {"b_x", "sigma"},
    "y ~ x - 1": {"b_x", "sigma"},
    "y ~ 1": {"Intercept", "sigma"},
    "y ~ x * h": {"Intercept", "b_x", "b_h.T.v", "b_x.h.T.v", "sigma"},
    "y ~ np.log(x + 20)": {"Intercept", "b_np.log.x.20", "sigma"},
    "y ~ (1 | g)": {"Intercept", "sd_g", "r_g", "sigma"},
    "y ~ (x | g)": {"Intercept", "cov_g", "r_g", "sigma"},
    "y ~ (0 + x | g)": {"Intercept", "sd_g_x", "r_g_x", "sigma"},
    "y ~ (1 | g/h)": {"Intercept", "sd_g", "r_g", "sd_g.h", "r_g.h", "sigma"},
    "y ~ (1 | g:h)": {"Intercept", "sd_g.h", "r_g.h", "sigma"},
}


@pytest.mark.parametrize(("text", "names"), TERMS.items(), ids=TERMS)
def test_terms_make_these_variables(text, names):
    assert {s.name for s in gp.formula(text, TABLE).graph.latent} == names


@pytest.mark.parametrize(("family", "response", "more"), [
    ("student", "y", {"sigma"}), ("bernoulli", "b", set()), ("poisson", "k", set()),
    ("negative binomial", "k", {"alpha"}), ("gamma", "w", {"alpha"}),
    ("binomial", "p(b, n)", set()), ("binomial", "cbind(b, k)", set()),
])  # fmt: skip
def test_families(family, response, more):
    made = gp.formula(f"{response} ~ x", TABLE, family=family)

    assert {s.name for s in made.graph.latent} == {"Intercept", "b_x"} | more


WRITTEN = {
    "p(b, n)": ("binomial", "b[obs] ~ Binomial(n=n[obs], p=expit(Intercept))"),
    "prop(b, n)": ("binomial", "b[obs] ~ Binomial(n=n[obs], p=expit(Intercept))"),
    "cbind(b, k)": ("binomial", "b[obs] ~ Binomial(n=b.trials[obs], p=expit(Intercept))"),
    "w": ("gamma", "w[obs] ~ Gamma(shape=alpha, rate=alpha*exp(-Intercept))"),
}


@pytest.mark.parametrize("response", WRITTEN)
def test_responses_are_distributed_as_written(response):
    family, expected = WRITTEN[response]
    made = gp.formula(f"{response} ~ 1", TABLE, family=family)

    assert str(made.graph).splitlines()[-1] == f"{expected}, observed"
    if response == "cbind(b, k)":
        np.testing.assert_array_equal(made.data["b.trials"], TABLE["b"] + TABLE["k"])


def test_an_offset_has_no_coefficient():
    made = gp.formula("k ~ x + offset(np.log(n))", TABLE, family="poisson")

    expected = "k[obs] ~ Poisson(rate=exp(Intercept + b_x*x[obs] + np.log.n[obs])), observed"
    assert {s.name for s in made.graph.latent} == {"Intercept", "b_x"}
    assert str(made.graph).splitlines()[-1] == expected
    np.testing.assert_allclose(made.data["np.log.n"], np.log(TABLE["n"]))


def test_intercepts_of_log_links_have_their_prior_at_the_log_of_the_mean():
    line = str(gp.formula("k ~ 1", {"k": [1000, 1200]}, family="poisson").graph).splitlines()[0]

    assert line == f"Intercept ~ Normal(mu={np.log(1100):.3g}, tau=0.16)"
    line = str(gp.formula("k ~ 1", {"k": [0, 0]}, family="poisson").graph).splitlines()[0]
    assert line == "Intercept ~ Normal(mu=0, tau=0.16)"


def test_coefficients_are_those_of_least_squares():
    """Priors are wide: means are those of least squares, up to Monte Carlo errors."""
    x = np.linspace(2000, 2020, 200)
    y = 3 * (x - 2010) + 50 + np.random.default_rng(5).normal(0, 1, 200)
    made = gp.formula("y ~ x", {"x": x, "y": y})
    draws = gp.compile(made).sample(400, warmup=100, chains=2, seed=1, progress=False)
    slope, intercept = np.polyfit(x, y, 1)

    for name, expected in (("b_x", slope), ("Intercept", intercept)):
        row = draws.summary([name])[name]
        assert abs(row["mean"] - expected) < 4 * row["mcse_mean"]


def test_missing_responses_are_drawn_and_missing_predictors_refused():
    table = TABLE.copy()
    table.loc[3, "y"] = np.nan

    assert gp.formula("y ~ x", table).data["y.known"].sum() == 39
    with pytest.raises(gp.ModelError, match=r"formula: y: .*null"):
        gp.formula("k ~ y", table, family="poisson")


REFUSED = {
    "no response": (("x",), "expected a response and terms"),
    "unknown column": (("y ~ z",), "`z` is not present.*The columns are y, x"),
    "unknown group": (("y ~ (1 | z)",), "found no column 'z' for a group"),
    "no brackets": (("y ~ x | g",), r"found the term 'x \| g'"),
    "unknown family": (("y ~ x", "gaussian"), "='gaussian'.*What serves: family=.normal"),
    "unknown prior": (("y ~ x", "normal", {"b_y": PRIORS["b_x"]}), "Did you mean 'b_x'"),
    "no prior": (("y ~ x", "normal", {"b_x": 1}), "b_x is 1, expected a distribution"),
    "no trials": (("b ~ x", "binomial"), "'b' with family='binomial', expected p\\(y, n\\)"),
    "trials": (("p(b, n) ~ x", "poisson"), "found the response 'p\\(b, n\\)'"),
    "unknown trials": (("p(b, m) ~ x", "binomial"), "no column 'm' for p"),
    "text": (("g ~ x",), "g is .*, expected numbers"),
}


@pytest.mark.parametrize(("asked", "told"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_formula_is_refused(asked, told):
    with pytest.raises(gp.ModelError, match=told):
        gp.formula(asked[0], TABLE, *asked[1:])
