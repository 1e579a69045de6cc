"""Sums under a log: the label (or the counts) of the terms as auxiliary variable.

The multinomial theorem: ``(a_1 + ... + a_K)**c`` is the sum, over all ways to share out ``c``
among the terms, of ``c! / (n_1! ... n_K!) * a_1**n_1 ... a_K**n_K``. So a Poisson count with a
rate that is a sum is split into latent sub-counts, and a mixture (``c = 1``) gets its label.
"""

from __future__ import annotations

from functools import lru_cache, partial

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, substitute
from gibbsppl.algebra.functions import Equals, LogGammaP, LogMass, LogPhi, Phi, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.masses import LOG_MASSES
from gibbsppl.algebra.polynomials import MOST_KEPT, factored, multiplied_out
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.algebra.supports import NATURAL, Support
from gibbsppl.derive.changes import is_log_of_exponential
from gibbsppl.pieces.logs import opened_exponential
from gibbsppl.rewrites.rows import Auxiliary, Facts, of_terms, one_by_one
from gibbsppl.rewrites.tables import is_sparse, rows_where
from gibbsppl.rewrites.terms import Term


def shared_out(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``c log(sum a_k)``: how many of the ``c`` are of each term; a label where ``c`` is 1."""
    ranges = (*over, *term.ranges)
    count = term.coefficient
    # (what is soon seen comes first)
    parts = _parts(term.argument, facts) if facts.is_count(count, ranges) else None
    if parts is None:
        return None
    dim, size, log_part = parts
    if count == 1:
        return Auxiliary(
            Support("integer", sp.S.Zero, sp.Integer(size - 1)),
            lambda label: _at_label(log_part, dim, label),
            ranges,
            of=dim,
            sizes={dim: size},
        )
    table = rows_where(count, ranges, facts) if is_sparse(count, ranges, facts) else None
    if table is not None:
        ranges = (table.range,)
        count, log_part = table.count, substitute(log_part, table.positions)
    return Auxiliary(
        Support("counts", sp.S.Zero, count),
        lambda n: loggamma(count + 1) + Over(n * log_part - loggamma(n + 1), dim),
        ranges,
        event=(dim,),
        sizes={dim: size, **({} if table is None else table.sizes)},
        tables={} if table is None else table.arrays,
    )


def _parts(total: Expr, facts: Facts) -> tuple[Dim, int, Expr] | None:
    """The dim and the number of the terms of a sum, and the log of a term; None unless all >= 0."""
    if isinstance(total, Over) and len(total.args) == 2 and facts.is_nonnegative(total.body):
        (dim,) = total.bound
        return dim, size_of(dim, facts.graph.sizes), sp.log(total.body)
    terms = (_thinned(total, facts) or _grouped(total.args, facts)) if total.is_Add else ()
    if len(terms) < 2 or not all(map(facts.is_nonnegative, terms)):
        return None
    dim = facts.fresh_dim("part")
    log_part: Expr = sp.log(terms[-1])
    for j in reversed(range(len(terms) - 1)):
        log_part = Where(Equals(dim, sp.Integer(j)), sp.log(terms[j]), log_part)
    return dim, len(terms), log_part


def _thinned(total: Expr, facts: Facts) -> tuple[Expr, ...]:
    """``1 - a b`` of two probabilities as ``(1 - a) + a (1 - b)``; empty for anything else."""
    product = _opposite(total)
    factors = product.args if product.is_Mul else ()
    if len(factors) < 2 or not all(map(facts.is_probability, factors)):
        return ()
    held = [f for f in factors if f.atoms(Leaf)]
    first, rest = held[0], sp.Mul(*(f for f in factors if f != held[0]))
    return 1 - first, first * (1 - rest)


@lru_cache(maxsize=MOST_KEPT)
def _opposite(total: Expr) -> Expr:
    """One minus an expression, multiplied out once for all variables that the term is read by."""
    return multiplied_out(1 - total)


def _grouped(terms: tuple[Expr, ...], facts: Facts) -> tuple[Expr, ...]:
    """The terms of a sum, numbers and negative terms merged: ``1 - p`` in ``1 - p + p q``."""
    plain = tuple(t for t in terms if not t.is_number and facts.is_nonnegative(t))
    rest = tuple(t for t in terms if t not in plain)
    return (*plain, Add(*rest)) if rest else plain


def _at_label(log_part: Expr, dim: Dim, label: Leaf) -> Expr:
    return substitute(log_part, {dim: label})


def at_least_one(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``y log(1 - exp(-x))`` of a ``y`` of 0 or 1: a count with mean ``x``, not zero where it is 1.

    Where all ``y`` are known the count is there for those that are 1. Else it is 0 where y is.

    Large ``x`` are all alike where ``y`` is 1, so that their tail is the prior's; but a count keeps
    ``x`` within its root of where it was. Where the prior has no mean, chains would not come back.
    """
    mean, ranges = _mean(term), (*over, *term.ranges)
    happened = term.coefficient
    if mean is None or not facts.is_nonnegative(mean) or not facts.is_gate(happened, ranges):
        return None
    if not facts.has_mean(mean):
        return None
    if not facts.is_data(happened):
        support = Support("integer", happened, Where(happened, sp.oo, sp.S.Zero))
        return Auxiliary(support, partial(_events, mean, happened), ranges)
    table = rows_where(happened, ranges, facts) if happened != 1 else None
    if table is not None:
        ranges, mean = (table.range,), substitute(mean, table.positions)
    elif happened != 1:
        return None
    return Auxiliary(
        Support("integer", sp.S.One),
        partial(_events, mean, sp.S.One),
        ranges,
        sizes={} if table is None else table.sizes,
        tables={} if table is None else table.arrays,
    )


def _events(mean: Expr, happened: Expr, m: Leaf) -> Expr:
    return m * sp.log(mean) - loggamma(m + 1) - happened * mean


def rejected(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``-c log(1 - q)`` of a probability: how many draws were thrown away for ``c`` kept ones."""
    kept, ranges = -term.coefficient, (*over, *term.ranges)
    parts = _log_rest(term, ranges, facts)
    if parts is None:
        return None
    if facts.is_positive(kept):
        return Auxiliary(NATURAL, partial(_thrown_away, kept, *parts), ranges)
    if not (facts.is_data(kept) and facts.is_nonnegative(kept)):
        return None
    table = rows_where(kept, ranges, facts)
    if table is None:
        return None
    here = substitute(parts[0], table.positions), substitute(parts[1], table.positions)
    return Auxiliary(
        NATURAL,
        partial(_thrown_away, table.count, *here),
        (table.range,),
        sizes=table.sizes,
        tables=table.arrays,
    )


def _thrown_away(kept: Expr, log_q: Expr, outside: Expr, n: Leaf) -> Expr:
    ways = loggamma(n + kept) - loggamma(kept) - loggamma(n + 1) if kept != 1 else sp.S.Zero
    return ways + n * log_q - kept * outside


def _log_rest(term: Term, ranges: tuple[Range, ...], facts: Facts) -> tuple[Expr, Expr] | None:
    """``log(q)`` and ``a`` of a head that is ``a + log(1 - q)``, with ``q`` a probability."""
    if isinstance(term.head, LogMass):
        above, beyond = map(_without_tails, term.head.args[2:4])
        if multiplied_out(above - beyond).atoms(Where, *LOG_MASSES, LogPhi, Phi):
            return None
        gap = factored(above - beyond)
        return (-gap, above) if _is_gap(gap, ranges, facts) else None
    x = _mean(term)
    if x is not None:
        return (-_without_tails(x), sp.S.Zero) if _is_gap(x, ranges, facts) else None
    q = sp.S.Zero if isinstance(term.head, LogGammaP) else 1 - term.argument
    is_product = (q.is_Mul or q.is_Pow) and not q.is_number
    return (sp.log(q), sp.S.Zero) if is_product and facts.is_probability(q) else None


def _is_gap(x: Expr, ranges: tuple[Range, ...], facts: Facts) -> bool:
    return facts.is_nonnegative(x) or facts.is_positive_where(x, sp.S.One, ranges)


def _without_tails(expr: Expr) -> Expr:
    """``log(1 - exp(log(p)))``, which is exact where p is small, as ``log(1 - p)``."""
    return expr.replace(is_log_of_exponential, lambda e: opened_exponential(e, ()))


def _mean(term: Term) -> Expr | None:
    """The ``x`` of ``log(1 - exp(-x))``."""
    if isinstance(term.head, LogGammaP):
        shape, mean = term.head.args
        return mean if shape == 1 else None
    tail = 1 - term.argument
    return -tail.args[0] if isinstance(tail, sp.exp) else None


RULES = (
    of_terms(
        sp.log,
        one_by_one(shared_out),
        name="share out",
        known_as="multinomial split",
        suffix="split",
        identity="(sum_k a_k)^c = sum over n_1 + .. + n_K = c of c!/prod(n_k!) prod(a_k^n_k)",
        source="multinomial theorem; for counts D. B. Dunson and A. H. Herring (2005), "
        "A. T. Cemgil (2009)",
    ),
    of_terms(
        (sp.log, LogGammaP),
        one_by_one(at_least_one),
        name="at least one",
        known_as="truncated Poisson count",
        suffix="events",
        identity="1 - exp(-x) = sum over m >= 1 of x^m exp(-x) / m!",
        source="M. Zhou (2015), Infinite edge partition models",
    ),
    of_terms(
        (sp.log, LogGammaP, LogMass),
        one_by_one(rejected),
        name="rejected draws",
        suffix="rejected",
        identity="(1 - q)^-c = sum over n >= 0 of gamma(n + c) / (gamma(c) n!) q^n",
        source="Newton; for truncated data V. Rao, L. Lin and D. Dunson (2016), Data augmentation "
        "for models based on rejection sampling",
    ),
)
