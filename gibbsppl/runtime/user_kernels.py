"""User kernels: the call with a step's elements and log density, and checks of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gibbsppl.errors import RunError
from gibbsppl.runtime.selections import at_index
from gibbsppl.runtime.types import Array, Flags, Generator, Index, LogDensity, Numbers, Values
from gibbsppl.runtime.walks import Walk, is_accepted

# From the value of a step's elements and their log density to a new value.
Kernel = Callable[[Generator, Values, LogDensity], Values]


class Proposal(Protocol):
    """A draw of a new value given the old one, and the log density of the first of two values."""

    @property
    def draw(self) -> Callable[[Generator, Values], Values]:
        """A new value, given the old one."""

    @property
    def log_density(self) -> Callable[[Values, Values], Numbers] | None:
        """The log density of a new value, given the old one; None for a symmetric proposal."""

    @property
    def by_element(self) -> bool:
        """Whether each element is accepted alone."""


def own_move(  # noqa: PLR0913, PLR0917  (as generated code calls it)
    rng: Generator,
    x: Values,
    at: Index,
    log_density: LogDensity,
    kernel: Kernel,
    name: str,
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Values:
    """The array with the elements at an index moved by a function of the user's.

    The function gets a copy of these elements, and the log density as a function of such an array:
    one number per element for independent elements, else a single number, and -inf outside of the
    support. The result must have the elements' shape, be finite, and be in the support; else an
    error is raised.
    """
    x = np.array(x)
    own = np.asarray(x[at]).astype(np.intp if whole else x.dtype)
    bounds = [np.broadcast_to(b, x.shape)[at] for b in (lower, upper)]
    function = getattr(kernel, "__name__", type(kernel).__name__)
    called = f"{name}: {function}, the kernel given for it,"
    density = _of_part(called, x, at, log_density, *bounds)
    new = _array_of(kernel(rng, own.copy()[()], density))
    _check(called, new, own)
    value = new.astype(x.dtype)
    with np.errstate(all="ignore"):
        outside = (value < bounds[0]) | (value > bounds[1])
        if outside.any():
            first = tuple(int(i) for i in np.argwhere(outside)[0])
            raise RunError(
                f"{called} returned {value[first]}{_place(first)}, outside of the support from "
                f"{bounds[0][first]} to {bounds[1][first]}; reject such a value in the kernel: "
                "return the old one."
            )
        if not np.all(np.asarray(density(value)) > -np.inf):
            raise RunError(
                f"{called} returned a value of zero density; reject such a value in the kernel: "
                "return the old one."
            )
    x[at] = value
    return x[()]


def proposal_move(  # noqa: PLR0913, PLR0917  (as generated code calls it)
    rng: Generator,
    x: Values,
    at: Index,
    log_density: LogDensity,
    proposal: Proposal,
    name: str,
    share: Walk,
    lower: Values = -np.inf,
    upper: Values = np.inf,
    *,
    whole: bool = False,
) -> Values:
    """The array with the elements at an index moved to a proposal, if accepted.

    ``proposal`` has a ``draw``, its ``log_density`` (None: symmetric), and a flag for acceptance
    ``by_element``. ``share`` counts accepted proposals.
    """
    function = getattr(proposal.draw, "__name__", type(proposal.draw).__name__)
    called = f"{name}: {function}, the proposal given for it,"

    def moved(rng: Generator, value: Values, density: LogDensity) -> Values:
        new = _array_of(proposal.draw(rng, np.copy(value)[()]))
        _check(called, new, np.asarray(value))
        shape = np.shape(value) if proposal.by_element else ()
        with np.errstate(all="ignore"):
            now = _summed(called, density(value), shape)
            if not np.all(now > -np.inf):
                raise RunError(f"{name}: the current value has no finite log density.")
            gain = _summed(called, density(new), shape) - now
            possible = gain > -np.inf
            if proposal.log_density is not None and np.any(possible):
                back, forth = (
                    _summed(called, proposal.log_density(*pair), shape)
                    for pair in ((value, new), (new, value))
                )
                _check_density(called, forth, back, possible)
                gain = np.where(possible, gain + back - forth, -np.inf)
            _, accepted = is_accepted(rng, gain)
        if np.size(accepted):
            share.accepted += float(np.mean(accepted))
            share.proposed += 1
        return np.where(accepted, new, value)[()]

    return own_move(rng, x, at, log_density, moved, name, lower, upper, whole=whole)


def _summed(called: str, value: object, shape: tuple[int, ...]) -> Numbers:
    """A log density by element, or of all elements together."""
    found = _array_of(value)
    if found.dtype.kind not in "biuf":
        raise RunError(f"{called} has the log density {value!r}, expected numbers.")
    return found.astype(float) if shape else np.sum(found)


def _check_density(called: str, forth: Numbers, back: Numbers, possible: Flags | bool) -> None:
    """Raise an error unless a proposal has a density where it was drawn, and a number back."""
    if np.shape(forth) != np.shape(possible):
        raise RunError(
            f"{called} has a log density of shape {np.shape(forth)}, expected "
            f"{np.shape(possible)}, one number for each element: with by_element=True each is "
            "accepted alone."
        )
    wrong = possible & (~np.isfinite(forth) | np.isnan(back))
    if np.any(wrong):
        found = np.where(np.isfinite(forth), back, forth)
        raise RunError(
            f"{called} has the log density {np.ravel(found[wrong])[0]} where it was drawn, or the "
            "other way round, expected a number: log_density(new, old) is that of new given old."
        )


def _of_part(
    called: str, x: Array, at: Index, log_density: LogDensity, lower: Array, upper: Array
) -> LogDensity:
    """The log density of the elements at an index, whatever the rest of the array is."""
    of_elements = at_index(x, at, log_density)

    def density(value: Values) -> Numbers:
        if _array_of(value).dtype.kind not in "biuf":
            raise RunError(
                f"{called} asked for the log density at {value!r}, expected an array of numbers of "
                f"shape {x[at].shape}."
            )
        outside = (value < lower) | (value > upper)
        # (labels beyond their bounds would be read as positions of other arrays)
        found = np.asarray(of_elements(np.where(outside, x[at], value)))
        if found.shape == x.shape:
            found = found[at]
        nowhere = outside if found.shape == outside.shape else outside.any()
        return np.where(nowhere, -np.inf, found)[()]

    return density


def _array_of(value: object) -> NDArray[Any]:
    """A value as an array; an array of one object, if NumPy cannot convert the value."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        found = np.empty((), dtype=object)
        found[()] = value
        return found


def _check(called: str, new: NDArray[Any], own: Array) -> None:
    """Refuse another shape, another kind of numbers, numbers that are not finite."""
    if new.dtype.kind not in "biuf":
        raise RunError(
            f"{called} returned {new[()]!r}, expected an array of numbers of shape {own.shape}; "
            "end it with `return` and the new value."
        )
    if new.shape != own.shape:
        raise RunError(
            f"{called} returned shape {new.shape}, expected {own.shape}, that of the value it got."
        )
    bad = ~np.isfinite(new)
    if own.dtype.kind in "iu":
        bad = bad | (new != np.floor(new))
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        wanted = "whole" if own.dtype.kind in "iu" else "finite"
        raise RunError(f"{called} returned {new[first]}{_place(first)}, expected {wanted} numbers.")


def _place(index: tuple[int, ...]) -> str:
    return f" at {index}" if index else ""
