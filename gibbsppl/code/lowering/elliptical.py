"""Elliptical slice moves as statements, with the normal part of their log density."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from gibbsppl.code.arrays.expressions import (
    ZERO,
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    mapped,
)
from gibbsppl.code.arrays.statements import Argument, Density, Draw, Let, Store
from gibbsppl.code.lowering.densities import (
    CANDIDATE,
    coefficients_of,
    density_of,
    density_of_all,
)
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.joint import (
    own_dims,
    put_values,
    slots_of,
    with_coefficients,
    with_scales,
)
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.selections import selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.pieces.dependence import bounds_of, region_of
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.joint_tables import Drawn, tables_of
from gibbsppl.schedule.kinds import DensityDraw, QuadraticDraw


def lower_ellipse(w: Workshop, step: DensityDraw, reference: QuadraticDraw) -> None:
    """A move of an array along an ellipse through its value and a draw of its normal part."""
    joint = _joint_of(w, reference)
    tables = tables_of(joint)
    (own,) = tables.arrays
    span = w.own_dim(f"{own.name}_moved", joint.size)
    mean, noise = (local_for(w, f"{own.name}_{n}", (span,), "float") for n in PARTS)
    with with_maintained(w, reference.kept), w.with_dims(own_dims(reference)):
        if reference.pencil is None:
            given = with_coefficients(w, reference, joint, tables)
            w.add(Draw((mean, noise), f"{tables.kernel}_apart", given, own=(span,)))
        else:
            given = with_scales(w, reference, joint)
            w.add(Draw((mean, noise), "pencil_apart", given, own=(span,)))
    if not step.conditional.elements and not joint.pairs:
        _apart(w, step, joint, (mean.array, noise.array))
        return
    tried = local_for(w, f"{own.name}_tried", (span,), "float")
    now = w.fresh(f"{own.name}_before")
    w.add(Let(now, (span,), _element(w, own, joint, span)))
    before = Element(now, (Position(span.dim),))
    vectors = tuple(Argument(e, (span,), as_is=True) for e in (before, mean, noise))
    density = _rest(w, step, joint, own, tried.array)
    move = Draw((tried,), "elliptical", vectors, own=(span,), density=density, note=step.name)
    w.add(move)
    put_values(w, joint, own, tried.array)


def _apart(w: Workshop, step: DensityDraw, joint: Joint, vectors: tuple[str, str]) -> None:
    """Moves of independent elements, each along an ellipse of its own."""
    tables = tables_of(joint)
    (own,), (array,) = tables.arrays, step.variables
    dims, chosen = w.dims(array), selection(w, step)
    coefficients = coefficients_of(w, step)
    slots = np.arange(own.start, tables.size)
    place = chosen.of(slots_of(w, joint, own, array, slots, 0))
    target = chosen.element(array, dims)
    with w.inside(*chosen.over) if chosen.over else nullcontext():
        candidate, drawn_ = w.fresh(CANDIDATE), w.fresh(f"{array}_drawn")
        density = density_of(w, step, chosen, coefficients, candidate)
        arguments = (target, *(Element(n, (place,)) for n in vectors))
        w.add(Let(drawn_, (), ZERO, is_empty=True))
        w.add(
            Draw(
                (Element(drawn_),),
                "ellipse",
                tuple(map(Argument, arguments)),
                density=density,
                note=step.name,
            ),
            Store(target, Element(drawn_)),
        )


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
PARTS = ("mean", "noise")


def _element(w: Workshop, own: Drawn, joint: Joint, span: Span) -> Element:
    """The element of the array that is moved, for each number of a vector."""
    along, shape = (Position(span.dim),), joint.drawn[own.name].shape
    places = np.unravel_index(own.positions, shape) if shape else ()
    tables = (w.given(f"{own.name}_moved_{n}", (span.dim,), p) for n, p in enumerate(places))
    return Element(own.name, tuple(Element(t, along) for t in tables))


def _rest(w: Workshop, step: DensityDraw, joint: Joint, own: Drawn, tried: str) -> Density:
    """The log density besides the normal one, of the array with what is tried in its place."""
    with w.apart() as body:
        put_values(w, joint, own, tried)
        all_tied = step.conditional.elements
        value = density_of_all(w, step) if all_tied else _of_elements(w, step, joint, own, tried)
    return Density(tried, value, tuple(body))


def _of_elements(w: Workshop, step: DensityDraw, joint: Joint, own: Drawn, tried: str) -> Expr:
    """The sum of the log densities of elements whose normal part has products."""
    (array,) = step.variables
    chosen, candidate = selection(w, step), Element(w.fresh(CANDIDATE))
    found = density_of(w, step, chosen, coefficients_of(w, step), candidate.array)
    place = chosen.of(slots_of(w, joint, own, array, np.arange(own.start, joint.size), 0))
    new = Element(tried, (place,))
    value = mapped(found.value, lambda e: new if e == candidate else None)
    return Reduce(value, chosen.over) if chosen.over else value
