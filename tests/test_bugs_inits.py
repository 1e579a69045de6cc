"""Initial values of BUGS: for the model's own arrays, whatever form they have there."""

import numpy as np
import pytest

import gibbsppl as gp
from models.bugs import CASES, MORE

RAGGED = """
model {
  for (i in 1:N) {
    for (j in 1:n[i]) { b[i, j] ~ dnorm(m, 1); y[i, j] ~ dnorm(b[i, j], 1) }
  }
  m ~ dnorm(0, 0.1)
}
"""
RAGGED_DATA = {
    "N": 2,
    "n": [2, 1],
    "y": np.ma.masked_invalid([[0.1, 0.2], [0.3, np.nan]]),
}
CORNER = """
model {
  for (k in 2:3) { a[k] ~ dnorm(0, 1) }
  a[1] <- -sum(a[2:3])
  for (i in 1:3) { y[i] ~ dnorm(a[i], 1) }
}
"""
PARTLY = "model { for (i in 1:3) { x[i] ~ dnorm(0, 1); y[i] ~ dnorm(x[i], 1) } }"


def corner():
    return gp.read_bugs(CORNER, {"y": [1.0, 2.0, 3.0]})


def partly():
    x = np.ma.masked_invalid([0.5, np.nan, np.nan])
    return gp.read_bugs(PARTLY, {"x": x, "y": [1.0, 2.0, 3.0]})


# Some of each kind of array; the others are slow tests.
QUICK = ("rats_1", "eyes_1", "asia_2", "birats_2", "hearts", "biops", "magnesium")
EVERY = [*CASES, *MORE]


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in EVERY]
)
def test_chains_of_the_examples_start_where_their_initial_values_say(name):
    case = {**CASES, **MORE}[name]
    model = gp.read_bugs(case.model, case.data)
    inits = gp.read_inits(case.inits, model)
    (start,), notes = gp.compile(model).initial_states(1, seed=1, init=inits)

    assert inits or name.startswith("asia")
    for own, values in inits.items():
        asked = ~np.isnan(values)
        np.testing.assert_allclose(np.asarray(start.state[own])[asked], values[asked])
        assert notes[own] == "given"


def test_rows_of_a_table_are_found():
    model = gp.read_bugs(RAGGED, RAGGED_DATA)
    found = gp.read_inits("b <- structure(c(1, 2, 3, NA), .Dim = c(2, 2))  m <- 4", model)

    quantity = next(d for d in model.graph.deterministics if d.name == "b")
    assert found["m"] == 4
    assert sorted(found["b.table"]) == [1, 2, 3]
    (start,), _ = gp.compile(model).initial_states(1, seed=1, init=found)
    drawn = gp.compile(model).program.deterministics(start.state, gp.compile(model).constants)
    assert str(quantity.value)
    np.testing.assert_array_equal(drawn["b"], [[1, 3], [2, np.nan]])


def test_elements_that_are_computed_have_no_initial_value():
    assert gp.read_inits("a <- c(NA, 5, 6)", corner())["a.free"][1:].tolist() == [5, 6]
    with pytest.raises(gp.BugsError, match=r"a\[1\]: found an initial value of an element that is"):
        gp.read_inits("a <- c(-11, 5, 6)", corner())


def test_vectors_that_fill_a_part_of_an_axis_are_arrays_of_their_own():
    text = """
    model {
      b[1:2] ~ dmnorm(m[], P[,])
      b[3] ~ dgamma(2, 1)
      for (i in 1:4) { y[i] ~ dnorm(b[1] + b[2] * x[i], b[3]) }
    }
    """
    data = {"m": [0, 0], "P": [[1, 0.2], [0.2, 1]], "x": [0.1, 0.4, 0.2, 1], "y": [1, 2, 3, 4]}
    model = gp.read_bugs(text, data)
    sampler = gp.compile(model)
    inits = gp.read_inits("b <- c(0.1, NA, 3)", model)

    assert sampler.verify().proved
    assert not sampler.schedule.fallbacks
    np.testing.assert_array_equal(inits["b.part"], [0.1, np.nan])
    assert inits["b.free"][2] == 3
    draws = sampler.sample(20, seed=1, init=inits, progress=False)
    np.testing.assert_array_equal(draws["b"][..., :2], draws["b.part"])
    np.testing.assert_array_equal(draws["b"][..., 2], draws["b.free"][..., 2])


def test_what_is_not_given_is_drawn():
    model = partly()
    sampler = gp.compile(model)
    inits = gp.read_inits("x <- c(NA, 7, NA)", model)
    starts = [c.state["x"] for c in sampler.initial_states(3, seed=1, init=inits)[0]]

    assert [x[:2].tolist() for x in starts] == [[0.5, 7.0]] * 3
    assert len({x[2] for x in starts}) == 3
    again = [c.state["x"] for c in sampler.initial_states(3, seed=1, init=[inits, {}, {}])[0]]
    assert again[0][1] == 7
    assert again[1][1] != 7


def test_masked_values_are_values_to_be_drawn():
    sampler = gp.compile(partly())
    init = {"x": np.ma.masked_equal([9.0, 7.0, 9.0], 9.0)}
    (start,), _ = sampler.initial_states(1, seed=1, init=init)
    assert start.state["x"][:2].tolist() == [0.5, 7.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y <- c(1, 2, 3)", "y: found initial values of what the data say; leave them out"),
        ("z <- 1", r"z: found initial values, but only x are drawn"),
        ("X <- c(1, 2, 3)", r"only x are drawn\. Did you mean 'x'\?"),
        ("x <- c(1, 2)", r"x: found initial values of shape \(2,\), expected \(3,\)"),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(gp.BugsError, match=message):
        gp.read_inits(text, partly())


def test_quantities_take_none():
    model = gp.read_bugs("model { s <- 1 / sqrt(t); t ~ dgamma(1, 1); y ~ dnorm(0, t) }", {"y": 1})
    with pytest.raises(
        gp.BugsError, match="s: found initial values of a quantity that is computed"
    ):
        gp.read_inits({"s": 2.0}, model)


def test_another_value_than_the_data_is_refused():
    inits = gp.read_inits("x <- c(1, 7, NA)", partly())
    with pytest.raises(gp.RunError, match="x differs from the data where it is observed"):
        gp.compile(partly()).initial_states(1, init=inits)


def test_one_set_for_each_chain():
    sampler = gp.compile(partly())
    with pytest.raises(gp.RunError, match="found 2 sets of initial values, expected one mapping"):
        sampler.sample(10, chains=3, init=[{}, {}], progress=False)
