"""Moves of several arrays along paths of Hamiltonian dynamics, by the gradient of a log density.

The moves are those of `gibbsppl.runtime.loops.trajectories`; here arrays become one vector, and the
log density and its gradient are evaluated where a move asks for them.

>>> from gibbsppl.runtime.joint import Joint, drawn
>>> space = Unconstrained(Joint({"x": drawn((2,), [((0, 2),)])}, []), {})
>>> surface = lambda a: (-(a["x"] ** 2).sum() / 2, {"x": -a["x"]})
>>> rng, s, draws = np.random.default_rng(1), {"x": np.zeros(2)}, []
>>> for _ in range(1000):
...     s |= nuts(rng, s, space, surface, trajectory_of(s, "x", space, 0.8))
...     draws.append(s["x"])
>>> bool(np.abs(np.std(draws, axis=0) - 1).max() < 0.1)
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.runtime.loops.hamiltonian import LEARNT, MOMENTS, ROWS
from gibbsppl.runtime.loops.trajectories import (
    PARTS,
    hmc_next,
    nuts_next,
    trajectory_accept,
    trajectory_diverged,
    trajectory_moved,
    trajectory_points,
    trajectory_start,
    trajectory_work,
)
from gibbsppl.runtime.types import Floats, Generator, Numbers, State, TunedState
from gibbsppl.runtime.unconstrained import Bounds, Unconstrained

# The log density of arrays by name, and its gradient by name.
Surface = Callable[[Mapping[str, Any]], tuple[Any, Mapping[str, Any]]]


@dataclass(slots=True)
class Trajectory:
    """The tuning of paths, learnt in warm-up, and counts of moves since `taken` was last called.

    ``learnt`` and ``moments`` are rows of `gibbsppl.runtime.loops.hamiltonian`, ``scale`` the
    scales of coordinates.
    """

    learnt: Floats
    scale: Floats
    moments: Floats
    target: float
    adapting: bool = True
    accepted: float = 0.0
    proposed: int = 0
    points: float = 0.0
    diverged: float = 0.0

    def taken(self) -> dict[str, float]:
        """Means since this was last asked, by field; not a number without moves.

        The probability of accepting, the number of points, the share of paths that diverged.

        >>> moved = Trajectory(*np.zeros((3, 1)), 0.8, accepted=1.5, proposed=2, points=14.0)
        >>> moved.taken()
        {'accepted': 0.75, 'points': 7.0, 'diverged': 0.0}
        """
        sums = {"accepted": self.accepted, "points": self.points, "diverged": self.diverged}
        found = {n: s / self.proposed if self.proposed else np.nan for n, s in sums.items()}
        self.accepted, self.points, self.diverged, self.proposed = 0.0, 0.0, 0.0, 0
        return found


def trajectory_of(s: TunedState, name: str, space: Unconstrained, target: float) -> Trajectory:
    """The tuning of the paths of a step, kept in the state under ``"~name"``."""
    key = "~" + name
    if key not in s:
        zeros = np.zeros(LEARNT), np.ones(space.size), np.zeros((MOMENTS, space.size))
        s[key] = Trajectory(*zeros, target, adapting="~" not in s)
    found: Trajectory = s[key]
    return found


@np.errstate(all="ignore")  # where a number is lost, a path diverges
def nuts(
    rng: Generator,
    s: State,
    space: Unconstrained,
    surface: Surface,
    trajectory: Trajectory,
    depth: int = 10,
    bounds: Bounds | None = None,
) -> dict[str, Numbers]:
    """The arrays after a no-U-turn move; the path doubles ``depth`` times at most."""
    rows = PARTS + 2 * depth
    return _moved(rng, s, space, surface, trajectory, nuts_next, depth, rows, bounds)


@np.errstate(all="ignore")
def hmc(
    rng: Generator,
    s: State,
    space: Unconstrained,
    surface: Surface,
    trajectory: Trajectory,
    length: float,
    bounds: Bounds | None = None,
) -> dict[str, Numbers]:
    """The arrays after a move along a path of a length."""
    return _moved(rng, s, space, surface, trajectory, hmc_next, length, ROWS, bounds)


def _moved(  # noqa: PLR0913, PLR0917
    rng: Generator,
    s: State,
    space: Unconstrained,
    surface: Surface,
    t: Trajectory,
    following: Callable[..., bool],
    extent: float,
    count: int,
    bounds: Bounds | None,
) -> dict[str, Numbers]:
    """The arrays after a move, the log density and its gradient evaluated where it asks."""
    joint, coordinates = space.joint, space.between(bounds)
    before = joint.flat(s)
    now = before if coordinates is None else coordinates.of(before)
    tried, slopes, work = np.empty(space.size), np.empty(space.size), trajectory_work()
    rows = np.zeros((count, space.size))
    known = (t.target, float(t.adapting), float(extent), t.learnt, t.scale, t.moments)
    trajectory_start(work)
    while following(rng, work, now, *known, slopes, rows, tried):
        if coordinates is None:
            work[1], found = surface(joint.placed(s, tried))
            joint.flat(found, slopes)
        else:
            x = coordinates.values(tried)
            height, found = surface(joint.placed(s, x))
            work[1] = height + coordinates.put_slopes(tried, x, joint.flat(found), slopes)
    t.accepted += trajectory_accept(work)
    t.proposed += 1
    t.points += trajectory_points(work)
    t.diverged += trajectory_diverged(work)
    if not trajectory_moved(work):
        return joint.placed(s, before)
    return joint.placed(s, tried if coordinates is None else coordinates.values(tried))
