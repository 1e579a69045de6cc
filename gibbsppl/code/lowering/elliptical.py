"""Elliptical slice moves of vectors as statements, with the normal part of their log density."""

from __future__ import annotations

import numpy as np

from gibbsppl.algebra.rounding import growth
from gibbsppl.code.arrays.expressions import (
    TWO,
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.statements import Argument, Density, Draw, Let
from gibbsppl.code.lowering.densities import CANDIDATE, coefficients_of, density_of
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.joint import own_dims, put_values, with_coefficients
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.selections import selection
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.errors import NotLoweredError
from gibbsppl.pieces.dependence import bounds_of, region_of
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.joint_tables import Drawn, is_covered, tables_of
from gibbsppl.schedule.kinds import DensityDraw, QuadraticDraw


def lower_ellipse(w: Workshop, step: DensityDraw, reference: QuadraticDraw) -> None:
    """A move of an array along an ellipse through its value and a draw of its normal part."""
    joint = _joint_of(w, reference)
    if not step.conditional.elements and joint.size > 1:
        raise NotLoweredError(f"{step.name}: independent elements, each on an ellipse of its own.")
    if reference.kept or not is_covered(joint):
        raise NotLoweredError(f"{step.name}: {joint.layout.told}.")
    tables = tables_of(joint)
    (own,) = tables.arrays
    span = w.own_dim(f"{own.name}_moved", joint.size)
    mean, noise, tried = (local_for(w, f"{own.name}_{n}", (span,), "float") for n in PARTS)
    with w.with_dims(own_dims(reference)):
        given = with_coefficients(w, reference, joint, tables)
        w.add(Draw((mean, noise), f"{tables.kernel}_apart", given, own=(span,)))
        part = _quadratic(w, reference)
        now = w.fresh(f"{own.name}_before")
        w.add(Let(now, (span,), _element(w, own, joint, span)))
        before = Element(now, (Position(span.dim),))
        vectors = tuple(Argument(e, (span,), as_is=True) for e in (before, mean, noise))
        density = _rest(w, step, joint, own, tried.array, part)
    move = Draw((tried,), "elliptical", vectors, own=(span,), density=density, note=step.name)
    w.add(move)
    put_values(w, joint, own, tried.array)


def _joint_of(w: Workshop, reference: QuadraticDraw) -> Joint:
    """The joint draw of the elements of some statements, among those of the same array."""
    (name,) = reference.variables
    sizes = tuple(map(w.size, w.dims(name)))
    wanted = np.zeros(sizes, dtype=bool)
    for s in reference.statements:
        known = None if s.mask is None else w.data[s.mask]
        wanted |= drawn(sizes, [tuple(map(bounds_of, region_of(w.graph, s)))], known)
    found = (c for c in w.constants.values() if isinstance(c, Joint))
    return next(
        c for c in found if c.arrays == (name,) and np.array_equal(c.drawn[name], wanted)
    )


# The vectors that a move works with beside the current one.
PARTS = ("mean", "noise", "tried")


def _element(w: Workshop, own: Drawn, joint: Joint, span: Span) -> Element:
    """The element of the array that is moved, for each number of a vector."""
    along, shape = (Position(span.dim),), joint.drawn[own.name].shape
    places = np.unravel_index(own.positions, shape) if shape else ()
    tables = (w.given(f"{own.name}_moved_{n}", (span.dim,), p) for n, p in enumerate(places))
    return Element(own.name, tuple(Element(t, along) for t in tables))


def _rest(
    w: Workshop, step: DensityDraw, joint: Joint, own: Drawn, tried: str, part: Expr
) -> Density:
    """The log density besides the normal one, of the array with what is tried in its place."""
    with w.apart() as body:
        put_values(w, joint, own, tried)
        value = _whole(w, step) if step.conditional.elements else _of_one(w, step, tried)
    return Density(tried, total([value, negative(part)]), tuple(body))


def _whole(w: Workshop, step: DensityDraw) -> Expr:
    """The log density of all elements."""
    terms = sorted(step.terms, key=lambda c: -growth(c.value, step.place.array.name))
    return total([w.expr(c.value) for c in terms])


def _of_one(w: Workshop, step: DensityDraw, tried: str) -> Expr:
    """The log density of a single element, a function of a number."""
    candidate = w.fresh(CANDIDATE)
    w.add(Let(candidate, (), Element(tried, (ZERO,))))
    found = density_of(w, step, selection(w, step), coefficients_of(w, step), candidate)
    w.add(*found.body)
    return found.value


def _quadratic(w: Workshop, reference: QuadraticDraw) -> Expr:
    """The normal log density of the array, with coefficients that are computed before."""
    found: list[Expr] = []
    each = zip(reference.variables, reference.linear, reference.squares, strict=True)
    for name, linear, squares in each:
        here = Element(name, positions(w.dims(name)))
        spans = tuple(map(w.span, w.dims(name)))
        for q, power in zip((linear, squares), (here, Apply("**", (here, TWO))), strict=True):
            if q.contributions:
                found.append(_summed(w, parameter(w, q, f"{name}_quadratic"), power, spans))
    for pair in reference.pairs:
        if pair.parameter.contributions:
            value = parameter(w, pair.parameter, "products_quadratic")
            both = product([w.expr(pair.first), w.expr(pair.second)])
            found.append(_summed(w, value, both, w.spans(pair.place)))
    return total(found)


def _summed(w: Workshop, value: Expr, of: Expr, spans: tuple[Span, ...]) -> Expr:
    """The sum of coefficients times what they are of."""
    name = w.fresh("quadratic_coefficients")
    w.add(Let(name, spans, value))
    coefficient = Element(name, tuple(Position(s.dim) for s in spans))
    body = product([coefficient, of])
    return Reduce(body, spans) if spans else body
