"""Values of which only bounds are known: the value itself is the auxiliary variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import sympy as sp

from gibbsppl.expressions import Dim, Expr, Leaf, substitute
from gibbsppl.graph import Censoring, Statement
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule, no_terms
from gibbsppl.rewrites.tables import rows_where
from gibbsppl.supports import Support


def imputed(statement: Statement, facts: Facts) -> tuple[Expr, Auxiliary] | None:
    """The first of the censorings of a statement, with the values that it hides as variables."""
    if statement.lower is not None or statement.upper is not None or statement.family.event:
        return None
    if statement.support.kind != "real":
        return None
    for censoring in statement.censored:
        if not _is_gate(censoring.where, statement, facts):
            continue
        table = rows_where(censoring.where, statement.over, facts)
        if table is None:
            continue
        left = _without(statement, censoring).log_density - censoring.where * _own(statement)
        return left, Auxiliary(
            _between(statement, censoring, table.positions),
            partial(_density, statement, table.positions),
            (table.range,),
            sizes=table.sizes,
            tables=table.arrays,
        )
    return None


def _is_gate(where: Expr, statement: Statement, facts: Facts) -> bool:
    if not facts.is_data(where):
        return False
    return bool(np.isin(facts.values(where, statement.over), (0, 1)).all())


def _own(statement: Statement) -> Expr:
    """The log density of a value that is seen."""
    return statement.family.log_density(
        statement.target, statement.event, **dict(statement.arguments)
    )


def _without(statement: Statement, censoring: Censoring) -> Statement:
    """The statement as if the values of one censoring were seen."""
    kept = tuple(c for c in statement.censored if c is not censoring)
    return replace(statement, censored=kept)


def _density(statement: Statement, at: Mapping[Dim, Expr], x: Leaf) -> Expr:
    """The log density of the values that are not seen."""
    arguments = {n: substitute(e, at) for n, e in statement.arguments}
    return statement.family.log_density(x, statement.event, **arguments)


def _between(statement: Statement, censoring: Censoring, at: Mapping[Dim, Expr]) -> Support:
    support = statement.support
    bounds = (censoring.lower, censoring.upper)
    lower, upper = (b if b is None else substitute(sp.sympify(b), at) for b in bounds)
    return support.narrowed(lower, upper)


RULES = (
    Rule(
        name="hidden value",
        head=(),
        suffix="hidden",
        apply=no_terms,
        identity="F(b) - F(a) = integral over a < x < b of the density f(x)",
        source="M. A. Tanner and W. H. Wong (1987), The calculation of posterior distributions by "
        "data augmentation",
        of_statement=imputed,
    ),
)
