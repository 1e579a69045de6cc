"""Random models: what is derived agrees with the joint density, what is refused has no closed form.

A refusal is tested by a numerical witness. The log density of one element is projected onto the
statistics of each row of the table, under each change of variable: if nothing is left of it but
rounding, at several states and data, then a conjugate form was missed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, Phase, assume, given, note, settings
from random_models import Line, RandomModel, built, random_models

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.truncations import check_truncations
from gibbsppl.derive import changes, concavity, matching, readings
from gibbsppl.families import FAMILIES
from gibbsppl.kernels.adaptive_rejection import ConcaveDraw
from gibbsppl.kernels.joint import JointDraw
from gibbsppl.kernels.move import Move
from gibbsppl.model.along_draws import DRAW
from gibbsppl.model.density import event_dims, free_elements, log_density, log_joint, regions
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.graph import Censoring

EPS = np.finfo(float).eps
SEEDS = (1, 2, 3)
CONFIRMING = range(4, 24)  # further draws, by which what looks like a missed form is confirmed
POINTS = 48
DROP = 12.0  # of the log density from its largest value to the ends of the grid
SWEEPS = 5
LARGEST = 1e6  # of the values of a draw: beyond it, densities lose the digits that are compared

# Forms that are not derived, by row and change, with the reason.
OUT_OF_REACH = {}

# ---- the changes of variable, written a second time ------------------------------------------


@dataclass(frozen=True, slots=True)
class Transform:
    """A change of variable: ``u = forward(x)``, and ``log |dx/du|`` as a function of x."""

    forward: Callable[[Any], Any]
    log_jacobian: Callable[[Any], Any]
    within: tuple[float, float] = (-np.inf, np.inf)


def power(c):
    return Transform(
        lambda x: x**c, lambda x: (1 - c) * np.log(x), (0.0, np.inf)
    )


def exponential(c):
    return Transform(lambda x: np.exp(c * x), lambda x: -c * x)


CHANGES = {
    "x": Transform(lambda x: x, np.zeros_like),
    "1/x": power(-1.0),
    "x**2": power(2.0),
    "x**-2": power(-2.0),
    "sqrt(x)": power(0.5),
    "1/sqrt(x)": power(-0.5),
    "exp(x)": exponential(1.0),
    "exp(-x)": exponential(-1.0),
    "log(x)": Transform(np.log, np.log, (0.0, np.inf)),
    "1 - x": Transform(lambda x: 1 - x, np.zeros_like),
    "x / (1 - x)": Transform(
        lambda x: x / (1 - x), lambda x: 2 * np.log1p(-x), (0.0, 1.0)
    ),
    "x / (1 + x)": Transform(lambda x: x / (1 + x), lambda x: 2 * np.log1p(x), (0.0, np.inf)),
    "log(x / (1 - x))": Transform(
        lambda x: np.log(x) - np.log1p(-x), lambda x: np.log(x) + np.log1p(-x), (0.0, 1.0)
    ),
}


# ---- the log density of one element along a grid ---------------------------------------------


def stacked(expr, name):
    """The expression with one array read at a position of the grid."""
    if expr is None or not getattr(expr, "args", ()):
        return expr
    args = tuple(stacked(a, name) for a in expr.args)
    if isinstance(expr, Leaf) and expr.array.name == name:
        return Leaf(expr.array, *args[1:], DRAW)
    return expr if args == expr.args else expr.func(*args)


def along_grid(factor, name, size):
    """The factor with one more dim, the grid."""
    censored = tuple(
        Censoring(*(stacked(e, name) for e in (c.where, c.lower, c.upper))) for c in factor.censored
    )
    return replace(
        factor,
        target=stacked(factor.target, name),
        over=(*factor.over, Range(DRAW, 0, size)),
        arguments=tuple((n, stacked(a, name)) for n, a in factor.arguments),
        lower=stacked(factor.lower, name),
        upper=stacked(factor.upper, name),
        censored=censored,
    )


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a latent array at a state, all else fixed."""

    graph: Any
    statement: Any
    values: Any
    at: tuple

    @property
    def name(self):
        return self.statement.target.array.name

    def terms(self, x):
        """The log densities of all factors that mention the element, by value of it."""
        filled = np.repeat(np.asarray(self.values[self.name], float)[..., None], len(x), -1)
        filled[self.at] = x
        values, sizes = {**self.values, self.name: filled}, {**self.graph.sizes, DRAW: len(x)}
        parts = [np.zeros((1, len(x)))] + [
            log_density(along_grid(f, self.name, len(x)), values, sizes).reshape(-1, len(x))
            for f in self.graph.factors_of(self.name)
        ]
        return np.concatenate(parts)

    def log_density(self, x):
        """The log density by value of the element, up to a constant."""
        return self.terms(x).sum(0)

    @property
    def support(self):
        """The bounds of the statement's own support, at this element."""
        shape = tuple(map(len, regions(self.statement, self.graph.sizes)))
        bounds = (self.statement.support.lower, self.statement.support.upper)
        return tuple(float(np.broadcast_to(self.evaluated(b), shape)[self.at]) for b in bounds)

    def evaluated(self, expr):
        over = regions(self.statement, self.graph.sizes)
        return evaluate(sp.sympify(expr), over, self.values, self.graph.sizes)

    def argument(self, expr):
        """An argument of the statement at this element; None where it is a vector's."""
        shape = tuple(map(len, self.statement.over))
        if len(shape) != len(self.at):
            return None
        return float(np.broadcast_to(self.evaluated(expr), shape)[self.at])


def elements_of(graph, statement, values):
    """All free elements of a statement."""
    free = free_elements(statement, values, graph.sizes)
    return [Element(graph, statement, values, tuple(at)) for at in np.argwhere(free)]


def to_line(bounds):
    """Maps between an interval and the real line, there and back, and ``log dx/dt`` by x."""
    lower, upper = bounds
    if np.isfinite(lower) and np.isfinite(upper):
        width = upper - lower
        return (
            lambda x: np.log(x - lower) - np.log(upper - x),
            lambda t: lower + width / (1 + np.exp(-t)),
            lambda x: np.log(x - lower) + np.log(upper - x),
        )
    if np.isfinite(lower):
        return lambda x: np.log(x - lower), lambda t: lower + np.exp(t), lambda x: np.log(x - lower)
    if np.isfinite(upper):
        return (
            lambda x: -np.log(upper - x),
            lambda t: upper - np.exp(-t),
            lambda x: np.log(upper - x),
        )
    return lambda x: x, lambda t: t, np.zeros_like


@dataclass(frozen=True, slots=True)
class Grid:
    """Values of an element across the bulk of its density, and the log density there.

    ``noise`` is how much the log density changes by rounding; ``bounds`` are where it ends.
    """

    x: Any
    f: Any
    noise: float
    bounds: tuple[float, float]


def grid_of(element):
    """The grid of an element; None where the density cannot be evaluated at enough points."""
    with np.errstate(all="ignore"):
        x = _integers(element) if element.statement.support.is_discrete else _bulk(element)
        if x is None or len(x) < 8:
            return None
        f = element.log_density(x)
        shifted = [
            element.log_density(np.nextafter(x, s)) for s in (-np.inf, np.inf)
        ] if not element.statement.support.is_discrete else [f]
    if not np.isfinite(f).all() or not all(np.isfinite(g).all() for g in shifted):
        return None
    size = np.abs(element.terms(x)).sum(0).max()
    noise = max(np.abs(g - f).max() for g in shifted) + len(f) * EPS * size
    return Grid(x, f, noise, _ends(element))


def _integers(element):
    lower, upper = element.support
    first = max(lower, element.values[element.name][element.at] - 60)
    x = first + np.arange(min(121, upper - first + 1))
    f = element.log_density(x)
    kept = np.isfinite(f) & (f > np.max(f[np.isfinite(f)]) - 30)
    inside = np.flatnonzero(kept)
    x = x[inside[0] : inside[-1] + 1]
    return x if np.isfinite(element.log_density(x)).all() else None


def _bulk(element):
    """Points evenly spaced on the line that the support is mapped to, across the bulk there."""
    forward, backward, jacobian = to_line(element.support)
    at = forward(element.values[element.name][element.at])
    steps = np.geomspace(1e-4, 60, 60)
    t = np.concatenate([at - steps[::-1], [at], at + steps])
    for points in (200, 200, POINTS):
        x = backward(t)
        f = element.log_density(x) + jacobian(x)
        f = np.where(np.isfinite(f), f, -np.inf)
        kept = np.flatnonzero(f > f.max() - DROP)
        if len(kept) < 2 or np.isneginf(f).all():
            return None
        t = np.linspace(t[kept[0]], t[kept[-1]], points)
    return backward(t)


def _ends(element):
    """The interval where the density is positive: the support, or less by other factors."""
    lower, upper = element.support
    here = float(element.values[element.name][element.at])
    discrete = element.statement.support.is_discrete
    found = []
    for end in (lower, upper):
        if discrete:
            steps = np.arange(0.0, min(abs(end - here), 300) + 1) * np.sign(end - here)
            inside = np.isfinite(element.log_density(here + steps))
            stop = np.argmin(inside) if not inside.all() else len(inside)
            found.append(end if stop == len(inside) else here + steps[stop - 1])
            continue
        forward, backward, _ = to_line((lower, upper))
        sign = 1.0 if end == upper else -1.0
        t = forward(here) + sign * np.geomspace(1e-4, 20, 60)
        inside = np.isneginf(element.log_density(backward(t)))
        found.append(backward(t[np.argmax(inside)]) if inside.any() else end)
    return tuple(found)


# ---- the witness -----------------------------------------------------------------------------


def columns_of(family, change, element, grid):
    """The statistics of a row and its log base at the values; None where it cannot be the row."""
    natural = family.natural
    kind = element.statement.support.kind
    bounds = sorted(change.forward(np.array(grid.bounds)))
    own, known = support_of(family, element, bounds)
    if own is None or own.kind != ("real" if kind == "vector" else kind):
        return None
    ends = [float(b) for b in (own.lower, own.upper)]
    is_own = np.array_equal(bounds, ends)
    widest = natural.within or own
    if not is_own and (
        natural.truncated is None
        or bounds[0] < float(widest.lower)
        or bounds[1] > float(widest.upper)
    ):
        return None
    place, n = Array("u")[DRAW], len(grid.x)
    values, over = {"u": change.forward(grid.x)}, (Range(DRAW, 0, n),)
    statistics = natural.statistics(place, (), **known)
    base = natural.log_base(place, (), **known)
    *found, log_base = (
        np.broadcast_to(evaluate(sp.sympify(s), over, values, {}), (n,))
        for s in (*statistics, base)
    )
    return np.array(found).reshape(len(statistics), n), log_base


def support_of(family, element, bounds):
    """The row's support, and the values of its known parameters: its own, or its bounds."""
    own = dict(element.statement.arguments) if family is element.statement.family else {}
    symbols = {n: sp.Symbol(n) for n in family.parameters}
    support = family.support((), **symbols)
    known = {}
    for name in family.natural.known:
        for bound, value in zip((support.lower, support.upper), bounds, strict=True):
            if bound == symbols[name] and np.isfinite(value):
                known[name] = sp.Float(value)
        if name not in known and name in own:
            value = element.argument(own[name])
            if value is not None:
                known[name] = sp.Float(value)
    if set(known) != set(family.natural.known):
        return None, {}
    support = family.support((), **(symbols | known))
    if any(sp.sympify(b).free_symbols for b in (support.lower, support.upper)):
        return None, {}
    return support, known


def residual(columns, f):
    """What is left of f off the span of the columns and 1, and the rounding of that number.

    By the backward error of least squares: n roundings of the terms that the columns add up to.
    """
    basis = np.vstack([np.ones_like(f), *columns])
    size = np.abs(basis).max(axis=1)
    basis = basis[size > 0] / size[size > 0, None]
    orthogonal, upper = np.linalg.qr(basis.T)
    coefficients = np.linalg.lstsq(upper, orthogonal.T @ f, rcond=None)[0]
    left = f - orthogonal @ (orthogonal.T @ f)
    left = left - orthogonal @ (orthogonal.T @ left)
    terms = np.abs(coefficients).sum() * np.sqrt(len(f)) + np.linalg.norm(f)
    rounding = len(f) * EPS * terms
    return np.linalg.norm(left), rounding


def fits(family, change, element, grid):
    """Whether nothing but rounding is left of the log density; None where rounding hides it."""
    with np.errstate(all="ignore"):
        found = columns_of(family, change, element, grid)
        if found is None:
            return False
        statistics, base = found
        f = grid.f + change.log_jacobian(grid.x) - base
    if not (np.isfinite(f).all() and np.isfinite(statistics).all()):
        return None
    if len(f) < len(statistics) + 4:
        return None
    f = f - f.mean()
    size = np.abs(f).max() or 1.0  # (whose square may overflow)
    f = f / size
    left, rounding = residual(statistics, f)
    level = rounding + np.sqrt(len(f)) * grid.noise / size
    if level > np.sqrt(EPS) * np.linalg.norm(f):
        return None
    return bool(left <= level)


def changes_for(element):
    """The changes whose domain holds the support; those with the statement's own powers too."""
    found = dict(CHANGES)
    if element.statement.support.kind != "real":
        return {"x": CHANGES["x"]}
    lower, upper = element.support
    for name, value in element.statement.arguments:
        if name in ("shape", "power", "c") and (c := element.argument(value)) is not None:
            found |= {f"x**{name}": power(c), f"x**-{name}": power(-c)}
        if name in ("scale", "shape") and (c := element.argument(value)) is not None:
            found |= {f"exp({name} x)": exponential(c), f"exp(-x / {name})": exponential(-1 / c)}
    return {
        n: c for n, c in found.items() if c.within[0] <= lower and upper <= c.within[1]
    }


def missed(statement, elements):
    """The smallest row and its change that own the conditionals of all elements; None without."""
    candidates = [
        (row, name)
        for row in FAMILIES.values()
        if row.natural is not None and row.event == 0
        for name in changes_for(elements[0])
    ]
    fitted = dict.fromkeys(((r.name, c) for r, c in candidates), 0)
    for element in elements:
        grid = grid_of(element)
        if grid is None:
            continue
        changes = changes_for(element)
        answers = [fits(row, changes[name], element, grid) for row, name in candidates]
        candidates = [c for c, yes in zip(candidates, answers, strict=True) if yes is not False]
        kept = (a for a in answers if a is not False)
        for (row, name), yes in zip(candidates, kept, strict=True):
            fitted[row.name, name] += yes is True
        if not candidates:
            return None
    decided = [c for c in candidates if fitted[c[0].name, c[1]] >= len(SEEDS)]
    smallest = min(decided, key=_size, default=None)
    return smallest and (smallest[0].name, smallest[1])


def _size(candidate):
    row, _ = candidate
    return len(row.natural.statistics(Array("u")[()], (), **dict.fromkeys(row.natural.known, 1)))


# ---- concavity -------------------------------------------------------------------------------


def convex_by(step, element):
    """How far second differences of a certified log density are above zero, beyond rounding."""
    grid = grid_of(element)
    if grid is None:
        return 0.0
    change = step.conditional.change
    forward, backward, jacobian = {
        None: (lambda x: x, lambda u: u, np.zeros_like),
        "log": (np.log, np.exp, np.log),
        "logit": (
            lambda x: np.log(x) - np.log1p(-x),
            lambda u: 1 / (1 + np.exp(-u)),
            lambda x: np.log(x) + np.log1p(-x),
        ),
    }[change and change.transform.name]
    x = backward(np.linspace(*forward(grid.x[[0, -1]]), POINTS))
    with np.errstate(all="ignore"):
        f = element.log_density(x) + jacobian(x)
        nearby = (np.nextafter(x, s) for s in (-np.inf, np.inf))
        jumps = max(np.abs(element.log_density(y) + jacobian(x) - f).max() for y in nearby)
        noise = jumps + grid.noise + len(x) * EPS * np.abs(f).max()
    kept = np.isfinite(f)
    second = np.diff(f[kept], 2)
    return max(0.0, float(second.max(initial=0.0)) - 4 * noise)


# ---- the Jacobian ----------------------------------------------------------------------------


def has_wrong_jacobian(change, element):
    """Whether ``log |dx/du|`` of a step's change is not that of its map, beyond rounding.

    The new variable is rounded too, which a Jacobian near a pole of it (1 - u) magnifies.
    """
    grid = grid_of(element)
    if grid is None or element.statement.support.is_discrete:
        return False
    sizes = element.graph.sizes
    over = (*regions(element.statement, sizes), Range(DRAW, 0, len(grid.x)))
    x, values = Array("x~", real=True)[DRAW], {**element.values, "x~": grid.x}
    shape = tuple(map(len, over))
    u = sp.Dummy("u", positive=True)
    magnified = (u * sp.diff(change.log_jacobian(u), u)).xreplace({u: change.forward(x)})
    slope, log_jacobian, rounding = (
        np.broadcast_to(evaluate(sp.sympify(e), over, values, sizes), shape)[element.at]
        for e in (sp.diff(change.forward(x), x), change.log_jacobian(change.forward(x)), magnified)
    )
    with np.errstate(all="ignore"):
        gap = log_jacobian + np.log(np.abs(slope))
    size = 1 + np.abs(log_jacobian).max() + np.abs(np.log(np.abs(slope))).max()
    size += np.abs(rounding).max()
    return bool(np.isfinite(gap).all() and np.ptp(gap) > POINTS * EPS * size)


# ---- all checks of one model -----------------------------------------------------------------


def draws_of(random, seeds):
    """Models with data from draws of a random model, and the values, where a draw succeeds."""
    for seed in seeds:
        try:
            drawn = random.simulated(seed)
            model = built(random.source(drawn))
            graph = model.graph
            check_truncations(graph, model.data)
        except gp.ModelError:
            continue
        values = {**model.data, **{n: drawn[n] for n in random.latent}}
        largest = max(np.abs(np.asarray(v, float)).max() for v in values.values())
        if np.isfinite(log_joint(graph, values)) and largest < LARGEST:
            yield model, values


def problems(random):
    """What is wrong with the derivation of a random model, as texts; None if it has no draws."""
    draws = list(draws_of(random, SEEDS))
    if not draws:
        return None
    model, values = draws[0]
    sampler = gp.compile(model, rewrites=False)
    found = sampler_problems(sampler, values, random.latent)
    own = {s.name for s in sampler.graph.statements}
    for step in sampler.schedule.steps:
        if isinstance(step, JointDraw):  # (exact; its ratios are checked by verify)
            continue
        if step.statement.name in own:  # (what is drawn with a group standardised has its graph)
            states = [v for _, v in draws]
            found += step_problems(random, step, sampler.graph, states, model.data)
    found = [f"{p}\n{sampler}" for p in found]
    augmented = gp.compile(model)
    if augmented.schedule.rewrites:
        wrong = sampler_problems(augmented, values, random.latent)
        found += [f"augmented: {p}\n{augmented}" for p in wrong]
    return found


def sampler_problems(sampler, values, latent):
    """What is wrong with a sampler as a whole."""
    checked = sampler.verify()
    found = [] if checked.passed else [f"verify\n{checked}"]
    return found + run_problems(sampler, values, latent)


def step_problems(random, step, graph, states, data):
    """What is wrong with one step, judged at its elements in several states.

    The states have data of their own, but a certificate may hold for the data of the model alone.
    """
    name = step.statement.name
    elements = [e for v in states for e in elements_of(graph, step.statement, v)]
    if isinstance(step, Move | ConcaveDraw) and not event_dims(step.statement):
        owner = missed(step.statement, elements)
        if owner is not None:
            further = (v for _, v in draws_of(random, CONFIRMING))
            elements += [e for v in further for e in elements_of(graph, step.statement, v)]
            owner = missed(step.statement, elements)
        if owner is not None and owner not in OUT_OF_REACH:
            yield f"missed: {name} is {owner[0]} of u = {owner[1]}"
    if isinstance(step, ConcaveDraw):
        here = (e for v in states for e in elements_of(graph, step.statement, {**v, **data}))
        worst = max(convex_by(step, e) for e in here)
        if worst > 0:
            yield f"convex: {name} by {worst}"
    change = getattr(step.conditional, "change", None)
    if change is not None and any(has_wrong_jacobian(change, e) for e in elements[:2]):
        yield f"jacobian: {name} of {change.transform.name}"


def run_problems(sampler, values, latent):
    """A few sweeps from a draw of the model leave a state of positive density."""
    state = {n: np.array(values[n]) for n in latent}
    rng = np.random.default_rng(1)
    for _ in range(SWEEPS):
        sampler.program.sweep(rng, state, sampler.constants)
    kept = {n: np.asarray(state[n]) for n in latent}
    bad = [n for n, v in kept.items() if not np.isfinite(v).all()]
    if bad or not np.isfinite(log_joint(sampler.graph, {**values, **kept})):
        return [f"run: {', '.join(bad) or 'outside of the support'}"]
    return []


def judged(random):
    """Fails where a random model shows a problem, with the source that shows it."""
    note(random.source())
    found = problems(random)
    assume(found is not None)
    assert not found, f"\n{random.source(random.simulated(SEEDS[0]))}\n" + "\n".join(found)


COMMON = {
    "deadline": None,
    "database": None,
    "report_multiple_bugs": False,
    "suppress_health_check": list(HealthCheck),
}


# (A failure is shown as it was found; the slow test also shrinks it.)
@settings(**COMMON, derandomize=True, max_examples=4, phases=[Phase.generate])
@given(random_models())
def test_random_models(random):
    judged(random)


@pytest.mark.slow
@settings(**COMMON, max_examples=3000)
@given(random_models())
def test_many_random_models(random):
    judged(random)


# ---- the checks are checked ------------------------------------------------------------------


def problem_words(model):
    """The first words of the problems of a fixed model."""
    return {p.split(":")[0].split("\n")[0] for p in problems(model)}


def of_lines(*lines, sizes=(("i", 3), ("j", 2), ("k", 2)), data=()):
    """A fixed model; all lines after the first are observed."""
    first, *rest = lines
    return RandomModel(dict(sizes), data, (first, *(replace(r, observed=True) for r in rest)))


def scale_of_normals():
    """A standard deviation whose inverse square has a truncated Gamma conditional."""
    return of_lines(
        Line("a", "Uniform", "lower=0, upper=5", (), "positive"),
        Line("y", "Normal", "mu=0, sigma=a", ("i",), "real"),
    )


def logistic_regression():
    """A slope that no row owns, of concave log density."""
    return of_lines(
        Line("a", "Normal", "mu=0, sigma=1", (), "real"),
        Line("y", "Bernoulli", "p=gp.expit(real_i * a)", ("i",), "binary"),
        data=('real_i = gp.Data("real_i", [0.3, -1.2, 0.7], dims="i")',),
    )


PLANTED = (scale_of_normals, logistic_regression)


@pytest.mark.parametrize("build", PLANTED, ids=lambda f: f.__name__)
def test_models_without_planted_bugs_pass(build):
    assert problem_words(build()) == set()


def test_variables_drawn_together_are_judged():
    lines = (
        Line("a", "Normal", "mu=0, tau=0.5", ("j",), "real"),
        Line("b", "Normal", "mu=a, tau=1.7", ("i", "j"), "real"),
        Line("y", "Normal", "mu=b, tau=1", ("i", "j"), "real", observed=True),
    )
    model = RandomModel({"i": 2, "j": 3}, (), lines)
    declared, jointly = built(model.source(model.simulated(1))), {("a", "b"): "together"}
    (step,) = gp.compile(declared, rewrites=False, blocks=jointly).schedule.steps

    assert isinstance(step, JointDraw)
    assert problem_words(model) == set()


def test_a_change_that_is_not_tried_is_a_missed_conjugacy(monkeypatch):
    monkeypatch.setattr(readings, "proposed", lambda forms, place: iter(()))

    assert "missed" in problem_words(scale_of_normals())


def test_a_row_that_is_gone_is_a_missed_conjugacy(monkeypatch):
    monkeypatch.setattr(matching, "FAMILIES", {"Normal": FAMILIES["Normal"]})
    model = of_lines(
        Line("a", "Gamma", "shape=2, rate=1", (), "positive"),
        Line("y", "Poisson", "rate=a", ("i",), "count"),
    )

    assert "missed" in problem_words(model)


def test_a_wrong_jacobian_is_found(monkeypatch):
    wrong = replace(changes.POWER, log_jacobian=lambda u, c: sp.log(u) / c)
    table = tuple(wrong if t is changes.POWER else t for t in changes.TRANSFORMS)
    monkeypatch.setattr(changes, "POWER", wrong)
    monkeypatch.setattr(changes, "TRANSFORMS", table)

    assert "jacobian" in problem_words(scale_of_normals())


def test_a_forgotten_jacobian_fails_the_ratio_check(monkeypatch):
    monkeypatch.setattr(readings, "jacobian_pieces", lambda *_: ())

    assert "verify" in problem_words(scale_of_normals())


def test_a_false_certificate_is_found(monkeypatch):
    monkeypatch.setattr(concavity, "log_concave", lambda *_: object())
    model = of_lines(
        Line("a", "StudentT", "nu=1, mu=0, sigma=1", (), "real"),
        Line("y", "StudentT", "nu=1, mu=a, sigma=1", ("i",), "real"),
    )
    (step,) = gp.compile(built(model.source(model.simulated(1))), rewrites=False).schedule.steps
    values = {**built(model.source(model.simulated(1))).data, **model.simulated(1)}
    (element,) = elements_of(built(model.source(model.simulated(1))).graph, step.statement, values)

    assert convex_by(step, element) > 0
