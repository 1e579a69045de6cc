"""Censored observations in the form of BUGS: missing values, and the side of each bound.

Comes in: a statement with some values known by bounds alone. Goes out: the values, masked where
censored, and for each bound the ``dinterval`` observation: 1 for values above the bound, else 0.

>>> import gibbsppl as gp
>>> with gp.Model() as model:
...     t = gp.Censored("t", gp.Exponential(rate=2), upper=3, dims="i", observed=[1.5, 4.0])
>>> values, (side,) = sides_of(model, model.graph.statements[0])
>>> print(values, side.bound, side.above)
[1.5 --] 3.0 [0 1]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gibbsppl.algebra.expressions import Expr
from gibbsppl.bugs.grids import Array
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.model import Model
from gibbsppl.model.graph import Statement


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """A bound (an array, or one number for all values), and 1 for each value above, else 0."""

    bound: Array | float
    above: Array


def sides_of(model: Model, statement: Statement) -> tuple[Array, tuple[Side, ...]]:
    """The values, masked where censored, and the side of each bound on which all values are."""
    values = model.known[statement.target.array.name]
    censored = np.zeros(values.shape, dtype=bool)
    found = []
    for censoring in statement.censored:
        here = _known(model, statement, censoring.where) != 0
        censored |= here
        # P(X >= l) is P(X > l - 1) of whole numbers.
        step = 1 if statement.support.is_discrete else 0
        if censoring.lower is not None:
            found.append(_side(values, here, _known(model, statement, censoring.lower) - step, 1))
        if censoring.upper is not None:
            found.append(_side(values, here, _known(model, statement, censoring.upper), 0))
    return np.ma.MaskedArray(values, censored), tuple(found)


def _known(model: Model, statement: Statement, expr: Expr) -> Array:
    """The facts that must be known of a censored variable when it is declared."""
    values = evaluate(expr, statement.over, model.known, model.sizes)
    assert values is not None, expr
    return values


def _side(values: Array, censored: Array, bound: Array, above: int) -> Side:
    """The side of a bound: ``above`` for censored values, by comparison for observed values."""
    first = bound.reshape(-1)[:1]
    told = first[0] if first.size and (bound == first).all() else bound
    return Side(told, np.where(censored, above, 1 * (values > bound)))
