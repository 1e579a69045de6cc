"""The table of the functions of BUGS: on numbers against NumPy, as expressions against the numbers.

``NUMBERS`` and ``ARRAYS`` have arguments and an independent result for each row; a row without
them fails.
"""

from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy import linalg, special, stats

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs import functions
from gibbsppl.bugs.array_functions import OF_ARRAYS
from gibbsppl.bugs.densities import KINDS
from gibbsppl.bugs.distributions import DISTRIBUTIONS
from gibbsppl.bugs.functions import FUNCTIONS, LINKS, OPERATORS, function
from gibbsppl.bugs.rows import Function, Template, Unsupported
from gibbsppl.model.evaluation import evaluate

ROW = Dim("row")
SIZES = {Dim("a"): 4, Dim("b"): 3, Dim("c"): 3}

REAL = np.array([-2.5, -1.0, -0.3, 0.0, 0.4, 1.0, 2.5, 30.0])
POSITIVE = np.array([1e-3, 0.2, 1.0, 1.5, 7.0, 40.0])
ABOVE_ONE = np.array([1.001, 1.5, 7.0, 40.0])
SMALL = np.array([-0.999, -0.4, 0.0, 0.3, 0.98])
UNIT = np.array([1e-5, 0.2, 0.5, 0.8, 0.999])
PAIRS = tuple(np.meshgrid([-1.5, 0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0]))
WHOLE = (np.array([0, 1, 2, 3]), np.array([2, 1, 0, 2]))


# ---- functions of numbers --------------------------------------------------------------------

NUMBERS: dict[str, tuple[tuple, Any]] = {
    "+": (PAIRS, np.add),
    "-": (PAIRS, np.subtract),
    "*": (PAIRS, np.multiply),
    "/": ((PAIRS[0], PAIRS[1] + 0.5), np.divide),
    "^": ((POSITIVE, POSITIVE[::-1] / 10), np.power),
    "<": (PAIRS, lambda a, b: (a < b) * 1.0),
    "<=": (PAIRS, lambda a, b: (a <= b) * 1.0),
    ">": (PAIRS, lambda a, b: (a > b) * 1.0),
    ">=": (PAIRS, lambda a, b: (a >= b) * 1.0),
    "==": (PAIRS, lambda a, b: (a == b) * 1.0),
    "!=": (PAIRS, lambda a, b: (a != b) * 1.0),
    "&&": (PAIRS, lambda a, b: ((a != 0) & (b != 0)) * 1.0),
    "||": (PAIRS, lambda a, b: ((a != 0) | (b != 0)) * 1.0),
    "!": ((REAL,), lambda a: (a == 0) * 1.0),
    "abs": ((REAL,), np.abs),
    "sqrt": ((POSITIVE,), np.sqrt),
    "exp": ((REAL,), np.exp),
    "log": ((POSITIVE,), np.log),
    "ilogit": ((REAL,), special.expit),
    "logit": ((UNIT,), special.logit),
    "phi": ((REAL,), stats.norm.cdf),
    "probit": ((UNIT,), stats.norm.ppf),
    "icloglog": ((REAL,), lambda x: -np.expm1(-np.exp(x))),
    "cloglog": ((UNIT,), lambda p: np.log(-np.log1p(-p))),
    "loggam": ((POSITIVE,), special.gammaln),
    "logfact": ((POSITIVE,), lambda x: special.gammaln(x + 1)),
    "gammap": ((POSITIVE, POSITIVE[::-1]), special.gammainc),
    "sin": ((REAL,), np.sin),
    "cos": ((REAL,), np.cos),
    "tan": ((REAL,), np.tan),
    "sinh": ((REAL,), np.sinh),
    "cosh": ((REAL,), np.cosh),
    "tanh": ((REAL,), np.tanh),
    "arcsin": ((SMALL,), np.arcsin),
    "arccos": ((SMALL,), np.arccos),
    "arctan": ((REAL,), np.arctan),
    "arcsinh": ((REAL,), np.arcsinh),
    "arccosh": ((ABOVE_ONE,), np.arccosh),
    "arctanh": ((SMALL,), np.arctanh),
    "step": ((REAL,), lambda x: (x >= 0) * 1.0),
    "ifelse": ((PAIRS[0], PAIRS[1], -PAIRS[0]), lambda c, a, b: np.where(c != 0, a, b)),
    "round": ((REAL,), lambda x: np.floor(x + 0.5)),
    "trunc": ((REAL,), np.trunc),
    "pi": ((), lambda: np.pi),
}

OF_NUMBERS = tuple(
    dict.fromkeys(
        r
        for r in (*functions._OPERATORS, *functions._OF_NUMBERS)
    )
)


def name_of(row):
    return row.names[0]


def test_every_function_of_numbers_has_an_example():
    assert set(NUMBERS) == set(map(name_of, OF_NUMBERS))


@pytest.mark.parametrize("row", OF_NUMBERS, ids=name_of)
def test_numbers_are_numpys(row):
    arguments, reference = NUMBERS[name_of(row)]

    np.testing.assert_allclose(row.numeric(*arguments), reference(*arguments), rtol=1e-14)


def at_rows(expr, arrays, size):
    found = evaluate(sp.sympify(expr), (Range(ROW, 0, size),), arrays, {ROW: size})
    return np.broadcast_to(found, (size,))


@pytest.mark.parametrize("row", [r for r in OF_NUMBERS if r.symbolic is not None], ids=name_of)
def test_expressions_have_the_values_of_numbers(row):
    arguments, _ = NUMBERS[name_of(row)]
    flat = [np.ravel(a).astype(float) for a in arguments]
    arrays = {f"x{n}": a for n, a in enumerate(flat)}
    expr = row.symbolic(*(Array(n)[ROW] for n in arrays))
    size = len(flat[0]) if flat else 1
    expected = np.ravel(row.numeric(*flat))

    np.testing.assert_allclose(at_rows(expr, arrays, size), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("row", [r for r in OF_NUMBERS if r.symbolic is None], ids=name_of)
def test_what_has_no_expression_says_why_and_what_to_write(row):
    assert "random variables" in row.reason
    assert "write" in row.reason


def test_one_operand_is_a_sign():
    assert OPERATORS["-"].numeric(np.array([1, -2])).tolist() == [-1, 2]
    assert OPERATORS["-"].symbolic(sp.Symbol("x")) == -sp.Symbol("x")
    assert [OPERATORS["-"].takes(n) for n in (0, 1, 2, 3)] == [False, True, True, False]


def test_whole_numbers_stay_whole():
    """They may be indices: 2 and not 2.0."""
    for name in ("+", "-", "*", "^", "<", "==", "&&"):
        assert np.asarray(OPERATORS[name].numeric(*WHOLE)).dtype.kind == "i", name
    for name in ("step", "round", "trunc", "abs"):
        assert np.asarray(FUNCTIONS[name].numeric(np.array([1, 2]))).dtype.kind == "i", name
    assert FUNCTIONS["equals"].numeric(1, 1) + 1 == 2
    assert np.asarray(OPERATORS["^"].numeric(2, -1)) == 0.5
    assert np.asarray(FUNCTIONS["round"].numeric(np.array([np.inf, 1.2]))).tolist() == [np.inf, 1.0]


def test_jags_rounds_halves_up():
    assert FUNCTIONS["round"].numeric(np.array([2.5, 3.5, -2.5])).tolist() == [3, 4, -2]


def test_conditions_are_what_is_not_zero():
    row, x = FUNCTIONS["ifelse"], Array("x")[()]
    chosen = row.symbolic(x, sp.Integer(2), sp.Integer(3))
    indicator = row.symbolic(FUNCTIONS["step"].symbolic(x), sp.Integer(2), sp.Integer(3))

    assert [float(evaluate(chosen, (), {"x": v}, {})) for v in (0.5, 0.0, -1.0)] == [2, 3, 2]
    assert [float(evaluate(indicator, (), {"x": v}, {})) for v in (0.5, 0.0, -1.0)] == [2, 2, 3]


def test_links_are_undone_by_their_functions():
    x = np.array([-1.2, 0.3, 0.9])

    assert set(LINKS) == {"log", "logit", "probit", "cloglog"}
    for link, row in LINKS.items():
        np.testing.assert_allclose(FUNCTIONS[link].numeric(row.numeric(x)), x, rtol=1e-12)
        assert row.symbolic is not None


# ---- functions of vectors and matrices -------------------------------------------------------

V, W = np.array([3.0, 1.0, 2.0, 1.5]), np.array([0.5, 4.0, -1.0, 2.0])
M = np.array([[2.0, 0.4, -0.3], [0.4, 1.5, 0.2], [-0.3, 0.2, 1.0]])
B = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0], [0.5, 0.1, -2.0]])
TIED = np.array([3.0, 1.0, 2.0, 1.0])
AT, HEIGHTS = np.array([1.0, 2.0, 4.0]), np.array([3.0, 0.0, 5.0])

ARRAYS: dict[str, list[tuple[tuple, Any]]] = {
    "sum": [((V,), V.sum()), ((V, 2.0, B), V.sum() + 2 + B.sum())],
    "prod": [((V,), V.prod()), ((V, 2.0, B), V.prod() * 2 * B.prod())],
    "max": [((V,), 3.0), ((V, 7.0), 7.0), ((B,), 10.0), ((2.0, 5.0), 5.0)],
    "min": [((V,), 1.0), ((V, 0.5), 0.5), ((B,), -2.0)],
    "mean": [((V,), V.mean()), ((B,), B.mean())],
    "sd": [((V,), V.std(ddof=1)), ((B,), B.std(ddof=1))],
    "geometric.mean": [((V,), stats.gmean(V))],
    "inprod": [((V, W), V @ W), ((B, B**2), (B**3).sum())],
    "interp.lin": [((t, AT, HEIGHTS), np.interp(t, AT, HEIGHTS)) for t in (0.0, 1, 1.5, 2, 3.3, 9)],
    "%*%": [
        ((B, M), B @ M),
        ((M, AT), M @ AT),
        ((V, B), V @ B),
        ((V, W), V @ W),
    ],
    "t": [((B,), B.T), ((V,), V[None, :])],
    "logdet": [((M,), np.linalg.slogdet(M)[1])],
    "inverse": [((M,), np.linalg.inv(M))],
    "inverse.lu": [((M,), np.linalg.inv(M))],
    "det": [((M,), np.linalg.det(M))],
    "mexp": [((M,), linalg.expm(M))],
    "sort": [((V,), np.sort(V))],
    "order": [((TIED,), [2, 4, 3, 1])],
    "ranked": [((TIED, 3.0), 2.0), ((TIED, 1.0), 1.0)],
    "rank": [((TIED,), [4, 1, 3, 2]), ((TIED, 2), 2), ((TIED, 3), 3), ((TIED, 1), 4)],
    "length": [((V,), 4), ((B,), 12)],
    "dim": [((V,), [4]), ((B,), [4, 3])],
    "c": [((V, 2.0, W), [*V, 2, *W]), ((B,), B.T.ravel())],
    "rep": [
        ((V, 2), np.tile(V, 2)),
        ((V, np.array([2, 0, 1, 1])), [3, 3, 2, 1.5]),
        ((1.5, 3), [1.5] * 3),
    ],
    "dinterval": [((t, AT), np.searchsorted(AT, t)) for t in (0.0, 1.0, 3.0, 4.0, 9.0)],
    "dround": [((1.2345, 2), 1.23), ((125.0, -1), 120.0)],
}  # fmt: skip


def array_cases():
    return [
        pytest.param(row, arguments, expected, id=f"{name_of(row)}-{n}")
        for row in OF_ARRAYS
        for n, (arguments, expected) in enumerate(ARRAYS[name_of(row)])
    ]


def test_every_function_of_arrays_has_an_example():
    assert set(ARRAYS) == set(map(name_of, OF_ARRAYS))
    assert all(row.of_arrays for row in OF_ARRAYS)


@pytest.mark.parametrize(("row", "arguments", "expected"), array_cases())
def test_arrays_are_numpys(row, arguments, expected):
    axes = tuple(map(np.ndim, arguments))

    assert row.takes(len(arguments))
    np.testing.assert_allclose(row.numeric(*arguments, axes=axes), expected, rtol=1e-12)


@pytest.mark.parametrize(("row", "arguments", "expected"), array_cases())
def test_axes_before_their_own_are_positions(row, arguments, expected):
    """Each of three positions with its own arguments, of which one is that of the example."""
    axes = tuple(map(np.ndim, arguments))
    counts = row.names[0] in ("rep", "ranked", "rank", "dround")
    many = [
        np.asarray(a) if n and counts else np.stack([a, np.multiply(a, 2), np.multiply(a, 3)])
        for n, a in enumerate(arguments)
    ]
    found = row.numeric(*many, axes=axes)
    if row.names[0] in ("length", "dim"):
        np.testing.assert_array_equal(found, np.stack([expected] * 3))
        return
    for position in range(3):
        own = [a if n and counts else a[position] for n, a in enumerate(many)]
        np.testing.assert_allclose(found[position], row.numeric(*own, axes=axes), rtol=1e-12)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)


DIMS = (Dim("a"), Dim("b"), Dim("c"))


def template(row, n, value):
    """An array of the model, with axes of its own; the counts of ``rep`` are numbers."""
    if row.names[0] == "rep" and n == 1:
        return value
    if np.asarray(value).dtype.kind in "iu":
        return Template(sp.Integer(int(value)))
    axes = DIMS[: np.ndim(value)] if np.shape(value) != (3, 3) else (Dim("b"), Dim("c"))
    if np.shape(value) == (3,):
        axes = (Dim("b"),)
    return Template(Array(f"x{n}")[axes], axes, np.shape(value))


def value_of(found, arrays):
    sizes = {**SIZES, **dict(zip(found.axes, found.sizes, strict=True))}
    for axis in found.axes:
        sizes.setdefault(axis, 4)
    over = tuple(Range(a, 0, n) for a, n in zip(found.axes, found.sizes, strict=True))
    sizes |= {Dim(f"{d}{s}"): n for d, n in SIZES.items() for s in "₁₂"}
    value = evaluate(sp.sympify(found.expr), over, arrays, sizes)
    return np.broadcast_to(value, found.sizes)


@pytest.mark.parametrize(
    ("row", "arguments", "expected"), [c for c in array_cases() if c.values[0].symbolic is not None]
)
def test_expressions_of_arrays_have_the_values_of_numbers(row, arguments, expected):
    arrays = {f"x{n}": np.asarray(a, float) for n, a in enumerate(arguments)}
    found = row.symbolic(*(template(row, n, a) for n, a in enumerate(arguments)))

    assert found.sizes == np.shape(expected)
    np.testing.assert_allclose(value_of(found, arrays), expected, rtol=1e-12)


@pytest.mark.parametrize("row", [r for r in OF_ARRAYS if r.symbolic is None], ids=name_of)
def test_arrays_without_an_expression_say_why(row):
    assert "of random variables" in row.reason


def test_sums_of_latent_vectors_keep_positions():
    """An expression may have the dims of loops beside its own axes."""
    i, k = Dim("i"), Dim("k")
    x = Template(Array("x")[i, k], (k,), (4,))
    arrays, sizes = {"x": np.arange(12.0).reshape(3, 4) ** 2}, {i: 3, k: 4, Dim("k₁"): 4}
    for name in ("sum", "mean", "sd", "max", "prod"):
        expr = FUNCTIONS[name].symbolic(x).expr
        found = evaluate(expr, (Range(i, 0, 3),), arrays, sizes)
        np.testing.assert_allclose(found, FUNCTIONS[name].numeric(arrays["x"], axes=(1,)))


def test_products_of_an_array_with_itself_do_not_mix_up_axes():
    axes = (Dim("b"), Dim("c"))
    m = Template(Array("m")[axes], axes, (3, 3))
    found = FUNCTIONS["%*%"].symbolic(m, m)

    np.testing.assert_allclose(value_of(found, {"m": M}), M @ M)


# ---- densities, distribution functions, quantiles --------------------------------------------

X = np.array([0.05, 0.3, 0.9, 1.7, 4.0])
COUNTS = np.array([0, 1, 2, 4])
DISTRIBUTION_FUNCTIONS = {
    "norm": ((0.5, 4.0), stats.norm(0.5, 0.5), X - 1),
    "t": ((0.5, 4.0, 5.0), stats.t(5, 0.5, 0.5), X - 1),
    "dexp": ((0.5, 4.0), stats.laplace(0.5, 0.25), X - 1),
    "logis": ((0.5, 4.0), stats.logistic(0.5, 0.25), X - 1),
    "gumbel": ((0.5, 4.0), stats.gumbel_r(0.5, 0.25), X - 1),
    "beta": ((1.5, 2.5), stats.beta(1.5, 2.5), X[:3]),
    "unif": ((-1.0, 5.0), stats.uniform(-1, 6), X),
    "chisqr": ((3.0,), stats.chi2(3), X),
    "exp": ((4.0,), stats.expon(scale=0.25), X),
    "f": ((3.0, 5.0), stats.f(3, 5), X),
    "gamma": ((2.1, 0.7), stats.gamma(2.1, scale=1 / 0.7), X),
    "gen.gamma": ((2.1, 0.7, 1.5), stats.gengamma(2.1, 1.5, scale=1 / 0.7), X),
    "lnorm": ((0.2, 4.0), stats.lognorm(0.5, scale=np.exp(0.2)), X),
    "par": ((2.0, 0.04), stats.pareto(2, scale=0.04), X),
    "weib": ((1.5, 0.7), stats.weibull_min(1.5, scale=0.7 ** (-1 / 1.5)), X),
    "bin": ((0.3, 5), stats.binom(5, 0.3), COUNTS),
    "negbin": ((0.4, 2.5), stats.nbinom(2.5, 0.4), COUNTS),
    "pois": ((1.7,), stats.poisson(1.7), COUNTS),
    "bern": ((0.3,), stats.bernoulli(0.3), COUNTS[:2]),
    "geom1": ((0.3,), stats.geom(0.3), COUNTS[1:]),
}
P = np.array([1e-6, 0.1, 0.5, 0.83, 0.999])


@pytest.mark.parametrize("name", DISTRIBUTION_FUNCTIONS)
def test_densities_and_distribution_functions_are_scipys(name):
    parameters, reference, x = DISTRIBUTION_FUNCTIONS[name]
    density = getattr(reference, "pdf", None) or reference.pmf
    for prefix in ("d", "pdf."):
        found = FUNCTIONS[f"{prefix}{name}"].numeric(x, *parameters)
        np.testing.assert_allclose(found, density(x), rtol=1e-10)
    for prefix in ("p", "cdf."):
        found = FUNCTIONS[f"{prefix}{name}"].numeric(x, *parameters)
        np.testing.assert_allclose(found, reference.cdf(x), rtol=1e-10)
    logs = FUNCTIONS[f"logdensity.{name}"].numeric(x, *parameters)
    np.testing.assert_allclose(logs, np.log(density(x)), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(FUNCTIONS[f"dev.{name}"].numeric(x, *parameters), -2 * logs)


@pytest.mark.parametrize("name", [n for n in DISTRIBUTION_FUNCTIONS if f"q{n}" in FUNCTIONS])
def test_quantiles_are_scipys(name):
    parameters, reference, _ = DISTRIBUTION_FUNCTIONS[name]
    found = FUNCTIONS[f"q{name}"].numeric(P, *parameters)

    np.testing.assert_allclose(found, reference.ppf(P), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["bin", "pois", "negbin"])
def test_quantiles_of_counts_are_the_least_that_reach_a_probability(name):
    parameters, reference, _ = DISTRIBUTION_FUNCTIONS[name]
    exact = reference.cdf(np.arange(6))[reference.cdf(np.arange(6)) < 1 - 1e-9]
    found = FUNCTIONS[f"q{name}"].numeric(exact, *parameters)

    np.testing.assert_array_equal(found, np.arange(len(exact)))


def test_non_central_distribution_functions_are_scipys():
    for name, parameters, reference in (
        ("nt", (1.0, 4.0, 5.0), stats.nct(5, 2.0, scale=0.5)),
        ("nchisqr", (3.0, 2.0), stats.ncx2(3, 2)),
    ):
        below = FUNCTIONS[f"p{name}"].numeric(X, *parameters)
        at = FUNCTIONS[f"q{name}"].numeric(P, *parameters)
        np.testing.assert_allclose(below, reference.cdf(X), rtol=1e-10)
        np.testing.assert_allclose(at, reference.ppf(P), rtol=1e-7)


OUTSIDE = {
    "gamma": ((2.0, 3.0), -1.0, 0.0),
    "par": ((2.0, 1.5), 1.0, 0.0),
    "unif": ((0.0, 2.0), 2.5, 1.0),
    "beta": ((2.0, 3.0), 1.5, 1.0),
    "pois": ((2.0,), -1.0, 0.0),
    "bin": ((0.3, 5), 6.0, 1.0),
    "geom1": ((0.3,), 0.0, 0.0),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_the_support_densities_are_zero(name):
    parameters, x, cumulative = OUTSIDE[name]
    leaves = [Array(f"x{n}")[ROW] for n in range(1 + len(parameters))]
    arrays = {f"x{n}": np.array([v], float) for n, v in enumerate((x, *parameters))}
    for prefix, expected in (("d", 0.0), ("p", cumulative)):
        row = FUNCTIONS[f"{prefix}{name}"]
        assert float(row.numeric(x, *parameters)) == expected
        assert at_rows(row.symbolic(*leaves), arrays, 1)[0] == expected
    assert FUNCTIONS[f"logdensity.{name}"].numeric(x, *parameters) == -np.inf
    assert FUNCTIONS[f"dev.{name}"].numeric(x, *parameters) == np.inf


@pytest.mark.parametrize("name", DISTRIBUTION_FUNCTIONS)
def test_expressions_of_densities_have_the_values_of_numbers(name):
    parameters, _, x = DISTRIBUTION_FUNCTIONS[name]
    leaves = [Array(f"x{n}")[ROW] for n in range(1 + len(parameters))]
    columns = [x, *(np.full(len(x), p, float) for p in parameters)]
    arrays = {f"x{n}": np.asarray(v, float) for n, v in enumerate(columns)}
    for prefix in ("d", "p", "logdensity.", "dev."):
        row = FUNCTIONS[f"{prefix}{name}"]
        found = at_rows(row.symbolic(*leaves), arrays, len(x))
        np.testing.assert_allclose(found, row.numeric(x, *parameters), rtol=1e-12)


def test_arguments_of_densities_broadcast():
    found = FUNCTIONS["dnorm"].numeric(np.zeros((3, 1)), np.arange(4.0), 1)

    np.testing.assert_allclose(found, np.tile(stats.norm.pdf(np.arange(4.0)), (3, 1)))


def test_every_distribution_has_its_functions_or_a_reason():
    for name, row in DISTRIBUTIONS.items():
        if not hasattr(row, "meaning"):
            continue
        for kind in KINDS:
            for prefix in kind.prefixes:
                found = FUNCTIONS[f"{prefix}{name[1:]}"]
                assert isinstance(found, Unsupported) or found.takes(len(row.parameters) + 1)


# ---- names and numbers of arguments ----------------------------------------------------------

# The functions of the JAGS manual, with their aliases, and of OpenBUGS.
NAMES = """
abs arccos arccosh arcsin arcsinh arctan arctanh cos cosh cloglog equals exp icloglog ifelse
ilogit log logfact loggam logit phi pow probit round sin sinh sqrt step tan tanh trunc acos acosh
asin asinh atan atanh inprod interp.lin logdet max mean min prod sum sd inverse rank sort order t
rep length dim c mexp dinterval dround dsum inprod2 ranked cut gammap geometric.mean det
inverse.lu inverse.chol integral solution ode eigen.vals matrix.pow replicate.post replicate.prior
post.p.value prior.p.value pi dnorm pnorm qnorm logdensity.norm pdf.norm cdf.norm dev.norm
deviance.norm pdexp qdexp pchisqr phyper pbetabin pgen.gamma pweib pt qt pnchisqr qpar
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_every_function_of_jags_and_openbugs_has_a_row(name):
    row = FUNCTIONS[name]

    assert name in row.names
    if isinstance(row, Unsupported):
        assert row.message.startswith(f"{name}: not supported: ")
        assert function(name, 1) is row
    else:
        assert function(name, row.least) is row


def test_no_name_has_two_rows():
    rows = {id(r): r for r in FUNCTIONS.values()}.values()
    names = [n for r in rows for n in r.names]

    assert len(names) == len(set(names))
    assert all(FUNCTIONS[n] is r for r in rows for n in r.names)


@pytest.mark.parametrize(
    ("name", "count", "message"),
    [
        ("exp", 2, "exp: found 2 arguments, expected 1; write one for each."),
        ("pow", 1, "pow: found 1 argument, expected 2; write one for each."),
        ("rank", 3, "rank: found 3 arguments, expected 1 or 2; write one for each."),
        ("sum", 0, "sum: found 0 arguments, expected 1 or more; write one for each."),
        ("pnorm", 2, "pnorm: found 2 arguments, expected 3; write one for each."),
        (
            "sqrtt",
            1,
            "sqrtt: no function of JAGS or OpenBUGS has that name; write sqrt, if that is meant.",
        ),
        (
            "xyzzy",
            1,
            "xyzzy: no function of JAGS or OpenBUGS has that name; write out what it means.",
        ),
        (
            "expit",
            1,
            "expit: not supported: BUGS has another name for it; write ilogit(x).",
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_to_write(name, count, message):
    found = function(name, count)

    assert isinstance(found, Unsupported)
    assert found.message == message


def test_functions_that_there_are_take_their_arguments():
    assert isinstance(function("sum", 7), Function)
    assert isinstance(function("ifelse", 3), Function)


# ---- planted bugs ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("step", lambda x: FUNCTIONS["<"].symbolic(0, x)),
        ("cloglog", lambda p: sp.log(-sp.log(p))),
        ("logfact", loggamma),
        ("arcsin", sp.atan),
        ("||", lambda a, b: a + b),
    ],
)
def test_planted_bugs_are_caught(name, wrong):
    row = FUNCTIONS[name]
    spoilt = Function(row.names, row.numeric, wrong, row.least, row.most)
    with pytest.raises(AssertionError):
        test_expressions_have_the_values_of_numbers(spoilt)


def test_planted_bugs_of_arrays_are_caught():
    row = FUNCTIONS["sd"]
    spoilt = Function(row.names, row.numeric, FUNCTIONS["mean"].symbolic, of_arrays=True)
    with pytest.raises(AssertionError):
        test_expressions_of_arrays_have_the_values_of_numbers(spoilt, (V,), V.std(ddof=1))
    biased = Function(row.names, lambda x, *, axes: np.std(x, axis=-1), row.symbolic)
    with pytest.raises(AssertionError):
        test_arrays_are_numpys(biased, (V,), V.std(ddof=1))


@pytest.mark.parametrize("of", ["y[i, 1]", "y[,]"])
@pytest.mark.parametrize("function", ["sort", "order", "rank"])
def test_only_vectors_have_an_order(function, of):
    text = f"model {{ for (i in 1:2) {{ s[i] <- sum({function}({of})) }} m ~ dnorm(s[1], 1) }}"
    with pytest.raises(gp.BugsError, match=rf"{function} of a (number|matrix) .*expected a vector"):
        gp.read_bugs(text, {"y": [[1, 2], [3, 4]]})
