"""Arrays that are computed from their own earlier elements."""

import re

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.errors import ModelError
from gibbsppl.model.density import log_terms

SIZE = 5
Y = np.array([0.3, -0.4, 1.1, 0.8, -0.2])
X = np.array([0.5, -1.0, 2.0, 0.1, 1.5])


def shares(m):
    """A probability that comes back to itself: of dynamic occupancy."""
    with m:
        first, stay, come = (gp.Beta(n, 1, 1) for n in ("first", "stay", "come"))
        psi = gp.Array("psi", dims="t")
        psi[0] = first
        psi[1:] = psi.lag("t", 1) * stay + (1 - psi.lag("t", 1)) * come
        gp.Binomial("y", 6, psi, dims="t", observed=[1, 4, 3, 3, 5])


def shares_by_hand(v):
    psi = [v["first"]]
    for _ in range(SIZE - 1):
        psi.append(psi[-1] * v["stay"] + (1 - psi[-1]) * v["come"])
    return stats.binom(6, psi).logpmf([1, 4, 3, 3, 5]).sum()


def variances(m):
    """GARCH(1, 1): T. Bollerslev, 1986, Journal of Econometrics 31(3), 307-327."""
    with m:
        w, a, b = (gp.Uniform(n, 0, 1) for n in "wab")
        past = gp.Data("past", Y, dims="t")
        s = gp.Array("s", dims="t")
        s[0] = w
        s[1:] = w + a * past.lag("t", 1) ** 2 + b * s.lag("t", 1)
        gp.Normal("y", 0, var=s, dims="t", observed=Y)


def variances_by_hand(v):
    s = [v["w"]]
    for t in range(1, SIZE):
        s.append(v["w"] + v["a"] * Y[t - 1] ** 2 + v["b"] * s[-1])
    return stats.norm(0, np.sqrt(s)).logpdf(Y).sum()


def compartments(m):
    """Three arrays that depend on one another: a deterministic epidemic in discrete time."""
    with m:
        beta, out = gp.HalfNormal("beta", sigma=1), gp.Beta("out", 1, 1)
        s, i, new = (gp.Array(n, dims="t") for n in ("s", "i", "new"))
        s[0], i[0], new[0] = 99, 1, 1
        s[1:] = s.lag("t", 1) - new
        i[1:] = (1 - out) * i.lag("t", 1) + new
        new[1:] = s.lag("t", 1) * (1 - gp.exp(-beta * i.lag("t", 1) / 100))
        gp.Poisson("y", new, dims="t", observed=[1, 2, 3, 2, 5])


def compartments_by_hand(v):
    s, i, new = [99.0], [1.0], [1.0]
    for _ in range(SIZE - 1):
        new.append(s[-1] * (1 - np.exp(-v["beta"] * i[-1] / 100)))
        s.append(s[-1] - new[-1])
        i.append((1 - v["out"]) * i[-1] + new[-1])
    return stats.poisson(new).logpmf([1, 2, 3, 2, 5]).sum()


def remaining(m):
    """From the last position back."""
    with m:
        p = gp.Beta("p", 1, 1, dims="t")
        left = gp.Array("left", dims="t")
        left[-1] = 0.9
        left[:-1] = p * left.lag("t", -1)
        gp.Bernoulli("y", left, dims="t", observed=[0, 1, 0, 1, 1])


def remaining_by_hand(v):
    left = [0.9]
    for t in reversed(range(SIZE - 1)):
        left.append(v["p"][t] * left[-1])
    return stats.bernoulli(left[::-1]).logpmf([0, 1, 0, 1, 1]).sum()


def levels_of_groups(m):
    """Along the second axis, with two lags, an index and a sum over the others."""
    with m:
        a, b = gp.Normal("a", 0, tau=1, dims="g"), gp.Uniform("b", -1, 1)
        at = gp.Index("at", [1, 0], of="g", dims="g")
        x = gp.Data("x", X, dims="t")
        level = gp.Array("level", dims=("g", "t"))
        level[:, 0] = a
        level[:, 1] = a.at("g", at)
        level[:, 2:] = b * level.lag("t", 2) + level.lag("t", 1).sum("g") / 4 + a * x
        gp.Normal("y", level, tau=2, dims=("g", "t"), observed=np.outer([1.0, -0.5], Y))


def levels_by_hand(v):
    level = np.zeros((2, SIZE))
    level[:, 0], level[:, 1] = v["a"], v["a"][::-1]
    for t in range(2, SIZE):
        level[:, t] = v["b"] * level[:, t - 2] + level[:, t - 1].sum() / 4 + v["a"] * X[t]
    return stats.norm(level, np.sqrt(0.5)).logpdf(np.outer([1.0, -0.5], Y)).sum()


MODELS = {
    "shares": (shares, shares_by_hand),
    "variances": (variances, variances_by_hand),
    "compartments": (compartments, compartments_by_hand),
    "backward": (remaining, remaining_by_hand),
    "levels of groups": (levels_of_groups, levels_by_hand),
}


def made(name):
    m = gp.Model(coords={"t": SIZE, "g": 2})
    MODELS[name][0](m)
    return m


@pytest.mark.parametrize("name", MODELS)
def test_a_likelihood_is_that_of_a_loop(name):
    model, by_hand = made(name), MODELS[name][1]
    rng = np.random.default_rng(1)
    graph = model.graph
    sizes = {v.name: tuple(graph.sizes[d] for d in v.dims) for v in graph.variables.values()}
    values = {n: rng.uniform(0.1, 0.9, sizes[n]) for n in graph.random}
    terms = log_terms(graph, {**model.data, **values})

    assert terms["y"] == pytest.approx(by_hand(values), rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_generated_is_proved(name):
    sampler = gp.compile(made(name))

    assert sampler.verify().proved
    assert sampler.source.count("by_recursion(") >= 2


def test_computed_arrays_are_recorded_with_the_draws():
    draws = gp.compile(made("shares")).sample(draws=5, warmup=5, chains=1, seed=1, progress=False)
    psi, first, stay, come = (draws[n][0] for n in ("psi", "first", "stay", "come"))

    assert psi[:, 0] == pytest.approx(first)
    assert psi[:, 3] == pytest.approx(psi[:, 2] * stay + (1 - psi[:, 2]) * come)


def local_level(m):
    """Innovations that are not centred, of a level that is normal given them all."""
    with m:
        z, scale = gp.Normal("z", 0, tau=1, dims="t"), gp.HalfNormal("scale", sigma=1)
        rho, first = gp.Beta("rho", 2, 1), gp.Normal("first", 0, tau=1)
        x = gp.Array("x", dims="t")
        x[0] = first + z.at("t", 0)
        x[1:] = rho * x.lag("t", 1) + scale * z
        gp.Normal("y", x, tau=4, dims="t", observed=Y)


def test_what_is_affine_through_a_recursion_is_drawn_as_if_it_were_written_out():
    m = gp.Model(coords={"t": SIZE})
    local_level(m)
    sampler = gp.compile(m)
    kinds = {s.name: s.kind for s in sampler.schedule.steps}

    assert kinds == {"z": "block", "scale": "exact", "first": "exact", "rho": "move"}
    assert sampler.schedule.step("scale").family.name == "Normal"
    assert sampler.verify().proved


def both_ways(x, a):
    x[0] = a
    x[1:-1] = a * x.lag("t", 1) + x.lag("t", -1)
    x[-1] = 1.0


def at_once(x, a):
    x[:] = a * x


def in_no_order(x, a):
    x[0] = a
    x[3] = a * x.at("t", 0)
    x[1] = a * x.at("t", 3)
    x[2] = a * x.at("t", 1)
    x[4] = 1.0


def with_a_distribution(x, a):
    x[0] = gp.Normal(0, tau=1)
    x[1:] = a * x.lag("t", 1)


def over_another_dim(x, a):
    x[:] = a * gp.Data("d", [1.0, 2.0], dims="g")


REFUSED = {
    both_ways: r"x\[\d\]: depends on itself through x\[2\] -> x\[3\] -> x\[2\]",
    at_once: r"x\[0\]: depends on itself through x\[0\] -> x\[0\]",
    in_no_order: r"x: computed from own elements that are not earlier ones along one dimension",
    with_a_distribution: r"x: some of its regions are computed from variables, others have",
    over_another_dim: r"x: assigned .*, which also runs over g; expected",
}


@pytest.mark.parametrize("declare", REFUSED, ids=lambda f: f.__name__)
def test_what_cannot_be_computed_is_refused(declare):
    with pytest.raises(ModelError, match=REFUSED[declare]):
        refused(declare)


def refused(declare):
    with gp.Model(coords={"t": SIZE, "g": 2}) as m:
        declare(gp.Array("x", dims="t"), gp.Normal("a", 0, tau=1))
    return m.graph


# ---- the same in the language of BUGS --------------------------------------------------------

PROGRAMS = {
    "variances": """
        s[1] <- w
        for (t in 2:5) { s[t] <- w + a * pow(y[t-1], 2) + b * s[t-1] }
        for (t in 1:5) { y[t] ~ dnorm(0, 1 / s[t]) }
        w ~ dunif(0, 1)  a ~ dunif(0, 1)  b ~ dunif(0, 1)
    """,
    "errors that are read": """
        e[1] <- y[1] - mu
        for (t in 2:5) {
          m[t] <- mu + th * e[t-1]
          e[t] <- y[t] - m[t]
          y[t] ~ dnorm(m[t], 2)
        }
        mu ~ dnorm(0, 1)  th ~ dunif(-1, 1)
    """,
    "sticks": """
        for (k in 1:3) { v[k] ~ dbeta(1, 2) }
        p[1] <- v[1]
        for (k in 2:3) { p[k] <- v[k] * (1 - v[k-1]) * p[k-1] / v[k-1] }
        p[4] <- 1 - sum(p[1:3])
        for (i in 1:5) { z[i] ~ dcat(p[1:4])  y[i] ~ dnorm(z[i], 1) }
    """,
    "a matrix of rates": """
        n[1:2, 1] <- start[1:2]
        for (t in 2:5) { n[1:2, t] <- A[1:2, 1:2] %*% n[1:2, t-1] }
        A[1, 1] <- 0  A[1, 2] ~ dgamma(2, 1)  A[2, 1] ~ dbeta(2, 2)  A[2, 2] ~ dbeta(2, 2)
        for (t in 1:5) { y[t] ~ dnorm(sum(n[1:2, t]), 1) }
    """,
    "from the end": """
        for (t in 1:4) { b[t] <- a[t] * b[t+1]  a[t] ~ dunif(0, 1) }
        b[5] <- 1
        for (t in 1:5) { y[t] ~ dnorm(b[t], 4) }
    """,
    "a first element that is drawn": """
        x[1] ~ dgamma(2, 1)
        for (t in 2:5) { x[t] <- a * x[t-1] }
        a ~ dunif(0, 1)
        for (t in 1:5) { y[t] ~ dnorm(x[t], 1) }
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_recursions_are_read_as_they_stand(name):
    text = f"model {{ {PROGRAMS[name]} }}"
    data = {"y": Y, "start": np.array([2.0, 1.0])}
    model = gp.read_bugs(text, {n: v for n, v in data.items() if n in text})

    assert gp.compile(model).verify().proved


# ---- the checks are checked ------------------------------------------------------------------

WRONG = {
    "a factor": (r"stay \* psi_so_far\[t(\w*) - 1\]", r"0.9 * stay * psi_so_far[t\1 - 1]"),
    "a first element": (r"psi_so_far\[0\] = first", "psi_so_far[0] = 0.9 * first"),
    "a response": (r"(psi_by_first_so_far\[0\]) = 1", r"\1 = 0.9"),
}


@pytest.mark.parametrize(("right", "wrong"), WRONG.values(), ids=WRONG)
def test_bugs_in_functions_that_compute_arrays_are_caught(right, wrong):
    sampler = gp.compile(made("shares"))
    source, count = re.subn(right, wrong, sampler.source)
    schedule = sampler.schedule
    found = verify(
        sampler.graph,
        load(source),
        schedule.steps,
        sampler.data,
        graphs=schedule.graphs,
        schedule=schedule,
    )

    assert count > 0
    assert not found.passed


# ---- programs without an order ---------------------------------------------------------------

CYCLES = {
    "a <- b + u; b <- a * 2; y ~ dnorm(a, 1)": "an element depends on itself: b (line 1) -> a",
    "for (t in 2:3) { m[t] <- m[t] * u }; m[1] <- u; y ~ dnorm(m[3], 1)": "itself: m[2] (line 1)",
    "for (t in 2:4) { m[t] <- m[k[t]] * u }; m[1] <- u; y ~ dnorm(m[2], 1)": "m is computed from",
    "for (t in 2:3) { m[t] <- m[t-1] * u }; y ~ dnorm(m[3], 1)": "m[1] is read here, and nothing",
}


@pytest.mark.parametrize("lines", CYCLES)
def test_programs_without_an_order_are_refused_at_a_line(lines):
    data = {"y": 1.0, "k": [1, 3, 4, 1]}
    text = f"model {{ {lines}; u ~ dnorm(0, 1) }}"
    with pytest.raises(ModelError, match="line 1, column") as raised:
        gp.read_bugs(text, {n: v for n, v in data.items() if f"{n}[" in text or n == "y"})

    assert CYCLES[lines] in str(raised.value)


@pytest.mark.parametrize("mean", ["u[i, t] * g[i, t]", "u[h[i, t], t]"])
def test_starts_of_several_series_are_drawn_together(mean):
    """The response of all series to the start of each: one more axis, of the same name."""
    program = f"""model {{
      for (i in 1:3) {{
        u[i, 1] <- start[i]
        for (t in 2:4) {{ u[i, t] <- phi * u[i, t - 1] + b }}
        for (t in 1:4) {{ y[i, t] ~ dnorm({mean}, 1) }}
        start[i] ~ dnorm(0, 0.1)
      }}
      phi ~ dunif(-1, 1)
      b ~ dnorm(0, 0.1)
    }}"""
    rng = np.random.default_rng(4)
    given = {"g": rng.normal(size=(3, 4)), "h": rng.integers(1, 4, (3, 4))}
    used = {n: x for n, x in given.items() if f"{n}[" in mean}
    sampler = gp.compile(gp.read_bugs(program, {"y": rng.normal(size=(3, 4)), **used}))

    assert {s.statement.name: s.kind for s in sampler.schedule.steps}["start"] == "block"
    assert sampler.verify().proved


def test_recursions_start_where_each_series_does():
    """Positions that are no box: each series has a first one of its own; what is before is none."""
    program = """model {
      for (i in 1:3) {
        u[i, f[i]] <- start[i]
        for (t in (f[i] + 1):5) {
          u[i, t] <- phi * u[i, t - 1] + grown[i, t - 1]
          grown[i, t - 1] <- b * x[i, t]
        }
        for (t in f[i]:5) { y[i, t] ~ dnorm(u[i, t], 1) }
        start[i] ~ dnorm(0, 0.1)
      }
      phi ~ dunif(-1, 1)
      b ~ dnorm(0, 0.1)
    }"""
    rng = np.random.default_rng(6)
    x, y, first = rng.normal(size=(3, 5)), rng.normal(size=(3, 5)), [1, 3, 2]
    model = gp.read_bugs(program, {"x": x, "y": y, "f": first}, monitor=["u"])
    sampler = gp.compile(model)
    draws = sampler.sample(draws=50, warmup=20, chains=1, seed=1, progress=False)
    found = np.full((50, 3, 5), np.nan)
    for i, f in enumerate(first):
        found[:, i, f - 1] = draws["start"][0, :, i]
        for t in range(f, 5):
            found[:, i, t] = draws["phi"][0] * found[:, i, t - 1] + draws["b"][0] * x[i, t]
    kinds = {s.statement.name: s.kind for s in sampler.schedule.steps}

    assert (kinds["start"], kinds["b"]) == ("block", "exact")
    assert sampler.verify().proved
    np.testing.assert_allclose(draws["u"][0], found, rtol=1e-12)


def test_some_elements_of_a_ragged_recursion_are_drawn_and_some_are_known():
    program = """model {
      for (i in 1:3) {
        u[i, f[i]] ~ dgamma(2, 1)
        for (t in (f[i] + 1):4) { u[i, t] <- s * u[i, t - 1] }
        for (t in f[i]:4) { y[i, t] ~ dpois(u[i, t]) }
      }
      s ~ dunif(0, 1)
    }"""
    data = {"u": [[None, None, None, None], [None, 1.5, None, None], [None] * 4],
            "y": [[3, 2, 1, 1], [0, 2, 1, 0], [0, 0, 4, 2]], "f": [1, 2, 3]}  # fmt: skip
    sampler = gp.compile(gp.read_bugs(program, data))

    assert sampler.verify().proved
    assert sampler.sample(draws=20, chains=1, seed=1, progress=False)["s"].shape == (1, 20)


def test_positions_of_data_that_are_all_of_an_axis_are_computed_in_its_order():
    program = """model {
      m[1] <- x
      for (t in 2:4) { m[k[t]] <- 2 * m[k[t] - 1] }
      x ~ dexp(1)
      y ~ dexp(m[4])
    }"""
    model = gp.read_bugs(program, {"y": 1.0, "k": [1, 3, 2, 4]}, monitor=["m"])
    sampler = gp.compile(model)
    draws = sampler.sample(draws=10, warmup=20, chains=1, seed=1, progress=False)

    assert sampler.verify().proved
    np.testing.assert_allclose(draws["m"], draws["x"][..., None] * [1, 2, 4, 8], rtol=1e-14)


STICKS = """model {
  for (j in 1:(K - 1)) { v[j] ~ dbeta(1, 1) }
  p[1] <- v[1]
  for (j in 2:(K - 1)) { p[j] <- v[j] * (1 - v[j - 1]) * p[j - 1] / v[j - 1] }
  p[K] <- 1 - %s
  z ~ dcat(p[])
}"""


@pytest.mark.parametrize(
    ("size", "left"),
    [(20, "sum(p[1:(K - 1)])"), (8, "p[1] - p[2] - p[3] - p[4] - p[5] - p[6] - p[7]")],
    ids=["a sum", "terms"],
)
def test_what_is_left_of_a_whole_is_not_below_zero_by_rounding(size, left):
    """Shares of nearly all of what is left: the last weight is less than can be told from 0."""
    sampler = gp.compile(gp.read_bugs(STICKS % left, {"K": size}))
    shares = np.random.default_rng(1).beta(1, 1e-16 ** (1 / size), (3000, size - 1))
    states = [{"v": v, "z.label": np.array(size - 1)} for v in shares]
    generated = [sampler.program.deterministics(s, sampler.constants)["p"][-1] for s in states]
    interpreted = [sum(log_terms(sampler.graph, s | sampler.data).values()) for s in states[:50]]

    assert min(generated) == 0
    assert not np.isnan(interpreted).any()
