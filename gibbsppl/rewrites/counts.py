"""Sums under a log: which term of the sum it was.

The multinomial theorem: ``(a_1 + ... + a_K)**c`` is the sum, over all ways to share out ``c``
among the terms, of ``c! / (n_1! ... n_K!) * a_1**n_1 ... a_K**n_K``. So a Poisson count with a
rate that is a sum is split into latent sub-counts, and a mixture (``c = 1``) gets its label.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from sympy import Add, loggamma

from gibbsppl.expressions import Dim, Equals, Expr, Leaf, LogGammaP, Over, Where, substitute
from gibbsppl.graph import Range
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule, one_by_one
from gibbsppl.rewrites.tables import is_sparse, rows_where
from gibbsppl.rewrites.terms import Term, size_of
from gibbsppl.supports import Support


def shared_out(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``c log(sum a_k)``: how many of the ``c`` are of each term; a label where ``c`` is 1."""
    ranges = (*over, *term.ranges)
    count = term.coefficient
    parts = _parts(term.argument, facts)
    if parts is None or not facts.is_count(count, ranges):
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
        count, log_part = (substitute(e, table.positions) for e in (count, log_part))
    return Auxiliary(
        Support("counts", sp.S.Zero, count),
        lambda n: loggamma(count + 1) + Over(n * log_part - loggamma(n + 1), dim),
        ranges,
        event=(dim,),
        sizes={dim: size, **({} if table is None else table.sizes)},
        tables={} if table is None else table.arrays,
    )


def _parts(total: Expr, facts: Facts) -> tuple[Dim, int, Expr] | None:
    """The dim of the terms of a sum, their number, and the log of one: None if not all are >= 0."""
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
    product = sp.expand(1 - total)
    factors = product.args if product.is_Mul else ()
    if len(factors) < 2 or not all(map(facts.is_probability, factors)):
        return ()
    held = [f for f in factors if f.atoms(Leaf)]
    first, rest = held[0], sp.Mul(*(f for f in factors if f != held[0]))
    return 1 - first, first * (1 - rest)


def _grouped(terms: tuple[Expr, ...], facts: Facts) -> tuple[Expr, ...]:
    """Terms of a sum, numbers and what may be negative as one: ``1 - p`` of ``1 - p + p q``."""
    plain = tuple(t for t in terms if not t.is_number and facts.is_nonnegative(t))
    rest = tuple(t for t in terms if t not in plain)
    return (*plain, Add(*rest)) if rest else plain


def _at_label(log_part: Expr, dim: Dim, label: Leaf) -> Expr:
    return substitute(log_part, {dim: label})


def at_least_one(term: Term, over: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """``log(1 - exp(-x))``: a count with mean ``x`` that is not zero."""
    shape, mean = term.head.args if isinstance(term.head, LogGammaP) else (None, None)
    if mean is None:
        mean = _of_complement(term.argument)
        shape = sp.S.One
    ranges = (*over, *term.ranges)
    if shape != 1 or mean is None or not facts.is_nonnegative(mean):
        return None
    table = None
    if term.coefficient != 1:
        table = rows_where(term.coefficient, ranges, facts) if _is_gate(term, over, facts) else None
        if table is None:
            return None
        ranges, mean = (table.range,), substitute(mean, table.positions)
    return Auxiliary(
        Support("integer", sp.S.One),
        lambda m: m * sp.log(mean) - loggamma(m + 1) - mean,
        ranges,
        sizes={} if table is None else table.sizes,
        tables={} if table is None else table.arrays,
    )


def _is_gate(term: Term, over: tuple[Range, ...], facts: Facts) -> bool:
    """Whether the coefficient is data of 0 and 1."""
    if not facts.is_data(term.coefficient):
        return False
    return bool(np.isin(facts.values(term.coefficient, (*over, *term.ranges)), (0, 1)).all())


def _of_complement(of: Expr) -> Expr | None:
    """The ``x`` of ``1 - exp(-x)``."""
    tail = 1 - of
    return -tail.args[0] if isinstance(tail, sp.exp) else None


RULES = (
    Rule(
        name="share out",
        head=sp.log,
        suffix="split",
        apply=one_by_one(shared_out),
        identity="(sum_k a_k)^c = sum over n_1 + .. + n_K = c of c!/prod(n_k!) prod(a_k^n_k)",
        source="multinomial theorem; for counts D. B. Dunson and A. H. Herring (2005), "
        "A. T. Cemgil (2009)",
    ),
    Rule(
        name="at least one",
        head=(sp.log, LogGammaP),
        suffix="events",
        apply=one_by_one(at_least_one),
        identity="1 - exp(-x) = sum over m >= 1 of x^m exp(-x) / m!",
        source="M. Zhou (2015), Infinite edge partition models",
    ),
)
