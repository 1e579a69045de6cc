"""Censored values: imputed, each as an auxiliary variable between its bounds."""

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
    """The term of a statement's censorings, with the hidden values as auxiliary variables."""
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
    """Whether the mask of hidden values is data."""
    return facts.is_data(where) and facts.is_gate(where, statement.over)


def _log_mass(statement: Statement, censoring: Censoring) -> Expr:
    """The log probability of the interval in which a censoring hides a value."""
    return replace(statement, censored=(replace(censoring, where=sp.S.One),)).log_density


def _density(statement: Statement, at: Mapping[Dim, Expr], x: Leaf) -> Expr:
    """The log density of the hidden values."""
    arguments = {n: substitute(e, at) for n, e in statement.arguments}
    return statement.family.log_density(x, statement.event, **arguments)


def _between(
    statement: Statement, censorings: tuple[Censoring, ...], at: Mapping[Dim, Expr]
) -> Support:
    """The support of the hidden values: each between the bounds of its censoring."""
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
        known_as="imputation of censored values",
        suffix="hidden",
        apply=imputed,
        identity="F(b) - F(a) = integral over a < x < b of the density f(x)",
        source="M. A. Tanner and W. H. Wong (1987), The calculation of posterior distributions by "
        "data augmentation",
    ),
)
