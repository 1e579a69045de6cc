"""Blocks within constraints, and of logs of sums: cut points with coefficients, risk sets."""

import numpy as np
import pytest
import sympy as sp
from replays import beside
from scipy import integrate, special
from test_modal import FAR, misses, moves

import gibbsppl as gp
from gibbsppl.algebra import expansions
from gibbsppl.algebra.expansions import expanded
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.functions import Expit, LogMass, LogPhi, Phi
from gibbsppl.algebra.masses import PLACE, Mass, mass_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.curvature import curvature_of
from gibbsppl.derive import second_order as deriving
from gibbsppl.derive.certificate import log_concave
from gibbsppl.derive.compensation import RULE_OF_SQUARES
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.second_order import second_order
from gibbsppl.errors import CompileError
from gibbsppl.families import discrete
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.pieces import logs
from gibbsppl.pieces.split import Piece
from gibbsppl.planning.modal import terms_of

x, cut, scale = Array("x")[()], Array("cut"), Array("scale", positive=True)[()]
LOWER, UPPER = cut[0] - x, cut[1] - x
HELD = {"cut": "step of cut", "x": "step of x"}
AT = {cut[0]: -0.3, cut[1]: 0.8, x: 0.2, scale: 1.4}


def of_normal(lower, upper):
    """The log of a normal mass, by the tails on both sides."""
    return LogMass(*(LogPhi(s * e) for s in (1, -1) for e in (lower, upper)))


MASSES = {
    "logistic": sp.log(Expit(UPPER) - Expit(LOWER)),
    "normal": sp.log(Phi(UPPER) - Phi(LOWER)),
    "normal, by tails": of_normal(LOWER, UPPER),
    "with a scale": of_normal(LOWER / scale, UPPER / scale),
    "of smallest values": sp.log(sp.exp(-sp.exp(LOWER)) - sp.exp(-sp.exp(UPPER))),
    "of largest values": sp.log(sp.exp(-sp.exp(-UPPER)) - sp.exp(-sp.exp(-LOWER))),
}


def number(expr, at=None):
    """The value of an expression at the numbers of `AT`."""
    values = {**AT, **(at or {})}
    return float(expr.xreplace({k: sp.Float(v, 30) for k, v in values.items()}).evalf(30))


# ---- masses ------------------------------------------------------------------------------------


def integrated(mass):
    """The log of the integral of the density of a mass between its ends."""
    ends = number(mass.lower), number(mass.upper)
    return np.log(integrate.quad(lambda u: np.exp(number(mass.log_density, {PLACE: u})), *ends)[0])


@pytest.mark.parametrize("name", MASSES)
def test_a_mass_is_the_integral_of_its_density(name):
    mass = mass_of(MASSES[name], HELD)

    assert integrated(mass) == pytest.approx(number(MASSES[name]), rel=1e-9)


@pytest.mark.parametrize("name", MASSES)
def test_masses_of_log_concave_densities_are_concave_in_both_ends(name):
    found = curvature_of(MASSES[name], "cut", lambda _: None)

    assert found.kind == "concave"
    assert "mass" in str(found)


@pytest.mark.parametrize(
    "expr",
    [
        sp.log(sp.atan(UPPER) - sp.atan(LOWER)),  # (the tails of a Cauchy density are not concave)
        sp.log(Expit(cut[1] ** 2) - Expit(cut[0] ** 2)),
        sp.log(Expit(UPPER) - Phi(LOWER)),
    ],
)
def test_other_differences_are_not_certified(expr):
    assert curvature_of(expr, "cut", lambda _: None).kind == "unknown"


def differences(expr, way):
    """The first and half of the second derivative along a way, by extrapolated differences."""

    def at(step):
        return number(expr, {k: AT[k] + step * w for k, w in way.items()})

    found = [
        [(at(h) - at(-h)) / (2 * h), (at(h) + at(-h) - 2 * at(0)) / (2 * h**2)]
        for h in (0.02, 0.01)
    ]
    coarse, fine = np.array(found)
    return fine + (fine - coarse) / 3


def along(expr, way):
    """The terms of degree one and two along a way, by the expansion."""
    polynomial = expanded(expr, HELD)

    def at(sign):
        steps = {
            leaf.xreplace({leaf: Array(HELD[leaf.array.name])[leaf.indices]}): sign * w
            for leaf, w in way.items()
        }
        return number(polynomial, steps)

    return np.array([(at(1) - at(-1)) / 2, (at(1) + at(-1)) / 2])


WAY = {cut[0]: 0.4, cut[1]: -0.7, x: 0.3}


@pytest.mark.parametrize("name", MASSES)
def test_masses_are_expanded_to_second_order(name):
    np.testing.assert_allclose(along(MASSES[name], WAY), differences(MASSES[name], WAY), rtol=1e-6)


def test_a_wrong_slope_of_the_density_is_seen(monkeypatch):
    monkeypatch.setattr(Mass, "slope_at", lambda *_: sp.S.Zero)
    found, expected = (f(MASSES["logistic"], WAY) for f in (along, differences))

    assert found[0] == pytest.approx(expected[0], rel=1e-6)
    assert found[1] != pytest.approx(expected[1], rel=1e-2)


# ---- cut points --------------------------------------------------------------------------------

LINKS = {
    "logit": (gp.expit, special.expit),
    "probit": (gp.Phi, special.ndtr),
    "cloglog": (lambda e: 1 - gp.exp(-gp.exp(e)), lambda e: -np.expm1(-np.exp(e))),
}
DOSE = np.array([-1.0, -0.4, 0.1, 0.5, 1.2, 2.0])
ANSWERS = np.array([0, 1, 0, 2, 1, 2])


def ordinal(link, answers=ANSWERS, dose=DOSE, tau=0.5):
    """Answers in three steps, with a coefficient and two cut points in order."""
    function = LINKS[link][0]
    with gp.Model(coords={"i": len(dose), "step": 3, "between": 2}, name=link) as model:
        given = gp.Data("x", dose, dims="i")
        slope = gp.Normal("slope", 0, tau=tau)
        c = gp.Normal("c", 0, tau=tau, dims="between")
        gp.Constraint("order", c.lag("between", 1) < c)
        p = gp.Array("p", dims=("i", "step"))
        below = [function(c[j] - slope * given) for j in range(2)]
        p[:, 0] = below[0]
        p[:, 1] = below[1] - below[0]
        p[:, 2] = 1 - below[1]
        gp.Categorical("y", p, dims="i", event="step", observed=answers)
    return model


def grid_of(link, tau=0.5):
    """Points of a grid that has all of the posterior, and their probabilities."""
    axes = np.linspace(-7, 7, 121), np.linspace(-6, 6, 121), np.linspace(-6, 6, 121)
    slope, low, high = np.meshgrid(*axes, indexing="ij")
    total = -tau * (slope**2 + low**2 + high**2) / 2
    with np.errstate(all="ignore"):
        for dose, answer in zip(DOSE, ANSWERS, strict=True):
            below = [LINKS[link][1](c - slope * dose) for c in (low, high)]
            each = (below[0], below[1] - below[0], 1 - below[1])
            total = total + np.log(each[answer])
        total = np.where(low < high, total, -np.inf)
    weight = np.exp(total - np.nanmax(total))
    return (slope, low, high), np.nan_to_num(weight) / np.nansum(weight)


@pytest.mark.parametrize("link", LINKS)
def test_cut_points_and_coefficients_are_one_block(link):
    sampler = gp.compile(ordinal(link))
    (step,) = sampler.schedule.steps

    assert moves(sampler) == [step]
    assert set(step.variables) == {"slope", "c"}
    assert "mass" in str(step.certificate) or "log_gamma_p" in str(step.certificate)
    assert sampler.verify().passed


@pytest.mark.slow
@pytest.mark.parametrize("link", LINKS)
def test_cut_points_are_drawn_from_their_posterior(link):
    draws = gp.compile(ordinal(link)).sample(
        4000, warmup=300, chains=2, seed=3, backend="compiled", progress=False
    )
    own = (draws["slope"], draws["c"][..., 0], draws["c"][..., 1])
    points, weight = grid_of(link)
    found = [
        misses(values**power, float((weight * known**power).sum()))
        for values, known in zip(own, points, strict=True)
        for power in (1, 2)
    ]

    assert (own[1] < own[2]).all()
    assert max(found) < FAR


@pytest.mark.parametrize("link", LINKS)
def test_loops_make_the_same_steps_within_constraints(link):
    sampler = gp.compile(ordinal(link))
    (chain,), _ = sampler.initial_states(1, 5)

    assert beside(sampler, chain.state, chain.rng).far == []


def test_cuts_that_may_meet_are_not_proposed():
    """Of a step that nobody chose: the mode is where two cuts meet, and proposals are lost."""
    answers = np.where(ANSWERS == 1, 0, ANSWERS)

    assert not moves(gp.compile(ordinal("logit", answers)))


def test_modes_are_not_climbed_to_within_constraints():
    """A mode may be where a constraint ends: Newton steps know nothing of that."""
    sampler = gp.compile(ordinal("logit"))
    graph, data = sampler.schedule.graph, sampler.data
    statements = [graph.statement(n) for n in ("slope", "c")]
    terms = terms_of(graph, {"slope", "c"})

    assert second_order(graph, statements, terms, data) is None
    assert second_order(graph, statements, terms, data, constrained=True) is not None
    assert conditional_of(graph, statements[1], data).how_drawn == "by adaptive rejection"


# ---- intervals ---------------------------------------------------------------------------------

COUNTED = np.array([0, 3, 1, 4, 9])


def within(low, high, tail=None, **settings):
    """A level and a slope of counts, the level in an interval, the slope from a point on."""
    with gp.Model(coords={"i": 5}, name="within") as model:
        level = gp.Uniform("level", low, high)
        slope = gp.Normal("slope", 0, tau=0.5, lower=tail)
        dose = gp.Data("dose", DOSES, dims="i")
        gp.Poisson("y", gp.exp(level + slope * dose), dims="i", observed=COUNTED)
    asked = {"blocks": {("level", "slope"): "proposed"}, **settings}
    return gp.compile(model, **asked)


DOSES = np.array([-1.0, -0.2, 0.3, 0.9, 1.6])
INTERVALS = {"far ends": (-100, 100, None), "ends that hold": (0.2, 0.6, 0.5)}


def grid_within(low, high, tail):
    """Points of a grid between the ends, and their probabilities."""
    ends = (max(low, -3), min(high, 3)), (-4 if tail is None else tail, 4)
    axes = [a + (b - a) * (np.arange(400) + 0.5) / 400 for a, b in ends]
    level, slope = np.meshgrid(*axes, indexing="ij")
    line = level[..., None] + slope[..., None] * DOSES
    total = (COUNTED * line - np.exp(line)).sum(-1) - 0.25 * slope**2
    weight = np.exp(total - total.max())
    return (level, slope), weight / weight.sum()


@pytest.mark.parametrize("name", INTERVALS)
def test_what_is_within_an_interval_is_proposed_and_has_its_posterior(name):
    ends = INTERVALS[name]
    sampler = within(*ends)
    (step,) = moves(sampler)
    draws = sampler.sample(6000, warmup=300, chains=2, seed=3, backend="numpy", progress=False)
    points, weight = grid_within(*ends)

    assert set(step.variables) == {"level", "slope"}
    assert sampler.verify().passed
    assert ((draws["level"] > ends[0]) & (draws["level"] < ends[1])).all()
    assert ends[2] is None or (draws["slope"] > ends[2]).all()
    for own, known in zip((draws["level"], draws["slope"]), points, strict=True):
        for power in (1, 2):
            assert misses(own**power, float((weight * known**power).sum())) < FAR


@pytest.mark.parametrize("name", INTERVALS)
def test_loops_make_the_same_steps_within_intervals(name):
    sampler = within(*INTERVALS[name])
    (chain,), _ = sampler.initial_states(1, 5)

    assert beside(sampler, chain.state, chain.rng).far == []


@pytest.mark.parametrize("name", INTERVALS)
def test_proposals_that_forget_the_ends_are_seen(name, monkeypatch):
    monkeypatch.setattr(deriving, "_ends", lambda s, *_, **__: (s.name, sp.S.Zero, s.over))
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")
    sampler = within(*INTERVALS[name])

    assert not sampler.verify().passed


def test_a_climb_ends_where_there_are_no_second_derivatives():
    """Beyond a constraint a log density is no number: no step is made from there."""
    with gp.Model(coords={"i": 4}, name="learning") as model:
        level, slope = gp.Uniform("level", -5, -1e-5), gp.Uniform("slope", -5, -1e-5)
        before = gp.Data("before", [0.0, 1.0, 2.0, 3.0], dims="i")
        p = gp.exp(level + slope * before)
        gp.Bernoulli("y", p, dims="i", observed=[1, 1, 0, 1])
    sampler = gp.compile(model, blocks={("level", "slope"): "proposed"})
    (chain,), _ = sampler.initial_states(1, 5)
    for _ in range(50):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)

    assert -5 < chain.state["level"] < 0
    assert beside(sampler, chain.state, chain.rng).far == []


def below_a_top(**settings):
    """A level in an interval whose upper end is drawn, and a slope of counts."""
    with gp.Model(coords={"i": 5}, name="below") as model:
        top = gp.Normal("top", 1, tau=4)
        level, slope = gp.Normal("level", 0, tau=1, upper=top), gp.Normal("slope", 0, tau=1)
        dose = gp.Data("dose", DOSES, dims="i")
        gp.Poisson("y", gp.exp(level + slope * dose), dims="i", observed=COUNTED)
    return gp.compile(model, **settings)


def test_ends_that_others_are_hold_what_is_proposed():
    """Proposed together it has the moments that it has drawn one by one."""
    sampler, other = below_a_top(blocks={("level", "slope"): "proposed"}), below_a_top(blocks=False)
    how = {"warmup": 300, "chains": 2, "seed": 3, "backend": "numpy", "progress": False}
    draws, apart = (s.sample(6000, **how) for s in (sampler, other))

    assert [{*step.variables} for step in moves(sampler)] == [{"level", "slope"}]
    assert sampler.verify().passed
    assert (draws["level"] < draws["top"]).all()
    for name in ("top", "level", "slope"):
        own, there = draws[name], apart[name]
        error = np.sqrt(sum(x.var() / float(np.asarray(ess_bulk(x))) for x in (own, there)))
        assert abs(own.mean() - there.mean()) < FAR * error


def test_ends_that_others_are_cannot_be_forgotten(monkeypatch):
    monkeypatch.setattr(deriving, "_ends", lambda s, *_, **__: (s.name, sp.S.Zero, s.over))
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")

    assert not below_a_top(blocks={("level", "slope"): "proposed"}).verify().passed


# ---- cut points that are ends of one another ---------------------------------------------------


def declared_above(link, shape, tau=0.5):
    """Answers in three steps, the second cut point declared above the first one."""
    function = LINKS[link][0]
    with gp.Model(coords={"i": len(DOSE), "step": 3, "between": 2}, name=link) as model:
        given = gp.Data("x", DOSE, dims="i")
        slope = gp.Normal("slope", 0, tau=tau)
        if shape == "numbers":
            low = gp.Normal("low", 0, tau=tau)
            cuts = (low, gp.Normal("high", 0, tau=tau, lower=low))
        else:
            c = gp.Array("c", dims="between")
            c[0] = gp.Normal(0, tau=tau)
            c[1:] = gp.Normal(0, tau=tau, lower=c.lag("between", 1))
            cuts = (c[0], c[1])
        p = gp.Array("p", dims=("i", "step"))
        below = [function(e - slope * given) for e in cuts]
        p[:, 0] = below[0]
        p[:, 1] = below[1] - below[0]
        p[:, 2] = 1 - below[1]
        gp.Categorical("y", p, dims="i", event="step", observed=ANSWERS)
    return model


SHAPES = {"numbers": {"slope", "low", "high"}, "an array": {"slope", "c"}}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_cut_points_that_are_ends_are_one_block(link, shape):
    sampler = gp.compile(declared_above(link, shape))
    (step,) = sampler.schedule.steps

    assert moves(sampler) == [step]
    assert {*step.variables} == SHAPES[shape]
    assert RULE_OF_SQUARES in str(step.certificate)
    assert sampler.verify().passed


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["compiled", "numpy"])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_cut_points_that_are_ends_have_their_posterior(link, backend):
    """The second one is of a truncated density, whose mass depends on the first."""
    draws = gp.compile(declared_above(link, "numbers")).sample(
        4000, warmup=300, chains=2, seed=3, backend=backend, progress=False
    )
    own = (draws["slope"], draws["low"], draws["high"])
    points, weight = grid_of(link)
    weight = weight / special.ndtr(-points[1] * np.sqrt(0.5))
    found = [
        misses(values**power, float((weight * known**power).sum() / weight.sum()))
        for values, known in zip(own, points, strict=True)
        for power in (1, 2)
    ]

    assert (own[1] < own[2]).all()
    assert max(found) < FAR


def moved_from_far():
    """The number of points among draws from a start where some steps have no probability."""
    sampler = gp.compile(declared_above("probit", "numbers"))
    far = {"slope": 6.0, "low": 2.5, "high": 3.5}
    how = {"warmup": 20, "chains": 1, "seed": 3, "backend": "numpy", "progress": False}
    return np.unique(sampler.sample(100, init=far, **how)["high"]).size


def test_far_cut_points_are_come_back_from():
    """Where a step is far in one tail, its log keeps its digits, and has slopes."""
    assert moved_from_far() > 50


def test_differences_without_digits_hold_cut_points(monkeypatch):
    for module in (logs, discrete):
        monkeypatch.setattr(module, "log_of_difference", lambda _: None)
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")

    assert moved_from_far() == 1


CONCAVE = {"as much": (0.5, 0.5, True), "more": (0.7, 0.5, True), "less": (0.2, 0.5, False)}


@pytest.mark.parametrize("name", CONCAVE)
def test_a_mass_needs_a_square_of_its_own(name):
    """Minus the log of the mass above a number bends up by at most the precision of the density."""
    first, second, is_concave = CONCAVE[name]
    with gp.Model() as model:
        low = gp.Normal("low", 0, tau=first)
        gp.Normal("high", 0, tau=second, lower=low, observed=2.0)
    sampler = gp.compile(model)
    graph = sampler.schedule.graph
    found = conditional_of(graph, graph.statement("low"), sampler.data)
    numbers = np.linspace(-30, 1.9, 3000)
    values = -special.log_ndtr(-numbers * np.sqrt(second)) - first * numbers**2 / 2
    rounding = 4 * np.finfo(float).eps * np.abs(values).max()

    assert isinstance(found, LogConcave) == is_concave
    assert (np.diff(values, 2) < rounding).all() == is_concave


def test_equal_functions_need_a_square_each():
    """A piece that is there twice counts twice."""
    k, c = Dim("k"), Array("c")
    over = (Range(k, 0, 3),)
    square = Piece("c", c[k] ** 2, (), sp.Rational(-1, 2), over)
    function = Piece("above", LogPhi(-c[k]), (), sp.Integer(-1), over)
    found = [
        log_concave((square, *(function,) * n), ("c",), lambda _: (-sp.oo, sp.oo)) for n in (1, 2)
    ]

    assert found[0] is not None
    assert found[1] is None


def test_what_stands_against_a_block_is_not_what_a_square_makes_up_for():
    with gp.Model(coords={"i": 6}) as model:
        low = gp.Normal("low", 0, tau=0.5)
        high = gp.Normal("high", 0, tau=0.5, lower=low)
        slope = gp.StudentT("slope", nu=4, mu=0, tau=1)
        line = slope * gp.Data("x", DOSE, dims="i")
        p = gp.Phi(high - line) - gp.Phi(low - line)
        gp.Bernoulli("y", p, dims="i", observed=[0, 1, 0, 1, 1, 0])
    with pytest.raises(CompileError, match=r"slope.*, from slope, "):
        gp.compile(model, blocks={("low", "high", "slope"): "proposed"}, rewrites=False)


@pytest.mark.parametrize("rewrites", [True, False])
def test_gradients_go_through_masses(rewrites):
    """Of a mass with the form that it has where the interval is narrow, and without it."""
    with gp.Model(coords={"i": 6}) as model:
        slope, level = gp.Normal("slope", 0, tau=1), gp.Normal("level", 0, tau=1)
        line = level - slope * gp.Data("x", DOSE, dims="i")
        p = gp.Phi(line + 1) - gp.Phi(line - 1)
        gp.Bernoulli("y", p, dims="i", observed=[0, 1, 0, 1, 1, 0])
    sampler = gp.compile(model, kernels={"slope": gp.NUTS()}, rewrites=rewrites)

    assert sampler.verify().passed
    assert "NUTS" in str(sampler)


# ---- rows at risk ------------------------------------------------------------------------------


def cox(size=60, columns=3, tied=0.0, seed=2):
    """Coefficients of a partial likelihood, the rows from the last time to the first."""
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((size, columns))
    for k in range(1, columns):
        design[:, k] = tied * design[:, k - 1] + np.sqrt(1 - tied**2) * design[:, k]
    times = rng.exponential(np.exp(-0.5 * design[:, 0]))
    order, died = np.argsort(-times), rng.random(size) < 0.7
    with gp.Model(coords={"i": size, "k": columns}, name="cox") as model:
        given = gp.Data("x", design[order], dims=("i", "k"))
        event = gp.Data("died", died.astype(float), dims="i")
        beta = gp.Normal("beta", 0, tau=0.1, dims="k")
        line = given @ beta
        gp.Potential("partial", event * (line - gp.log(gp.exp(line).cumsum("i"))), dims="i")
    return model, (design[order], died)


def grid_of_cox(design, died):
    """Two coefficients on a grid: points, and their probabilities."""
    one, other = np.meshgrid(np.linspace(-4, 4, 161), np.linspace(-4, 4, 161), indexing="ij")
    line = one[..., None] * design[:, 0] + other[..., None] * design[:, 1]
    partial = died * (line - np.log(np.cumsum(np.exp(line), axis=-1)))
    total = partial.sum(axis=-1) - 0.05 * (one**2 + other**2)
    weight = np.exp(total - total.max())
    return (one, other), weight / weight.sum()


def test_coefficients_of_a_partial_likelihood_are_one_block():
    sampler = gp.compile(cox()[0])
    (step,) = moves(sampler)

    assert "a sum of exponentials" in str(step.certificate)
    assert sampler.verify().passed
    (chain,), _ = sampler.initial_states(1, 5)
    assert beside(sampler, chain.state, chain.rng).far == []


@pytest.mark.slow
def test_coefficients_of_a_partial_likelihood_have_their_posterior():
    model, data = cox(size=9, columns=2)
    draws = gp.compile(model).sample(
        4000, warmup=300, chains=2, seed=3, backend="compiled", progress=False
    )
    points, weight = grid_of_cox(*data)
    for k, known in enumerate(points):
        for power in (1, 2):
            expected = float((weight * known**power).sum())
            assert misses(draws["beta"][..., k] ** power, expected) < FAR


def accepted(model):
    """The share of proposals that a chain accepts."""
    sampler = gp.compile(model)
    draws = sampler.sample(400, warmup=100, chains=1, seed=1, backend="numpy", progress=False)
    moved = (np.diff(draws["beta"][0, :, 0]) != 0).mean()
    return float(moved)


def test_proposals_from_rows_at_risk_are_nearly_all_accepted(monkeypatch):
    """With squares a ninth of what they are, proposals go three times too far."""
    right = accepted(cox(size=200, tied=0.9)[0])
    squared = expansions._squared
    monkeypatch.setattr(expansions, "_squared", lambda *of: squared(*of) / 9)
    monkeypatch.setenv("GIBBSPPL_CACHE", "")
    wrong = accepted(cox(size=200, tied=0.9)[0])

    assert right > 0.85
    assert wrong < right - 0.1
