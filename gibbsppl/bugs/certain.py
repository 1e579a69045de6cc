"""Probabilities, or weights, at all positions of a box: by several lines, or to fix known labels.

Comes in: all positions of a box, some of them given by lines. Goes out: expressions.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Space
from gibbsppl.bugs.values import Known


def certain(elements: Elements, space: Space, name: str, event: tuple[Dim, ...]) -> Expr:
    """A probability, or weights, that make known labels certain (unknown labels: the lowest).

    Labels are an array even where all are the same: a probability of 0 for all has no logarithm.
    """
    numbers = elements.facts.numbers[name]
    known = np.where(numbers.known, numbers.values - elements.lowest[name], 0)
    there = tuple(
        slice(start, start + space.sizes[d]) if d in space.sizes else start
        for d, start in space.starts.items()
    )
    values = Grid(space.dims, known[there].astype(int))
    own = elements.data_of(values, f"{name}_there", space.starts)
    return Equals(event[0] if event else sp.S.One, own)


def where_given(evaluator: Evaluator, name: str, own: Expr, other: Expr | None) -> Expr:
    """The parameter ``own`` where a line gives labels, ``other`` (if there is any) elsewhere."""
    within = evaluator.space.within
    if other is None:
        return own
    assert within is not None
    is_given = Known(Grid(within.dims, within.values.astype(int)), text=f"is_{name}")
    return Where(evaluator.expr(is_given), own, other)
