"""Posteriors that are improper and data that are impossible: each a named error before the run."""

import itertools
import re
import time

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import CompileError, GibbspplError, ModelError, RunError
from gibbsppl.initial import recession, separation
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint

# Scores of four rows; in the order of the rows outcomes are separated.
X = np.array([[1.0, -2.0], [1.0, -1.0], [1.0, 1.0], [1.0, 3.0]])
# The second column is seen in the last row alone.
DUMMY = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
TWICE = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [1.0, 2.0]])
SEPARATED, MIXED, ONES, ZEROS = [0, 0, 1, 1], [0, 1, 0, 1], [1] * 4, [0] * 4

SIZES = {"i": 4, "k": 2, "level": 3}


def data(name, values, dims="i"):
    return gp.Data(name, values, dims=dims)


def flat(name, dims):
    return gp.Flat(name, dims=dims)


def half_flat(name, dims):
    return gp.HalfFlat(name, dims=dims)


def weak(name, dims):
    return gp.Normal(name, 0, sigma=1, dims=dims)


def logit(y, eta):
    gp.Bernoulli("y", logit_p=eta, dims="i", observed=y)


def probit(y, eta):
    gp.Bernoulli("y", gp.Phi(eta), dims="i", observed=y)


def cloglog(y, eta):
    gp.Bernoulli("y", 1 - gp.exp(-gp.exp(eta)), dims="i", observed=y)


def trials(y, eta):
    gp.Binomial("y", 5, logit_p=eta, dims="i", observed=y)


def log_linear(y, eta):
    gp.Poisson("y", gp.exp(eta), dims="i", observed=y)


def overdispersed(y, eta):
    alpha = gp.Gamma("alpha", 1, rate=1)
    gp.NegativeBinomial("y", mu=gp.exp(eta), alpha=alpha, dims="i", observed=y)


def linear(y, eta):
    gp.Normal("y", eta, sigma=gp.Gamma("s", 1, rate=1), dims="i", observed=y)


def median(y, eta):
    gp.Laplace("y", eta, scale=gp.Gamma("s", 1, rate=1), dims="i", observed=y)


def robust(y, eta):
    gp.StudentT("y", nu=4, mu=eta, tau=1, dims="i", observed=y)


def regression(child, y, design=X, prior=flat):
    def declare():
        b = prior("b", "k")
        child(y, data("x", design, ("i", "k")) @ b)

    return declare


def two_scalars(y):
    def declare():
        a, b = gp.Flat("a"), gp.Flat("b")
        logit(y, a + b * data("x", X[:, 1]))

    return declare


def intercept_and_effects(y, effects):
    """A flat intercept with effects beside it, or around it."""

    def declare():
        a, tau = gp.Flat("a"), gp.Gamma("tau", 1, rate=1)
        around = effects == "around"
        u = gp.Normal("u", a if around else 0, tau=tau, dims="i")
        logit(y, u if around else a + u)

    return declare


def classes(y, prior=flat):
    """A multinomial logit with a score for each class."""

    def declare():
        b = prior("b", "level")
        weights = gp.exp(b * data("x", X[:, 1]))
        gp.Categorical("y", weights / weights.sum("level"), dims="i", event="level", observed=y)

    return declare


def choices(y):
    """A multinomial logit of one coefficient, whose column is of the class and the row."""

    def declare():
        b = gp.Flat("b")
        z = data("z", np.outer(X[:, 1], [0.0, 1.0, 2.0]), ("i", "level"))
        weights = gp.exp(b * z)
        gp.Categorical("y", weights / weights.sum("level"), dims="i", event="level", observed=y)

    return declare


def ordered(y):
    """An ordered logit with latent cut points."""

    def declare():
        level, b = data("place", [0, 1, 2], "level"), gp.Flat("b")
        low = gp.Normal("low", 0, sigma=2)
        high = low + gp.Gamma("gap", 1, rate=1)
        eta = b * data("x", X[:, 1])
        below, above = gp.expit(low - eta), gp.expit(eta - high)
        middle = gp.expit(high - eta) - gp.expit(low - eta)
        p = gp.where(gp.equals(level, 0), below, gp.where(gp.equals(level, 1), middle, above))
        gp.Categorical("y", p, dims="i", event="level", observed=y)

    return declare


def latent_design(y):
    def declare():
        b, w = gp.Flat("b"), gp.Normal("w", 0, sigma=1, dims="i")
        logit(y, b * w)

    return declare


def scale_before_slopes():
    """The scale and the slopes are flat, and do not enter linearly together."""
    g, b = gp.Flat("g"), gp.Flat("b", dims="k")
    mean = data("x", TWICE, ("i", "k")) @ b
    gp.Normal("y", mean, sigma=gp.exp(g), dims="i", observed=[1.0, 2.0, 3.0, 4.0])


def nothing_reads_one_level():
    b = gp.Flat("b", dims="level")
    of = gp.Index("of", [0, 0, 2, 2], of="level", dims="i")
    logit(MIXED, b[of])


def latent_labels():
    """Labels that are seen with noise, each with a score of its own: any of them is separated."""
    b = gp.Flat("b", dims="level")
    z = gp.Bernoulli("z", logit_p=b, dims="level")
    gp.Normal("y", z, sigma=1, dims="level", observed=[0.0, 1.0, 1.0])


def latent_slope():
    """A label multiplies one of the coefficients; of the others none is seen at all."""
    b = gp.Flat("b", dims="k")
    z = gp.Bernoulli("z", 0.5, dims="i")
    logit(np.ma.masked_array(MIXED, mask=[True, False, False, False]), b[0] * z)


def partly_seen_labels():
    b = gp.Flat("b", dims="level")
    seen = np.ma.masked_array([0, 1, 2, 0], mask=[False, False, False, True])
    z = gp.Categorical("z", data("p", [0.3, 0.3, 0.4], "level"), dims="i", observed=seen)
    gp.Laplace("y", b[z], scale=1, dims="i", observed=[1.0, 2.0, 3.0, 1.5])


# ---- improper --------------------------------------------------------------------------------

ALONG = "no term of the log density falls along "
LEVEL = "no term of the log density changes along "

def one_count(seen):
    """Terms without a range of their own."""

    def declare():
        gp.Poisson("y", gp.exp(gp.Flat("a")), observed=seen)

    return declare


IMPROPER = {
    "logit, separated": (regression(logit, SEPARATED), ALONG + "- b[0] + b[1]"),
    "logit, quasi": (regression(logit, MIXED, DUMMY), ALONG + "b[1]"),
    "logit, all ones": (regression(logit, ONES), ALONG),
    "logit, all zeros": (regression(logit, ZEROS), ALONG),
    "logit, scalars": (two_scalars(SEPARATED), ALONG + "- a + b"),
    "logit, a column twice": (regression(logit, MIXED, TWICE), LEVEL + "2 b[0] - b[1]"),
    "logit, a half line": (regression(logit, SEPARATED, DUMMY, half_flat), ALONG + "b[1]"),
    "logit, a level without data": (nothing_reads_one_level, "depends on b[1]"),
    "probit, separated": (regression(probit, SEPARATED), ALONG + "- b[0] + b[1]"),
    "probit, all ones": (regression(probit, ONES), ALONG),
    "cloglog, separated": (regression(cloglog, SEPARATED), ALONG + "- b[0] + b[1]"),
    "cloglog, all zeros": (regression(cloglog, ZEROS), ALONG),
    "cloglog, all ones": (regression(cloglog, ONES), ALONG),
    "binomial, separated": (regression(trials, [0, 0, 5, 5]), ALONG + "- b[0] + b[1]"),
    "binomial, quasi": (regression(trials, [0, 1, 5, 5]), ALONG + "b[0] + b[1]"),
    "an intercept beside effects": (intercept_and_effects(ONES, "beside"), ALONG + "a"),
    "an intercept with effects around": (
        intercept_and_effects(ONES, "around"),
        ALONG + "a + u[0] + u[1] + u[2] + u[3]",
    ),
    "classes that are one too many": (classes([0, 1, 2, 1]), LEVEL + "b[0] + b[1] + b[2]"),
    "choices, separated": (choices([0, 0, 2, 2]), ALONG + "b"),
    "ordered, separated": (ordered([0, 0, 2, 2]), ALONG + "b"),
    "counts, a column of zero counts": (regression(log_linear, [2, 1, 3, 0], DUMMY), "- b[1]"),
    "counts, all zero": (regression(log_linear, ZEROS), ALONG),
    "overdispersed, a column of zeros": (regression(overdispersed, [2, 1, 3, 0], DUMMY), "- b[1]"),
    "linear, a column twice": (regression(linear, [1.0, 2, 3, 4], TWICE), LEVEL + "2 b[0] - b[1]"),
    "linear, a flat log scale": (scale_before_slopes, LEVEL + "2 b[0] - b[1]"),
    "labels, each its own score": (latent_labels, ALONG),
    "labels, an element for none": (latent_slope, "depends on b[1]"),
    "median, a column twice": (regression(median, [1.0, 2, 3, 4], TWICE), LEVEL + "2 b[0] - b[1]"),
    "one count of nothing": (one_count(0), "a"),
}

PROPER = {
    "one count": one_count(1),
    "logit": regression(logit, MIXED),
    "logit, a weak prior": regression(logit, SEPARATED, prior=weak),
    "logit, half lines": regression(logit, SEPARATED, -X, half_flat),
    "probit": regression(probit, MIXED),
    "cloglog": regression(cloglog, MIXED),
    "binomial": regression(trials, [1, 2, 4, 4]),
    "effects": intercept_and_effects(MIXED, "around"),
    "choices": choices([0, 2, 0, 2]),
    "ordered": ordered([0, 1, 2, 2]),
    "counts": regression(log_linear, [2, 1, 3, 1], DUMMY),
    "linear": regression(linear, [1.0, 2, 3, 4]),
    "median": regression(median, [1.0, 2, 3, 4]),
    "locations of labels that are partly seen": partly_seen_labels,
    "heavy tails": regression(robust, [1.0, 2, 3, 4]),
}


def declared(declare, sizes=SIZES):
    with gp.Model(coords=sizes) as model:
        declare()
    return model


def direction(model):
    """What the check finds, with the values of a start."""
    state, _ = initial_state(np.random.default_rng(1), model.graph, model.data)
    values = {**model.data, **state}
    return separation.direction_of(model.graph, values), values


@pytest.mark.parametrize("name", IMPROPER)
def test_an_improper_posterior_is_named_before_the_run(name):
    declare, text = IMPROPER[name]
    sampler = gp.compile(declared(declare))

    with pytest.raises(RunError) as caught:
        sampler.initial_states(1, 1)

    message = str(caught.value)
    assert re.match(r"(a|b): the posterior is improper: ", message)
    assert text in message
    assert "proper prior" in message


@pytest.mark.parametrize("name", IMPROPER)
def test_the_log_density_does_not_fall_along_what_is_named(name):
    """From the definition: the joint density at points further and further out."""
    model = declared(IMPROPER[name][0])
    found, values = direction(model)

    heights = []
    for distance in (0.0, 1.0, 8.0, 64.0):
        moved = {n: np.array(values[n], dtype=float) for n in found.arrays}
        for element, share in zip(found.elements, found.shares, strict=True):
            array, _, at = element.rstrip("]").partition("[")
            moved[array][tuple(map(int, at.split(","))) if at else ()] += distance * share
        heights.append(log_joint(model.graph, {**values, **moved}))

    # The sum of a handful of terms, each off by some roundings of its argument.
    margin = 64 * np.finfo(float).eps * 64 * max(map(abs, [1.0, *found.shares, *heights]))
    assert np.isfinite(heights).all()
    assert (np.diff(heights) >= -margin).all()


@pytest.mark.parametrize("away", [-1e19, 0.0, 1e19])
def test_the_direction_is_told_wherever_the_state_is(away):
    """Sweeps of an improper posterior wander off, to where functions of it are level."""
    model = declared(IMPROPER["overdispersed, a column of zeros"][0])
    _, values = direction(model)
    found = separation.direction_of(model.graph, {**values, "b": np.array([0.5, away])})

    assert str(found) == "- b[1]"
    assert not found.level


@pytest.mark.parametrize("name", PROPER)
def test_a_proper_posterior_starts(name):
    starts, _ = gp.compile(declared(PROPER[name])).initial_states(1, 1)

    assert len(starts) == 1


# ---- against all directions ------------------------------------------------------------------


def has_direction(rows, level):
    """Whether a direction of the plane is at least zero on ``rows`` and zero on ``level``.

    In whole numbers: a cone of the plane has an edge, which is at right angles to a row.
    """
    every = [*rows, *level]
    edges = [(s * int(b), -s * int(a)) for a, b in every for s in (1, -1) if (a, b) != (0, 0)]
    return any(
        all(a * d + b * e >= 0 for a, b in rows) and all(a * d + b * e == 0 for a, b in level)
        for d, e in edges or [(1, 0)]
    )


def random_designs(count):
    rng = np.random.default_rng(7)
    for _ in range(count):
        design = rng.integers(-2, 3, size=(int(rng.integers(2, 7)), 2))
        if rng.random() < 0.25:
            design[:, 1] = 2 * design[:, 0]
        yield design, rng.integers(0, 2, size=len(design))


def disagreements(child, expected, count=60):
    wrong = []
    for design, y in random_designs(count):
        declare = regression(child, y, design.astype(float))
        found, _ = direction(declared(declare, {"i": len(y), "k": 2}))
        wrong += [(design, y)] if (found is not None) != expected(design, y) else []
    return wrong


def labels(design, y):
    return has_direction([tuple(r) for r in design * (2 * y - 1)[:, None]], [])


def counts(design, y):
    zero, seen = design[y == 0], design[y > 0]
    return has_direction([tuple(-r) for r in zero], [tuple(r) for r in seen])


@pytest.mark.parametrize(
    ("child", "expected"),
    [(logit, labels), (probit, labels), (cloglog, labels), (log_linear, counts)],
    ids=["logit", "probit", "cloglog", "counts"],
)
def test_random_designs_in_the_plane(child, expected):
    cases = [expected(d, y) for d, y in random_designs(60)]

    assert 10 < sum(cases) < 50
    assert disagreements(child, expected) == []


def no_null_space(rows):
    return np.eye(rows.shape[1]) if not rows.shape[0] else np.zeros((rows.shape[1], 0))


PLANTED = {
    "terms that never fall": (recession._Reader, "_slope", lambda *_: np.array([True])),
    "full rank, whatever the design": (separation, "null_space", no_null_space),
    "no direction of one side": (separation, "_longest", lambda _: None),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_seen_by_random_designs(name, monkeypatch):
    owner, attribute, wrong = PLANTED[name]
    monkeypatch.setattr(owner, attribute, wrong)

    assert disagreements(log_linear, counts)


def separated_but_for_one_row():
    rng = np.random.default_rng(2)
    design = np.stack([np.ones(4000), rng.uniform(1, 2, 4000) * rng.choice([-1, 1], 4000)], axis=1)
    y = (design[:, 1] > 0).astype(int)
    worst = 1001 + int(design[1001:, 1].argmax())
    y[worst] = 0
    lowest = 1001 + int(design[1001:, 1].argmin())
    y[lowest] = 1
    return regression(logit, y, design), {"i": 4000, "k": 2}


def test_rows_that_the_first_programme_does_not_see_count():
    found, _ = direction(declared(*separated_but_for_one_row()))

    assert found is None


def test_a_programme_of_some_rows_alone_would_be_wrong(monkeypatch):
    everywhere = lambda rows, _: np.ones(len(rows), dtype=bool)  # noqa: E731
    monkeypatch.setattr(separation, "_is_kept", everywhere)

    assert direction(declared(*separated_but_for_one_row()))[0] is not None


def test_a_term_multiplied_by_what_may_be_zero_is_left_alone():
    """No term falls at a start at which it is zero, which says nothing of other values of it."""
    sampler = gp.compile(declared(latent_design(MIXED)))

    sampler.initial_states(1, 1, init={"w": np.zeros(4)})


def test_missing_outcomes_say_nothing():
    """With the missing one drawn as 0, the others would be mixed."""
    y = np.ma.masked_array([1, 1, 1, 0], mask=[False, False, False, True])
    found, _ = direction(declared(regression(logit, y)))

    assert found is not None


SECONDS = 0.5


@pytest.mark.parametrize("kind", ["mixed", "separated"])
def test_ten_thousand_rows_take_less_than_half_a_second(kind):
    rng = np.random.default_rng(3)
    design, b = rng.normal(size=(10_000, 20)), rng.normal(size=20) / 10
    score = design @ b
    y = (score > 0) if kind == "separated" else rng.random(10_000) < 1 / (1 + np.exp(-score))
    model = declared(regression(logit, y.astype(int), design), {"i": 10_000, "k": 20})
    state, _ = initial_state(np.random.default_rng(1), model.graph, model.data)
    values = {**model.data, **state}

    took = []  # (of processor time: a busy machine does not matter)
    for _ in range(3):
        start = time.process_time()
        found = separation.direction_of(model.graph, values)
        took.append(time.process_time() - start)

    assert (found is not None) == (kind == "separated")
    assert min(took) < SECONDS


# ---- impossible data -------------------------------------------------------------------------


def rate(name="r"):
    return gp.Gamma(name, 1, rate=1)


def shares():
    return gp.Dirichlet("p", 1, dims="level", event="level")


def poisson(y, mean=rate):
    return lambda: gp.Poisson("y", mean(), dims="i", observed=y)


def binomial(y, n, p=lambda: gp.Beta("p", 1, 1)):
    return lambda: gp.Binomial("y", n(), p(), dims="i", observed=y)


def bernoulli(y, p):
    return lambda: gp.Bernoulli("y", p(), dims="i", observed=y)


def label(y, p=shares):
    return lambda: gp.Categorical("y", p(), dims="i", event="level", observed=y)


def normal(mean, y=(0.0, 1.0, 2.0, 3.0)):
    return lambda: gp.Normal("y", mean(), sigma=1, dims="i", observed=list(y))


def slope():
    return gp.Normal("b", 0, sigma=1)


def uniform(lower, upper, y=(0.2, 0.4, 0.6, 1.5)):
    return lambda: gp.Uniform("y", lower(), upper(), dims="i", observed=list(y))


def mixture(lower, upper):
    def declare():
        z = gp.Categorical("z", 0.5, dims="i", event="k")
        low, high = data("low", lower, "k"), data("high", upper, "k")
        gp.Uniform("y", low[z], high[z], dims="i", observed=[0.5, 0.5, 2.5, 1.5])

    return declare


def mixture_of_certain_labels():
    z = gp.Categorical("z", 0.5, dims="i", event="k")
    gp.Bernoulli("y", data("p", [0.0, 0.0], "k")[z], dims="i", observed=[0, 0, 0, 1])


def truncated(bound):
    def declare():
        gp.Normal("y", slope(), sigma=1, lower=bound(), dims="i", observed=[1.0, 3.0, 2.0, -1.0])

    return declare


def number(value):
    return lambda: value


def constants(name, *values):
    return lambda: data(name, list(values))


def zero_in_exposure():
    return data("e", [1.0, 1.0, 1.0, 0.0]) * rate()


def negative_exposure():
    return data("e", [1.0, 1.0, 1.0, -2.0]) * rate()


def choice_of_zero():
    return gp.where(data("x", [1.0, 2, 3, 4]) < 3, 0.0, gp.expit(slope()))


def multinomial(y, p):
    return lambda: gp.Multinomial("y", 10, p(), dims="level", observed=y)


def upper_count():
    return gp.DiscreteUniform("n", 0, 5)


def chosen_below_zero():
    return gp.where(rate() > 1, 2.0, -gp.exp(slope()))


def constrained():
    gp.Constraint("order", gp.Uniform("a", 0, 1) > 2)


def potential():
    gp.Potential("pull", gp.log(data("x", [1.0, 2, 3, -4])) * slope())


LAST = "at position i=3"

IMPOSSIBLE = {
    "a negative count": (poisson([1, 2, 3, -1]), f"y: found -1 {LAST}; expected a whole number"),
    "a count that is not whole": (poisson([1, 2, 3, 1.5]), f"y: found 1.5 {LAST}"),
    "a count that is not a number": (poisson([1, 2, 3, np.nan]), "y: found nan at position (3,)"),
    "an infinite count": (poisson([1, 2, 3, np.inf]), "y: found inf at position (3,)"),
    "a rate of zero": (poisson([0, 0, 0, 1], constants("r", 1, 1, 1, 0)), "y: rate: found 0"),
    "an exposure of zero": (
        poisson([0, 0, 0, 1], zero_in_exposure),
        f"y: found 1 {LAST}, which is impossible under Poisson(rate=r*e[i] = 0)",
    ),
    "a negative exposure": (
        poisson([0, 0, 0, 1], negative_exposure),
        f"y: rate is r*e[i], which is always at most 0 {LAST}; expected a number in (0, oo)",
    ),
    "a negative rate": (poisson([0, 0, 0, 1], lambda: -1 - rate()), "always at most -1"),
    "minus an exponential": (poisson([0, 0, 0, 1], lambda: -gp.exp(slope())), "always at most 0"),
    "a choice of a negative rate": (
        poisson([0, 0, 0, 1], chosen_below_zero),
        "y: rate is where([1 < r], 2, -exp(b)), which may be at most 0 at position i=0; expected",
    ),
    "a rate on the real line": (poisson([0, 0, 0, 1], slope), "y: rate is b, a variable on the"),
    "more than all": (binomial([5, 5, 5, 6], number(5)), f"y: found 6 {LAST}; expected a whole"),
    "more than each": (binomial([5, 5, 5, 4], constants("n", 5, 5, 5, 3)), "in {0..n[i]}"),
    "more than there can be": (
        binomial([1, 2, 3, 8], upper_count),
        f"y: found 8 {LAST}; expected a value in {{0..n}}, where n is at most 5",
    ),
    "trials that are not whole": (
        binomial([1] * 4, constants("n", 5, 5, 5, 3.5)), "y: n: found 3.5"
    ),
    "negative trials": (binomial([1] * 4, constants("n", 5, 5, 5, -3)), "y: n: found -3"),
    "a success of probability zero": (
        binomial([0, 0, 0, 1], number(4), constants("p", 0.5, 0.5, 0.5, 0.0)),
        f"y: found 1 {LAST}, which is impossible under Binomial(n=4, p=p[i] = 0)",
    ),
    "a success of probability zero beside missing ones": (
        binomial(
            np.ma.masked_less([-1, 0, 0, 1], 0), number(4), constants("p", 0.5, 0.5, 0.5, 0.0)
        ),
        f"y: found 1 {LAST}, which is impossible under Binomial(n=4, p=p[i] = 0)",
    ),
    "an outcome of two": (bernoulli([0, 1, 1, 2], lambda: gp.Beta("p", 1, 1)), f"found 2 {LAST}"),
    "a probability of 1.2": (
        bernoulli([0, 1, 1, 1], constants("p", 0.5, 0.5, 0.5, 1.2)),
        f"y: p: found 1.2 {LAST}; expected a number in (0, 1)",
    ),
    "a one of probability zero": (
        bernoulli([0, 1, 1, 1], constants("p", 0.5, 0.5, 0.5, 0.0)),
        f"y: found 1 {LAST}, which is impossible under Bernoulli(p=p[i] = 0)",
    ),
    "a zero of probability zero": (
        bernoulli([0, 1, 1, 0], constants("p", 0.5, 0.5, 0.5, 1.0)),
        f"y: found 0 {LAST}, which is impossible under Bernoulli(p=p[i] = 1)",
    ),
    "a probability that is a score": (
        bernoulli([0, 1, 1, 0], lambda: data("x", [1.0, -2.0, 3.0, -4.0]) * slope()),
        "y: no start of positive density was found in 40 attempts: p = b*x[i] is ",
    ),
    "a choice of zero": (
        bernoulli([1] * 4, choice_of_zero),
        "where an argument is exactly on the edge of its support",
    ),
    "a wait without success": (
        lambda: gp.Geometric("y", data("p", [0.5, 0.5, 0.5, 0.0]), dims="i", observed=[1] * 4),
        f"y: found 1 {LAST}, which is impossible under Geometric(p=p[i] = 0)",
    ),
    "a label beyond the last": (label([0, 1, 2, 3]), f"y: found 3 {LAST}; expected a whole number"),
    "a negative label": (label([0, 1, 2, -1]), f"y: found -1 {LAST}"),
    "a label of probability zero": (
        label([0, 1, 1, 2], lambda: data("p", [0.5, 0.5, 0.0], "level")),
        f"y: found 2 {LAST}, which is impossible under Categorical(p=p[level])",
    ),
    "probabilities of another sum": (
        label([0, 1, 1, 2], lambda: data("p", [0.5, 0.5, 0.5], "level")),
        "y: p: found [0.5, 0.5, 0.5]; expected probabilities of sum one",
    ),
    "counts of another sum": (multinomial([1, 2, 8], shares), "y: found [1, 2, 8]; expected"),
    "counts of probability zero": (
        multinomial([1, 2, 7], lambda: data("p", [0.5, 0.5, 0.0], "level")),
        "y: found [1.0, 2.0, 7.0], which is impossible under Multinomial(n=10, p=p[level])",
    ),
    "shares of another sum": (
        lambda: gp.Dirichlet("y", 1, dims="level", event="level", observed=[0.1, 0.2, 0.8]),
        "y: found [0.1, 0.2, 0.8]; expected probabilities of sum one",
    ),
    "a covariate that is not a number": (
        normal(lambda: data("x", [1, 2, 3, np.nan]) * slope()),
        "x: found nan at position (3,); expected finite numbers",
    ),
    "an infinite covariate": (
        normal(lambda: data("x", [1, 2, 3, np.inf]) * slope()),
        "x: found inf at position (3,); expected finite numbers",
    ),
    "the log of a covariate of zero": (
        normal(lambda: gp.log(data("x", [1.0, 2, 3, 0])) * slope()),
        f"y: reads log(x[i]), which is -inf {LAST}; expected finite numbers",
    ),
    "a covariate of zero below": (
        normal(lambda: slope() / data("x", [1.0, 2, 3, 0])),
        f"y: reads 1/x[i], which is inf {LAST}; expected finite numbers",
    ),
    "the root of a negative covariate": (
        normal(lambda: gp.sqrt(data("x", [1.0, 2, 3, -1])) * slope()),
        f"y: reads sqrt(x[i]), which is nan {LAST}; expected finite numbers",
    ),
    "a covariate in a potential": (potential, f"pull: reads log(x[i]), which is nan {LAST}"),
    "a scale of zero": (
        lambda: gp.Normal("y", 0, sigma=data("s", [1, 1, 1, 0]), dims="i", observed=[1.0] * 4),
        f"y: sigma: found 0 {LAST}; expected a number in (0, oo)",
    ),
    "beyond a truncation": (truncated(number(0)), f"y: found -1 {LAST}; expected a number in (0"),
    "beyond a truncation by data": (truncated(constants("low", 0, 0, 0, 2)), "in (low[i], oo)"),
    "beyond fixed ends": (uniform(number(0), number(1)), f"y: found 1.5 {LAST}; expected a number"),
    "beyond a latent end": (
        uniform(number(0), lambda: gp.Uniform("t", 0, 1)),
        f"y: found 1.5 {LAST}; expected a value in (0, t), where t is at most 1",
    ),
    "below a latent end": (
        uniform(lambda: gp.Uniform("t", 1, 2), number(5)),
        "y: found 0.2 at position i=0; expected a value in (t, 5), where t is at least 1",
    ),
    "wider than a window": (
        lambda: gp.Uniform(
            "y", (t := slope()) - 0.1, t + 0.1, dims="i", observed=[0.0, 0.0, 0.0, 1.0]
        ),
        "expected a value in (b - 1/10, b + 1/10) = (",
    ),
    "in no component": (
        mixture([0.0, 2.0], [1.0, 3.0]),
        f"found 1.5 {LAST}, impossible whatever z[i] is",
    ),
    "in no component of constants": (
        mixture_of_certain_labels,
        f"y: found 1 {LAST}, impossible whatever z[i] is",
    ),
    "a negative positive value": (
        lambda: gp.LogNormal("y", slope(), sigma=1, dims="i", observed=[1.0, 1, 1, -1]),
        f"y: found -1 {LAST}; expected a number in (0, oo)",
    ),
    "an infinite density": (
        lambda: gp.Dirichlet(
            "y", 0.5, dims="level", event="level", observed=[0.2, 0.8, 0.0]
        ),
        "y: found [0.2, 0.8, 0.0], which is of log density inf under Dirichlet",
    ),
    "a constraint that never holds": (constrained, "order: no start of positive density"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_data_are_named_before_the_run(name):
    declare, text = IMPOSSIBLE[name]

    with pytest.raises(GibbspplError) as caught:
        gp.compile(declared(declare)).initial_states(1, 1)

    message = str(caught.value)
    assert text in message
    assert re.match(r"(y|x|pull|order)\b", message)
    assert "expected" in message or "and must be" in message


def test_there_are_forty_bad_models_and_more():
    assert len(IMPOSSIBLE) >= 40
    assert len({text for _, text in IMPOSSIBLE.values()}) > 35


POSSIBLE = {
    "a structural zero": poisson([1, 1, 1, 0], zero_in_exposure),
    "a failure of probability zero": binomial(
        [1, 2, 3, 0], number(4), constants("p", 0.5, 0.5, 0.5, 0.0)
    ),
    "a rate of both signs": poisson([0, 0, 0, 1], lambda: slope() + rate()),
    "a rate that data may take below zero": poisson(
        [0, 0, 0, 1], lambda: 0.1 + data("e", [1.0, 1, 1, -2]) * rate()
    ),
    "minus one over a negative number": poisson(
        [0, 0, 0, 1], lambda: -1 / gp.log(gp.Beta("p", 2, 2))
    ),
    "minus the log of a product": poisson(
        [0, 0, 0, 1], lambda: -gp.log(gp.Dirichlet("w", 2, dims="k").prod("k"))
    ),
    "a component for each": mixture([0.0, 1.0], [1.0, 3.0]),
    "a log that is not chosen": normal(
        lambda: gp.where((x := data("x", [1.0, 2, 3, 0])) > 0, gp.log(x), 0) * slope()
    ),
    "below a latent end that is far": uniform(number(0), lambda: gp.Uniform("t", 0, 2)),
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_possible_data_start(name):
    sampler = gp.compile(declared(POSSIBLE[name]))

    starts, _ = sampler.initial_states(1, 1)
    assert np.isfinite(log_joint(sampler.graph, {**sampler.data, **starts[0].state}))


@pytest.mark.parametrize("check", ["_check_parameter", "_check_bounds", "_check_observed"])
def test_without_a_check_impossible_data_would_compile(check, monkeypatch):
    names = {
        "_check_parameter": "a negative exposure",
        "_check_bounds": "beyond a latent end",
        "_check_observed": "a one of probability zero",
    }
    model = declared(IMPOSSIBLE[names[check]][0])
    with pytest.raises(ModelError):
        gp.compile(model)
    monkeypatch.setattr(f"gibbsppl.initial.impossible.{check}", lambda *_: None)

    gp.compile(model)


# ---- negative terms --------------------------------------------------------------------------

NEGATIVE = {
    "a real variable": (lambda: slope() + rate(), "y has log(b + r), whose term b may be negative"),
    "data of both signs": (
        lambda: data("e", [1.0, 1, 1, -2]) * rate() + rate("q"),
        "whose term r*e[i] may be negative",
    ),
    "a difference": (lambda: rate() - rate("q"), "whose term -q is negative"),
    "a sum over a dimension": (
        lambda: (data("x", X, ("i", "k")) * gp.Gamma("r", 1, rate=1, dims="k")).sum("k"),
        "whose term r[k]*x[i, k] may be negative",
    ),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_a_negative_term_is_not_shared_out(name):
    mean, text = NEGATIVE[name]
    model = declared(poisson([0, 1, 2, 3], mean))

    with pytest.raises(CompileError) as caught:
        gp.compile(model, rewrites={"share out": True})

    assert str(caught.value).startswith("rewrites['share out']: ")
    assert text in str(caught.value)


def test_positive_terms_are_shared_out():
    model = declared(poisson([0, 1, 2, 3], lambda: rate() + rate("q")))

    assert "share out" in gp.compile(model, rewrites={"share out": True}).rewrites


def test_all_names_of_cases_differ():
    tables = (IMPROPER, PROPER, IMPOSSIBLE, POSSIBLE, NEGATIVE)

    assert all(len(set(a) & set(b)) == 0 for a, b in itertools.combinations(tables, 2))
