"""Bugs planted in generated sources, in schedules and in moves: each must be caught by a check.

A planted bug is a replacement in the source of a form. Before it is planted the check passes, after
it the check fails, at the step that was spoilt and at no other.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from forms import form_named
from forms.discrete import ising_pairs
from scipy import stats
from test_changes import badly_undone

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array
from gibbsppl.checks import ratio
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.checks.geweke import geweke
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import evaluate
from gibbsppl.runtime.moves import Width, slice_batch

NEW = Array("u")[()]


@dataclass(frozen=True, slots=True)
class Bug:
    """A pattern in the source of one function, what takes its place, and the steps it spoils."""

    form: str
    function: str
    pattern: str
    wrong: str
    steps: tuple[str, ...]

    def planted(self, source):
        """The source with the bug: once, in the function named, or everywhere in it."""
        start = source.index(f"def {self.function}(")
        stop = source.index("\n\n\n", start)
        body, count = re.subn(self.pattern, self.wrong, source[start:stop])
        assert count > 0, f"{self.pattern!r} is not in\n{source[start:stop]}"
        return source[:start] + body + source[stop:]


BUGS = {
    "a sign": Bug("long_table", "b_given_rest", r"eta_1 = ", "eta_1 = -1 * ", ("b",)),
    "a sign in prepare": Bug("pumps", "prepare", r"= -time\b", "= time", ("theta",)),
    "a sign of an offset": Bug(
        "regression", "beta_given_rest", r"- alpha \*", "+ alpha *", ("beta",)
    ),
    "a forgotten minus one": Bug("pumps", "theta_given_rest", r"alpha - 1\b", "alpha", ("theta",)),
    "a dropped prior": Bug("pumps", "beta_given_rest", r"-0\.9 .*\n", "0\n", ("beta",)),
    "a dropped child": Bug("pumps", "theta_given_rest", r"\+ x .*\n", "\n", ("theta",)),
    "one of four children dropped": Bug(
        "precision_in_two_children", "tau_given_rest", r"\+ sum_y .*\n", "\n", ("tau",)
    ),
    "a count of one child dropped": Bug(
        "precision_in_two_children", "tau_given_rest", r"eta_1 = 24", "eta_1 = 14", ("tau",)
    ),
    "a dropped cross term": Bug(
        "regression", "tau_given_rest", r"\+ 2 \* alpha_away .*\n", "\n", ("tau",)
    ),
    "a prior of a block dropped": Bug(
        "factorisation", "U_given_rest", r"    eta_2 = runtime\.plus_diagonal.*\n", "", ("U",)
    ),
    "a forgotten half": Bug("growth_curves", "a_given_rest", r"-tau_a / 2", "-tau_a", ("a",)),
    "a half too many": Bug("wishart", "L_given_rest", r"eta_1 = 10", "eta_1 = 5", ("L",)),
    "a forgotten square": Bug(
        "growth_curves",
        "tau_a_given_rest",
        r"sum_of_squares\(a - mu_a\)",
        "inner(a - mu_a, 1 + 0 * a)",
        ("tau_a",),
    ),
    "rate for scale": Bug(
        "growth_curves", "a_given_rest", r"mu_a \* tau_a", "mu_a / tau_a", ("a",)
    ),
    "a mean for a sum": Bug(
        "pumps", "beta_given_rest", r"theta\.sum\(\)", "theta.mean()", ("beta",)
    ),
    "another group's precision": Bug("growth_curves", "a_given_rest", r"tau_a\b", "tau_b", ("a",)),
    "a wrong axis": Bug(
        "growth_curves", "prepare", r"y\.sum\(axis=1\)", "y.sum(axis=0)[:4]", ("a",)
    ),
    "a wrong gather": Bug(
        "factorisation", "V_given_rest", r'c\["user_of"\]', 'c["item_of"]', ("V",)
    ),
    "a gather of a label": Bug(
        "topics", "z_given_rest", r"log\(phi\), word", "log(phi), doc_of", ("z",)
    ),
    "a gather that was dropped": Bug("mixture", "tau_given_rest", r"mu\[z\]", "mu[0]", ("tau",)),
    "groups in another order": Bug(
        "mixture", "mu_given_rest", r"segment_sum\(y, z", "segment_sum(y[::-1], z", ("mu",)
    ),
    "the other player": Bug(
        "paired_comparisons",
        "x_given_rest",
        r"by_second\.sum\(x\[first\]\)",
        "by_first.sum(x[first])",
        ("x",),
    ),
    "a transposition dropped": Bug(
        "topics", "phi_given_rest", r"\(5, 2\)\)\.T", "(5, 2)).reshape(2, 5)", ("phi",)
    ),
    "transitions the wrong way": Bug(
        "hidden_markov", "z_given_rest", r"log\(P\)", "log(P).T", ("z",)
    ),
    "transitions counted the wrong way": Bug(
        "hidden_markov", "P_given_rest", r"z\[:8\], z\[1:\]", "z[1:], z[:8]", ("P",)
    ),
    "a neighbour read at the wrong side": Bug(
        "random_walk",
        "x_1_given_rest",
        r"\[1:\] \+= tau \* x\[:7\]",
        "[1:] += tau * x[1:]",
        ("x[1:]",),
    ),
    "a neighbour forgotten": Bug(
        "random_walk", "x_1_given_rest", r"    eta_1\[:7\] .*\n", "", ("x[1:]",)
    ),
    "the first element treated like the others": Bug(
        "random_walk",
        "x_0_given_rest",
        r"eta_2\[0\] -= 0\.5",
        "eta_2[0] -= 0.5 + tau / 2",
        ("x[0]",),
    ),
    "the prior of the start forgotten": Bug(
        "random_walk", "x_0_given_rest", r"    eta_2\[0\] .*\n", "", ("x[0]",)
    ),
    "steps of the wrong length": Bug(
        "random_walk", "tau_given_rest", r"x\[1:\] - x\[:7\]", "x[2:] - x[:6]", ("tau",)
    ),
    "a forgotten normalising constant": Bug(
        "mixture", "z_given_rest", r"\(log\(tau\) / 2\)\[:, None\]", "0", ("z",)
    ),
    "a forgotten change of variable": Bug(
        "uniform_sd", "sd_given_rest", r"eta_1 = 8\.5", "eta_1 = 9", ("sd",)
    ),
    "a wrong function": Bug(
        "pumps", "alpha_given_rest", r"loggamma\(alpha\)", "loggamma(alpha + 1)", ("alpha",)
    ),
    "odds turned round": Bug(
        "logistic_regression", "beta_given_rest", r"softplus\(", "softplus(-", ("beta",)
    ),
    "a neighbour of the lattice forgotten": Bug(
        "ising", "s_2_given_rest", r"    eta_1\[:2\] \+= .*\n", "", ("s",)
    ),
    "a missing value taken for a known one": Bug(
        "missing_in_a_table", "y_given_rest", r"-tau / 2", "-tau", ("y",)
    ),
    "a Jacobian that was forgotten": Bug(
        "half_normal_sd", "sd_given_rest", r"eta_1 = 8\.5", "eta_1 = 10", ("sd",)
    ),
    "a Jacobian taken twice": Bug(
        "deviations_by_level", "between_given_rest", r"eta_1 = 0\.5", "eta_1 = -1.0", ("between",)
    ),
    "a Jacobian forgotten on the log scale": Bug(
        "half_cauchy_sd", "sd_given_rest", r"eta_2 = 1 - n_n", "eta_2 = -n_n", ("sd",)
    ),
    "a log density read on the old scale": Bug(
        "half_cauchy_sd", "sd_given_rest", r"exp\(-2 \* u_sd\)", "u_sd**-2", ("sd",)
    ),
    "a bound of the wrong side": Bug(
        "groups_of_bounds", "theta_given_rest", r"lower = .*\n    upper = .*\n",
        "lower = 0.5\n    upper = maximum(0.5, group_y)\n", ("theta",),
    ),
    "a bound of a draw on another scale that was not turned round": Bug(
        "uniform_sd", "sd_given_rest", r"lower = 0\.0001(.*)\n    upper = .*\n",
        "lower = 0.0\n    upper = 0.0001\n", ("sd",),
    ),
    "a bound that was not moved to the new scale": Bug(
        "uniform_sd", "sd_given_rest", r"lower = 0\.0001", "lower = 100.0", ("sd",)
    ),
    "bounds of a neighbour that change sides": Bug(
        "ordered_means", "mu_given_rest", r"mu\[1:\]\)  # from order", "mu[:2])", ("mu",)
    ),
    "a term of a concave draw dropped": Bug(
        "logistic_intercepts", "a_given_rest", r"\+ eta_3 \* a .*\n", "\n", ("a",)
    ),
    "a prior of a concave draw dropped": Bug(
        "volatility", "h_1_given_rest", r"\+ runtime\.placed\(-1\.62 .*\n", "\n", ("h[1:]",)
    ),
    "a region of a concave draw off by one": Bug(
        "volatility", "h_0_given_rest", r"eta_2\[:5\] \+= 18 \* h\[1:\]",
        "eta_2[:5] += 18 * h[:5]", ("h[0]",),
    ),
    "a count that was not shifted": Bug(
        "recaptures", "p_given_rest", r"animals - y\)", "animals)", ("p",)
    ),
    "chances of what was seen for what was not": Bug(
        "recaptures", "animals_given_rest", r"log1p\(-p\)", "log(p)", ("animals",)
    ),
    "something that is no number": Bug(
        "pumps", "beta_given_rest", r"5 \* alpha", 'float("nan")', ("beta",)
    ),
}


@cache
def compiled(form):
    return form_named(form).compiled()


@cache
def passes(form):
    return failed_steps(compiled(form), compiled(form).source) == set()


def failed_steps(sampler, source, steps=None, seed=0):
    steps = steps or sampler.schedule.steps
    with np.errstate(all="ignore"):
        found = verify(sampler.graph, load(source), steps, sampler.data, seed)
    return {row.step for row in found.rows if not row.passed} - {"(sweeps)"}


@cache
def between():
    """Bounds by the prior, by another variable, by what is observed, and after a change."""
    with gp.Model(coords={"i": 3}) as m:
        top, sd = gp.Pareto("top", 2, minimum=1), gp.Uniform("sd", 0.5, 5)
        gp.Uniform("z", 0, top, dims="i", observed=[0.5, 1.5, 0.7])
        x = gp.Normal("x", 0, sigma=1, lower=0.2, upper=3)
        gp.Normal("y", x, sigma=sd, dims="i", observed=[1.0, 2, 3])
    return gp.compile(m)


@pytest.mark.parametrize("way", ["* 0.99", "* 1.01"])
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_bounds_that_are_a_little_too_wide_or_too_narrow_are_seen(end, way):
    sampler = between()
    source, steps, data = sampler.source, sampler.schedule.steps, sampler.data
    rng = np.random.default_rng(1)
    state, _ = initial_state(rng, sampler.graph, data)
    found = re.finditer(rf"(?m)^    {end} = (.*?)  # from (.*)$", source)
    ends = [m for m in found if "inf" not in m[1]]

    assert len(ends) > 1
    for m in ends:
        planted = load(f"{source[: m.start()]}    {end} = ({m[1]}) {way}{source[m.end() :]}")
        rows = ratio.ratio_check(rng, sampler.graph, planted, steps, data, state)
        assert [r.step for r in rows if not r.passed] == m[2].split(", ")[:1]


@pytest.mark.parametrize("name", BUGS)
def test_the_ratio_check_finds(name):
    bug = BUGS[name]
    sampler = compiled(bug.form)

    assert passes(bug.form)
    assert failed_steps(sampler, bug.planted(sampler.source)) == set(bug.steps)


# ---- bounds: what is possible and what is not -------------------------------------------------

# A bound that is too wide, or of another group, shows where it lets impossible values through.
BOUNDS = {
    "a dropped bound": Bug(
        "groups_of_bounds", "theta_given_rest", r"maximum\(0\.5, group_y\)",
        "maximum(0.5, 0.5)", ("theta",),
    ),
    "the smallest for the largest": Bug(
        "pareto_prior_of_two_bounds_both", "x_given_rest", r"maximum\(maximum",
        "min(maximum", ("x",),
    ),
    "the bounds of other groups": Bug(
        "groups_of_bounds", "theta_given_rest", r"group_y\)", "group_y[::-1])", ("theta",)
    ),
    "a bound of the new scale dropped": Bug(
        "deviations_by_level", "within_given_rest", r"lower = 0\.01", "lower = 0.0", ("within",)
    ),
    "a known bound dropped": Bug(
        "bounded_autoregression", "phi_given_rest", r"upper = 1\b", "upper = 9", ("phi",)
    ),
    "a neighbour's bound dropped": Bug(
        "ordered_means", "mu_given_rest", r"    lower\[1:\] .*\n", "", ("mu",)
    ),
    "a bound from above dropped": Bug(
        "gamma_prior_of_a_bound_below_pareto", "x_given_rest", r"minimum\(float\(\"inf\"\), y_2\)",
        'float("inf")', ("x",),
    ),
}  # fmt: skip


def bounds_that_are_wrong(sampler, source):
    """The steps whose bounds let through what is impossible, or keep out what is possible."""
    program = load(source)
    start, _ = initial_state(np.random.default_rng(6), sampler.graph, sampler.data)
    wrong = set()
    for step in sampler.schedule.steps:
        if not getattr(step, "bounds", ()):
            continue
        name, array = step.statement.name, step.statement.target.array.name
        lower, upper = program.given_rest[name](dict(start), sampler.constants)[-2:]
        shape = np.shape(start[array])
        ends = [np.broadcast_to(np.asarray(e, dtype=float), shape) for e in (lower, upper)]
        for at in np.ndindex(shape):
            for u, possible in around(*(e[at] for e in ends)):
                if is_possible(sampler, step, start, at, u) != possible:
                    wrong.add(name)
    return wrong


def around(lower, upper):
    """Values just inside and well inside of two bounds, and just outside; whether possible."""
    near = 1e-6 * min(upper - lower, 1 + min(abs(lower), abs(upper)))
    inside = [
        lower + near if np.isfinite(lower) else min(upper, 0) - 100.0,
        upper - near if np.isfinite(upper) else max(lower, 0) + 100.0,
    ]
    yield from ((u, True) for u in inside)
    yield from ((e + s * near, False) for e, s in ((lower, -1), (upper, 1)) if np.isfinite(e))


def is_possible(sampler, step, start, at, u):
    """Whether the joint density is positive where an element is what a value drawn says."""
    change, array = step.conditional.change, step.statement.target.array.name
    back = NEW if change is None else change.backward(NEW)
    state = {name: np.array(value, dtype=float) for name, value in start.items()}
    state[array][at] = evaluate(back, (), {"u": u}, {})
    with np.errstate(all="ignore"):
        return bool(np.isfinite(log_joint(sampler.graph, {**sampler.data, **state})))


@pytest.mark.parametrize("name", BOUNDS)
def test_the_joint_density_finds(name):
    bug = BOUNDS[name]
    sampler = compiled(bug.form)

    assert bounds_that_are_wrong(sampler, sampler.source) == set()
    assert bounds_that_are_wrong(sampler, bug.planted(sampler.source)) == set(bug.steps)


# The ratio check tries values far away, inside the variable's own bounds and beyond them, and some
# of them the joint density excludes.
DROPPED = (
    "a dropped bound",
    "a neighbour's bound dropped",
    "a bound from above dropped",
    "a known bound dropped",
    "a bound of the new scale dropped",
)
SEEDS = range(5)


def failed_at_some_seed(sampler, source):
    return set().union(*(failed_steps(sampler, source, seed=seed) for seed in SEEDS))


@pytest.mark.parametrize("name", DROPPED)
def test_the_ratio_check_finds_a_dropped_bound(name):
    bug = BOUNDS[name]
    sampler = compiled(bug.form)

    assert failed_at_some_seed(sampler, sampler.source) == set()
    assert failed_at_some_seed(sampler, bug.planted(sampler.source)) == set(bug.steps)


@pytest.mark.parametrize("name", DROPPED)
def test_only_values_beyond_a_bound_meet_what_a_dropped_one_lets_through(monkeypatch, name):
    """Changes to possible values alone pass a program that has lost a bound."""
    monkeypatch.setattr(ratio, "WIDE", 0.0)
    monkeypatch.setattr(ratio, "are_edges", lambda *_: True)
    bug = BOUNDS[name]
    sampler = compiled(bug.form)

    assert failed_at_some_seed(sampler, bug.planted(sampler.source)) == set()


# ---- the way back from another scale: no conditional reads it ---------------------------------

UNDONE = {
    "another exponent": Bug("uniform_sd", "sweep", r"1 / sqrt\(u_sd\)", "1 / u_sd", ("sd",)),
    "no way back": Bug("half_cauchy_sd", "sweep", r"= exp\(u_sd\)", "= u_sd", ("sd",)),
    "the other sign": Bug(
        "log_scales", "sweep", r"-log\(u_log_sd\) / 2", "log(u_log_sd) / 2", ("log_sd",)
    ),
    "what was seen not added": Bug(
        "recaptures", "sweep", r'u_animals \+ c\["y"\]', "u_animals", ("animals",)
    ),
    "another variable": Bug(
        "deviations_by_level", "sweep", r"sqrt\(u_within\)", "sqrt(u_within + u_between)",
        ("within",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDONE)
def test_what_is_put_into_the_state_finds(name):
    bug = UNDONE[name]
    sampler = compiled(bug.form)

    assert badly_undone(sampler, sampler.source)[0] == set()
    assert badly_undone(sampler, bug.planted(sampler.source))[0] == set(bug.steps)


# ---- elements that depend on one another, drawn at once --------------------------------------


def as_a_batch(step):
    """The step as it would be planned if its elements were taken for independent."""
    return replace(step, conditional=replace(step.conditional, elements=False))


@pytest.mark.parametrize("form", ["random_walk", "paired_comparisons", "ising"])
def test_the_ratio_check_finds_a_chain_misread_as_a_batch(form):
    sampler = compiled(form)
    spoilt = {s.statement.name for s in sampler.schedule.steps if s.is_by_element}
    steps = [as_a_batch(s) if s.is_by_element else s for s in sampler.schedule.steps]

    assert spoilt
    assert failed_steps(sampler, sampler.source, steps) == spoilt


def enumerated(sampler, program, steps):
    start, _ = initial_state(np.random.default_rng(1), sampler.graph, sampler.data)
    return enumerate_sweep(sampler.graph, program, steps, sampler.data, start)


def test_the_transition_matrix_finds_a_lattice_drawn_at_once():
    sampler = gp.compile(ising_pairs())
    steps = sampler.schedule.steps

    assert enumerated(sampler, sampler.program, steps).passed
    assert not enumerated(sampler, sampler.program, [as_a_batch(s) for s in steps]).passed


def test_the_transition_matrix_finds_a_forgotten_neighbour():
    sampler = gp.compile(ising_pairs())
    bug = Bug("", "s_2_given_rest", r"    eta_1\[:1\] \+= .*\n", "", ())
    program = load(bug.planted(sampler.source))

    assert not enumerated(sampler, program, sampler.schedule.steps).passed


# ---- what natural parameters do not show: draws, order, stale reads --------------------------


@cache
def tight_pair():
    """Two variables that follow each other closely; the second is drawn last."""
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, tau=1)
        x = gp.Normal("x", mu, tau=50)
        gp.Normal("y", x, tau=1, observed=0.0)
    return gp.compile(m, blocks=False)


@cache
def tight_scale():
    """A precision and what it scales."""
    with gp.Model(coords={"n": 4}) as m:
        x = gp.Normal("x", 0, tau=1)
        tau = gp.Gamma("tau", 4, rate=2)
        gp.Normal("y", x, tau=tau, dims="n", observed=np.zeros(4))
    return gp.compile(m, blocks=False)


@cache
def tight_walk():
    """A walk of small steps, seen through much noise."""
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=50)
        gp.Normal("y", x, tau=1, dims="t", observed=np.zeros(4))
    return gp.compile(m, blocks=False)


X = r's\["x"\] = runtime\.normal\(rng, \*x_given_rest\(s, c\), \(\)\)'
TAU = r"runtime\.gamma\(rng, \*tau_given_rest\(s, c\), \(\)\)"
WALK = r'    for at in c\["x_colours"\]:.*\n.*\n.*\n'
AT_ONCE = """\
    eta = x_1_given_rest(s, c)
    s["x"][1:] = runtime.normal(rng, eta[0][1:], eta[1][1:], (3,))
"""

SWEEPS = {
    "a draw too wide": (
        tight_pair,
        X,
        's["x"] = runtime.normal(rng, *(e / 2 for e in x_given_rest(s, c)), ())',
    ),
    "a draw too narrow": (
        tight_pair,
        X,
        's["x"] = runtime.normal(rng, *(e * 2 for e in x_given_rest(s, c)), ())',
    ),
    "a mode for a draw": (
        tight_pair,
        X,
        's["x"] = -x_given_rest(s, c)[0] / 2 / x_given_rest(s, c)[1]',
    ),
    "a stale read": (tight_pair, X, 's["x"] = runtime.normal(rng, *x_given_rest(old, c), ())'),
    "another variable's parameters": (
        tight_pair,
        X,
        's["x"] = runtime.normal(rng, *mu_given_rest(s, c), ())',
    ),
    "a scale for a rate": (tight_scale, TAU, "1 / runtime.gamma(rng, *tau_given_rest(s, c), ())"),
    "a shape off by one": (
        tight_scale,
        TAU,
        "runtime.gamma(rng, tau_given_rest(s, c)[0] + 1, tau_given_rest(s, c)[1], ())",
    ),
    "a chain drawn at once": (tight_walk, WALK, AT_ONCE),
}


def spoilt_sweep(source, pattern, wrong):
    """The source with something else in its sweep, which also keeps the values of the start."""
    start = source.index("def sweep(")
    stop = source.index("\n\n\n", start)
    body, count = re.subn(pattern, lambda _: wrong, source[start:stop])
    assert count == 1, source[start:stop]
    head, first, rest = body.split("\n", 2)
    old = "    old = {name: value for name, value in s.items()}"
    return source[:start] + f"{head}\n{first}\n{old}\n{rest}" + source[stop:]


def simulated(sampler, source):
    rng = np.random.default_rng(4)
    return geweke(rng, sampler.graph, sampler.data, load(source), replicates=400, sweeps=1)


@pytest.mark.parametrize("name", SWEEPS)
def test_simulation_finds(name):
    build, pattern, wrong = SWEEPS[name]
    sampler = build()
    spoilt = spoilt_sweep(sampler.source, pattern, wrong)

    assert not simulated(sampler, spoilt).passed
    # The parameters are right: only a check of whole sweeps can see this.
    assert failed_steps(sampler, spoilt) == set()


@pytest.mark.parametrize("build", [tight_pair, tight_scale, tight_walk])
def test_simulation_passes_the_sweep_without_a_bug(build):
    found = simulated(build(), build().source)

    assert found.passed, f"\n{found}"


# ---- moves -----------------------------------------------------------------------------------


class Biased:
    """A stream of random numbers one of whose methods has been spoilt."""

    def __init__(self, seed, **spoilt):
        self._rng = np.random.default_rng(seed)
        self._spoilt = spoilt

    def __getattr__(self, name):
        return self._spoilt.get(name) or getattr(self._rng, name)


SPOILT = {
    "a slice at the current height": {"standard_exponential": np.zeros},
    "a slice too deep": {"standard_exponential": lambda shape: np.full(shape, 3.0)},
    "candidates that lean to the left": {"random": None},
}


def moved(rng):
    start = np.random.default_rng(1).standard_normal(20_000)
    width = Width(np.full(start.shape, 2.0), moves=100, adapting=False)
    return slice_batch(rng, start, lambda x: -(x**2) / 2, width)


def lopsided(seed):
    """Numbers between 0 and 1, small ones too often."""
    rng = np.random.default_rng(seed)
    return lambda shape: rng.random(shape) ** 1.5


@pytest.mark.parametrize("name", SPOILT)
def test_invariance_finds(name):
    spoilt = {k: v or lopsided(2) for k, v in SPOILT[name].items()}

    assert stats.kstest(moved(Biased(2, **spoilt)), "norm").pvalue < 1e-6


def test_invariance_passes_a_right_move():
    assert stats.kstest(moved(Biased(2)), "norm").pvalue > 1e-3
