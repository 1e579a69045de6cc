"""Newton steps to the mode of a concave log density of several arrays.

A step is the mean of the normal density that agrees with the log density to second order, which a
`Joint` solves for as it does for a draw. It is halved until the log density is no lower (S. Boyd
and L. Vandenberghe, 2004, "Convex Optimization", 9.5). That is seen from its values, or from the
slope where the step ends, which has more digits near the mode: of a concave function

    f(x + t d) >= f(x) + t f'(x + t d) d

Where no digits of the second derivatives are left, far out on an arm that is nearly straight, the
diagonal gets a little more weight: the step is still uphill.

>>> from gibbsppl.runtime.joint import drawn
>>> joint = Joint({"x": drawn((2,), [((0, 2),)])}, [])
>>> local = lambda s, c: ({"x": (3.0 - np.exp(s["x"]), -np.exp(s["x"]) / 2)}, [])
>>> height = lambda s, c: (3.0 * s["x"] - np.exp(s["x"])).sum()
>>> np.exp(climb_jointly({"x": np.zeros(2)}, {}, joint, local, height)["x"]).round(12)
array([3., 3.])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.joint import Given, Joint
from gibbsppl.runtime.types import Constants, Floats, Numbers, State

EPS = float(np.finfo(float).eps)
# The share of the rise that the slope promises which a step has to bring, as its values show.
SHARE = 0.25
# How much more weight the diagonal gets at once.
GROWTH = 1e4

Local = Callable[[State, Constants], Given]
Height = Callable[[State, Constants], Any]


@np.errstate(all="ignore")  # what is not a number, or overflows, is lower
def climb_jointly(
    s: State, c: Constants, joint: Joint, local: Local, height: Height
) -> Mapping[str, Numbers]:
    """The arrays at the mode of their log density, where they are not below where they were.

    ``local`` returns the gradient and half of the second derivatives, as coefficients of a
    quadratic log density of steps from a state, ``height`` the log density. An error where it rises
    without end.
    """
    climb = Climb(s, c, joint, local, height)
    here = climb.at(joint.flat(s))
    if not np.isfinite(here.slope).all():
        element = joint.elements[int(np.argmin(np.isfinite(here.slope)))]
        raise RunError(
            f"{element}: the log density has no finite slope where the search for its mode starts; "
            "start elsewhere (init=)."
        )
    while True:
        rise = float(here.slope @ here.step)
        ahead = climb.ahead(here, rise) if rise > 0 else None
        if ahead is None or rise <= EPS * (1.0 + abs(here.height)):
            climb.check_has_an_end(here)
            return joint.placed(s, (ahead or here).x)
        here = ahead


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Values of all elements, with the log density, its slope, and the Newton step there."""

    x: Floats
    height: float
    slope: Floats
    step: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """A log density of the elements of a `Joint`, all else given."""

    s: State
    c: Constants
    joint: Joint
    local: Local
    height: Height

    def state(self, x: Floats) -> State:
        """The state with values of the elements."""
        return {**self.s, **self.joint.placed(self.s, x)}

    def height_at(self, x: Floats) -> float:
        """The log density at values."""
        found = float(self.height(self.state(x), self.c))
        return -np.inf if np.isnan(found) else found

    def at(self, x: Floats, height: float | None = None) -> Point:
        """The log density to second order at values."""
        given = self.local(self.state(x), self.c)
        if height is None:
            height = self.height_at(x)
        # (elements that are known take no step)
        still = self.joint.zeros
        slope, _ = self.joint.assembled(still, given)
        return Point(x, height, slope, self._step(still, given))

    def _step(self, still: State, given: Given) -> Floats:
        """The mean of the log density to second order."""
        own, pairs = given
        more = 0.0
        while np.isfinite(more):
            weighted = {n: (one, np.asarray(two) - more / 2) for n, (one, two) in own.items()}
            try:
                found = self.joint.flat(self.joint.mean(still, (weighted, pairs)))
            except np.linalg.LinAlgError:
                found = np.full(self.joint.size, np.nan)
            if np.isfinite(found).all():
                return found
            if not all(np.isfinite(two).all() for _, two in own.values()):
                break  # (where there are no second derivatives, as beyond constraints)
            largest = max(float(np.max(np.abs(two), initial=0.0)) for _, two in own.values())
            more = max(GROWTH * more, EPS * max(largest, np.finfo(float).tiny / EPS))
        return np.zeros(self.joint.size)

    def ahead(self, here: Point, rise: float) -> Point | None:
        """The point after a step, or a part of it; None where there is none that is not lower."""
        share = 1.0
        while True:
            x = here.x + share * here.step
            if np.array_equal(x, here.x):
                return None
            height = self.height_at(x)
            if np.isfinite(height):
                point = self.at(x, height)
                if np.isfinite(point.slope).all() and _is_higher(here, point, share, rise):
                    return point
            share /= 2.0

    def check_has_an_end(self, here: Point) -> None:
        """Raise an error where the log density is no lower however far a step is gone on.

        (Past a maximum it falls without end, by more than any rounding.)
        """
        step = here.step
        if not (np.abs(step) > np.sqrt(EPS) * (1.0 + np.abs(here.x))).any():
            return
        far = 2.0
        while np.isfinite(here.x + far * step).all():
            if self.height_at(here.x + far * step) < here.height - 1.0:
                return
            far *= far
        first = int(np.argmax(np.abs(step)))
        raise RunError(
            f"{self.joint.elements[first]}: the log density rises without end as it goes to "
            f"{'' if step[first] > 0 else 'minus '}infinity: its mode is there. Give it a prior "
            "that is not flat, or leave out what separates the data."
        )


def _is_higher(here: Point, ahead: Point, share: float, rise: float) -> bool:
    """Whether a point after a share of a step is not lower."""
    if ahead.height >= here.height + SHARE * share * rise:
        return True
    lost = -share * float(ahead.slope @ here.step)
    return lost <= EPS * (1.0 + abs(here.height))
