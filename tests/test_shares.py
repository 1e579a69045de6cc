"""Shares are told from what is none: sums of one, whatever is drawn, and no negative entries."""

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.functions import Equals, Expit, Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.residues import Residues
from gibbsppl.analysis.bounds import ends_of, interval_of
from gibbsppl.analysis.shares import are_shares

K, ROW = Dim("k"), Dim("row")
SIZES = {"k": 3, "row": 2}


def built(entries):
    """A model of variables, with entries of a vector along k that are made of these."""
    with gp.Model(coords=SIZES) as model:
        x = gp.Normal("x", 0, sigma=1, dims="k")
        q = gp.Beta("q", 1, 1, dims="row")
        w = gp.Dirichlet("w", 1.0, dims=("row", "k"), event="k")
        positions = gp.Data("position", [0, 1, 2], dims="k")
        expr = entries(x, q, w, positions).expr
    return model, expr


def stick(_x, q, _w, k):
    one, two = q.at("row", 0), q.at("row", 1)
    return gp.where(gp.equals(k, 0), one, (1 - one) * gp.where(gp.equals(k, 1), two, 1 - two))


def softmax(x, *_):
    return gp.exp(x) / gp.exp(x).sum("k")


def mixed(_x, q, w, _k):
    share = q.at("row", 0)
    return share * w.at("row", 0) + (1 - share) * w.at("row", 1)


def by_row(_x, q, w, _k):
    return q * w + (1 - q) / 3


def short(_x, q, w, _k):
    return q * w + (1 - q) / 4


def twice(_x, _q, w, _k):
    return w.at("row", 0) + w.at("row", 1)


def centred(x, *_):
    return (3 * x - x.sum("k") + 1) / 3


def in_turn(_x, q, w, k):
    """Entries of one row and of another one."""
    return gp.where(gp.equals(k, 0), w.at("row", 0), w.at("row", 1))


@pytest.mark.parametrize("entries", [stick, softmax, mixed, by_row])
def test_shares(entries):
    model, expr = built(entries)
    assert are_shares(expr, K, (Range(ROW, 0, 2),), model.graph, model.data)


@pytest.mark.parametrize("entries", [short, twice, centred, in_turn])
def test_what_is_no_vector_of_shares(entries):
    model, expr = built(entries)
    assert not are_shares(expr, K, (Range(ROW, 0, 2),), model.graph, model.data)


def test_a_sum_of_one_at_one_position_alone_is_none():
    x, top = Array("x")[()], Array("top")[ROW]
    y = Expit(x)
    expr = Where(Equals(K, 0), y, Where(Equals(K, 1), top - y, 0))
    model, _ = built(stick)
    over = (Range(ROW, 0, 2),)

    assert are_shares(expr, K, over, model.graph, {"top": np.array([1.0, 1.0])})
    assert not are_shares(expr, K, over, model.graph, {"top": np.array([1.0, 1.1])})


@pytest.mark.parametrize(
    ("numbers", "wanted"), [([0.5, 1.5], 0.0), ([1.5, 0.5], -1.0), ([0.5, 0.5], 0.0)]
)
def test_a_difference_of_a_rising_function_has_the_sign_of_the_places(numbers, wanted):
    model, _ = built(stick)
    x, q = Array("x")[0], Array("q")[0]
    cut = Array("cut")
    for by in (q, 2 * sp.S.One):
        expr = Expit(by * (x - cut[0])) - Expit(by * (x - cut[1]))
        lower, _ = ends_of(expr, (), model.graph, {"cut": np.array(numbers)})
        assert lower == wanted


def test_a_difference_with_a_common_factor_has_exact_ends():
    a, b, by = (Array(n)[()] for n in ("a", "b", "by"))
    known = {a: (0, 1), b: (1, 2), by: (0, sp.oo)}
    assert interval_of(Expit(by * b) - Expit(by * a), known.get) == (0, sp.S.Half)
    assert interval_of(Expit(by * a) - Expit(by * b), known.get) == (-sp.S.Half, 0)


X, Y, Z = (Array(n)[()] for n in "xyz")


@pytest.mark.parametrize(
    ("expr", "is_one"),
    [
        ((X + Y) ** 2 / (X**2 + 2 * X * Y + Y**2), True),
        (Where(Equals(X, Y), Z, Z) + 1 - Z, True),
        (Where(Equals(X, Y), 1, Z), False),
        (Expit(X) + Expit(-X), True),
        (sp.exp(X) + sp.exp(-X), False),
        (Expit(X - Y) + Expit(Y - X + Z) - Z * 0, False),
        (1 + sp.sqrt(X) - sp.sqrt(X + Y - Y), True),
        (X / (1 + X) + 1 / (1 + X), True),
        (sp.Float(0.1) + sp.Float(0.2) + sp.Float(0.7), True),
    ],
)
def test_identities(expr, is_one):
    assert (Residues({}, {}).of(expr, {}) == 1) == is_one
