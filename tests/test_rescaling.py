"""Scales drawn once more with products held fixed, and working scales of latent normal values."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from remaking import remade
from scipy import special, stats

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array
from gibbsppl.checks.geweke import geweke
from gibbsppl.checks.verification import verify
from gibbsppl.errors import CompileError
from gibbsppl.output.diagnostics import ess_bulk, mcse_mean
from gibbsppl.rewrites import expansion, rescaling
from gibbsppl.rewrites.rescaling import products, rescaled
from models import horseshoe

LEVEL = 1e-3
X = np.array([[1, 0.5], [1, -1], [1, 2], [1, 0.3]])
SMALL = {"x": X[:, 1:], "y": [0.3, -1.1, 0.7, 1.9], "columns": ["x"], "intercept_precision": 1}


# ---- models ----------------------------------------------------------------------------------


def shrunk():
    """A horseshoe of two coefficients."""
    data = {**SMALL, "x": X, "columns": ["a", "b"]}
    return horseshoe.model(**data, overall_scale=0.5, shape=3, rate=2)


def precisions():
    """Precisions of errors that are a product, as those of a Student-t are."""
    with gp.Model(coords={"i": 4}) as m:
        tau = gp.Gamma("tau", 3, rate=2)
        weight = gp.Gamma("weight", 2, rate=2, dims="i")
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu, tau=tau * weight, dims="i", observed=SMALL["y"])
    return m


def powers():
    """A scale that goes with the square of an array."""
    with gp.Model(coords={"i": 4}) as m:
        v = gp.Gamma("v", 3, rate=2)
        g = gp.Gamma("g", 2, rate=2, dims="i")
        gp.Normal("y", 0, sigma=g * gp.sqrt(v), dims="i", observed=SMALL["y"])
    return m


def probit():
    """A probit regression of two coefficients."""
    with gp.Model(coords={"i": 4, "j": 2}) as m:
        x = gp.Data("x", X, dims=("i", "j"))
        b = gp.Normal("b", 0, tau=1, dims="j")
        gp.Bernoulli("y", gp.Phi(x @ b), dims="i", observed=[0, 1, 1, 0])
    return m


def effects():
    """A probit regression with effects of groups, whose mean and precision are unknown."""
    with gp.Model(coords={"i": 4, "k": 2}) as m:
        x = gp.Data("x", X[:, 1], dims="i")
        k = gp.Index("of", [0, 1, 1, 0], of="k", dims="i")
        mu, b = gp.Normal("mu", 0.3, tau=1), gp.Normal("b", 0, tau=1)
        tau = gp.Gamma("tau", 3, rate=2)
        u = gp.Normal("u", mu, tau=tau, dims="k")
        gp.Bernoulli("y", gp.Phi(u[k] + b * x), dims="i", observed=[0, 1, 1, 0])
    return m


def items():
    """Probit regressions side by side: a working scale for each."""
    with gp.Model(coords={"i": 4, "j": 2, "item": 3}) as m:
        x = gp.Data("x", X, dims=("i", "j"))
        b = gp.Normal("b", 0, tau=1, dims=("j", "item"))
        seen = np.arange(12).reshape(4, 3) % 2
        gp.Bernoulli("y", gp.Phi(x @ b), dims=("i", "item"), observed=seen)
    return m


def ordered(observed=(0, 1, 2, 1, 0, 2), x=(-1, 0.5, 1, 0, 0.3, 2), tau=1.0):
    """An ordered probit with cut points."""
    with gp.Model(coords={"i": len(x), "step": 3, "cut": 2}) as m:
        x = gp.Data("x", x, dims="i")
        b = gp.Normal("b", 0, tau=tau)
        cut = gp.Normal("c", 0, tau=tau, dims="cut")
        gp.Constraint("order", cut[0] < cut[1])
        p = gp.Array("p", dims=("i", "step"))
        p[:, 0] = gp.Phi(cut[0] - b * x)
        p[:, 1] = gp.Phi(cut[1] - b * x) - gp.Phi(cut[0] - b * x)
        p[:, 2] = 1 - gp.Phi(cut[1] - b * x)
        gp.Categorical("y", p, dims="i", event="step", observed=list(observed))
    return m


# A model, what is drawn once more, and what moves along.
PRODUCTS = {
    "horseshoe": (shrunk, "overall", ("local",)),
    "precisions": (precisions, "tau", ("weight",)),
    "powers": (powers, "v", ("g",)),
}
WORKING = {
    "probit": (probit, "y_utility_scale", ("y_utility", "b")),
    "effects": (effects, "y_utility_scale", ("y_utility", "u", "b", "mu")),
    "items": (items, "y_utility_scale", ("y_utility", "b")),
    "ordered": (
        ordered, "y_utility_scale", ("y_utility", "b", "c", "y_utility_2", "y_utility_3")
    ),
}  # fmt: skip
MODELS = {**PRODUCTS, **WORKING}


QUICK = ("precisions", "probit")
EVERY = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in MODELS]
# (so few coefficients are proposed about the mode otherwise, or drawn by adaptive rejection)
ASKED = {"latent normal": True}
BETWEEN = {"latent normal between": True}
BOTH = {**ASKED, **BETWEEN}


def made(name, **more):
    asked = {"rewrites": {**(BOTH if name == "ordered" else ASKED), **more}}
    return gp.compile(MODELS[name][0](), exact=True, **(asked if name in WORKING else {}))


compiled = cache(made)


def rescalings(sampler):
    """The updates by products and working scales: what is drawn, and what moves along."""
    every = sampler.schedule.interwoven.values()
    return {
        i.variable: {r.of for r in i.stand_ins} - {i.variable}
        for i in every
        if any(r.name.endswith("_scaled") for r in i.stand_ins)
    }


# ---- which -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_what_others_see_in_proportion_moves_along(name):
    _, scale, moved = MODELS[name]

    assert rescalings(compiled(name)) == {scale: set(moved)}


@pytest.mark.parametrize(
    ("name", "power"), [("precisions", 1), ("powers", "1/2")]
)
def test_the_power_is_that_of_the_product(name, power):
    model, scale, (group,) = PRODUCTS[name]
    graph = model().graph
    found = products(graph, graph.statement(scale))

    assert (group, sp.Rational(power)) in {(g.name, p) for g, p in found}


@pytest.mark.slow
def test_a_scale_for_each_position_that_all_have():
    (scale,) = (s for s in compiled("items").schedule.graph.latent if s.name == "y_utility_scale")

    assert [d.name for d in scale.target.own_dims] == ["item"]


def alone():
    """A product that is not all that others see of the array."""
    with gp.Model(coords={"i": 4}) as m:
        v = gp.Gamma("v", 3, rate=2)
        g = gp.Gamma("g", 2, rate=2, dims="i")
        gp.Normal("y", 0, tau=v * g, dims="i", observed=SMALL["y"])
        gp.Poisson("n", g, dims="i", observed=[1, 0, 2, 1])
    return m


def twice():
    """Two products with other powers."""
    with gp.Model(coords={"i": 4}) as m:
        v = gp.Gamma("v", 3, rate=2)
        g = gp.Gamma("g", 2, rate=2, dims="i")
        gp.Normal("y", 0, tau=v * g, dims="i", observed=SMALL["y"])
        gp.Poisson("n", g * v**2, dims="i", observed=[1, 0, 2, 1])
    return m


def shares():
    """An array between 0 and 1, of which a part alone can be moved."""
    with gp.Model(coords={"i": 4}) as m:
        v = gp.Gamma("v", 3, rate=2)
        g = gp.Beta("g", 2, 2, dims="i")
        gp.Normal("y", 0, tau=v * g, dims="i", observed=SMALL["y"])
    return m


def offset():
    """A probit with cuts that are data: latent values may not move across them."""
    with gp.Model(coords={"i": 4, "step": 3}) as m:
        x = gp.Data("x", X[:, 1], dims="i")
        b = gp.Normal("b", 0, tau=1)
        low = gp.Data("low", [-40.0, -1.0, 1.0], dims="step")
        high = gp.Data("high", [-1.0, 1.0, 40.0], dims="step")
        p = gp.Phi(high - b * x) - gp.Phi(low - b * x)
        gp.Categorical("y", p, dims="i", event="step", observed=[0, 1, 2, 1])
    return m


def seen_twice():
    """Coefficients that normal observations see, too."""
    with gp.Model(coords={"i": 4, "j": 2}) as m:
        x = gp.Data("x", X, dims=("i", "j"))
        b = gp.Normal("b", 0, tau=1, dims="j")
        gp.Bernoulli("y", gp.Phi(x @ b), dims="i", observed=[0, 1, 1, 0])
        gp.Normal("z", x @ b, tau=1, dims="i", observed=SMALL["y"])
    return m


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        (alone, {}),
        (twice, {}),
        (shares, {}),
        (offset, {"latent normal between": True}),
        (seen_twice, ASKED),
    ],
)
def test_what_others_see_otherwise_does_not_move(model, asked):
    sampler = gp.compile(model(), exact=bool(asked), rewrites=asked)

    assert {r.rule.name for r in sampler.schedule.rewrites} == set(asked)
    assert rescalings(sampler) == {}


def test_a_power_that_is_not_the_one_of_the_product_is_refused():
    graph, scale = precisions().graph, Array("tau", positive=True)[()]

    assert rescaled(graph, scale, {"weight": sp.S.One}, {"weight": "new"}) is not None
    assert rescaled(graph, scale, {"weight": sp.S(2)}, {"weight": "new"}) is None


def test_working_scales_are_forbidden_by_their_name_and_with_all_rewrites():
    settings = {"working scale": False}

    assert rescalings(made("probit", **settings)) == {}
    assert rescalings(gp.compile(precisions(), interweave=False)) == {}
    with pytest.raises(CompileError, match=r"^rewrites: found 'working scales', expected names"):
        gp.compile(probit(), rewrites={"working scales": False})


# ---- exactness -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_each_step_has_the_joint_density_with_the_jacobian(name):
    found = compiled(name).verify()

    assert found.passed, f"\n{found}"
    assert any(r.kind == "interwoven" for r in found.rows)


def failed(sampler):
    schedule = sampler.schedule
    found = verify(
        sampler.graph,
        sampler.program,
        schedule.steps,
        sampler.data,
        graphs=schedule.graphs,
        schedule=schedule,
    )
    return {r.kind for r in found.rows if not r.passed}


@pytest.fixture
def forgotten(monkeypatch):
    """Jacobians of arrays that move along are left out."""
    whole = rescaling._one_rescaled

    def without(graph, own, name, by):
        found = whole(graph, own, name, by)
        right = found.graph.statement(name)
        (_, density), = right.arguments
        wrong = replace(right, arguments=(("log", density + sp.log(by)),))
        kept = tuple(wrong if s is right else s for s in found.graph.statements)
        return replace(found, graph=replace(found.graph, statements=kept))

    monkeypatch.setattr(rescaling, "_one_rescaled", without)


@pytest.mark.parametrize("name", [*QUICK, pytest.param("ordered", marks=pytest.mark.slow)])
def test_a_jacobian_that_is_forgotten_is_found(name, forgotten):
    sampler = made(name)

    assert rescalings(sampler)
    assert failed(sampler) == {"interwoven"}


@pytest.mark.slow
def test_bounds_that_stay_behind_are_found(monkeypatch):
    """Cut points that do not move with the values between them: the density is not that one."""
    moving = expansion._moving
    monkeypatch.setattr(
        expansion, "_moving", lambda *a: tuple(n for n in moving(*a) if n != "c")
    )
    monkeypatch.setattr(rescaling, "_moves_along", lambda *_: True)
    sampler = made("ordered")

    assert rescalings(sampler)
    assert failed(sampler) == {"interwoven"}


@pytest.mark.slow
def test_a_rule_that_adds_more_than_a_scale_is_found(monkeypatch):
    def spoilt(factor, facts, targets):
        term, left, auxiliary = expansion.working_scale(factor, facts, targets)
        return term, left - factor.target**2, auxiliary

    rule = replace(expansion.WORKING_SCALE, apply=spoilt)
    monkeypatch.setattr(expansion, "WORKING_SCALE", rule)

    assert "graph" in failed(made("probit"))


# ---- sweeps ----------------------------------------------------------------------------------


def joint(sampler, replicates, again=None):
    rng = np.random.default_rng(7)
    fixed = (sampler.graph, sampler.data, sampler.program)
    level = LEVEL / len(MODELS)
    return geweke(rng, *fixed, replicates=replicates, sweeps=3, level=level, remade=again)


# (the program of an ordered probit has tables of which outcomes were observed)
REDRAWN = [n for n in MODELS if n != "ordered"]


@pytest.mark.slow
@pytest.mark.parametrize("name", REDRAWN)
def test_sweeps_leave_the_joint_distribution_as_it_is(name):
    found = joint(compiled(name), 500)

    assert found.passed, f"\n{found}"


@pytest.mark.slow
def test_sweeps_of_an_ordered_probit_leave_the_joint_distribution_as_it_is():
    model = ordered((0, 1, 2), (-1, 0.5, 2))
    sampler = gp.compile(model, exact=True, rewrites=BOTH)
    others = ({"rewrites": r, "exact": False} for r in (BOTH, ASKED, BETWEEN))
    found = joint(sampler, 500, remade(sampler, sampler.data, *others))

    assert {"b", "c"} < rescalings(sampler)["y_utility_scale"]
    assert found.passed, f"\n{found}"


@pytest.mark.slow
def test_the_posterior_is_the_same_with_a_working_scale_and_without():
    samplers = [made("ordered", **s) for s in ({}, {"working scale": False})]
    run = {"draws": 4000, "chains": 2, "seed": 3, "progress": False}
    every = [s.sample(**run) for s in samplers]
    values = [[np.asarray(v) for v in (d["b"], d["c"][..., 0], d["c"][..., 1])] for d in every]
    of = [[np.concatenate([v, v**2]).reshape(2, 2, -1) for v in own] for own in values]
    gaps = [
        (a.mean() - b.mean()) / np.hypot(float(mcse_mean(a)), float(mcse_mean(b)))
        for one, other in zip(*of, strict=True)
        for a, b in zip(one, other, strict=True)
    ]

    assert [r.rule.name for r in samplers[0].schedule.rewrites].count("working scale") == 1
    assert np.abs(gaps).max() < stats.norm.isf(LEVEL / (2 * len(gaps)))


@pytest.mark.slow
def test_the_joint_distribution_finds_a_jacobian_that_is_forgotten(forgotten):
    assert not joint(made("precisions"), 500).passed


# ---- worth -----------------------------------------------------------------------------------


def certain(rows=200, columns=15):
    """A probit regression whose outcomes are nearly certain."""
    rng = np.random.default_rng(3)
    x, slopes = rng.standard_normal((rows, columns)), rng.standard_normal(columns)
    seen = rng.random(rows) < special.ndtr(x @ slopes)
    with gp.Model(coords={"i": rows, "j": columns}) as m:
        design = gp.Data("x", x, dims=("i", "j"))
        b = gp.Normal("b", 0, tau=0.1, dims="j")
        gp.Bernoulli("y", gp.Phi(design @ b), dims="i", observed=seen.astype(int))
    return m


def smallest(sampler, names, draws=2000):
    """The smallest effective size of any element."""
    found = sampler.sample(draws=draws, chains=2, seed=1, progress=False, backend="numpy")
    values = (np.asarray(found[n]).reshape(2, draws, -1) for n in names)
    return min(float(ess_bulk(v[..., k])) for v in values for k in range(v.shape[2]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "names", "without"),
    [
        (certain, ("b",), {"rewrites": {"working scale": False}}),
        (horseshoe.model, ("overall",), {"interweave": False}),
    ],
)
def test_draws_are_worth_more(model, names, without):
    """At least twice as many effective draws; three and four times were seen."""
    sizes = [smallest(gp.compile(model(), exact=True, **s), names) for s in ({}, without)]

    assert sizes[0] > 2 * sizes[1]
