"""Whether values of a new variable may be too small for numbers, where the old one's are not.

``u = exp(-x)`` is 0 from x = 745 on: where x may be there, draws of u are none of its law.
"""

from __future__ import annotations

import math

import numpy as np
import sympy as sp

from gibbsppl.expressions import Expr, mentions
from gibbsppl.graph import Graph
from gibbsppl.readings import Reading
from gibbsppl.signs import interval_of

# Less than one in 2**53 values of a density u**(power - 1) is below the smallest number.
LEAST_POWER = 53 * math.log(2) / -math.log(np.finfo(float).tiny)


def may_underflow(reading: Reading, graph: Graph) -> bool:
    """Whether more than rare values of an exponential may be too small for a number.

    Near 0 its density is a power, whose exponent is the coefficient of its log: one that variables
    take near 0. Reciprocals keep it away from there.
    """
    change, place = reading.change, reading.place
    if change is None or not change.transform.is_exponential or reading.support.lower != 0:
        return False
    if any(f is not None and 1 / place in f.atoms(sp.Pow) for f in reading.forms):
        return False
    pairs = zip(reading.pieces, reading.forms, strict=True)
    coefficients = [p.coefficient for p, form in pairs if form == sp.log(place)]
    return 1.0 + sum(_least(c, graph) for c in coefficients) < LEAST_POWER


def _least(coefficient: Expr, graph: Graph) -> float:
    """What a coefficient is at least where the posterior is proper; of data, enough."""
    lower = float(interval_of(coefficient, lambda leaf: leaf.array.bounds)[0])
    real = (name for name in graph.drawn if not graph.variables[name].integer)
    is_known = coefficient.is_number or lower > 0 or mentions(coefficient, real)
    return lower if is_known else math.inf
