"""The expected arguments of a call that draws, and the expected place of its result.

Comes in: a step, with all values before the draw and what its ``given_rest`` returns. Goes out:
the mistake in a call. The expected value of a parameter follows from its name (``EXPECTED``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from gibbsppl.algebra.expressions import Expr, Leaf, mentions
from gibbsppl.algebra.ranges import Range
from gibbsppl.checks.terms import Given
from gibbsppl.code.program import State
from gibbsppl.model.density import event_dims
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.steps import Step

# Arguments are computed twice by the same operations, in another order at most.
ROUNDING = 1e-9

Mask = NDArray[np.bool_]
# An index by arrays, one for each axis.
Index = tuple[np.ndarray | slice, ...]
# An argument of a call of the runtime: an array, a shape, a name, a function.
Argument = Any


@dataclass(frozen=True, slots=True)
class Call:
    """A drawing call: the step, all values before the call, and the drawn elements."""

    step: Step
    graph: Graph
    values: Values
    given: Given
    handed: Given
    free: Mask
    at: Index | None

    @property
    def array(self) -> np.ndarray:
        """The array that is drawn, as it was before."""
        return np.asarray(self.values[self.step.variables[0]])

    @property
    def where(self) -> Mask | Index:
        """The index of the drawn elements."""
        return self.free if self.at is None else self.at

    @property
    def is_whole(self) -> bool:
        """Whether all elements of the array are drawn at once."""
        return self.at is None and bool(self.free.all())

    def everywhere(self, expr: Expr) -> Floats:
        """The value of an expression of the array's dims at all its positions."""
        dims = self.graph.variables[self.step.variables[0]].dims
        over = tuple(Range(d, 0, n) for d, n in zip(dims, self.array.shape, strict=True))
        found = evaluate(sp.sympify(expr), over, self.values, self.graph.sizes)
        return np.broadcast_to(found, self.array.shape)

    def part(self, array: ArrayLike, lead: int = 0, inner: int = 0) -> np.ndarray:
        """The drawn part of an array with ``lead`` axes before and ``inner`` after its own."""
        value = np.asarray(array)
        shape = self.array.shape
        outer, last = value.shape[:lead], value.shape[value.ndim - inner :] if inner else ()
        full = np.broadcast_to(value, (*outer, *shape, *last))
        if self.is_whole:
            return full
        return full[(*(slice(None),) * lead, *self.own)]

    @property
    def events(self) -> int:
        """The number of axes of one value: vectors and matrices are drawn whole."""
        is_by_value = self.step.family is not None and not self.step.dense
        return len(event_dims(self.step.statement)) if is_by_value else 0

    @property
    def own(self) -> Index:
        """The index of the values that are drawn."""
        if self.at is not None:
            return self.at
        axes = tuple(range(self.free.ndim - self.events, self.free.ndim))
        return np.nonzero(self.free.any(axis=axes))

    def _mask(self) -> Mask:
        if self.at is None:
            return self.free
        mask = np.zeros(self.array.shape, dtype=bool)
        mask[self.at] = True
        return mask

    def wrong(self, name: str, arguments: Values) -> str:
        """The mistake in the function or in an argument of the call, empty if there is none."""
        if (wanted := _function_of(self.step)) is not None and name != wanted:
            return f"found this function, expected {wanted}"
        return next(filter(None, (self.wrong_of(p, arguments) for p in arguments)), "")

    def wrong_of(self, parameter: str, arguments: Values) -> str:
        """The mistake in one argument; empty if there is none or the argument is not given."""
        expected = EXPECTED.get(parameter)
        if parameter not in arguments or expected is None:
            return ""
        right = expected(self, parameter, arguments[parameter])
        return "" if right else f"its argument {parameter} is not what the conditional says"

    def misplaced(self, result: ArrayLike | None, state: State) -> str:
        """The mistake in the elements after the draw, empty if there is none."""
        now, mask = np.asarray(state[self.step.variables[0]]), self._mask()
        if now.shape != self.array.shape:
            return f"its array has the shape {now.shape} after the draw, {self.array.shape} before"
        if not np.array_equal(now[~mask], self.array[~mask], equal_nan=True):
            return "it changes elements that it does not draw"
        expected = _placed(self, result)
        if expected is None or _same(now[mask], expected[mask]):
            return ""
        return "what is drawn is not what its elements become"


def _function_of(step: Step) -> str | None:
    """The runtime function of a step's draw, where the row of the family names one."""
    natural = None if step.family is None else step.family.natural
    if natural is None:
        return step.draw_function
    if step.alpha is not None:
        return natural.over_relaxed
    return natural.truncated if step.bounds else natural.draw


def _placed(call: Call, result: ArrayLike | None) -> np.ndarray | None:
    """The array after a draw, on the scale of the model; None where nothing is expected."""
    step = call.step
    own = result[step.variables[0]] if isinstance(result, Mapping) else result
    found = np.asarray(own)
    if step.dense:
        order = step.batch + step.dense
        shape = tuple(call.array.shape[a] for a in order)
        if found.size != call.array.size:
            return None
        return found.reshape(shape).transpose(tuple(order.index(a) for a in range(len(order))))
    if step.returns_array:
        return found
    new = np.array(call.array, dtype=np.result_type(call.array, found))
    if step.labels is not None:
        new[call.where] = np.reshape(found + step.labels.start, new[call.where].shape)
        return new
    if found.shape == new.shape:
        new = found
    else:
        new[call.where] = found.reshape(new[call.where].shape)
    return new if step.change is None else _mapped(call, step.change.backward, new)


def _mapped(call: Call, function: Callable[[Expr], Expr], array: np.ndarray) -> np.ndarray:
    """A function of the elements of the array that is drawn."""
    name = call.step.variables[0]
    own = call.step.statement.target.array
    leaf = Leaf(own, *call.graph.variables[name].dims)
    over = tuple(Range(d, 0, n) for d, n in zip(leaf.own_dims, np.shape(array), strict=True))
    values = {**call.values, name: np.asarray(array, dtype=float)}
    found = evaluate(function(leaf), over, values, call.graph.sizes)
    return np.broadcast_to(found, np.shape(array))


def _now(call: Call) -> np.ndarray:
    """The array before the draw, on the scale of the draw."""
    change = call.step.change
    return call.array if change is None else _mapped(call, change.forward, call.array)


def _same(found: Argument, expected: ArrayLike) -> bool:
    """Whether numbers agree up to rounding, after broadcasting."""
    found, expected = (np.asarray(v, dtype=float) for v in (found, expected))
    if found.size == expected.size:  # (a region, or its values one after the other)
        found, expected = np.ravel(found), np.ravel(expected)
    try:
        found, expected = np.broadcast_arrays(found, expected)
    except ValueError:
        return False
    both = (found == expected) | (np.isnan(found) & np.isnan(expected))
    scale = np.maximum(np.abs(expected), 1.0)
    with np.errstate(invalid="ignore"):
        return bool(np.all(both | (np.abs(found - expected) <= ROUNDING * scale)))


# Whether an argument is as expected, one function for each name of a parameter.


def _natural(call: Call, parameter: str, found: Argument) -> bool:
    """Whether an argument is the drawn part of a natural parameter."""
    etas = call.given if isinstance(call.given, tuple) else (call.given,)
    eta = np.asarray(etas[int(parameter.removeprefix("eta_")) - 1])
    if call.step.dense:
        return _same(found, eta) or _same(found, eta[call.step.drawn])
    if call.is_whole:
        return _same(found, eta)
    batch = call.array.ndim - call.events
    if not call.events:
        return _same(found, call.part(eta))
    whole = np.broadcast_to(eta, (*call.array.shape[:batch], *eta.shape[batch:]))
    return _same(found, whole[call.own])


def _known(call: Call, parameter: str, found: Argument) -> bool:
    """A parameter of the family that is known."""
    return _same(found, call.part(call.everywhere(call.step.known[parameter])))


def _bound(call: Call, parameter: str, found: Argument) -> bool:
    """A bound: of a truncated family as given, known of a uniform one, else the support's own."""
    step = call.step
    if step.labels is not None:
        return bool(found == step.labels.start)
    if step.bounds:
        return _same(found, call.part(call.given[-2 if parameter == "lower" else -1]))
    if step.family is not None:
        return _known(call, parameter, found)
    bound = sp.sympify(getattr(step.support, parameter))
    if bound in (sp.oo, -sp.oo) or mentions(bound, step.variables):
        return bool(np.all(np.isinf(found)))
    return _same(np.broadcast_to(found, call.array.shape), call.everywhere(bound))


def _shape(call: Call, _parameter: str, found: Argument) -> bool:
    """The shape of a draw; of a scan, the number of labels."""
    step = call.step
    if step.labels is not None:
        return bool(found == len(step.labels))
    if step.dense:
        return int(np.prod(found)) == call.array.size or not call.is_whole
    own = call.array.shape if call.is_whole else np.shape(call.array[call.where])
    return tuple(found) == own or (call.at is None and np.prod(found) == np.prod(own))


def _current(call: Call, _parameter: str, found: Argument) -> bool:
    """The value that a draw starts from."""
    now = _now(call)
    if call.step.dense:
        return np.size(found) == np.size(now)
    return _same(found, now) if np.shape(found) == np.shape(now) else _same(found, now[call.where])


def _alpha(call: Call, _parameter: str, found: Argument) -> bool:
    return found is not None and found == call.step.alpha


def _proposals(call: Call, _parameter: str, found: Argument) -> bool:
    return call.step.asked is not None and found == call.step.asked.proposals


def _weights(call: Call, _parameter: str, found: Argument) -> bool:
    """The log weights of labels, or of the label before and the label."""
    step = call.step
    if step.axis is not None:
        return _same(found, call.given[0])
    if step.is_by_element and not step.in_one_call:
        return _same(found, np.asarray(call.part(np.asarray(call.given), 1)))
    if call.is_whole:
        return _same(found, np.asarray(call.given))
    return _same(np.reshape(found, (len(found), -1)), call.part(np.asarray(call.given), 1))


def _at_once(call: Call, _parameter: str, found: Argument) -> bool:
    """The log weights of labels that are all drawn at once, from all labels before."""
    expected = call.step.log_weights_at_once(call.values, call.graph.sizes)
    return np.shape(found) == expected.shape and _same(found, expected)


def _transitions(call: Call, _parameter: str, found: Argument) -> bool:
    return _same(found, call.given[1])


def _density(call: Call, _parameter: str, found: Argument) -> bool:
    """Whether an argument is the log density that the step's ``given_rest`` has returned."""
    return not call.step.calls_given_rest or found is call.handed


def _index(call: Call, _parameter: str, found: Argument) -> bool:
    """Whether an index has all free elements, and no others."""
    mask = np.zeros(call.array.shape, dtype=bool)
    mask[found] = True
    return np.array_equal(mask, call.free)


def _places(call: Call, _parameter: str, found: Argument) -> bool:
    """Whether the indices of several calls have each free element once."""
    times = np.zeros(call.array.shape, dtype=int)
    for at in found:
        times[at] += 1
    return np.array_equal(times, call.free)


def _name(call: Call, _parameter: str, found: Argument) -> bool:
    return found in (call.step.name, *call.step.variables)


def _axis(call: Call, _parameter: str, found: Argument) -> bool:
    return bool(found == call.step.axis)


def _fixed(call: Call, parameter: str, found: Argument) -> bool:
    """Whether ``now`` and ``known`` hold a chain's known labels; None where all are drawn."""
    if found is None:
        return bool(call.free.all())
    return _same(found, call.array if parameter == "now" else ~call.free)


def _whole(call: Call, _parameter: str, found: Argument) -> bool:
    """Whether the mark of whole numbers is that of the statement's support."""
    return found is call.step.statement.support.is_discrete


def _by_element(call: Call, _parameter: str, found: Argument) -> bool:
    """Whether elements are said to be independent given all else where they are."""
    return found is not call.step.is_by_element


def _width(call: Call, _parameter: str, found: Argument) -> bool:
    """Whether a move's width is a number for each moved element, or for all."""
    value = found.value if hasattr(found, "value") else found.log_scale
    return np.size(value) in (call.array.size, int(call.free.sum())) or np.ndim(value) == 1


# Arguments that are not compared: the state and constants themselves, functions of the user's,
# what other checks compare (sums that are kept, the coefficients of a reference, shares of parts),
# and tuning.
UNCOMPARED = frozenset(
    (
        *("s", "c", "kernel", "proposal", "function", "fixed"),
        *("kept", "squares", "joint", "normal", "given", "walk", "share", "shares", "line"),
        *("local", "along"),
        *("trajectory", "surface", "bounds", "space", "length", "depth"),
    )
)

EXPECTED: Mapping[str, Callable[[Call, str, Argument], bool]] = {
    **dict.fromkeys(("eta_1", "eta_2", "eta_3"), _natural),
    **dict.fromkeys(("n", "b", "mu", "minimum", "shape"), _known),
    **dict.fromkeys(("lower", "upper"), _bound),
    **dict.fromkeys(("x", "start", "z"), _current),
    **dict.fromkeys(("positions", "colours", "places"), _places),
    **dict.fromkeys(("now", "known"), _fixed),
    "size": _shape,
    "alpha": _alpha,
    "proposals": _proposals,
    "log_weights": _weights,
    "at_once": _at_once,
    "log_transitions": _transitions,
    **dict.fromkeys(("log_density", "split"), _density),
    "at": _index,
    "name": _name,
    "axis": _axis,
    "whole": _whole,
    "by_element": _by_element,
    "width": _width,
}
