"""Swaps of two labels, whose log density the caller evaluates where it is asked to.

The swaps of `gibbsppl.runtime.swaps`, with the same random numbers::

    work = swap_work()
    swap_start(work)
    while swap_next(rng, work, now, known, tried):
        work[1] = ...  # the log density at ``tried``

In the end ``tried`` has the labels after the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isnan

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .copies import copied
from .walks import NO_DENSITY

APART: Mapping[str, str] = {}

# Numbers: the log density that was asked for, that at the current labels; whether a swap was
# proposed and taken; the two elements; what comes next.
FOUND, NOW, MADE, TAKEN, FIRST, SECOND, STAGE = 1, 2, 3, 4, 5, 6, 7
SIZE = 8

# Stages: nothing is asked yet; then what the log density that is asked for is of.
STARTED, CURRENT, PROPOSED = 0.0, 1.0, 2.0


@kernel
def swap_work() -> Floats:
    """The array that a swap works in; it may be used for any number of swaps, one by one."""
    return np.zeros(SIZE)


@kernel
def swap_start(work: Floats) -> None:
    """Begin a swap."""
    work[STAGE] = STARTED


@kernel
def swap_next(rng: Generator, work: Floats, now: Floats, known: float, tried: Floats) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, these are the labels afterwards.

    ``known`` is the log density at the current labels, if it is a number.
    """
    if work[STAGE] == STARTED:
        copied(now, tried)
        work[TAKEN] = 0.0
        work[NOW] = known
        if not _chosen(rng, work, now):
            return False
        work[STAGE] = CURRENT
        if isnan(known):
            return True
        work[FOUND] = known
    first, second = int(work[FIRST]), int(work[SECOND])
    if work[STAGE] == CURRENT:
        work[NOW] = work[FOUND]
        if not work[NOW] > -inf:
            raise RunError(NO_DENSITY)
        tried[first], tried[second] = now[second], now[first]
        work[STAGE] = PROPOSED
        return True
    ratio = work[FOUND] - work[NOW]
    # (at a pole it would stay)
    ratio = ratio if ratio < inf else -inf
    if -rng.standard_exponential() < ratio:
        work[TAKEN], work[NOW] = 1.0, work[FOUND]
    else:
        tried[first], tried[second] = now[first], now[second]
    return False


@kernel
def swap_taken(work: Floats) -> float:
    """1.0 if the last swap was accepted, else 0.0."""
    return float(work[TAKEN])


@kernel
def swap_made(work: Floats) -> float:
    """1.0 if two elements had different labels, else 0.0."""
    return float(work[MADE])


@kernel
def swap_density(work: Floats) -> float:
    """The log density at the labels after the last swap."""
    return float(work[NOW])


@kernel
def _chosen(rng: Generator, work: Floats, labels: Floats) -> bool:
    """Whether there are two elements with different labels; the two that are proposed."""
    first = int(rng.random() * len(labels))
    other = rng.random()
    count = 0
    for x in labels:
        count += x != labels[first]
    work[MADE] = 1.0 if count else 0.0
    if count == 0:
        return False
    left = int(other * count)
    for k in range(len(labels)):
        if labels[k] != labels[first]:
            if left == 0:
                work[FIRST], work[SECOND] = first, k
            left -= 1
    return True
