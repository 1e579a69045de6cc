"""Proposals about a mode as statements: a kernel asks for a log density to second order.

Where the kernel asks, the elements tried are put into the state; where it wants the gradient and
the second derivatives, they are added where a joint draw has its coefficients (`joint`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Element,
    Number,
    Position,
    Span,
    total,
)
from gibbsppl.code.arrays.statements import (
    Add,
    Argument,
    Choice,
    Density,
    Draw,
    Let,
    Store,
)
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.joint import (
    add_linear,
    add_second_degree,
    layout_arguments,
    own_dims,
    placed,
    put_values,
    take_values,
    whole,
)
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.derive.batches import along
from gibbsppl.derive.contractions import Contribution
from gibbsppl.runtime.joint import Joint, joint_in
from gibbsppl.runtime.joint_tables import Tables, tables_of
from gibbsppl.runtime.loops.modal_steps import OF_BATCH, TO_SECOND_ORDER
from gibbsppl.runtime.modal import BATCH, LEFT, OF_TARGET, THRESHOLD
from gibbsppl.runtime.tuning import (
    ACCEPTED,
    ADAPTS,
    CENTRE,
    ENTRIES,
    JUDGED,
    LAST,
    MOVES,
    PLACED,
    PROPOSALS,
    PROPOSED,
    SHARE,
    field_of,
)
from gibbsppl.schedule.kinds import QuadraticDraw


def lower_modal(
    w: Workshop, step: QuadraticDraw, terms: Sequence[Contribution], *, fixed: bool, batches: bool
) -> None:
    """A step of all elements of several arrays; ``fixed``: all else is data.

    Proposals may be made in ``batches``, whose log densities are evaluated side by side.
    """
    joint = joint_in(w.constants, step.name)
    tables, stem = tables_of(joint), "_".join(step.variables)
    dims = tuple(map(w.dims, step.variables))
    span = w.own_dim(f"{stem}_moved", joint.size, dims)
    drawn = w.own_dim(f"{stem}_drawn", joint.size + 1, (*dims, ()))
    stored = w.own_dim(f"{stem}_entries", tables.stored + 1)
    now, base, noise, tried = (
        local_for(w, f"{stem}_{n}", (span,), "float") for n in ("before", "base", "step", "tried")
    )
    linear = local_for(w, f"{stem}_linear", (drawn,), "float").array
    flag = w.own_dim(f"{stem}_flag", OF_BATCH + 1)
    wanted = local_for(w, f"{stem}_wanted", (flag,), "int").array

    def field(name: str, *own: Span, kind: str = "float", start: float = 0.0) -> Element:
        full = field_of(step.name, name)
        w.tuning(full, tuple(s.dim for s in own), "int" if kind == "int" else "float", start)
        return Element(full, tuple(Position(s.dim) for s in own))

    batch = _Batch.of(w, stem, joint.size * batches, field)
    filled, centre, last = field(ENTRIES, stored), field(CENTRE, span), field(LAST, span)
    share, adapts = field(SHARE, start=1.0), field(ADAPTS, kind="int", start=1.0)
    moves = field(MOVES, kind="int")
    accepted, proposed = field(ACCEPTED), field(PROPOSED, kind="int")
    w.add(Store(moves, total([moves, adapts])))
    for own in tables.arrays:
        take_values(w, joint, own, now.array)
    filling = ((filled.array, stored), (linear, drawn))
    asked = (tried.array, wanted)
    density = _density(w, step, terms, (joint, tables), asked, filling)
    if batches:
        density = _with_batch(w, step, terms, (joint, tables), density, wanted, batch)
    diagonal = w.given(f"{stem}_diagonal", (span.dim,), tables.squares)
    taken, learnt = (w.fresh(n) for n in ("is_taken", "share_learnt"))
    w.add(*(Let(n, (), ZERO) for n in (taken, learnt)))
    flags = (Number(int(is_so)) for is_so in (batches, fixed, bool(step.last)))
    arguments = (
        *(whole(x.array, span) for x in (now, base, noise)),
        whole(filled.array, stored),
        whole(linear, drawn),
        *layout_arguments(w, step, joint, tables),
        whole(diagonal, span),
        whole(centre.array, span),
        whole(last.array, span),
        *batch.arguments,
        *map(Argument, (share, adapts, moves, *flags)),
        whole(wanted, flag),
    )
    targets = (tried, centre, last, batch.proposals, batch.judged, *map(Element, (taken, learnt)))
    kernel = tables.kernel.replace("joint", "modal")
    w.add(Draw(targets, kernel, arguments, own=(span,), density=density, note=step.name))
    for own in tables.arrays:
        put_values(w, joint, own, tried.array)
    w.add(
        Add(accepted.array, (), Element(taken), ()),
        Add(proposed.array, (), ONE, ()),
        Store(share, Element(learnt)),
    )
    w.walks[step.name] = ()


def _density(
    w: Workshop,
    step: QuadraticDraw,
    terms: Sequence[Contribution],
    layout: tuple[Joint, Tables],
    asked: tuple[str, str],
    filling: tuple[tuple[str, Span], tuple[str, Span]],
) -> Density:
    """The log density at what is tried, and where it is wanted the same to second order.

    ``filling`` are the arrays of the entries of the precision, and of the gradient.
    """
    (joint, tables), (tried, wanted) = layout, asked
    (filled, _), (linear, _) = filling
    with w.apart() as body:
        for own in tables.arrays:
            put_values(w, joint, own, tried)
        height = w.fresh(f"{'_'.join(step.variables)}_log_density")
        w.add(Let(height, (), total([w.plain(t.value) for t in terms])))
        with w.apart() as second, w.with_dims(own_dims(step)):
            for name, span in filling:
                w.add(Store(Element(name, (Position(span.dim),)), ZERO, (span,)))
            with with_maintained(w, step.kept):
                add_linear(w, step, joint, tables, linear)
                add_second_degree(w, step, joint, tables, filled)
        is_wanted = Element(wanted, (Number(TO_SECOND_ORDER),))
        w.add(Choice(is_wanted, ((), tuple(second))))
    return Density(tried, Element(height), tuple(body))


@dataclass(frozen=True, slots=True)
class _Batch:
    """The arrays of what holds on, of the proposals of a batch, and of what is known of these."""

    placed: Element
    proposals: Element
    judged: Element
    spans: tuple[tuple[Span, ...], ...]

    @classmethod
    def of(cls, w: Workshop, stem: str, size: int, field: Callable[..., Element]) -> _Batch:
        """The arrays of a batch of vectors of a size; none if that is 0."""
        together = w.own_dim(f"{stem}_batch", BATCH if size else 0)
        facts = w.own_dim(f"{stem}_facts", LEFT + 1)
        known = w.own_dim(f"{stem}_judged", THRESHOLD + 1)
        spans = (facts,), (w.own_dim(f"{stem}_in_batch", size), together), (known, together)
        names = (PLACED, PROPOSALS, JUDGED)
        found, proposals, judged = (field(n, *own) for n, own in zip(names, spans, strict=True))
        return cls(found, proposals, judged, spans)

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arrays as a kernel has them."""
        arrays = (self.placed, self.proposals, self.judged)
        return tuple(whole(x.array, *own) for x, own in zip(arrays, self.spans, strict=True))


def _with_batch(
    w: Workshop,
    step: QuadraticDraw,
    terms: Sequence[Contribution],
    layout: tuple[Joint, Tables],
    density: Density,
    wanted: str,
    batch: _Batch,
) -> Density:
    """The log density, or where they are wanted those of the proposals of a batch."""
    joint, tables = layout
    # (a loop over a number of lanes that is not known when it is compiled is done several at once)
    lanes = w.own_dim("proposal", BATCH, ((),) * BATCH)
    axis = Dim(lanes.dim)
    own = {n: w.graph.variables[n] for n in step.variables}
    names = {n: w.fresh(f"{n}_proposed") for n in own}
    more = {names[n]: replace(v, name=names[n], dims=(*v.dims, axis)) for n, v in own.items()}
    before, w.graph = w.graph, replace(w.graph, variables={**w.graph.variables, **more})
    w.lanes.add(axis.name)
    with w.apart() as body, w.with_dims({axis: BATCH}):
        for drawn in tables.arrays:
            place, indices, over = placed(w, joint, drawn)
            dims = (*map(w.span, w.dims(drawn.name)), lanes)
            here = Element(names[drawn.name], (*indices, Position(axis.name)))
            value = Element(batch.proposals.array, (place, Position(axis.name)))
            if joint.drawn[drawn.name].all():
                w.add(Let(here.array, dims, value))
            else:
                known = Element(drawn.name, positions(w.dims(drawn.name)))
                w.add(Let(here.array, dims, known), Store(here, value, (*over, lanes)))
        found = w.fresh(f"{'_'.join(step.variables)}_log_densities")
        moved = along(axis, BATCH, names, terms)
        w.add(
            Let(found, (lanes,), total([w.plain(t.value) for t in moved])),
            Store(
                Element(batch.judged.array, (Number(OF_TARGET), Position(axis.name))),
                Element(found, (Position(axis.name),)),
                (lanes,),
            ),
        )
    w.graph = before
    height = w.fresh(f"{'_'.join(step.variables)}_height")
    value = Element(height)
    one = (*density.body, Store(value, density.value))
    chosen = Choice(Element(wanted, (Number(OF_BATCH),)), (one, tuple(body)))
    return replace(density, value=value, body=(Let(height, (), ZERO), chosen))
