"""Models read from BUGS texts: the same graph as declared in Python, the references' posteriors."""

import numpy as np
import pytest
from references.bugs import disagreements

import gibbsppl as gp
from gibbsppl.errors import ModelError
from gibbsppl.model.density import log_joint
from models.bugs import CASES, MORE

# What no step of these may be: a slice.
EXACT = ("rats_1", "rats_2", "line_1", "birats_1", "birats_2", "jaw_2", "equiv_1", "equiv_2",
         "beetles_2", "asia_1", "asia_2", "eyes_1")  # fmt: skip
PROVED = (
    "hearts",
    "seeds_1",
    "birats_2",
    "jaw_2",
    "equiv_2",
    "eyes_1",
    "beetles_2",
    "leuk_1",
    "asia_1",
    "biops",
    "surgical_1",
    "dogs",
    "pines",
    "endo_2",
)
QUICK = ("line_1", "rats_1", "pump_1", "asia_1", "surgical_1", "pines")
# Chains from starts of their own do not meet in the default run: these begin at the initial values.
FROM_INITS = ("otrees", "otreesmvn", "fire", "jama")
# The default run does not settle, and the summary says so.
UNSETTLED = ("litters",)
DEVIANCE = "deviance"
EVERY = {**CASES, **MORE}


def read(name):
    case = EVERY[name]
    return gp.read_bugs(case.model, case.data, name=name)


def rows(model):
    return str(model.graph).splitlines()


# ---- the classic examples ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [n if n in PROVED else pytest.param(n, marks=pytest.mark.slow) for n in EVERY]
)
def test_each_example_has_conditionals_that_hold(name):
    sampler = gp.compile(read(name))
    assert sampler.verify().proved
    if name in EXACT:
        assert not sampler.schedule.fallbacks


def scalars(draws):
    for name in draws:
        values = np.asarray(draws[name], dtype=float)
        for at in np.ndindex(values.shape[2:]):
            index = f"[{','.join(str(i + 1) for i in at)}]" if at else ""
            yield name + index, values[(slice(None), slice(None), *at)]


@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.slow)
        for n in EVERY
        if n not in UNSETTLED
    ],
)
def test_posteriors_are_those_of_the_references(name):
    """Means and standard deviations of all that is monitored, as `compile` makes it."""
    case = EVERY[name]
    monitors = [m for m in case.monitors if m != DEVIANCE]
    model = gp.read_bugs(case.model, case.data, monitor=monitors)
    init = gp.read_inits(case.inits, model) if name in FROM_INITS else None
    sampler = gp.compile(model)
    draws = sampler.sample(draws=2000, chains=4, seed=1, init=init, progress=False)
    if DEVIANCE in case.monitors:
        draws = sampler.deviance(draws)
    assert disagreements(dict(scalars(draws.only(case.monitors))), case.references) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSETTLED)
def test_a_summary_says_what_does_not_settle(name):
    case = EVERY[name]
    sampler = gp.compile(gp.read_bugs(case.model, case.data, monitor=case.monitors))
    draws = sampler.sample(draws=2000, chains=4, seed=1, progress=False)
    assert "the chains do not agree yet" in str(draws.summary())


# ---- what texts become -------------------------------------------------------------------------


def test_loops_are_dimensions_and_lines_with_an_arrow_are_put_in_place():
    text = """
        model {
          for (i in 1:N) {
            for (j in 1:T) { y[i,j] ~ dnorm(mu[i,j], tau); mu[i,j] <- a[i] + b * (x[j] - x.bar) }
            a[i] ~ dnorm(0, 0.01)
          }
          x.bar <- mean(x[]); b ~ dnorm(0, 0.01); tau ~ dgamma(2, 1); sd <- 1 / sqrt(tau)
        }"""
    y = np.arange(6.0).reshape(2, 3)
    model = gp.read_bugs(text, {"N": 2, "T": 3, "x": [1, 2, 6], "y": y})

    assert rows(model) == [
        "y[i, j] ~ Normal(mu=a[i] + b*(x[j] - 3), tau=tau), observed",
        "a[i] ~ Normal(mu=0, tau=0.01)",
        "b ~ Normal(mu=0, tau=0.01)",
        "tau ~ Gamma(shape=2, rate=1)",
        "sd := 1/sqrt(tau)",
    ]
    assert model.coords["i"].tolist() == [1, 2]


def test_a_ragged_nest_is_a_table():
    text = """
        model {
          for (i in 1:3) { for (j in 1:n[i]) { y[i,j] ~ dnorm(m[i], 1) }; m[i] ~ dnorm(0, 1) }
        }"""
    y = np.ma.masked_invalid([[1.0, 2.0, 3.0], [4.0, np.nan, np.nan], [5.0, 6.0, np.nan]])
    model = gp.read_bugs(text, {"n": [3, 1, 2], "y": y})

    assert model.data["y"].tolist() == [1, 2, 3, 4, 5, 6]
    value = log_joint(model.graph, {**model.data, "m": np.array([1.0, 2.0, 3.0])})
    means = np.array([1, 1, 1, 2, 3, 3])
    expected = -((np.arange(1, 7) - means) ** 2).sum() / 2 - (1 + 4 + 9) / 2
    assert value == pytest.approx(expected - 9 / 2 * np.log(2 * np.pi))


def test_what_is_computed_among_what_is_drawn_divides_those_who_read_it():
    """A corner constraint: the first effect is minus the sum of the others."""
    text = """
        model {
          for (i in 1:N) { y[i] ~ dnorm(alpha[g[i]], 1) }
          alpha[1] <- -sum(alpha[2:K])
          for (k in 2:K) { alpha[k] ~ dnorm(0, 1) }
        }"""
    g, y = np.array([1, 2, 3, 1, 2]), np.array([0.5, 1.0, -1.0, 2.0, 0.0])
    model = gp.read_bugs(text, {"N": 5, "K": 3, "g": g, "y": y})
    sampler = gp.compile(model)
    draws = sampler.sample(draws=20, warmup=0, chains=1, seed=1, progress=False)
    free = np.array([0.0, 0.3, -0.7])
    alpha = np.array([0.4, 0.3, -0.7])
    value = log_joint(model.graph, {**model.data, "alpha.free": free})

    expected = -((y - alpha[g - 1]) ** 2).sum() / 2 - (0.09 + 0.49) / 2 - 7 / 2 * np.log(2 * np.pi)
    assert value == pytest.approx(expected)
    np.testing.assert_allclose(draws["alpha"].sum(axis=-1), 0, atol=1e-12)
    assert sampler.verify().proved


def test_lags_and_elements_that_are_data():
    text = """
        model {
          x[1] ~ dnorm(0, 0.1)
          for (t in 2:T) { x[t] ~ dnorm(rho * x[t-1], 2) }
          rho ~ dunif(-1, 1)
        }"""
    x = np.ma.masked_invalid([np.nan, 1.0, np.nan, 2.0])
    model = gp.read_bugs(text, {"T": 4, "x": x})

    assert rows(model)[1].startswith("x[t] ~ Normal(mu=rho*x[t - 1], tau=2), observed where")
    assert gp.compile(model).verify().proved


def test_labels_count_from_one_in_draws():
    text = """
        model {
          for (i in 1:N) { z[i] ~ dcat(p[]); y[i] ~ dnorm(mu[z[i]], 4) }
          mu[1] ~ dnorm(0, 1); mu[2] ~ dnorm(3, 1); p[1:2] ~ ddirch(a[])
        }"""
    model = gp.read_bugs(text, {"N": 4, "y": [0.1, 2.9, 0.0, 3.1], "a": [1, 1]})
    sampler = gp.compile(model)
    draws = sampler.sample(draws=100, chains=1, seed=1, progress=False)

    assert sampler.verify().proved
    assert not sampler.schedule.fallbacks
    assert set(np.unique(draws["z"])) <= {1, 2}
    np.testing.assert_array_equal(draws["z"], draws["z.label"] + 1)


def test_a_data_block_computes_data():
    text = """
        data { for (i in 1:N) { z[i] <- log(y[i]) }; m <- mean(z[]) }
        model { for (i in 1:N) { z[i] ~ dnorm(mu + m, 1) }; mu ~ dnorm(0, 1) }"""
    model = gp.read_bugs(text, {"N": 2, "y": [1.0, np.e**2]})

    assert model.data["z"].tolist() == [0, 2]
    assert rows(model)[0] == "z[i] ~ Normal(mu=mu + 1, tau=1), observed"


@pytest.mark.parametrize(
    ("text", "data", "message"),
    [
        ("model { y ~ dnorm(mu, 1) }", {"y": 1.0}, "mu is not known: it is neither in the data"),
        ("model { for (i in 1:M) { y[i] ~ dnorm(0, 1) } }", {}, "the values that a loop goes"),
        ("model { x ~ dnorm(0, 1); x ~ dnorm(1, 1) }", {}, "are given here and by line 1"),
        ("model { for (i in 1:2) { x[1] ~ dnorm(0, 1) } }", {}, "is given more than once"),
        (
            "model { for (k in 2:4) { x ~ ddirch(a[1:k]) } }",
            {"a": [1, 1, 1, 1]},
            "elements of x are given here and by line 1",
        ),
        ("model { b ~ dnorm(0, 1)  y ~ dnorm(sd(b), 1) }", {}, "sd of a number of these sizes is"),
        ("model { x[3] ~ dnorm(0, 1) }", {"x": [1.0, 2.0]}, "index 1 of x is 3, expected 1 to 2"),
        ("model { x ~ dnorm(0) }", {}, "found 1 parameter, expected 2"),
        ("model { x ~ dnorm(m[], 1) }", {"m": [1.0, 2.0]}, "is a vector, expected a number"),
        (
            "model {m[1] <- x; for (t in 2:4) {m[t] <- m[k[t]]}; x ~ dexp(1); y ~ dexp(m[4])}",
            {"y": 1.0, "k": [1, 1, 1, 2]},
            "m is computed from its own elements by line 1",
        ),
        ("data { x ~ dnorm(0, 1) } model { y ~ dnorm(0, 1) }", {}, "~ in the data block draws"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(text, data, message):
    with pytest.raises(ModelError, match="line 1, column") as raised:
        gp.read_bugs(text, data)
    assert message in str(raised.value)


# ---- what JAGS slices --------------------------------------------------------------------------

OBSERVED = {"N": 6, "y": [0.3, 1.2, -0.4, 2.2, 0.9, 1.1], "x": [0.1, 0.5, -1.0, 2.0, 0.3, 1.0],
            "r": [0, 1, 0, 1, 1, 1], "n": [3, 4, 2, 5, 3, 6]}  # fmt: skip
COEFFICIENTS = "a ~ dnorm(0, 0.01); b ~ dnorm(0, 0.01)"
NO_SLICES = {
    "a uniform standard deviation": """
        for (i in 1:N) { y[i] ~ dnorm(mu, tau) }
        mu ~ dnorm(0, 0.001)
        tau <- 1 / (sigma * sigma)
        sigma ~ dunif(0, 100)
    """,
    "a uniform standard deviation by pow": """
        for (i in 1:N) { y[i] ~ dnorm(mu, pow(sigma, -2)) }
        mu ~ dflat()
        sigma ~ dunif(0.01, 50)
    """,
    "a Pareto precision": """
        for (i in 1:N) { y[i] ~ dnorm(mu, tau) }
        mu ~ dnorm(0, 0.001)
        tau ~ dpar(1, 0.01)
    """,
    "a scale times effects": """
        for (i in 1:N) { y[i] ~ dnorm(mu + sigma * e[i], 1); e[i] ~ dnorm(0, 1) }
        mu ~ dnorm(0, 0.001)
        sigma ~ dunif(0, 10)
    """,
    "a half-normal scale times effects": """
        for (i in 1:N) { y[i] ~ dnorm(sigma * e[i], 1); e[i] ~ dnorm(0, 1) }
        sigma ~ dnorm(0, 0.1) T(0,)
    """,
    "a half-t scale of effects": """
        for (i in 1:N) { y[i] ~ dnorm(e[i], 1); e[i] ~ dnorm(0, pow(sigma, -2)) }
        sigma ~ dt(0, 0.04, 1) T(0,)
    """,
    "logits": "for (i in 1:N) { r[i] ~ dbern(p[i]); logit(p[i]) <- a + b * x[i] }" + COEFFICIENTS,
    "logits of counts": """
        for (i in 1:N) { r[i] ~ dbin(p[i], n[i]); logit(p[i]) <- a + b * x[i] }
    """ + COEFFICIENTS,
    "probits": "for (i in 1:N) { r[i] ~ dbern(p[i]); probit(p[i]) <- a + b * x[i] }" + COEFFICIENTS,
    "phi": "for (i in 1:N) { r[i] ~ dbern(phi(a + b * x[i])) }" + COEFFICIENTS,
    "complementary log-logs": """
        for (i in 1:N) { r[i] ~ dbin(p[i], n[i]); cloglog(p[i]) <- a + b * x[i] }
    """ + COEFFICIENTS,
    "log rates": """
        for (i in 1:N) { n[i] ~ dpois(m[i]); log(m[i]) <- a + b * x[i] }
    """ + COEFFICIENTS,
}  # fmt: skip


@pytest.mark.parametrize("name", NO_SLICES)
def test_nothing_is_sliced(name):
    read_names = {n for n in OBSERVED if f"{n}[" in NO_SLICES[name] or n == "N"}
    data = {n: v for n, v in OBSERVED.items() if n in read_names}
    sampler = gp.compile(gp.read_bugs(f"model {{ {NO_SLICES[name]} }}", data))
    assert not sampler.schedule.fallbacks, str(sampler)
    assert sampler.verify().proved


# ---- large data --------------------------------------------------------------------------------

LARGE = """
model {
  for (i in 1:N) { z[i] ~ dcat(p[]); y[i] ~ dnorm(mu[z[i]] + u[g[i]], tau) }
  for (k in 1:3) { mu[k] ~ dnorm(0, 0.01) }
  for (j in 1:50) { u[j] ~ dnorm(0, 1) }
  p[1:3] ~ ddirch(ones[])
  tau ~ dgamma(1, 1)
}
"""


def test_a_program_of_more_rows_is_the_same_program():
    """A statement for each line, whatever its loops: the code does not grow with the data."""
    sources = []
    for n in (1000, 3000):
        rng = np.random.default_rng(n)
        data = {"N": n, "y": rng.normal(size=n), "g": rng.integers(1, 51, n), "ones": [1, 1, 1]}
        sampler = gp.compile(gp.read_bugs(LARGE, data))
        # (half of n stands in the shape of a Gamma)
        sources.append(sampler.source.replace(str(n), "N").replace(str(n // 2), "N / 2"))
        assert len(sampler.graph.statements) == 6
    assert sources[0] == sources[1]


def test_an_element_that_is_read_outside_of_the_density_of_another_has_its_name_there():
    text = """model {
      x[1, 1] ~ dgamma(1.7, 2)
      for (i in 2:2) { for (j in 1:1) { x[i, j] ~ dexp((1 / (x[i - 1, j] + 0.2))) } }
    }"""
    sampler = gp.compile(gp.read_bugs(text, {}))
    result = sampler.verify()
    assert result.passed, result
