"""Swaps of two labels: proposed at random, accepted by the ratio of the densities.

The number of elements that have each label stays as it is, and so does the probability by which a
pair is proposed: one element at random, the other at random among those with other labels.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.types import Array, Generator, Index, LogDensity, Values
from gibbsppl.runtime.walks import Walk, is_accepted


def swap(
    rng: Generator, x: Array, at: Index, log_density: LogDensity, share: Walk, proposals: int = 1
) -> Values:
    """The labels, two of which at an index are exchanged if that is accepted, several times.

    ``share`` counts what is accepted; where all labels are the same, nothing is proposed.

    >>> share = Walk(np.zeros(()), 1.0)
    >>> swap(np.random.default_rng(1), np.array([1, 0]), ..., lambda x: 3.0 * x[1], share)
    array([0, 1])
    """
    found, now = np.array(x), np.nan
    for _ in range(proposals):
        labels = np.ravel(found[at])
        pair = _pair(rng, labels)
        if pair is None:
            continue
        with np.errstate(all="ignore"):
            now = float(np.sum(log_density(found))) if np.isnan(now) else now
            if not now > -np.inf:
                raise RunError("swap: the current labels have no finite log density.")
            tried = np.array(found)
            there = labels.copy()
            there[list(pair)] = labels[list(reversed(pair))]
            tried[at] = there.reshape(np.shape(found[at]))
            after = float(np.sum(log_density(tried)))
            _, accepted = is_accepted(rng, after - now)
        share.accepted += float(accepted)
        share.proposed += 1
        if accepted:
            found, now = tried, after
    return found


def _pair(rng: Generator, labels: Array) -> tuple[int, int] | None:
    """Two elements with different labels; None where all are the same."""
    one, other = rng.random(2)
    first = int(one * labels.size)
    others = np.flatnonzero(labels != labels[first])
    return (first, int(others[int(other * others.size)])) if others.size else None
