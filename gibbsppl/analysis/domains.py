"""Domains: constraints on the variables in a parameter that could leave its support.

Comes in: a graph and its data. Goes out: the graph with a potential for each such parameter, the
log of an indicator, unless it is known to stay inside. A density exists for parameters on their
support alone: ``Poisson(1 + b)`` says that ``b`` is at least -1, whatever was counted. The
potential *guards* its statement. The declared graph keeps parameters as they are spelled, for the
checks to compare with; conditionals are derived from canonical parameters alone.

>>> import gibbsppl as gp
>>> with gp.Model() as model:
...     b = gp.Normal("b", mu=0, tau=1)
...     y = gp.Poisson("y", rate=1 + b, observed=0)
>>> [str(p) for p in within_domains(model.graph, model.data).potentials]
['log density += log([0 <= b + 1])']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp

from gibbsppl.algebra.bounds import Side, outside_by
from gibbsppl.algebra.expressions import Expr, Over, dims_of, mentions
from gibbsppl.algebra.functions import AtMost, Where
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.bounds import NONPOSITIVE, at_corners, known_bounds, sign_of
from gibbsppl.analysis.shares import runs_over_shares
from gibbsppl.analysis.truncations import is_surely_inside
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Potential, Statement


def within_domains(graph: Graph, data: Values) -> Graph:
    """The graph with the limits of families on the variables in their parameters."""
    found = tuple(p for s in graph.statements for p in _limits(s, graph, data))
    return replace(graph, potentials=(*graph.potentials, *found))


def without_spellings(graph: Graph) -> Graph:
    """The graph with canonical parameters alone, from which conditionals are derived."""
    return replace(graph, statements=tuple(replace(s, spelled=()) for s in graph.statements))


def _limits(statement: Statement, graph: Graph, data: Values) -> Iterator[Potential]:
    family = statement.family
    for name, argument in statement.spelled or statement.arguments:
        parameter = family.written[name]
        if parameter.event > 0 or not mentions(argument, graph.drawn):
            continue
        if sides := tuple(_open_sides(statement, argument, parameter.support, graph, data)):
            over = tuple(r for r in statement.over if r.dim in dims_of(argument))
            told = f"{statement.name}: {name}"
            yield Potential(told, sp.log(sp.Mul(*sides)), over, guards=statement.name)


def _open_sides(
    statement: Statement, argument: Expr, support: Support, graph: Graph, data: Values
) -> Iterator[Expr]:
    """An indicator for each side of the support that a parameter may pass."""
    own = statement.support
    # (an end of an interval that is not empty is beyond the other end)
    least = own.lower if argument == own.upper else argument
    most = own.upper if argument == own.lower else argument
    sides: tuple[tuple[Side, Expr, Expr], ...] = (
        ("lower", least, AtMost(support.lower, argument)),
        ("upper", most, AtMost(argument, support.upper)),
    )
    for side, given, indicator in sides:
        end = sp.sympify(getattr(support, side))
        if not _stays_inside(given, end, side, statement.over, graph, data):
            yield indicator


def _stays_inside(
    given: Expr, end: Expr, side: Side, over: tuple[Range, ...], graph: Graph, data: Values
) -> bool:
    """Whether a value is inside of an end whatever is drawn: by signs, or element by element."""
    if isinstance(given, Where):
        return all(_stays_inside(g, end, side, over, graph, data) for g in given.args[1:])
    bounds = known_bounds(graph, data)
    outside = _averaged(outside_by(given, end, side), graph)
    # (as one quotient, terms may cancel: a/(a + b) - 1 is -b/(a + b))
    above, below = sp.fraction(sp.together(outside))
    ways = (outside, multiplied_out(above) / below)
    if any(sign_of(way, bounds) in NONPOSITIVE for way in ways):
        return True
    corners = at_corners(multiplied_out(outside), bounds)
    if corners is not None and all(value.is_nonpositive for value in corners):
        return True
    return is_surely_inside(given, end, side, over, graph, data)


def _averaged(expr: Expr, graph: Graph) -> Expr:
    """``sum(w f) - c`` as ``sum(w (f - c))``, where the weights are all of a simplex.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"k": 2}) as model:
    ...     w = gp.Dirichlet("w", a=1, dims="k", event="k")
    ...     q = gp.Beta("q", 1, 1, dims="k")
    >>> _averaged((w * q).sum("k").expr - 1, model.graph)
    sum((q[k] - 1)*w[k], k)
    """
    for term in sp.Add.make_args(expr):
        if isinstance(term, Over) and len(term.bound) == len(term.args) - 1:
            (dim,) = term.bound
            weights = [f for f in sp.Mul.make_args(term.body) if runs_over_shares(f, dim, graph)]
            if weights and dim not in dims_of(expr):
                rest = term.body / weights[0]
                return Over(weights[0] * (rest + expr - term), dim)
    return expr
