"""Means, covariances and entropies of large joint normal distributions.

The entries of the inverse are found at the places of the factor alone, by the kernels of
`gibbsppl.runtime.loops.averages`: of thousands of elements the whole inverse has no room.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.joint import Given, Joint, Wanted
from gibbsppl.runtime.joint_tables import Asked, asked_of, tables_of
from gibbsppl.runtime.loops import averages
from gibbsppl.runtime.types import Floats, Ints, Numbers, State


def by_entries(
    joint: Joint, state: State, given: Given, wanted: Mapping[str, Wanted], entropy: str
) -> dict[str, Numbers]:
    """As `Joint.moments`: means, variances and covariances as arrays, and the entropy, by name."""
    pairs = {n: np.broadcast_arrays(*of) for n, of in wanted.items() if not isinstance(of, str)}
    ends = (np.concatenate([_NONE, *(p[k].ravel() for p in pairs.values())]) for k in range(2))
    mean, covariances, found = moments_by_entries(joint, state, given, *ends)
    means = joint.placed(state, mean)
    made: dict[str, Numbers] = {n: means[of] for n, of in wanted.items() if isinstance(of, str)}
    start = 0
    for name, (first, _) in pairs.items():
        made[name] = covariances[start : start + first.size].reshape(first.shape)[()]
        start += first.size
    return {**made, entropy: found}


def moments_by_entries(
    joint: Joint, state: State, given: Given, first: Ints, second: Ints
) -> tuple[Floats, Floats, float]:
    """The means of all elements drawn, covariances of two by their numbers, and the entropy."""
    tables = tables_of(joint)
    asked: Asked = asked_of(joint, tables, first, second)
    slots = np.concatenate([tables.squares, *tables.pairs])
    times = np.concatenate([np.full(joint.size, 2.0), *(1.0 + d for d in tables.doubled)])
    weighted = times * joint.coefficients(given)
    filled = -np.bincount(slots, weighted, tables.stored + 1)
    linear = joint.assembled(state, given)[0]
    mean, covariances, entropy = np.empty(joint.size), np.empty(len(first)), np.empty(1)
    kernel = getattr(averages, tables.kernel.replace("joint", "averaged"))
    asked_for = asked.first, asked.second, asked.slots
    kernel(filled, linear, *tables.arguments, *asked_for, mean, covariances, entropy)
    return mean, covariances, float(entropy[0])


_NONE: Ints = np.zeros(0, dtype=np.intp)
