"""The printed schedule and the derivations: golden texts, the notation, the parameters read off."""

import inspect

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
import models
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import Array, Dim, InverseEntry, LogDet, Over
from gibbsppl.algebra.functions import AtMost, Equals
from gibbsppl.algebra.notation import Notation, wrapped
from gibbsppl.derive.inversion import inversion_of, solved_parameters
from gibbsppl.explain import explained, schedule_text
from gibbsppl.explain.schedule_text import WIDTH
from gibbsppl.families import FAMILIES
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.graph_views import short_notation


def growth(priors="gamma"):
    with gp.Model(coords={"rat": 3, "day": [8, 15]}, name="growth") as model:
        age = gp.Data("age", [8, 15], dims="day")
        mu_a, tau_a = gp.Normal("mu_a", 0, tau=1e-4), gp.Gamma("tau_a", 0.001, rate=0.001)
        a = gp.Normal("a", mu_a, tau=tau_a, dims="rat")
        b = gp.Normal("b", 6, tau=1, dims="rat")
        line = a + b * (age - 10)
        weights = np.arange(6.0).reshape(3, 2)
        if priors == "gamma":
            tau = gp.Gamma("tau", 0.001, rate=0.001)
            gp.Normal("weight", line, tau=tau, dims=("rat", "day"), observed=weights)
        else:
            sd = gp.Uniform("sd", 0, 100)
            gp.Normal("weight", line, sigma=sd, dims=("rat", "day"), observed=weights)
    return model


def mixture():
    with gp.Model(coords={"galaxy": 6, "component": 2}, name="mixture") as model:
        weight = gp.Dirichlet("weight", 1, dims="component", event="component")
        mu = gp.Normal("mu", 20, tau=0.01, dims="component")
        tau = gp.Gamma("tau", 3, rate=20, dims="component")
        z = gp.Categorical("z", weight, dims="galaxy", event="component")
        gp.Normal("velocity", mu[z], tau=tau[z], dims="galaxy", observed=np.arange(6.0))
    return model


def allocation():
    with gp.Model(coords={"doc": 2, "topic": 3, "vocab": 4, "token": 6}, name="lda") as model:
        doc = gp.Index("doc_of", [0, 0, 0, 1, 1, 1], of="doc", dims="token")
        theta = gp.Dirichlet("theta", 0.1, dims=("doc", "topic"), event="topic")
        phi = gp.Dirichlet("phi", 0.01, dims=("topic", "vocab"), event="vocab")
        z = gp.Categorical("z", theta[doc], dims="token", event="topic")
        words = [0, 1, 2, 3, 3, 1]
        gp.Categorical("word", phi[z], dims="token", event="vocab", observed=words)
    return model


def factorisation():
    coords = {"user": 3, "item": 2, "factor": 2, "rating": 4}
    with gp.Model(coords=coords, name="factorisation") as model:
        user = gp.Index("user_of", [0, 1, 2, 2], of="user", dims="rating")
        item = gp.Index("item_of", [0, 1, 0, 1], of="item", dims="rating")
        U = gp.Normal("U", 0, tau=1, dims=("user", "factor"))
        V = gp.Normal("V", 0, tau=1, dims=("item", "factor"))
        mean = (U[user] * V[item]).sum("factor")
        gp.Normal("value", mean, tau=10, dims="rating", observed=[1.0, 2.0, 3.0, 4.0])
    return model


def pumps():
    with gp.Model(coords={"pump": 3}, name="pumps") as model:
        hours = gp.Data("hours", [94.3, 15.7, 62.9], dims="pump")
        alpha, beta = gp.Exponential("alpha", rate=1), gp.Gamma("beta", 0.1, rate=1)
        theta = gp.Gamma("theta", alpha, rate=beta, dims="pump")
        gp.Poisson("failures", theta * hours, dims="pump", observed=[5, 1, 5])
    return model


def walk():
    with gp.Model(coords={"time": 10}, name="walk") as model:
        tau, x = gp.Gamma("tau", 1, rate=1), gp.Array("x", dims="time")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("time", 1), tau=tau)
        gp.Normal("y", x, tau=0.1, dims="time", observed=np.arange(10.0))
    return model


def uniform_sd():
    return growth(priors="uniform")


MODELS = (growth, uniform_sd, mixture, allocation, factorisation, pumps, walk)


def without_code(text):
    """A derivation without its sections of generated code: these are the back end's."""
    kept, inside = [], False
    for line in text.splitlines():
        inside = ". The generated code" in line or (inside and (not line or line[0] == " "))
        kept += [] if inside else [line]
    return "\n".join(kept)


@pytest.mark.parametrize("make", MODELS, ids=lambda m: m.__name__)
def test_schedules_and_derivations_are_those_reviewed(make, golden):
    sampler = gp.compile(make())
    golden(f"explain/{make.__name__}.schedule.txt", str(sampler))
    golden(f"explain/{make.__name__}.derivation.txt", without_code(sampler.explain()))


def test_the_model_example_prints_as_in_a_paper():
    lines = str(gp.compile(pumps())).splitlines()
    row = next(line.split() for line in lines if line.strip().startswith("theta["))
    assert " ".join(row) == "theta[pump] Gamma eta = (alpha - 1 + failures, -beta - hours)"


def test_fallbacks_come_first_with_reason_and_nearest_family():
    with gp.Model(name="robust") as model:
        mu = gp.Normal("mu", 0, tau=1)
        gp.StudentT("y", nu=3, mu=mu, tau=1, observed=2.0)
    lines = str(gp.compile(model, rewrites=False)).splitlines()
    assert lines[0] == "robust: 1 step, 1 fallback"
    assert "fallback: mu is moved by slice sampling" in lines[1]
    assert "log(" in lines[2]
    assert any("nearest family: Normal, were it not for log(" in line for line in lines)
    assert "fallback" not in str(gp.compile(growth()))


@pytest.mark.parametrize(
    "module", [m for m in models.ALL if m is not models.lda], ids=lambda m: m.__name__
)
def test_schedules_of_the_library_fit_the_page(module):
    sampler = gp.compile(module.model())
    lines = str(sampler).splitlines()
    assert max(map(len, lines)) <= WIDTH
    for step in sampler.schedule.steps:
        name = sampler.schedule.drawn_by(step)[0]
        assert any(line.startswith(f"  {name}") for line in lines[1:])


def test_matrices_say_what_solves_for_them_and_sizes_are_numbers():
    with gp.Model(coords={"row": 2, "k": 5}, name="matrix") as model:
        R = gp.Data("R", np.eye(2), dims=("row", "row'"))
        omega = gp.Wishart("omega", 4, R=R, dims=("row", "row'"))
        mean = gp.Data("mean", np.zeros(2), dims="row")
        values = np.arange(10.0).reshape(5, 2)
        gp.MvNormal("y", mean, tau=omega, dims=("k", "row"), event="row", observed=values)
    text = gp.compile(model).explain("omega")
    # 4 + 5 observations; the model's own dim k has nothing to do with the row's.
    assert "nu = 2*eta_1 + 3 = 9" in text
    assert "V solves -inverse(V)[row, row']/2 = eta_2" in text


def test_what_is_too_long_is_cut_and_says_where_the_rest_is():
    with gp.Model(coords={"i": 3}, name="long") as model:
        effects = [gp.Normal(f"a_rather_long_name_{n}", 0, tau=1) for n in range(12)]
        gp.Normal("y", sum(effects), tau=1, dims="i", observed=[1.0, 2.0, 3.0])
    sampler = gp.compile(model)
    text = str(sampler)
    assert "..." in text
    assert "explain(" in text.splitlines()[-1]
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "..." not in sampler.explain("a_rather_long_name_3")


def counted_together():
    """Labels whose number is near three: each sees all others."""
    with gp.Model(coords={"n": 5}) as m:
        z = gp.Bernoulli("z", 0.5, dims="n")
        gp.Potential("number", -((z.sum("n") - 3) ** 2))
    return m


def test_elements_that_depend_on_one_another_are_printed_as_such():
    assert "one by one" in str(gp.compile(counted_together()))
    by_element = gp.compile(walk(), blocks={"x": "elements"})
    assert "in 2 colours" in str(by_element)
    assert "drawn in 2 colours" in by_element.explain("x")
    assert "depend on one another" in by_element.explain("x")
    assert "x[time]  MvNormal  jointly, dense" in str(gp.compile(walk()))
    assert "jointly over factor" in str(gp.compile(factorisation()))
    assert "one by one" not in str(gp.compile(mixture()))


@pytest.mark.parametrize("make", MODELS, ids=lambda m: m.__name__)
def test_the_code_shown_is_the_code_generated(make):
    sampler = gp.compile(make(), interweave=False)
    source = sampler.source.splitlines()
    for step in sampler.schedule.steps:
        name = step.name
        text = sampler.explain(step.variables[0])
        _, code = text.split("The generated code that draws", 1)
        shown = [line.strip() for line in code.splitlines()[1:] if line.strip()]
        assert shown[0].startswith("def ")
        assert {s for s in shown if s != "# in sweep(rng, s, c):"} <= {s.strip() for s in source}
        array = sampler.program.step_variables[name][0]
        drawn = f's["{array}"]' if step.kind != "joint" else "s.update("
        assert any(drawn in s for s in shown[shown.index("# in sweep(rng, s, c):") :])


def test_the_blanket_is_marked_and_no_more():
    text = gp.compile(growth(), blocks=False).explain("mu_a")
    joint = text.split("1. The joint density", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    marked = [line.split()[1] for line in joint if line.strip().startswith("*")]
    assert marked == ["mu_a", "a[rat]"]
    assert len(joint) == 6


def test_all_names_a_model_and_every_variable():
    sampler = gp.compile(mixture())
    text = sampler.explain()
    assert text.startswith("The model\n   weight[component] ~ Dirichlet")
    for name in ("weight", "mu", "tau", "z"):
        assert sampler.explain(name) in text


@pytest.mark.parametrize(
    ("name", "said_why"),
    [
        ("mu_c", "found no such variable.*latent variable: .*mu_a.*Did you mean 'mu_a'"),
        ("weight", "weight is not drawn.*expected a latent variable: .*tau_a"),
        ("age", "age is not drawn"),
        ("", "found no such variable"),
    ],
)
def test_unknown_names_are_refused(name, said_why):
    with pytest.raises(gp.CompileError, match=said_why):
        gp.compile(growth()).explain(name)


# ---- the notation --------------------------------------------------------------------------------

i, g, k, t = Dim("i"), Dim("g"), Dim("k"), Dim("t")
x, y, z, tau, S = (Array(n) for n in ("x", "y", "z", "tau", "S"))
SIZES = {i: 5, g: 3, k: 2, primed(k): 2, t: 10}
FULL, SHORT = Notation(SIZES), Notation(SIZES, {"x": (i,), "z": (i,)})


@pytest.mark.parametrize(
    ("expression", "full", "short"),
    [
        (number(0.001), "0.001", "0.001"),
        (sp.Rational(1, 3), "1/3", "1/3"),
        (number(1e-11), "1e-11", "1e-11"),
        (-sp.Rational(999, 1000), "-0.999", "-0.999"),
        (number(123456789.25), "493827157/4", "493827157/4"),
        (x[i] / 2, "x[i]/2", "x/2"),
        (2 * x[i] / 3, "2*x[i]/3", "2*x/3"),
        (number(0.05) * x[i], "0.05*x[i]", "0.05*x"),
        (-5 * x[i] / (2 * tau[()] ** 2), "-5*x[i]/(2*tau**2)", "-5*x/(2*tau**2)"),
        (1 / tau[()], "1/tau", "1/tau"),
        (tau[()] ** -2, "1/tau**2", "1/tau**2"),
        (2 ** tau[()], "2**tau", "2**tau"),
        ((-tau[()]) ** 2 * x[i], "tau**2*x[i]", "tau**2*x"),
        ((x[i] + 1) ** tau[()], "(x[i] + 1)**tau", "(x + 1)**tau"),
        (sp.sqrt(tau[()]), "sqrt(tau)", "sqrt(tau)"),
        (sp.exp(-x[i]), "exp(-x[i])", "exp(-x)"),
        (1 - x[i], "1 - x[i]", "1 - x"),
        (-x[i] - 9, "-x[i] - 9", "-x - 9"),
        (-(x[i] - tau[()]) ** 2 / 2, "-(x[i] - tau)**2/2", "-(x - tau)**2/2"),
        (x[t - 1] + x[0], "x[0] + x[t - 1]", "x[0] + x[t - 1]"),
        (Over(x[i], i, 0, 5), "sum(x[i], i)", "sum(x, i)"),
        (Over(x[i], i, 1, 5), "sum(x[i], i = 1..4)", "sum(x, i = 1..4)"),
        (Over(Over(y[i, k], k), i), "sum(y[i, k], i, k)", "sum(y[i, k], i, k)"),
        (Over(Equals(z[i], g), i), "count(i where z[i] = g)", "count(i where z = g)"),
        (
            Over(x[i] * Equals(z[i], g), i),
            "sum(x[i], i where z[i] = g)",
            "sum(x, i where z = g)",
        ),
        (2 * Over(sp.S.One, k) + 1, "5", "5"),
        (tau[()] * Equals(k, g), "tau*[k = g]", "tau*[k = g]"),
        (sp.log(AtMost(x[i], tau[()])), "log([x[i] <= tau])", "log([x <= tau])"),
        (LogDet(S[g, k, primed(k)], k, primed(k)), "logdet(S[g])", "logdet(S[g])"),
        (
            InverseEntry(S[k, primed(k)], k, primed(k), k, primed(k)),
            "inverse(S)[k, k']",
            "inverse(S)[k, k']",
        ),
    ],
)
def test_notation(expression, full, short):
    assert FULL.text(expression) == full
    assert SHORT.text(expression) == short


def _read_back(text):
    """The value of a text as Python, at numbers for the names."""
    values = {"a": 1.7, "b": -0.6, "c": 2.3, "log": np.log, "exp": np.exp, "sqrt": np.sqrt}
    return eval(text, {"__builtins__": {}}, values)  # noqa: S307  (a text of this test's own)


@pytest.mark.parametrize("seed", range(60))
def test_notation_means_what_the_expression_means(seed):
    rng = np.random.default_rng(seed)
    a, b, c = (Array(n)[()] for n in "abc")
    found = [a, b, c, sp.Integer(2), -sp.Rational(1, 3), number(0.07), 1 / (2 * c)]
    operations = (
        lambda p, q: p + q,
        lambda p, q: p - q,
        lambda p, q: p * q,
        lambda p, q: p / (q**2 + 1),
        lambda p, q: (p - q) ** 2,
        lambda p, q: -sp.exp(-(p**2)) / 2 + q,
        lambda p, q: sp.sqrt(p**2 + 1) * q ** (-3),
    )
    for _ in range(6):
        p, q = (found[n] for n in rng.integers(len(found), size=2))
        found.append(operations[rng.integers(len(operations))](p, q))
    for expression in found[-3:]:
        if expression.has(sp.zoo, sp.nan):
            continue
        value = float(expression.subs({a: 1.7, b: -0.6, c: 2.3}))
        assert _read_back(Notation().text(expression)) == pytest.approx(value, rel=1e-9)


def test_lines_break_between_terms():
    text = "sum(a + b, i) - tau*(c - d) + gamma"
    assert wrapped(text, 32) == ["sum(a + b, i) - tau*(c - d)", "  + gamma"]
    assert wrapped("aaaa*(bbbb + cccc*(dddd - eeee))", 20) == [
        "aaaa*(bbbb",
        "  + cccc*(dddd",
        "  - eeee))",
    ]


# ---- the parameters read off ---------------------------------------------------------------------

SCALAR = [f for f in FAMILIES.values() if f.natural is not None and f.event == 0]
# A point of each kind of domain, and points of each kind of support, at which densities are finite.
POINTS = {"real": (0.2, 0.35, 0.5, 0.9), "integer": (0, 1, 2, 3)}


def value_at(expr, leaf, point):
    return float(evaluate(sp.sympify(expr).xreplace({leaf: point}), (), {}, {}))


@pytest.mark.parametrize("family", SCALAR, ids=lambda f: f.name)
def test_parameters_read_off_give_the_natural_parameters_back(family):
    natural, inversion = family.natural, inversion_of(family)
    rng = np.random.default_rng(len(family.name))
    values = {
        n: sp.Rational(int(rng.integers(1, 9)), 10) if p.support.upper == 1 else
        sp.Integer(int(rng.integers(3, 9))) if p.support.kind == "integer" else
        sp.Rational(int(rng.integers(11, 40)), 10)
        for n, p in family.parameters.items()
    }
    known = {n: values[n] for n in natural.known}
    solved = {n for n, _ in inversion.solved}
    assert solved == set(family.parameters) - set(natural.known)
    if not solved:
        return
    # Independently of any algebra on pieces: eta by least squares from densities at many points.
    lower = float(known.get("minimum", 0))
    start = 0 if family.support((), **values).kind == "integer" else lower + 0.07
    step = 1 if start == 0 else 0.11
    points = [sp.nsimplify(start + step * n, rational=True) for n in range(8)]
    leaf = Array("value", positive=True)[()]
    density = family.log_density(leaf, (), **values) - natural.log_base(leaf, (), **known)
    heights = np.array([value_at(density, leaf, p) for p in points])
    statistics = [
        [value_at(s, leaf, p) for s in natural.statistics(leaf, (), **known)] for p in points
    ]
    design = np.column_stack([np.ones(len(points)), statistics])
    eta = np.linalg.lstsq(design, heights, rcond=None)[0][1:]
    etas = {Array(f"eta_{j + 1}")[()]: sp.Float(v) for j, v in enumerate(eta)}
    symbols = {Array(n)[()]: v for n, v in known.items()}
    for name, formula in inversion.solved:
        found = float(formula.xreplace(etas | symbols).evalf())
        assert found == pytest.approx(float(values[name]), rel=1e-7)


@pytest.mark.parametrize(
    ("name", "solved", "equations"),
    [
        ("Dirichlet", {"a": "eta_1 + 1"}, []),
        ("MvNormal", {"tau": "-2*eta_2"}, ["eta_1 = sum(mu[k']*tau[k, k'], k')"]),
        ("InverseWishart", {"nu": "-2*eta_1 - sum(1, k) - 1", "S": "-2*eta_2"}, []),
    ],
)
def test_parameters_of_vectors_and_matrices(name, solved, equations):
    inversion = inversion_of(FAMILIES[name])
    assert {n: str(e) for n, e in inversion.solved} == solved
    assert [f"{eta} = {e}" for eta, e in inversion.equations] == equations


def test_parameters_with_natural_parameters_put_in():
    a, b = sp.symbols("a b")
    read = solved_parameters(FAMILIES["Normal"], {"eta_1": a * b, "eta_2": -a / 2 - b / 2})
    assert read == {"mu": a * b / (a + b), "tau": a + b}


def test_no_module_of_explain_names_a_distribution():
    names = set(FAMILIES)
    for function in (schedule_text, explained, inversion_of, short_notation):
        source = inspect.getsource(inspect.getmodule(function))
        code = "\n".join(line for line in source.splitlines() if ">>>" not in line)
        assert not [n for n in names if f'"{n}"' in code]
