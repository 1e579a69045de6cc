"""The pull-back against loops: what a piece adds to each element of a natural parameter."""

import itertools

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from gibbsppl.algebra.expressions import Array, Dim, Over, Size
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.contractions import Known, bounded, contracted, data_only, pull_back
from gibbsppl.model.evaluation import evaluate
from gibbsppl.pieces.split import Piece, View

I, J, K, T = (Dim(n) for n in "ijkt")
R, U = Dim("r"), Dim("u")
SIZES = {I: 6, J: 3, K: 2, T: 5, R: 3, U: 2}
X, Y, A, B, C, D, G, H, W = (Array(n) for n in ("x", "y", "a", "b", "c", "d", "g", "h", "w"))
TARGET = Array("v")


def values():
    rng = np.random.default_rng(3)
    shapes = {"x": (6, 3), "y": (6,), "a": (), "b": (3,), "c": (6, 2), "d": (3, 2), "w": (5,)}
    found = {n: rng.standard_normal(s) for n, s in shapes.items()}
    return found | {"g": rng.integers(0, 3, 6), "h": rng.integers(0, 2, 6)}


def number(expr, at, v):
    """An expression at one position of every dim."""
    fixed = expr.xreplace({d: sp.Integer(n) for d, n in at.items()})
    return float(evaluate(fixed, (), v, SIZES))


def by_loops(piece, axes, indices, v):
    """The definition: eta[view] += coefficient, for every position of the ranges."""
    eta = np.zeros(tuple(SIZES[a] for a in axes))
    for position in itertools.product(*(range(r.start, r.stop) for r in piece.over)):
        at = dict(zip((r.dim for r in piece.over), position, strict=True))
        eta[tuple(int(number(i, at, v)) for i in indices)] += number(piece.coefficient, at, v)
    return eta


DIMS = {"x": (I, J), "y": (I,), "b": (J,), "c": (I, K), "d": (J, K)}


def known(random):
    return Known(frozenset(random), DIMS, SIZES)


def by_pull_back(piece, axes, indices, v, random):
    found = pull_back(piece, axes, indices, SIZES, known(random))
    ranges = tuple(p for p in found.place if isinstance(p, Range))
    eta = np.zeros(tuple(SIZES[a] for a in axes))
    place = tuple(p if isinstance(p, int) else slice(p.start, p.stop) for p in found.place)
    value = evaluate(found.value, ranges, v, SIZES)
    eta[place] += np.broadcast_to(value, tuple(map(len, ranges)))
    return eta


def whole(*dims):
    return tuple(Range(d, 0, SIZES[d]) for d in dims)


# Coefficient, ranges, axes of the natural parameter, the view's indices.
CASES = {
    "the same dim": (Y[I] * A[()], whole(I), (I,), (I,)),
    "summed": (Y[I] * A[()], whole(I), (), ()),
    "a count": (sp.Rational(1, 2), whole(I, J), (I,), (I,)),
    "a number by group": (sp.Integer(1), whole(I), (J,), (G[I],)),
    "gathered": (Y[I], whole(I), (J,), (G[I],)),
    "gathered, with what was read": (Y[I] * B[G[I]], whole(I), (J,), (G[I],)),
    "gathered by two": (Y[I], whole(I), (J, K), (G[I], H[I])),
    "gathered along one axis": (C[I, K] * Y[I], whole(I, K), (J, K), (G[I], K)),
    "nested": (Y[I], whole(I), (K,), (H[G[I]],)),
    "a design": (X[I, J] * Y[I], whole(I, J), (J,), (J,)),
    "a residual": (X[I, J] * (Y[I] - A[()]), whole(I, J), (J,), (J,)),
    "a contraction inside": (
        X[I, J] * (Y[I] - Over(D[J, K] * C[I, K], K)), whole(I, J), (J,), (J,),
    ),
    "gathered along the axis of a sum inside": (
        Y[I] * Over(X[I, J] * B[J], J), whole(I), (J,), (G[I],),
    ),
    "a sum of squares": ((Y[I] - B[G[I]]) ** 2, whole(I), (), ()),
    "an outer product": (X[I, J] * Y[I], whole(I, J), (I, J), (I, J)),
    "axes turned": (X[I, J], whole(I, J), (J, I), (J, I)),
    "lagged": (W[T - 1], (Range(T, 1, 5),), (T,), (T - 1,)),
    "lagged, the later one": (W[T - 1] * W[T], (Range(T, 1, 5),), (T,), (T,)),
    "a constant index": (Y[I], whole(I), (J,), (sp.Integer(2),)),
    "a constant index and a dim": (X[I, J], whole(I, J), (J, K), (J, sp.Integer(1))),
    "named otherwise": (Y[I] * A[()], whole(I), (R,), (G[I],)),
    "an axis with the name of a summed dim": (X[I, J] * Y[I], whole(I, J), (J,), (G[I],)),
    "pairs": (X[I, J] * X[I, R], whole(I, J, R), (J, R), (J, R)),
    "a position": (Y[I] * I, whole(I), (J,), (G[I],)),
    "zero": (sp.Integer(0), whole(I), (J,), (G[I],)),
}  # fmt: skip

RANDOM = ((), ("y",), ("a", "b", "c"), ("x", "y", "a", "b", "c", "d", "w"))


@pytest.mark.parametrize("random", RANDOM, ids=" ".join)
@pytest.mark.parametrize("name", CASES)
def test_the_pull_back_is_the_loop(name, random):
    coefficient, over, axes, indices = CASES[name]
    piece = Piece("f", TARGET[indices], (View(TARGET, indices),), coefficient, over)
    v = values()

    np.testing.assert_allclose(
        by_pull_back(piece, axes, indices, v, random), by_loops(piece, axes, indices, v),
        rtol=1e-10, atol=1e-12,
    )  # fmt: skip


# ---- sums pushed in --------------------------------------------------------------------------


def sums_of(expr):
    return [e for e in sp.preorder_traversal(expr) if isinstance(e, Over)]


def test_what_only_data_decide_is_summed_apart():
    """The residual of a regression is split: only sums over data alone are left."""
    is_data = data_only({"a"})
    found = contracted(X[I, J] * (Y[I] - A[()]), whole(I), is_data)

    assert all(is_data(s) for s in sums_of(found))
    assert found.has(A)


def test_a_sum_over_latents_is_not_split():
    """Split, it would be two sums over everything, and lose digits."""
    is_data = data_only({"y", "b"})
    found = contracted((Y[I] - B[G[I]]) ** 2, whole(I), is_data)

    assert len(sums_of(found)) == 1


def test_idle_dims_count():
    assert contracted(Y[I], whole(I, J), data_only(())) == 3 * Over(Y[I], I, 0, 6)
    assert contracted(A[()], whole(I, J), data_only(())) == 18 * A[()]
    assert contracted(sp.Integer(0), whole(I), data_only(())) == 0


def test_what_is_free_of_the_sum_leaves_it():
    found = contracted(A[()] * Y[I] * B[J], whole(I), data_only({"a", "b"}))

    assert found == A[()] * B[J] * Over(Y[I], I, 0, 6)


def test_a_factor_read_through_its_gather_leaves_the_sum():
    """sum_i y[i] b[g[i]] [g[i] = j] is b[j] times a sum over data."""
    found = contracted(Y[I] * B[G[I]] * Equals(G[I], J), whole(I), known({"b"}))

    assert found == B[J] * Over(Y[I] * Equals(G[I], J), I, 0, 6)


def test_what_is_shorter_than_an_axis_is_read_where_it_is():
    """b[j] is not there at all positions of a longer axis, nor b[j] for j from its own dim."""
    longer, v = Dim("longer"), values()
    for gather, over in ((G[I], whole(I)), (J, whole(J))):
        product = Y[gather] * B[gather] * Equals(gather, longer)
        found = contracted(product, over, Known(frozenset("b"), DIMS, {**SIZES, longer: 5}))
        at, whole_sum = (Range(longer, 0, 5),), Over(product, over[0].dim)

        assert found.has(B[gather])
        np.testing.assert_array_equal(*(evaluate(e, at, v, SIZES) for e in (found, whole_sum)))


def test_bounds_are_written_out_and_idle_sums_done():
    found = bounded(Over(X[I, J], J) + Over(Y[I], K), SIZES)
    assert found == Over(X[I, J], J, 0, 3) + Size("k") * Y[I]


ATOMS = st.sampled_from((Y[I], A[()], B[J], X[I, J], C[I, K], D[J, K], B[G[I]], sp.Integer(2)))
PRODUCTS = st.lists(ATOMS, min_size=1, max_size=3).map(lambda f: sp.Mul(*f))
SUMS = st.lists(PRODUCTS, min_size=1, max_size=3).map(lambda t: sp.Add(*t))
EXPRESSIONS = st.lists(SUMS, min_size=1, max_size=2).map(lambda f: sp.Mul(*f))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(EXPRESSIONS, st.sets(st.sampled_from((I, J, K))), st.sets(st.sampled_from("abcdxy")))
def test_pushing_sums_in_changes_no_value(expression, summed, random):
    over = whole(*sorted(summed, key=str))
    free = whole(*(d for d in (I, J, K) if d not in summed))
    v = values()
    full = np.broadcast_to(
        evaluate(expression, free + over, v, SIZES), tuple(map(len, free + over))
    )
    expected = full.sum(axis=tuple(range(len(free), full.ndim)))
    found = evaluate(contracted(expression, over, known(random)), free, v, SIZES)

    np.testing.assert_allclose(
        np.broadcast_to(found, expected.shape), expected, rtol=1e-9, atol=1e-9
    )


def test_a_one_hot_factor_is_not_summed_along_one_of_its_dims_alone():
    """It would be a table of all groups by all positions of the others."""
    place = Equals(Array("look")[I, T], R)
    ranges = (Range(I, 0, 6), Range(T, 0, 5))

    found = contracted(place * Y[I], ranges, data_only({"y"}))

    assert found == Over(Over(place * Y[I], T, 0, 5), I, 0, 6)


def test_sums_over_data_come_first_where_a_term_of_few_variables_stands_beside_them():
    """The sums over rows are of data alone, made once; each sweep reads one of each column."""
    over = (Range(I, 0, 6), Range(J, 0, 3))
    known = data_only({"a", "b"})
    written = B[J] * X[I, J] * (Y[I] - A[()])
    found = contracted(written, over, known)
    rows = [e for e in sp.preorder_traversal(found) if isinstance(e, Over) and I in e.bound]

    assert rows
    assert all(map(known, rows))
    np.testing.assert_allclose(
        evaluate(found, (), values(), SIZES), evaluate(written, over, values(), SIZES).sum()
    )
