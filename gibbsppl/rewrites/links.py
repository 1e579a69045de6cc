"""Links of a linear predictor: given an auxiliary variable, it is seen as by a normal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy as sp
from sympy import Add, exp, log

from gibbsppl.expressions import (
    Expr,
    Leaf,
    LogPhi,
    LogPolyaGamma,
    Phi,
    Softplus,
    Where,
    substitute,
)
from gibbsppl.graph import Range
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule
from gibbsppl.rewrites.tables import rows_where
from gibbsppl.rewrites.terms import Term
from gibbsppl.supports import POSITIVE, Support

Terms = tuple[Term, ...]
Found = Iterator[tuple[Terms, Auxiliary]]


def logistic(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Found:
    """``-b log(1 + exp(x))``: quadratic in ``x`` given a Polya-Gamma variable."""
    for term in terms:
        trials, ranges = -term.coefficient, (*over, *term.ranges)
        parts = _odds(term.head, facts)
        if parts is None:
            continue
        x, rest = parts
        if facts.is_positive(trials):
            yield (term,), Auxiliary(POSITIVE, partial(_tilted, trials, x, rest), ranges)
        elif facts.is_data(trials) and facts.is_nonnegative(trials):
            table = rows_where(trials, ranges, facts)
            if table is not None:
                here = (substitute(e, table.positions) for e in (trials, x, rest))
                density = partial(_tilted, *here)
                yield (
                    (term,),
                    Auxiliary(
                        POSITIVE, density, (table.range,), sizes=table.sizes, tables=table.arrays
                    ),
                )


def _odds(head: Expr, facts: Facts) -> tuple[Expr, Expr] | None:
    """Log odds and a rest: ``log(a + exp(x))`` is ``Softplus(x - log(a)) + log(a)``."""
    if isinstance(head, Softplus):
        return head.args[0], sp.S.Zero
    powers = [a for a in Add.make_args(head.args[0]) if isinstance(a, exp)]
    if len(powers) != 1 or not head.args[0].is_Add:
        return None
    rest = head.args[0] - powers[0]
    return (powers[0].args[0] - log(rest), log(rest)) if facts.is_positive(rest) else None


def _tilted(trials: Expr, x: Expr, rest: Expr, omega: Leaf) -> Expr:
    quadratic = -omega * x**2 / 2 - trials * x / 2
    return LogPolyaGamma(trials, omega) + quadratic - trials * (log(2) + rest)


def interval(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Found:
    """``c log(Phi(a) - Phi(b))``: normal variables between bounds; what these share is the mean."""
    for term in terms:
        ends = _ends(term.argument)
        if ends is None:
            continue
        ranges = (*over, *term.ranges)
        table = None
        if term.coefficient != 1:
            count = term.coefficient
            if not (facts.is_data(count) and facts.is_count(count, ranges)):
                continue
            table = rows_where(count, ranges, facts, repeated=True)
            if table is None:
                continue
            ranges, ends = (table.range,), tuple(substitute(e, table.positions) for e in ends)
        x, lower, upper = ends
        yield (
            (term,),
            Auxiliary(
                Support("real", lower, upper),
                partial(_normal, x),
                ranges,
                sizes={} if table is None else table.sizes,
                tables={} if table is None else table.arrays,
            ),
        )


def _ends(of: Expr) -> tuple[Expr, ...] | None:
    """The mean and the bounds of ``Phi(a) - Phi(b)``: what both have, and the rest of each."""
    parts = {a.as_coeff_Mul()[0]: a.as_coeff_Mul()[1] for a in Add.make_args(of)}
    if set(parts) != {1, -1} or not all(isinstance(p, Phi) for p in parts.values()):
        return None
    above, below = (set(Add.make_args(sp.expand(parts[sign].args[0]))) for sign in (1, -1))
    shared = Add(*(above & below))
    return -shared, Add(*(below - above)), Add(*(above - below))


def probit(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Found:
    """``c log Phi(x)``: normal variables with mean ``x`` that are positive, one for each trial."""
    for first, second in _opposites(terms, over, facts):
        x, yes = first.argument, first.coefficient
        support = Support("real", Where(yes, sp.S.Zero, -sp.oo), Where(yes, sp.oo, sp.S.Zero))
        ranges = (*over, *first.ranges)
        yield (first, second), Auxiliary(support, partial(_normal, x), ranges)
        return
    for term in terms:
        ranges = (*over, *term.ranges)
        if term.coefficient == 1:
            yield (term,), Auxiliary(POSITIVE, partial(_normal, term.argument), ranges)
        elif facts.is_data(term.coefficient) and facts.is_count(term.coefficient, ranges):
            table = rows_where(term.coefficient, ranges, facts, repeated=True)
            if table is not None:
                x = substitute(term.argument, table.positions)
                yield (
                    (term,),
                    Auxiliary(
                        POSITIVE,
                        partial(_normal, x),
                        (table.range,),
                        sizes=table.sizes,
                        tables=table.arrays,
                    ),
                )


def _normal(x: Expr, z: Leaf) -> Expr:
    return -((z - x) ** 2) / 2 - log(2 * sp.pi) / 2


def _opposites(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Iterator[tuple[Term, Term]]:
    """Terms ``y log Phi(x)`` and ``(1 - y) log Phi(-x)`` of a binary outcome."""
    for a in terms:
        for b in terms:
            opposite = sp.expand(a.argument + b.argument) == 0
            whole = sp.expand(a.coefficient + b.coefficient) == 1 and a.ranges == b.ranges
            ranges = (*over, *a.ranges)
            if opposite and whole and facts.is_count(a.coefficient, ranges):
                yield a, b


RULES = (
    Rule(
        name="Polya-Gamma",
        head=(Softplus, log),
        suffix="omega",
        apply=logistic,
        identity="(1 + e^x)^-b = 2^-b e^(-b x/2) E[exp(-omega x^2/2)], omega ~ PG(b, 0)",
        source="N. G. Polson, J. G. Scott and J. Windle (2013), Bayesian inference for logistic "
        "models using Polya-Gamma latent variables",
    ),
    Rule(
        name="latent normal between",
        head=log,
        suffix="utility",
        apply=interval,
        identity="Phi(a) - Phi(b) = integral over b < z < a of the Normal(0, 1) density of z",
        source="J. H. Albert and S. Chib (1993), Bayesian analysis of binary and polychotomous "
        "response data",
    ),
    Rule(
        name="latent normal",
        head=LogPhi,
        suffix="utility",
        apply=probit,
        identity="Phi(x) = integral over z > 0 of the Normal(x, 1) density of z",
        source="J. H. Albert and S. Chib (1993), Bayesian analysis of binary and polychotomous "
        "response data",
    ),
)
