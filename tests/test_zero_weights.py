"""Terms of weight zero are not there, however large they are: generated code and interpreter."""

from functools import cache

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code import moves
from gibbsppl.code.lowering import translation
from gibbsppl.model.density import log_density

# Of the first the exponential is too large for a number, of the second the square of that.
FAR, LESS_FAR = 800.0, 400.0


def missing_entries():
    """Logs of means, of the second of which nothing is seen."""
    with gp.Model(coords={"t": 2}) as model:
        u = gp.Normal("u", mu=0.0, sigma=500.0, dims="t")
        seen = np.ma.masked_array([1.5, 0.5], mask=[False, True])
        gp.Normal("y", mu=gp.exp(u), sigma=1.0, dims="t", observed=seen)
    return model, LESS_FAR


def empty_groups():
    """Log rates of groups, the second of which has no members."""
    with gp.Model(coords={"g": 2, "i": 3}) as model:
        u = gp.Normal("u", mu=0.0, sigma=500.0, dims="g")
        at = gp.Index("at", np.array([0, 0, 0]), of="g", dims="i")
        gp.Poisson("y", rate=gp.exp(u.at("g", at)), dims="i", observed=np.array([1, 0, 2]))
    return model, FAR


def known_weights():
    """Exposures, one of which is zero."""
    with gp.Model(coords={"g": 2, "i": 3}) as model:
        u = gp.Normal("u", mu=0.0, sigma=500.0, dims="g")
        w = gp.Data("w", np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]]), dims=("i", "g"))
        gp.Potential("p", -gp.sum(w * gp.exp(u**3 / 1e4) * 0.5**w, "i"), dims="g")
    return model, FAR


MODELS = (missing_entries, empty_groups, known_weights)


@cache
def compiled(build):
    """The sampler of a model, and how far out one of its terms is too large for a number."""
    model, far = build()
    return gp.compile(model), far


def change(sampler, name, at, value):
    """By how much the log density of an element changes from 0: as generated, as declared."""
    step = next(s for s in sampler.schedule.steps if s.name == name)
    graph = sampler.schedule.graph_of(step)
    state = {n: np.zeros([graph.sizes[d] for d in v.dims])
             for n, v in graph.variables.items() if v.kind == "random"}
    log_q = sampler.program.given_rest[name]({**sampler.data, **state}, sampler.constants)
    found = []
    for there in (0.0, value):
        state[name][at] = there
        terms = (log_density(f, {**sampler.data, **state}, graph.sizes) for f in graph.factors)
        with np.errstate(all="ignore"):
            found.append((float(np.sum(log_q(state[name]))), float(sum(t.sum() for t in terms))))
    return np.subtract(*found[::-1])


@pytest.mark.parametrize("build", MODELS)
def test_terms_of_weight_zero_are_not_there(build):
    sampler, far = compiled(build)

    generated, declared = change(sampler, "u", 1, far)

    assert np.isfinite(generated)
    assert generated == pytest.approx(declared, rel=1e-9)


@pytest.mark.parametrize("build", MODELS)
def test_terms_of_other_weights_count_however_large_they_are(build):
    sampler, far = compiled(build)

    generated, declared = change(sampler, "u", 0, far)

    assert not np.isfinite(generated)
    assert not np.isfinite(declared)


@pytest.mark.parametrize("build", MODELS)
def test_products_written_without_the_rule_are_caught(build, monkeypatch):
    monkeypatch.setattr(translation, "weighted", lambda factors, _continuous: list(factors))
    monkeypatch.setattr(moves, "may_be_zero", lambda _weight, _continuous: False)
    model, far = build()
    sampler = gp.compile(model)

    generated, declared = change(sampler, "u", 1, far)

    assert np.isnan(generated)
    assert np.isfinite(declared)


def sticks():
    """Labels of counts, whose probabilities are drawn and may be rounded to one."""
    with gp.Model(coords={"k": 2, "i": 3}) as model:
        share = gp.Dirichlet("share", 1.0, dims="k")
        v = gp.Beta("v", 1.0, 1.0, dims="k")
        z = gp.Categorical("z", p=share, dims="i")
        n = gp.Data("n", np.array([2, 2, 0]), dims="i")
        gp.Binomial("y", n=n, p=v.at("k", z), observed=np.array([2, 1, 0]), dims="i")
    return model


def test_labels_that_nothing_speaks_against_have_finite_weights():
    sampler = gp.compile(sticks())
    state = {"v": np.array([1.0, 0.5]), "share": np.array([0.5, 0.5]), "z": np.zeros(3, dtype=int)}

    with np.errstate(all="ignore"):
        weights = sampler.program.given_rest["z"](state, sampler.constants)

    assert weights[1] - weights[0] == pytest.approx([-2 * np.log(2), np.inf, 0.0])


def test_loops_over_labels_weigh_alike():
    source = gp.compile(sticks(), collapse=("share",)).source

    assert "if (n_here - y_here) != 0 else 0.0" in source


def test_recorded_quantities_weigh_what_is_not_there_by_nothing():
    with gp.Model(coords={"i": 2}) as model:
        p = gp.Beta("p", 1.0, 1.0)
        left = gp.Data("left", np.array([0, 1]), dims="i")
        gp.Deterministic("told", left * gp.log(1 - p), dims="i")
    sampler = gp.compile(model)

    with np.errstate(all="ignore"):
        found = sampler.program.deterministics({"p": np.array(1.0)}, sampler.constants)

    assert found["told"].tolist() == [0.0, -np.inf]


def test_an_entry_of_a_simplex_that_is_zero_is_read_where_nothing_was_counted():
    with gp.Model(coords={"k": 3, "t": 2}) as m:
        a = gp.Data("a", np.array([0.6, 0.0, 1.3]), dims="k")
        w = gp.Dirichlet("w", a, dims="k", event="k")
        at = gp.Index("at", [2, 1], of="k", dims="t")
        gp.Binomial("y", 7, w.at("k", at), dims="t", observed=np.array([6, 0]))

    assert gp.compile(m).verify(seed=0).proved


def test_labels_that_leave_no_mass_between_bounds_have_no_weight():
    with gp.Model(coords={"i": 3}) as m:
        n = gp.BetaBinomial("n", n=3, alpha=2.0, beta=0.5)
        x = gp.Data("x", [0.3, -0.2, 1.0], dims="i")
        gp.Binomial("y", n=n, p=gp.expit(x), lower=1, dims="i", observed=[1, 1, 2])

    sampler = gp.compile(m)
    assert sampler.verify(seed=0).proved
    weights = sampler.program.given_rest["n"]({"n": 2}, sampler.constants)
    assert np.isneginf(weights[:2]).all()
    assert np.isfinite(weights[2:]).all()
