"""The event dims of a distribution's value, and checks that the arguments fit.

A vector's event dims are among the statement's dims; a label's event dim is the dim that the label
points into.
"""

from __future__ import annotations

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, dims_of
from gibbsppl.errors import ModelError
from gibbsppl.language.dim_names import base
from gibbsppl.language.distributions import Distribution

Dims = tuple[Dim, ...]


def event_of(distribution: Distribution, name: str, dims: Dims, hint: Dims = ()) -> Dims:
    """The event dims of a distribution over ``dims``; ``hint`` comes from the array it fills."""
    family = distribution.family
    given = distribution.event or hint
    if family.event:
        return _vector_event(distribution, name, dims, given)
    if any(p.event for p in family.parameters.values()):
        return _label_event(distribution, name, dims, given)
    if distribution.event:
        raise ModelError(
            f"{name}: event={_listed(distribution.event)}, but a value of {family.name} is a "
            "number without dimensions of its own; leave event= out."
        )
    return ()


def check_dims(distribution: Distribution, name: str, dims: Dims, event: Dims) -> None:
    """Every argument has only dims that the statement has; nothing is silently broadcast."""
    batch = [d for d in dims if d not in event]
    for which, tensor in distribution.parameters.items():
        own = _event_of_parameter(distribution, which, event)
        _check_dims_of(f"{name}: {which}", dims_of(tensor.expr), {*batch, *own}, name, dims)
        if len(own) == 2 and not set(own) <= dims_of(tensor.expr):
            raise ModelError(
                f"{name}: {which} is {tensor}; expected a matrix with the dimensions "
                f"({_listed(own)}): the identity is gp.Data of numpy.eye."
            )
    for bound in (distribution.lower, distribution.upper):
        if bound is not None:
            _check_dims_of(f"{name}: a bound", dims_of(bound.expr), set(batch), name, dims)


def _check_dims_of(what: str, found: set[Dim], allowed: set[Dim], name: str, dims: Dims) -> None:
    extra = sorted(d.name for d in found - allowed)
    if extra:
        raise ModelError(
            f"{what} has the dimension {', '.join(map(repr, extra))}, along which one value of "
            f"{name} (dims: {_listed(dims) or 'none'}) cannot vary; add it to dims=, or sum or "
            "index it away."
        )


def _event_of_parameter(distribution: Distribution, which: str, event: Dims) -> Dims:
    match distribution.parameter(which).event:
        case 0:
            return ()
        case 1:
            return event[:1]
        case _:
            return (event[0], primed(event[0]))


def _label_event(distribution: Distribution, name: str, dims: Dims, given: Dims) -> Dims:
    extra = tuple(sorted(_event_argument_dims(distribution) - set(dims), key=str))
    if not given and len(extra) == 1:
        return extra
    # The columns of a square matrix of transitions point into the same positions as its rows.
    if len(given) == 1 and (not extra or extra in (given, (primed(given[0]),))):
        return extra or given
    expected = f"the event dimension {_listed(given)}" if given else "one of them as event"
    raise ModelError(
        f"{name}: the probabilities of {distribution.family.name} have, beside the dims of {name} "
        f"({_listed(dims) or 'none'}), the dimensions {_listed(extra) or 'none'}; expected "
        f'{expected}: name it with event="dim".'
    )


def _vector_event(distribution: Distribution, name: str, dims: Dims, given: Dims) -> Dims:
    family = distribution.family
    if family.event == 2 and len(given) == 1:
        given = (given[0], primed(given[0]))
    event = given or _inferred(distribution, dims)
    square = family.event == 1 or (len(event) == 2 and event[1] == primed(event[0]))
    if len(event) != family.event or not square or not set(event) <= set(dims):
        shape = "one dimension" if family.event == 1 else 'two, ("dim", "dim\'"),'
        raise ModelError(
            f"{name}: a value of {family.name} has {shape} of the dims of {name} "
            f"({_listed(dims) or 'none'}); found {_listed(event) or 'no single choice'}: "
            'name it with event="dim".'
        )
    return event


def _inferred(distribution: Distribution, dims: Dims) -> Dims:
    """The event dims that the dims or the arguments leave no choice about, else none.

    In order: a pair (d, d') among the dims for a matrix; the dim d of which a matrix argument has
    the prime; all dims, if there are as many; the one dim that all event arguments have.
    """
    arguments = _event_argument_dims(distribution)
    if distribution.family.event == 2:
        pairs = [(d, primed(d)) for d in dims if primed(d) in dims]
        return pairs[0] if len(pairs) == 1 else ()
    rows = [d for d in dims if primed(d) in arguments and primed(d) not in dims]
    if len(rows) == 1:
        return (rows[0],)
    if len(dims) == 1:
        return dims
    shared = [d for d in dims if d in arguments]
    return (shared[0],) if len(shared) == 1 else ()


def _event_argument_dims(distribution: Distribution) -> set[Dim]:
    """The dims of all arguments that have event dims."""
    rows = distribution.parameters.items()
    own = (dims_of(t.expr) for n, t in rows if distribution.parameter(n).event)
    return set().union(*own)


def label_dim(distribution: Distribution, event: Dims) -> Dim | None:
    """The dim that the values point into: a label's event dim, unprimed, or ``of=``."""
    if distribution.family.event == 0 and event:
        return Dim(base(event[0]))
    return distribution.of


def _listed(dims: Dims) -> str:
    return ", ".join(d.name for d in dims)
