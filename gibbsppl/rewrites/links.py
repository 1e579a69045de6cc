"""Links of a linear predictor: given an auxiliary variable, it is seen as by a normal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import sympy as sp
from sympy import Add, exp, log

from gibbsppl.algebra.expressions import Expr, Leaf, mentions, substitute
from gibbsppl.algebra.functions import LogMass, LogPhi, LogPolyaGamma, Phi, Softplus, Where
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import POSITIVE, Support
from gibbsppl.rewrites.rows import Auxiliary, Facts, of_terms
from gibbsppl.rewrites.tables import rows_where
from gibbsppl.rewrites.terms import Term

Terms = tuple[Term, ...]
Found = Iterator[tuple[Terms, Auxiliary]]


def logistic(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Found:
    """``-b log(1 + exp(x))``: quadratic in ``x`` given a Polya-Gamma variable.

    Where a gate in ``b`` is shut, the variable is there too, and tells nothing of ``x``.
    """
    for term in terms:
        trials, ranges = -term.coefficient, (*over, *term.ranges)
        odds = _odds(term.head, facts)
        if odds is None:
            continue
        x, rest = odds
        is_plain = facts.is_data(trials) or facts.is_positive(trials)
        gate, number = (sp.S.One, trials) if is_plain else facts.gated(trials)
        table = None
        if not facts.is_positive(number):
            if not (facts.is_data(number) and facts.is_nonnegative(number)):
                continue
            table = rows_where(number, ranges, facts)
            if table is None:
                continue
            ranges = (table.range,)
            gate, number = substitute(gate, table.positions), table.count
            x, rest = (substitute(e, table.positions) for e in (x, rest))
        yield (
            (term,),
            Auxiliary(
                POSITIVE,
                partial(_tilted, gate, number, x, rest),
                ranges,
                sizes={} if table is None else table.sizes,
                tables={} if table is None else table.arrays,
            ),
        )


def _odds(head: Expr, facts: Facts) -> tuple[Expr, ...] | None:
    """Log odds and a rest: ``log(a + exp(x))`` is ``Softplus(x - log(a)) + log(a)``."""
    if isinstance(head, Softplus):
        return head.args[0], sp.S.Zero
    terms = Add.make_args(head.args[0])
    powers: list[Expr] = [a for a in terms if isinstance(a, exp)]
    if len(powers) > 1:  # (one against the rest)
        powers = [a for a in terms if mentions(a, facts.targets)]
    if len(powers) != 1 or len(terms) < 2 or not isinstance(powers[0], exp):
        return None
    rest = head.args[0] - powers[0]
    return (powers[0].args[0] - log(rest), log(rest)) if facts.is_positive(rest) else None


def _tilted(gate: Expr, trials: Expr, x: Expr, rest: Expr, omega: Leaf) -> Expr:
    tilt = -omega * x**2 / 2 - trials * x / 2 - trials * (log(2) + rest)
    return LogPolyaGamma(trials, omega) + gate * tilt


def interval(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Found:
    """``c log(Phi(a) - Phi(b))``: normal variables between bounds, the common term as the mean."""
    for term in terms:
        ends = _ends(term.head) if not facts.is_censored else None
        auxiliary = None if ends is None else _normals(term, ends, (*over, *term.ranges), facts)
        if auxiliary is not None:
            yield (term,), auxiliary


def _normals(
    term: Term, ends: tuple[Expr, ...], ranges: tuple[Range, ...], facts: Facts
) -> Auxiliary | None:
    """A normal variable, with a mean and bounds, for each time that a term is counted.

    Where a gate in the coefficient is shut, the variable has no bounds, and tells nothing.
    """
    coefficient = term.coefficient
    gate, count = (
        (sp.S.One, coefficient) if facts.is_data(coefficient) else facts.gated(coefficient)
    )
    if not (facts.is_data(count) and facts.is_count(count, ranges)):
        return None
    table = rows_where(count, ranges, facts, repeated=True) if count != 1 else None
    if table is not None:
        ranges = (table.range,)
        gate = substitute(gate, table.positions)
        ends = tuple(substitute(e, table.positions) for e in ends)
    elif count != 1:
        return None
    x, *bounds = ends
    if gate != 1:
        free = (-sp.oo, sp.oo)
        bounds = [
            end if end == far else Where(gate, end, far)
            for end, far in zip(bounds, free, strict=True)
        ]
    return Auxiliary(
        Support("real", *bounds),
        partial(_normal, x),
        ranges,
        sizes={} if table is None else table.sizes,
        tables={} if table is None else table.arrays,
    )


def _ends(head: Expr) -> tuple[Expr, ...] | None:
    """The mean and the bounds of ``Phi(a) - Phi(b)``: what both have, and the rest of each."""
    if isinstance(head, LogMass):
        parts = {sp.S.One: Phi(*head.args[1].args), sp.S.NegativeOne: Phi(*head.args[0].args)}
        if not all(isinstance(e, LogPhi) for e in head.args[:4]):
            return None
    else:
        args = Add.make_args(head.args[0])
        parts = {a.as_coeff_Mul()[0]: a.as_coeff_Mul()[1] for a in args}
        both = len(args) == 2 and set(parts) == {1, -1}
        if not both or not all(isinstance(p, Phi) for p in parts.values()):
            return None
    above, below = (
        set(Add.make_args(multiplied_out(parts[sign].args[0])))
        for sign in (sp.S.One, sp.S.NegativeOne)
    )
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
        positive = (term.argument, sp.S.Zero, sp.oo)
        auxiliary = _normals(term, positive, (*over, *term.ranges), facts)
        if auxiliary is not None:
            yield (term,), auxiliary


def _normal(x: Expr, z: Leaf) -> Expr:
    return -((z - x) ** 2) / 2 - log(2 * sp.pi) / 2


def _opposites(terms: Terms, over: tuple[Range, ...], facts: Facts) -> Iterator[tuple[Term, Term]]:
    """Terms ``y log Phi(x)`` and ``(1 - y) log Phi(-x)`` of a binary outcome."""
    for a in terms:
        for b in terms:
            opposite = multiplied_out(a.argument + b.argument) == 0
            whole = multiplied_out(a.coefficient + b.coefficient) == 1 and a.ranges == b.ranges
            ranges = (*over, *a.ranges)
            if opposite and whole and facts.is_gate(a.coefficient, ranges):
                yield a, b


RULES = (
    of_terms(
        (Softplus, log),
        logistic,
        name="Polya-Gamma",
        suffix="omega",
        identity="(1 + e^x)^-b = 2^-b e^(-b x/2) E[exp(-omega x^2/2)], omega ~ PG(b, 0)",
        source="N. G. Polson, J. G. Scott and J. Windle (2013), Bayesian inference for logistic "
        "models using Polya-Gamma latent variables",
        shut=True,
    ),
    of_terms(
        (log, LogMass),
        interval,
        name="latent normal between",
        known_as="Albert and Chib",
        suffix="utility",
        identity="Phi(a) - Phi(b) = integral over b < z < a of the Normal(0, 1) density of z",
        source="J. H. Albert and S. Chib (1993), Bayesian analysis of binary and polychotomous "
        "response data",
        shut=True,
    ),
    of_terms(
        LogPhi,
        probit,
        name="latent normal",
        known_as="Albert and Chib",
        suffix="utility",
        identity="Phi(x) = integral over z > 0 of the Normal(x, 1) density of z",
        source="J. H. Albert and S. Chib (1993), Bayesian analysis of binary and polychotomous "
        "response data",
        shut=True,
    ),
)
