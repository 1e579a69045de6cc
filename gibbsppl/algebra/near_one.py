"""Sums and functions with all digits near 1, and where terms are huge.

The interpreter and the back end both read these tables. A term that is added to 1 is passed alone,
so that the 1 does not take its digits; an exponential that may be too small for a number is passed
as its exponent. Logs of gamma functions that nearly cancel are one function.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, permutations
from operator import itemgetter

import networkx as nx
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Over, dims_of
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    LogBeta,
    LogGammaQ,
    LogGammaU,
    LogRising,
    Softplus,
    complement_of,
    log_of,
)
from gibbsppl.algebra.log_gamma import loggamma


def called_as(expr: Expr) -> tuple[str, tuple[Expr, ...]]:
    """The name of a function's NumPy form and its arguments, with all of their digits."""
    row = FUNCTIONS[expr.func]
    *first, last = expr.args
    if row.near_one and (rest := beyond_one(last)) is not None:
        return row.near_one, (*first, rest)
    if row.of_exponential and isinstance(last, sp.exp):
        return row.of_exponential, (*first, *last.args)
    return row.numpy, expr.args


def beyond_one(expr: Expr) -> Expr | None:
    """The terms of a sum besides the number 1, which would take their digits; None without a 1.

    >>> x = sp.Symbol("x")
    >>> beyond_one(1 - x), beyond_one(2 - x)
    (-x, None)
    """
    number, rest = expr.as_coeff_Add()
    return rest if number == 1 and rest != 0 else None


def log_of_one_minus(of: Expr) -> tuple[str, Expr] | None:
    """The NumPy form of ``log(1 - exp(...))`` and its argument; None for logs of other values.

    Where the exponent is an exponential itself, the form takes the inner exponent: where
    ``exp(x)`` is too small for a number, the log of ``1 - exp(-exp(x))`` is x.

    >>> x = sp.Symbol("x", real=True)
    >>> log_of_one_minus(1 - sp.exp(-x)), log_of_one_minus(1 - sp.exp(-2 * sp.exp(x)))
    (('log_one_minus_exp', -x), ('log_cloglog', x + log(2)))
    """
    if not isinstance(1 - of, sp.exp):
        return None
    (exponent,) = (1 - of).args
    numbers, of_exponent = as_exponential(-exponent)
    if of_exponent != 0 and numbers.is_positive:
        return "log_cloglog", of_exponent + sp.log(numbers)
    return "log_one_minus_exp", exponent


def log_parts(of: Expr) -> tuple[Expr, ...] | None:
    """The terms to compute the log of a product of exponentials or tails; None for others.

    The log of an exponential that is (nearly) too small for a number is its exponent all the same,
    and the share of two exponentials that are too large for numbers is a number.

    >>> x, y = sp.symbols("x y", real=True)
    >>> log_parts(2 * y * sp.exp(x)), log_parts(1 + sp.exp(x))
    ((log(2*y), x), None)
    >>> log_parts(sp.exp(x) / (1 + sp.exp(x))), log_parts(3 / (2 + sp.exp(x)))
    ((0, -Softplus(-x)), (log(3/2), -Softplus(x - log(2))))
    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> d, k = Array("d"), Dim("k")
    >>> log_parts(Over(d[k] * sp.exp(x), k)), log_parts(y / Over(d[k] * sp.exp(x), k))
    ((log(sum(d[k], k)), x), (log(y/sum(d[k], k)), -x))
    >>> from gibbsppl.algebra.functions import Expit, Phi
    >>> log_parts(2 * y * Phi(x) ** 2), log_parts(1 - Expit(x))
    ((log(2*y), 2*LogPhi(x)), (0, -Softplus(x)))
    """
    of = _taken_out(of)
    tails = {f: log for f in sp.Mul.make_args(of) if (log := _log_of_tail(f)) is not None}
    if tails:
        rest = sp.Mul(*(f for f in sp.Mul.make_args(of) if f not in tails))
        number, *parts = log_parts(rest) or (sp.log(rest),)
        return number, sp.Add(*tails.values(), *parts)
    factors = sp.Mul.make_args(of)
    numbers, exponent = as_exponential(of)
    for share in (f for f in factors if isinstance(f, sp.Pow) and f.exp == -1):
        terms = [as_exponential(t) for t in sp.Add.make_args(share.base)]
        for (c, e), (other, v) in permutations(terms, 2):
            if len(terms) == 2 and e == exponent != v and c.is_positive and other.is_positive:
                return sp.log(numbers / share / c), -Softplus(v - e + sp.log(other / c))
    return (sp.log(numbers), exponent) if exponent != 0 else None


def _log_of_tail(factor: Expr) -> Expr | None:
    """The log of a distribution function, of its complement, or of a power of these."""
    base, power = factor.as_base_exp()
    is_tail = any(complement_of(e) is not None for e in (base, 1 - base))
    log = log_of(base)
    return power * log if is_tail and log is not None else None


def _taken_out(of: Expr) -> Expr:
    """A product, with constant factors of sums over dims taken out of the sums."""
    if of.is_Mul:
        return sp.Mul(*map(_taken_out, of.args))
    total, power = of.as_base_exp()
    if not isinstance(total, Over):
        return of
    apart = [f for f in sp.Mul.make_args(total.body) if not dims_of(f) & set(total.bound)]
    rest = [f for f in sp.Mul.make_args(total.body) if f not in apart]
    return sp.Mul(*apart, Over(sp.Mul(*rest), *total.bound, *total.args[2:])) ** power


def as_exponential(product: Expr) -> tuple[Expr, Expr]:
    """The factor of an exponential in a product, and the exponent: 0 if there is none."""
    factors = sp.Mul.make_args(product)
    exponents = [f.args[0] for f in factors if isinstance(f, sp.exp)]
    return sp.Mul(*(f for f in factors if not isinstance(f, sp.exp))), sp.Add(*exponents)


def terms_of(expr: Expr) -> tuple[Expr, ...]:
    """The terms to compute a sum by: logs of gamma functions that nearly cancel are merged.

    >>> nu, x, n = sp.symbols("nu x n")
    >>> terms_of(loggamma(nu / 2 + sp.Rational(1, 2)) - loggamma(nu / 2) + x)
    (x, LogRising(nu/2, 1/2))
    >>> terms_of(x * loggamma(n + 1) - x * loggamma(n - x + 1))
    (-x*LogRising(n + 1, -x),)
    >>> terms_of(loggamma(nu) + loggamma(x) - loggamma(nu + x))
    (LogBeta(nu, x),)
    >>> terms_of(n - 2 * x - 2 * LogGammaQ(nu, x))
    (n, -2*LogGammaU(nu, x))
    """
    terms = _with_tails(sp.Add.make_args(expr))
    gammas = tuple(t for t in terms if _gamma_in(t) is not None)
    if len(gammas) < 2:
        return tuple(terms)
    return (*(t for t in terms if t not in gammas), *_paired(gammas))


def _with_tails(terms: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The terms, each ``LogGammaQ(a, x) + x`` merged: the log tail is about ``-x``."""
    found = list(terms)
    for term in terms:
        for tail in (f for f in sp.Mul.make_args(term) if isinstance(f, LogGammaQ)):
            beside = term / tail * tail.args[1]
            if beside in found:
                found.remove(beside)
                found[found.index(term)] = term / tail * LogGammaU(*tail.args)
    return tuple(found)


@lru_cache(maxsize=10_000)
def _paired(gammas: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Logs of gamma functions, two of opposite sign as one where arguments share parts.

    As many pairs as possible, with the least total difference; a third term, of the difference of a
    pair, makes the pair the log of a beta function.
    """
    found = {t: gamma for t in gammas if (gamma := _gamma_in(t)) is not None}
    graph: nx.Graph[Expr] = nx.Graph()
    for pair in combinations(gammas, 2):
        (one, c), (other, d) = (found[t] for t in pair)
        ways = (_differing(one, other, c), _differing(other, one, d))
        if c == -d and (possible := [w for w in ways if w is not None]):
            differ, *made = min(possible, key=itemgetter(0))
            graph.add_edge(*pair, differ=differ, pair=made)
    chosen = nx.min_weight_matching(graph, weight="differ")
    paired = {t for edge in chosen for t in edge}
    alone = {found[t]: t for t in gammas if t not in paired}
    made = []
    for c, below, rest in (graph.edges[edge]["pair"] for edge in chosen):
        third = alone.pop((rest, -c), None)
        made.append(c * LogRising(below, rest) if third is None else -c * LogBeta(rest, below))
    return (*alone.values(), *sorted(made, key=str))


def _differing(above: Expr, below: Expr, c: Expr) -> tuple[int, Expr, Expr, Expr] | None:
    """The number of terms by which arguments differ, the coefficient, ``below`` and the difference.

    Terms that are not in both count, and those of the difference: least where one argument is a
    part of the other. None where the difference is no shorter than an argument.
    """
    rest = above - below
    more, whole, part = (len(sp.Add.make_args(e)) for e in (rest, above, below))
    if not below.free_symbols or more >= max(whole, part):
        return None
    return more + (more + part - whole), c, below, rest


def _gamma_in(term: Expr) -> tuple[Expr, Expr] | None:
    """The argument of the log of a gamma function in a term, and its factor."""
    factors = sp.Mul.make_args(term)
    own = [f for f in factors if isinstance(f, loggamma)]
    return (own[0].args[0], term / own[0]) if len(own) == 1 else None
