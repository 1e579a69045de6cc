"""Means, covariances and entropies of joint normal distributions.

Of many elements the entries of the inverse are found at the places of the factor alone, by the
kernels of `gibbsppl.runtime.loops.averages`: the whole inverse has no room.

>>> from gibbsppl.runtime.joint import drawn
>>> joint = Joint({"x": drawn((2,), [((0, 2),)])}, [("x", (0,), "x", (1,))])
>>> given = {"x": (np.array([1.0, 0.0]), -1.0)}, [np.array(1.0)]
>>> asked = JointMoments(joint, {"E_x": "x", "C_x": (np.array([0]), np.array([1]))})
>>> found = asked.of({}, given, "H_x")
>>> {name: np.round(value, 3).tolist() for name, value in found.items()}
{'E_x': [0.667, 0.333], 'C_x': [0.333], 'H_x': 2.289}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gibbsppl.errors import NotLoweredError
from gibbsppl.runtime.joint import Given, Joint
from gibbsppl.runtime.joint_tables import Asked, Tables, asked_of, tables_of
from gibbsppl.runtime.loops import averages
from gibbsppl.runtime.types import Floats, Ints, Numbers, State

# What is asked for: the mean of an array, or covariances, by the numbers of both elements.
Wanted = str | tuple[Ints, Ints]
# Seconds for a product in the whole inverse; and by entries, for an element and for a product.
A_PRODUCT, AN_ELEMENT, A_STEP = 0.1e-9, 15e-6, 0.4e-6
# The means of all elements, covariances, and the entropy.
Found = tuple[Floats, Floats, float]


@dataclass(frozen=True, eq=False)
class JointMoments:
    """The moments that are asked of a joint normal distribution; made once, found often."""

    joint: Joint
    wanted: Mapping[str, Wanted]

    @cached_property
    def pairs(self) -> dict[str, tuple[Ints, Ints]]:
        """The numbers of both elements of each array of covariances."""
        both = {n: of for n, of in self.wanted.items() if not isinstance(of, str)}
        return {n: (i, j) for n, of in both.items() for i, j in [np.broadcast_arrays(*of)]}

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The numbers of both elements of all covariances."""
        none = np.zeros(0, dtype=np.intp)
        first, second = (
            np.concatenate([none, *(p[k].ravel() for p in self.pairs.values())]) for k in range(2)
        )
        return first, second

    @cached_property
    def tables(self) -> tuple[Tables, Asked] | None:
        """The places of entries; None where the inverse is faster, or the factor lacks some."""
        if A_PRODUCT * self.joint.size**3 < AN_ELEMENT * self.joint.size + A_STEP * self.work:
            return None
        tables = tables_of(self.joint)
        try:
            return tables, asked_of(self.joint, tables, *self.ends)
        except NotLoweredError:
            return None

    @property
    def work(self) -> float:
        """The multiplications of a factor."""
        return self.joint.layout.work

    def of(self, state: State, given: Given, entropy: str) -> dict[str, Numbers]:
        """Means, variances and covariances of elements as arrays, and the entropy, by name.

        ``state`` has the values of elements that are known; their covariances are zero.
        """
        own = self.joint, state, given
        if self.tables is None:
            mean, covariances, total = by_inverse(*own, *self.ends)
        else:
            mean, covariances, total = by_entries(*own, *self.tables)
        means = self.joint.placed(state, mean)
        found: dict[str, Numbers] = {
            n: means[of] for n, of in self.wanted.items() if isinstance(of, str)
        }
        start = 0
        for name, (one, _) in self.pairs.items():
            found[name] = covariances[start : start + one.size].reshape(one.shape)[()]
            start += one.size
        return {**found, entropy: total}


def by_inverse(joint: Joint, state: State, given: Given, first: Ints, second: Ints) -> Found:
    """The moments by the whole covariance matrix."""
    mean, covariance = joint.covariance(state, given)
    inside = (first >= 0) & (second >= 0)
    _, log_det = np.linalg.slogdet(covariance)
    entropy = (log_det + joint.size * (1 + math.log(2 * math.pi))) / 2
    return mean, np.where(inside, covariance[first, second], 0.0), float(entropy)


def by_entries(joint: Joint, state: State, given: Given, tables: Tables, asked: Asked) -> Found:
    """The moments by entries of the inverse at the places of the factor."""
    slots = np.concatenate([tables.squares, *tables.pairs])
    times = np.concatenate([np.full(joint.size, 2.0), *(1.0 + d for d in tables.doubled)])
    weighted = times * joint.coefficients(given)
    filled = -np.bincount(slots, weighted, tables.stored + 1)
    linear = joint.assembled(state, given)[0]
    mean, covariances, entropy = np.empty(joint.size), np.empty(len(asked.first)), np.empty(1)
    kernel = getattr(averages, tables.kernel.replace("joint", "averaged"))
    pairs = asked.first, asked.second, asked.slots
    kernel(filled, linear, *tables.arguments, *pairs, mean, covariances, entropy)
    return mean, covariances, float(entropy[0])
