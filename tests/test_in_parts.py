"""Matrices of many vectors in NumPy: computed some at a time, at the same draws."""

import tracemalloc

import numpy as np
import pytest
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.runtime import in_parts
from models import matrix_factorisation

FEW = 7  # numbers at a time: every vector's matrix alone
COUNT, COLUMNS, ROWS = 6, 3, 40


@pytest.fixture
def groups():
    """Groups one of which is empty."""
    index = np.random.default_rng(3).choice([0, 1, 2, 4, 5], size=ROWS)
    return index, np.random.default_rng(4).normal(size=(ROWS, COLUMNS))


@pytest.fixture(params=["Groups", "LookedUp"])
def outer(request, groups):
    """A function of no arguments: the products of rows by group."""
    index, table = groups
    if request.param == "Groups":
        return lambda: runtime.Groups(index, COUNT).outer(table, table)
    return lambda: runtime.LookedUp(index, COUNT, np.arange(ROWS), ROWS).outer(table)


def uses(pairs):
    """Natural parameters of all kinds: scaled by number and by row, on the diagonal, in place."""
    one, each = np.eye(COLUMNS), np.arange(1.0, 1 + COUNT)
    found = [-2 * pairs, pairs * each[:, None, None], one - pairs, pairs / 2 + pairs]
    found.append(runtime.plus_diagonal(pairs, -0.5, 1))
    found.append(runtime.plus_diagonal(-1 * pairs, each[:, None] * np.ones(COLUMNS), 1))
    found.append(runtime.plus_diagonal(pairs, each[:3, None], 1, (slice(2, 5),)))
    found.append(runtime.plus_diagonal(pairs, 1.5, 1, (slice(1, 2), slice(0, 2))))
    added = 1 * pairs
    added += one
    before, changed = 3 * added, added
    changed[1:3] -= 2 * one
    changed[..., 0] += 4
    looked_at = pairs.shape, pairs.ndim, len(pairs), pairs.size, pairs[:2], pairs.transpose(1, 2, 0)
    return [*found, before, changed, *looked_at]


def test_all_that_is_done_with_them_is_what_whole_arrays_give(outer, monkeypatch):
    monkeypatch.setattr(runtime.functions, "OUTER_AT_ONCE", 0)
    expected = uses(outer())
    monkeypatch.setattr(in_parts, "AT_ONCE", FEW)
    found = uses(outer())

    assert isinstance(found[0], in_parts.InParts)
    assert isinstance(found[7], in_parts.InParts)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12, atol=1e-12)


JUDGES, FACTORS = 4000, 20


def sweep_of_many_vectors(model):
    """The state after a sweep in NumPy, and the largest memory of arrays made by it."""
    sampler = gp.compile(model, interweave=False)
    state, rng = started(sampler)
    tracemalloc.start()
    sampler.program.sweep(rng, state, sampler.constants)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return state, most


def test_their_matrices_are_never_all_in_memory(monkeypatch):
    rng = np.random.default_rng(5)
    ratings = rng.integers(JUDGES, size=6000), rng.integers(3, size=6000), rng.normal(size=6000)
    model = matrix_factorisation.model(ratings, (range(JUDGES), range(3)), factors=FACTORS)
    whole, at_once = sweep_of_many_vectors(model)
    monkeypatch.setattr(in_parts, "AT_ONCE", 2**17)
    parts, most = sweep_of_many_vectors(model)

    assert most < 8 * JUDGES * FACTORS**2 < at_once
    for name, values in whole.items():
        np.testing.assert_allclose(parts[name], values, rtol=1e-9, atol=1e-9)
