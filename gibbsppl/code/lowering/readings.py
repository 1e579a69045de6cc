"""Statements that read the mean or the mode of a conditional, where a sweep would draw.

Comes in: formulas in the natural parameters of a step, or in what a kernel finds. Goes out: stores
into the arrays of moments, or into the variable itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Span,
    mapped,
    plus,
)
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let, Store
from gibbsppl.code.lowering.draws import carried_out, chain_arguments, local_for, written_for
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.parameters import bound, by_element, parameter
from gibbsppl.code.lowering.selections import Selection, selection
from gibbsppl.code.lowering.workshop import Workshop, positions
from gibbsppl.code.natural import partner_sizes
from gibbsppl.code.readings import Computed, in_order
from gibbsppl.errors import NotLoweredError
from gibbsppl.schedule.kinds import FamilyDraw, LabelDraw
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.parameters import Bound, NaturalParameter


def lower_formulas(
    w: Workshop,
    step: FamilyDraw,
    given: Mapping[str, tuple[Dim, ...]],
    computed: Sequence[Computed],
) -> None:
    """Arrays computed from the natural parameters of a step: whole, of a part, or one by one.

    ``given`` are the names that formulas have for natural parameters and bounds, with their axes.
    """
    dims = w.dims(step.variables[0])
    event = step.statement.event if step.family.event else ()
    own = tuple(dims[a] for a in step.dense) or event
    if step.is_by_element and step.dense:
        raise NotLoweredError(f"{step.name}: vectors that depend on one another.")
    chosen = selection(w, step, own)

    def take() -> None:
        read = _Given.of(w, step, chosen, given)
        with w.with_local(*given):
            for c in in_order(computed):
                _stored(w, step, chosen, own, c, read(w.plain(c.formula)))

    with w.with_dims(partner_sizes(step, w.graph.sizes)), with_maintained(w, step.kept):
        carried_out(w, chosen, take)


@dataclass(frozen=True, slots=True)
class _Given:
    """The arrays that have the natural parameters, and which of their axes these have."""

    arrays: Mapping[str, tuple[str, tuple[int, ...]]]

    @classmethod
    def of(
        cls,
        w: Workshop,
        step: FamilyDraw,
        chosen: Selection,
        given: Mapping[str, tuple[Dim, ...]],
    ) -> _Given:
        """The arrays of a step, made: of one element, if elements are read one by one."""
        every: tuple[NaturalParameter | Bound, ...] = (*step.parameters, *step.bounds)
        outer = set(w.dims(step.variables[0])) - set(step.statement.event)
        found: dict[str, tuple[str, tuple[int, ...]]] = {}
        for name, p in zip(given, every, strict=True):
            kept = tuple(
                a for a, d in enumerate(p.axes) if not chosen.one_by_one or d not in outer
            )
            value = _of_all(w, p, name) if not chosen.one_by_one else chosen.of(_of_one(w, p))
            array = w.fresh(name)
            w.add(Let(array, tuple(w.span(p.axes[a]) for a in kept), value))
            found[name] = array, kept
        return cls(found)

    def __call__(self, formula: Expr) -> Expr:
        """A formula that reads them."""

        def one(e: Expr) -> Expr | None:
            if not isinstance(e, Element) or e.array not in self.arrays:
                return None
            name, kept = self.arrays[e.array]
            return Element(name, tuple(self(e.indices[a]) for a in kept))

        return mapped(formula, one)


def _of_all(w: Workshop, p: NaturalParameter | Bound, name: str) -> Expr:
    """A natural parameter or a bound at all positions of its axes."""
    return bound(w, p) if isinstance(p, Bound) else parameter(w, p, name)


def _of_one(w: Workshop, p: NaturalParameter | Bound) -> Expr:
    """A natural parameter or a bound of one element, by its positions."""
    return bound(w, p) if isinstance(p, Bound) else by_element(w, p)


def _stored(
    w: Workshop,
    step: FamilyDraw,
    chosen: Selection,
    own: tuple[Dim, ...],
    c: Computed,
    value: Expr,
) -> None:
    """An array stored where the step has its elements; ``own`` are the dims of one value."""
    if c.inside is not None:
        # (what is no number is told by the program in NumPy)
        lower, upper = (Number(float(e)) for e in c.inside)
        is_inside = Apply("and", (Apply("below", (lower, value)), Apply("below", (value, upper))))
        value = Apply("where", (is_inside, value, Number(nan)))
    outer = [d for d in w.dims(step.variables[0]) if d not in own]
    is_each = any(d in outer for d in c.dims)
    rest = tuple(w.span(d) for d in c.dims if d not in outer)
    over = chosen.over if is_each and not chosen.one_by_one else ()
    if is_each or chosen.one_by_one:
        value = chosen.of(value)
    target = Element(c.name, tuple(chosen.of(Position(d.name)) for d in c.dims))
    w.add(Store(target, value, (*over, *rest), step.name))


def lower_shares(
    w: Workshop, step: LabelDraw, weights: NaturalParameter, label: Dim, moments: Sequence[Moment]
) -> None:
    """The probabilities of labels from their log weights, and the entropy, of all or of each."""
    shares, entropy = moments
    chosen, array = selection(w, step), step.variables[0]
    over = () if chosen.one_by_one else chosen.over

    def take() -> None:
        value = written_for(w, chosen)(weights, f"{array}_log_weights")
        along, one = w.span(label), Span(w.fresh(f"{array}_one"), ZERO, ONE)
        told = local_for(w, f"{array}_entropy", (*over, one), "float")
        own = chosen.element(array, w.dims(array)).indices
        targets = Element(shares.name, (*own, Position(label.name))), told
        given = (Argument(value, (along,)),)
        w.add(_computed(step, targets, "probabilities", given, over, (along, one)))
        if entropy.dims:
            each = Element(told.array, (*told.indices[:-1], ZERO))
            w.add(Store(Element(entropy.name, own), each, over))
        else:
            w.add(Add(entropy.name, (), told, (*over, one)))

    if not entropy.dims:
        w.add(Store(Element(entropy.name), ZERO))
    with w.with_dims({label: len(step.labels)}):
        carried_out(w, chosen, take)


def lower_likeliest(w: Workshop, step: LabelDraw, weights: NaturalParameter, label: Dim) -> None:
    """The likeliest label of each element, from log weights."""
    chosen, array = selection(w, step), step.variables[0]
    over, lower = () if chosen.one_by_one else chosen.over, step.labels.start

    def take() -> None:
        value = written_for(w, chosen)(weights, f"{array}_log_weights")
        target = chosen.element(array, w.dims(array))
        new = local_for(w, f"{array}_likeliest", over, "int") if lower else target
        given = (Argument(value, (w.span(label),)),)
        w.add(_computed(step, (new,), "likeliest", given, over, ()))
        if lower:
            w.add(Store(target, plus(new, lower), over))

    with w.with_dims({label: len(step.labels)}):
        carried_out(w, chosen, take)


def _computed(
    step: LabelDraw,
    targets: tuple[Element, ...],
    kernel: str,
    arguments: tuple[Argument, ...],
    over: tuple[Span, ...],
    own: tuple[Span, ...],
) -> Draw:
    """A kernel that draws nothing."""
    return Draw(targets, kernel, arguments, over, own, is_random=False, note=step.name)


def lower_chain_shares(
    w: Workshop,
    step: LabelDraw,
    weights: NaturalParameter,
    transitions: NaturalParameter,
    names: tuple[str, str, str],
) -> None:
    """The probabilities of the labels of chains, and of pairs of neighbours, and the entropy."""
    shares, pairs, entropy = names
    array, dims = step.variables[0], w.dims(step.variables[0])
    chain = chain_arguments(w, step, weights, transitions)
    label, one = w.span(weights.axes[0]), Span(w.fresh(f"{array}_one"), ZERO, ONE)
    after = Span(w.fresh(f"{array}_after"), *label.ends)
    told = local_for(w, f"{array}_entropy", (*chain.over, one), "float")
    here = positions(dims)
    now = Element(shares, (*here, Position(label.dim)))
    both = Element(pairs, (*here, Position(label.dim), Position(after.dim)))
    (along,) = chain.own
    arguments = (*chain.weights, Argument(now, (along, label), as_is=True), chain.known)
    own = (along, label, after, one)
    w.add(Store(Element(entropy), ZERO))
    targets = now, both, told
    w.add(_computed(step, targets, "chain_probabilities", arguments, chain.over, own))
    w.add(Add(entropy, (), told, (*chain.over, one)))


def lower_likeliest_chain(
    w: Workshop, step: LabelDraw, weights: NaturalParameter, transitions: NaturalParameter
) -> None:
    """The likeliest labels of each chain, together."""
    array, dims = step.variables[0], w.dims(step.variables[0])
    chain = chain_arguments(w, step, weights, transitions)
    target = Element(array, positions(dims))
    now = Argument(target, chain.own, as_is=True)
    arguments = (*chain.weights, Argument(Number(step.labels.start)), now, chain.known)
    w.add(_computed(step, (target,), "likeliest_chain", arguments, chain.over, chain.own))
