"""Powers and gamma functions: an auxiliary variable that is positive, or a number of tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import permutations

import sympy as sp
from sympy import Add, log

from gibbsppl.algebra.expressions import Expr, Leaf, Over, mentions, substitute
from gibbsppl.algebra.functions import LogGammaP, LogStirling
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import POSITIVE, Support
from gibbsppl.rewrites.rows import Auxiliary, Facts, of_terms, one_by_one
from gibbsppl.rewrites.tables import rows_where
from gibbsppl.rewrites.terms import Term


def power_of_sum(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``-c log(s)`` of a positive sum: a Gamma integral, linear in the sum."""
    exponent, total, ranges = -term.coefficient, term.argument, (*over, *term.ranges)
    is_sum = total.is_Add or isinstance(total, Over)
    if not is_sum or not facts.is_positive_where(total, exponent, ranges):
        return None
    if facts.is_positive(exponent):
        return Auxiliary(POSITIVE, partial(_weight, exponent, total), ranges)
    if not (facts.is_data(exponent) and facts.is_nonnegative(exponent)):
        return None
    table = rows_where(exponent, ranges, facts)
    if table is None:
        return None
    density = partial(_weight, table.count, substitute(total, table.positions))
    return Auxiliary(POSITIVE, density, (table.range,), sizes=table.sizes, tables=table.arrays)


def power_of_ratio(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``-c log(s)`` of a positive sum with a part ``t``: a Gamma integral, linear in ``s / t``.

    The part is the first product that holds what is in the way.
    """
    exponent, total, ranges = -term.coefficient, term.argument, (*over, *term.ranges)
    held = [a for a in Add.make_args(total) if mentions(a, facts.targets)]
    if not total.is_Add or not held or not facts.is_positive(exponent):
        return None
    part, rest = held[0], total - held[0]
    if not (facts.is_positive(part) and facts.is_positive(rest)):
        return None
    return Auxiliary(POSITIVE, partial(_weight_of_ratio, exponent, part, rest), ranges)


def _weight_of_ratio(exponent: Expr, part: Expr, rest: Expr, u: Leaf) -> Expr:
    return _weight(exponent, 1 + rest / part, u) - exponent * log(part)


def _weight(exponent: Expr, total: Expr, u: Leaf) -> Expr:
    return (exponent - 1) * log(u) - u * total - loggamma(exponent)


def distance(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``-c |x|``: a normal with a variance that is exponential, quadratic in ``x``."""
    rate, x = -term.coefficient, term.argument
    if not facts.is_positive(rate):
        return None
    return Auxiliary(
        POSITIVE,
        lambda v: log(rate) - log(2 * sp.pi * v) / 2 - x**2 / (2 * v) - rate**2 * v / 2,
        (*over, *term.ranges),
    )


Terms = tuple[Term, ...]


def rising(
    terms: Terms, over: tuple[Range, ...], facts: Facts
) -> Iterator[tuple[Terms, Auxiliary]]:
    """``loggamma(r + n) - loggamma(r)`` of a count ``n``: the tables of ``n`` customers."""
    for high, low, n in _ratios(terms):
        r, ranges = low.argument, (*over, *low.ranges)
        if facts.is_count(n, ranges) and facts.is_positive(r):
            support = Support("integer", sp.S.Zero, n)
            yield (high, low), Auxiliary(support, partial(_tables, n, r), ranges)


def _tables(n: Expr, r: Expr, tables: Leaf) -> Expr:
    return LogStirling(n, tables) + tables * log(r)


def falling(
    terms: Terms, over: tuple[Range, ...], facts: Facts
) -> Iterator[tuple[Terms, Auxiliary]]:
    """``loggamma(r) - loggamma(r + n)``: a Beta integral, linear in ``r``.

    The variable is minus the log of the fraction, which may be below all numbers where r is small.
    """
    for low, high, n in _ratios(terms, sign=-1):
        r, ranges = low.argument, (*over, *low.ranges)
        if not facts.is_positive(r):
            continue
        if facts.is_positive(n):
            yield (low, high), Auxiliary(POSITIVE, partial(_fraction, n, r), ranges)
        elif facts.is_data(n) and facts.is_nonnegative(n):
            table = rows_where(n, ranges, facts)
            if table is not None:
                density = partial(_fraction, table.count, substitute(r, table.positions))
                yield (
                    (low, high),
                    Auxiliary(
                        POSITIVE, density, (table.range,), sizes=table.sizes, tables=table.arrays
                    ),
                )


def _fraction(n: Expr, r: Expr, t: Leaf) -> Expr:
    return -r * t + (n - 1) * LogGammaP(sp.S.One, t) - loggamma(n)


def _ratios(terms: Terms, sign: int = 1) -> Iterator[tuple[Term, Term, Expr]]:
    """Pairs of terms ``sign * (loggamma(r + n) - loggamma(r))``, the positive one first, and n."""
    for plus, minus in permutations(terms, 2):
        if plus.coefficient == 1 and minus.coefficient == -1 and plus.ranges == minus.ranges:
            gap = multiplied_out(sign * (plus.argument - minus.argument))
            if not gap.is_zero and not gap.could_extract_minus_sign():
                yield plus, minus, gap


RULES = (
    of_terms(
        log,
        one_by_one(power_of_sum),
        name="power of a sum",
        known_as="gamma mixture",
        suffix="weight",
        identity="s^-c = integral over u > 0 of u^(c-1) exp(-u s) / gamma(c)",
        source="Euler; for Student-t scale mixtures, F. Caron and A. Doucet (2012) for rankings",
        shut=True,
    ),
    replace(
        of_terms(
            log,
            one_by_one(power_of_ratio),
            name="power of a ratio",
            known_as="gamma mixture",
            suffix="weight",
            identity="(s + t)^-c = t^-c integral over u > 0 of u^(c-1) exp(-u (1 + s/t)) "
            "/ gamma(c)",
            source="E. Makalic and D. F. Schmidt (2016), A simple sampler for the horseshoe "
            "estimator",
            shut=True,
        ),
        spares_rejection=True,
    ),
    of_terms(
        sp.Abs,
        one_by_one(distance),
        name="distance",
        known_as="normal variance mixture",
        suffix="variance",
        identity="exp(-c|x|) = integral over v > 0 of c (2 pi v)^(-1/2) exp(-x^2/(2v) - c^2 v/2)",
        source="D. F. Andrews and C. L. Mallows (1974), Scale mixtures of normal distributions",
        shut=True,
    ),
    of_terms(
        loggamma,
        rising,
        name="tables of customers",
        known_as="Chinese restaurant tables",
        suffix="tables",
        identity="gamma(r + n) / gamma(r) = sum over l of |s(n, l)| r^l",
        source="M. Zhou and L. Carin (2015), Negative binomial process count and mixture modeling",
    ),
    of_terms(
        loggamma,
        falling,
        name="fraction",
        known_as="Escobar and West",
        suffix="fraction",
        identity="gamma(r) / gamma(r + n) = integral over t > 0 of exp(-r t) (1-exp(-t))^(n-1) dt "
        "/ gamma(n)",
        source="M. D. Escobar and M. West (1995), Bayesian density estimation and inference",
    ),
)
