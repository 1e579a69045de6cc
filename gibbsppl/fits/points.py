"""The moments of a point: of a variable that is known to be where a state has it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gibbsppl.algebra.expressions import leaves_of
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.code.program import State
from gibbsppl.kernels.readings import ByMean
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.sweeps import Schedule


def moments_at(schedule: Schedule, values: Values) -> State:
    """The arrays of moments of all that is read by its mean, at the values of a state.

    What has no value, as an auxiliary variable that the first sweep makes, has moments of zero.
    """
    sizes = schedule.graph.sizes
    every = (m for s in schedule.steps if isinstance(s, ByMean) for m in s.moments)
    return {m.name: _at(m, values, sizes) for m in every}


def _at(moment: Moment, values: Values, sizes: Sizes) -> Floats:
    """An array of moments at values."""
    over = tuple(Range(d, 0, size_of(d, sizes)) for d in moment.dims)
    found = np.zeros(tuple(map(len, over)))
    if {x.array.name for x in leaves_of(moment.at_point)} <= values.keys():
        place = moment.place or over
        inside = tuple(slice(r.start, r.stop) for r in place)
        with np.errstate(all="ignore"):
            found[inside] = evaluate(moment.at_point, place, values, sizes)
    return found if found.ndim else found[()]


def moments_of(schedule: Schedule) -> Iterable[Moment]:
    """The moments that the steps of a schedule take."""
    return (m for s in schedule.steps if isinstance(s, ByMean) for m in s.moments)
