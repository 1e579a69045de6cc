"""Log variances: given a label, they are seen as by a normal, but for a ratio near to one.

A normal number with variance ``exp(h)`` has a log density ``-h/2 - exp(-h) y**2/2``; in ``h`` it is
that of the log of a chi-squared number, ``log(y**2) - h``, which a mixture of ten normals is near
to. The mixture times what is left besides it is the density itself, whatever the constants of the
mixture are: so the label is an auxiliary variable like any other, and the rest a *correction*, a
potential. Given the labels all log variances of a series, which their priors tie, are proposed by
one joint draw, and the correction accepts (`gibbsppl.kernels.corrected`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np
import sympy as sp
from sympy import Add, exp, log

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, leaves_of, mentions, substitute
from gibbsppl.algebra.functions import Equals, LogChiRatio, Maximum
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.model.graph import Factor, Variable
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule, readings_of
from gibbsppl.rewrites.tables import rows_where
from gibbsppl.rewrites.terms import Term, terms_in
from gibbsppl.runtime.log_chi import HALVES, LOG_SCALED, MEANS

# Squares that are not data are not below this number, and their logs no infinity: what that adds
# to ``exp(-h) y**2`` is less than its rounding wherever the exponential is not as large as it gets.
LEAST_SQUARE = float(np.finfo(float).tiny)


def log_chi_squared(
    factor: Factor, facts: Facts, targets: Collection[str]
) -> tuple[Expr, Expr, Auxiliary] | None:
    """The first terms ``x/2 - c exp(x)`` of a factor, with the label of a component of a mixture.

    Without the first of them, as of a count, the exponential is none of a chi-squared number.
    """
    if not mentions(factor.log_density, targets):
        return None
    density = next(readings_of(factor, facts, targets))
    terms, rest = terms_in(density, exp, targets, facts.graph.sizes)
    for term in terms:
        left = multiplied_out(rest - term.argument / 2)
        own = {x.array.name for x in leaves_of(term.argument)}.intersection(targets)
        if term.ranges or mentions(left, own) or mentions(term.coefficient, own):
            continue
        auxiliary = _labels(term, factor.over, facts)
        if auxiliary is not None:
            half = term.argument / 2
            if auxiliary.ranges != factor.over:
                left += Equals(term.coefficient, 0) * half
            others = Add(*(t.summed() for t in terms if t is not term))
            return term.summed() + half, left + others, auxiliary
    return None


def _labels(term: Term, ranges: tuple[Range, ...], facts: Facts) -> Auxiliary | None:
    """The labels; where data are zero, the exponential is, and there is none."""
    square, x = -2 * term.coefficient, term.argument
    tables: dict[str, tuple[Variable, np.ndarray]] = {}
    sizes: dict[Dim, int] = {}
    if not facts.is_data(square):
        if not facts.is_nonnegative(square):
            return None
        log_square = log(Maximum(square, LEAST_SQUARE))
    else:
        values = facts.values(square, ranges)
        table = rows_where(square, ranges, facts) if ranges and not values.all() else None
        if not (values >= 0).all() or not values.any():
            return None
        log_square = log(square)
        if table is not None:
            ranges, x = (table.range,), substitute(x, table.positions)
            sizes, tables = {**table.sizes}, {**table.arrays}
            own = facts.fresh(f"{facts.factor}_log_square")
            logs = np.log(values[np.nonzero(values)])
            tables[own] = Variable(own, (table.range.dim,), "data"), logs
            log_square = Array(own)[(table.range.dim,)]
    component = facts.fresh_dim("component")
    of_label = []
    for name, found in (("scaled", LOG_SCALED), ("means", MEANS), ("halves", HALVES)):
        own = facts.fresh(f"{facts.factor}_{name}")
        tables[own] = Variable(own, (component,), "data"), np.array(found)
        of_label.append(Array(own, positive=True) if name == "halves" else Array(own))
    return Auxiliary(
        Support("integer", sp.S.Zero, sp.Integer(len(MEANS) - 1)),
        partial(_component, x, log_square, of_label),
        ranges,
        of=component,
        sizes={component: len(MEANS), **sizes},
        tables=tables,
        correction=LogChiRatio(x + log_square),
    )


def _component(x: Expr, log_square: Expr, of_label: list[Array], label: Leaf) -> Expr:
    """The log of a share times a normal density, less half of the log of the square."""
    scaled, mean, half = (a[(label,)] for a in of_label)
    return scaled - half * (x + log_square - mean) ** 2 - log_square / 2


RULES = (
    Rule(
        name="log chi-squared",
        known_as="normal mixture of log squares",
        suffix="component",
        apply=log_chi_squared,
        identity="exp(x/2 - c e^x) = (2 c)^-1/2 sum over k of w_k exp(-(x + log(2 c) - m_k)^2"
        " / (2 v_k)) rho(x + log(2 c))",
        source="Y. Omori, S. Chib, N. Shephard and J. Nakajima (2007), Stochastic volatility with "
        "leverage: fast and efficient likelihood inference",
        head=exp,
        proposes=True,
    ),
)
