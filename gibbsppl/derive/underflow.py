"""Whether values of a new variable may be too small for numbers, where the old one's are not.

``u = exp(-x)`` is 0 from x = 745 on: where x may be there, draws of u do not follow its law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.analysis.bounds import interval_of, known_bounds
from gibbsppl.derive.readings import Reading
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph

# Less than one in 2**53 values of a density u**(power - 1) is below the smallest number.
LEAST_POWER = 53 * math.log(2) / -math.log(np.finfo(float).tiny)


def may_underflow(reading: Reading, graph: Graph, data: Values) -> bool:
    """Whether more than rare values of an exponential may be too small for a number.

    Near 0 the density is a power, whose exponent is the coefficient of the log. A statistic ``1/u``
    keeps u away from 0; a coefficient of whole numbers alone is not small, or the posterior is
    improper. False where the posterior is improper for all draws: matching reports that.
    """
    change, place = reading.change, reading.place
    if change is None or not change.transform.is_exponential or reading.support.lower != 0:
        return False
    if any(f is not None and 1 / place in f.atoms(sp.Pow) for f in reading.forms):
        return False
    pairs = zip(reading.pieces, reading.forms, strict=True)
    coefficients = [p.coefficient for p, form in pairs if form == sp.log(place)]
    whole = [c for c in coefficients if not c.is_number and _is_whole(c, graph)]
    bounds = known_bounds(graph, data)
    rest, counted = (
        sum(float(interval_of(c, bounds)[0]) for c in some)
        for some in ([c for c in coefficients if c not in whole], whole)
    )
    most = [interval_of(c, bounds)[1] for c in coefficients]
    if max(most, default=0) <= 0 and 1 + sum(most) <= 0:
        return False
    is_counted = bool(whole) and 1.0 + rest <= 0.0 <= counted
    return not is_counted and 1.0 + rest + counted < LEAST_POWER


def _is_whole(expr: Expr, graph: Graph) -> bool:
    """Whether an expression has whole values, as sums and products of whole numbers have."""
    leaves = expr.atoms(Leaf)
    parts = (e.is_Integer or e.is_Add or e.is_Mul or e in leaves for e in _parts(expr))
    return all(parts) and all(graph.variables[x.array.name].integer for x in leaves)


def _parts(expr: Expr) -> Iterator[Expr]:
    """An expression and its parts, but for the indices of arrays."""
    yield expr
    if not isinstance(expr, Leaf):
        for e in expr.args:
            yield from _parts(e)
