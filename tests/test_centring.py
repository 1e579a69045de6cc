"""Sums of squares about a centre: the same number as the plain sum, at any offset of the data."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.runtime.least_squares import centred


def growth(offset=0.0, scale=1.0):
    rng = np.random.default_rng(3)
    y = offset + scale * (rng.normal(size=(40, 1)) + rng.normal(size=(40, 6)))
    with gp.Model(coords={"rat": 40, "day": 6}, name="growth") as model:
        age = gp.Data("age", np.arange(6.0), dims="day")
        a = gp.Normal("a", 0, tau=1e-20, dims="rat")
        b = gp.Normal("b", 0, tau=1e-20, dims="rat")
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", a + b * age, tau=tau, dims=("rat", "day"), observed=y)
    return model


def regression():
    rng = np.random.default_rng(4)
    with gp.Model(coords={"n": 60, "p": 3}, name="regression") as model:
        x = gp.Data("x", rng.normal(size=(60, 3)), dims=("n", "p"))
        level, beta = gp.Normal("level", 0, tau=1), gp.Normal("beta", 0, tau=1, dims="p")
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", level + x @ beta, tau=tau, dims="n", observed=rng.normal(size=60))
    return model


def table():
    rng = np.random.default_rng(5)
    groups = rng.integers(0, 4, 80)
    with gp.Model(coords={"n": 80, "g": 5}, name="table") as model:
        g = gp.Index("group", groups, of="g", dims="n")
        x = gp.Data("x", rng.normal(size=80), dims="n")
        a, b = gp.Normal("a", 0, tau=1, dims="g"), gp.Normal("b", 0, tau=1, dims="g")
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", a[g] + b[g] * x, tau=tau, dims="n", observed=rng.normal(size=80))
    return model


def squares(sampler, state):
    """The sum of squares that the generated conditional of tau works with."""
    _, eta_2 = sampler.program.given_rest["tau"](state, sampler.constants)
    return -2 * (eta_2 + 1)


def plain(model, state):
    data = model.data
    mean = {
        "growth": lambda: state["a"][:, None] + state["b"][:, None] * data["age"],
        "regression": lambda: state["level"] + data["x"] @ state["beta"],
        "table": lambda: state["a"][data["group"]] + state["b"][data["group"]] * data["x"],
    }[model.graph.name]()
    return ((data["y"] - mean) ** 2).sum()


@pytest.mark.parametrize("make", [growth, regression, table])
def test_the_sum_of_squares_is_that_of_the_residuals(make):
    model = make()
    sampler = gp.compile(model)
    (chain,), _ = sampler.initial_states(1, 1)

    assert "runtime.centred(" in sampler.source
    assert squares(sampler, chain.state) == pytest.approx(plain(model, chain.state), rel=1e-10)


@pytest.mark.parametrize(("offset", "scale"), [(1e8, 1.0), (-1e12, 100.0), (0.0, 1e-8)])
def test_no_digits_are_lost_far_from_zero(offset, scale):
    model = growth(offset, scale)
    sampler = gp.compile(model)
    y = model.data["y"]
    near = {"a": y.mean(axis=1), "b": np.full(40, 1e-3 * scale), "tau": 1.0}
    # The data themselves are rounded to this, relative to their scale.
    rounding = 240 * np.finfo(float).eps * max(abs(offset) / scale, 1)

    assert squares(sampler, near) == pytest.approx(plain(model, near), rel=max(rounding, 1e-10))


def deviations(offset):
    """A level, and what groups are away from it: collinear, but for the priors."""
    rng = np.random.default_rng(7)
    y = offset + rng.normal(size=80)
    with gp.Model(coords={"n": 80, "g": 5}, name="deviations") as model:
        g = gp.Index("group", rng.integers(0, 5, 80), of="g", dims="n")
        u, level = gp.Normal("u", 0, tau=1, dims="g"), gp.Normal("level", 0, tau=1e-20)
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", level + u[g], tau=tau, dims="n", observed=y)
    return model


def test_no_digits_are_lost_where_effects_are_collinear():
    model = deviations(1e8)
    sampler = gp.compile(model)
    near = {"level": np.float64(1e8 + 0.25), "u": np.linspace(-1, 1, 5), "tau": 1.0}
    exact = ((model.data["y"] - 1e8 - 0.25 - near["u"][model.data["group"]]) ** 2).sum()
    rounding = 80 * np.finfo(float).eps * 1e8

    assert "runtime.centred(" in sampler.source
    assert squares(sampler, near) == pytest.approx(exact, rel=rounding)


def test_expanding_about_zero_instead_would_be_noticed():
    model = growth(offset=1e8)
    sampler = gp.compile(model)
    y, near = model.data["y"], {"a": np.full(40, 1e8), "b": np.zeros(40), "tau": 1.0}
    expanded = (y**2).sum() - 2 * (y.sum(axis=1) * 1e8).sum() + y.size * 1e16

    rounding = y.size * np.finfo(float).eps * 1e8

    assert abs(expanded / plain(model, near) - 1) > 100 * rounding
    assert squares(sampler, near) == pytest.approx(plain(model, near), rel=rounding)


def test_a_wrong_slope_is_caught_by_the_ratio_check():
    model = table()
    sampler = gp.compile(model)
    bad = sampler.source.replace("runtime.inner(a_slope, a_away)", "5 * a_away.sum()")
    assert bad != sampler.source
    program = load(bad)

    assert sampler.verify().proved
    assert not verify(model.graph, program, sampler.schedule.steps, model.data, 0).passed


def test_sums_that_would_not_get_cheaper_stay_as_they_are():
    rng = np.random.default_rng(6)
    with gp.Model(coords={"n": 3, "p": 40}) as model:
        x = gp.Data("x", rng.normal(size=(3, 40)), dims=("n", "p"))
        beta, tau = gp.Normal("beta", 0, tau=1, dims="p"), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", x @ beta, tau=tau, dims="n", observed=rng.normal(size=3))

    assert "centred" not in gp.compile(model).source


def test_data_that_are_read_at_a_random_label_have_no_centre():
    rng = np.random.default_rng(8)
    with gp.Model(coords={"n": 200, "m": 2}) as model:
        x = gp.Data("x", rng.normal(size=(200, 2)), dims=("n", "m"))
        label = gp.Categorical("label", gp.Data("p", [0.5, 0.5], dims="m"))
        a, tau = gp.Normal("a", 0, tau=1), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", a + x.at("m", label), tau=tau, dims="n", observed=rng.normal(size=200))
    sampler = gp.compile(model)

    assert "centred" not in sampler.source
    assert sampler.verify().proved


def test_a_design_without_full_rank_has_a_centre_too():
    x = np.ones((5, 2))
    y = np.arange(5.0)
    total, centre, slope = centred(lambda b: y - x @ b, lambda r: (-(x.T @ r),), (5,), (2,))

    np.testing.assert_allclose(total, 10.0)
    np.testing.assert_allclose(x @ centre, np.full(5, 2.0))
    np.testing.assert_allclose(slope, 0.0, atol=1e-12)
