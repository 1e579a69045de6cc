"""Limits that factors put on a variable: solved against brute force, gathered against loops."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from scipy import stats

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.functions import AtMost, Below, Equals, Maximum
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive import matching
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import evaluate
from gibbsppl.pieces import limits
from gibbsppl.pieces.limits import is_at_least, limits_of, made_whole, solved
from gibbsppl.pieces.split import split

# Three comparisons in this file.
LEVEL = 1e-4 / 3

X, XP = Array("x")[()], Array("x", positive=True)[()]
Y, A = Array("y")[()], Array("a")[()]
P = Array("p", positive=True)[()]
I, T = Dim("i"), Dim("t")

# ---- one inequality --------------------------------------------------------------------------

SOLVABLE = {
    "above": (AtMost(Y, X), X),
    "below": (AtMost(X, Y), X),
    "strictly above": (Below(Y, X), X),
    "strictly below": (Below(X, Y), X),
    "twice": (AtMost(Y, 2 * X), X),
    "minus three times": (AtMost(Y, -3 * X), X),
    "less than a difference": (AtMost(Y, A - X), X),
    "a sum": (AtMost(X + A, Y), X),
    "a sum with a multiple": (AtMost(A - 2 * X + 1, Y), X),
    "a positive multiple": (AtMost(P * X, Y), X),
    "a negative multiple": (AtMost(-P * X, Y), X),
    "a part": (AtMost(Y, X / P), X),
    "a log below": (AtMost(sp.log(XP), Y), XP),
    "a log above": (AtMost(Y, sp.log(XP)), XP),
    "a log of a multiple": (AtMost(Y, -sp.log(3 * XP + 1)), XP),
    "an exponential above": (AtMost(Y, sp.exp(X)), X),
    "an exponential below": (AtMost(sp.exp(X), Y), X),
    "an exponential of minus": (AtMost(Y, sp.exp(-X)), X),
    "a square above": (AtMost(Y, XP**2), XP),
    "a square below": (AtMost(XP**2, Y), XP),
    "a root": (AtMost(sp.sqrt(XP), Y), XP),
    "a reciprocal above": (AtMost(Y, 1 / XP), XP),
    "a reciprocal below": (AtMost(1 / XP, Y), XP),
    "a reciprocal of a square": (AtMost(XP**-2, Y), XP),
    "a multiple of a root": (AtMost(Y, A - P / sp.sqrt(XP)), XP),
    "a power of a sum": (AtMost((XP + 1) ** 3, Y), XP),
    "a power of an exponential": (AtMost(sp.exp(X) ** 2 + A, Y), X),
}


def disagreements(name):
    """At how many random points the inequality and its solution differ."""
    indicator, leaf = SOLVABLE[name]
    side, bound = solved(indicator, leaf)
    rng, found = np.random.default_rng(5), 0
    for _ in range(200):
        x = rng.exponential() if leaf.is_positive else rng.normal()
        v = {"y": 2 * rng.normal(), "a": rng.normal(), "p": rng.exponential(), "x": x}
        with np.errstate(all="ignore"):
            end = evaluate(bound, (), v, {})
        inside = x >= end if side == "lower" else x <= end
        found += bool(inside) != bool(evaluate(indicator, (), v, {}))
    return found


@pytest.mark.parametrize("name", SOLVABLE)
def test_an_inequality_is_solved_for_the_variable(name):
    assert disagreements(name) == 0


def test_a_side_that_is_not_turned_round_is_seen(monkeypatch):
    monkeypatch.setattr(limits, "_OTHER", {"lower": "lower", "upper": "upper"})
    turned = {n for n in SOLVABLE if disagreements(n)}

    assert turned >= {"minus three times", "a reciprocal above", "an exponential of minus"}
    assert "twice" not in turned


def test_inequalities_that_are_not_of_one_variable_alone():
    """None is solved: no side, both sides, more than one place, an unknown sign or direction."""
    unsolvable = (
        AtMost(Y, A), AtMost(X, 2 * X + Y), AtMost(Y, X + sp.exp(X)), AtMost(Y, A * X),
        AtMost(Y, X**2), AtMost(Y, X**3), AtMost(Y, sp.cos(X)), AtMost(Y, sp.Abs(X)),
        AtMost(Y, Maximum(X, A)), AtMost(Y, P**X), AtMost(Y, XP**A), Equals(X, Y), X, AtMost(Y, 0),
    )  # fmt: skip

    assert [solved(of, leaf) for of in unsolvable for leaf in (X, XP) if of.has(leaf)] == [
        None for of in unsolvable for leaf in (X, XP) if of.has(leaf)
    ]
    assert solved(AtMost(Y, A), X) is None


# ---- pieces ----------------------------------------------------------------------------------

TWO_SIDED = {
    "a square": AtMost(X**2, Y),
    "a strict square": Below(X**2 + A**2 - 1, 0),
    "a multiple of a square": AtMost(A + 3 * X**2, Y),
    "a square of a difference": AtMost((X - A) ** 2, P),
    "a square of a multiple": Below((1 - 2 * X) ** 2, P),
    "an absolute value": AtMost(sp.Abs(X - Y), P),
    "below minus a square": AtMost(-Y, -(X**2)),
    "an exponential of a square": AtMost(sp.exp(X**2), Y),
}


@pytest.mark.parametrize("name", TWO_SIDED)
def test_a_bound_of_a_square_or_an_absolute_value_is_two_bounds(name):
    indicator = TWO_SIDED[name]
    found, rest = limits_in(sp.log(indicator), {"x"})
    ends = {f.side: f.value for f in found}
    rng, wrong, inside = np.random.default_rng(5), 0, 0
    for _ in range(400):
        v = {"y": 2 * rng.normal(), "a": rng.normal(), "p": rng.exponential(), "x": rng.normal()}
        # (a bound of none that are possible is no bound)
        possible = evaluate(indicator, (), v, {})
        low, high = (evaluate(ends[s], (), v, {}) for s in ("lower", "upper"))
        inside += bool(possible)
        wrong += bool(possible) != bool(low < v["x"] < high)

    assert not rest
    assert wrong == 0
    assert inside >= 20


def test_what_is_above_a_square_has_no_bounds():
    for indicator in (AtMost(Y, X**2), AtMost(X**2 + X, Y), AtMost(Y, sp.Abs(X)), AtMost(X**4, Y)):
        found, rest = limits_in(sp.log(indicator), {"x"})
        assert (found, len(rest)) == ((), 1)


@pytest.mark.parametrize(
    ("of", "found"),
    [
        (lambda x: x**2 <= 9, [0, 1, 2, 3]),
        (lambda x: x**2 < 9, [0, 1, 2]),
        (lambda x: (x - 4) ** 2 < 4, [3, 4, 5]),
        (lambda x: gp.abs(x - 4) <= 2, [2, 3, 4, 5, 6]),
        (lambda x: (0.1 * x - 0.3) ** 2 <= 0.04, None),
        (lambda x: gp.abs(x - 4.3) <= 0.7, None),
        (lambda x: (x - 4.3) ** 2 <= 0.49, None),
    ],
)
def test_whole_numbers_between_bounds_of_a_square_are_those_of_the_density(of, found):
    """Where a number is rounded, the density as computed decides: there are no bounds then."""
    with gp.Model() as model:
        x = gp.Poisson("x", 4)
        gp.Potential("near", gp.log(of(x)))
    sampler = gp.compile(model)
    draws = sampler.sample(2000, warmup=10, chains=2, seed=1, progress=False)
    possible = [k for k in range(30) if np.isfinite(log_joint(model.graph, {"x": np.array(k)}))]

    assert sampler.verify().passed
    assert np.unique(draws["x"]).tolist() == possible
    assert found in (None, possible)


def test_a_point_of_a_disc_is_drawn_between_bounds():
    with gp.Model() as model:
        x, y = gp.Uniform("x", -1, 1), gp.Uniform("y", -1, 1)
        gp.Potential("disc", gp.log(x**2 + y**2 <= 1))
    sampler = gp.compile(model)
    draws = sampler.sample(2000, chains=4, seed=1, progress=False)

    assert not sampler.schedule.fallbacks
    assert sampler.verify().proved
    # (the squared distance from the centre is uniform)
    distances = draws["x"] ** 2 + draws["y"] ** 2
    assert stats.kstest(distances[:, ::20].ravel(), "uniform").pvalue > LEVEL


def limits_in(density, targets, *over):
    return limits_of(split("f", density, over, set(targets), {r.dim: len(r) for r in over}))


def test_bounds_are_parted_from_other_pieces():
    density = sp.log(AtMost(Y, XP)) + sp.log(AtMost(XP, P)) - 3 * XP
    found, rest = limits_in(density, {"x"})

    assert {str(f) for f in found} == {"f: x >= y", "f: x <= p"}
    assert [str(p) for p in rest] == ["f: x * (-3)"]


def test_neighbours_are_bounds_of_each_other():
    x = Array("x")
    found, rest = limits_in(sp.log(AtMost(x[T - 1], x[T])), {"x"}, Range(T, 1, 4))

    assert {str(f) for f in found} == {"f: x[t] >= x[t - 1]", "f: x[t - 1] <= x[t]"}
    assert not rest


@pytest.mark.parametrize(
    "density",
    [
        sp.log(AtMost(Y, X * A)),
        Y * sp.log(AtMost(Y, X)),
        sp.log(AtMost(Y, sp.cos(X))),
        sp.log(Equals(Y, X)),
    ],
    ids=str,
)
def test_what_cannot_be_solved_stays_a_piece(density):
    """A coefficient of unknown sign may be zero, where there is no bound."""
    found, rest = limits_in(density, {"x"})

    assert (found, len(rest)) == ((), 1)


# ---- what follows from supports --------------------------------------------------------------


def ordered():
    with gp.Model(coords={"i": 3}) as m:
        most = gp.Poisson("most", rate=3.0)
        low = gp.Uniform("low", 1, 2)
        high = gp.Uniform("high", low, 5)
        gp.Binomial("n", most, 0.4, dims="i")
        gp.Normal("free", high, tau=1)
    return m.graph


def test_what_is_at_least_as_large_by_its_support():
    graph = ordered()
    leaf = {n: graph.statement(n).target for n in ("most", "low", "high", "n", "free")}
    low, high, most, n = (leaf[k] for k in ("low", "high", "most", "n"))
    yes = [
        (high, low), (low, sp.Integer(1)), (high, sp.Integer(1)), (sp.Integer(5), high),
        (sp.Integer(5), low), (most, n), (most, sp.S.Zero), (n, sp.S.Zero), (2 * high, low),
        (most + 1, n), (low, low), (3 - low, sp.Integer(1)),
    ]  # fmt: skip
    no = [
        (low, high), (low, sp.Integer(2)), (n, most), (sp.Integer(4), high), (leaf["free"], low),
        (high, leaf["free"]), (n, sp.Integer(1)), (most, low), (high**2, low**2 + 9),
    ]  # fmt: skip

    assert [pair for pair in yes if not is_at_least(*pair, graph)] == []
    assert [pair for pair in no if is_at_least(*pair, graph)] == []


# ---- generated bounds against loops ----------------------------------------------------------

GROUP = np.array([0, 0, 2, 2, 2, 4])
SEEN = np.array([0.3, 1.2, 0.7, 2.1, 0.4, 0.9])


def bounds_at(model, name, seed=7):
    """The bounds that a step computes at a start, with all values at it; the check passes."""
    sampler = gp.compile(model)
    (step,) = (s for s in sampler.schedule.steps if s.statement.name == name)
    state, _ = initial_state(np.random.default_rng(seed), sampler.graph, sampler.data)
    given = sampler.program.given_rest[name](dict(state), sampler.constants)

    assert sampler.verify().proved
    assert step.bounds
    return *given[-2:], {**sampler.data, **state}


def by_group(prior, child):
    with gp.Model(coords={"g": 5}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        child(prior(), group)
    return m


def test_the_largest_of_each_group_against_a_loop():
    model = by_group(
        lambda: gp.Pareto("theta", 2, minimum=0.5, dims="g"),
        lambda theta, g: gp.Uniform("y", 0, theta[g], dims="i", observed=SEEN),
    )
    lower, upper, _ = bounds_at(model, "theta")
    expected = np.full(5, 0.5)
    for g, y in zip(GROUP, SEEN, strict=True):
        expected[g] = max(expected[g], y)

    np.testing.assert_array_equal(lower, expected)
    assert np.all(np.isposinf(upper))


def test_the_smallest_of_each_group_against_a_loop():
    """Groups without data have no bound but their own."""
    model = by_group(
        lambda: gp.Gamma("low", 2, rate=1, dims="g"),
        lambda low, g: gp.Pareto("y", 3, minimum=low[g], dims="i", observed=SEEN),
    )
    lower, upper, _ = bounds_at(model, "low")
    expected = np.full(5, np.inf)
    for g, y in zip(GROUP, SEEN, strict=True):
        expected[g] = min(expected[g], y)

    np.testing.assert_array_equal(np.broadcast_to(upper, 5), expected)
    assert np.all(np.asarray(lower) == 0)


def test_both_sides_by_two_factors():
    with gp.Model(coords={"g": 5, "j": 3}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        other = gp.Index("other", [0, 3, 3], of="g", dims="j")
        x = gp.Normal("x", 1, tau=1, dims="g")
        ceiling = gp.Data("ceiling", [4.0, 3.0, 2.5], dims="j")
        gp.Potential("above", gp.log(1 - x[other] >= 1 - ceiling))
        gp.Potential("below", gp.log(gp.Data("floor", SEEN - 3, dims="i") <= 2 * x[group]))
    lower, upper, _ = bounds_at(m, "x")
    lows, highs = np.full(5, -np.inf), np.full(5, np.inf)
    for g, floor in zip(GROUP, SEEN - 3, strict=True):
        lows[g] = max(lows[g], floor / 2)
    for g, value in zip([0, 3, 3], [4.0, 3.0, 2.5], strict=True):
        highs[g] = min(highs[g], value)

    np.testing.assert_allclose(np.broadcast_to(lower, 5), lows, rtol=1e-15)
    np.testing.assert_array_equal(np.broadcast_to(upper, 5), highs)


def test_a_decreasing_change_turns_the_bounds_round():
    """The precision of an sd that is above all values is below all their inverse squares."""
    with gp.Model(coords={"g": 5}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        sd = gp.Uniform("sd", 0, 10, dims="g")
        gp.Normal("e", 0, sigma=sd[group], dims="i", observed=SEEN - 1)
        gp.Uniform("y", 0, sd[group], dims="i", observed=SEEN)
    lower, upper, _ = bounds_at(m, "sd")
    highs = np.full(5, np.inf)
    for g, y in zip(GROUP, SEEN, strict=True):
        highs[g] = min(highs[g], y**-2)

    np.testing.assert_allclose(np.broadcast_to(upper, 5), highs, rtol=1e-15)
    np.testing.assert_allclose(np.broadcast_to(lower, 5), 0.01, rtol=1e-15)


def test_a_bound_of_latent_children():
    with gp.Model(coords={"g": 5}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        theta = gp.Pareto("theta", 2, minimum=0.5, dims="g")
        x = gp.Uniform("x", 0, theta[group], dims="i")
        gp.Normal("y", x, tau=4, dims="i", observed=SEEN)
    lower, _, v = bounds_at(m, "theta")
    expected = np.full(5, 0.5)
    for g, x in zip(GROUP, v["x"], strict=True):
        expected[g] = max(expected[g], x)
    _, upper, v = bounds_at(m, "x")

    np.testing.assert_array_equal(lower, expected)
    np.testing.assert_array_equal(np.broadcast_to(upper, 6), v["theta"][GROUP])


def test_a_group_without_data_has_no_bound_on_another_scale():
    """The values of the first group are between x and 9; of the second there are none."""
    with gp.Model(coords={"g": 2}) as m:
        group = gp.Index("group", [0], of="g", dims="i")
        x = gp.Normal("x", gp.Data("mu", [0.0, 20.0], dims="g"), tau=1, dims="g")
        gp.Uniform("y", x[group], 9, dims="i", observed=[4.0])
    draws = gp.compile(m).sample(2000, chains=1, warmup=0, seed=3, progress=False)["x"][0, :, 1]

    assert stats.kstest(draws, stats.norm(20).cdf).pvalue > LEVEL


def test_bounds_over_two_dims_against_a_loop():
    seen = np.array([[0.3, 1.2, 0.7], [2.1, 0.4, 0.9]])
    with gp.Model(coords={"i": 2, "j": 3}) as m:
        theta = gp.Pareto("theta", 2, minimum=0.5, dims="j")
        gp.Uniform("y", 0, theta, dims=("i", "j"), observed=seen)
    lower, _, _ = bounds_at(m, "theta")

    np.testing.assert_array_equal(lower, [max(0.5, *column) for column in seen.T])


PLACES = np.array([3, 1, 3, 1, 0])
GATHERED = {
    "of all rows": ("j", lambda x: x, lambda i: ()),
    "of each row": (("i", "j"), lambda x: x, lambda i: (i,)),
    "of one row": (("i", "j"), lambda x: x.at("i", 2), lambda i: (2,)),
}


@pytest.mark.parametrize("is_latent", [False, True], ids=["seen", "latent"])
@pytest.mark.parametrize(("own", "read", "row"), GATHERED.values(), ids=GATHERED)
def test_gathered_bounds_of_what_has_more_axes_than_the_index_against_a_loop(
    own, read, row, is_latent
):
    seen = np.random.default_rng(4).uniform(0.1, 0.9, (3, 5))
    with gp.Model(coords={"i": 3, "j": 4, "k": 5}) as m:
        theta = gp.Pareto("theta", 2, minimum=0.05, dims=own)
        place = gp.Index("place", PLACES, of="j", dims="k")
        y = gp.Array("y", dims=("i", "k"), observed=None if is_latent else seen)
        y[0, :] = gp.Normal(0, sigma=1)
        y[1:, :] = gp.Uniform(lower=0, upper=read(theta).at("j", place))
        if is_latent:
            gp.Normal("z", y, sigma=1, dims=("i", "k"), observed=seen)
    lower, _, v = bounds_at(m, "theta")
    expected = np.full(v["theta"].shape, 0.05)
    for i, k in itertools.product((1, 2), range(5)):
        at = (*row(i), PLACES[k])
        expected[at] = max(expected[at], v["y"][i, k])

    np.testing.assert_array_equal(np.broadcast_to(lower, expected.shape), expected)


OF_ONE = {
    "a product": (gp.HalfNormal, lambda x, other, y: y <= x * other, np.sqrt),
    "a sum": (gp.HalfNormal, lambda x, other, y: y <= x + other, lambda y: y / 2),
    "a difference": (gp.Normal, lambda x, other, y: x - 2 * other <= y, lambda y: -y),
    "a ratio": (gp.HalfNormal, lambda x, other, y: x / other <= y + 2, np.zeros_like),
    "an order": (gp.Normal, lambda x, other, y: x <= other + y, lambda y: np.full_like(y, -np.inf)),
}


@pytest.mark.parametrize(("prior", "inequality", "least"), OF_ONE.values(), ids=OF_ONE)
def test_bounds_by_two_elements_of_which_some_are_one_and_the_same(prior, inequality, least):
    """What is read by a position that is 0 for some rows is the first element there itself."""
    with gp.Model(coords={"g": 5}) as m:
        mean = {"mu": 0} if prior is gp.Normal else {}
        x = prior("x", sigma=2.0, dims="g", **mean)
        group = gp.Index("group", GROUP, of="g", dims="i")
        y = gp.Data("y", SEEN, dims="i")
        gp.Potential("bound", gp.log(inequality(x[group], x[0], y)))
        gp.Normal("z", x, sigma=1, dims="g", observed=[2.5, 2.1, 2.2, 2.4, 2.3])
    lower, _, v = bounds_at(m, "x")

    assert v["x"][0] >= lower[0]
    assert lower[0] >= least(SEEN[GROUP == 0]).max()


def test_a_bound_that_cannot_be_solved_where_two_elements_are_one_stays_a_piece():
    x, place = Array("x", positive=True), Array("place")
    density = sp.log(AtMost(Y, sp.exp(x[place[I]]) * x[0]))
    found, rest = limits_in(density, {"x"}, Range(I, 0, 3))

    assert (found, len(rest)) == ((), 1)


# ---- limits of whole numbers -----------------------------------------------------------------


COUNTED = {
    "at least": (lambda x, y: y <= x, 2, np.inf),
    "more than": (lambda x, y: y < x, 3, np.inf),
    "at most": (lambda x, y: x <= y, 0, 2),
    "fewer than": (lambda x, y: x < y, 0, 1),
    "above a fraction": (lambda x, y: x + 0 * y > 2.5, 3, np.inf),
    "below a fraction": (lambda x, y: x + 0 * y <= 3.5, 0, 3),
    "of some alone": (lambda x, y: gp.where(gp.Data("told", 1), y <= x, 1), 2, np.inf),
}


def values_drawn(model, name, start):
    """The values that a short run takes, each of positive density."""
    draws = gp.compile(model).sample(
        500, chains=1, warmup=20, seed=2, init={name: start}, progress=False
    )
    found = np.unique(draws[name])

    assert all(np.isfinite(log_joint(model.graph, {**model.data, name: v})) for v in found)
    return found


@pytest.mark.parametrize("name", COUNTED)
def test_counts_between_bounds(name):
    """Whole numbers: more than 2 is at least 3; they are drawn exactly."""
    inequality, least, most = COUNTED[name]
    with gp.Model() as m:
        x = gp.Poisson("x", rate=3.0)
        gp.Potential("bound", gp.log(inequality(x, gp.Data("y", 2))))
    values = values_drawn(m, "x", least)

    assert not gp.compile(m).schedule.fallbacks
    assert gp.compile(m).verify().proved
    assert values.min() == least
    assert values.max() == most if np.isfinite(most) else values.max() > 5


# Bounds of which nothing says that they are whole numbers.
BETWEEN = {
    "a half": (lambda x, y: y / 2 + 0.5 < x, 2),
    "twice": (lambda x, y: y + 1 < 2 * x, 2),
    "an exponential": (lambda x, y: x > gp.exp(y / 2), 3),
    "a log": (lambda x, y: gp.log(y) <= x, 1),
    "no number of two": (lambda x, y: x + 0 * y > np.pi, 4),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_counts_beyond_a_bound_that_may_be_no_whole_number(name):
    inequality, least = BETWEEN[name]
    with gp.Model() as m:
        x = gp.Poisson("x", rate=3.0)
        gp.Potential("bound", gp.log(inequality(x, gp.Data("y", 2))))
    values = values_drawn(m, "x", 5)

    assert values.min() == least
    assert (values == np.rint(values)).all()


def test_a_strict_bound_of_counts_taken_for_another_is_seen(monkeypatch):
    def as_it_was(limit, graph):
        return replace(made_whole(limit, graph), value=limit.value)

    monkeypatch.setattr(matching, "made_whole", as_it_was)
    with pytest.raises(AssertionError):
        test_counts_between_bounds("more than")


def test_counts_above_a_bound_that_is_part_of_them():
    with gp.Model() as m:
        x = gp.Poisson("x", rate=3.0)
        y = gp.Binomial("y", x, 0.4, observed=2)
        gp.Potential("bound", gp.log(y < x))

    assert values_drawn(m, "x", 4).min() == 3


def test_minima_and_maxima_in_supports_are_bounds_each():
    """Of two surveys of one population the larger is what binds."""
    with gp.Model() as m:
        total = gp.Poisson("total", rate=9.0)
        gp.Binomial("first", total, 0.4, observed=3)
        gp.Binomial("second", total, 0.7, observed=6)
    sampler = gp.compile(m)
    draws = np.ravel(sampler.sample(300, chains=1, warmup=50, seed=2, progress=False)["total"])

    assert sampler.verify().proved
    assert draws.min() >= 6


def test_draws_between_limits_follow_the_truncated_distribution():
    """A mean above all of its values: of a normal, what is above the largest."""
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, tau=1)
        gp.Potential("above", gp.log(gp.Data("y", SEEN, dims="i") <= mu))
    draws = np.ravel(gp.compile(m).sample(2000, chains=1, warmup=0, seed=3, progress=False)["mu"])

    assert stats.kstest(draws, stats.truncnorm(SEEN.max(), np.inf).cdf).pvalue > LEVEL


def test_counts_between_a_thinned_count_and_a_ceiling_keep_both():
    """What is left of the counts has a bound that its family has not."""
    with gp.Model() as m:
        n = gp.Poisson("n", rate=8.0)
        gp.Binomial("y", n, 0.5, observed=3)
        gp.Constraint("ceiling", n <= 10)
    sampler = gp.compile(m)
    draws = sampler.sample(500, chains=1, warmup=5, seed=3, progress=False)["n"]

    assert sampler.verify().proved
    assert draws.min() >= 3
    assert draws.max() <= 10


TOTALS = {
    "of one": {"dims": ()},
    "of each": {"dims": "k"},
}


@pytest.mark.parametrize("own", TOTALS.values(), ids=TOTALS)
@pytest.mark.parametrize("prior", ["labels", "whole numbers"])
def test_counts_tell_what_their_total_is(own, prior):
    with gp.Model(coords={"k": 3, "i": 2}) as model:
        is_finite = prior == "labels"
        n = gp.Binomial("n", n=6, p=0.5, **own) if is_finite else gp.Poisson("n", rate=3.0, **own)
        p = gp.Data("p", [0.3, 0.7], dims="i")
        gp.Multinomial("y", n=n, p=p, dims=("k", "i"), event="i", observed=[[1, 2]] * 3)
    sampler = gp.compile(model)

    assert sampler.verify().proved
    assert (sampler.sample(draws=3, warmup=2, chains=1, seed=1)["n"] == 3).all()


@pytest.mark.filterwarnings("error")
def test_a_bound_that_is_none_is_computed_without_a_warning():
    with gp.Model(coords={"i": 2}) as model:
        width = gp.Gamma("width", 2, rate=1)
        s = gp.HalfNormal("s", sigma=1)
        x = gp.Normal("x", 0, sigma=s)
        gp.Poisson("count", gp.exp(x), observed=1)
        gp.Uniform("seen", -s, s, dims="i", observed=[0.2, 0.1])
        gp.Uniform("scaled", -s * width, s * width, dims="i", observed=[0.2, 0.1])
    sampler = gp.compile(model)
    sampler.sample(3, chains=1, warmup=3, seed=1, progress=False)

    assert "reciprocal" in sampler.source
    assert sampler.verify().proved
