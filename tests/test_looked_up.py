"""Sums by group of rows that data look up: sparse products and products of rows, as text."""

import numpy as np
import pytest
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.code import looked_up
from gibbsppl.runtime import looked_up as of_runtime
from models import bayesian_matrix_factorisation, matrix_factorisation

RNG = np.random.default_rng(8)


@pytest.mark.parametrize("at_once", [1, 40, 1 << 17])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_sums_by_group_are_those_of_rows_that_are_copied(at_once, is_sorted, monkeypatch):
    monkeypatch.setattr(of_runtime, "AT_ONCE", at_once)
    groups, rows = RNG.integers(1, 9, size=60), RNG.integers(5, size=60)  # (some have none)
    groups = np.sort(groups) if is_sorted else groups
    weights, table = RNG.normal(size=60), RNG.normal(size=(5, 3))
    looked, copied = runtime.LookedUp(groups, 11, rows, 5, weights), table[rows]
    expected = runtime.Groups(groups, 11)

    np.testing.assert_allclose(looked.sum(table), expected.sum(weights[:, None] * copied))
    np.testing.assert_allclose(looked.outer(table), expected.outer(copied, copied), atol=1e-12)


def both(model, monkeypatch):
    """The samplers of a model: rows copied, rows looked up."""
    plain = gp.compile(model, blocks=False, interweave=False)
    with monkeypatch.context() as patch:
        patch.setattr(looked_up, "LEAST_NUMBERS", 1)
        return plain, gp.compile(model, blocks=False, interweave=False)


@pytest.mark.parametrize("of", [bayesian_matrix_factorisation, matrix_factorisation])
def test_natural_parameters_are_those_of_rows_that_are_copied(of, monkeypatch):
    plain, looked = both(of.model(), monkeypatch)
    state, _ = started(plain)

    assert "LookedUp" not in plain.source
    assert looked.source.count("= runtime.LookedUp(") == 2
    for name in ("U", "V"):
        ours, theirs = (
            s.program.given_rest[name](state, s.constants) for s in (looked, plain)
        )
        for eta, expected in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(eta, expected, rtol=1e-12, atol=1e-12)
    assert looked.verify().passed


@pytest.mark.parametrize("name", ["sum", "outer"])
def test_sums_of_other_rows_are_seen(name, monkeypatch):
    _, looked = both(bayesian_matrix_factorisation.model(), monkeypatch)
    right = getattr(runtime.LookedUp, name)
    monkeypatch.setattr(runtime.LookedUp, name, lambda self, table: right(self, table[::-1]))

    assert not looked.verify().passed


def test_few_numbers_are_copied_and_weights_of_products_stay(monkeypatch):
    """Outer products with a weight of each row are no products of rows alone."""
    n = 30
    coords = {"row": n, "group": 4, "item": 6, "k": 2}
    with gp.Model(coords=coords) as model:
        group = gp.Index("group_of", RNG.integers(4, size=n), of="group", dims="row")
        item = gp.Index("item_of", RNG.integers(6, size=n), of="item", dims="row")
        tau = gp.Data("tau", RNG.random(n) + 0.5, dims="row")
        u, v = (gp.Normal(x, 0, tau=1, dims=(d, "k")) for x, d in (("u", "group"), ("v", "item")))
        mean = (u[group] * v[item]).sum("k")
        gp.Normal("y", mean, tau=tau, dims="row", observed=RNG.normal(size=n))
    plain, looked = both(model, monkeypatch)

    assert "LookedUp" not in plain.source
    assert looked.verify().passed
