"""Data over data, divided beforehand: the same numbers, in fewer operations, digits kept."""

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import divisors
from gibbsppl.code.arrays.divisors import divided_beforehand
from gibbsppl.code.arrays.evaluation import computed
from gibbsppl.code.arrays.expressions import ZERO, Apply, Element, Number, Position, Span
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.arrays.sweeps import Array, Sweep

SIZES = {"i": 7, "j": 3}
I, J = Position("i"), Position("j")
A, B, C = (Element(n, (I,)) for n in "abc")
D, X = Element("d", (J,)), Element("x")
EVERY_I, EVERY_J = Span.whole("i"), Span.whole("j")
RNG = np.random.default_rng(1)
DATA = {
    **{n: RNG.normal(size=7) for n in "abc"},
    "d": RNG.normal(size=3),
    "g": np.array([0, 1, 2, 0, 1, 2, 0]),
    "e": RNG.normal(size=(7, 3)),
}
DIMS = {"a": "i", "b": "i", "c": "i", "d": "j", "g": "i", "e": "ij"}


def over(above, below):
    return Apply("/", (above, below))


def times(*factors):
    return Apply("*", factors)


def minus(a, b):
    return Apply("+", (a, Apply("neg", (b,))))


def sweep_of(value, *spans):
    known = {n: Array(tuple(d), "data", "int" if n == "g" else "float") for n, d in DIMS.items()}
    known["x"] = Array((), "state")
    return Sweep("m", known, (Let("s", (), ZERO), Add("s", (), value, spans or (EVERY_I,))))


def sums(sweep, data=DATA):
    every = (*sweep.prepare, *sweep.statements)
    return float(computed(every, {**data, "x": np.array(1.7)}, SIZES)["s"])


NEXT = Element("c", (Position("i", 1),))
VALUES = {
    "a product": times(X, over(A, C)),
    "what is over": over(times(A, X, B), C),
    "a difference": over(minus(X, A), C),
    "a square": Apply("**", (over(minus(X, A), C), Number(2))),
    "minus": Apply("neg", (over(X, C),)),
    "several": over(over(times(X, A), C), times(B, C)),
    "by the state": over(over(A, C), X),
    "inside": Apply("exp", (over(times(X, A), C),)),
    "a weight": Apply("weighted", (A, over(X, C))),
    "an index": over(X, Element("d", (Element("g", (I,)),))),
}


@pytest.mark.parametrize("case", VALUES)
def test_sums_are_the_same(case):
    sweep = sweep_of(VALUES[case])
    done = divided_beforehand(sweep, DATA, SIZES)
    assert sums(done) == pytest.approx(sums(sweep), rel=1e-13)
    assert len(done.prepare) == 1
    assert "/" not in str(done.statements[1]).replace("/ x", "")


def test_a_difference_is_divided_as_a_whole():
    """A number and data that are nearly equal: apart, the digits of both would be lost."""
    near = {**DATA, "a": 1.7 + 1e-12 * np.arange(7)}
    sweep = sweep_of(over(minus(X, A), C))
    done = divided_beforehand(sweep, near, SIZES)
    assert sums(done, near) == pytest.approx(sums(sweep, near), rel=1e-13)


def test_neighbours_are_read_where_they_are():
    sweep = sweep_of(over(X, NEXT), Span("i", ZERO, Number(6)))
    done = divided_beforehand(sweep, DATA, SIZES)
    assert len(done.prepare) == 1
    assert sums(done) == pytest.approx(sums(sweep), rel=1e-13)


def test_equal_quotients_are_computed_once():
    sweep = sweep_of(Apply("+", (over(times(X, A), C), Apply("exp", (over(times(A, X), C),)))))
    assert len(divided_beforehand(sweep, DATA, SIZES).prepare) == 1


@pytest.mark.parametrize(
    "case",
    {
        "of numbers": over(X, Number(3)),
        "of the state": over(A, X),
        "of data alone": over(A, C),
        "a product of dims": over(X, times(C, D)),
    }.items(),
    ids=lambda case: case[0],
)
def test_what_is_no_gain_stays(case):
    """A product of two dims would be an array larger than either."""
    sweep = sweep_of(case[1], EVERY_I, EVERY_J)
    assert divided_beforehand(sweep, DATA, SIZES) == sweep


@pytest.mark.parametrize("value", [0.0, 1e-309, 5e-324, 1e-300, 1e300, np.inf, np.nan])
@pytest.mark.parametrize("above", [1e-200, 1.0, 1e200, 0.0])
def test_quotients_that_overflow_or_vanish_stay(value, above):
    """Where it is done, each quotient is a number of full length, or 0 since what is above is."""
    data = {**DATA, "a": np.full(7, above), "c": np.array([*DATA["c"][:6], value])}
    sweep = sweep_of(Apply("weighted", (A, over(X, C))))
    done = divided_beforehand(sweep, data, SIZES)
    for found in computed(done.prepare, data, SIZES).values():
        size = np.abs(found[found != 0])
        assert np.isfinite(found).all()
        assert (size >= np.finfo(float).tiny).all()
        assert above == 0 or len(size) == len(found)
    before, after = sums(sweep, data), sums(done, data)
    if np.isfinite(before) or done == sweep:
        assert after == pytest.approx(before, rel=1e-13, nan_ok=True)


def test_what_is_divided_by_nothing_stays():
    """The quotients are no numbers, nor are those of ones, whatever is summed."""
    data = {**DATA, "c": np.zeros(7)}
    for value in (over(X, C), over(times(A, X), C), Apply("weighted", (A, over(X, C)))):
        assert divided_beforehand(sweep_of(value), data, SIZES) == sweep_of(value)


def test_zeros_on_the_way_are_seen():
    """A product of factors that vanishes, though none of them is 0."""
    data = {**DATA, "a": np.full(7, 1e-200), "b": np.full(7, 1e-200), "c": np.full(7, 1e-200)}
    sweep = sweep_of(over(times(A, B, X), C))
    assert divided_beforehand(sweep, data, SIZES) == sweep


CURVE = """
model {
  for (i in 1:4) {
    place[i] ~ dunif(0, 100)
    for (k in 1:K) {
      rise[i, k] <- high[k] * max(0, place[i] - at[k]) / width[k]
    }
    seen[i] ~ dnorm(sum(rise[i, ]), 1)
  }
}
"""


def curve(count=140):
    """Positions by a curve of data, of lines that begin at knots, each over a width."""
    rng = np.random.default_rng(3)
    at, high = np.cumsum(rng.uniform(0.5, 1.5, count)), rng.normal(size=count)
    data = {"at": at, "high": high, "width": rng.uniform(2, 9, count), "K": count}
    return gp.read_bugs(CURVE, {**data, "seen": rng.normal(size=4)})


def state_of(sampler):
    (chain,), _ = sampler.initial_states(1, 5)
    return chain.state, chain.rng


def test_a_curve_of_lines_is_added_up_without_divisions():
    sampler = gp.compile(curve())
    program = sampler.loops()
    assert "_divided" in program.module.text
    assert beside(sampler, *state_of(sampler), program).far == []


def test_fewer_operations_are_counted(monkeypatch):
    now = gp.compile(curve()).costs().steps[0].operations
    monkeypatch.setattr("gibbsppl.code.loop_program.divided_beforehand", lambda s, *_: s)
    assert now < 0.75 * gp.compile(curve()).costs().steps[0].operations


def test_what_is_divided_by_something_else_is_seen(monkeypatch):
    """Planted: the product in place of the quotient."""

    class Turned(divisors.Quotient):
        @property
        def value(self):
            return times(*self.above, *self.below)

    monkeypatch.setattr(divisors, "Quotient", Turned)
    sampler = gp.compile(curve())
    assert beside(sampler, *state_of(sampler)).far
