"""Values of which only bounds are known: the value itself is the auxiliary variable."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, mentions, substitute
from gibbsppl.algebra.functions import Where
from gibbsppl.algebra.supports import Support
from gibbsppl.model.graph import Censoring, Factor, Statement
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule
from gibbsppl.rewrites.tables import rows_where


def imputed(
    factor: Factor, facts: Facts, targets: Collection[str]
) -> tuple[Expr, Expr, Auxiliary] | None:
    """The censorings of a statement, with the values that they hide as variables."""
    if not isinstance(factor, Statement) or not mentions(factor.log_density, targets):
        return None
    if factor.lower is not None or factor.upper is not None or factor.family.event:
        return None
    if factor.support.kind != "real":
        return None
    hidden = tuple(c for c in factor.censored if _tells(c.where, factor, facts))
    where = Add(*(c.where for c in hidden))
    table = rows_where(where, factor.over, facts) if hidden else None
    if table is None:
        return None
    term = Add(*(c.where * _log_mass(factor, c) for c in hidden))
    auxiliary = Auxiliary(
        _between(factor, hidden, table.positions),
        partial(_density, factor, table.positions),
        (table.range,),
        sizes=table.sizes,
        tables=table.arrays,
    )
    return term, factor.log_density - term, auxiliary


def _tells(where: Expr, statement: Statement, facts: Facts) -> bool:
    """Whether it is known, and the same for ever, which values are hidden."""
    return facts.is_data(where) and facts.is_gate(where, statement.over)


def _log_mass(statement: Statement, censoring: Censoring) -> Expr:
    """The log probability of what is known of a value that a censoring hides."""
    return replace(statement, censored=(replace(censoring, where=sp.S.One),)).log_density


def _density(statement: Statement, at: Mapping[Dim, Expr], x: Leaf) -> Expr:
    """The log density of the values that are not seen."""
    arguments = {n: substitute(e, at) for n, e in statement.arguments}
    return statement.family.log_density(x, statement.event, **arguments)


def _between(
    statement: Statement, censorings: tuple[Censoring, ...], at: Mapping[Dim, Expr]
) -> Support:
    """Where the values are: each between the bounds of the censoring that hides it."""
    (*others, last) = (_bounds(statement.support, c) for c in censorings)
    lower, upper = last
    for censoring, (below, above) in zip(censorings, others, strict=False):
        lower, upper = (
            mine if mine == rest else Where(censoring.where, mine, rest)
            for mine, rest in ((below, lower), (above, upper))
        )
    return Support("real", substitute(lower, at), substitute(upper, at))


def _bounds(support: Support, censoring: Censoring) -> tuple[Expr, Expr]:
    narrowed = support.narrowed(censoring.lower, censoring.upper)
    return sp.sympify(narrowed.lower), sp.sympify(narrowed.upper)


RULES = (
    Rule(
        name="hidden value",
        suffix="hidden",
        apply=imputed,
        identity="F(b) - F(a) = integral over a < x < b of the density f(x)",
        source="M. A. Tanner and W. H. Wong (1987), The calculation of posterior distributions by "
        "data augmentation",
    ),
)
