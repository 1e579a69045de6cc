"""The second reading of BUGS: its tables against SciPy and JAGS, its lines against sums by hand."""

import ast
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats
from test_bugs_functions import ARRAYS, NUMBERS
from test_bugs_tables import EXAMPLES, JAGS

import gibbsppl.bugs.interpreter as interpreter_module
from gibbsppl.bugs import functions, observed_sums
from gibbsppl.bugs.densities import QUANTILES
from gibbsppl.bugs.distributions import DISTRIBUTIONS
from gibbsppl.bugs.interpreted_densities import DENSITIES, interval
from gibbsppl.bugs.interpreted_functions import FUNCTIONS, LINKS, called
from gibbsppl.bugs.interpreter import log_densities, log_density_of, unrolled, values_at
from gibbsppl.bugs.parse import parse
from gibbsppl.bugs.rows import Unsupported
from gibbsppl.bugs.syntax import BugsError

SUPPORTED = {n for n, row in DISTRIBUTIONS.items() if not isinstance(row, Unsupported)}


# ---- it stands alone -----------------------------------------------------------------------------


def test_the_parser_is_all_that_the_two_readers_share():
    folder = Path(interpreter_module.__file__).parent
    allowed = {"gibbsppl.bugs", "gibbsppl.bugs.syntax"}
    for path in (*folder.glob("interpreted_*.py"), folder / "interpreter.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        read = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        read |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        own = {r for r in read if r.startswith("gibbsppl") and ".interpreted_" not in r}
        assert own <= allowed, path.name


# ---- densities -----------------------------------------------------------------------------------


def test_every_distribution_is_in_the_table():
    # (an observed sum is another program before its lines are looked up)
    assert set(DENSITIES) - {observed_sums.NAME} == SUPPORTED


def test_names_of_one_row_are_those_of_the_other():
    for name in SUPPORTED:
        assert set(DENSITIES[name].names) == set(DISTRIBUTIONS[name].names)


@pytest.mark.parametrize("case", EXAMPLES, ids=str)
def test_log_densities_are_those_of_the_manuals(case):
    for value in case.values:
        found = DENSITIES[case.name].at(value, case.parameters)
        expected = float(np.ravel(case.log_density(value))[0])
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(("name", "parameters", "value", "expected"), JAGS)
def test_log_densities_are_those_that_jags_prints(name, parameters, value, expected):
    assert DENSITIES[name].at(value, parameters) == pytest.approx(expected, abs=1e-5)


BOUNDED = [e for e in EXAMPLES if DENSITIES[e.name].below is not None]


def density(row, x, parameters):
    return np.nan_to_num(np.exp(row.at(x, parameters)))


@pytest.mark.parametrize("case", BOUNDED, ids=str)
def test_shares_of_intervals_are_sums_and_integrals_of_densities(case):
    row, given = DENSITIES[case.name], case.parameters
    first, last = case.values[0], case.values[-1]
    middle = case.values[len(case.values) // 2] if not row.whole else last

    for low, high in ((first, last), (middle, last), (first, middle)):
        if row.whole:
            expected = sum(density(row, k, given) for k in range(int(low), int(high) + 1))
        else:
            ends = {"epsabs": 0, "epsrel": 1e-11, "limit": 200}
            expected, _ = integrate.quad(lambda x: density(row, x, given), low, high, **ends)
        assert np.exp(interval(row, given, low, high)) == pytest.approx(expected, rel=1e-8, abs=0)
        both = np.exp([interval(row, given, low, None), interval(row, given, None, high)])
        assert both.sum() - 1 == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_shares_keep_their_digits_in_both_tails():
    for side in (-1, 1):
        ends = sorted((side * 20.0, side * 21.0))
        found = interval(DENSITIES["dnorm"], (0.0, 1.0), *ends)
        assert found == pytest.approx(stats.norm.logsf(20), rel=1e-9)
    assert interval(DENSITIES["dgamma"], (2.0, 1.0), 60.0, 80.0) == pytest.approx(
        stats.gamma(2).logsf(60), rel=1e-7
    )
    assert interval(DENSITIES["dpois"], (2.0,), 0.5, None) == pytest.approx(np.log1p(-np.exp(-2)))
    assert interval(DENSITIES["dnorm"], (0.0, 1.0), None, None) == 0.0
    assert interval(DENSITIES["dunif"], (0.0, 1.0), -3.0, 0.25) == pytest.approx(np.log(0.25))


def positive_line(function):
    """The integral over positive numbers."""
    return integrate.quad(lambda u: np.exp(u) * function(np.exp(u)), -40, 12, limit=400)[0]


def test_auxiliary_variables_integrated_out_leave_the_density():
    row, given = DENSITIES["dnormmix"], ([0.0, 1.0], [1.0, 4.0], [3.0, 7.0])
    found = sum(np.exp(row.beside(0.4, {"component": k}, given)) for k in (0, 1))
    assert found == pytest.approx(np.exp(row.at(0.4, given)))
    row = DENSITIES["dnchisqr"]
    found = sum(np.exp(row.beside(1.5, {"count": n}, (3.0, 2.0))) for n in range(80))
    assert found == pytest.approx(np.exp(row.at(1.5, (3.0, 2.0))))
    for name, x, given in (("dnt", -0.4, (1.0, 4.0, 5.0)), ("dscaled.gamma", 0.7, (2.0, 3.0))):
        row = DENSITIES[name]
        found = positive_line(lambda w, r=row, x=x, g=given: np.exp(r.beside(x, {"weight": w}, g)))
        assert found == pytest.approx(np.exp(row.at(x, given)), rel=1e-8)


def test_the_weights_of_a_scaled_wishart_matrix_integrated_out_leave_its_density():
    row, x, given = DENSITIES["dscaled.wishart"], [[2.0, 0.3], [0.3, 1.0]], ([1.0, 2.0], 3.0)

    def at(u, v):
        return np.exp(row.beside(x, {"weight": np.exp([u, v])}, given) + u + v)

    every = np.arange(-12, 5, 0.3)  # (the trapezoidal rule: at both ends there is nothing left)
    found = 0.3**2 * sum(at(u, v) for u in every for v in every)
    assert found == pytest.approx(np.exp(row.at(x, given)), rel=1e-8)


def test_values_outside_of_the_support_have_none_and_impossible_parameters_no_number():
    assert DENSITIES["dgamma"].at(-1.0, (1.0, 1.0)) == -np.inf
    assert DENSITIES["dpois"].at(1.5, (1.0,)) == -np.inf
    assert DENSITIES["ddirch"].at([0.5, 0.6], ([1.0, 1.0],)) == -np.inf
    assert DENSITIES["dmulti"].at([1, 1], ([0.5, 0.5], 3)) == -np.inf
    assert DENSITIES["dinterval"].at(1, (0.5, [0.6, 0.7])) == -np.inf
    for name, x, given in (
        ("dnorm", 0.0, (0.0, -1.0)),
        ("dbern", 0, (1.5,)),
        ("dbern", 1, (0.0,)),
        ("dpois", 0, (-1.0,)),
        ("dbin", 0, (-0.5, 3)),
        ("dburrXII", 1.0, (-1.0, -1.0)),
        ("dmnorm", [0.0, 0.0], ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])),
        ("dordered.logit", 1, (0.0, [1.0, 0.0])),
    ):
        assert np.isnan(DENSITIES[name].at(x, given)), name


ADJ, NUM = [2, 1, 3, 2], [1, 2, 1]


def test_fields_are_normal_vectors():
    x, mu, m = np.array([0.4, -1.0, 0.6]), np.array([0.1, 0.2, 0.3]), np.array([1.0, 0.5, 1.0])
    c = np.array([0.5, 0.25, 0.25, 0.5])
    weights = np.array([[0, 0.5, 0], [0.25, 0, 0.25], [0, 0.5, 0]])
    precision = 2 * (np.eye(3) - 0.3 * weights) / m[:, None]
    found = DENSITIES["car.proper"].at(x, (mu, c, ADJ, NUM, m, 2.0, 0.3))
    expected = stats.multivariate_normal(mu, np.linalg.inv(precision)).logpdf(x)
    assert found == pytest.approx(expected)

    flat = DENSITIES["car.normal"].at(x, (ADJ, [1, 1, 1, 1], NUM, 2.0))
    assert flat == pytest.approx(np.log(2.0) - (1.4**2 + 1.6**2))
    assert DENSITIES["car.normal"].at(x + 1, (ADJ, [1, 1, 1, 1], NUM, 2.0)) == -np.inf


# ---- functions -----------------------------------------------------------------------------------


def test_every_function_is_in_the_table():
    for name, row in functions.FUNCTIONS.items():
        if isinstance(row, Unsupported) or name in FUNCTIONS:
            continue
        kinds = ("pdf.", "cdf.", "logdensity.", "deviance.", "dev.", "d", "p", "q")
        assert any(f"d{name.removeprefix(k)}" in DENSITIES for k in kinds), name


@pytest.mark.parametrize("name", NUMBERS)
def test_functions_of_numbers_are_numpys(name):
    arguments, reference = NUMBERS[name]
    every = np.broadcast_arrays(*arguments) if arguments else []
    expected = np.broadcast_to(reference(*arguments), np.shape(every[0]) if every else ())
    for at in np.ndindex(*expected.shape):
        found = called(name, *(float(a[at]) for a in every))
        assert found == pytest.approx(float(expected[at]), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_of_arrays_are_numpys(name):
    for arguments, expected in ARRAYS[name]:
        np.testing.assert_allclose(called(name, *arguments), expected, rtol=1e-12)


def test_links_are_undone():
    for link, undo in LINKS.items():
        assert called(link, undo(0.3)) == pytest.approx(0.3)


@pytest.mark.parametrize("case", EXAMPLES, ids=str)
def test_densities_as_functions_are_those_of_the_other_table(case):
    count = len(case.parameters) + 1
    for prefix in ("d", "p", "logdensity.", "dev."):
        name = f"{prefix}{case.name[1:]}"
        row = functions.function(name, count)
        if isinstance(row, Unsupported):
            continue
        for value in case.values:
            expected = float(row.numeric(float(value), *map(float, case.parameters)))
            found = called(name, value, *case.parameters)
            assert found == pytest.approx(expected, rel=1e-8, abs=1e-14)


@pytest.mark.parametrize("case", [e for e in EXAMPLES if e.name in QUANTILES], ids=str)
def test_quantiles_are_those_of_the_other_table(case):
    for p in (0.01, 0.3, 0.9):
        expected = float(QUANTILES[case.name](p, *case.parameters))
        found = called(f"q{case.name[1:]}", p, *case.parameters)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_rows_take_as_many_parameters_as_the_manuals_say():
    """Each density of a value and its parameters, as the other table counts them."""
    for name in SUPPORTED:
        kinds = list(signature(DENSITIES[name].log).parameters.values())
        if all(p.kind == p.POSITIONAL_OR_KEYWORD for p in kinds):
            assert len(kinds) == len(DISTRIBUTIONS[name].parameters) + 1, name


# ---- lines ---------------------------------------------------------------------------------------


def terms(text, data, given):
    program = parse(f"model {{ {text} }}" if "model" not in text else text)
    shapes = {n: np.shape(v) for n, v in given.items()}
    return log_densities(values_at(unrolled(program, data, shapes), given))


def normal(x, mu=0.0, tau=1.0):
    return stats.norm(mu, tau**-0.5).logpdf(x)


def test_loops_start_where_they_start():
    y, d = [0.0, 1.0, 2.0, 0.5], [9.0, 1.0, 3.0, -2.0]
    found = terms("for (t in 2:4) { y[t] ~ dnorm(b * d[t], 1) }", {"y": y, "d": d}, {"b": 0.5})
    assert found == pytest.approx({f"y[{t}]": normal(y[t - 1], 0.5 * d[t - 1]) for t in (2, 3, 4)})


def test_ranges_are_as_long_as_they_are_at_each_position():
    text = "for (j in 1:3) { y[j] ~ dnorm(S[j], 1); S[j] <- sum(x[1:j]) - max(x[j:3]) }"
    x, y = np.array([0.5, -1.0, 2.0]), np.zeros(3)
    found = terms(text, {"y": y}, {"x": x})
    expected = [x[:j].sum() - x[j - 1 :].max() for j in (1, 2, 3)]
    assert list(found.values()) == pytest.approx([normal(0, m) for m in expected])


def test_later_lines_say_how_long_loops_are():
    text = """model {
      for (i in 1:M) { for (j in 1:n[i]) { y[i, j] ~ dpois(r[i]) } }
      M <- length(n[]); for (i in 1:2) { log(r[i]) <- i * a }
    }"""
    found = terms(text, {"n": [1, 2], "y": [[3, 0], [1, 2]]}, {"a": 0.3})
    pairs = {"y[1,1]": (3, 1), "y[2,1]": (1, 2), "y[2,2]": (2, 2)}
    expected = {n: stats.poisson(np.exp(i * 0.3)).logpmf(k) for n, (k, i) in pairs.items()}
    assert found == pytest.approx(expected)


def test_lines_say_how_long_arrays_are_that_others_go_through():
    text = """model {
      for (i in 1:length(z[])) { y[i] ~ dnorm(a + z[i], 1) }
      for (j in 1:2) { z[j] <- d[j] * 2 }; z[3] <- 7
    }"""
    found = terms(text, {"y": [0.0, 1.0, 2.0], "d": [0.5, 1.0]}, {"a": 0.3})
    assert list(found.values()) == pytest.approx(normal(np.arange(3), 0.3 + np.array([1, 2, 7])))


def test_labels_choose_and_links_are_undone():
    text = "z ~ dcat(p[]); y ~ dbern(q[z]); for (k in 1:2) { logit(q[k]) <- m[k, z] }"
    m = np.array([[0.1, 0.2], [0.3, 0.4]])
    found = terms(text, {"p": [3.0, 1.0], "y": 1, "m": m}, {"z": 2})
    q = 1 / (1 + np.exp(-0.4))
    assert found == pytest.approx({"z": np.log(0.25), "y": np.log(q)})


def test_an_index_beside_the_array_is_no_number():
    text = "z ~ dcat(p[]); y ~ dnorm(ifelse(z > 1, m[z - 1], 0), 1)"
    data = {"p": [0.5, 0.5], "y": 0.2, "m": [3.0]}
    assert terms(text, data, {"z": 1})["y"] == pytest.approx(normal(0.2, 0))
    assert terms(text, data, {"z": 2})["y"] == pytest.approx(normal(0.2, 3))
    assert np.isnan(terms(text.replace("z > 1", "z < 2"), data, {"z": 1})["y"])


def test_vectors_and_matrices_are_taken_whole_or_in_part():
    text = """model {
      b[1:2] ~ dmnorm(m[], T[,]); T ~ dwish(R, 2); V <- inverse(T[,]); V0 <- V[1, 2]
      for (i in 1:2) { y[i] ~ dnorm(inprod(b[], X[i, ]) + V0, T[1, 1]) }
    }"""
    T, X, b = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 2.0], [0.0, -1.0]]), [0.3, -0.2]
    data = {"m": [0.0, 1.0], "R": np.eye(2), "X": X, "y": [0.5, 1.5]}
    found = terms(f"var V[2, 2];\n{text}", data, {"b": b, "T": T})
    V = np.linalg.inv(T)
    assert found["T[1:2,1:2]"] == pytest.approx(stats.wishart(2, np.eye(2)).logpdf(T))
    assert found["b[1:2]"] == pytest.approx(stats.multivariate_normal([0, 1], V).logpdf(b))
    assert found["y[2]"] == pytest.approx(normal(1.5, 0.2 + V[0, 1], 2.0))


def test_the_data_block_is_computed_before():
    text = """data { for (i in 1:N) { z[i] <- log(y[i]); w[i] <- z[i] - mean(z[]) } }
    model { for (i in 1:N) { w[i] ~ dnorm(mu, 1) } }"""
    y = np.array([1.0, 2.0, 5.0])
    found = terms(text, {"y": y, "N": 3}, {"mu": 0.1})
    assert list(found.values()) == pytest.approx(normal(np.log(y) - np.log(y).mean(), 0.1))


def test_what_is_computed_from_data_may_have_a_distribution():
    text = "for (i in 1:2) { z[i] <- sqrt(y[i]); z[i] ~ dnorm(mu, 1) }"
    assert terms(text, {"y": [4.0, 9.0]}, {"mu": 0.5})["z[2]"] == pytest.approx(normal(3, 0.5))


def test_truncation_divides_and_censoring_does_not():
    given = {"x": 0.7, "m": 0.2}
    inside = normal(0.7, 0.2)
    share = np.log(stats.norm.cdf(0.8) - stats.norm.cdf(-0.2))
    assert terms("x ~ dnorm(m, 1)T(0, 1)", {}, given)["x"] == pytest.approx(inside - share)
    assert terms("x ~ dnorm(m, 1)I(0, 1)", {}, given)["x"] == pytest.approx(inside)
    assert terms("x ~ dnorm(m, 1)C(0, 1)", {}, given)["x"] == pytest.approx(inside)
    known = terms("x ~ dnorm(0.2, 1)I(0, 1)", {}, given)["x"]
    assert known == pytest.approx(inside - share)
    assert terms("x ~ dnorm(m, 1)T(1, )", {}, given)["x"] == -np.inf


def test_bounds_of_counts_belong_to_the_interval():
    found = terms("x ~ dpois(2)T(1, 3)", {}, {"x": 1})["x"]
    masses = stats.poisson(2).pmf([1, 2, 3])
    assert found == pytest.approx(np.log(masses[0] / masses.sum()))


def test_ones_and_zeros_and_intervals():
    text = "o ~ dbern(p); p <- phi(a); z ~ dpois(a + 3); w ~ dloglik(2 * a); s ~ dinterval(a, c[])"
    data = {"o": 1, "z": 0, "w": 0, "s": 1, "c": [0.0, 1.0]}
    found = terms(text, data, {"a": 0.5})
    expected = {"o": stats.norm.logcdf(0.5), "z": -3.5, "w": 1.0, "s": 0.0}
    assert found == pytest.approx(expected)


def test_missing_elements_are_given():
    y = np.ma.masked_invalid([1.0, np.nan])
    found = terms("for (i in 1:2) { y[i] ~ dnorm(0, 1) }", {"y": y}, {"y": [5.0, 2.0]})
    assert found == pytest.approx({"y[1]": normal(1), "y[2]": normal(2)})


def test_auxiliary_variables_may_be_given_in_the_shape_of_their_array():
    text = "for (i in 1:2) { x[i] ~ dnt(m, 4, 5) }"
    given = {"x": [0.3, 0.8], "m": 0.5, "x.weight": [1.5, 0.7]}
    expected = stats.gamma(2.5, scale=0.4).logpdf(0.7) + normal(0.8, 0.5 / 0.7**0.5, 2.8)
    assert terms(text, {}, given)["x[2]"] == pytest.approx(expected)
    del given["x.weight"]
    expected = stats.nct(5, 1.0, scale=0.5).logpdf(0.8)
    assert terms(text, {}, given)["x[2]"] == pytest.approx(expected)


@pytest.mark.parametrize("order", ["on", "back"])
def test_long_recursions_are_computed_one_after_the_other(order):
    lines = {
        "on": "x[1] <- a; for (t in 2:2000) { x[t] <- 0.999 * x[t - 1] }; b <- x[2000]",
        "back": "x[2000] <- a; for (t in 1:1999) { x[t] <- 0.999 * x[t + 1] }; b <- x[1]",
    }
    found = terms(f"{lines[order]}; y ~ dnorm(b, 1)", {"y": 0.5}, {"a": 2.0})
    assert found["y"] == pytest.approx(normal(0.5, 2 * 0.999**1999))


def test_what_depends_on_itself_and_what_nothing_tells_is_an_error():
    with pytest.raises(BugsError, match="depends on itself"):
        terms("x <- y + 1; y <- x; z ~ dnorm(x, 1)", {"z": 1.0}, {})
    with pytest.raises(BugsError, match="not known"):
        terms("for (i in 1:n) { z[i] ~ dnorm(0, 1) }", {"z": [1.0]}, {})


def test_the_total_is_the_sum_of_the_lines():
    program = parse("model { a ~ dnorm(0, 1); y ~ dnorm(a, 1) }")
    found = log_density_of(program, {"y": 1.0}, {"a": 0.3})
    assert found == pytest.approx(normal(0.3) + normal(0.7))
