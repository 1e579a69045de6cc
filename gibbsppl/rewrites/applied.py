"""Data augmentation: a rule applied to a graph, and the graph with the new variable in it.

Comes in: a graph, its data, a rule and the arrays that are in the way. Goes out: `Rewrite` values,
each with the graph before and after. Nothing but the factor of the term is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import sympy as sp

from gibbsppl.algebra.expressions import Expr, leaves_of
from gibbsppl.algebra.supports import Support
from gibbsppl.families import Family, Parameter
from gibbsppl.model.asked import joined
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import MOST_KEPT, Factor, Graph, Potential, Statement, Variable
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule


@dataclass(frozen=True, slots=True, eq=False)
class Rewrite:
    """One rule, applied to the terms of one factor.

    ``statement`` is that of the new variable, which stands in place of ``term``.
    """

    rule: Rule
    factor: str
    term: Expr
    statement: Statement
    before: Graph
    graph: Graph
    data: Values

    @property
    def variable(self) -> str:
        """The name of the new variable."""
        return self.statement.target.array.name


def applications(
    graph: Graph,
    data: Values,
    rule: Rule,
    targets: Collection[str],
    factors: Collection[str] | None = None,
    taken: Collection[str] = (),
) -> Iterator[Rewrite]:
    """Yield the rewrites of all terms that hold a target, each in the graph after the last.

    ``factors`` names the factors to look at: all by default. No new variable has a name that is
    ``taken``.
    """
    for name in factors or [f.name for f in graph.factors]:
        while (rewrite := _first(graph, data, rule, name, targets, taken)) is not None:
            yield rewrite
            graph, data = rewrite.graph, rewrite.data


def _first(
    graph: Graph,
    data: Values,
    rule: Rule,
    name: str,
    targets: Collection[str],
    taken: Collection[str],
) -> Rewrite | None:
    """The rule applied to the first terms of a factor that it fits."""
    factor = next((f for f in graph.factors if f.name == name), None)
    if factor is None:
        return None
    facts = Facts(graph, data, _short_name(factor), frozenset(targets), frozenset(taken))
    found = rule.apply(factor, facts, targets)
    if found is None:
        return None
    term, left, auxiliary = found
    statement, variable = _statement(facts, rule, auxiliary)
    sizes = {**graph.sizes, **auxiliary.sizes}
    sizes |= {r.dim: len(r) for r in auxiliary.ranges if r.dim not in sizes}
    variables = {**graph.variables, variable.name: variable}
    variables |= {n: v for n, (v, _) in auxiliary.tables.items()}
    after = replace(
        with_density(graph, factor, left),
        sizes=sizes,
        variables=variables,
    )
    after = replace(after, statements=(*after.statements, statement))
    if auxiliary.correction != 0:
        own = facts.fresh(f"{statement.name}_ratio")
        correction = Potential(own, auxiliary.correction, auxiliary.ranges, of=factor.name)
        after = replace(after, potentials=(*after.potentials, correction))
    values = joined(data, {n: a for n, (_, a) in auxiliary.tables.items()})
    return Rewrite(rule, name, term, statement, graph, after, values)


def _short_name(factor: Factor) -> str:
    """The name of a factor: for a region of an array that of the array."""
    return factor.target.array.name if isinstance(factor, Statement) else factor.name


def _statement(facts: Facts, rule: Rule, auxiliary: Auxiliary) -> tuple[Statement, Variable]:
    """The statement and the variable that declare an auxiliary variable."""
    name = facts.fresh(f"{facts.factor}_{rule.suffix}")
    dims = (*(r.dim for r in auxiliary.ranges), *auxiliary.event)
    target = auxiliary.array(name)[dims]
    support = auxiliary.support
    row = density_row(support, len(auxiliary.event))
    statement = Statement(
        name,
        target,
        auxiliary.ranges,
        auxiliary.event,
        row,
        (("log", auxiliary.log_density(target)),),
    )
    variable = Variable(name, dims, "random", integer=support.is_discrete, of=auxiliary.of)
    return statement, variable


@dataclass(frozen=True, slots=True, eq=False)
class _DensityRow(Family):
    """A row that stands in no table: it is made again where it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return density_row, (self.support(()), self.event)


def density_row(support: Support, event: int = 0) -> Family:
    """A row without a name: a distribution that is given by its log density and support alone.

    The same row for equal supports, so that equal rewrites make equal statements.
    """
    return _density_row(support, event)


@lru_cache(maxsize=MOST_KEPT)
def _density_row(support: Support, event: int) -> Family:
    return _DensityRow(
        name="",
        parameters={"log": Parameter()},
        support=lambda _event, **_: support,
        log_density=lambda _x, _event, log: log,
        simulate="",
        event=event,
    )


def is_rewritten(statement: Statement) -> bool:
    """Whether a statement is given by a log density and a support alone."""
    return not statement.family.name


def is_tied(auxiliary: Statement, statement: Statement) -> bool:
    """Whether the values that an auxiliary variable can have depend on a variable."""
    support, array = auxiliary.support, statement.target.array.name
    return any(
        leaves_of(bound, (array,))
        for bound in (support.lower, support.upper)
        if not isinstance(bound, int | float)
    )


def with_density(graph: Graph, factor: Factor, density: Expr) -> Graph:
    """The graph with another log density for one of its factors, on the same support.

    A potential without terms is removed.
    """
    if not isinstance(factor, Statement):
        changed = (replace(p, log_density=density) if p is factor else p for p in graph.potentials)
        return replace(graph, potentials=tuple(p for p in changed if p.log_density != 0))
    stated = replace(
        factor,
        family=density_row(factor.support, factor.family.event),
        arguments=(("log", sp.sympify(density)),),
        lower=None,
        upper=None,
        censored=(),
    )
    return replace(graph, statements=tuple(stated if s is factor else s for s in graph.statements))
