"""Labels of a block of elements, drawn from a table of log weights by label and element.

Each loop goes over the elements of the block, which a processor takes several of at once; so do
exponentials (`exponentials`). The random numbers are those of one element after
the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Integers

from . import kernel
from .exponentials import exp_not_above_1

APART: Mapping[str, str] = {}


@kernel
def labels_of_block(rng: Generator, weights: Floats, count: int, out: Integers) -> None:
    """The labels of ``count`` elements into ``out``, from log weights ``weights[label, element]``.

    The weights are overwritten.
    """
    size = weights.shape[0]
    largest = np.empty(count)
    for i in range(count):
        largest[i] = weights[0, i]
    for k in range(1, size):
        for i in range(count):
            w = weights[k, i]
            largest[i] = w if w > largest[i] or w != w else largest[i]  # noqa: PLR0124  # NaN
    for i in range(count):
        if not -inf < largest[i] < inf:
            raise ValueError("the weights of a label are all zero, or one is no number")
    total = np.zeros(count)
    for k in range(size):
        for i in range(count):
            total[i] += exp_not_above_1(weights[k, i] - largest[i])
            weights[k, i] = total[i]
    for i in range(count):
        total[i] *= rng.random()
        out[i] = 0
    for k in range(size - 1):
        for i in range(count):
            out[i] += 1 if weights[k, i] <= total[i] else 0
