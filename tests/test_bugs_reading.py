"""Models read from texts are compared with these, read again: planted wrong readings are seen."""

from dataclasses import replace

import numpy as np
import pytest
from random_programs import random_program

import gibbsppl as gp
from gibbsppl.bugs import references
from gibbsppl.bugs.grids import position_of
from gibbsppl.bugs.parse import parse
from gibbsppl.checks import verification
from gibbsppl.checks.reading import RELATIVE_TOLERANCE, gaps_of_reading
from gibbsppl.errors import GibbspplError
from gibbsppl.initial.search import initial_state

SHIFTED = {
    "for (t in 2:4) { y[t] ~ dnorm(b * d[t], 1) }; b ~ dnorm(0, 1)": {
        "y": [np.nan, 0.3, 1.0, -0.5],
        "d": [0.5, 2.0, -1.0, 0.2, 0.7],
    },
}


def read(text, data):
    values = {n: np.ma.masked_invalid(v) for n, v in data.items()}
    return gp.read_bugs(text if "model" in text else f"model {{ {text} }}", values)


def states_of(model, rng, starts):
    return [initial_state(rng, model.graph, model.data)[0] for _ in range(starts)]


def gaps(model, seed=0, starts=1):
    rng = np.random.default_rng(seed)
    states = states_of(model, rng, starts)
    return gaps_of_reading(rng, model.reading, model.graph, model.data, states)


def wrong(found):
    """What model and program disagree about."""
    return {what for what, (gap, size) in found.items() if not gap <= RELATIVE_TOLERANCE * size}


def misread(model, said):
    """A model that was read from another text, as a wrong reading of what is said."""
    model.reading = replace(model.reading, program=parse(f"model {{ {said} }}"))
    return model


# ---- in the table --------------------------------------------------------------------------------


def test_verify_compares_a_model_with_its_text():
    ((text, data),) = SHIFTED.items()
    sampler = gp.compile(read(text, {**data, "d": data["d"][:4]}))
    found = sampler.verify()
    assert [r.step for r in found.rows if r.kind == "reading"] == ["(program: density)"]
    sampler = gp.compile(read(f"{text}; s <- sum(d[1:4]) * b", data))
    kinds = [r.step for r in sampler.verify().rows if r.kind == "reading"]
    assert kinds == ["(program: density)", "(program: quantities)"]


def test_programs_with_limits_of_parameters_are_compared():
    model = read("b ~ dnorm(0, 1); y ~ dpois(1 + b)", {"y": 2})
    assert [r.step for r in gp.compile(model).verify().rows if r.kind == "reading"]


def test_models_in_python_and_changed_ones_have_no_text():
    model = read("a ~ dnorm(0, 1); y ~ dnorm(a, 1)", {"y": 1.0})
    with model:
        gp.Normal("more", 0, tau=1)
    rows = gp.compile(model).verify().rows
    assert not [r for r in rows if r.kind == "reading"]
    with gp.Model() as own:
        gp.Normal("x", 0, tau=1)
    assert own.reading is None


# ---- wrong readings ------------------------------------------------------------------------------

# What is said, and what it is read as.
MISREAD = (
    ("for (t in 2:4) { y[t] ~ dnorm(b * d[t], 1) }", "d[t]", "d[t + 1]"),
    ("for (j in 1:4) { y[j] ~ dnorm(S[j], 1); S[j] <- b + sum(d[1:j]) }", "1:j", "1:4"),
    ("for (j in 1:4) { y[j] ~ dnorm(b * max(d[j:5]), 1) }", "j:5", "1:5"),
    ("for (j in 1:4) { y[j] ~ dnorm(b * mean(d[1:j]), 1) }", "mean(d[1:j])", "sum(d[1:j])"),
    ("for (t in 1:4) { y[t] ~ dnorm(b, 1)T(-1, 2) }", "T(-1, 2)", "I(-1, 2)"),
    ("for (t in 1:4) { y[t] ~ dnorm(b, 1)T(-1, 2) }", "T(-1, 2)", "T(-1,)"),
    ("for (t in 1:4) { y[t] ~ dnorm(b, 4) }", "4) }", "2) }"),
    ("for (t in 1:4) { y[t] ~ dt(b, 1, 4) }", "dt(b, 1, 4)", "dnorm(b, 1)"),
    ("for (t in 1:4) { y[t] ~ dnorm(b, 1) }", "1:4", "1:3"),
    ("for (t in 1:4) { y[t] ~ dnorm(m[g[t]], 1) }; for (k in 1:3) { m[k] ~ dnorm(b, 1) }",
     "g[t]", "g[5 - t]"),
    ("for (t in 1:4) { z[t] ~ dcat(p[]); y[t] ~ dnorm(b * z[t], 1) }", "b * z[t]", "b * z[1]"),
    ("for (t in 1:4) { y[t] ~ dnorm(ifelse(b > d[t], b, 0), 1) }", "b > d[t]", "b < d[t]"),
    ("for (t in 1:4) { log(r[t]) <- b * d[t]; c[t] ~ dpois(r[t]) }", "log(r", "logit(r"),
    ("for (t in 1:4) { x[t] ~ dbern(phi(b)) }", "phi", "ilogit"),
    ("x[1] ~ dnorm(0, 1); for (t in 2:4) { x[t] ~ dnorm(b * x[t - 1], 1) }", "x[t - 1]", "x[1]"),
)  # fmt: skip
DATA = {
    "y": [0.1, 0.3, 1.0, -0.5],
    "d": [0.5, 2.0, -1.0, 0.2, 0.7],
    "g": [1, 2, 3, 1],
    "c": [0, 2, 1, 3],
    "p": [0.2, 0.8],
}


@pytest.mark.parametrize(("said", "part", "instead"), MISREAD)
def test_wrong_readings_are_seen(said, part, instead):
    text = f"{said}; b ~ dnorm(0, 1)"
    assert part in text
    model = read(text.replace(part, instead), DATA)
    assert wrong(gaps(model)) == set()
    assert "density" in wrong(gaps(misread(model, text)))


def test_verify_sees_a_wrong_reading():
    text = "for (t in 2:4) { y[t] ~ dnorm(b * d[t], 1) }; b ~ dnorm(0, 1)"
    model = misread(read(text.replace("d[t]", "d[t + 1]"), DATA), text)
    found = gp.compile(model).verify()
    assert not found.passed
    assert [r.step for r in found.rows if not r.passed] == ["(program: density)"]


def test_quantities_that_are_read_wrongly_are_seen():
    text = "b ~ dnorm(0, 1); for (j in 1:3) { S[j] <- b * sum(d[1:j]); T[j] <- S[j] + b }"
    model = misread(read(text.replace("1:j", "1:3"), DATA), text)
    assert wrong(gaps(model)) == {"quantities"}


def test_data_read_from_the_first_position_on_are_seen(monkeypatch):
    """Positions counted from 0, wherever loops start."""

    def from_zero(grid, starts):
        return position_of(grid, dict.fromkeys(starts, 0))

    ((text, data),) = SHIFTED.items()
    monkeypatch.setattr(references, "position_of", from_zero)
    model = read(text, data)
    monkeypatch.undo()
    assert "d[t + 1]" in str(model.graph)
    assert wrong(gaps(model)) == {"density"}


def test_a_difference_of_rounding_is_no_wrong_reading():
    """A probability near one keeps few digits in what is left of it, read as it stands."""
    for start in (15, 20, 25, 30, 40):
        text = f"a ~ dnorm({start}, 1); p <- ilogit(a); for (i in 1:3) {{ x[i] ~ dbern(p) }}"
        assert wrong(gaps(read(text, {"x": [0, 0, 1]}))) == set(), start


# ---- what is read rightly ------------------------------------------------------------------------

RIGHT = {
    "a log likelihood that does not depend on the position": (
        "a ~ dnorm(0, 1); for (i in 1:3) { z[i] ~ dloglik(-2 * a); w[i] ~ dloglik(0.3) }",
        {"z": [0, 0, 0], "w": [0, 0, 0]},
    ),
    "a random number between knots": (
        "a ~ dnorm(0, 4); y ~ dnorm(interp.lin(a, k[], h[]), 1)",
        {"y": 0.4, "k": [-1.0, 0.0, 2.0], "h": [1.0, 2.0, 0.5]},
    ),
    "a part of a vector of shares": (
        "q[1:4] ~ ddirch(e[]); for (i in 1:2) { x[i] ~ dcat(q[1:3]); v[i] ~ dcat(p[2:3]) }",
        {"e": [1.0, 2.0, 1.0, 1.0], "x": [1, 3], "v": [1, 2], "p": [0.5, 0.2, 0.3]},
    ),
    "vectors of different lengths": (
        "for (k in 2:3) { e[k, 1:k] ~ ddirch(o[1:k]); x[k] ~ dcat(e[k, 1:k]) }",
        {"o": [1.0, 2.0, 3.0], "x": [np.nan, 2, 1]},
    ),
    "auxiliary variables in rows of a table": (
        "for (i in 1:3) { for (j in 1:n[i]) { x[i, j] ~ dnt(m, 1, 4) } }; m ~ dnorm(0, 1)",
        {"n": [2, 1, 3]},
    ),
    "a scale matrix of its own at each position": (
        "for (i in 1:2) { W[i, 1:2, 1:2] ~ dscaled.wishart(s[], 3); b[i] <- logdet(W[i, , ]) }",
        {"s": [1.0, 2.0]},
    ),
    "a field on a map": (
        """f[1:3] ~ car.normal(adj[], w[], num[], t); t ~ dgamma(2, 1)
        for (i in 1:3) { y[i] ~ dnorm(f[i], 1) }""",
        {"adj": [2, 1, 3, 2], "w": [1, 1, 1, 1], "num": [1, 2, 1], "y": [0.3, -1.0, 0.5]},
    ),
    "zero times what is infinite": (
        "for (i in 1:2) { D[i] <- r[i] * log(r[i] / 5) * b; y[i] ~ dnorm(D[i], 1) }; b ~ dexp(1)",
        {"r": [0.0, 3.0], "y": [0.1, 0.2]},
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_the_two_readers_once_disagreed_about(name):
    assert wrong(gaps(read(*RIGHT[name]), starts=2)) == set()


def test_vectors_that_fill_a_part_of_an_axis_are_recorded_as_the_program_has_them():
    """Also where they are read."""
    text = "b[1:2] ~ dmnorm(m[], T[,]); b[3] ~ dnorm(0, 1); y ~ dnorm(sum(b[1:3]), 1)"
    data = {"m": [0.0, 1.0], "T": [[1.0, 0.2], [0.2, 2.0]], "y": 0.5}
    model = read(text, data)
    draws = gp.compile(model).sample(4, warmup=0, chains=1, seed=1, progress=False)
    np.testing.assert_array_equal(draws["b"][..., :2], draws["b.part"])
    assert wrong(gaps(model)) == set()


EVERY_DAY = range(33, 58)


@pytest.mark.parametrize(
    "seed", [*EVERY_DAY, *(pytest.param(s, marks=pytest.mark.slow) for s in range(58, 133))]
)
def test_random_programs_are_read_as_they_stand(seed):
    assert wrong(gaps(gp.read_bugs(*random_program(seed)), seed)) == set()


@pytest.mark.slow
def test_many_random_programs_are_read_as_they_stand():
    """Those that are refused, or for which no start is found, are few."""
    left, seeds = [], range(1000, 3000)
    for seed in seeds:
        try:
            model = gp.read_bugs(*random_program(seed))
            states_of(model, np.random.default_rng(seed), 1)
        except GibbspplError:
            left.append(seed)
            continue
        assert wrong(gaps(model, seed)) == set(), seed
    assert len(left) < 0.02 * len(seeds)


@pytest.mark.parametrize("first", ["5", "1e308"])
def test_a_loop_that_ends_before_it_starts_is_empty_for_both_readers(first):
    read = gp.read_bugs(
        f"model {{ for (i in {first}:N) {{ a[i] ~ dnorm(0, 1) }} b ~ dgamma(2, 1) }}", {"N": 3}
    )

    assert gp.compile(read).verify().proved


def test_where_a_program_has_no_number_it_is_compared_nearer_to_the_centre():
    """The log of a rate of exp(-1e5) is no number of the program's; that of the model is."""
    text = "model { y ~ dpois(exp(a)); a ~ dnorm(0, 1.0E-8) }"
    sampler = gp.compile(gp.read_bugs(text, {"y": 3}))
    given = (np.random.default_rng(1), sampler.reading, sampler.graph, sampler.data)
    far, near = ({"a": np.array(-1e5)},), ({"a": np.array(0.3)},)

    (row,) = verification._of_reading(*given, [far, near])
    assert row.passed
    (row,) = verification._of_reading(*given, [far])
    assert not row.passed


# ---- quantities that are too large for numbers ---------------------------------------------------

# A product that is 1, and no number where it is computed from left to right.
OVERFLOWING = """x ~ dunif(-100, 100); h <- exp(7 * x)
    q <- h * h * exp(-14 * x); y ~ dnorm(x, 0.0001)"""


def test_quantities_without_digits_are_no_difference():
    for seed in range(10):
        found = gaps(read(OVERFLOWING, {"y": 1.0}), seed, starts=3)
        assert not wrong(found)


def test_a_quantity_that_is_no_number_where_nothing_overflows_is_one():
    model = read("x ~ dunif(-2, 2); q <- log(x - 3); y ~ dnorm(x, 1)", {"y": 1.0})
    said = "x ~ dunif(-2, 2); q <- log(x + 3); y ~ dnorm(x, 1)"
    assert wrong(gaps(misread(model, said))) == {"quantities"}


def test_a_quantity_that_differs_is_one_beside_others_that_overflow():
    model = read(f"{OVERFLOWING}; r <- x + 1", {"y": 1.0})
    said = f"{OVERFLOWING}; r <- x + 2"
    assert wrong(gaps(misread(model, said))) == {"quantities"}


def test_a_quantity_that_is_zero_is_one_beside_others_that_underflow():
    text = "x ~ dunif(-2, 2); tiny <- exp(-400); small <- exp(-400 + x); y ~ dnorm(x, 1)"
    model = read(f"{text}; r <- x - x + step(x - 5)", {"y": 1.0})
    said = f"{text}; r <- x - x + step(5 - x)"
    assert wrong(gaps(misread(model, said))) == {"quantities"}
