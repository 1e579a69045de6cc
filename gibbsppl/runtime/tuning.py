"""The tuning of moves as arrays that loops read and change, and back.

In a state, tuning is under names that start with ``"~"``: of slices a `Width`, of random walks a
`Walk`, of paths a `Trajectory`. In loops it is a few arrays each, and one number that says whether
warm-up lasts.

>>> state = {"~x": Width(np.array(2.0), moves=3)}
>>> arrays = tuning_arrays(state, {width_of("x"): (), moves_of("x"): (), ADAPTING: ()})
>>> [(name, float(a)) for name, a in arrays.items()]
[('~x.width', 2.0), ('~x.moves', 3.0), ('~adapting', 1.0)]
>>> arrays["~x.width"][()] = 5.0
>>> put_tuning(state, arrays)
>>> float(state["~x"].value)
5.0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gibbsppl.runtime.modal import Approximation
from gibbsppl.runtime.moves import Width
from gibbsppl.runtime.trajectories import Trajectory
from gibbsppl.runtime.types import Array
from gibbsppl.runtime.walks import Walk

ADAPTING = "~adapting"
# The fields of a `Walk`: those that are numbers for each element, and those of the whole walk.
SCALE, TARGET, ADAPTS, MOVES = "log_scale", "target", "adapting", "moves"
ACCEPTED, PROPOSED = "accepted", "proposed"
# Those that walks of vectors have besides, for each vector.
MEAN, COVARIANCE, FACTOR, SHAPED = "mean", "covariance", "factor", "shaped"
OF_VECTORS = (MEAN, COVARIANCE, FACTOR, SHAPED)
# Those that a `Trajectory` has besides the target, whether it adapts, and what was accepted.
LEARNS, SCALES, SUMS, POINTS, DIVERGED = "learnt", "scale", "moments", "points", "diverged"
# Those of an `Approximation`: where Newton steps begin, the share of accepted proposals; the last
# vector, proposals of a batch, what is known of them, and what holds on; in loops also the entries
# of the precision.
CENTRE, SHARE, ENTRIES, LAST, PLACED = "centre", "share", "entries", "last", "placed"
PROPOSALS, JUDGED = "proposals", "judged"
OF_BATCHES = (PLACED, ENTRIES, LAST, PROPOSALS, JUDGED)
WHOLE = frozenset((ADAPTS, MOVES, PROPOSED))
# What has the mean of a field over the moves since the draw before.
RATES: Mapping[str, str] = {
    ACCEPTED: ".rate", POINTS: ".rate_of_points", DIVERGED: ".rate_of_divergence",
}  # fmt: skip


def width_of(step: str) -> str:
    """The name of the widths of a step's slices."""
    return f"~{step}.width"


def moves_of(step: str) -> str:
    """The name of the number of moves that a step's widths or scales are learnt from."""
    return f"~{step}.{MOVES}"


def field_of(step: str, field: str) -> str:
    """The name of a field of a step's walk."""
    return f"~{step}.{field}"


def rate_of(step: str, field: str = ACCEPTED) -> str:
    """The name of the mean of a field that is recorded with a draw."""
    return f"~{step}{RATES[field]}"


def move_with_rate(name: str) -> tuple[str, str] | None:
    """The step and the field whose mean has a name; None of other names.

    >>> move_with_rate("~x.rate"), move_with_rate("x")
    (('x', 'accepted'), None)
    """
    for field, ending in RATES.items():
        if name.startswith("~") and name.endswith(ending):
            return name[1 : -len(ending)], field
    return None


def tuning_arrays(
    state: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    starts: Mapping[str, float] | None = None,
) -> dict[str, Array]:
    """The arrays of the tuning in a state; of what has not been moved yet, those of ``starts``."""
    found: dict[str, Array] = {}
    adapting = "~" not in state
    for name, shape in shapes.items():
        if name == ADAPTING:
            found[name] = np.array(int(adapting))
            continue
        step, _, what = name.rpartition(".")
        own = state.get(step)
        if own is None:
            value: Any = np.eye(shape[-1]) if what == FACTOR else (starts or {}).get(name, 0.0)
            value = value * adapting if what == ADAPTS else value
        else:
            value = own.value if what == "width" else getattr(own, what)
        value = (starts or {}).get(name, 0.0) if value is None else value
        kind = np.int64 if what in WHOLE else np.float64
        found[name] = np.array(np.broadcast_to(value, shape), dtype=kind)
    return found


def put_tuning(state: dict[str, Any], arrays: Mapping[str, Array]) -> None:
    """Put the tuning that loops have left into a state."""
    adapting = bool(arrays[ADAPTING]) if ADAPTING in arrays else False
    for name, values in arrays.items():
        step, _, what = name.rpartition(".")
        if what == "width":
            moves = int(arrays[f"{step}.{MOVES}"])
            state[step] = Width(np.array(values), moves, adapting)
        elif what == SCALE:
            state[step] = _walk(step, arrays)
        elif what == LEARNS:
            state[step] = _trajectory(step, arrays)
        elif what == CENTRE:
            state[step] = _approximation(step, arrays)


def _trajectory(step: str, arrays: Mapping[str, Array]) -> Trajectory:
    """The tuning of paths as loops have left it."""
    learnt, scale, moments = (
        np.array(arrays[f"{step}.{f}"], dtype=float) for f in (LEARNS, SCALES, SUMS)
    )
    target, adapts, accepted, proposed, points, diverged = (
        arrays[f"{step}.{field}"]
        for field in (TARGET, ADAPTS, ACCEPTED, PROPOSED, POINTS, DIVERGED)
    )
    counts = float(accepted), int(proposed), float(points), float(diverged)
    return Trajectory(learnt, scale, moments, float(target), bool(adapts), *counts)


def _walk(step: str, arrays: Mapping[str, Array]) -> Walk:
    """The tuning of a random walk that loops have left."""
    scale, target, adapts, moves, accepted, proposed = (
        arrays[f"{step}.{field}"]
        for field in (SCALE, TARGET, ADAPTS, MOVES, ACCEPTED, PROPOSED)
    )
    walk = Walk(
        np.array(scale), float(target), bool(adapts), int(moves),
        accepted=float(accepted), proposed=int(proposed),
    )  # fmt: skip
    for field in OF_VECTORS:
        if (own := arrays.get(f"{step}.{field}")) is not None:
            setattr(walk, field, np.array(own))
    return walk


def _approximation(step: str, arrays: Mapping[str, Array]) -> Approximation:
    """The tuning of a block's proposals about the mode that loops have left."""
    centre, share, adapts, moves, accepted, proposed = (
        arrays[f"{step}.{field}"]
        for field in (CENTRE, SHARE, ADAPTS, MOVES, ACCEPTED, PROPOSED)
    )
    return Approximation(
        np.array(centre), bool(adapts), int(moves), float(share),
        *(np.array(arrays[f"{step}.{field}"], dtype=float) for field in OF_BATCHES),
        accepted=float(accepted), proposed=int(proposed),
    )  # fmt: skip
