"""Draws from families, of labels and of label chains as statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Number,
    Position,
    Span,
    mapped,
    plus,
)
from gibbsppl.code.arrays.statements import Argument, Draw, Let, Store, Type
from gibbsppl.code.lowering.by_form import lower_by_form
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.parameters import bound, by_element, parameter
from gibbsppl.code.lowering.selections import Selection, selection
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.errors import NotLoweredError
from gibbsppl.pieces.dependence import bounds_of, region_of
from gibbsppl.runtime.label_chains import known_labels
from gibbsppl.schedule.element_loops import element_loop
from gibbsppl.schedule.kinds import ChangedDraw, FamilyDraw, LabelDraw, Single
from gibbsppl.schedule.parameters import NaturalParameter


def lower_family(w: Workshop, step: FamilyDraw) -> None:
    """A draw from a family: whole, of a part, or element by element."""
    # (the step may read the values of forms: it is not itself in the schedule then)
    own = w.schedule.step(step.name)
    if w.forms and (loop := element_loop(w.schedule, own)) is not None:
        lower_by_form(w, step, loop)
        return
    if step.draw_function is None:
        raise NotLoweredError(f"{step.name}: {step.how(w.graph)}.")
    event = step.statement.event if step.family.event else ()
    chosen = selection(w, step, event)
    array = step.variables[0]
    kernel = step.draw_function

    def draw() -> None:
        written = written_for(w, chosen)
        own = [tuple(w.span(a) for a in p.axes if a in event) for p in step.parameters]
        found = [
            Argument(written(p, f"{array}_eta_{j}"), o)
            for j, (p, o) in enumerate(zip(step.parameters, own, strict=True), 1)
        ]
        found += [Argument(chosen.of(w.expr(value))) for _, value in step.conditional.known]
        found += [Argument(chosen.of(bound(w, b))) for b in step.bounds]
        if step.alpha is not None:
            now = Argument(current(w, step, chosen), tuple(map(w.span, event)), as_is=True)
            found += [now, Argument(Number(step.alpha))]
        drawn_into(w, step, chosen, kernel, tuple(found), tuple(map(w.span, event)))

    with with_maintained(w, step.kept):
        carried_out(w, chosen, draw)


def lower_labels(w: Workshop, step: LabelDraw, weights: NaturalParameter, label: Dim) -> None:
    """A draw of labels from their log weights."""
    chosen = selection(w, step)
    array, labels = step.variables[0], step.labels

    def draw() -> None:
        weight = written_for(w, chosen)(weights, f"{array}_log_weights")
        arguments = (Argument(weight, (w.span(label),)),)
        drawn_into(w, step, chosen, "labels", arguments, (), lower=labels.start)

    with w.with_dims({label: len(labels)}):
        carried_out(w, chosen, draw)


def written_for(w: Workshop, chosen: Selection) -> Callable[[NaturalParameter, str], Expr]:
    """How the parameters of a draw are computed: for all elements, or for the one that is drawn."""

    def written(p: NaturalParameter, name: str) -> Expr:
        return chosen.of(by_element(w, p) if chosen.one_by_one else parameter(w, p, name))

    return written


def carried_out(w: Workshop, chosen: Selection, draw: Callable[[], None]) -> None:
    """A draw, inside of a loop where elements are drawn one by one."""
    if chosen.one_by_one:
        with w.inside(*chosen.over):
            draw()
    else:
        draw()


def drawn_into(
    w: Workshop,
    step: Single,
    chosen: Selection,
    kernel: str,
    arguments: tuple[Argument, ...],
    own: tuple[Span, ...],
    lower: int = 0,
) -> None:
    """A draw of the elements of a step, which a change of variable or a shift may follow."""
    array = step.variables[0]
    target = chosen.element(array, w.dims(array))
    over = () if chosen.one_by_one else chosen.over
    changed = step if isinstance(step, ChangedDraw) and step.change is not None else None
    if changed is None and lower == 0:
        w.add(Draw((target,), kernel, arguments, over, own, note=step.name))
        return
    kind: Type = "int" if lower else "float"
    stem = step.place.array.name if changed is not None else f"{array}_drawn"
    new = local_for(w, stem, (*over, *own), kind)
    w.add(Draw((new,), kernel, arguments, over, own, note=step.name))
    value = plus(new, lower) if changed is None else undone(w, changed, chosen, new)
    w.add(Store(target, value, (*over, *own)))


def current(w: Workshop, step: Single, chosen: Selection) -> Expr:
    """The current value of what is drawn: of a new variable, if there is one."""
    array = step.variables[0]
    now = chosen.element(array, w.dims(array))
    if not isinstance(step, ChangedDraw) or step.change is None:
        return now
    return mapped_by(w, step, chosen, step.change.forward, now)


def undone(w: Workshop, step: ChangedDraw, chosen: Selection, new: Expr) -> Expr:
    """The value of a variable whose new variable has a value."""
    assert step.change is not None
    return mapped_by(w, step, chosen, step.change.backward, new)


def mapped_by(
    w: Workshop,
    step: ChangedDraw,
    chosen: Selection,
    function: Callable[[sp.Expr], sp.Expr],
    new: Expr,
) -> Expr:
    """A function of a number, with what it reads besides at the elements drawn."""
    dims = w.dims(step.variables[0])
    leaf = Leaf(step.place.array, *dims)
    placed, stands = Element(leaf.array.name, positions(dims)), Element("(new)")
    value = mapped(w.expr(function(leaf)), lambda e: stands if e == placed else None)
    return mapped(chosen.of(value), lambda e: new if e == stands else None)


def local_for(w: Workshop, stem: str, over: Sequence[Span], kind: Type) -> Element:
    """An element of a new array over spans."""
    name = w.fresh(stem)
    w.add(Let(name, tuple(over), Number(0), type=kind, is_empty=True))
    return Element(name, tuple(Position(s.dim) for s in over))


def lower_chain(
    w: Workshop, step: LabelDraw, weights: NaturalParameter, transitions: NaturalParameter
) -> None:
    """A joint draw of the labels of hidden Markov chains."""
    array = step.variables[0]
    chain = chain_arguments(w, step, weights, transitions)
    target = Element(array, positions(w.dims(array)))
    arguments = (
        *chain.weights,
        Argument(Number(step.labels.start)),
        Argument(target, chain.own, as_is=True),
        chain.known,
    )
    kernel = "chain_by_step" if chain.is_by_step else "chain"
    w.add(Draw((target,), kernel, arguments, chain.over, chain.own, note=step.name))


@dataclass(frozen=True, slots=True)
class ChainArguments:
    """The arguments of kernels of chains: log weights, those of neighbours, which are known.

    There is a chain along ``own`` at each position of ``over``; ``is_by_step``: neighbours have
    weights of their own at each.
    """

    weights: tuple[Argument, Argument]
    known: Argument
    over: tuple[Span, ...]
    own: tuple[Span, ...]
    is_by_step: bool


def chain_arguments(
    w: Workshop, step: LabelDraw, weights: NaturalParameter, transitions: NaturalParameter
) -> ChainArguments:
    """The arguments of kernels of the labels of hidden Markov chains."""
    array, dims, axis = step.variables[0], w.dims(step.variables[0]), step.axis
    assert axis is not None
    along = dims[axis]
    label, *_ = weights.axes
    weight = parameter(w, weights, f"{array}_log_weights")
    moves = parameter(w, transitions, f"{array}_log_transitions")
    extra = tuple(a for a in transitions.axes[2:] if a not in dims)
    before = tuple(w.span(a) for a in (*extra, *transitions.axes[:2]))
    over = tuple(w.span(d) for d in dims if d != along)
    own = (w.span(along),)
    known = w.given(f"{array}_is_known", tuple(d.name for d in dims), _known(w, step))
    return ChainArguments(
        (Argument(weight, (*own, w.span(label))), Argument(moves, before)),
        Argument(Element(known, positions(dims)), own, as_is=True),
        over,
        own,
        bool(extra),
    )


def _known(w: Workshop, step: LabelDraw) -> np.ndarray:
    """The mask of the labels of an array that are known."""
    places = [
        (tuple(map(bounds_of, region_of(w.graph, s))), None if s.mask is None else w.data[s.mask])
        for s in step.statements
    ]
    return known_labels(tuple(map(w.size, w.dims(step.variables[0]))), *places)
