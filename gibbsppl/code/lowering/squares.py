"""Sums of squares about a centre, so that a sweep need not read the data.

``S(x)`` is ``S(x0)``, plus a slope times ``x - x0``, plus a quadratic form in ``x - x0``: all but x
is computed once (`gibbsppl.derive.centring`).
"""

from __future__ import annotations

import numpy as np

from gibbsppl.code.arrays.contraction import contracted
from gibbsppl.code.arrays.evaluation import computed
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.derive.centring import RESIDUAL, Centred
from gibbsppl.model.evaluation import Sizes, Values
from gibbsppl.runtime.least_squares import centred
from gibbsppl.runtime.types import Array, Floats


def values_at_centre(
    about: Centred, base: Let, adjoints: tuple[Let, ...], data: Values, sizes: Sizes
) -> tuple[Array, ...]:
    """The sum of squares at the centre; the centre of each array, and the slope there.

    ``base`` is what is squared, F; ``adjoints`` are the adjoint of F along each array: sums over
    groups are made by additions.
    """
    names = [p.name for p in about.parts]
    shape = tuple(map(len, about.ranges))
    ends = tuple(slice(r.start, r.stop) for r in about.ranges)
    own = {d.name: n for d, n in sizes.items()}
    forward, back = (contracted(Sweep("", {}, s)).statements for s in ((base,), adjoints))

    def residual(*arrays: Floats) -> Floats:
        found = computed(forward, {**data, **dict(zip(names, arrays, strict=True))}, own)
        return np.asarray(found[base.name], dtype=float)[ends]

    def adjoint(left: Floats) -> tuple[Floats, ...]:
        found = computed(back, {**data, RESIDUAL: left}, own)
        return tuple(found[a.name].astype(float) for a in adjoints)

    shapes = (tuple(sizes[d] for d in p.dims) for p in about.parts)
    return tuple(map(np.asarray, centred(residual, adjoint, shape, *shapes)))


def expanded(
    about: Centred,
    names: tuple[str, ...],
    forms: tuple[Expr, ...],
    spans: dict[str, tuple[Span, ...]],
) -> Expr:
    """The sum of squares, of tables with these names: the sum at the centre, then by array.

    ``forms`` are the terms of the quadratic form, in the distances from the centre.
    """
    first, centres, slopes = names[0], names[1::2], names[2::2]
    away: dict[str, tuple[str, str]] = {}
    terms: list[Expr] = [Element(first)]
    for part, centre, slope in zip(about.parts, centres, slopes, strict=True):
        away[part.away] = (part.name, centre)
        here = tuple(Position(d.name) for d in part.dims)
        distance = total([Element(part.name, here), negative(Element(centre, here))])
        value = product([Element(slope, here), distance])
        terms.append(Reduce(value, spans[part.name]) if part.dims else value)

    def one(e: Expr) -> Expr | None:
        if isinstance(e, Element) and e.array in away:
            name, centre = away[e.array]
            return total([Element(name, e.indices), negative(Element(centre, e.indices))])
        return None

    return total([*terms, *(mapped(f, one) for f in forms)])
