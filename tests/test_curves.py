"""Pieces that lie one after the other: the one in which a number is, instead of all of them."""

from dataclasses import replace

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import curves
from gibbsppl.code.arrays.curves import FEWEST, searched
from gibbsppl.code.arrays.evaluation import OF_ARRAYS, computed
from gibbsppl.code.arrays.expressions import ZERO, Apply, Element, Number, Position, Size, Span
from gibbsppl.code.arrays.statements import Add, Draw, Let
from gibbsppl.code.arrays.sweeps import Array, Sweep, every
from gibbsppl.runtime.loops.places import last_at_most

COUNT = 3 * FEWEST
SIZES = {"k": COUNT, "g": 2}
K, G = Position("k"), Position("g")
A, L, W = (Element(n, (K,)) for n in "alw")
X, T = Element("x"), Element("t")
ROW, EVERY_K, EVERY_G = Element("y", (G,)), Span.whole("k"), Span.whole("g")
RNG = np.random.default_rng(3)
STARTS = np.cumsum(RNG.gamma(2, size=COUNT + 1))
DATA = {
    "a": STARTS[:-1],
    "l": np.diff(STARTS) * RNG.uniform(0.2, 1, size=COUNT),
    "w": RNG.normal(size=COUNT),
    "b": STARTS,
}
STATE = {"t": np.array(1.3), "y": RNG.uniform(0, STARTS[-1], size=2)}
# Numbers before the first piece, where one begins, inside of pieces and between, beyond the last.
POINTS = [-np.inf, -1e300, 0.0, *STARTS, *(STARTS[:-1] + DATA["l"]), 1.7, 20.0, 1e300, np.inf]


def minus(a, b):
    return Apply("+", (a, Apply("neg", (b,))))


def clipped(rise, length):
    return Apply("minimum", (Apply("maximum", (rise, ZERO)), length))


def piece(x=X):
    return clipped(minus(x, A), L)


def next_of(e):
    return Element(e.array, (Position("k", 1),))


KNOT = Element("b", (K,))
VALUES = {
    "alone": piece(),
    "with slopes": Apply("*", (W, piece())),
    "with weights": Apply("weighted", (W, piece())),
    "with slopes over lengths": Apply("*", (W, Apply("/", (piece(), L)))),
    "times a number of the state": Apply("*", (T, W, piece())),
    "over a number of the state": Apply("/", (Apply("*", (W, piece())), T)),
    "minus": Apply("neg", (Apply("*", (W, piece())),)),
    "the limits in the other order": Apply(
        "maximum", (ZERO, Apply("minimum", (L, minus(X, A))))
    ),
    "between knots": clipped(minus(X, KNOT), minus(next_of(KNOT), KNOT)),
    "a sum as the number": piece(Apply("+", (X, T))),
}


def sweep_of(value, index=(), over=(EVERY_K,), dims=()):
    known = {n: Array(("k",), "data") for n in "alw"}
    known |= {"b": Array(("knots",), "data"), "x": Array((), "state"), "t": Array((), "state")}
    known["y"] = Array(("g",), "state")
    return Sweep("m", known, (Let("s", dims, ZERO), Add("s", index, value, over)))


def sums(sweep, x, data=DATA):
    tables = {n: v for t in sweep.tables for n, v in zip(t.names, t.arguments, strict=True)}
    arrays = {**data, **STATE, **tables, "x": np.array(x)}
    return computed((*sweep.prepare, *sweep.statements), arrays, {**SIZES, **sweep.sizes})["s"]


def searches(sweep):
    return sum(isinstance(s, Draw) for s in every(sweep.statements))


@pytest.mark.parametrize("case", VALUES)
def test_sums_are_the_same(case):
    sweep = sweep_of(VALUES[case])
    done = searched(sweep, DATA, SIZES)
    assert searches(done) == 1
    scale = np.abs(DATA["w"]).sum() * STARTS[-1]
    for x in POINTS:
        np.testing.assert_allclose(sums(done, x), sums(sweep, x), atol=scale * 1e-15, rtol=0)


def test_a_search_that_finds_the_piece_after_is_seen(monkeypatch):
    sweep = sweep_of(VALUES["with slopes"])
    done = searched(sweep, DATA, SIZES)
    late = {**OF_ARRAYS, "last_at_most": lambda a, x: min(last_at_most(a, x) + 1, len(a) - 1)}
    monkeypatch.setattr("gibbsppl.code.arrays.evaluation.OF_ARRAYS", late)
    x = STARTS[5] + DATA["l"][5] / 2
    assert not np.isclose(sums(done, x), sums(sweep, x))


def test_every_row_has_a_search_of_its_own():
    value = Apply("*", (W, piece(ROW)))
    sweep = sweep_of(value, (G,), (EVERY_G, EVERY_K), (EVERY_G,))
    done = searched(sweep, DATA, SIZES)
    assert str(done.statements[1]).startswith("for g:")
    assert "last_at_most([pieces] starts[pieces], y[g])" in str(done.statements[1])
    whole = sums(sweep, 0.0)
    for g in range(2):
        alone = searched(sweep_of(Apply("*", (W, piece()))), DATA, SIZES)
        np.testing.assert_allclose(sums(alone, STATE["y"][g]), whole[g])


def test_equal_pieces_have_the_same_tables():
    sweep = sweep_of(VALUES["with slopes"])
    twice = (*sweep.statements, Let("r", (), ZERO), Add("r", (), VALUES["with slopes"], (EVERY_K,)))
    done = searched(Sweep("m", sweep.arrays, twice), DATA, SIZES)
    assert searches(done) == 2
    assert len(done.tables) == 4


LEFT = {
    "pieces that overlap": ("with slopes", {"l": DATA["l"] * 10}),
    "pieces in another order": ("with slopes", {"a": STARTS[:-1][::-1]}),
    "knots in another order": ("between knots", {"b": STARTS[::-1]}),
    "lengths below zero": ("with slopes", {"l": -DATA["l"]}),
    "slopes that are infinite": ("with weights", {"w": np.where(DATA["a"] > 9, np.inf, 1.0)}),
}


@pytest.mark.parametrize("case", LEFT)
def test_data_that_do_not_lie_one_after_the_other_are_added_up(case):
    value, changed = LEFT[case]
    sweep = sweep_of(VALUES[value])
    assert searched(sweep, {**DATA, **changed}, SIZES) == sweep


OTHERS = {
    "what is passed is no data": clipped(minus(X, A), Apply("*", (T, L))),
    "pieces begin elsewhere for each number": clipped(minus(X, Apply("*", (T, A))), L),
    "a lower limit other than zero": Apply(
        "minimum", (Apply("maximum", (minus(X, A), Number(-1))), L)
    ),
    "no upper limit": Apply("maximum", (minus(X, A), ZERO)),
    "numbers that fall": clipped(minus(A, X), L),
    "a product of two pieces": Apply("*", (piece(), piece(T))),
    "a weight of the state": Apply("weighted", (T, piece())),
    "weights beside what may be infinite": Apply("weighted", (W, Apply("*", (T, piece())))),
    "the number of the piece": Apply("*", (Element("y", (Element("z", (K,)),)), piece())),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_sums_are_left_alone(case):
    known = {**sweep_of(OTHERS[case]).arrays, "z": Array(("k",), "data", "int")}
    sweep = Sweep("m", known, sweep_of(OTHERS[case]).statements)
    data = {**DATA, "z": np.zeros(COUNT, int)}
    assert searched(sweep, data, SIZES) == sweep


def test_spans_within_pieces_are_left_alone():
    inner = Span("g", ZERO, Element("l", (K,)))
    sweep = sweep_of(Apply("*", (W, piece())), over=(EVERY_K, inner))
    assert searched(sweep, DATA, SIZES) == sweep


@pytest.mark.parametrize("made", ["at once", "as a sum"])
def test_what_is_computed_of_data_beforehand_is_known_as_a_whole(made):
    known = Element("known", (K,))
    half = Let("known", (EVERY_K,), Apply("*", (W, Number(0.5))))
    more = Add("known", (K,), W, (EVERY_K,))
    sweep = sweep_of(Apply("*", (known, piece())))
    sweep = replace(sweep, prepare=(half,) if made == "at once" else (half, more))
    done = searched(sweep, DATA, SIZES)
    assert searches(done) == (made == "at once")
    np.testing.assert_allclose(sums(done, 20.0), sums(sweep, 20.0))


def test_few_pieces_are_added_up():
    few = Span("k", ZERO, Number(FEWEST - 1))
    enough = Span("k", Number(1), Apply("+", (Size("k"), Number(-1))))
    value = VALUES["with slopes"]
    assert searched(sweep_of(value, over=(few,)), DATA, SIZES) == sweep_of(value, over=(few,))
    part = sweep_of(value, over=(enough,))
    done = searched(part, DATA, SIZES)
    assert searches(done) == 1
    for x in POINTS:
        scale = np.abs(DATA["w"]).sum() * STARTS[-1]
        np.testing.assert_allclose(sums(done, x), sums(part, x), atol=scale * 1e-15, rtol=0)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 100, 1000])
def test_the_last_number_that_is_passed_is_found(count):
    numbers = np.sort(RNG.integers(0, count, size=count)).astype(float)  # (some are equal)
    for x in (-np.inf, -1.0, *np.arange(0, count, max(1, count // 50)), count + 0.5, np.inf):
        expected = max(np.searchsorted(numbers, x, side="right") - 1, 0)
        assert last_at_most(numbers, x) == expected
    assert last_at_most(numbers, np.nan) == 0


PROGRAM = """model {
  for (i in 1:N) {
    age[i] ~ dunif(0, 100)
    y[i] ~ dnorm(interp.lin(age[i], at[], value[]), 4)
  }
}"""


@pytest.fixture
def curve():
    at = np.cumsum(RNG.gamma(3, size=30))
    at *= 100 / at[-1]
    data = {"N": 5, "at": at, "value": np.cumsum(RNG.normal(size=30)), "y": RNG.normal(size=5)}
    return gp.read_bugs(PROGRAM, data)


@pytest.mark.parametrize("what", ["slope", "length"])
def test_slopes_and_lengths_that_are_sums_of_data_count(what):
    parts = {n: RNG.gamma(2, size=(12, 3)) for n in ("slope", "length")}
    with gp.Model(coords={"k": 12, "j": 3}) as model:
        start = gp.Data("start", 30.0 * np.arange(12), dims="k")
        length = gp.Data("length", parts["length"], dims=("k", "j"))
        slope = gp.Data("slope", parts["slope"], dims=("k", "j"))
        x = gp.Uniform("x", 0, 300)
        whole = {"slope": gp.sum(slope, "j"), "length": gp.sum(length, "j")}
        one = {"slope": slope, "length": length}
        used = {n: whole[n] if n == what else one[n].at("j", 0) for n in whole}
        rise = gp.minimum(gp.maximum(x - start, 0), used["length"])
        gp.Normal("y", gp.sum(used["slope"] * rise, "k"), tau=1, observed=20.0)
    sampler = gp.compile(model)
    (chain, *_), _ = sampler.initial_states(1, 5)
    assert beside(sampler, chain.state, chain.rng).far == []


def test_other_data_have_tables_of_their_own(curve):
    sampler = gp.compile(curve)
    other = gp.compile(curve.with_data({"value": -np.asarray(curve.data["value"])}))
    turned = gp.compile(curve.with_data({"at": np.asarray(curve.data["at"])[::-1]}))
    names = [str(s.loops().sweep_value).count("last_at_most") for s in (sampler, other, turned)]
    assert names == [1, 1, 0]
    for s in (other, turned):
        (chain, *_), _ = s.initial_states(1, 5)
        assert beside(s, chain.state, chain.rng).far == []


def test_a_model_with_a_curve_makes_the_same_draws(curve, monkeypatch):
    found = gp.compile(curve)
    assert "last_at_most" in str(found.loops().sweep_value)
    operations = found.costs().operations
    with monkeypatch.context() as patch:
        patch.setattr(curves, "FEWEST", 1000)
        plain = gp.compile(curve)
        assert "last_at_most" not in str(plain.loops().sweep_value)
        assert plain.costs().operations > operations
        old = plain.sample(20, seed=1, progress=False, backend="compiled")
    new = found.sample(20, seed=1, progress=False, backend="compiled")
    np.testing.assert_allclose(new["age"], old["age"], rtol=1e-9)


def test_sweeps_are_those_in_numpy_which_add_up_all(curve, monkeypatch):
    sampler = gp.compile(curve)
    (chain, *_), _ = sampler.initial_states(1, 5)
    assert beside(sampler, chain.state, chain.rng).far == []

    class Late(curves._Curves):  # planted: what is passed counts the piece itself
        def made(self, starts, lengths, slopes, passed):
            return super().made(starts, lengths, slopes, passed + lengths * slopes)

    monkeypatch.setattr(curves, "_Curves", Late)
    sampler = gp.compile(curve)
    assert beside(sampler, chain.state, chain.rng).far
