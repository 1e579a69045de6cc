"""Random walks of vectors as statements, with the covariance learnt in warm-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, nan, prod

from gibbsppl.code.arrays.expressions import ONE, ZERO, Element, Number, Position, Span, total
from gibbsppl.code.arrays.statements import Add, Argument, Density, Draw, Let, Statement, Store
from gibbsppl.code.lowering.densities import density_of_all, end_of
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.selections import Selection, place_in_one, selection_at_once
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.pieces.dependence import bounds_of
from gibbsppl.runtime.joint import drawn
from gibbsppl.runtime.tuning import (
    ACCEPTED,
    ADAPTS,
    COVARIANCE,
    FACTOR,
    MEAN,
    PROPOSED,
    SCALE,
    SHAPED,
    TARGET,
    field_of,
    moves_of,
)
from gibbsppl.runtime.walks import MANY
from gibbsppl.runtime.walks import ONE as ALONE
from gibbsppl.schedule.kinds import DensityDraw


def lower_vector_walk(
    w: Workshop, step: DensityDraw, scale: float | None, target: float | None
) -> None:
    """A step of each of several vectors in turn, whose log densities are those of the array."""
    chosen = selection_at_once(w, step)
    apart, along = _spans(w, step, chosen)
    own = {s.dim: replace(s, dim=w.fresh(s.dim)) for s in apart}  # (sums run over the dims)
    chosen = Selection(along, {**chosen.at, **{d: Position(s.dim) for d, s in own.items()}})
    apart = tuple(own.values())
    walk = _Walk.of(w, step, scale, target, apart)
    w.add(Store(walk.moves, total([walk.moves, walk.adapts])))
    known = w.fresh("log_density_known")
    w.add(Let(known, (), Number(nan)))
    with w.inside(*apart):
        _one(w, step, chosen, along, walk, known)
    w.walks[step.name] = ()


def _spans(
    w: Workshop, step: DensityDraw, chosen: Selection
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans along which there are several vectors, and those along one vector."""
    dims = w.dims(step.variables[0])
    if step.statement.known != 0:  # (the unknown elements of an array are one vector)
        return (), chosen.over
    joint = {dims[a].name for a in step.joint}
    apart = tuple(s for s in chosen.over if s.dim not in joint)
    return apart, tuple(s for s in chosen.over if s.dim in joint)


def _one(
    w: Workshop,
    step: DensityDraw,
    chosen: Selection,
    along: Sequence[Span],
    walk: _Walk,
    known: str,
) -> None:
    """The step of one vector."""
    array, span = step.variables[0], walk.entry
    here, place = chosen.element(array, w.dims(array)), (place_in_one(along),)
    names = ("before", "lower", "upper", "on_line", "tried")
    now, lower, upper, line, tried = (
        local_for(w, f"{array}_{n}", (span,), "float").array for n in names
    )
    ends = {n: end_of(w, step, chosen, n) for n in ("lower", "upper")}
    values = {now: here, lower: ends["lower"], upper: ends["upper"]}
    w.add(*(Store(Element(n, place), value, tuple(along)) for n, value in values.items()))
    back = Store(here, Element(tried, place), tuple(along))
    density = Density(tried, density_of_all(w, step), (back,))
    taken, scale, shaped = map(w.fresh, ("is_taken", "log_scale", "is_shaped"))
    w.add(*(Let(n, (), ZERO) for n in (taken, scale, shaped)))
    vector = (Position(span.dim),)
    whole = [Argument(Element(n, vector), (span,), as_is=True) for n in (now, lower, upper)]
    numbers = (Element(known), walk.scale, walk.shaped, walk.aim, walk.adapts, walk.moves)
    learnt = [Argument(a, own, as_is=True) for a, own in walk.learnt]
    on_line = Argument(Element(line, vector), (span,), as_is=True)
    arguments = (*whole, *map(Argument, numbers), *learnt, on_line)
    targets = (
        *(Element(tried, vector), *(a for a, _ in walk.learnt)),
        *map(Element, (taken, known, scale, shaped)),
    )
    w.add(
        Draw(targets, "walk_vector", arguments, own=(span,), density=density, note=step.name),
        back,
        *walk.after(Element(taken), Element(scale), Element(shaped)),
    )


@dataclass(frozen=True, slots=True)
class _Walk:
    """The tuning of a walk of vectors in the state, at the vector that moves.

    ``learnt`` are its mean, covariance and the factor of steps, with their spans; ``entry`` is the
    span of the numbers of a vector.
    """

    entry: Span
    scale: Element
    shaped: Element
    aim: Element
    adapts: Element
    moves: Element
    learnt: tuple[tuple[Element, tuple[Span, ...]], ...]
    counts: tuple[str, str]

    @classmethod
    def of(
        cls,
        w: Workshop,
        step: DensityDraw,
        scale: float | None,
        target: float | None,
        apart: Sequence[Span],
    ) -> _Walk:
        """The walk of a step, whose scale is learnt unless it is fixed."""
        size, count = _sizes(w, step, apart)
        stem = step.variables[0]
        vector, entry, partner = (
            w.own_dim(f"{stem}_{n}", k)
            for n, k in (("vector", count), ("entry", size), ("partner", size))
        )
        place = place_in_one(apart) if apart else ZERO
        start = log(scale or 1.0) - (log(size) / 2 if scale is None else 0.0)

        def field(name: str, *own: Span, start: float = 0.0) -> Element:
            full = field_of(step.name, name)
            w.tuning(full, (vector.dim, *(s.dim for s in own)), start=start)
            return Element(full, (place, *(Position(s.dim) for s in own)))

        is_adaptive = scale is None or target is not None
        aim = ALONE if size == 1 else MANY
        matrices = (field(n, entry, partner) for n in (COVARIANCE, FACTOR))
        learnt = ((field(MEAN, entry), (entry,)), *((a, (entry, partner)) for a in matrices))
        accepted = w.tuning(field_of(step.name, ACCEPTED))
        proposed = w.tuning(field_of(step.name, PROPOSED), kind="int")
        return cls(
            entry,
            field(SCALE, start=start),
            field(SHAPED),
            w.tuning(field_of(step.name, TARGET), start=aim if target is None else target),
            w.tuning(field_of(step.name, ADAPTS), kind="int", start=float(is_adaptive)),
            w.tuning(moves_of(step.name), kind="int"),
            learnt,
            (accepted.array, proposed.array),
        )

    def after(self, taken: Element, scale: Element, shaped: Element) -> tuple[Statement, ...]:
        """The statements that count a step, and learn from it."""
        accepted, proposed = self.counts
        return (
            Add(accepted, (), taken, ()),
            Add(proposed, (), ONE, ()),
            Store(self.scale, scale),
            Store(self.shaped, shaped),
        )


def _sizes(w: Workshop, step: DensityDraw, apart: Sequence[Span]) -> tuple[int, int]:
    """The number of elements of each vector, and of vectors."""
    statement = step.statement
    shape = tuple(map(w.size, w.dims(step.variables[0])))
    known = None if statement.mask is None else w.data[statement.mask]
    free = drawn(shape, [tuple(map(bounds_of, step.region))], known)
    joint = range(len(shape)) if not apart else step.joint
    count = prod(n for a, n in enumerate(shape) if a not in joint)
    return int(free.sum()) // max(count, 1), count
