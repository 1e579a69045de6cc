"""Every distribution of BUGS in a program: the model that is read has its density."""

import numpy as np
import pytest
from scipy import stats
from test_bugs_tables import EXAMPLES

import gibbsppl as gp
from gibbsppl.algebra.expressions import Leaf, Over
from gibbsppl.bugs import statements
from gibbsppl.bugs.rows import shares
from gibbsppl.model.density import log_joint

INDICES = ("", "[]", "[,]")


def program_of(case):
    """A program with one variable of a distribution, and the parameters as data."""
    given = list(zip(case.row.parameters, case.parameters, strict=True))
    arguments = ", ".join(f"a{k}{INDICES[np.ndim(v)]}" for k, (_, v) in enumerate(given))
    size = np.shape(case.values[0])
    event = f"[{', '.join(f'1:{n}' for n in size[-case.row.event :])}]" if case.row.event else ""
    text = f"model {{ x{event} ~ {case.name}({arguments}) }}"
    return text, {f"a{k}": v for k, (_, v) in enumerate(given)}


@pytest.mark.parametrize("case", [c for c in EXAMPLES if not c.row.auxiliaries], ids=str)
def test_a_program_of_each_distribution_has_its_density(case):
    text, data = program_of(case)
    model = gp.read_bugs(text, data)
    (statement,) = model.graph.statements
    lowest = case.row.values_from
    for value in case.values:
        values = {**model.data, statement.target.array.name: np.asarray(value, float) - lowest}
        expected = float(case.log_density(value))
        found = log_joint(model.graph, values)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", EXAMPLES, ids=str)
def test_a_program_of_each_distribution_is_compiled_and_proved(case):
    text, data = program_of(case)
    if case.name == "dflat":
        pytest.skip("an improper prior has no posterior without data")
    sampler = gp.compile(gp.read_bugs(text, data))
    assert sampler.verify().proved


@pytest.mark.parametrize("case", [c for c in EXAMPLES if c.row.auxiliaries], ids=str)
def test_auxiliary_variables_are_latent_beside_what_they_explain(case):
    text, data = program_of(case)
    model = gp.read_bugs(text, data)
    names = {s.target.array.name for s in model.graph.latent}
    assert names == {"x", *(f"x.{key}" for key in case.row.auxiliaries)}


# ---- vectors of different lengths --------------------------------------------------------------

TRIANGLE = """
model {
  for (k in 2:4) { e[k, 1:k] ~ ddirch(a[1:k]) }
  for (i in 1:3) {
    z[i] ~ dcat(p[])
    y[i, 1:4] ~ dmulti(e[z[i], ], 5)
  }
}
"""


def triangle():
    e = np.full((4, 4), np.nan)
    e[np.triu_indices(4, 1)] = 0
    e[0, 0] = 1
    return {"e": np.ma.masked_invalid(e), "a": [0.5, 1, 2, 3], "p": [0.1, 0.2, 0.3, 0.4],
            "y": [[5, 0, 0, 0], [2, 3, 0, 0], [1, 1, 1, 2]]}  # fmt: skip


def test_vectors_of_different_lengths_are_variables_of_their_own():
    model = gp.read_bugs(TRIANGLE, triangle())
    draws = gp.compile(model).sample(20, warmup=20, chains=2, seed=1, progress=False)

    e, label = draws["e"], draws["z"]
    np.testing.assert_allclose(e.sum(axis=-1), 1)
    assert (e[..., *np.triu_indices(4, 1)] == 0).all()
    assert e[..., 1:, 0].std() > 0
    assert (label[..., 2] == 4).all()


def test_the_density_of_rows_that_are_partly_data_is_that_of_what_is_drawn():
    model = gp.read_bugs(TRIANGLE, triangle())
    draws = gp.compile(model).sample(5, warmup=20, chains=1, seed=1, progress=False)
    data = triangle()
    for n in range(5):
        state = {v: draws[v][0, n] for v in draws if v in model.graph.variables}
        rows, z = draws["e"][0, n], draws["z"][0, n].astype(int) - 1
        expected = sum(
            stats.dirichlet.logpdf(rows[k, : k + 1], data["a"][: k + 1]) for k in (1, 2, 3)
        )
        expected += np.log(np.take(data["p"], z)).sum()
        expected += sum(
            stats.multinomial.logpmf(y, 5, rows[k]) for y, k in zip(data["y"], z, strict=True)
        )
        found = log_joint(model.graph, {**model.data, **state})
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_draws_of_rows_that_are_partly_data_are_proved():
    assert gp.compile(gp.read_bugs(TRIANGLE, triangle())).verify().proved


@pytest.mark.parametrize("known", [False, True])
def test_vectors_of_different_lengths_need_no_data(known):
    text = """
    model {
      for (k in 2:3) { e[k, 1:k] ~ ddirch(a[1:k]) }
      for (i in 1:3) { y[i] ~ dcat(e[2, 1:2]) }
    }
    """
    data = {"a": [1.0, 1, 1], "y": [1, 1, 2]}
    if known:
        data["e"] = np.ma.masked_all((3, 3))
    draws = gp.compile(gp.read_bugs(text, data)).sample(4000, chains=1, seed=1, progress=False)
    first = draws["e"][0, :, 1, 0]

    assert np.isnan(draws["e"][0, 0, 0, 0])
    assert stats.kstest(first, stats.beta(3, 2).cdf).pvalue > 1e-6


ROWS = """
model {
  q[1:2] ~ ddirch(a[])
  for (k in 1:2) { p[k, 1:2] ~ ddirch(a[]) }
  %s
  for (i in 1:6) { y[i] ~ dcat(%s) }
}
"""


@pytest.mark.parametrize(
    ("given", "read", "are"),
    [
        ("e[1, 1:2] <- q[1:2]", "e[1, ]", True),
        ("e[1, 1:2] <- q[]", "e[k[i], ]", True),
        ("for (j in 1:2) { e[1, j] <- q[1] }", "e[k[i], ]", False),
        ("for (j in 1:2) { for (k in 1:2) { e[j, k] <- p[k, j] } }", "e[k[i], ]", False),
        ("for (j in 1:2) { e[1, j] <- p[j, 1] }", "e[k[i], ]", False),
        ("for (j in 1:2) { e[1:2, j] ~ ddirch(a[]) }", "e[k[i], ]", False),
    ],
)  # fmt: skip
def test_only_whole_vectors_of_sum_one_are_probabilities(given, read, are):
    data = {"a": [1, 1], "k": [1] * 6, "y": [1, 2, 1, 1, 2, 2]}
    model = gp.read_bugs(ROWS % (given, read), data)
    (y,) = (s for s in model.graph.statements if s.target.array.name == "y.label")
    assert ("sum(" in str(dict(y.arguments)["p"])) is not are


def test_a_row_of_which_nothing_is_known_to_sum_to_one_is_divided_by_its_sum():
    text = """
    model {
      for (k in 1:2) { e[1, k] ~ dgamma(2, 1) }
      e[2, 1:2] ~ ddirch(a[])
      z ~ dcat(p[])
      y[1:2] ~ dmulti(e[z, ], 5)
    }
    """
    data = {"a": [1, 2], "p": [0.5, 0.5], "y": [2, 3]}
    model = gp.read_bugs(text, data)
    (y,) = (s for s in model.graph.statements if s.target.array.name == "y")
    assert "sum(" in str(dict(y.arguments)["p"])


ENTRIES = """
model {
  u ~ dbeta(1, 1)
  v ~ dbeta(1, 1)
  for (j in 1:3) { b[j] ~ dnorm(0, 1); r[j] ~ dbeta(1, 1) }
  for (i in 1:6) { w[i] ~ dbeta(1, 1) }
  %s
  for (i in 1:6) { y[i] ~ dcat(%s) }
}
"""
RAGGED = """
        for (i in 1:6) {
          for (j in 1:(n[i] - 1)) { logit(Q[i, j]) <- b[j] + w[i] }
          p[i, 1] <- 1 - Q[i, 1]
          for (j in 2:(n[i] - 1)) { p[i, j] <- Q[i, j - 1] - Q[i, j] }
          p[i, n[i]] <- Q[i, %s]
        }
        """
ARE_ONE = {
    "a rest": ("p[1] <- u; p[2] <- 1 - u", "p[]"),
    "a product and its rest": ("p[1] <- u * v; p[2] <- u * (1 - v); p[3] <- 1 - u", "p[]"),
    "beside a number": ("p[1] <- 0.3; p[2] <- 0.7 * u; p[3] <- 0.7 * (1 - u)", "p[]"),
    "rest of a sum": ("p[1] <- u / 2; p[2] <- v / 2; p[3] <- 1 - sum(p[1:2])", "p[]"),
    "shares": ("for (j in 1:3) { e[j] <- exp(b[j]); p[j] <- e[j] / sum(e[]) }", "p[]"),
    "shares of a range": ("for (j in 1:2) { p[j] <- r[j] / sum(r[1:2]) }", "p[1:2]"),
    "sticks": (
        """
        p[1] <- r[1]
        for (j in 1:3) { left[j] <- 1 - r[j] }
        for (j in 2:3) { p[j] <- r[j] * prod(left[1:(j - 1)]) }
        p[4] <- 1 - sum(p[1:3])
        """,
        "p[]",
    ),
    "sticks of three": (
        """
        p[1] <- r[1]
        p[2] <- r[2] * (1 - r[1])
        p[3] <- (1 - r[2]) * (1 - p[1])
        """,
        "p[]",
    ),
    "cumulated": (
        """
        for (i in 1:6) {
          for (j in 1:3) { logit(Q[i, j]) <- b[j] + w[i] }
          p[i, 1] <- 1 - Q[i, 1]
          for (j in 2:3) { p[i, j] <- Q[i, j - 1] - Q[i, j] }
          p[i, 4] <- Q[i, 3]
        }
        """,
        "p[i, ]",
    ),
    "cumulated, of different lengths": (RAGGED % "n[i] - 1", "p[i, 1:n[i]]"),
    "rows of two loops": (
        "for (i in 1:6) { p[i, 1] <- w[i] }\n  for (k in 1:6) { p[k, 2] <- 1 - w[k] }",
        "p[i, ]",
    ),
    "one of the rows": ("p[1, 1] <- u; p[1, 2] <- 1 - u; p[2, 1] <- u; p[2, 2] <- v", "p[1, ]"),
}
ARE_NOT_ONE = {
    "twice the same": ("p[1] <- u; p[2] <- u", "p[]"),
    "the rest of another": ("p[1] <- u; p[2] <- 1 - v", "p[]"),
    "the rest of another row": (
        "for (i in 1:6) { p[i, 1] <- w[i]; p[i, 2] <- 1 - w[7 - i] }", "p[i, ]"
    ),
    "the rest of what another loop says": (
        "for (i in 1:1) { p[1] <- w[i] }\n  for (i in 2:2) { p[2] <- 1 - w[i] }", "p[]"
    ),
    "a part of a vector": (
        "for (j in 1:4) { a[j] <- 1 }\n  p[1:4] ~ ddirch(a[])", "p[1:3]"
    ),
    "a part of rows of different lengths": (RAGGED % "n[i] - 1", "p[i, 1:(n[i] - 1)]"),
    "the shortest of rows of different lengths": (RAGGED % "1", "p[i, 1:n[i]]"),
    "a function of each": ("p[1] <- exp(u); p[2] <- 1 - exp(v)", "p[]"),
    "shares of more": ("for (j in 1:2) { p[j] <- r[j] / sum(r[]) }", "p[1:2]"),
    "one row of two": ("p[1, 1] <- u; p[1, 2] <- 1 - u; p[2, 1] <- u; p[2, 2] <- v", "p[k[i], ]"),
    "a part of them": ("p[1] <- u * v; p[2] <- u * (1 - v); p[3] <- 1 - u", "p[1:2]"),
    "a link": ("logit(p[1]) <- u; p[2] <- 1 - u", "p[]"),
}  # fmt: skip


@pytest.mark.parametrize("name", [*ARE_ONE, *ARE_NOT_ONE])
def test_entries_that_sum_to_one_are_probabilities(name, monkeypatch):
    """Others are divided by their sum, as JAGS does."""
    divided = []
    monkeypatch.setattr(statements, "shares", lambda e, d: divided.append(e) or shares(e, d))
    data = {"k": [1, 2] * 3, "n": [2, 3, 4] * 2, "y": [1, 2, 1, 1, 2, 2]}
    model = gp.read_bugs(ENTRIES % (ARE_ONE | ARE_NOT_ONE)[name], data)
    assert bool(divided) is (name in ARE_NOT_ONE)
    labels = (s for s in model.graph.statements if s.name.startswith("y"))
    is_divided = any(dict(s.arguments)["p"].has(Over) for s in labels)
    assert is_divided or name in ARE_ONE


def test_rows_of_different_lengths_read_what_is_along_a_dim_of_their_own_there():
    """Entries that a row does not have read nothing of the rows of others."""
    text = """
    model {
      for (h in 1:3) {
        theta[h] ~ dnorm(0, 1)
        for (i in 1:4) {
          for (j in 1:(n[i] - 1)) { logit(Q[h, i, j]) <- theta[h] - cut[i, j] }
          p[h, i, 1] <- 1 - Q[h, i, 1]
          for (j in 2:(n[i] - 1)) { p[h, i, j] <- Q[h, i, j - 1] - Q[h, i, j] }
          p[h, i, n[i]] <- Q[h, i, n[i] - 1]
          y[h, i] ~ dcat(p[h, i, 1:n[i]])
        }
      }
    }
    """
    cut = np.ma.masked_invalid([[0, np.nan, np.nan], [0, 1, np.nan], [-1, 0, 2], [1, 2, 3]])
    data = {"n": [2, 3, 4, 4], "cut": cut, "y": [[1, 3, 2, 4], [2, 1, 4, 3], [2, 2, 3, 1]]}
    model = gp.read_bugs(text, data)
    (y,) = (s for s in model.graph.statements if s.target.array.name.startswith("y"))
    read = {e for e in dict(y.arguments)["p"].atoms(Leaf) if e.array.name == "theta"}
    assert [e.indices for e in read] == [y.target.indices[:1]]
    assert {v.shape for k, v in model.data.items() if k.startswith("cut")} == {(4,), (4, 4)}


@pytest.mark.parametrize(
    ("weights", "are"), [("e[k] / sum(e[1:K])", True), ("e[k] * prod(r[1:k])", False)]
)
def test_whether_many_entries_sum_to_one_is_seen_without_multiplying_out(weights, are, monkeypatch):
    divided = []
    monkeypatch.setattr(statements, "shares", lambda e, d: divided.append(e) or shares(e, d))
    text = """
    model {
      for (k in 1:K) { e[k] <- exp(b[k]); r[k] <- 1 - e[k]; b[k] ~ dnorm(0, 1); p[k] <- %s }
      for (i in 1:2) { y[i] ~ dcat(p[1:K]) }
    }
    """
    gp.read_bugs(text % weights, {"K": 60, "y": [1, 60]})
    assert bool(divided) is not are


def test_the_weight_of_a_component_and_its_rest_have_a_beta():
    text = """
    model {
      w ~ dbeta(1, 1)
      p[1] <- w
      p[2] <- 1 - w
      for (i in 1:5) { z[i] ~ dcat(p[]); y[i] ~ dnorm(4 * z[i], 1) }
    }
    """
    sampler = gp.compile(gp.read_bugs(text, {"y": [3.5, 4, 8, 8.5, 4.2]}))
    assert sampler.schedule.step("w").family.name == "Beta"
    assert sampler.verify().proved


def test_the_data_block_may_give_more_elements_than_the_model_reads():
    text = """data { for (i in 1:5) { y[i] <- i } }
    model { for (i in 1:2) { y[i] ~ dnorm(m, 1) } z ~ dnorm(m + y[5], 1)  m ~ dnorm(0, 1) }"""
    model = gp.read_bugs(text, {"z": 1})

    assert gp.compile(model).verify().proved


def test_data_of_the_program_keep_the_names_of_its_variables_free():
    text = """
    model {
      for (i in 1:3) { true[i] ~ dcat(p[]); y[i] ~ dnorm(m[true[i], k[i]], 1) }
      for (j in 1:2) { m[1, j] ~ dnorm(0, 1) }
      m[2, 2] ~ dnorm(1, 1)
      m[2, 1] <- 3
    }
    """
    model = gp.read_bugs(text, {"p": [0.5, 0.5], "k": [1, 2, 1], "y": [0, 1, 2]})
    draws = gp.compile(model).sample(3, warmup=20, chains=1, seed=1, progress=False)
    assert draws["true"].shape == (1, 3, 3)
    assert draws["m"].shape == (1, 3, 2, 2)
    assert "true" not in model.data


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("model { w ~ dmulti(p[], 4) }", {"w": [[1, 2, 1], [0, 4, 0]], "p": [0.2, 0.3, 0.5]}),
        ("var b[2, 3]; model { b ~ dmnorm(mu[], Om[, ]) }", {"mu": [0, 0, 0], "Om": np.eye(3)}),
    ],
)
def test_a_name_of_other_axes_than_the_distribution_gives_is_refused(text, data):
    with pytest.raises(gp.BugsError, match="has 2 indices, found 0"):
        gp.read_bugs(text, data)


def test_shares_of_what_is_infinite_are_read():
    text = """
    model {
      q ~ dbeta(1, 1)
      p[1] <- q / c
      p[2] <- 1 - q / c
      y ~ dcat(p[])
    }
    """
    gp.read_bugs(text, {"c": np.inf, "y": 2})


# Bounds that reach out of the support, as JAGS has it, and the line of the model.
OUTER_BOUNDS = {
    "x ~ dgamma(2, 1) T(-1, 3)": "x ~ Gamma(shape=2, rate=1) truncated to (, 3)",
    "x ~ dgamma(2, 1) T(b, )": "truncated to (maximum(0, b), )",
    "x ~ dbeta(2, 2) I(, 1.5)": "x ~ Beta(a=2, b=2)",
    "x ~ dunif(0, 1) T(-1, 2)": "x ~ Uniform(lower=0, upper=1)",
    "x ~ dunif(0, 1) T(0.2, b)": "x ~ Uniform(lower=0.2, upper=minimum(1, b))",
    "x ~ dbin(0.4, n) T(, 4)": "truncated to (, minimum(n, 4))",
    "x ~ dgeom1(0.4) T(0, 6)": "x.shifted ~ Geometric(p=0.4) truncated to (, 5)",
    "x ~ dgeom1(0.4) T(2, )": "x.shifted ~ Geometric(p=0.4) truncated to (1, )",
    "x ~ dgeom1(0.4) I(, n + 2)": "log([x.shifted + 1 <= n + 2])",
}


@pytest.mark.parametrize("line", OUTER_BOUNDS)
def test_bounds_outside_of_the_support_leave_it_as_it_is(line):
    text = f"model {{ b ~ dnorm(2, 4)  n ~ dpois(5)  {line}  y ~ dnorm(x, 1) }}"
    model = gp.read_bugs(text, {"y": 0.5})

    assert OUTER_BOUNDS[line] in str(model.graph)
    found = gp.compile(model).verify()
    assert found.proved, str(found)


PARTLY_WITH_AUXILIARIES = {
    "beside another distribution": "x[1] ~ dnorm(0, 1)  for (i in 2:4) { x[i] ~ dnt(0, 1, 3) }",
    "beside a number": "x[1] <- 3  for (i in 2:4) { x[i] ~ dnt(0, 1, 3) }",
    "in a table": "for (i in 1:4) { for (j in 1:i) { z[i, j] ~ dnt(0, 1, 3) }  x[i] <- z[i, 1] }  "
    "z[1, 2] ~ dnorm(0, 1)",
}


@pytest.mark.parametrize("lines", PARTLY_WITH_AUXILIARIES)
def test_auxiliary_variables_of_some_elements_leave_the_others_no_gap(lines):
    text = f"model {{ {PARTLY_WITH_AUXILIARIES[lines]}  y ~ dnorm(sum(x[1:4]), 1) }}"
    sampler = gp.compile(gp.read_bugs(text, {"y": 0.5}))
    starts, _ = sampler.initial_states(1, 1)

    assert all(np.isfinite(v).all() for v in starts[0].state.values())
    assert sampler.verify().proved
