"""Cut, open, split: printed pieces, and the sum of all pieces against the log density."""

import itertools

import mpmath
import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over, Times
from gibbsppl.algebra.functions import AtMost, Equals, Expit, Phi, Where
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import evaluate
from gibbsppl.pieces import split as pieces_module
from gibbsppl.pieces.dependence import is_separable, roles_of
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.pieces.split import Piece, View, _collected, pieces_of, split, views_of

I, J, K, T, J1 = (Dim(n) for n in ("i", "j", "k", "t", "j₁"))
X, Y, A, B, G, H, MU = (Array(n) for n in ("x", "y", "a", "b", "g", "h", "mu"))
TAU, P = Array("tau", positive=True), Array("p", positive=True)
SIZES = {I: 4, J: 3, K: 2, T: 5, J1: 3}


def ranges(*dims):
    return tuple(Range(d, 0, SIZES[d]) for d in dims)


def normal(x, mean, tau):
    return sp.log(tau) / 2 - tau * (x - mean) ** 2 / 2


def pieces(density, targets, *dims):
    return split("f", density, ranges(*dims), set(targets), SIZES)


# Density, targets, dims, pieces as they print.
SPLITS = {
    "a mean": (normal(Y[I], MU[()], TAU[()]), {"mu"}, (I,), {
        "f: mu * (tau*y[i]), over i", "f: mu**2 * (-tau/2), over i",
    }),
    "a precision": (normal(Y[I], MU[()], TAU[()]), {"tau"}, (I,), {
        "f: log(tau) * (1/2), over i", "f: tau * (-(-mu + y[i])**2/2), over i",
    }),
    "a gather": (normal(Y[I], A[G[I]], 1), {"a"}, (I,), {
        "f: a[g[i]] * (y[i]), over i", "f: a[g[i]]**2 * (-1/2), over i",
    }),
    "an offset stays in the residual": (normal(Y[I], A[G[I]] + B[I] * 3 + 7, 1), {"a"}, (I,), {
        "f: a[g[i]] * (-3*b[i] + y[i] - 7), over i", "f: a[g[i]]**2 * (-1/2), over i",
    }),
    "a contraction": (normal(Y[I], Over(X[I, J] * B[J], J), 1), {"b"}, (I,), {
        "f: b[j₁] * (y[i]*x[i, j₁]), over i, j₁",
        "f: b[j₁]*b[j₂] * (-x[i, j₁]*x[i, j₂]/2), over i, j₁, j₂",
    }),
    "a lag": (normal(X[T], X[T - 1], 1), {"x"}, (T,), {
        "f: x[t]**2 * (-1/2), over t", "f: x[t - 1]**2 * (-1/2), over t",
        "f: x[t]*x[t - 1] * (1), over t",
    }),
    "a log of a product": (sp.log(A[()] * P[I]), {"a"}, (I,), {"f: log(a) * (1), over i"}),
    "a log of a power": (sp.log(P[I] ** Y[I]), {"p"}, (I,), {"f: log(p[i]) * (y[i]), over i"}),
    "a log of a complement": (Y[I] * sp.log(1 - P[()]), {"p"}, (I,), {
        "f: log(1 - p) * (y[i]), over i",
    }),
    "an exponential of a sum": (-sp.exp(A[()] + B[I]), {"a"}, (I,), {
        "f: exp(a) * (-exp(b[i])), over i",
    }),
    "a sum inside with the name of a copy": (
        Over(Y[J] * sp.log(Over(sp.exp(B[J1]), J1)), J), {"b"}, (), {
            "f: log(sum(exp(b[j₂]), j₂)) * (y[j₁]), over j₁",
        },
    ),
    "a range with the name of a copy": (Over(B[J] * X[J, J1], J), {"b"}, (J1,), {
        "f: b[j₂] * (x[j₂, j₁]), over j₁, j₂",
    }),
    "a square of a sum of which nothing comes out": (
        normal(Y[I], Over(sp.exp(A[()] * X[I, J]), J), 1), {"a"}, (I,), {
            "f: sum(exp(a*x[i, j]), j) * (y[i]), over i",
            "f: sum(exp(a*x[i, j]), j)**2 * (-1/2), over i",
        },
    ),
    "a product of such sums": (
        Over(sp.exp(A[()] * X[I, J]), J) * Over(sp.exp(-A[()] * X[I, K]), K), {"a"}, (I,), {
            "f: sum(exp(a*x[i, j]), j)*sum(exp(-a*x[i, k]), k) * (1), over i",
        },
    ),
    "a sum of which nothing comes out, alone": (
        Y[I] * Over(sp.exp(A[()] * X[I, J]), J), {"a"}, (I,), {
            "f: exp(a*x[i, j₁]) * (y[i]), over i, j₁",
        },
    ),
    "terms that cancel": ((A[()] + 1) ** 2 - A[()] ** 2 - 2 * A[()], {"a"}, (), set()),
    "nothing of the target": (normal(Y[I], MU[()], 1), {"tau"}, (I,), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", SPLITS)
def test_a_log_density_splits_into(name):
    density, targets, dims, expected = SPLITS[name]

    assert {str(p) for p in pieces(density, targets, *dims)} == expected



def test_a_sum_over_a_part_of_a_dim_keeps_its_ends():
    found = pieces(normal(Y[I], Over(X[I, J] * B[J + 1], J, 0, 2), 1), {"b"}, I)
    inner = [r for p in found for r in p.over if r.dim != I]

    assert len(found) == 2
    assert len(inner) == 3
    assert {(r.start, r.stop) for r in inner} == {(0, 2)}

# ---- the sum of the pieces is the log density ------------------------------------------------

SHAPES = {
    "x": (4, 3), "y": (4,), "a": (), "b": (3,), "mu": (), "tau": (), "p": (4,), "c": (4, 2),
    "w": (5,),
}  # fmt: skip
C, W = Array("c"), Array("w")

DENSITIES = {
    "normal": (normal(Y[I], MU[()], TAU[()]), "mu", (I,)),
    "normal, its precision": (normal(Y[I], MU[()] + 2, 3 * TAU[()]), "tau", (I,)),
    "regression": (normal(Y[I], A[()] + Over(X[I, J] * B[J], J), TAU[()]), "b", (I,)),
    "gathered": (normal(Y[I], B[G[I]] * 2 + 1, TAU[()]), "b", (I,)),
    "two gathers": (normal(Y[I], B[G[I]] - B[H[I]], TAU[()]), "b", (I,)),
    "sum of a product": (normal(Y[I], Over(C[I, K], K) * A[()], 1), "c", (I,)),
    "cube of a sum": (Over(B[J], J) ** 3, "b", ()),
    "a walk": (normal(W[T], W[T - 1], TAU[()]), "w", "lagged"),
    "running sum": (normal(Y[I], Over(AtMost(K, I) * C[I, K], K), 1), "c", (I,)),
    "log of a product over a dim": (sp.log(Times(P[I], I)) * A[()], "p", ()),
    "expit": (Y[I] * sp.log(Expit(A[()] * Y[I])) + sp.log(1 - Expit(A[()])), "a", (I,)),
    "difference of expits": (sp.log(Expit(A[()] + P[I]) - Expit(A[()] - 1)), "a", (I,)),
    "normal tail": (sp.log(1 - Phi(A[()])) + sp.log(Phi(A[()])), "a", ()),
    "where": (sp.log(Where(AtMost(0, Y[I]), P[I], P[I] ** 2)), "p", (I,)),
    "gamma": ((A[()] - 1) * sp.log(P[I]) - P[I] * TAU[()] + A[()] * sp.log(TAU[()]), "tau", (I,)),
    "variance": (normal(Y[I], 0, 1 / TAU[()]), "tau", (I,)),
    "standard deviation": (normal(Y[I], 0, TAU[()] ** -2), "tau", (I,)),
    "log scale": (normal(Y[I], 0, sp.exp(-A[()])), "a", (I,)),
    "square of a sum of powers": (normal(Y[I], Over(TAU[()] ** X[I, J], J), 1), "tau", (I,)),
    "square of a sum of steps": (normal(Y[I], Over(AtMost(X[I, J], B[K]), J), 1), "b", (I, K)),
    "quartic": (normal(Y[I], A[()] ** 2, 1), "a", (I,)),
}  # fmt: skip


def values(seed):
    rng = np.random.default_rng(seed)
    found = {n: rng.random(shape) + 0.2 for n, shape in SHAPES.items()}
    found["y"] = rng.standard_normal(4)
    return found | {"g": rng.integers(0, 3, 4), "h": rng.integers(0, 3, 4)}


def summed(density, over, v):
    return np.sum(np.broadcast_to(evaluate(density, over, v, SIZES), tuple(map(len, over))))


@pytest.mark.parametrize("name", DENSITIES)
def test_the_pieces_add_up_to_the_density(name):
    """Up to terms free of the target: differences in the target are compared."""
    density, target, dims = DENSITIES[name]
    over = (Range(T, 1, 5),) if dims == "lagged" else ranges(*dims)
    found = split("f", density, over, {target}, SIZES)
    differences = []
    for expression_sum in (
        lambda v: summed(density, over, v),
        lambda v: sum(summed(p.coefficient * p.statistic, p.over, v) for p in found),
    ):
        before, after = values(1), values(1)
        after[target] = values(2)[target]
        differences.append(expression_sum(after) - expression_sum(before))

    assert found
    np.testing.assert_allclose(*differences, rtol=1e-9)


@pytest.mark.parametrize("name", DENSITIES)
def test_each_statistic_appears_once(name):
    density, target, dims = DENSITIES[name]
    over = (Range(T, 1, 5),) if dims == "lagged" else ranges(*dims)
    found = [(p.statistic, p.over) for p in split("f", density, over, {target}, SIZES)]

    assert len(found) == len(set(found))


def test_a_coefficient_holds_no_target():
    for density, target, dims in DENSITIES.values():
        over = (Range(T, 1, 5),) if dims == "lagged" else ranges(*dims)
        for p in split("f", density, over, {target}, SIZES):
            assert Array(target) not in p.coefficient.free_symbols
            assert not {s.name for s in p.coefficient.free_symbols} & {target}


def test_coefficients_stay_factored():
    """The square of a large residual is never multiplied out: it would lose its digits."""
    (piece,) = (
        p for p in pieces(normal(Y[I], MU[()], TAU[()]), {"tau"}, I) if p.statistic == TAU[()]
    )
    v = values(1) | {"y": 1e8 + np.array([0.1, 0.2, 0.3, 0.4]), "mu": np.array(1e8)}

    assert abs(summed(piece.coefficient, piece.over, v) + 0.15) < 4 * np.spacing(1e8)


def test_splitting_does_not_depend_on_how_many_terms_are_free_of_the_target():
    """Thirty terms of other arrays are cut out as one."""
    others = sum(Array(f"o{n}")[I] for n in range(30))
    found = pieces(normal(Y[I], MU[()] + others, 1), {"mu"}, I)

    assert {p.statistic for p in found} == {MU[()], MU[()] ** 2}


@pytest.mark.parametrize("a", [-700.0, -40.0, -1.0, 0.0, 1.0, 40.0, 700.0])
@pytest.mark.parametrize("width", [1e-12, 0.5, 50.0])
def test_the_log_of_a_difference_of_expits_has_its_digits_in_both_tails(a, width):
    x = A[()]
    log = expand_logs(sp.log(Expit(x) - Expit(x - width)), {"a"})
    with mpmath.workdps(400):
        upper, lower = (1 / (1 + mpmath.exp(-mpmath.mpf(v))) for v in (a, mpmath.mpf(a) - width))
        expected = float(mpmath.log(upper - lower))
    assert float(evaluate(log, (), {"a": np.array(a)}, {})) == pytest.approx(expected, rel=1e-12)


def test_logs_are_expanded_around_targets_alone():
    expr = sp.log(P[()] * B[J]) + sp.log(MU[()] * TAU[()])

    assert expand_logs(expr, {"p"}) == sp.log(P[()]) + sp.log(B[J]) + sp.log(MU[()] * TAU[()])


def test_factors_of_unknown_sign_stay_together_in_logs():
    expr = sp.log(P[()] * A[()] * B[J])

    assert expand_logs(expr, {"p"}) == sp.log(P[()]) + sp.log(A[()] * B[J])
    assert expand_logs(expr, {"a"}) == sp.log(P[()]) + sp.log(A[()] * B[J])


@pytest.mark.parametrize("names", list(itertools.permutations("abc")))
def test_a_quotient_in_a_log_has_the_signs_that_it_is_written_with(names):
    """Lowest terms may be -c - ... over -a - ...: logs of negative values."""
    a, b, c = (Array(name)[()] for name in names)
    gate = Equals(Array("z")[()], 1)
    log = expand_logs(sp.log(1 + c / (gate * a + (1 - gate) * b)), {"z"})

    for z in (0.0, 1.0):
        values = {**dict(zip(names, (0.3, 1.7, 0.6), strict=True)), "z": z}
        expected = np.log(1 + 0.6 / (0.3 if z else 1.7))
        assert float(evaluate(log, (), values, {})) == pytest.approx(expected, rel=1e-12)


def test_exponentials_are_not_turned_round():
    """``log(exp(x) - 1) - x`` overflows, and loses digits where ``exp(-x)`` is small."""
    x = Array("x", positive=True)[()]

    assert expand_logs(sp.log(1 - sp.exp(-x)), {"x"}) == sp.log(1 - sp.exp(-x))


# ---- views and roles -------------------------------------------------------------------------


def test_no_dim_of_a_sum_inside_is_one_that_is_summed_around_it():
    with gp.Model(coords={"i": 4, "j": 4}) as model:
        x = gp.Normal("x", mu=0, tau=1, dims=("i", "j"))
        weights = gp.exp(gp.cumsum(x, "j"))
        counts = np.array([[0, 0, 3, 0], [0, 1, 2, 0], [3, 0, 0, 0], [1, 1, 1, 0]])
        p = weights / weights.sum("j")
        gp.Multinomial("y", n=3, p=p, dims=("i", "j"), event="j", observed=counts)

    assert gp.compile(model).verify(seed=0).proved


def test_views_are_listed_once_each():
    found = list(views_of(B[G[I]] * B[H[I]] * B[G[I]], {"b"}))

    assert found == [View(B, (G[I],)), View(B, (H[I],))]


class Target:
    """What the roles ask of a statement."""

    def __init__(self, leaf):
        self.target = leaf


ROLES = {
    "independent": (normal(Y[I], P[I], 1), "p", P[I], (I,), ("batch",)),
    "regression": (normal(Y[I], Over(X[I, J] * B[J], J), 1), "b", B[J], (I,), ("dense",)),
    "rows": (normal(Y[I], Over(C[I, K], K), 1), "c", C[I, K], (I,), ("batch", "dense")),
    "rows through an index": (
        normal(Y[I], Over(X[G[I], J] * B[J], J), 1), "x", X[I, J], (I,), ("batch", "dense"),
    ),
    "a walk": (normal(W[T], W[T - 1], 1), "w", W[T], (T,), ("band",)),
    "pairs": (normal(Y[I], B[G[I]] - B[H[I]], 1), "b", B[J], (I,), ("graph",)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROLES)
def test_dependence_is_read_from_pairs_of_views(name):
    density, target, leaf, dims, expected = ROLES[name]

    assert roles_of(pieces(density, {target}, *dims), Target(leaf)) == expected


@pytest.mark.parametrize(
    ("statistic", "indices", "expected"),
    [
        (B[J] ** 2, ((J,),), True),
        (B[J] * B[K], ((J,), (K,)), True),
        (sp.log(B[J]) * B[K], ((J,), (K,)), True),
        (sp.exp(B[J] * B[K]), ((J,), (K,)), False),
        (sp.log(1 + sp.exp(Over(B[T], T))), ((T,),), False),
        (B[J] * B[K] * B[I], ((J,), (K,), (I,)), False),
    ],
)
def test_a_statistic_is_separable_if_it_is_a_product_of_functions_of_one_view(
    statistic, indices, expected
):
    views = tuple(View(B, i) for i in indices)
    piece = Piece("f", statistic, views, sp.S.One, ranges(I, J, K))

    assert is_separable(piece) is expected


def test_logs_of_products_stay_where_factors_may_be_negative():
    p = Array("p", positive=True)[()]
    for product in (1 - 1 / sp.log(p), -p * (1 - p) * sp.log(p)):
        found = expand_logs(sp.log(product), {"p"})
        assert abs(sp.N((found - sp.log(product)).subs(p, sp.Rational(1, 3)))) < 1e-12


def test_a_density_that_is_split_again_is_not_multiplied_out_again(monkeypatch):
    density = normal(Y[I], MU[()] + A[G[I]], TAU[()]) + sp.log(1 + A[G[I]] ** 4)
    first = pieces(density, {"a"}, I)

    monkeypatch.setattr(pieces_module, "_expanded", None)

    assert pieces(density, {"a"}, I) == first
    assert pieces(density, ["a"], I) == first


def test_a_log_density_is_split_once_whatever_the_factor_is_called(monkeypatch):
    made = []

    def collected(*arguments):
        made.append(arguments)
        return _collected(*arguments)

    monkeypatch.setattr(pieces_module, "_collected", collected)
    own = Array("split_once")
    density = -Over(own[I] * B[J], J) * own[I]
    first, second = (
        split(name, density, ranges(I), {"split_once"}, {I: 4, J: size})
        for name, size in (("f", 3), ("g", 5))
    )

    assert len(made) == 1
    assert {p.factor for p in first} == {"f"}
    assert {p.factor for p in second} == {"g"}
    assert [p.statistic for p in first] == [p.statistic for p in second]


def test_a_factor_is_reduced_once_for_an_array(monkeypatch):
    reduced = []

    def by_identities(*arguments, **how):
        reduced.append(arguments)
        return simplified(*arguments, **how)

    monkeypatch.setattr(pieces_module, "simplified", by_identities)
    with gp.Model() as m:
        x = gp.Normal("reduced_once", 0, sigma=1)
        gp.Normal("y", x, sigma=2, observed=1.0)
    graph = m.graph
    for _ in range(3):
        pieces_of(graph.factors, graph.statement("reduced_once"), graph.sizes)

    assert len(reduced) == 2
