"""The tuning of moves as arrays that loops read and change, and back.

In a state, tuning is under names that start with ``"~"``: of slices a `Width`. In loops it is a few
arrays each, and one number that says whether warm-up lasts.

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

from gibbsppl.runtime.moves import Width
from gibbsppl.runtime.types import Array

ADAPTING = "~adapting"


def width_of(step: str) -> str:
    """The name of the widths of a step's slices."""
    return f"~{step}.width"


def moves_of(step: str) -> str:
    """The name of the number of moves that a step's widths are learnt from."""
    return f"~{step}.moves"


def tuning_arrays(
    state: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Array]:
    """The arrays of the tuning in a state; of what has not been moved yet, those to begin with."""
    found: dict[str, Array] = {}
    adapting = "~" not in state
    for name, shape in shapes.items():
        if name == ADAPTING:
            found[name] = np.array(int(adapting))
            continue
        step, _, what = name.rpartition(".")
        own = state.get(step)
        if own is None:
            found[name] = np.ones(shape) if what == "width" else np.array(0)
        else:
            value = own.value if what == "width" else own.moves
            found[name] = np.array(np.broadcast_to(value, shape))
    return found


def put_tuning(state: dict[str, Any], arrays: Mapping[str, Array]) -> None:
    """Put the tuning that loops have left into a state."""
    adapting = bool(arrays[ADAPTING]) if ADAPTING in arrays else False
    for name, values in arrays.items():
        step, _, what = name.rpartition(".")
        if what == "width":
            moves = int(arrays[f"{step}.moves"])
            state[step] = Width(np.array(values), moves, adapting)
