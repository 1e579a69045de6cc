"""Means of many elements at once: factorisation machines, networks, polynomials in general.

Expectations are compared with sums over all states, updates with coordinate ascent by hand, bounds
with quadrature, and sweeps that keep sums up to date with those that compute all anew.
"""

import itertools
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from test_readings import at_point, read_and_drawn
from test_readings_in_loops import check_beside, loops_for, start_of, told

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range
from gibbsppl.code import mean_loops
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.derive.multilinear_forms import LinearForm
from gibbsppl.errors import CompileError, RunError
from gibbsppl.expectation import by_element
from gibbsppl.expectation.by_element import NoPolynomialError, Seen, expected
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import evaluate
from gibbsppl.schedule import element_loops
from models import factorisation_machine

# ---- expectations of polynomials -----------------------------------------------------------------

i, j, k, r, f, g = map(Dim, ("i", "j", "k", "r", "f", "g"))
v, s, m, x, y, c = map(Array, ("v", "s", "m", "x", "y", "c"))
to = Array("to")
SIZES = {i: 4, j: 4, k: 4, r: 2, f: 2, g: 2}
# The last position of each row repeats an element, with weight 0.
DATA = {
    "to": np.array([[0, 1, 2, 0], [3, 1, 0, 3]]),
    "x": np.array([[0.7, -1.2, 1.5, 0], [1.1, 0.4, 2.0, 0]]),
    "y": np.array([0.3, -2.0]),
    "c": np.array([1.3, -0.8]),
}


def along(dim, body):
    return Over(body, dim, 0, SIZES[dim])


def read(at, factor):
    return v[to[r, at], factor] * x[r, at]


def machine():
    """A factorisation machine at one row."""
    both = along(i, read(i, f)) ** 2 - along(i, read(i, f) ** 2)
    return y[r] - along(f, c[f] * both) / 2


def slope():
    """The slope of the machine at an element."""
    return -c[f] * (along(i, read(i, f)) * x[r, j] - v[to[r, j], f] * x[r, j] ** 2)


def triples():
    """The sum over all products of three different positions of a row, by Newton's identities."""
    one, two, three = (along(i, read(i, f) ** n) for n in (1, 2, 3))
    return along(f, one**3 - 3 * one * two + 2 * three) / 6


ROWS = (Range(r, 0, 2),)
SEEN = Seen(v[to[r, k], g], (Range(k, 0, 4), Range(g, 0, 2)), s[to[r, k], g])
CASES = {
    "the machine": (machine(), ROWS),
    "its square": (machine() ** 2, ROWS),
    "the square of a slope": (slope() ** 2, (*ROWS, Range(j, 0, 4), Range(f, 0, 2))),
    "a slope times the rest": (
        slope() * (machine() - slope() * v[to[r, j], f]),
        (*ROWS, Range(j, 0, 4), Range(f, 0, 2)),
    ),
    "products of three": (triples(), ROWS),
    "the square of products of three": ((1 - triples()) ** 2, ROWS),
    "two factors": (
        along(i, read(i, f)) * along(i, read(i, g)), (*ROWS, Range(f, 0, 2), Range(g, 0, 2))
    ),
}  # fmt: skip


def exactly(expr, over, mean, variance):
    """The expectation over all states of elements that are a deviation above or below."""
    seen = np.unique(DATA["to"])
    total, deviation = 0.0, np.sqrt(variance)
    for signs in itertools.product((-1.0, 1.0), repeat=2 * len(seen)):
        values = mean.copy()
        values[seen] += np.reshape(signs, (len(seen), 2)) * deviation[seen]
        total = total + evaluate(expr, over, {**DATA, "v": values}, SIZES)
    return total / 2 ** (2 * len(seen))


def compared(name):
    """The largest difference from the expectation over all states."""
    rng, (expr, over) = np.random.default_rng(1), CASES[name]
    mean, variance = rng.normal(size=(4, 2)), rng.uniform(0.2, 2, size=(4, 2))
    sizes = SIZES | {Dim(d + n): SIZES[Dim(d)] for d in "kg" for n in "₁₂₃₄₅₆"}
    found = expected(expr, [SEEN])
    value = evaluate(found, over, {**DATA, "v": mean, "s": variance}, sizes)
    return np.abs(value - exactly(expr, over, mean, variance)).max()


@pytest.mark.parametrize("name", CASES)
def test_expectations_are_those_over_all_states(name):
    assert compared(name) <= 1e-11


def test_what_is_linear_in_each_element_is_that_at_the_means():
    assert expected(machine(), [SEEN]) == machine()
    assert expected(triples(), [SEEN]) == triples()


def test_positions_that_are_the_same_are_told_apart(monkeypatch):
    """Planted: pairs of elements that are one element are counted."""
    product = by_element._product
    monkeypatch.setattr(
        by_element, "_product",
        lambda one, other: {s: v for s, v in product(one, other).items() if len(s) < 2},
    )  # fmt: skip
    assert compared("the square of a slope") > 0.1


@pytest.mark.parametrize(
    "expr", [along(i, read(i, f)) ** 3, v[to[r, j], f] ** 4, sp.exp(v[to[r, j], f])]
)
def test_higher_powers_of_an_element_are_refused(expr):
    with pytest.raises(NoPolynomialError):
        expected(expr, [SEEN])


def test_two_free_positions_of_one_element_are_tied():
    """The variance counts where both are the same."""
    found = expected(v[to[r, j], f] * v[to[r, j], g], [SEEN])
    spread = Equals(f, g) * s[to[r, j], f]
    assert sp.expand(found - v[to[r, j], f] * v[to[r, j], g] - spread) == 0


# ---- a factorisation machine ---------------------------------------------------------------------


def small(rows=60, slots=3, factors=2, seed=0, *, weighed=True):
    """A machine with a column of features for each slot; some rows have fewer features."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 4, (rows, slots)) + 4 * np.arange(slots)
    values = rng.uniform(0.5, 1.5, features.shape) if weighed else None
    if weighed:
        values[::7, -1], features[::7, -1] = 0, features[::7, 0]
    target = rng.normal(size=rows)
    groups = np.repeat(range(slots), 4)
    return factorisation_machine.model(features, target, groups, values, factors, level=0)


def rows_of(rows, slots):
    """Features of a column each, of some rows fewer; targets and values."""
    rng = np.random.default_rng(3)
    features = rng.integers(0, 3, (rows, slots)) + 3 * np.arange(slots)
    values, target = rng.uniform(0.5, 1.5, features.shape), rng.normal(size=rows)
    values[::5, -1], features[::5, -1] = 0, features[::5, 0]
    return features, target, values


def plain_machine(features, target, values, factors):
    """A machine whose coefficients have known priors."""
    coords = {"row": len(target), "slot": features.shape[1], "feature": features.max() + 1,
              "factor": factors}  # fmt: skip
    with gp.Model(coords=coords, name="plain machine") as model:
        feature = gp.Index("feature_of", features, of="feature", dims=("row", "slot"))
        value = gp.Data("x", values, dims=("row", "slot"))
        alpha = gp.Gamma("alpha", 2, rate=3)
        w = gp.Normal("w", 0.1, tau=2, dims="feature")
        u = gp.Normal("v", 0.3, tau=1.5, dims=("feature", "factor"))
        sums, squares = (u[feature] * value).sum("slot"), ((u[feature] * value) ** 2).sum("slot")
        score = (w[feature] * value).sum("slot") + 0.5 * (sums**2 - squares).sum("factor")
        gp.Normal("y", score, tau=alpha, dims="row", observed=target)
    return model


def ascent(features, target, values, start, order, sweeps):
    """Coordinate ascent written by hand, with loops over pairs, for elements one by one.

    E (y - f)^2 = (y - E f)^2 + Var f, where products of two independent elements have the variance
    s t + s b^2 + t a^2, and two products that share an element the covariance s b c.
    """
    mean, spread, weight, alpha = start
    rows = range(len(target))
    design = np.zeros((len(target), len(mean)))
    for n in rows:
        np.add.at(design[n], features[n], values[n])
    for _ in range(sweeps):
        for name in order:
            if name == "alpha":
                every = ((target[n], features[n], values[n]) for n in rows)
                total = sum(squared(*row, mean, spread, weight) for row in every)
                alpha = (2 + len(target) / 2) / (3 + total / 2)
            elif name == "w":
                left = [target[n] - score(features[n], values[n], mean) for n in rows]
                precision = 2 * np.eye(len(mean)) + alpha * design.T @ design
                centre = np.linalg.solve(precision, 0.2 + alpha * design.T @ left)
                weight = centre, np.linalg.inv(precision)
            else:
                update(features, target, values, (mean, spread, weight, alpha), *name)
    return mean, spread, weight, alpha


def score(own, values, mean):
    """The sum over pairs of elements of a row."""
    parts = mean[own] * values[:, None]
    return sum((p * q).sum() for p, q in itertools.combinations(parts, 2))


def squared(target, own, values, mean, spread, weight):
    """E (y - f)^2 at one row."""
    centre, covariance = weight
    there = values @ covariance[np.ix_(own, own)] @ values
    expected_score, variance = values @ centre[own] + score(own, values, mean), there
    for factor in range(mean.shape[1]):
        a, b = mean[own, factor] * values, spread[own, factor] * values**2
        for p, q in itertools.combinations(range(len(own)), 2):
            variance += b[p] * b[q]
        for p in range(len(own)):
            variance += b[p] * sum(a[q] for q in range(len(own)) if q != p) ** 2
    return (target - expected_score) ** 2 + variance


def update(features, target, values, state, factor, element):
    """The best normal factor of one element, in place."""
    mean, spread, (centre, _), alpha = state
    linear, square = 0.3 * 1.5, 1.5
    for n in range(len(target)):
        own, x = features[n], values[n]
        if element not in own[x != 0]:
            continue
        here = int(np.flatnonzero((own == element) & (x != 0))[0])
        others = [q for q in range(len(own)) if q != here]
        a, b = mean[own, factor] * x, spread[own, factor] * x**2
        h, h_variance = a[others].sum() * x[here], b[others].sum() * x[here] ** 2
        rest = target[n] - x @ centre[own]
        for g in range(mean.shape[1]):
            whole = mean[own, g] * x
            rest -= sum(whole[p] * whole[q] for p, q in itertools.combinations(range(len(own)), 2)
                        if g != factor or here not in (p, q))  # fmt: skip
        # Cov(h, sum over pairs of others): each other element is in pairs with all others but it
        tied = sum(b[q] * x[here] * sum(a[p] for p in others if p != q) for q in others)
        linear += alpha * (h * rest - tied)
        square += alpha * (h**2 + h_variance)
    mean[element, factor], spread[element, factor] = linear / square, 1 / square


def test_a_machine_is_that_of_coordinate_ascent_by_hand():
    features, target, values = rows_of(25, 3)
    read, _, state = read_and_drawn(plain_machine(features, target, values, 2))
    state = state | at_point(read, state)

    colour = read.schedule.tables[read.schedule.step("v").draw.colours.name]
    cells = sorted(itertools.product(range(2), range(9)), key=lambda c: colour[c[1], c[0]])
    order = []
    for step in read.schedule.steps:
        order += cells if step.name == "v" else [step.name]
    weight = state["E_w"].copy(), np.zeros((9, 9))
    start = state["E_v"].copy(), state["V_v"].copy(), weight, state["E_alpha"]
    mean, spread, (weight, _), alpha = ascent(features, target, values, start, order, sweeps=3)
    for _ in range(3):
        read.program.sweep(np.random.default_rng(0), state, read.constants)

    found = [state[n] for n in ("E_v", "V_v", "E_w", "E_alpha")]
    for ours, theirs in zip(found, (mean, spread, weight, alpha), strict=True):
        assert_allclose(ours, theirs, rtol=1e-10)


def test_the_bound_is_the_expectation_by_quadrature():
    """Of each element four nodes are exact; the log joint is a polynomial of degree two in each."""
    features, values = np.array([[0, 1, 2], [0, 1, 2]]), np.array([[1.0, 0.5, 2.0], [0.7, 1.0, 0]])
    with gp.Model(coords={"row": 2, "slot": 3, "feature": 3}, name="tiny") as model:
        feature = gp.Index("of", features, of="feature", dims=("row", "slot"))
        u = gp.Normal("v", 0.3, tau=1.5, dims="feature")
        z = u[feature] * gp.Data("x", values, dims=("row", "slot"))
        score = 0.5 * (z.sum("slot") ** 2 - (z**2).sum("slot"))
        gp.Normal("y", score, tau=2.5, dims="row", observed=[0.4, -1.0])
    read, _, state = read_and_drawn(model)
    state = state | at_point(read, state)
    for _ in range(3):
        read.program.sweep(np.random.default_rng(0), state, read.constants)

    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights /= weights.sum()
    total = 0.0
    for at in itertools.product(range(4), repeat=3):
        values_at = state["E_v"] + np.sqrt(state["V_v"]) * nodes[list(at)]
        total += np.prod(weights[list(at)]) * log_joint(model.graph, {**model.data, "v": values_at})
    entropy = 0.5 * np.log(2 * np.pi * np.e * state["V_v"]).sum()
    assert_allclose(read.program.bound(state, read.constants), total + entropy, rtol=1e-12)


@pytest.mark.slow
def test_the_bound_rises_and_a_fit_is_verified():
    model = small(rows=20, factors=1, weighed=False)
    fit = gp.compile(model).variational(seed=1, sweeps=80, progress=False)

    assert np.diff(fit.trace).min() > -1e-9
    assert fit.verify().proved


@pytest.mark.slow
def test_minibatches_of_elements_in_turn_are_refused():
    with pytest.raises(RunError, match="v is of elements that are updated one after the other"):
        gp.compile(small()).variational(batch={"row": 20}, progress=False)


def test_a_term_of_pairs_that_is_lost_is_found(monkeypatch):
    """Planted: the variance of products of two elements is left out of the bound and of alpha."""
    spread = by_element._spread

    def first_alone(expr, seen, *, is_first):
        return spread(expr, seen, is_first=True) if is_first else sp.S.Zero

    monkeypatch.setattr(by_element, "_spread", first_alone)
    with pytest.raises(AssertionError):
        test_the_bound_is_the_expectation_by_quadrature()


# ---- sweeps that keep sums up to date ------------------------------------------------------------


def without_loops(read):
    """The program that computes everything anew for each colour."""
    steps = (
        replace(t, loop=None) if getattr(t, "loop", None) is not None else t
        for t in read.schedule.steps
    )
    program = load(write_numpy(replace(read.schedule, steps=tuple(steps))))
    return program, program.prepare(read.derivation.known)


def sweeps_apart(read, state):
    """How far apart some sweeps with and without loops end."""
    plain, constants = without_loops(read)
    ours, theirs = ({n: np.array(a)[()] for n, a in state.items()} for _ in range(2))
    for _ in range(4):
        read.program.sweep(np.random.default_rng(0), ours, read.constants)
        plain.sweep(np.random.default_rng(0), theirs, constants)
    return max(np.abs(np.asarray(ours[n], float) - theirs[n]).max() for n in ("E_v", "V_v", "H_v"))


MACHINES = {
    "with known priors": (lambda: plain_machine(*rows_of(30, 3), 2), {}),
    "with values": (small, {}),
    "without values": (partial(small, weighed=False), {}),
    "coefficients by element": (partial(small, slots=2, factors=1), {"blocks": {"w": "elements"}}),
}
EVERYDAY = [
    n if n == "with known priors" else pytest.param(n, marks=pytest.mark.slow) for n in MACHINES
]


@cache
def machine_read(name="with known priors"):
    """A machine read by its means, and a state."""
    make, settings = MACHINES[name]
    sampler = gp.compile(make(), **settings)
    read = sampler.read_by(dict.fromkeys(sampler.graph.drawn, "mean"))
    return read, start_of(read, read.drawing())


@pytest.mark.parametrize("name", EVERYDAY)
def test_sums_are_kept_up_to_date(name):
    read, state = machine_read(name)
    assert "def v_averaged(s, c):" in read.source
    assert sweeps_apart(read, state) <= 1e-9


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    V_v_sum_now += ", "    V_v_sum_now += 0 * "),
        ("y_form_now += slope * (E_v_new - E_v_now)", "y_form_now += 0 * slope"),
        ("* (E_v_new*V_v_new - E_v_now*V_v_now)", "* (E_v_new*V_v_now - E_v_now*V_v_now)"),
    ],
)
def test_a_sum_that_is_stale_is_seen(right, wrong):
    read, state = machine_read()
    text = read.source.replace("*(", "* (")
    assert text.count(right) == 1
    spoilt = replace(read, program=load(text.replace(right, wrong)))

    assert sweeps_apart(spoilt, state) > 1e-6


@pytest.mark.slow
def test_a_sum_that_is_stale_fails_the_verification(monkeypatch):
    moved = mean_loops._Call._moved
    monkeypatch.setattr(
        mean_loops._Call, "_moved", lambda call, symbol, by: moved(call, symbol, f"0.999 * ({by})")
    )
    failed = {(row.step, row.kind) for row in machine_read()[0].verify().rows if not row.passed}
    assert failed == {("v", "by mean, kept sums")}


@pytest.mark.parametrize("name", EVERYDAY)
def test_means_in_loops_are_those_in_numpy(name):
    check_beside(*machine_read(name))


@pytest.mark.slow
def test_compiled_means_are_those_of_plain_loops():
    pytest.importorskip("numba")
    read, state = machine_read()
    loops, found = loops_for(read), []
    for runner in (loops.plain(), loops.compiled()):
        arrays = {n: a.copy() for n, a in loops.arrays_of(state).items()}
        rng = np.random.default_rng(0)
        found.append((arrays, [told(loops, runner, arrays, rng) for _ in range(3)]))
    (plain, bounds), (compiled, others) = found

    assert_allclose(others, bounds, rtol=1e-12)
    for n, values in plain.items():
        assert_allclose(compiled[n], values, rtol=0, atol=1e-12 * (1 + np.abs(values).max()))


# ---- draws beside means --------------------------------------------------------------------------


def drawn_apart():
    """How far natural parameters by colour are from those computed anew, w being read by means."""
    by = dict.fromkeys(("w", "mu_w", "w0"), "mean")
    read = gp.compile(small(), by=by, interweave=False)
    (chain,), _ = read.initial_states(1, seed=1)
    state = chain.state | at_point(read, chain.state)
    state |= {"E_w": state["E_w"] + 0.7}  # (the draws that moments were of are of no account)
    anew = read.program.given_rest["v"](state, read.constants)
    state.pop("y_form", None)
    at, eta = next(read.program.by_colour["v"](state, read.constants))
    return max(np.abs(a - b[at]).max() for a, b in zip(eta, anew, strict=True))


def test_draws_by_colour_read_the_moments_of_what_is_averaged(monkeypatch):
    assert drawn_apart() <= 1e-9
    monkeypatch.setattr(LinearForm, "mapped", lambda form, _: form)
    monkeypatch.setattr(element_loops, "_is_of", lambda *_: True)
    assert drawn_apart() > 1e-3


@pytest.mark.slow
def test_where_slopes_vary_draws_keep_no_form():
    """E h^2 is more than the square of the mean slope: the parameters are computed anew."""
    read = gp.compile(network(scaled=True), by={"scale": "mean"})
    found = read.verify()
    assert found.proved
    assert element_loops.kept_forms(read.schedule) == ()


# ---- networks ------------------------------------------------------------------------------------


def network(nodes=6, factors=2, order=2, *, scaled=False, loops=False):
    """Products of the vectors of the nodes of each tuple."""
    choose = itertools.combinations_with_replacement if loops else itertools.combinations
    ends = np.array(list(choose(range(nodes), order)))
    target = np.random.default_rng(0).normal(size=len(ends))
    coords = {"node": nodes, "factor": factors, "tuple": len(ends)}
    with gp.Model(coords=coords, name="network") as model:
        of = [gp.Index(f"end_{n}", e, of="node", dims="tuple") for n, e in enumerate(ends.T)]
        tau = gp.Gamma("tau", 2, rate=1)
        u = gp.Normal("u", 0, tau=1, dims=("node", "factor"))
        product = gp.Normal("scale", 1, tau=1, dims="factor") if scaled else 1
        for index in of:
            product = product * u[index]
        gp.Normal("y", product.sum("factor"), tau=tau, dims="tuple", observed=target)
    return model


@pytest.mark.parametrize(
    "given",
    [{}, *(pytest.param(g, marks=pytest.mark.slow)
           for g in ({"scaled": True}, {"order": 3, "nodes": 5}))],
    ids=["pairs", "pairs of scaled factors", "triples"],
)  # fmt: skip
def test_networks_are_read_by_their_means(given):
    fit = gp.compile(network(**given)).variational(seed=1, sweeps=60, progress=False)

    assert np.diff(fit.trace).min() > -1e-9
    assert fit.verify().proved


def test_an_element_that_may_meet_itself_is_refused_by_name():
    with pytest.raises(CompileError, match="u: it cannot be read by its mean: u has no closed"):
        gp.compile(network(loops=True)).variational(progress=False)


@pytest.mark.slow
def test_matrices_between_two_vectors_are_read_by_element():
    ends = np.array(list(itertools.permutations(range(5), 2)))
    target = np.random.default_rng(1).normal(size=len(ends))
    with gp.Model(coords={"node": 5, "f": 2, "g": 2, "pair": len(ends)}, name="blocks") as model:
        one, other = (gp.Index(n, ends[:, j], of="node", dims="pair") for j, n in enumerate("ab"))
        B = gp.Normal("B", 0, tau=1, dims=("f", "g"))
        u = gp.Normal("u", 0, tau=1, dims=("node", "f"))
        z = gp.Normal("z", 0, tau=1, dims=("node", "g"))
        mean = ((u[one] * B).sum("f") * z[other]).sum("g") + (u[one] * u[other]).sum("f")
        gp.Normal("y", mean, tau=1, dims="pair", observed=target)

    with pytest.raises(CompileError, match=r"vector along several dims: compile with blocks="):
        gp.compile(model).variational(progress=False)
    sampler = gp.compile(model, blocks={"B": "elements"})
    assert sampler.variational(seed=1, sweeps=40, progress=False).verify().proved


def test_products_of_two_elements_without_a_sum_are_drawn_by_colours():
    ends = np.array(list(itertools.combinations(range(6), 2)))
    target = np.random.default_rng(2).normal(size=len(ends))
    with gp.Model(coords={"node": 6, "pair": len(ends)}, name="one factor") as model:
        one, other = (gp.Index(n, ends[:, j], of="node", dims="pair") for j, n in enumerate("ab"))
        u = gp.Normal("u", 0, tau=1, dims="node")
        gp.Normal("y", u[one] * u[other], tau=2, dims="pair", observed=target)
    sampler = gp.compile(model)

    assert sampler.schedule.step("u").owner == "Normal"
    assert sampler.verify().proved
    assert sampler.variational(seed=1, progress=False).verify().proved
