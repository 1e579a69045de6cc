"""The parameters of a family, read off natural parameters: derived from the row's own log density.

The log density with symbols for its parameters is split like any other; what multiplies each
statistic is eta as a function of the parameters, and SymPy inverts it. What it cannot invert (a
matrix equation) stays an equation.

>>> from gibbsppl.families import FAMILIES
>>> reading = reading_of(FAMILIES["Gamma"])
>>> dict(reading.solved)
{'shape': eta_1 + 1, 'rate': -eta_2}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import sympy as sp
from sympy import Add

from gibbsppl.contractions import pull_back
from gibbsppl.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    Leaf,
    Over,
    mentions,
    primed,
    substitute,
)
from gibbsppl.families import Family
from gibbsppl.graph import Range
from gibbsppl.pieces import Piece, expand_logs, split, views_of

EVENT = Dim("k")
SIZE = sp.Symbol("size", positive=True)
VALUE = "·value"
# The sums over the event are kept as sums: no size enters.
FULL = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """Parameters by name as expressions of eta, and the equations that could not be solved.

    ``equations`` are pairs: a leaf of eta, and what it is as an expression of the parameters. The
    event dims are ``k`` and ``k'``.
    """

    etas: tuple[Leaf, ...]
    solved: tuple[tuple[str, Expr], ...]
    equations: tuple[tuple[Expr, Expr], ...]


@cache
def reading_of(family: Family) -> Reading:
    """How the parameters of an exponential family follow from its natural parameters."""
    natural = family.natural
    assert natural is not None
    event = (EVENT, primed(EVENT))[: family.event]
    leaves = {n: _leaf(n, event[: p.event]) for n, p in family.parameters.items()}
    known = {n: leaves[n] for n in natural.known}
    place = _leaf(VALUE, event)
    statistics = tuple(natural.statistics(place, event, **known))
    density = family.log_density(place, event, **leaves) - natural.log_base(place, event, **known)
    over = tuple(Range(d, 0, FULL) for d in event)
    pieces = split(VALUE, _of_one_event(density), (), {VALUE}, dict.fromkeys(event, FULL))
    del over
    coefficients = [_coefficient(s, place, event, pieces) for s in statistics]
    etas = tuple(_leaf(f"eta_{j}", ()) for j in range(1, len(statistics) + 1))
    return _solved(etas, coefficients, {n: v for n, v in leaves.items() if n not in known})


def _leaf(name: str, dims: Sequence[Dim]) -> Leaf:
    return Array(name)[tuple(dims)]


def _of_one_event(density: Expr) -> Expr:
    return density
