"""The log density that a step's ``given_rest`` defines: one function per kind of step.

Comes in: a step, what its ``given_rest`` returned, and values of all arrays. Goes out: the log
density of those values (up to a constant), as an array of terms whose sum counts.

- exact: one array of natural parameters per statistic, to be summed with the statistics;
- finite: log weights, label axis first, then the axes of the region;
- chain: log weights of the whole array, and log transitions (before, label, then all axes);
- block: the coefficients of ``x[k]`` and of ``x[k] x[l]``, batch axes first;
- joint: the coefficients of elements, of their squares, and of products of two of them;
- move: a function from the whole array to its log density.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, assert_never

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.algebra.polynomials import MOST_KEPT, factored
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.changes import Change
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.match_results import Conditional
from gibbsppl.model.density import event_dims, free_elements, kept_entries, regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Statement
from gibbsppl.schedule.steps import (
    BlockDraw,
    ChainDraw,
    ConcaveDraw,
    ExactDraw,
    FiniteDraw,
    JointDraw,
    Move,
    ScanDraw,
    Step,
)


def log_terms_of(step: Step, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
    """The terms of the log density that a step draws from, at the values of its variable.

    ``drawn`` marks the elements of the array that one call draws, if not all: the log densities of
    other elements do not count.
    """
    with np.errstate(all="ignore"):
        match step:
            case ExactDraw(conditional=conditional):
                return _exact_terms(conditional, given, values, sizes)
            case FiniteDraw() | ScanDraw():
                return _finite_terms(step, given, values, sizes)
            case ChainDraw():
                return _chain_terms(step, given, values)
            case BlockDraw():
                return _block_terms(step, given, values, sizes)
            case JointDraw():
                return _joint_terms(step, given, values, sizes)
            case ConcaveDraw():
                return _concave_terms(step.conditional, _of_drawn(given, drawn), values, sizes)
            case Move(conditional=conditional):
                density = _of_drawn(given, drawn)(np.asarray(values[step.variables[0]]))
                return _of_region(density, conditional.statement)
            case _:
                assert_never(step)


def _of_drawn(given: Any, drawn: Any) -> Any:
    """A log density of each element, 0 for those that are not drawn."""
    if drawn is None:
        return given
    return lambda x: np.where(drawn, given(x), 0.0)


def region_of(statement: Statement, values: Values, sizes: Sizes) -> Floats:
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


def _exact_terms(conditional: Conditional, given: Any, values: Values, sizes: Sizes) -> Floats:
    """Statistics times natural parameters, the base measure, the Jacobian and the bounds."""
    return np.concatenate(exact_parts(conditional, given, values, sizes))


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
        x = region_of(statement, values, sizes)
        terms.append(np.ravel(np.where((whole[0] <= x) & (x <= whole[1]), 0.0, -np.inf)))
    return terms


def _concave_terms(conditional: LogConcave, given: Any, values: Values, sizes: Sizes) -> Floats:
    """The log density on the scale that is drawn, and the Jacobian."""
    statement, changed = on_new_scale(conditional, values, sizes)
    density = _of_region(given(np.asarray(changed[statement.target.array.name])), statement)
    if conditional.change is None:
        return density
    over = regions(statement, sizes)
    slope = evaluate(log_slope(conditional), over, changed, sizes)
    return np.concatenate([density, np.ravel(slope)])


def _of_region(density: Any, statement: Statement) -> Floats:
    """The log densities of the elements that a statement fills, or the one number for all."""
    density = np.asarray(density, dtype=float)
    if density.ndim < len(statement.target.indices):
        return np.ravel(density)
    return np.ravel(density[_corner(statement)])


def log_slope(conditional: Conditional | LogConcave) -> Expr:
    """``log |du/dx|``, differentiated here: the table's own Jacobian is what is checked."""
    assert conditional.change is not None
    return _log_slope(conditional.change, conditional.statement.target)


@lru_cache(maxsize=MOST_KEPT)
def _log_slope(change: Change, target: Leaf) -> Expr:
    """The slope of a change, worked out once: an integral asks for it at every point."""
    x = sp.Dummy("x", real=True, positive=bool(target.array.is_positive) or None)
    factors = sp.Mul.make_args(factored(sp.diff(change.forward(x), x)))
    powers = (f.as_base_exp() for f in factors)
    return sp.Add(*(e * sp.log(sp.Abs(b)) for b, e in powers)).xreplace({x: target})


def on_new_scale(
    conditional: Conditional | LogConcave, values: Values, sizes: Sizes
) -> tuple[Statement, Values]:
    """The statement and the values of the variable that the statistics are of."""
    statement, change = conditional.statement, conditional.change
    if change is None:
        return statement, values
    # (all of the array: what is drawn may depend on elements of other statements)
    shape = np.shape(values[statement.target.array.name])
    target = statement.target
    axes = [i if isinstance(i, Dim) else Dim(f"·{a}") for a, i in enumerate(target.indices)]
    over = tuple(Range(d, 0, n) for d, n in zip(axes, shape, strict=True))
    whole = change.forward(Leaf(statement.target.array, *axes))
    place = Leaf(conditional.place.array, *statement.target.indices)
    new = np.broadcast_to(evaluate(whole, over, values, sizes), shape)
    return replace(statement, target=place), {**values, place.array.name: np.array(new)}


def is_subnormal(step: Step, values: Values, sizes: Sizes) -> bool:
    """Whether a value on the scale that a step draws on is too near to zero to keep digits."""
    if not isinstance(step, ExactDraw | ConcaveDraw) or step.conditional.change is None:
        return False
    if step.statement.support.is_discrete:  # (counts are shifted, and exact)
        return False
    with np.errstate(all="ignore"):
        statement, changed = on_new_scale(step.conditional, values, sizes)
        new = region_of(statement, changed, sizes)
        free = free_elements(step.statement, values, sizes)
    drawn = in_array_order(free, step.statement, regions(step.statement, sizes))
    return bool((drawn & (np.abs(new) < np.finfo(float).tiny)).any())


def _between(bounds: Any, statement: Statement, values: Values, sizes: Sizes) -> Floats:
    """The log indicators that the values are between the bounds."""
    x = region_of(statement, values, sizes)
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


def _finite_terms(step: FiniteDraw | ScanDraw, given: Any, values: Values, sizes: Sizes) -> Floats:
    labels = region_of(step.statement, values, sizes)
    weights = log_weights(step, given, labels.shape)
    index = np.rint(labels).astype(int) - step.conditional.lower
    return np.ravel(np.take_along_axis(weights, index[None], axis=0))


def _chain_terms(step: ChainDraw, given: Any, values: Values) -> Floats:
    """The log weights of all labels, and the log transitions of all pairs of neighbours."""
    weights, transitions = (np.asarray(g, dtype=np.float64) for g in given)
    labels = np.rint(np.asarray(values[step.name])).astype(int) - step.conditional.lower
    full = np.broadcast_to(weights, (len(weights), *labels.shape))
    own = np.take_along_axis(full, labels[None], axis=0)
    count = labels.shape[step.axis]
    before = labels.take(range(count - 1), axis=step.axis)
    after = labels.take(range(1, count), axis=step.axis)
    if transitions.ndim > 2:
        size = len(weights)
        full = np.broadcast_to(transitions, (size, size, *before.shape))
        pairs = full[(before, after, *np.indices(before.shape))]
    else:
        pairs = transitions[before, after]
    return np.concatenate([np.ravel(own), np.ravel(pairs)])


def log_weights(step: FiniteDraw | ScanDraw, given: Any, shape: tuple[int, ...]) -> Floats:
    """The log weights with all axes at full length: label first, then those of the region."""
    return np.stack(
        [_stretched(np.asarray(w, dtype=np.float64), shape, step.statement) for w in given]
    )


def _block_terms(step: BlockDraw, given: Any, values: Values, sizes: Sizes) -> Floats:
    """``sum of eta_1[k] x[k] + sum of eta_2[k, l] x[k] x[l]``, two terms per entry of the batch."""
    eta_1, eta_2 = (np.asarray(part)[step.drawn] for part in given)
    batch, dense = tuple(step.batch), tuple(step.dense)
    moved = np.transpose(region_of(step.statement, values, sizes), batch + dense)
    x = moved.reshape((*moved.shape[: len(batch)], -1))
    size = x.shape[-1]
    eta_1 = eta_1.reshape((*eta_1.shape[: len(batch)], size))
    eta_2 = eta_2.reshape((*eta_2.shape[: len(batch)], size, size))
    linear = (eta_1 * x).sum(axis=-1)
    quadratic = (x * (eta_2 @ x[..., None])[..., 0]).sum(axis=-1)
    return np.concatenate([np.ravel(linear), np.ravel(quadratic)])


def _joint_terms(step: JointDraw, given: Any, values: Values, sizes: Sizes) -> Floats:
    """Coefficients times elements, squares and products of all arrays, known elements too."""
    own, products = given
    terms = []
    for name, (linear, squares) in own.items():
        x = np.asarray(values[name], dtype=float)
        terms += [np.ravel(linear * x), np.ravel(squares * x**2)]
    for pair, coefficients in zip(step.pairs, products, strict=True):
        first, second = (evaluate(e, pair.place, values, sizes) for e in (pair.first, pair.second))
        terms.append(np.ravel(coefficients * first * second))
    return np.concatenate(terms)
