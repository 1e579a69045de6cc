"""What draws are called with is part of the proof: each number and keyword of a sweep, altered."""

import ast
import inspect
import re

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks.draws_called import calls_against_steps
from gibbsppl.checks.expected_calls import EXPECTED, UNCOMPARED
from gibbsppl.code.program import load
from gibbsppl.initial.search import initial_state


def data(name, values, dims):
    return gp.Data(name, np.asarray(values, float), dims=dims)


def masked(values):
    return np.ma.masked_invalid(np.asarray(values, float))


def families():
    with gp.Model(coords={"i": 3, "k": 2}) as m:
        n = data("n", [4, 5, 6], "i")
        p = gp.Dirichlet("p", 1, dims="k", event="k")
        count = gp.Multinomial("count", 7, p, dims=("i", "k"), event="k")
        gp.Binomial("seen", count, 0.4, dims=("i", "k"), observed=[[1, 2], [3, 0], [2, 2]])
        q = gp.Beta("q", 1, 2, dims="i")
        gp.Binomial("y", n, q, dims="i", observed=[1, 2, 3])
        left = gp.Binomial("left", n, 0.4, dims="i")
        gp.Normal("x", left, sigma=1, dims="i", observed=[1.0, 2, 3])
    return m, {}


def bounds():
    with gp.Model(coords={"i": 3}) as m:
        top = gp.Uniform("top", 0, 10)
        mu = gp.Normal("mu", 1, sigma=1, lower=0, upper=3)
        x = gp.Uniform("x", 0, top, dims="i")
        gp.Normal("y", x + mu, sigma=1, dims="i", observed=[1.0, 2, 3])
        level = gp.DiscreteUniform("level", 2, 5)
        gp.Poisson("c", level, dims="i", observed=[1, 2, 3])
        free = gp.DiscreteUniform("free", -3, 4)
        gp.Normal("z", 0.0 * free, sigma=1, observed=1.0)
        gp.Uniform("idle", -1, 2, dims="i")
    return m, {}


def concave():
    with gp.Model(coords={"i": 3, "t": 4}) as m:
        a, scale = gp.Gamma("a", 2, rate=1), gp.HalfCauchy("scale", 2)
        b = gp.Normal("b", 0, sigma=scale, dims="i")
        gp.Poisson("y", gp.exp(b), dims="i", observed=[1, 2, 3])
        gp.Gamma("w", a, rate=1, dims="i", observed=[1.0, 2, 3])
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(x.lag("t", 1), sigma=0.5)
        gp.Poisson("c", gp.exp(x), dims="t", observed=[1, 2, 0, 1])
    return m, {}


def sliced():
    with gp.Model(coords={"i": 3}) as m:
        a = gp.Gamma("a", 2, rate=1, dims="i", upper=9)
        b = gp.Normal("b", 0, sigma=1, lower=-1, upper=2)
        gp.Normal("y", (a - 2) ** 3 + b**3, sigma=1, dims="i", observed=[1.0, 2, 3])
        n = gp.Poisson("n", 3, dims="i")
        gp.Normal("z", (n - 2) ** 2, sigma=1, dims="i", observed=[1.0, 2, 3])
    return m, {}


def regions():
    with gp.Model(coords={"t": 5}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(2, rate=1)
        x[1:] = gp.Gamma(3, rate=2)
        gp.Poisson("y", x, dims="t", observed=masked([1, np.nan, 3, 0, np.nan]))
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("z", mu, sigma=1, dims="t", observed=masked([1, 2, np.nan, np.nan, 0]))
    return m, {}


def labels():
    with gp.Model(coords={"i": 4, "k": 3}) as m:
        mu = gp.Normal("mu", 0, sigma=2, dims="k")
        z = gp.Categorical("z", data("w", [0.2, 0.3, 0.5], "k"), dims="i", event="k")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[0.0, 1, 2, 3])
        u = gp.DiscreteUniform("u", 1, 3, dims="i")
        gp.Poisson("c", u, dims="i", observed=[0, 1, 2, 3])
    return m, {}


def by_element():
    with gp.Model(coords={"i": 4, "j": 3}) as m:
        z = gp.Bernoulli("z", 0.4, dims="i")
        gp.Poisson("total", 0.5 + z.sum("i"), observed=2)
        spin = gp.Bernoulli("spin", 0.5, dims=("i", "j"))
        gp.Potential("down", 0.4 * spin * spin.lag("i", 1))
        gp.Potential("right", 0.4 * spin * spin.lag("j", 1))
    return m, {}


def chain():
    with gp.Model(coords={"n": 2, "t": 4, "s": 2}) as m:
        P = data("P", [[0.7, 0.3], [0.2, 0.8]], ("s", "s'"))
        z = gp.Array("z", dims=("n", "t"), event="s")
        z[:, 0] = gp.Categorical(data("start", [0.5, 0.5], "s"))
        z[:, 1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", 2 * z, sigma=1, dims=("n", "t"), observed=np.arange(8.0).reshape(2, 4) / 4)
    return m, {}


def vectors():
    with gp.Model(coords={"n": 3, "k": 2}) as m:
        scale = data("scale", np.eye(2), ("k", "k'"))
        tau = gp.Wishart("tau", 4, V=scale, dims=("k", "k'"))
        mu = gp.MvNormal("mu", 0, cov=scale, dims=("n", "k"), event="k")
        y = np.arange(6.0).reshape(3, 2)
        gp.MvNormal("y", mu, tau=tau, dims=("n", "k"), event="k", observed=y)
    return m, {}


def steps_of_the_user():
    with gp.Model(coords={"i": 3}) as m:
        mu = gp.Normal("mu", 0, sigma=1, dims="i")
        a = gp.Gamma("a", 2, rate=1, upper=9, dims="i")
        n = gp.Poisson("n", 3)
        gp.Normal("y", mu + a, sigma=1, dims="i", observed=[1.0, 2, 3])
        gp.Poisson("c", 0.5 + n, observed=2)
    kernels = {"mu": gp.OverRelaxed(-0.9), "a": gp.RandomWalk(), "n": gp.RandomWalk()}
    return m, {"kernels": kernels, "scan": gp.RandomScan()}


def collapsed():
    with gp.Model(coords={"i": 5, "k": 3}) as m:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        mu = gp.Normal("mu", 0, sigma=2, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[0.0, 1, 2, 3, 2])
    return m, {"collapse": ["w", "mu"]}


def interwoven():
    with gp.Model(coords={"i": 4}) as m:
        mu, sd = gp.Normal("mu", 0, sigma=2), gp.Uniform("sd", 0, 5)
        theta = gp.Normal("theta", mu, sigma=sd, dims="i")
        gp.Normal("y", theta, sigma=1, dims="i", observed=[0.0, 1, 2, 3])
    return m, {"interweave": True}


def augmented():
    with gp.Model(coords={"i": 4}) as m:
        a = gp.Normal("a", 0, sigma=2)
        b = gp.StudentT("b", 3, 0, sigma=2)
        x = data("x", [-1, 0, 1, 2], "i")
        gp.Binomial("y", 4, gp.expit(a + b * x), dims="i", observed=[0, 1, 3, 4])
    return m, {"rewrites": {"Polya-Gamma": True}}


MODELS = (
    families,
    bounds,
    concave,
    sliced,
    regions,
    labels,
    by_element,
    chain,
    vectors,
    steps_of_the_user,
    interwoven,
    augmented,
    pytest.param(collapsed, marks=pytest.mark.slow),  # (its loops are compiled for each mutant)
)


def wrong_calls(sampler, program):
    rng = np.random.default_rng(1)
    mend = sampler.program.mended_by(rng, sampler.constants)
    start, _ = initial_state(rng, sampler.graph, sampler.data, mend=mend)
    sampler.program.augment(rng, start, sampler.constants)
    found = calls_against_steps(rng, sampler.schedule, program, sampler.data, start)
    return {step: why for step, why in found.items() if why}


def carried_out(tree):
    """The functions of a module that carry out a sweep."""
    return [
        f
        for f in tree.body
        if isinstance(f, ast.FunctionDef) and [a.arg for a in f.args.args] == ["rng", "s", "c"]
    ]


def is_number(node):
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_draw(node):
    return isinstance(node, ast.Call) and any(
        isinstance(a, ast.Name) and a.id == "rng" for a in node.args
    )


def mutants(source):
    """The source with one number of a sweep one larger, or one keyword of a draw left out.

    (The shape of one element is that of any other: which one is read makes no other program.)
    """
    nodes = [n for f in carried_out(ast.parse(source)) for n in ast.walk(f)]
    shapes = [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr == "shape"]
    any_element = [s.slice for s in shapes if isinstance(s, ast.Subscript) and is_number(s.slice)]
    for k, node in enumerate(nodes):
        if node in any_element:
            continue
        for change in range(len(node.keywords) if is_draw(node) else int(is_number(node))):
            tree = ast.parse(source)
            again = [n for f in carried_out(tree) for n in ast.walk(f)][k]
            line = ast.unparse(again) if is_draw(again) else f"{again.value} + 1"
            if is_draw(again):
                line += f", without {again.keywords.pop(change).arg}"
            else:
                again.value += 1
            yield f"line {node.lineno}: {line}", ast.unparse(tree)


@pytest.mark.parametrize("model", MODELS, ids=lambda f: f.__name__)
def test_every_number_and_keyword_of_a_sweep_is_proved(model):
    declared, settings = model()
    sampler = gp.compile(declared, **settings)
    kernels = sampler.program.kernels
    survivors = [
        told
        for told, source in mutants(sampler.source)
        if not wrong_calls(sampler, load(source, kernels))
    ]

    assert wrong_calls(sampler, sampler.program) == {}
    assert survivors == []


def mixed_by_weights():
    with gp.Model(coords={"i": 3}) as m:
        mu, sd = gp.Normal("mu", 0, sigma=1), gp.Gamma("sd", 2, rate=1)
        gp.StudentT("y", 4, mu, sigma=sd, dims="i", observed=[1.0, 0, 2])
    return gp.compile(m)


def test_draws_in_an_order_in_which_one_reads_what_is_stale_are_seen():
    """The standard deviation is drawn with the weights integrated out, which the mean reads."""
    sampler = mixed_by_weights()
    before, sweep = sampler.source.split("def sweep(")
    weights, mean = re.findall(r'    s\["(?:y_weight|mu)"\] = .*\n', sweep)
    swapped = sweep.replace(weights + mean, mean + weights)
    wrong = wrong_calls(sampler, load(f"{before}def sweep({swapped}"))

    assert wrong_calls(sampler, sampler.program) == {}
    assert set(wrong) == {"mu"}
    assert "its draw reads y_weight, which is stale" in wrong["mu"]


@pytest.mark.parametrize("scan", ["random", "symmetric", gp.RandomScan({"mu": 1e-9})])
def test_units_that_come_again_and_units_that_seldom_come_are_proved(scan):
    with gp.Model(coords={"t": 3}) as m:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.0)
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(2, rate=1)
        x[1:] = gp.InverseGamma(shape=3, scale=x.lag("t", 1))
    sampler = gp.compile(m, scan=scan)

    assert wrong_calls(sampler, sampler.program) == {}


def with_weights_that_no_draw_needs(scan):
    """The sum in each log density is one over a rate of its own; the labels are drawn without."""
    with gp.Model(coords={"j": 3}) as m:
        x = gp.StudentT("x", 3, 0, sigma=1)
        w = data("w", [1.6, 0.8, 1.1], "j") * gp.exp(data("c", [1, 2, 0.5], "j") * x)
        gp.Categorical("z", w / gp.sum(w, "j"), event="j")
    return gp.compile(m, scan=scan, rewrites={"power of a sum": True})


@pytest.mark.parametrize("scan", ["random", "symmetric"])
def test_an_auxiliary_variable_that_no_unit_reads_need_not_be_drawn(scan):
    sampler = with_weights_that_no_draw_needs(scan)
    units = sampler.schedule.units
    left_out = set(range(len(sampler.schedule.steps))) - {j for unit in units for j in unit}

    assert left_out
    assert sampler.verify().proved


def test_an_auxiliary_variable_that_a_unit_reads_has_to_be_drawn():
    sampler = with_weights_that_no_draw_needs("random")
    line = r'    s\["x_weight"\] = .*\n'
    before, units = sampler.source.split("def draw_x(")
    undrawn = load(f"{before}def draw_x({re.sub(line, '', units, count=1)}")

    assert wrong_calls(sampler, sampler.program) == {}
    assert wrong_calls(sampler, undrawn) == {"x_weight": "it is never drawn"}


def test_a_unit_that_is_never_chosen_is_never_drawn():
    sampler = with_weights_that_no_draw_needs("random")
    first_alone = sampler.source.replace("rng.integers(len(UNITS),", "rng.integers(1,")

    assert set(wrong_calls(sampler, load(first_alone)).values()) == {"it is never drawn"}


def test_each_argument_of_a_draw_is_compared_or_known_not_to_be():
    functions = ((name, getattr(runtime, name)) for name in runtime.__all__)
    draws = ((n, [*inspect.signature(f).parameters]) for n, f in functions if inspect.isfunction(f))
    drawn = {n: names[1:] for n, names in draws if names[:1] == ["rng"]}

    known = {*EXPECTED, *UNCOMPARED}
    new = {n: set(names) - known for n, names in drawn.items() if not n.startswith("simulate_")}
    assert {n: left for n, left in new.items() if left} == {}
    assert not set(EXPECTED) & UNCOMPARED
