"""Quadratic forms are known not to be negative where, and only where, their matrix is definite."""

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, InverseEntry, Over
from gibbsppl.model.operations import is_positive_definite
from gibbsppl.pieces.definite import holds_definite
from gibbsppl.rewrites.definite import FORM, forms_named

K, I = Dim("k"), Dim("i")
L = primed(K)
A, B, x, y, w = (Array(name) for name in ("A", "B", "x", "y", "w"))
WEIGHT = Array("weight", positive=True)[I]


def of_a(leaf):
    return leaf.array == A


def summed(entry):
    return Over(Over(entry, L), K)


RESIDUALS = (x[I, K] - y[K]) * (x[I, L] - y[L])
FORMS = {
    "product": A[K, L] * RESIDUALS,
    "multiplied out": A[K, L] * sp.expand(RESIDUALS),
    "transposed": A[L, K] * RESIDUALS,
    "one matrix for each row": A[I, K, L] * RESIDUALS,
    "weighted": WEIGHT * A[K, L] * RESIDUALS,
    "of an inverse": InverseEntry(B[K, L], K, L, K, L) * RESIDUALS,
    "squares": 3 * A[K, L] * x[K] * x[L],
    "scaled at both places": A[K, L] * x[K] * w[K] * x[L] * w[L],
}
OTHERS = {
    "another matrix": B[K, L] * RESIDUALS,
    "two vectors": A[K, L] * x[K] * y[L],
    "of either sign": w[I] * A[K, L] * RESIDUALS,
    "negative": -A[K, L] * RESIDUALS,
    "a sum of products": A[K, L] * (x[K] * x[L] - y[K] * y[L]),
    "two matrices": A[K, L] * B[K, L] * x[K] * x[L],
    "no matrix": x[K] * x[L],
    "a column read twice": A[K, K] * x[K] * x[L],
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_definite_matrices_are_named(name):
    assert forms_named(1 + summed(FORMS[name]) / 4, of_a) == 1 + FORM / 4


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_else_is(name):
    expr = 1 + summed(OTHERS[name])

    assert forms_named(expr, of_a) == expr


def test_a_sum_over_part_of_the_matrix_is_left_alone():
    part = Over(Over(FORMS["product"], L, 0, 2), K)

    assert forms_named(part, of_a) == part


def test_a_form_inside_of_a_sum_over_rows_is_named():
    assert forms_named(Over(summed(FORMS["product"]), I), of_a) == Over(FORM, I)


def test_a_table_that_is_not_square_is_not_definite():
    with gp.Model(coords={"i": 2, "j": 3}) as model:
        table = gp.Data("table", np.ones((2, 3)), dims=("i", "j"))
        x = gp.Gamma("x", 1, rate=1, dims=("i", "j"))
        gp.Poisson("y", gp.sum(gp.sum(table * x, "j"), "i"), observed=2)

    assert not is_positive_definite(np.ones((4, 2, 3))).any()
    assert gp.compile(model).verify().proved


def test_what_is_seen_of_a_matrix_says_nothing_of_what_is_drawn():
    """Planted: the values seen, with placeholders beside them, are those of a definite matrix."""
    seen = np.ma.masked_array(np.eye(2) * 2, [[0, 0], [0, 1]])
    with gp.Model(coords={"k": 2}) as model:
        gp.Normal("A", 1, sigma=1, dims=("k", "k'"), observed=seen)
        gp.Data("B", np.eye(2), dims=("k", "k'"))
    placed = {"A": np.eye(2), "B": np.eye(2)}

    assert [holds_definite(model.graph, placed, n) for n in "AB"] == [False, True]
