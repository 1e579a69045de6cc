"""Constants for the elements of auxiliary arrays without a line that draws them.

Comes in: a model whose statements are made, and the places of elements. Goes out: constants, and
the ranges of places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.language.model import Model
from gibbsppl.model.graph import Constant

Places = Sequence[Range | int | slice]


def not_drawn(
    model: Model, own: str, dims: Sequence[Dim], others: Iterable[Places]
) -> Iterator[Constant]:
    """Constants for the unread elements of an auxiliary array, at other places of its array.

    ``dims`` are the array's dims; the value is any possible one.
    """
    statement = next(s for s in model.declared.statements if s.target.array.name == own)
    value = sp.Integer(0 if statement.support.is_discrete else 1)
    axes = model.declared.variables[own].dims
    for places in others:
        at = {r.dim: r for r in ranges_at(model, dims, places)}
        yield Constant(statement.target.array[axes], tuple(at[d] for d in axes), value)


def ranges_at(model: Model, dims: Sequence[Dim], places: Places) -> tuple[Range, ...]:
    """The ranges of places along the first dims, all positions along the others."""
    given = list(places)
    whole = [slice(0, model.size(d)) for d in dims[len(given) :]]
    return tuple(_range(d, p) for d, p in zip(dims, (*given, *whole), strict=True))


def _range(dim: Dim, place: Range | int | slice) -> Range:
    """The positions along a dim that a place has."""
    if isinstance(place, int):
        return Range(dim, place, place + 1)
    return Range(dim, place.start, place.stop)
