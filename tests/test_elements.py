"""The reading by element: the conditional of one element from pieces in which two meet."""

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import evaluate
from gibbsppl.pieces.elements import element_pieces
from gibbsppl.pieces.split import split

I, J, T = Dim("i"), Dim("j"), Dim("t")
SIZES = {I: 6, J: 4, T: 4}
X, Y, G, H, Q = (Array(n) for n in ("x", "y", "g", "h", "q"))
POSITIVE = Array("x", positive=True)


def values(seed, *, same):
    rng = np.random.default_rng(seed)
    g = rng.integers(0, 4, 6)
    other = g.copy() if same else rng.integers(0, 4, 6)
    return {
        "x": rng.random(4) + 0.5,
        "y": rng.standard_normal(6),
        "q": rng.standard_normal((6, 4)),
        "g": g,
        "h": other,
    }


DENSITIES = {
    "pairs": (-((Y[I] - X[G[I]] + X[H[I]]) ** 2) / 2, (Range(I, 0, 6),)),
    "a walk": (-((X[T] - X[T - 1]) ** 2), (Range(T, 1, 4),)),
    "two lags": (-((X[T] - X[T - 1] + X[T - 2] / 2) ** 2), (Range(T, 2, 4),)),
    "a regression": (-((Y[I] - Over(Q[I, J] * X[J], J)) ** 2), (Range(I, 0, 6),)),
    "a product of powers": (X[G[I]] ** 2 * X[H[I]], (Range(I, 0, 6),)),
    "a ratio": (POSITIVE[G[I]] / POSITIVE[H[I]], (Range(I, 0, 6),)),
    "a function of one": (
        sp.exp(X[G[I]]) * X[H[I]] + sp.log(POSITIVE[J] + 1),
        (Range(I, 0, 6), Range(J, 0, 4)),
    ),
}


def total(density, over, v):
    shape = tuple(map(len, over))
    return np.sum(np.broadcast_to(evaluate(density, over, v, SIZES), shape))


def conditional(pieces, v, element, value):
    """The log density of one element at a value, coefficients read at the others' current values.

    A statistic counts where its view shows the element.
    """
    found = 0.0
    for p in pieces:
        (view,) = p.views
        shape = tuple(map(len, p.over))
        shown = np.broadcast_to(evaluate(view.indices[0], p.over, v, SIZES), shape)
        coefficient = np.broadcast_to(evaluate(p.coefficient, p.over, v, SIZES), shape)
        moved = {**v, "x": np.where(np.arange(4) == element, value, v["x"])}
        statistic = np.broadcast_to(evaluate(p.statistic, p.over, moved, SIZES), shape)
        found += np.sum(np.where(shown == element, coefficient * statistic, 0.0))
    return found


@pytest.mark.parametrize("same", [False, True], ids=["apart", "meeting"])
@pytest.mark.parametrize("name", DENSITIES)
def test_the_pieces_of_one_element_are_its_conditional(name, same):
    density, over = DENSITIES[name]
    v = values(5, same=same)
    pieces = element_pieces(split("f", density, over, {"x"}, SIZES))
    for element in range(4):
        at = [conditional(pieces, v, element, value) for value in (v["x"][element], 1.7)]
        moved = {**v, "x": np.where(np.arange(4) == element, 1.7, v["x"])}

        np.testing.assert_allclose(
            at[1] - at[0], total(density, over, moved) - total(density, over, v),
            rtol=1e-9, atol=1e-10,
        )  # fmt: skip


@pytest.mark.parametrize("name", DENSITIES)
def test_every_piece_has_one_view(name):
    density, over = DENSITIES[name]
    pieces = element_pieces(split("f", density, over, {"x"}, SIZES))

    assert pieces
    assert {len(p.views) for p in pieces} == {1}


def test_pieces_with_one_view_are_left_alone():
    pieces = split("f", -((Y[I] - X[G[I]]) ** 2), (Range(I, 0, 6),), {"x"}, SIZES)

    assert element_pieces(pieces) == pieces


def test_a_lag_never_meets_itself():
    """No indicator of two positions being the same is left where they never are."""
    pieces = element_pieces(split("f", X[T] * X[T - 1], (Range(T, 1, 4),), {"x"}, SIZES))

    assert {str(p.coefficient) for p in pieces} == {"x[t]", "x[t - 1]"}


def test_elements_that_meet_through_a_gather_of_one_dim():
    """Where two positions of j are the same, so are what is gathered at them."""
    with gp.Model(coords={"j": 3, "k": 2, "t": 2}) as m:
        x = gp.Normal("x", 0, tau=0.5, lower=-1, dims=("j", "k", "t"))
        at = gp.Index("at", np.array([0, 0, 1]), of="k", dims="j")
        d = gp.Data("d", np.array([[-0.4, 1.3], [-0.3, 1.5], [-0.1, 0.1]]), dims=("j", "t"))
        precision = np.array([[1.7, 0.2, -0.3], [0.2, 2.2, 0.0], [-0.3, 0.0, 1.5]])
        tau = gp.Data("tau", precision, dims=("j", "j'"))
        mu = gp.sum(d * x.at("k", at), "t")
        gp.MvNormal("y", mu=mu, tau=tau, dims="j", event="j", observed=[0.0, 1.0, 2.0])
    found = gp.compile(m).verify()

    assert {r.kind for r in found.rows} == {"exact"}
    assert found.proved
