"""Each check passes on a right program and fails on planted bugs."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.checks.enumeration import enumerate_sweep
from gibbsppl.checks.geweke import geweke
from gibbsppl.checks.graphs import graph_rows
from gibbsppl.checks.interweaving import gap_of_interwoven
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.checks.results import RELATIVE_TOLERANCE, ratio_table
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.errors import CompileError, ModelError, RunError
from gibbsppl.families import FAMILIES
from gibbsppl.initial.search import initial_state
from gibbsppl.model.forward import simulate
from gibbsppl.model.graph import Graph, Potential, Statement, Variable
from gibbsppl.planning.plan import plan
from gibbsppl.schedule import densities as steps

I, J, K = (Dim(n) for n in "ijk")
SIZES = {I: 3, J: 3, K: 2}
MU, TAU, X, Y, Z, P, PHI = (Array(n) for n in ("mu", "tau", "x", "y", "z", "p", "phi"))


def statement(target, dims, family, event=(), known=0, name=None, **arguments):
    over = tuple(d if isinstance(d, Range) else Range(d, 0, SIZES[d]) for d in dims)
    arguments = tuple((k, sp.sympify(v)) for k, v in arguments.items())
    name = name or target.array.name
    return Statement(
        name, target, over, event, FAMILIES[family], arguments, known=sp.sympify(known)
    )


def graph(*statements, potentials=(), integer=(), data=(), **dims):
    variables = {n: Variable(n, d, "random", n in integer) for n, d in dims.items()}
    variables |= {n: Variable(n, d, "data") for n, d in dict(data).items()}
    return Graph("test", SIZES, variables, statements, potentials)


# Groups: x[i] ~ Normal(mu, tau), y[i, j] ~ Normal(x[i], 2 tau), observed.

GROUPS = """
import numpy as np
from gibbsppl import runtime
from gibbsppl.runtime import draws

def prepare(data):
    return {"y": data["y"], "sum_y": data["y"].sum(axis=1)}

def x_given_rest(s, c):
    return s["tau"] * s["mu"] + 2 * s["tau"] * c["sum_y"], -s["tau"] / 2 - 3 * s["tau"]

def tau_given_rest(s, c):
    square = ((s["x"] - s["mu"]) ** 2).sum() / 2 + ((c["y"] - s["x"][:, None]) ** 2).sum()
    return 3 - 1 + 3 / 2 + 9 / 2, -2 - square

def mu_given_rest(s, c):
    return s["tau"] * s["x"].sum() + 1, -1 / 2 - 3 * s["tau"] / 2

def sweep(rng, s, c):
    s["x"] = draws.normal(rng, *x_given_rest(s, c), size=(3,))
    s["tau"] = draws.gamma(rng, *tau_given_rest(s, c), size=())
    s["mu"] = draws.normal(rng, *mu_given_rest(s, c), size=())

def deterministics(s, c):
    return {}

STEPS = (
    runtime.Step("x", ("x",), x_given_rest),
    runtime.Step("tau", ("tau",), tau_given_rest),
    runtime.Step("mu", ("mu",), mu_given_rest),
)
"""

PLANTED = {
    "a sign": ('s["tau"] * s["mu"] + 2', 's["tau"] * s["mu"] - 2', "x"),
    "a dropped child": ('- 3 * s["tau"] / 2', "", "mu"),
    "a dropped prior": ('s["x"].sum() + 1', 's["x"].sum()', "mu"),
    "a wrong axis": ("sum(axis=1)", "sum(axis=0)", "x"),
    "rate for scale": ("-2 - square", "-1 / 2 - square", "tau"),
    "a count of rows for one of elements": ("9 / 2", "3 / 2", "tau"),
}


def groups():
    return graph(
        statement(MU[()], (), "Normal", mu=1, tau=1),
        statement(TAU[()], (), "Gamma", shape=3, rate=2),
        statement(X[I], (I,), "Normal", mu=MU[()], tau=TAU[()]),
        statement(Y[I, J], (I, J), "Normal", known=1, mu=X[I], tau=2 * TAU[()]),
        mu=(), tau=(), x=(I,), y=(I, J),
    )  # fmt: skip


def observed():
    return {"y": np.random.default_rng(4).standard_normal((3, 3)) + 1}


def checked(model, source, data, seed=1, **options):
    state, _ = initial_state(np.random.default_rng(seed), model, data)
    steps = plan(model, data, **options).steps
    return ratio_check(np.random.default_rng(seed), model, load(source), steps, data, state)


def failed(rows):
    return {r.step for r in rows if not r.passed}


def test_the_ratio_check_passes_what_is_right():
    rows = checked(groups(), GROUPS, observed())

    assert {(r.step, r.kind, r.family) for r in rows} == {
        ("x", "exact", "Normal"),
        ("tau", "exact", "Gamma"),
        ("mu", "exact", "Normal"),
    }
    assert failed(rows) == set()


@pytest.mark.parametrize("bug", PLANTED)
def test_the_ratio_check_finds_planted_bugs(bug):
    right, wrong, step = PLANTED[bug]
    assert right in GROUPS

    rows = checked(groups(), GROUPS.replace(right, wrong), observed())

    assert failed(rows) == {step}
    assert all(r.discrepancy > 1e3 * r.tolerance for r in rows if not r.passed)


def test_the_table_of_the_ratio_check_shows_the_verdicts():
    right, wrong, _ = PLANTED["a sign"]
    lines = ratio_table(checked(groups(), GROUPS.replace(right, wrong), observed())).splitlines()

    assert lines[0].split() == ["step", "kind", "family", "discrepancy", "tolerance", "verdict"]
    assert {line.split()[0]: line.split()[-1] for line in lines[1:]} == {
        "x": "FAILED",
        "tau": "passed",
        "mu": "passed",
    }


def test_verify_makes_its_own_state():
    steps = plan(groups(), observed()).steps
    right = verify(groups(), load(GROUPS), steps, observed())
    wrong = verify(groups(), load(GROUPS.replace(*PLANTED["a sign"][:2])), steps, observed())

    assert right.passed
    assert not wrong.passed
    assert str(wrong).count("FAILED") == 1


def test_a_result_that_is_no_number_fails():
    rows = checked(groups(), GROUPS.replace("-2 - square", "np.nan"), observed())

    assert failed(rows) == {"tau"}


def test_a_state_of_zero_density_is_refused():
    state = {"mu": np.array(0.0), "tau": np.array(-1.0), "x": np.zeros(3)}
    with pytest.raises(RunError, match="the state to check at has zero density"):
        ratio_check(
            np.random.default_rng(1), groups(), load(GROUPS),
            plan(groups(), observed()).steps, observed(), state,
        )  # fmt: skip


# A chain: read by element it is right; its elements changed together it is not a batch.

CHAIN = """
import numpy as np
from gibbsppl import runtime

def prepare(data):
    return {}

def x_given_rest(s, c):
    x = s["x"]
    near = np.zeros(3)
    near[1:] += x[:-1]
    near[:-1] += x[1:]
    return near, np.full(3, -1.0)

def sweep(rng, s, c):
    pass

def deterministics(s, c):
    return {}

STEPS = (
    runtime.Step("x", ("x",), x_given_rest),
)
"""


def chain():
    return graph(
        statement(X[I], (I,), "Normal", mu=0, tau=2),
        potentials=(Potential("coupling", X[I] * X[I - 1], (Range(I, 1, 3),)),),
        x=(I,),
    )  # fmt: skip


def test_a_chain_is_right_by_element_and_wrong_as_a_batch():
    from dataclasses import replace

    model = chain()
    state, _ = initial_state(np.random.default_rng(1), model, {})
    (step,) = plan(model, {}, elements=("x",)).steps
    batch = replace(step, conditional=replace(step.conditional, elements=False))
    rng = np.random.default_rng(1)
    by_element = ratio_check(rng, model, load(CHAIN), (step,), {}, state)
    as_batch = ratio_check(rng, model, load(CHAIN), (batch,), {}, state)

    assert failed(by_element) == set()
    assert failed(as_batch) == {"x"}


# A regression: coefficients drawn as one block.

BLOCK = """
import numpy as np
from gibbsppl import runtime

def prepare(data):
    x, y = data["design"], data["y"]
    return {"h": x.T @ y, "q": x.T @ x}

def b_given_rest(s, c):
    return c["h"], -c["q"] / 2 - 2 * np.eye(2)

def sweep(rng, s, c):
    pass

def deterministics(s, c):
    return {}

STEPS = (
    runtime.Step("b", ("b",), b_given_rest),
)
"""


@pytest.mark.parametrize(("prior", "verdicts"), [("2 * np.eye(2)", set()), ("2", {"b"})])
def test_a_block_is_read_by_its_natural_parameters(prior, verdicts):
    from gibbsppl.algebra.expressions import Over

    b, design = Array("b"), Array("design")
    model = graph(
        statement(b[K], (K,), "Normal", mu=0, tau=4),
        statement(Y[I], (I,), "Normal", known=1, mu=Over(design[I, K] * b[K], K), tau=1),
        data=(("design", (I, K)),), b=(K,), y=(I,),
    )  # fmt: skip
    rng = np.random.default_rng(2)
    data = {"design": rng.standard_normal((3, 2)), "y": rng.standard_normal(3)}
    rows = checked(model, BLOCK.replace("2 * np.eye(2)", prior), data)

    assert [r.kind for r in rows] == ["block"]
    assert failed(rows) == verdicts


# A fallback: the log density as a function of the array.

MOVE = """
import numpy as np
from gibbsppl import runtime

def prepare(data):
    return data

def x_given_rest(s, c):
    def log_density(x):
        return -x**2 + c["y"] * x - np.exp(x)
    return log_density

def sweep(rng, s, c):
    pass

def deterministics(s, c):
    return {}

STEPS = (
    runtime.Step("x", ("x",), x_given_rest),
)
"""


@pytest.mark.parametrize(("term", "verdicts"), [("- np.exp(x)", set()), ("", {"x"})])
def test_a_log_density_is_read_as_a_function(term, verdicts):
    model = graph(
        statement(X[I], (I,), "Normal", mu=0, tau=2),
        statement(Y[I], (I,), "Poisson", known=1, rate=sp.exp(X[I])),
        x=(I,), y=(I,), integer=("y",),
    )  # fmt: skip
    source = MOVE.replace("- np.exp(x)", term)
    rows = checked(model, source, {"y": np.array([0, 3, 1])})

    assert [r.kind for r in rows] == ["concave"]
    assert failed(rows) == verdicts


# Labels: z[i] ~ Categorical(p), y[i] ~ Normal(phi[z[i]], 1); with a coupling they form a chain.

LABELS = """
import numpy as np
from gibbsppl import runtime

def prepare(data):
    return data

def z_given_rest(s, c):
    weights = np.log(c["p"])[:, None] - (c["y"] - c["phi"][:, None]) ** 2 / 2
    if c["coupled"]:
        z = s["z"]
        for label in (0, 1):
            weights[label, 1:] += 0.7 * (z[:-1] == label)
            weights[label, :-1] += 0.7 * (z[1:] == label)
    return weights

def sweep(rng, s, c):
    pass

def deterministics(s, c):
    return {}

STEPS = (
    runtime.Step("z", ("z",), z_given_rest),
)
"""


def labels(coupled):
    from gibbsppl.algebra.functions import Equals

    agree = sp.Rational(7, 10) * Equals(Z[I], Z[I - 1])
    return graph(
        statement(Z[I], (I,), "Categorical", (K,), p=P[K]),
        statement(Y[I], (I,), "Normal", known=1, mu=PHI[Z[I]], tau=1),
        potentials=(Potential("agree", agree, (Range(I, 1, 3),)),) if coupled else (),
        integer=("z",), data=(("p", (K,)), ("phi", (K,))), z=(I,), y=(I,),
    )  # fmt: skip


def label_data(coupled):
    return {
        "p": np.array([0.3, 0.7]), "phi": np.array([-0.5, 0.8]), "y": np.array([0.1, -1.0, 0.6]),
        "coupled": coupled,
    }  # fmt: skip


LABEL_BUGS = {
    "": ("", ""),
    "a sign": ("[:, None] -", "[:, None] +"),
    "a dropped prior": ('np.log(c["p"])[:, None]', "0"),
    "a factor": ("** 2 / 2", "** 2"),
}


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("bug", LABEL_BUGS)
def test_labels_by_ratio_and_by_enumeration(bug, coupled):
    model, data = labels(coupled), label_data(coupled)
    source = LABELS.replace(*LABEL_BUGS[bug]) if bug else LABELS
    rows = checked(model, source, data, elements=("z",))
    steps = plan(model, data, elements=("z",)).steps
    result = enumerate_sweep(model, load(source), steps, data, {"z": np.zeros(3, dtype=int)})

    assert [r.kind for r in rows] == ["finite"]
    assert len(result.states) == 8
    np.testing.assert_allclose(result.transition.sum(axis=1), 1.0)
    assert failed(rows) == ({"z"} if bug else set())
    assert result.passed == (not bug)
    assert ("FAILED" in str(result)) == bool(bug)


def test_coupled_labels_drawn_as_a_batch_do_not_leave_the_posterior_invariant():
    from dataclasses import replace

    model, data = labels(coupled=True), label_data(coupled=True)
    (step,) = plan(model, data, elements=("z",)).steps
    batch = replace(step, conditional=replace(step.conditional, elements=False))
    start = {"z": np.zeros(3, dtype=int)}

    assert enumerate_sweep(model, load(LABELS), (step,), data, start).passed
    assert not enumerate_sweep(model, load(LABELS), (batch,), data, start).passed


def test_what_cannot_be_enumerated_is_an_error():
    with pytest.raises(CompileError, match="mu: its support is the real line, expected finitely"):
        enumerate_sweep(
            groups(), load(GROUPS), plan(groups(), observed()).steps, observed(),
            {"mu": np.array(0.0), "tau": np.array(1.0), "x": np.zeros(3)},
        )  # fmt: skip


# The joint-distribution test sees what the ratio check cannot: a wrong draw from right parameters.

DRAW_BUGS = {
    "one noise for all elements": (
        "draws.normal(rng, *x_given_rest(s, c), size=(3,))", "shared(rng, *x_given_rest(s, c))",
        "def sweep", """
def shared(rng, h, q):
    return h / (-2 * q) + rng.standard_normal() / np.sqrt(-2 * q)

def sweep""",
    ),
    "a draw of four times the spread": (
        's["mu"] = draws.normal(rng, *mu_given_rest(s, c), size=())',
        's["mu"] = draws.normal(rng, *(np.array(mu_given_rest(s, c)) / 16), size=())',
    ),
}  # fmt: skip


def test_the_joint_distribution_test_passes_what_is_right():
    model, data = groups(), observed()
    result = geweke(np.random.default_rng(1), model, data, load(GROUPS), replicates=150)

    assert result.passed, str(result)
    assert len(result.comparisons) == 3 * 16
    assert "FAILED" not in str(result)


def squared_residual(v):
    """What the independent noises of x add up to, squared, in units of its posterior spread."""
    precision = 7 * v["tau"]
    mean = (v["tau"] * v["mu"] + 2 * v["tau"] * v["y"].sum(axis=1)) / precision
    return float(((v["x"] - mean).sum()) ** 2 * precision)


@pytest.mark.parametrize("bug", DRAW_BUGS)
def test_the_joint_distribution_test_finds_wrong_draws(bug):
    source = GROUPS
    for right, wrong in zip(DRAW_BUGS[bug][::2], DRAW_BUGS[bug][1::2], strict=True):
        assert right in source
        source = source.replace(right, wrong)
    model, data = groups(), observed()
    rng = np.random.default_rng(1)

    assert failed(checked(model, source, data)) == set()
    functions = {"square of the summed residual": squared_residual, "mu": lambda v: float(v["mu"])}
    right, wrong = (
        geweke(rng, model, data, load(text), replicates=400, functions=functions)
        for text in (GROUPS, source)
    )
    assert right.passed, str(right)
    assert not wrong.passed
    assert "FAILED" in str(wrong)


@pytest.mark.parametrize("bug", ["a sign", "a dropped child", "a wrong axis", "rate for scale"])
def test_the_joint_distribution_test_finds_wrong_parameters(bug):
    right, wrong, _ = PLANTED[bug]
    source = GROUPS.replace(right, wrong)
    rng = np.random.default_rng(1)

    assert not geweke(rng, groups(), observed(), load(source), replicates=400, sweeps=3).passed


def test_a_model_with_potentials_has_no_forward_draws():
    with pytest.raises(ModelError, match="coupling: a model with potentials"):
        geweke(np.random.default_rng(1), chain(), {}, load(CHAIN), replicates=2)


def test_simulated_data_give_positive_density_states():
    values = simulate(np.random.default_rng(1), groups(), {})

    assert failed(checked(groups(), GROUPS, {"y": values["y"]})) == set()


def test_a_region_is_drawn_on_another_scale_beside_the_rest_of_its_array():
    with gp.Model(coords={"k": 4, "t": 3}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(mu=1.0, sigma=2.0)
        x[1:] = gp.Gamma(shape=3.0, rate=x.lag("t", 1))
        at = gp.Index("at", [1, 0, 0, 2], of="t", dims="k")
        gp.Normal("y", mu=1.0, sigma=x[at], dims="k", observed=[1.0, 2.0, 3.0, 4.0])

    assert gp.compile(model).verify().proved


@pytest.mark.parametrize(("end", "failing"), [("0", set()), ("0.1", {"x"})])
def test_a_bound_at_the_end_of_a_new_scale_is_one_of_the_model(end, failing):
    """The conditional is drawn as that of a square root: what is below its end has squares too."""
    with gp.Model(coords={"i": 2}) as model:
        x = gp.Weibull("x", shape=0.5, scale=1.7, dims="i")
        gp.Gamma("y", shape=0.5, rate=x, dims="i", observed=[2.0, 0.4])
        at = gp.Index("at", [1, 1], of="i", dims="k")
        gp.Uniform("z", 0, x[at], dims="k", observed=[0.5, 0.2])
    sampler = gp.compile(model)
    source = sampler.source.replace("lower = maximum(0,", f"lower = maximum({end},")

    assert failed(checked(sampler.graph, source, sampler.data)) == failing


@pytest.mark.parametrize("nu", [3.0, 1e9, 1e14])
def test_rounding_in_terms_that_cancel_is_no_discrepancy(nu):
    with gp.Model(coords={"j": 2}) as model:
        freedom = gp.HalfCauchy("nu", 1.0, dims="j")
        gp.StudentT("y", nu=freedom.sum("j"), mu=0.0, tau=1.0, observed=[0.1, -2, 0.7], dims="i")
    sampler = gp.compile(model, rewrites=False)
    state = {"nu": np.array([nu, nu / 3])}
    rng = np.random.default_rng(0)
    (row,) = ratio_check(
        rng, sampler.graph, sampler.program, sampler.schedule.steps, sampler.data, state
    )

    assert row.proved


@cache
def of_freedom():
    """A Student-t whose degrees of freedom are those of a group, with its scale interwoven."""
    with gp.Model(coords={"j": 2}) as model:
        scale = gp.HalfNormal("scale", sigma=1.0)
        u = gp.Normal("u", 0.0, sigma=scale, dims="j")
        gp.StudentT("y", nu=gp.exp(u), mu=gp.Normal("mu", 0.0, sigma=1.0), tau=1.0,
                    dims="j", observed=[0.4, -1.3])  # fmt: skip
    return gp.compile(model)


def freedom_at(*us):
    """States with logs of degrees of freedom."""
    return tuple(
        {
            "scale": np.array(1.3),
            "u": np.array([u, 0.5]),
            "mu": np.array(0.1 * k),
            "y_weight": np.array([0.9 + 0.2 * k, 1.1]) * np.exp([u, 0.5]) / 2,
        }
        for k, u in enumerate(us)
    )


def test_terms_that_cancel_are_no_discrepancy_of_a_group_that_moves_nor_of_a_graph():
    sampler = of_freedom()
    schedule, program, data = sampler.schedule, sampler.program, sampler.data
    (name,) = schedule.interwoven
    state, rng = freedom_at(69.0)[0], np.random.default_rng(0)

    gap, size = gap_of_interwoven(rng, schedule, program, schedule.step(name), data, state)
    assert gap <= RELATIVE_TOLERANCE * size
    rows = graph_rows(sampler.graph, schedule, program, data, freedom_at(69.0, 68.0, 0.2, 0.3))
    assert "y_weight added" in {c for r in rows for c in r.changes}
    assert all(r.discrepancy <= RELATIVE_TOLERANCE * r.size for r in rows)


def test_a_graph_is_not_proved_between_states_at_which_terms_hide_a_gap_of_one():
    sampler = of_freedom()
    parts = (sampler.graph, sampler.schedule, sampler.program, sampler.data)
    hidden, told = (
        {c: r.discrepancy for r in graph_rows(*parts, freedom_at(*us)) for c in r.changes}
        for us in ((69.0, 68.0), (69.0, 0.2, 0.3))
    )

    assert hidden["y_weight added"] is None
    assert told["y_weight added"] is not None


def test_a_concentration_next_to_zero_is_no_discrepancy_of_a_graph():
    """Minus the log of the fraction is then as large as the reciprocal of the sum ``a``."""
    with gp.Model(coords={"i": 2}) as model:
        a = gp.Gamma("a", 1.0, rate=1.0, dims="i")
        gp.ChineseRestaurantTable("y", n=5, alpha=a.sum("i"), observed=3)
    sampler = gp.compile(model)
    split = {"y_split": np.array([2, 1])}
    states = [
        {"a": np.full(2, of / 2), "y_fraction": np.array(w), **split}
        for of, w in ((2e-16, 1e15), (1.0, 0.7), (3.0, 1.6))
    ]
    parts = (sampler.schedule, sampler.program, sampler.data, states)
    rows = graph_rows(sampler.graph, *parts)

    assert any("y_fraction added" in r.changes for r in rows)
    assert all(r.discrepancy <= RELATIVE_TOLERANCE * r.size for r in rows)
    # (what is lost elsewhere shows)
    flat = replace(FAMILIES["Gamma"], log_density=lambda *_, **__: sp.S.Zero)
    without = (replace(s, family=flat) if s.name == "a" else s for s in sampler.graph.statements)
    declared = replace(sampler.graph, statements=tuple(without))
    assert max(r.discrepancy / r.size for r in graph_rows(declared, *parts)) > 1e-3


def test_a_state_at_which_terms_are_huge_does_not_hide_what_others_tell():
    sampler = of_freedom()
    schedule, program, data = sampler.schedule, sampler.program, sampler.data
    own = sampler.graph.statements
    flat = replace(FAMILIES["Normal"], log_density=lambda *_, **__: sp.S.Zero)
    without = (replace(s, family=flat) if s.name == "u" else s for s in own)
    declared = replace(sampler.graph, statements=tuple(without))
    rows = graph_rows(declared, schedule, program, data, freedom_at(69.0, 0.2, 1.7))

    assert max(r.discrepancy / r.size for r in rows) > 1e-3


def test_an_exponential_that_overflows_is_not_taken_for_a_bound():
    """The mask of a cumulative sum counts its terms; ``log(1 + exp(..))`` excludes no value."""
    with gp.Model(coords={"i": 3}) as m:
        x = gp.InverseGamma("x", shape=3.5, scale=2.0, dims="i")
        gp.Potential("tilt", -gp.log(1 + gp.exp(50 * gp.cumsum(x, "i"))))
    sampler = gp.compile(m)

    assert all(sampler.verify(seed=seed).passed for seed in range(5))


def test_a_bound_that_overflows_excludes_nothing():
    """Between ends that are infinite nothing has a density: they are too large for numbers."""
    with gp.Model(coords={"i": 3}) as m:
        x = gp.Normal("x", 0, sigma=1, lower=-1.5, dims="i")
        end = gp.exp(1.5 * x)
        gp.Uniform("y", -end, end, dims="i", observed=[0.1, -0.2, 0.05])

    assert all(gp.compile(m).verify(seed=seed).proved for seed in range(6))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_never_drawn_is_not_compared(seed):
    """A change that is far for its variable may lead to where logs are -1e290 or infinite."""
    with gp.Model(coords={"i": 3}) as m:
        mu = gp.Normal("mu", 500, sigma=1)
        x = gp.Gumbel("x", mu, scale=2.0, dims="i")
        gp.Normal("y", x, sigma=1, dims="i", observed=[505.0, 510.0, 520.0])

    assert gp.compile(m).verify(seed=seed).proved


def test_draws_of_odds_of_a_truncated_probability_are_compared():
    with gp.Model() as model:
        share = gp.Beta("share", 0.15, 0.35, lower=0.1, upper=0.9)
        gp.LogNormal("y", mu=-0.5, var=2 * share, observed=0.6)
    sampler = gp.compile(model)
    assert "InverseGamma of share/(1 - share)" in str(sampler)
    assert sampler.verify().proved


def test_the_slope_of_a_change_is_differentiated_once(monkeypatch):
    """Integrals ask for it at thousands of points, most of the time of `verify()`."""
    asked = []
    differentiated = steps.sp.diff
    with gp.Model() as model:
        sigma = gp.Uniform("sigma_of_slope", 0, 9)
        gp.Normal("y", 0, sigma=sigma, observed=1.5)
    (step,) = gp.compile(model).schedule.steps
    monkeypatch.setattr(steps.sp, "diff", lambda *of: asked.append(of) or differentiated(*of))

    slopes = [steps.log_slope(step.conditional) for _ in range(3)]

    assert len(asked) == 1
    assert len(set(slopes)) == 1
