"""Forms that are linear in each element: what is drawn and kept, what the checks notice."""

import copy
import re
from functools import cache

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.initial.search import initial_state
from gibbsppl.runtime import entries
from models import factorisation_machine

# What the ratio check allows for rounding, in proportion.
ROUNDING = RELATIVE_TOLERANCE
ALONE = {"blocks": {"w": "elements", "w0": "alone", "mu_w": "alone"}, "interweave": False}

SMALL = {
    "features": ((0, 2), (0, 3), (1, 2), (4, 0), (1, 0)),
    "y": (0.5, -1, 2, 1, 0.3),
    "groups": (0, 0, 1, 1, 1),
    "values": ((1, 0.5), (1, -1), (2, 1), (0.7, 0), (1, 0)),
}


def machine(slots=2, *, values=True, factors=2, rows=20, features=9):
    """Rows that have some features each, no feature twice but where its value is 0."""
    rng = np.random.default_rng(slots)
    of = np.array([rng.permutation(features)[:slots] for _ in range(rows)])
    x = rng.normal(size=of.shape) if values else None
    if values:
        of[::3, -1] = of[::3, 0]
        x[::3, -1] = 0
    groups = np.arange(features) % 2
    return factorisation_machine.model(of, rng.normal(size=rows), groups, x, factors, level=0)


def outputs(rows=15, slots=2, features=6):
    """Two outcomes for each row, with weights of their own; no factors."""
    rng = np.random.default_rng(7)
    of = np.array([rng.permutation(features)[:slots] for _ in range(rows)])
    with gp.Model(coords={"row": rows, "slot": slots, "feature": features, "out": 2}) as m:
        feature = gp.Index("of", of, of="feature", dims=("row", "slot"))
        w = gp.Normal("w", 0, sigma=1, dims=("feature", "out"))
        mean = w[feature].sum("slot")
        y = rng.normal(size=(rows, 2))
        gp.Normal("y", mean, sigma=1, dims=("row", "out"), observed=y)
    return m


def seen_by_probit(rows=30):
    """A machine without linear weights, of which only signs are observed."""
    rng = np.random.default_rng(3)
    of = np.array([rng.permutation(7)[:2] for _ in range(rows)])
    with gp.Model(coords={"row": rows, "slot": 2, "feature": 7, "factor": 2}) as m:
        feature = gp.Index("of", of, of="feature", dims=("row", "slot"))
        v = gp.Normal("v", 0, sigma=1, dims=("feature", "factor"))
        sums, squares = v[feature].sum("slot"), (v[feature] ** 2).sum("slot")
        f = 0.5 * (sums**2 - squares).sum("factor")
        gp.Bernoulli("y", gp.Phi(f), dims="row", observed=rng.integers(0, 2, rows))
    return m


def pairs(terms, names=("of", "x", "a", "w0", "alpha"), slots=3, rows=12):
    """All pairs of the features of a row, in terms of data, variables, and what is named so."""
    rng = np.random.default_rng(4)
    of, values = np.array([rng.permutation(7)[:slots] for _ in range(rows)]), rng.normal(size=rows)
    with gp.Model(coords={"row": rows, "slot": slots, "feature": 7, "factor": 2}) as m:
        feature = gp.Index(names[0], of, of="feature", dims=("row", "slot"))
        x = gp.Data(names[1], rng.normal(size=of.shape), dims=("row", "slot"))
        a = gp.Normal(names[2], 1, sigma=0.1, dims="row")
        w0 = gp.Normal(names[3], 0, sigma=0.1)
        alpha = gp.Gamma(names[4], 2, rate=2, dims="row")
        v = gp.Normal("v", 0, sigma=1, dims=("feature", "factor"))
        sums, squares = (v[feature] * x).sum("slot"), ((v[feature] * x) ** 2).sum("slot")
        terms(0.5 * (sums**2 - squares).sum("factor"), a, w0, alpha, v, values)
    return m


def observed(f, a, w0, alpha, v, values):
    """A mean of each row with a coefficient and a precision of its own."""
    gp.Normal("y", a * f + w0, tau=alpha, dims="row", observed=values)


def with_a_constant(f, a, w0, alpha, v, values):
    """A log density with a term that is linear in the form, the same for all rows."""
    gp.Potential("p", w0 * f - gp.Data("b", values**2 + 0.1, dims="row") * f**2)


def with_a_number(f, a, w0, alpha, v, values):
    """A number times a sum, which is a sum of its terms, and the square of that sum."""
    gp.Potential("p", 1.5 * (f + w0) - 0.35 * (f + w0) ** 2)


def classified(f, a, w0, alpha, v, values):
    """The log odds of what is observed: quadratic given the variables that are added."""
    gp.Bernoulli("y", gp.expit(f + w0), dims="row", observed=values > 0)


def with_a_tie(f, a, w0, alpha, v, values):
    """Elements that one more term ties, one by one."""
    observed(f, a, w0, alpha, v, values)
    gp.Potential("tie", -((v.at("factor", 0) * v.at("factor", 1) - 1) ** 2))


def products(rows=12, slots=2, features=6, factors=3):
    """A sum of products with sums, over another dimension."""
    rng = np.random.default_rng(5)
    of = np.array([rng.permutation(features)[:slots] for _ in range(rows)])
    coords = {"row": rows, "slot": slots, "feature": features, "factor": factors}
    with gp.Model(coords=coords) as m:
        feature = gp.Index("of", of, of="feature", dims=("row", "slot"))
        x = gp.Data("x", rng.normal(size=(rows, factors)), dims=("row", "factor"))
        z = gp.Data("z", rng.normal(size=of.shape), dims=("row", "slot"))
        u = gp.Normal("u", 0, sigma=1, dims="factor")
        v = gp.Normal("v", 0, sigma=1, dims="feature")
        mean = (x * u * (z * v[feature]).sum("slot")).sum("factor")
        gp.Normal("y", mean, sigma=1, dims="row", observed=rng.normal(size=rows))
    return m


def scaled(rows=12, slots=2, features=6):
    """Weights of features with one coefficient for all rows."""
    rng = np.random.default_rng(6)
    of = np.array([rng.permutation(features)[:slots] for _ in range(rows)])
    with gp.Model(coords={"row": rows, "slot": slots, "feature": features}) as m:
        feature = gp.Index("of", of, of="feature", dims=("row", "slot"))
        v = gp.Normal("v", 0, sigma=1, dims="feature")
        c = gp.Normal("c", 1, sigma=0.3)
        y = rng.normal(size=rows)
        gp.Normal("y", c * v[feature].sum("slot"), sigma=1, dims="row", observed=y)
    return m


# (names that the generated functions have for values of their own)
TAKEN = ("entries", "slope", "v_column", "form_at", "curvature")
TAKEN_TOO = ("now", "v_sum", "factor_position", "linear", "v_at")

# Model, settings, the steps that keep something up to date.
MODELS = {
    "two features a row": (machine(2, values=False), {}, ["v"]),
    "with weights by element": (machine(2, values=False), ALONE, ["v", "w"]),
    "values": (machine(3), {}, ["v"]),
    "values, weights by element": (machine(3), ALONE, ["v", "w"]),
    "more than are gone through again": (machine(4, rows=12, features=20), ALONE, ["v", "w"]),
    "two outcomes": (outputs(), {"blocks": {"w": "elements"}}, ["w"]),
    "seen by its sign": (seen_by_probit(), {}, ["v"]),
    "a constant for all rows": (pairs(with_a_constant), {}, ["v"]),
    "a number times the form": (pairs(with_a_number), {}, ["v"]),
    "log odds": (pairs(classified), {}, []),
    "elements that are tied besides": (pairs(with_a_tie), {}, []),
    "a sum of products": (products(), {"blocks": {"u": "elements", "v": "elements"}}, ["u", "v"]),
    "a coefficient for all rows": (scaled(), {"blocks": {"v": "elements"}}, ["v"]),
    "names that are taken": (pairs(observed, TAKEN), {"blocks": False}, ["v"]),
    "names that are taken, four a row": (pairs(observed, TAKEN_TOO, 4), {"blocks": False}, ["v"]),
}


@cache
def compiled(name):
    model, settings, _ = MODELS[name]
    return gp.compile(model, **settings)


LONG = ("more than are gone through again", "values, weights by element")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in MODELS]
)
def test_each_element_has_the_conditional_of_the_joint_density(name, monkeypatch):
    monkeypatch.setattr(entries, "MOST_ENTRIES", 8)
    sampler = compiled(name)
    table = sampler.verify()

    assert table.passed, table
    assert not sampler.schedule.fallbacks


@pytest.mark.parametrize("name", MODELS)
def test_what_elements_share_is_kept_up_to_date(name):
    assert sorted(compiled(name).program.by_colour) == MODELS[name][2]


def test_an_element_that_is_seen_twice_is_refused_with_the_place():
    features = np.array([[0, 1], [2, 2], [1, 3]])
    model = factorisation_machine.model(features, np.zeros(3), [0, 0, 1, 1])
    found = gp.compile(model, interweave=False).schedule.step("v")

    assert found.kind == "move"
    assert "y: at row 1 it sees an element of v twice (axis 0 at 2)" in found.conditional.reason


# ---- alternating least squares ------------------------------------------------------------------


def objective(model_data, state, alpha):
    """Minus twice the log density of v: squared errors and the penalties, in plain loops."""
    errors = 0.0
    for features, x, y in model_data:
        f = state["w0"] + sum(state["w"][j] * a for j, a in zip(features, x, strict=True))
        pairs = [(p, q) for p in range(len(x)) for q in range(p)]
        f += sum(
            state["v"][features[p]] @ state["v"][features[q]] * x[p] * x[q] for p, q in pairs
        )
        errors += alpha * (y - f) ** 2
    group = np.arange(len(state["v"])) % 2
    penalty = state["tau_v"][group] * (state["v"] - state["mu_v"][group]) ** 2
    return errors + penalty.sum()


def least_squares(model_data, state, at):
    """The value of one element that minimises the objective: it is quadratic, three points say."""
    found = []
    for value in (-1.0, 0.0, 1.0):
        state["v"][at] = value
        found.append(objective(model_data, state, state["alpha"]))
    low, middle, high = found
    return (low - high) / (2 * (low - 2 * middle + high))


def test_modes_in_place_of_draws_are_alternating_least_squares():
    sampler = compiled("values, weights by element")
    data, constants = sampler.data, sampler.constants
    rows = list(zip(data["feature_of"], data["x"], data["y"], strict=True))
    state, _ = initial_state(np.random.default_rng(5), sampler.graph, data)
    state["v"] = np.array(state["v"])
    by_hand = {n: np.array(x) for n, x in state.items()}
    before = objective(rows, by_hand, by_hand["alpha"])
    for at, (first, second) in sampler.program.by_colour["v"](state, constants):
        state["v"][at] = first / (-2 * second)
    for at in constants[sampler.program.colours["v"]]:
        for element in zip(*at, strict=True):
            by_hand["v"][element] = least_squares(rows, by_hand, element)

    assert state["v"] == pytest.approx(by_hand["v"], rel=ROUNDING, abs=ROUNDING)
    assert objective(rows, by_hand, by_hand["alpha"]) < before


# ---- planted bugs -------------------------------------------------------------------------------

BUGS = {
    "an increment with the wrong sign": (
        "values", "v_by_colour", r"form_at \+= slope", "form_at -= slope",
    ),
    "a form that is not put back": (
        "values", "v_by_colour", r"entries\.put\(y_form, form_at\)", "pass",
    ),
    "sums that are not updated": (
        "more than are gone through again", "v_by_colour",
        r"v_sum_at \+= .*\n", "pass\n",
    ),
    "the element's own part left in a slope": (
        "more than are gone through again", "v_by_colour", r"v_at = entries\.spread\(now\)",
        "v_at = 0.0",
    ),
    "a column that is not updated": (
        "values", "v_by_colour", r"v_column\[at\[0\]\] = v\[at\]", "pass",
    ),
    "a forgotten square of the slope": (
        "two features a row", "v_by_colour", r" - square \* now", "",
    ),
    "w0 changed alone": (
        "values, weights by element", "y_form_by_w0", r"return -w0", "return w0",
    ),
}  # fmt: skip


def planted(name):
    """The program with a bug, and that without."""
    model, function, pattern, wrong = BUGS[name]
    sampler = compiled(model)
    start = sampler.source.index(f"def {function}(")
    stop = sampler.source.index("\n\n\n", start)
    body, count = re.subn(pattern, wrong, sampler.source[start:stop])
    assert count, f"{pattern!r} is not in\n{sampler.source[start:stop]}"
    return sampler, load(sampler.source[:start] + body + sampler.source[stop:])


# Each takes some seconds to compile: two of them in every run.
OFTEN = tuple(BUGS)[:2]
SELDOM = [pytest.param(name, marks=pytest.mark.slow) for name in BUGS if name not in OFTEN]


@pytest.mark.parametrize("name", [*OFTEN, *SELDOM])
def test_planted_bugs_are_caught(name):
    sampler, program = planted(name)
    schedule = sampler.schedule
    graphs = schedule.graphs
    result = verify(
        sampler.graph, program, schedule.steps, sampler.data, graphs=graphs, schedule=schedule
    )

    failed = {row.step.split(" (")[0] for row in result.rows if not row.passed}
    assert failed & {"v", "v keeps", "(sweeps)"}, result
    assert sampler.verify().proved


def test_what_is_kept_agrees_with_the_form_after_many_sweeps():
    sampler = compiled("values, weights by element")
    rng, constants = np.random.default_rng(2), sampler.constants
    state, _ = initial_state(rng, sampler.graph, sampler.data)
    state = {n: np.array(x) for n, x in state.items()}
    for _ in range(200):
        sampler.program.sweep(rng, state, constants)
    (anew,) = sampler.program.kept.values()

    assert state["y_form"] == pytest.approx(anew(state, constants)["y_form"], abs=ROUNDING)


@pytest.mark.parametrize("settings", [{"blocks": False}, {}], ids=["apart", "as compiled"])
def test_draws_are_those_with_every_form_computed_anew(settings):
    """A form that a draw, or one call of it, has left behind would lead other draws astray."""
    sampler = gp.compile(factorisation_machine.model(**SMALL), interweave=False, **settings)
    reading = 's if "y_form" in s else s | y_form_anew'
    forgetting = sampler.source.replace(reading, "s | y_form_anew")
    forgetting = forgetting.replace('if "y_form" not in s:', "if True:")
    assert forgetting.count("s | y_form_anew") == forgetting.count("s = s | y_form_anew") > 0
    (chain,), _ = sampler.initial_states(1, 3)
    ends = []
    for program in (sampler.program, load(forgetting)):
        rng, state = np.random.default_rng(1), copy.deepcopy(chain.state)
        for _ in range(5):
            program.sweep(rng, state, sampler.constants)
        ends.append(state)
    for name in (n for names in sampler.program.step_variables.values() for n in names):
        np.testing.assert_allclose(ends[0][name], ends[1][name], rtol=ROUNDING, atol=ROUNDING)
