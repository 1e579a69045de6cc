"""Changes of variable: there and back, their Jacobians, images of supports, values at the edges."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from forms import FORMS
from scipy import stats

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.functions import LogGammaP, Softplus
from gibbsppl.algebra.supports import POSITIVE, REAL, UNIT, Support
from gibbsppl.code.program import load
from gibbsppl.derive.changes import (
    COMPLEMENT,
    EXPONENTIAL,
    LOG,
    LOGIT,
    ODDS,
    POWER,
    PROBABILITY,
    SCALE,
    SHIFT,
    STRAIGHTENING,
    TRANSFORMS,
    Change,
    proposed,
)
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import evaluate

EPSILON = float(np.finfo(float).eps)
ROUNDING = 64 * EPSILON
R = sp.Rational
X, U, C = Array("x")[()], Array("u")[()], Array("c", positive=True)[()]
A, B = Array("a", positive=True)[()], Array("b", positive=True)[()]
EXACT = sp.Symbol("x", positive=True)

CONSTANTS = {
    POWER: (2, -2, R(1, 2), R(-1, 2), 1, -1, 3, R(-3, 2), R(7, 3), C, -C),
    EXPONENTIAL: (1, -1, 2, R(-2, 3), C, -C),
    SCALE: (2, R(1, 3), C),
    COMPLEMENT: (1, 3, C),
    SHIFT: (0, 3, R(-5, 2), C),
}
CHANGES = [Change(t, sp.sympify(c)) for t in TRANSFORMS for c in CONSTANTS.get(t, (0,))]
VALUES = {"c": 1.7}


def named(change):
    return f"{change.transform.name} {change.constant}"


each_change = pytest.mark.parametrize("change", CHANGES, ids=named)


def value(expr, **values):
    """The value of an expression at numbers, elementwise."""
    size = max(np.size(v) for v in values.values())
    found = [
        evaluate(expr, (), {**VALUES, **{n: float(np.ravel(v)[k]) for n, v in values.items()}}, {})
        for k in range(size)
    ]
    return np.ravel(found)


def points(domain, count=40, seed=1):
    """Values inside a domain, over several orders of magnitude."""
    noise = 2 * np.random.default_rng(seed).standard_normal(count)
    if domain == REAL:
        return noise
    return np.exp(noise) if domain.upper == sp.oo else 1 / (1 + np.exp(-noise))


def slope(change, x):
    """The derivative of forward, by SymPy."""
    return value(sp.diff(change.forward(EXACT), EXACT).xreplace({EXACT: X}), x=x)


# ---- there and back --------------------------------------------------------------------------


def round_trip(change):
    """How far from x the image of x comes back, in units of what rounding explains."""
    x = points(change.transform.domain)
    u = value(change.forward(X), x=x)
    back = value(change.backward(U), u=u)
    # An image that is rounded comes back within that error times the derivative of the way back.
    explained = np.abs(x) + 1 + np.abs(u / slope(change, x))
    return np.max(np.abs(back - x) / explained)


@each_change
def test_what_is_changed_can_be_undone(change):
    assert round_trip(change) <= ROUNDING


@each_change
def test_what_is_undone_can_be_changed(change):
    u = value(change.forward(X), x=points(change.transform.domain, seed=2))
    x = value(change.backward(U), u=u)
    again = value(change.forward(X), x=x)

    explained = np.abs(u) + 1 + np.abs(x * slope(change, x)) + np.abs(slope(change, x))
    assert np.max(np.abs(again - u) / explained) <= ROUNDING


def test_another_exponent_is_not_the_way_back():
    wrong = replace(POWER, backward=lambda u, c: u**c)

    assert round_trip(Change(wrong, sp.Integer(-2))) > ROUNDING


# ---- the Jacobian ----------------------------------------------------------------------------


def spread_of_jacobian(change):
    """How much ``log |dx/du|`` and the row's differ from point to point."""
    x = points(change.transform.domain, seed=3)
    u = value(change.forward(X), x=x)
    claimed = value(change.log_jacobian(U), u=u)
    gaps = -np.log(np.abs(slope(change, x))) - claimed
    return np.ptp(gaps) / (1 + np.max(np.abs(claimed)) + np.max(np.abs(x)))


@each_change
def test_the_jacobian_is_the_derivative_of_the_way_back(change):
    assert spread_of_jacobian(change) <= ROUNDING


WRONG_JACOBIANS = {
    "none": (POWER, lambda _u, _c: sp.S.Zero),
    "of the way forward": (POWER, lambda u, c: (c - 1) * sp.log(u)),
    "the wrong sign": (EXPONENTIAL, lambda u, _: sp.log(u)),
    "half of the logit's": (LOGIT, lambda u, _: u),
    "once for twice": (ODDS, lambda u, _: -sp.log(1 + u)),
}


@pytest.mark.parametrize("name", WRONG_JACOBIANS)
def test_a_wrong_jacobian_is_seen(name):
    row, jacobian = WRONG_JACOBIANS[name]
    change = Change(replace(row, log_jacobian=jacobian), sp.Integer(-2))

    assert spread_of_jacobian(change) > ROUNDING


# ---- direction, images of supports -----------------------------------------------------------


@each_change
def test_a_change_goes_the_way_that_it_says(change):
    u = value(change.forward(X), x=np.sort(points(change.transform.domain)))
    steps = np.diff(u)

    assert (steps > 0).all() if change.is_increasing else (steps < 0).all()


def test_what_is_suggested_goes_the_way_that_it_says():
    below = Support("real", -sp.oo, sp.Integer(-2))
    for change in proposed([sp.log(-2 - X)], X):
        lower, upper = change.image(below)

        assert lower < upper, named(change)


NUMBERS = (
    REAL, POSITIVE, UNIT, Support("real", sp.Integer(2)), Support("real", R(1, 4), R(1, 2)),
    Support("real", sp.Integer(1), sp.Integer(100)), Support("real", -sp.oo, sp.Integer(3)),
    Support("real", sp.Integer(-2), sp.Integer(5)), Support("real", sp.S.Zero, R(1, 3)),
    Support("real", R(2, 3), sp.Integer(1)),
)  # fmt: skip
IMAGES = [
    (c, s)
    for c in CHANGES
    if c.constant.is_number
    for s in NUMBERS
    if c.applies_to(s)
]


@pytest.mark.parametrize(("change", "support"), IMAGES)
def test_the_image_of_a_support_ends_at_the_limits(change, support):
    lower, upper = sp.sympify(support.lower), sp.sympify(support.upper)
    ends = (
        sp.limit(change.forward(EXACT), EXACT, lower, "+"),
        sp.limit(change.forward(EXACT), EXACT, upper, "-"),
    )

    assert change.image(support) == tuple(sorted(ends))
    assert (change.mapped(support).lower, change.mapped(support).upper) == tuple(sorted(ends))


@each_change
def test_the_image_of_symbolic_bounds(change):
    """Bounds that are read elsewhere: 0.2 and 0.6 are in every domain."""
    support = Support("real", A, B)
    found = [float(value(b, a=0.2, b=0.6)[0]) for b in change.image(support)]
    expected = sorted(value(change.forward(X), x=[0.2, 0.6]))

    np.testing.assert_allclose(found, expected, rtol=ROUNDING)


@each_change
def test_the_image_is_of_the_kind_that_the_support_is(change):
    support = Support("integer", A, B)

    assert change.mapped(support).kind == "integer"


@each_change
def test_the_ends_of_a_row_are_the_limits_at_the_ends_of_its_domain(change):
    assert change.image(change.transform.domain) == limits_at_the_ends(change)


def limits_at_the_ends(change):
    """The smaller one first; any positive number stands for a constant that is not one."""
    domain, number = change.transform.domain, {C: R(17, 10)}
    forward = change.forward(EXACT).xreplace(number)
    lower = sp.limit(forward, EXACT, domain.lower, "+")
    upper = sp.limit(forward, EXACT, domain.upper, "-")
    return (lower, upper) if change.is_increasing else (upper, lower)


WRONG_ENDS = {
    "turned round": (LOG, (sp.oo, -sp.oo)),
    "those of the domain": (LOGIT, (sp.S.Zero, sp.S.One)),
    "one that is infinite": (PROBABILITY, (sp.S.Zero, sp.oo)),
}


@pytest.mark.parametrize("name", WRONG_ENDS)
def test_a_wrong_end_is_seen(name):
    row, ends = WRONG_ENDS[name]
    wrong = Change(replace(row, ends=ends))

    assert wrong.image(row.domain) != limits_at_the_ends(wrong)


# ---- domains ---------------------------------------------------------------------------------

SIGNED = Array("s")[()]
APPLIES = {
    (POWER, POSITIVE): True, (POWER, UNIT): True, (POWER, REAL): False,
    (POWER, Support("real", sp.Integer(-1))): False, (POWER, Support("real", A)): True,
    (POWER, Support("real", SIGNED)): False, (POWER, Support("integer", sp.S.Zero)): False,
    (LOG, POSITIVE): True, (LOG, REAL): False, (LOG, Support("real", sp.S.Zero, SIGNED)): True,
    (LOGIT, UNIT): True, (LOGIT, POSITIVE): False, (LOGIT, REAL): False,
    (LOGIT, Support("real", sp.S.Zero, sp.Integer(2))): False,
    (LOGIT, Support("real", sp.S.Zero, A)): False,
    (LOGIT, Support("real", R(1, 4), R(1, 2))): True,
    (ODDS, UNIT): True, (ODDS, Support("real", R(-1, 4), R(1, 2))): False,
    (PROBABILITY, POSITIVE): True, (PROBABILITY, REAL): False,
    (EXPONENTIAL, REAL): True, (COMPLEMENT, REAL): True, (COMPLEMENT, POSITIVE): True,
    (SHIFT, Support("integer", sp.S.Zero)): True,
}  # fmt: skip


@pytest.mark.parametrize(("row", "support"), APPLIES, ids=lambda v: getattr(v, "name", repr(v)))
def test_a_change_applies_where_all_values_are_in_its_domain(row, support):
    assert Change(row, sp.Integer(1)).applies_to(support) == APPLIES[row, support]


# ---- values at the edges ---------------------------------------------------------------------

TINY, HUGE, BELOW_ONE = 1e-300, 1e300, 1 - EPSILON / 2
EDGES = {POSITIVE: (TINY, 1.0, HUGE), UNIT: (TINY, 0.5, BELOW_ONE)}


@pytest.mark.parametrize("row", STRAIGHTENING, ids=lambda t: t.name)
def test_a_log_or_a_logit_takes_all_values_there_and_back(row):
    """These are taken of the current state, whatever it is."""
    x = np.array(EDGES[row.domain])
    u = value(Change(row).forward(X), x=x)
    back = value(Change(row).backward(U), u=u)

    assert np.isfinite(u).all()
    # The log of an extreme number, rounded, is off by its size times epsilon.
    np.testing.assert_allclose(back, x, rtol=np.max(np.abs(u)) * ROUNDING)


DRAWN = {
    "power -2": (Change(POWER, sp.Integer(-2)), POSITIVE),
    "power -1": (Change(POWER, sp.Integer(-1)), POSITIVE),
    "power 3": (Change(POWER, sp.Integer(3)), POSITIVE),
    "exp 1": (Change(EXPONENTIAL, sp.Integer(1)), POSITIVE),
    "exp -2/3": (Change(EXPONENTIAL, R(-2, 3)), POSITIVE),
    "odds": (Change(ODDS), POSITIVE),
    "probability": (Change(PROBABILITY), UNIT),
    "complement": (Change(COMPLEMENT, sp.Integer(1)), UNIT),
}


@pytest.mark.parametrize("name", DRAWN)
def test_extreme_draws_have_finite_values_in_the_closed_support(name):
    change, image = DRAWN[name]
    x = value(change.backward(U), u=np.array(EDGES[image]))
    domain = change.transform.domain
    lower, upper = float(domain.lower), float(domain.upper)

    assert np.isfinite(x).all()
    assert ((lower <= x) & (x <= upper)).all()


# ---- what statistics suggest -----------------------------------------------------------------

GROUP, SHAPES = Dim("g"), Array("shapes", positive=True)
SUGGESTED = {
    "a power": ([X**-2], {"power 2", "power -2"}),
    "a root": ([sp.sqrt(X)], {"power 1/2", "power -1/2"}),
    "the variable": ([X], {"power -1"}),
    "an exponential": ([sp.exp(-2 * X)], {"exp 2", "exp -2"}),
    "a log": ([sp.log(X)], {"log 0"}),
    "a log of a complement": ([sp.log(1 - X)], {"complement 1", "odds 0"}),
    "a log of one more": ([sp.log(1 + X)], {"shift -1", "probability 0"}),
    "a log of what is left": ([sp.log(3 - X)], {"complement 3", "scale 3"}),
    "a log of a sum": ([sp.log(X + 3)], {"shift -3", "scale 3"}),
    "a power by a parameter": ([X ** Array("k", positive=True)[()]], {"power k", "power -k"}),
    "a power inside": ([sp.log(1 + X**3)], {"power 3", "power -3"}),
    "the odds of a power": (
        [Softplus(Array("k", positive=True)[()] * sp.log(X))],
        {"power k", "power -k", "log 0"},
    ),
    "the rest of a power": (
        [LogGammaP(sp.S.One, -Array("k", positive=True)[()] * sp.log(X))],
        {"power k", "power -k", "log 0"},
    ),
    "the rest of an exponential": ([LogGammaP(sp.S.One, 2 * X)], {"exp 2", "exp -2"}),
    "a distribution function": ([LogGammaP(sp.S(3), 2 * X)], set()),
    "nothing of the variable": ([A], set()),
    "an exponent of unknown sign": ([X**SIGNED], set()),
    "an exponent with the variable": ([C**X], set()),
}


@pytest.mark.parametrize("name", SUGGESTED)
def test_statistics_suggest(name):
    forms, expected = SUGGESTED[name]

    assert {named(c) for c in proposed(forms, X)} == expected


def test_suggestions_come_once_in_the_order_of_the_table():
    forms = [sp.log(1 + X), X**-2, X**2, sp.exp(X), X, sp.log(X)]
    found = list(proposed(forms, X))
    order = [TRANSFORMS.index(c.transform) for c in found]

    assert len(found) == len(set(found))
    assert order == sorted(order)


def test_the_new_variable_has_a_name_of_its_own():
    change = Change(POWER, sp.Integer(-2))
    place = Array("sd", positive=True)[GROUP]
    new = change.variable(place, POSITIVE, {"sd", "u_sd"})

    assert str(new) == "u_sd_[g]"
    assert new.is_positive
    assert not Change(LOG).variable(place, POSITIVE, {"sd"}).is_nonnegative


def a_variance(index, own):
    """A variance of one number, whose prior is a power and an exponential, or a family's own."""
    with gp.Model() as m:
        if own:
            v = gp.GeneralizedInverseGaussian("v", p=index, a=2, b=3)
        else:
            v = gp.Gamma("v", index + 0.5, rate=1)
            gp.Normal("y", 0, var=v, observed=1.7)
    return gp.compile(m)


@pytest.mark.parametrize(("index", "own", "family"), [
    (0.5, False, "InverseGaussian of 1/v"),  # (the mixing variance of a Laplace distribution)
    (0.25, False, "GeneralizedInverseGaussian"),
    (1.5, False, "GeneralizedInverseGaussian"),
    (0.5, True, "GeneralizedInverseGaussian"),
])  # fmt: skip
def test_a_family_with_fewer_statistics_wins_after_a_change_of_a_larger_one(index, own, family):
    sampler = a_variance(index, own)
    (step,) = sampler.schedule.steps

    assert step.owner.replace(" of v", "") == family
    assert sampler.verify().passed
    draws = sampler.sample(4000, warmup=0, chains=1, seed=3, progress=False)["v"].ravel()
    a, b = (2.0, 3.0) if own else (2.0, 1.7**2)
    law = stats.geninvgauss(index, np.sqrt(a * b), scale=np.sqrt(b / a))
    assert stats.kstest(draws, law.cdf).pvalue > 1e-3


# ---- the generated undoing, which the ratio check does not read ------------------------------


def part_of_an_array():
    """Elements that other statements fill stay as they are, whatever they are."""
    with gp.Model(coords={"t": 4, "n": 3}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(20, rate=2)
        x[1:] = gp.Uniform(0, 5)
        at = gp.Index("at", [1, 2, 3], of="t", dims="n")
        gp.Normal("y", 0, sigma=x[at], dims="n", observed=[1.0, 2.0, 3.0])
    return m


def one_by_one():
    """Every element is in a term with others."""
    with gp.Model(coords={"g": 3, "n": 4}) as m:
        x = gp.Uniform("x", 0, 5, dims="g")
        a = gp.Index("a", [0, 1, 2, 0], of="g", dims="n")
        b = gp.Index("b", [1, 2, 0, 2], of="g", dims="n")
        gp.Normal("y", 0, sigma=x[a] * x[b], dims="n", observed=[1.0, 2.0, 3.0, 0.5])
    return m


def exponents_by_element():
    with gp.Model(coords={"g": 3}) as m:
        k = gp.Gamma("k", 2, rate=1, dims="g")
        x = gp.Uniform("x", 0, 5, dims="g")
        gp.Weibull("y", k, scale=x, dims="g", observed=[1.0, 2.0, 3.0])
    return m


def exponents_of_a_part():
    with gp.Model(coords={"g": 3}) as m:
        k = gp.Gamma("k", 2, rate=1, dims="g")
        seen = np.array([np.nan, 1.0, np.nan])
        x = gp.Uniform("x", 0, 5, dims="g", observed=seen, missing=np.nan)
        gp.Weibull("y", k, scale=x, dims="g", observed=[1.0, 2.0, 3.0])
    return m


def missing_and_concave():
    with gp.Model(coords={"i": 4}) as m:
        seen = np.array([1.0, np.nan, 2.5, np.nan])
        x = gp.HalfCauchy("x", 1, dims="i", observed=seen, missing=np.nan)
        gp.Normal("y", 0, sigma=x, dims="i", observed=[0.5, 1.0, -2.0, 0.3])
    return m


def concave_one_by_one():
    """Sums of rates, each of whose logs is concave in the log of one of them."""
    with gp.Model(coords={"j": 2, "i": 3}) as m:
        w = gp.Data("w", np.array([[1.0, 2.0], [0.5, 1.0], [2.0, 0.1]]), dims=("i", "j"))
        b = gp.LogNormal("b", 0, tau=1, dims="j")
        gp.Exponential("y", rate=gp.sum(w * b, "j"), dims="i", observed=[0.5, 1.0, 0.2])
    return m


MODELS = (
    part_of_an_array, one_by_one, exponents_by_element, exponents_of_a_part, missing_and_concave,
    concave_one_by_one,
)  # fmt: skip


def changed_steps(sampler):
    """The steps that draw their variable on another scale, by their names."""
    steps = (s for s in sampler.schedule.steps if getattr(s.conditional, "change", None))
    return {s.statement.name: s for s in steps}


@cache
def changed_samplers():
    """All forms, and the models above, that have a change of variable."""
    compiled = {f.name: f.compiled() for f in FORMS}
    compiled |= {build.__name__: gp.compile(build()) for build in MODELS}
    return {name: s for name, s in compiled.items() if changed_steps(s)}


def badly_undone(sampler, source):
    """The steps that a sweep does not set to what the new variable says, and all that it set."""
    steps, wrong, seen = changed_steps(sampler), set(), set()

    def record(s, name, at, drawn):
        x = s[steps[name].statement.target.array.name]
        u = np.full(np.shape(x), np.nan)
        u[at] = drawn[at] if np.shape(drawn) == np.shape(x) and np.shape(x) else drawn
        found, expected = put_and_expected(sampler, steps[name], s, u)
        seen.add(name)
        if not np.allclose(found, expected, rtol=ROUNDING, atol=0):
            wrong.add(name)

    program = load(recorded(source, steps))
    program.sweep.__globals__.update(record=record, s_=np.s_)
    rng, constants = np.random.default_rng(8), sampler.constants
    mend = sampler.program.mended_by(rng, constants)
    state, _ = initial_state(rng, sampler.graph, sampler.data, mend=mend)
    with np.errstate(all="ignore"):
        program.sweep(rng, state, constants)
    return wrong, seen


def put_and_expected(sampler, step, state, u):
    """The values of a variable, and the way back from those of the new one, where it was drawn."""
    target, new = step.statement.target, step.conditional.place.array
    back = step.conditional.change.backward(new[target.indices])
    over, sizes = regions(step.statement, sampler.graph.sizes), sampler.graph.sizes
    values = {**sampler.data, **state, new.name: u}
    found, expected = (evaluate(e, over, values, sizes) for e in (target, back))
    drawn = ~np.isnan(evaluate(new[target.indices], over, values, sizes))
    return found[drawn], expected[drawn]


def recorded(source, steps):
    """The source with a call of ``record`` wherever a sweep has undone a change."""
    start = source.index("def sweep(")
    left = list(steps.items())

    def with_record(m):
        name = next(n for n, s in left if s.statement.target.array.name == m["array"])
        left.remove((name, steps[name]))
        at = m["at"] or "[...]"
        return f'{m[0]}\n{m["indent"]}record(s, "{name}", s_{at}, {m["new"]})'

    put = r'^(?P<indent> *)s\["(?P<array>\w+)"\](?P<at>\[.*?\])? = '
    undone = put + r".*?\b(?P<new>u_(?P=array))\b.*$"
    return source[:start] + re.sub(undone, with_record, source[start:], flags=re.MULTILINE)


def test_every_change_is_undone_in_the_sweep():
    """What is put into the state is the way back from what was drawn."""
    samplers = changed_samplers()
    found = {n: badly_undone(s, s.source) for n, s in samplers.items()}

    assert len(found) > len(MODELS)
    assert {n: wrong for n, (wrong, _) in found.items() if wrong} == {}
    assert {n: seen for n, (_, seen) in found.items()} == {
        n: set(changed_steps(s)) for n, s in samplers.items()
    }


UNDONE_WRONGLY = {
    "uniform_sd": ("sd", r"1 / sqrt\(u_sd\)", "1 / u_sd"),
    "part_of_an_array": ("x[1:]", r"1 / sqrt\(u_x\)", "sqrt(u_x)"),
    "one_by_one": ("x", r"1 / sqrt\(u_x\)", "u_x"),
    "exponents_by_element": ("x", r'-1 / s\["k"\]', '-s["k"]'),
    "exponents_of_a_part": ("x", r'-1 / s\["k"\]', '1 / s["k"]'),
    "missing_and_concave": ("x", r"= \(exp\(u_x\)\)", "= (exp(-u_x))"),
    "log_scales": ("log_sd", r"-log\(u_log_sd\) / 2", "-2 * log(u_log_sd)"),
    "unknown_counts": ("N", r'u_N \+ c\["y"\]', "u_N"),
}


@pytest.mark.parametrize("name", UNDONE_WRONGLY)
def test_a_change_that_is_undone_wrongly_is_seen(name):
    """The ratio check cannot see it: it reads parameters, and makes values of its own."""
    step, pattern, wrong = UNDONE_WRONGLY[name]
    sampler = changed_samplers()[name]
    start = sampler.source.index("def sweep(")
    sweep, count = re.subn(pattern, wrong, sampler.source[start:])

    assert count == 1
    assert badly_undone(sampler, sampler.source[:start] + sweep)[0] == {step}


def after_a_sweep(model):
    """What a sweep makes of a start, with that start."""
    sampler = gp.compile(model)
    rng = np.random.default_rng(9)
    start, _ = initial_state(rng, sampler.graph, sampler.data)
    state = {name: np.array(value) for name, value in start.items()}
    with np.errstate(all="ignore"):
        sampler.program.sweep(rng, state, sampler.constants)
    return start, state


@pytest.mark.parametrize("build", [exponents_of_a_part, missing_and_concave])
def test_known_elements_are_not_changed_by_a_change_of_variable(build):
    model = build()
    start, state = after_a_sweep(model)
    known = model.data["x.known"] == 1

    assert known.any()
    np.testing.assert_array_equal(state["x"][known], start["x"][known])
    assert (state["x"][~known] != start["x"][~known]).all()


def test_elements_of_other_statements_are_not_changed_by_a_change_of_variable():
    """The first element is constant, and has no logarithm."""
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = -2.0
        x[1:] = gp.HalfCauchy(1)
        gp.Normal("y", x, tau=1, dims="t", observed=[-1.0, -2.0, -1.0, -2.0])
    _, state = after_a_sweep(m)

    assert state["x"][0] == -2.0
    assert (state["x"][1:] > 0).all()


def test_changes_with_numbers_that_have_no_closed_form_are_in_order():
    """The constants of two of them are a ``log(1 + exp(number))``."""
    with gp.Model(coords={"i": 3}) as model:
        c = gp.Lomax("c", shape=0.5, scale=1)
        gp.Gompertz("y", shape=2, rate=c, upper=2.5, observed=1.9)
        gp.Lomax("z", shape=c, scale=2, lower=0.2, upper=3, dims="i", observed=[0.9, 2.2, 0.8])

    assert gp.compile(model).verify().proved


@pytest.mark.parametrize("rewrites", [True, False])
def test_exponentials_are_taken_from_the_location_of_their_family(rewrites):
    """``exp(1000 / scale)`` is no number."""
    with gp.Model(coords={"i": 4}) as m:
        mu = gp.Data("mu", np.full(4, 1000.0), dims="i")
        scale = gp.Data("scale", [0.1, 0.5, 1.0, 2.0], dims="i")
        gp.Gumbel("y", mu, scale, dims="i")
    sampler = gp.compile(m, rewrites=rewrites)
    drawn = np.asarray(sampler.sample(500, seed=1)["y"])
    standard = (drawn - 1000) / m.data["scale"]

    assert sampler.verify().proved
    assert stats.kstest(standard.ravel(), "gumbel_r").pvalue > 1e-3


def test_origins_may_be_variables():
    seen = np.ma.masked_array([1000.0, 1001.0, 999.5, 0.0], [False, False, False, True])
    with gp.Model(coords={"i": 4}) as m:
        scale = gp.Gamma("scale", 2, rate=1)
        mu = gp.Normal("mu", 1000, tau=1)
        gp.Gumbel("y", mu, scale, dims="i", observed=seen)

    state = {"scale": np.array(1.5), "mu": np.array(1000.0)}
    for rewrites in (True, False):
        sampler = gp.compile(m, rewrites=rewrites)
        assert sampler.program.given_rest["y"](state, sampler.constants)[0][-1] == -1


@pytest.mark.parametrize("rewrites", [True, False])
def test_locations_far_from_zero_are_drawn(rewrites):
    """A location of 1000 that is a sum, and a missing value: nothing is 0 times infinity."""
    seen = np.ma.masked_array([1000.0, 1001.0, 999.5, 0.0], [False, False, False, True])
    with gp.Model(coords={"i": 4}) as m:
        a, b = gp.Normal("a", 1000, tau=1), gp.Normal("b", 0, tau=1)
        z = gp.Data("z", [0.0, 1.0, 2.0, 3.0], dims="i")
        gp.Gumbel("y", a + b * z, scale=1.0, dims="i", observed=seen)
    sampler = gp.compile(m, rewrites=rewrites, exact=True)
    state = {"a": 1000.0, "b": 0.1, "y": np.array([1000.0, 1001.0, 999.5, 1001.0])}
    given = sampler.program.given_rest["a"](state, sampler.constants)
    change = given(np.array(1001.0)) - given(np.array(1000.0))

    known = slice(None, 3) if rewrites else slice(None)
    lower = np.array([0.0, -0.9, 0.7, -0.7])[known]  # (mu - y)
    assert change == pytest.approx(-0.5 + lower.size - (np.exp(lower) * (np.e - 1)).sum(), rel=1e-9)
    assert sampler.program.given_rest["y"](state, sampler.constants)[0][-1] == -1
    assert sampler.verify().proved


def with_exponentials(rate):
    """A variable whose exponential, to the power of a rate, has a normal variable's statistics."""
    with gp.Model(coords={"i": 3}) as m:
        x = gp.Exponential("x", rate=rate() if callable(rate) else rate)
        gp.Normal("y", gp.exp(-x), tau=0.5, dims="i", observed=[0.2, 0.1, 0.4])
    return next(s for s in gp.compile(m).schedule.steps if s.statement.name == "x")


@pytest.mark.parametrize(("rate", "kind"), [
    (1.0, "exact"), (0.06, "exact"), (0.04, "move"), (1e-300, "move"),
    (lambda: gp.Data("rate", 0.001), "move"), (lambda: gp.Data("rate", 1.0), "exact"),
    (lambda: 0.0005 * gp.Poisson("n", 3), "move"),
    (lambda: gp.Gamma("rate", 2, rate=1), "move"),
    (lambda: gp.Uniform("rate", 0.5, 2), "exact"),
])  # fmt: skip
def test_exponentials_that_may_be_too_small_for_numbers_are_not_drawn(rate, kind):
    """With a rate of 0.001 half of the variable's law is above 745, where exp(-x) is 0."""
    assert with_exponentials(rate).kind == kind
