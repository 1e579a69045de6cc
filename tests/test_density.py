"""The reference evaluation, against loops over elements."""

import itertools
import math

import numpy as np
import pytest
import sympy as sp
from scipy import special, stats

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
    leaves_of,
    substitute,
)
from gibbsppl.algebra.functions import AtMost, Equals, Expit, Maximum, Minimum, Softplus, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.ranges import Range
from gibbsppl.errors import ModelError
from gibbsppl.families import CATEGORICAL, DIRICHLET, GAMMA, MVNORMAL, NORMAL
from gibbsppl.model.density import log_density, log_joint, log_terms, size_of_terms
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.graph import Graph, Potential, Statement, Variable
from gibbsppl.model.operations import is_positive_definite

I, J, K, T = (Dim(n) for n in "ijkt")
KK = primed(K)
SIZES = {I: 4, J: 3, K: 3, KK: 3, T: 5}
X, Y, A, B, G, M, S = (Array(n) for n in ("x", "y", "A", "b", "g", "M", "s"))


def values():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((4, 3, 3))
    return {
        "x": rng.standard_normal(5),
        "y": rng.standard_normal((4, 3)),
        "A": rng.standard_normal((4, 3)),
        "b": rng.gamma(2.0, size=3),
        "g": np.array([2, 0, 1, 2]),
        "M": root @ np.swapaxes(root, 1, 2) + np.eye(3),
        "s": np.array(1.7),
    }


def over(*dims):
    return tuple(Range(d, 0, SIZES[d]) for d in dims)


SCALAR = {
    Expit: special.expit,
    Softplus: lambda x: math.log1p(math.exp(x)),
    Where: lambda c, a, b: a if c else b,
    Minimum: min,
    Maximum: max,
    AtMost: lambda a, b: float(a <= b),
    Equals: lambda a, b: float(a == b),
    loggamma: special.gammaln,
    sp.exp: math.exp,
    sp.log: math.log,
    sp.Abs: abs,
    sp.Add: lambda *a: math.fsum(a),
    sp.Mul: lambda *a: math.prod(a),
    sp.Pow: lambda a, b: a**b,
}


def slowly(expr, point, arrays):
    """The value at one point, one element at a time."""
    match expr:
        case Dim():
            return point[expr]
        case Leaf():
            where = tuple(int(slowly(i, point, arrays)) for i in expr.indices)
            return float(arrays[expr.array.name][where])
        case Over() | Times():
            (d,) = expr.bound
            parts = [slowly(expr.body, {**point, d: p}, arrays) for p in range(SIZES[d])]
            return math.fsum(parts) if isinstance(expr, Over) else math.prod(parts)
        case LogDet() | InverseEntry():
            k, l = expr.bound
            matrix = np.array(
                [
                    [slowly(expr.body, {**point, k: p, l: q}, arrays) for q in range(SIZES[l])]
                    for p in range(SIZES[k])
                ]
            )
            if isinstance(expr, LogDet):
                return math.log(np.linalg.det(matrix))
            where = tuple(int(slowly(i, point, arrays)) for i in expr.args[3:])
            return np.linalg.inv(matrix)[where]
        case _ if expr.is_number:
            return float(expr)
        case _:
            return float(SCALAR[expr.func](*(slowly(a, point, arrays) for a in expr.args)))


EXPRESSIONS = [
    (X[T] * T - sp.Rational(1, 3), (T,)),
    (A[I, J] + B[J] ** 2 / S[()], (I, J)),
    (A[I, J] + B[J], (J, I)),
    (B[G[I]] * A[I, G[I]], (I,)),
    (Over(A[I, K] * B[K], K), (I,)),
    (Over(A[I, K] * B[K] * Y[J, K], K) ** 2, (I, J)),
    (Over(B[K] + 1, K), (I,)),
    (Over(S[()], K), ()),
    (Over(sp.S.One, K) - 1, (I,)),
    (Over(Over(M[I, K, KK] * A[I, K] * A[I, KK], KK), K), (I,)),
    (Times(B[K] + A[I, K] ** 2, K), (I,)),
    (Times(S[()], K), (I,)),
    (LogDet(M[I, K, KK], K, KK), (I,)),
    (InverseEntry(M[I, K, KK], K, KK, K, KK), (I, K, KK)),
    (InverseEntry(M[I, K, KK], K, KK, G[I], sp.Integer(1)), (I,)),
    (Where(AtMost(A[I, J], 0), sp.exp(A[I, J]), sp.log(B[J])), (I, J)),
    (Expit(X[T]) + Softplus(-X[T]) + sp.Abs(X[T]) * sp.pi, (T,)),
    (Minimum(A[I, J], B[J]) * Maximum(A[I, J], 0) + loggamma(B[J]), (I, J)),
    (Equals(G[I], J), (I, J)),
    (Over(Equals(G[I], J) * A[I, J], J), (I,)),
]


@pytest.mark.parametrize(("expr", "dims"), EXPRESSIONS, ids=str)
def test_evaluation_is_that_of_loops_over_elements(expr, dims):
    arrays = values()
    found = evaluate(expr, over(*dims), arrays, SIZES)
    shape = tuple(SIZES[d] for d in dims)
    expected = np.empty(shape)
    for where in itertools.product(*map(range, shape)):
        expected[where] = slowly(expr, dict(zip(dims, where, strict=True)), arrays)

    assert found.ndim == len(dims)
    np.testing.assert_allclose(np.broadcast_to(found, shape), expected, rtol=1e-12)


def test_replacing_each_leaf_by_its_number_gives_the_same_log_joint():
    graph, arrays = small_model(), small_values()
    total = 0.0
    for s in graph.statements:
        for where in itertools.product(*(range(r.start, r.stop) for r in s.over)):
            at = {r.dim: sp.Integer(p) for r, p in zip(s.over, where, strict=True)}
            element = substitute(s.log_density, at)
            while leaves := [x for x in leaves_of(element) if all(i.is_number for i in x.indices)]:
                element = element.xreplace(
                    {
                        x: sp.Float(float(arrays[x.array.name][tuple(map(int, x.indices))]), 17)
                        for x in leaves
                    }
                )
            total += float(element)

    assert log_joint(graph, arrays) == pytest.approx(total, rel=1e-12)


def variables(**dims):
    return {n: Variable(n, d, "random") for n, d in dims.items()}


def statement(name, target, over_, family, event=(), **arguments):
    arguments = tuple((k, sp.sympify(v)) for k, v in arguments.items())
    return Statement(name, target, over_, event, family, arguments)


def small_model():
    mu, tau = Array("mu"), Array("tau", positive=True)
    return Graph(
        "small",
        SIZES,
        variables(mu=(), tau=(), x=(T,)),
        (
            statement("mu", mu[()], (), NORMAL, mu=0, tau=sp.Rational(1, 4)),
            statement("tau", tau[()], (), GAMMA, shape=2, rate=3),
            statement("x_first", X[0], (), NORMAL, mu=mu[()], tau=tau[()]),
            statement("x", X[T], (Range(T, 1, 5),), NORMAL, mu=X[T - 1] / 2, tau=tau[()]),
        ),
    )


def small_values():
    return {"mu": np.array(0.3), "tau": np.array(1.4), "x": values()["x"]}


def test_terms_are_those_of_scipy():
    found = log_terms(small_model(), small_values())
    x = small_values()["x"]
    sd = 1.4**-0.5

    assert found["mu"] == pytest.approx(stats.norm.logpdf(0.3, 0, 2))
    assert found["tau"] == pytest.approx(stats.gamma.logpdf(1.4, 2, scale=1 / 3))
    assert found["x_first"] == pytest.approx(stats.norm.logpdf(x[0], 0.3, sd))
    assert found["x"] == pytest.approx(stats.norm.logpdf(x[1:], x[:-1] / 2, sd).sum())


def test_event_families_are_those_of_scipy():
    arrays = values()
    theta = np.array([0.2, 0.5, 0.3])
    vector = statement("y", Y[I, K], over(I), MVNORMAL, (K,), mu=A[I, K], tau=M[I, K, KK])
    simplex = statement("p", Array("p")[K], (), DIRICHLET, (K,), a=B[K])
    label = statement("z", Array("z")[I], over(I), CATEGORICAL, (K,), p=Array("p")[K])
    z = np.array([0, 2, 2, 1])

    expected = [
        stats.multivariate_normal.logpdf(y, a, np.linalg.inv(m))
        for y, a, m in zip(arrays["y"], arrays["A"], arrays["M"], strict=True)
    ]
    np.testing.assert_allclose(log_density(vector, arrays, SIZES), expected)
    found = log_density(simplex, {**arrays, "p": theta}, SIZES)
    assert found == pytest.approx(stats.dirichlet.logpdf(theta, arrays["b"]))
    found = log_density(label, {"p": theta, "z": z}, SIZES)
    np.testing.assert_allclose(found, np.log(theta[z]))


def gamma(x, shape=2.0, rate=3.0):
    target = Array("tau")[()]
    factor = statement("tau", target, (), GAMMA, shape=Array("a")[()], rate=Array("c")[()])
    return float(log_density(factor, {"tau": x, "a": shape, "c": rate}, SIZES))


@pytest.mark.parametrize("arguments", [(-1.0,), (np.nan,), (np.inf,), (1.0, -2.0), (1.0, 2.0, -3)])
def test_outside_the_support_of_value_or_parameter_the_density_is_zero(arguments):
    assert gamma(*arguments) == -np.inf


def test_zero_times_the_log_of_zero_is_zero():
    p = Array("p")
    expr = (1 - S[()]) * sp.log(p[K])
    found = evaluate(expr, over(K), {"s": np.array(1.0), "p": np.array([0.0, 0.5, 0.5])}, SIZES)
    summed = Over(expr, K)

    np.testing.assert_array_equal(found, 0.0)
    assert evaluate(summed, (), {"s": np.array(1.0), "p": np.array([0, 0.5, 0.5])}, SIZES) == 0


@pytest.mark.parametrize(
    ("entry", "of"),
    [([0.5, 0.6, -0.1], "simplex"), ([0.5, 0.6, 0.1], "simplex"), ([0.0, 3.0, 1.0], "label")],
)
def test_vectors_and_labels_outside_have_density_zero_or_name_the_leaf(entry, of):
    if of == "simplex":
        factor = statement("p", Array("p")[K], (), DIRICHLET, (K,), a=B[K])
        assert log_density(factor, {**values(), "p": np.array(entry)}, SIZES) == -np.inf
    else:
        factor = statement("z", Array("z")[J], over(J), CATEGORICAL, (K,), p=Array("p")[K])
        with pytest.raises(ModelError, match=r"p\[z\[j\]\]: index z\[j\] is 3, expected .* 0 to 2"):
            log_density(factor, {"z": np.array(entry), "p": np.full(3, 1 / 3)}, SIZES)


def test_a_bound_that_is_another_variable_is_evaluated():
    theta = Array("theta")[I]
    factor = Statement("x", X[I], over(I), (), NORMAL, (("mu", sp.S.Zero), ("tau", sp.S.One)))
    bounded = Statement(
        "x", X[I], over(I), (), NORMAL, factor.arguments, lower=sp.S.Zero, upper=theta
    )
    arrays = {"x": np.array([1.0, 1.0, -1.0, 0.5]), "theta": np.array([2.0, 0.5, 2.0, 0.7])}

    np.testing.assert_array_equal(
        np.isfinite(log_density(bounded, arrays, SIZES)), [True, False, False, True]
    )
    assert np.isfinite(log_density(factor, arrays, SIZES)).all()


@pytest.mark.parametrize(
    ("expr", "dims", "message"),
    [
        (X[T - 1], (T,), r"x\[t - 1\]: index t - 1 is -1, expected a whole number from 0 to 4"),
        (X[T + 1], (T,), r"x\[t \+ 1\]: index t \+ 1 is 5"),
        (B[S[()]], (), r"index s is 1.7, expected a whole number"),
        (X[T], (), "dimension 't' is read where no range"),
        (Array("nothing")[I], (I,), "nothing.i.: array 'nothing' has no value"),
        (A[I], (I,), r"A\[i\]: array 'A' has 2 axes, expected 1"),
    ],
)
def test_bad_reads_are_errors_that_name_the_leaf(expr, dims, message):
    with pytest.raises(ModelError, match=message):
        evaluate(expr, over(*dims), values(), SIZES)


def test_potentials_are_factors():
    coupling = Potential("coupling", X[T] * X[T - 1], (Range(T, 1, 5),))
    graph = Graph("chain", SIZES, variables(x=(T,)), (), (coupling,))
    x = values()["x"]

    assert log_joint(graph, {"x": x}) == pytest.approx((x[1:] * x[:-1]).sum())


def test_the_size_of_terms_counts_those_of_branches_factors_and_sums():
    """Those of a branch cancel: ``4 * (x - y)`` of values near 1e9, at one of two positions."""
    x, y, z = (Array(n) for n in "xyz")
    body = 4 * Where(Equals(z[I], 0), sp.S.Zero, x[I] - y[I])
    point = {"x": np.full(2, 1e9), "y": np.full(2, 1e9 - 1), "z": np.arange(2)}
    factors = Potential("p", body, (Range(I, 0, 2),)), Potential("p", Over(body, I), ())

    assert [size_of_terms(f, point, {I: 2}) for f in factors] == [8e9 - 4, 8e9 - 4]


def test_the_size_of_a_log_counts_what_cancels_in_its_argument():
    """``log(1 - p)`` for p near 1 has few digits: 1e-9 of them here, and those of its powers."""
    p = Array("p")
    factor = Potential("p", sp.log(1 - p[()]) + 1 / (1 - p[()]), ())
    exact = float(sp.log(sp.Rational(1, 10**9)))

    found = size_of_terms(factor, {"p": 1 - 1e-9}, {})
    assert found == pytest.approx(-exact + 2e9 + 2e18, rel=1e-6)


def test_the_size_of_a_log_gamma_counts_what_its_argument_has_lost():
    """``loggamma((a - 1) + 1)`` of an ``a`` of 1e-12 is as wrong as ``log`` of it is."""
    a = Array("a")
    factor = Potential("p", loggamma(a[()] + 1), ())

    found = size_of_terms(factor, {"a": 1e-12 - 1}, {})
    assert found == pytest.approx(2e12, rel=1e-3)


def test_the_size_of_matrix_functions_counts_what_is_nearly_singular():
    """Entries of a correlation of ``1 - 1e-9`` are rounded: of the inverse that is 1e18 of them."""
    k, i = Dim("k"), Dim("i")
    matrix = Array("S")[i, k, primed(k)]
    potentials = (
        Potential("p", LogDet(matrix, k, primed(k)), (Range(i, 0, 2),)),
        Potential("q", InverseEntry(matrix, k, primed(k), k, k), (Range(i, 0, 2), Range(k, 0, 2))),
    )
    near, sizes = np.array([[1.0, 1 - 1e-9], [1 - 1e-9, 1.0]]), {k: 2, primed(k): 2, i: 2}
    found = [size_of_terms(f, {"S": np.stack([near, np.eye(2)])}, sizes) for f in potentials]

    assert found == pytest.approx([2e9, 2e18], rel=1e-6)


def test_matrices_are_positive_definite_whatever_their_scales():
    """As the factors are by which log determinants are computed: eigenvalues are of one scale."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((20, 3, 5)) * 10 ** rng.uniform(-9, 9, (20, 3, 1))
    matrices = factors @ np.swapaxes(factors, -2, -1)
    scales = np.sqrt(np.diagonal(matrices, axis1=-2, axis2=-1))
    others = matrices.copy()
    others[:, 0, 2] = others[:, 2, 0] = 1.01 * scales[:, 0] * scales[:, 2]

    assert is_positive_definite(matrices).all()
    assert not is_positive_definite(others).any()
