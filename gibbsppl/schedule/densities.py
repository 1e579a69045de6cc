"""Parts of the log densities of steps, put together by each kernel.

Comes in: what a step's ``given_rest`` returned, and values of all arrays. Goes out: the log density
of those values (up to a constant), as an array of terms whose sum counts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.algebra.polynomials import MOST_KEPT, factored
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.changes import Change
from gibbsppl.derive.match_results import Conditional
from gibbsppl.model.density import event_dims, free_elements, kept_entries, regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Statement
from gibbsppl.model.operations import Bools
from gibbsppl.schedule.kinds import LabelDraw
from gibbsppl.schedule.steps import Step


class Changed(Protocol):
    """A step or its conditional, drawn under a change of variable."""

    @property
    def statement(self) -> Statement:
        """The statement whose elements are drawn."""

    @property
    def change(self) -> Change | None:
        """The change of variable."""

    @property
    def place(self) -> Leaf:
        """The leaf that is drawn."""


def log_terms_of(step: Step, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
    """The terms of the log density that a step draws from, at the values of its variable.

    ``drawn`` marks the elements of the array that one call draws, if not all: the log densities of
    other elements do not count.
    """
    with np.errstate(all="ignore"):
        return step.log_terms(given, values, sizes, drawn)


def of_drawn(given: Any, drawn: Any) -> Any:
    """A log density of each element, 0 for those that are not drawn."""
    if drawn is None:
        return given
    return lambda x: np.where(drawn, given(x), 0.0)


def values_in_region(statement: Statement, values: Values, sizes: Sizes) -> Floats:
    """The part of the target's array that the statement fills, in the order of the array's axes."""
    over = regions(statement, sizes)
    value = evaluate(statement.target, over, values, sizes)
    return in_array_order(np.broadcast_to(value, tuple(map(len, over))), statement, over)


def in_array_order(
    value: NDArray[Any], statement: Statement, over: tuple[Range, ...], extra: int = 0
) -> NDArray[Any]:
    """Axes of ranges put in the order of the target's axes; constant indices have length 1."""
    order = [axis_along(index, over) for index in statement.target.indices]
    kept = [axis for axis in order if axis is not None]
    trailing = list(range(value.ndim - extra, value.ndim))
    moved = np.transpose(value, kept + trailing)
    constants = [position for position, axis in enumerate(order) if axis is None]
    return np.asarray(np.expand_dims(moved, constants))


def axis_along(index: Expr, over: tuple[Range, ...]) -> int | None:
    """The axis of ranges that an index goes along; None where it goes along none."""
    return next((a for a, r in enumerate(over) if r.dim in index.free_symbols), None)


def exact_parts(conditional: Conditional, given: Any, values: Values, sizes: Sizes) -> list[Floats]:
    """The terms of an exact draw's log density, each with all elements in the array's order."""
    statement, values = on_new_scale(conditional, values, sizes)
    etas = given if isinstance(given, tuple) else (given,)
    etas, bounds = (etas[:-2], etas[-2:]) if conditional.truncated else (etas, ())
    terms = [
        _statistic_terms(statistic, np.asarray(eta), statement, values, sizes)
        for statistic, eta in zip(conditional.statistics, etas, strict=True)
    ]
    natural, known = conditional.family.natural, dict(conditional.known)
    assert natural is not None
    base = natural.log_base(conditional.place, conditional.event, **known)
    if conditional.change is not None:
        base += log_slope(conditional)
    over = statement.over if conditional.family.event else regions(statement, sizes)
    log_base = evaluate(sp.sympify(base), over, values, sizes)
    log_base = np.broadcast_to(log_base, tuple(map(len, over)))
    if not conditional.family.event:
        log_base = in_array_order(log_base, statement, over)
    terms.append(np.ravel(log_base))
    if bounds:
        terms.append(_between(bounds, statement, values, sizes))
    elif conditional.support.kind == "integer":
        own = (conditional.support.lower, conditional.support.upper)
        found = (evaluate(sp.sympify(b), over, values, sizes) for b in own)
        full = (np.broadcast_to(b, tuple(map(len, over))) for b in found)
        whole = [in_array_order(b, statement, over) for b in full]
        x = values_in_region(statement, values, sizes)
        terms.append(np.ravel(np.where((whole[0] <= x) & (x <= whole[1]), 0.0, -np.inf)))
    return terms


def of_region(density: Any, statement: Statement) -> Floats:
    """The log densities of the elements that a statement fills, or the one number for all."""
    density = np.asarray(density, dtype=float)
    if density.ndim < len(statement.target.indices):
        return np.ravel(density)
    return np.ravel(density[_corner(statement)])


def log_slope(drawn: Changed) -> Expr:
    """``log |du/dx|``, differentiated here: the table's own Jacobian is what is checked."""
    assert drawn.change is not None
    return _log_slope(drawn.change, drawn.statement.target)


@lru_cache(maxsize=MOST_KEPT)
def _log_slope(change: Change, target: Leaf) -> Expr:
    """The slope of a change, worked out once: an integral asks for it at every point."""
    x = sp.Dummy("x", real=True, positive=bool(target.array.is_positive) or None)
    factors = sp.Mul.make_args(factored(sp.diff(change.forward(x), x)))
    powers = (f.as_base_exp() for f in factors)
    return sp.Add(*(e * sp.log(sp.Abs(b)) for b, e in powers)).xreplace({x: target})


def on_new_scale(drawn: Changed, values: Values, sizes: Sizes) -> tuple[Statement, Values]:
    """The statement and the values of the variable that the statistics are of."""
    statement, change = drawn.statement, drawn.change
    if change is None:
        return statement, values
    # (all of the array: what is drawn may depend on elements of other statements)
    shape = np.shape(values[statement.target.array.name])
    target = statement.target
    axes = [i if isinstance(i, Dim) else Dim(f"·{a}") for a, i in enumerate(target.indices)]
    over = tuple(Range(d, 0, n) for d, n in zip(axes, shape, strict=True))
    whole = change.forward(Leaf(statement.target.array, *axes))
    place = Leaf(drawn.place.array, *statement.target.indices)
    new = np.broadcast_to(evaluate(whole, over, values, sizes), shape)
    return replace(statement, target=place), {**values, place.array.name: np.array(new)}


def has_no_digits(step: Step, values: Values, sizes: Sizes) -> bool:
    """Whether a value on the scale that a step draws on is out of the range of numbers.

    Too near to zero to keep digits, or too large.
    """
    if step.change is None:
        return False
    if step.statement.support.is_discrete:  # (counts are shifted, and exact)
        return False
    with np.errstate(all="ignore"):
        statement, changed = on_new_scale(step, values, sizes)
        new = values_in_region(statement, changed, sizes)
        free = free_elements(step.statement, values, sizes)
    drawn = in_array_order(free, step.statement, regions(step.statement, sizes))
    lost = (np.abs(new) < np.finfo(float).tiny) | np.isinf(new)
    return bool((drawn & lost).any())


def _between(bounds: Any, statement: Statement, values: Values, sizes: Sizes) -> Floats:
    """The log indicators that the values are between the bounds."""
    x = values_in_region(statement, values, sizes)
    lower, upper = (_stretched(np.asarray(b, dtype=float), x.shape, statement) for b in bounds)
    return np.ravel(np.where((lower <= x) & (x <= upper), 0.0, -np.inf))


def _statistic_terms(
    statistic: Expr, eta: Floats, statement: Statement, values: Values, sizes: Sizes
) -> Floats:
    """``eta * statistic``, element by element; 0 where either is 0, even times infinity.

    Where ``eta`` is infinite (a probability of one) the statistic counts from its largest value,
    which is certain.
    """
    over, inside = _read_over(statistic, statement, sizes), regions(statement, sizes)

    def read(expr: Expr) -> Floats:
        value = np.broadcast_to(evaluate(expr, over, values, sizes), tuple(map(len, over)))
        if statement.support.kind == "simplex":
            value = np.where(kept_entries(statement, values, sizes), value, 0.0)
        if over[: len(inside)] == inside:
            return in_array_order(value, statement, inside, extra=len(over) - len(inside))
        return value

    value = read(statistic)
    coefficient = _stretched(eta, value.shape, statement, by_event=len(over) < len(inside))
    certain = np.isposinf(coefficient)
    if certain.any():
        largest = read(substitute(statistic, {statement.target: statement.support.upper}))
        value = np.where(certain, value - largest, value)
    return np.ravel(np.where((coefficient == 0) | (value == 0), 0.0, coefficient * value))


def _read_over(statistic: Expr, statement: Statement, sizes: Sizes) -> tuple[Range, ...]:
    """The ranges of a statistic: without the event dims where it is one number per event."""
    inside = regions(statement, sizes)
    event = {r.dim for r in inside[len(statement.over) :]}
    free = dims_of(statistic)
    if event and not event & free:
        return statement.over
    extra = sorted(free - {r.dim for r in inside}, key=str)
    return (*inside, *(Range(d, 0, sizes[d]) for d in extra))


def _corner(statement: Statement) -> tuple[slice, ...]:
    """The part of its array that a statement fills."""
    ranges = {r.dim: slice(r.start, r.stop) for r in statement.over}
    return tuple(
        ranges.get(i, slice(None)) if isinstance(i, Dim) else slice(int(i), int(i) + 1)
        for i in statement.target.indices
    )


def _stretched(
    given: Floats, shape: tuple[int, ...], statement: Statement, *, by_event: bool = False
) -> Floats:
    """Coefficients of a step's whole array, read over the region that the statement fills.

    ``by_event``: there is one number for each event.
    """
    corner: tuple[Any, ...] = _corner(statement)
    if by_event:
        event, places = event_dims(statement), zip(statement.target.indices, corner, strict=True)
        corner = tuple(int(i) if i.is_number else c for i, c in places if i not in event)
    if given.ndim >= len(corner):
        given = given[corner]
    return np.broadcast_to(given, shape)


def label_terms(step: LabelDraw, given: Any, values: Values, sizes: Sizes) -> Floats:
    """The log weight of each label."""
    labels = values_in_region(step.statement, values, sizes)
    weights = log_weights(step, given, labels.shape)
    index = np.rint(labels).astype(int) - step.conditional.lower
    return np.ravel(np.take_along_axis(weights, index[None], axis=0))


def log_weights(step: LabelDraw, given: Any, shape: tuple[int, ...]) -> Floats:
    """The log weights with all axes at full length: label first, then those of the region."""
    logs = [np.asarray(w, dtype=np.float64) for w in given]
    if logs and all(w.shape == logs[0].shape for w in logs):
        corner = _corner(step.statement)
        own = (slice(None), *corner) if logs[0].ndim >= len(corner) else ...
        whole = np.stack(logs)[own]
        whole = whole.reshape(len(logs), *(1,) * (len(shape) + 1 - whole.ndim), *whole.shape[1:])
        return np.array(np.broadcast_to(whole, (len(logs), *shape)))
    return np.stack([_stretched(w, shape, step.statement) for w in logs])


def shape_in_array(statement: Statement, sizes: Sizes) -> tuple[int, ...]:
    """The shape of the part of its array that a statement fills."""
    over = regions(statement, sizes)
    return in_array_order(np.empty(tuple(map(len, over))), statement, over).shape


def probabilities_of(statement: Statement, logs: Floats, sizes: Sizes) -> Floats:
    """Probabilities of labels from log weights in the array's order: (label, ranges)."""
    over = regions(statement, sizes)
    shape = tuple(map(len, over))
    order = in_array_order(np.arange(int(np.prod(shape))).reshape(shape), statement, over)
    logs = logs.reshape(len(logs), -1)
    by_range = np.empty_like(logs)
    by_range[:, order.reshape(-1)] = logs
    # (given what is impossible, no label is possible: then all are as good)
    highest = by_range.max(axis=0)
    away = by_range - np.nan_to_num(highest, neginf=0.0)
    odds = np.exp(np.where(np.isfinite(highest), away, 0.0))
    return np.asarray((odds / odds.sum(axis=0)).reshape(-1, *shape))


def with_label(statement: Statement, label: int, values: Values, sizes: Sizes) -> Values:
    """The values, with one label in all elements of a statement that are not known."""
    name = statement.target.array.name
    there = {**values, name: np.array(values[name])}
    shape = tuple(map(len, regions(statement, sizes)))
    fill(statement, np.full(shape, float(label)), there, sizes)
    return there


def is_in_support(statement: Statement, label: int, values: Values, sizes: Sizes) -> Bools:
    """The mask of elements whose support has a label, in the array's order."""
    over = regions(statement, sizes)
    lower, upper = (
        np.broadcast_to(evaluate(sp.sympify(b), over, values, sizes), tuple(map(len, over)))
        for b in (statement.support.lower, statement.support.upper)
    )
    return in_array_order(np.asarray((lower <= label) & (label <= upper)), statement, over)
