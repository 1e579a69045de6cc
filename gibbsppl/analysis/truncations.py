"""Truncation and censoring bounds, checked to be inside of the family's support.

Comes in: a graph and its data. Goes out: an error unless the bounds are inside for all draws: the
distribution function is written for values inside, and a support ends at the bound alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.bounds import Side, is_written_inside, outside_by
from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.bounds import ends_of
from gibbsppl.errors import ModelError
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import PLAIN, Graph, Statement
from gibbsppl.model.positions import place


def check_truncations(graph: Graph, data: Values) -> None:
    """Raise an error where a bound may be beyond the end of the support."""
    for statement in graph.statements:
        support = statement.family.support(statement.event, **dict(statement.arguments))
        if support.kind in ("real", "integer"):
            for bound in _bounds(statement, support):
                if not is_written_inside(bound.given, bound.own, bound.side):
                    _check_inside(graph, data, statement, bound)


def is_surely_inside(
    given: Expr, own: Expr, side: Side, over: tuple[Range, ...], graph: Graph, data: Values
) -> bool:
    """Whether a bound is inside of another, whatever is drawn, data being known."""
    if is_written_inside(given, own, side):
        return True
    _, most = ends_of(outside_by(given, own, side), over, graph, data)
    return bool((most <= 0).all())


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound as given, the support's own end, and the indicator of positions with the bound."""

    side: Side
    given: Expr
    own: Expr
    where: Expr


def _bounds(statement: Statement, support: Support) -> Iterator[_Bound]:
    """Yield the bounds that truncate a statement or censor its values."""
    sides: tuple[Side, Side] = ("lower", "upper")
    for side in sides:
        own = sp.sympify(getattr(support, side))
        if (given := getattr(statement, side)) is not None:
            yield _Bound(side, sp.sympify(given), own, sp.S.One)
        for censoring in statement.censored:
            if (given := getattr(censoring, side)) is not None:
                yield _Bound(side, sp.sympify(given), own, censoring.where)


def _check_inside(graph: Graph, data: Values, statement: Statement, bound: _Bound) -> None:
    side, given, own, over = bound.side, bound.given, bound.own, statement.over
    _, most = ends_of(outside_by(given, own, side), over, graph, data)
    bad = (most > 0) & (evaluate(bound.where, over, data, graph.sizes) != 0)
    if not bad.any():
        return
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
    word, function = ("below", "maximum") if side == "lower" else ("above", "minimum")
    written, end = PLAIN.text(given), PLAIN.text(own)
    is_certain = given.is_number and own.is_number
    verb = "is" if is_certain else "may be"
    advice = "leave it out" if is_certain else f"write {side}=gp.{function}({end}, {written})"
    raise ModelError(
        f"{statement.name}: truncated or censored {word} at {written}, which {verb} {word} {end}, "
        f"the {side} end of {statement.family.name}{place(at, over, graph.labels)}; expected a "
        f"bound inside of the support, whatever is drawn: {advice}."
    )
