"""The exact probabilities of a random walk of labels: what enumeration makes its matrix of.

A step of scale s is ``k`` labels up or down, each with half the probability that a standard normal
is between ``k - 1`` and ``k`` times ``1 / s``; beyond a bound it is reflected. Accepted with the
ratio of the densities, what is left stays where it is.
"""

from __future__ import annotations

from math import erf, sqrt
from typing import Any

import numpy as np

from gibbsppl.kernels import RandomWalk
from gibbsppl.model.density import free_elements, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.steps import Move


def proposed(label: int, labels: range, scale: float) -> Floats:
    """The probability that each label is proposed from one of them.

    >>> proposed(0, range(2), 1.0).round(6)
    array([0.365413, 0.634587])
    """
    found = np.zeros(len(labels))
    farthest = int(np.ceil(scale * 40))  # (beyond 40 sd a normal is in no float)
    for k in range(1, farthest + 1):
        share = (erf(k / scale / sqrt(2)) - erf((k - 1) / scale / sqrt(2))) / 2
        for there in (label + k, label - k):
            found[_reflected(there - labels.start, len(labels))] += share
    return np.asarray(found / found.sum())


def _reflected(position: int, size: int) -> int:
    """A position of ``0 .. size - 1``, in whose ends those beyond are mirrored."""
    turned = position % (2 * size)
    return turned if turned < size else 2 * size - 1 - turned


def of_walk(graph: Graph, step: Move, given: Any, values: Values, labels: range) -> Floats:
    """The probability of each label after a step, for each element alone: (label, ranges)."""
    assert isinstance(step.asked, RandomWalk)
    scale = 1.0 if step.asked.scale is None else step.asked.scale
    statement, sizes = step.statement, graph.sizes
    over = regions(statement, sizes)
    shape = tuple(map(len, over))
    now = np.broadcast_to(evaluate(statement.target, over, values, sizes), shape)
    found = np.zeros((len(labels), *shape))
    for where in map(tuple, np.argwhere(free_elements(statement, values, sizes))):
        logs = np.array([_log_density(graph, step, given, values, now, where, v) for v in labels])
        own = int(now[where]) - labels.start
        steps = proposed(int(now[where]), labels, scale)
        with np.errstate(all="ignore"):
            ratio = np.exp(np.minimum(np.nan_to_num(logs - logs[own], nan=0.0, neginf=-np.inf), 0))
        moved = steps * ratio
        moved[own] = 0.0
        moved[own] = 1.0 - moved.sum()
        found[(slice(None), *where)] = moved
    return found


def _log_density(
    graph: Graph, step: Move, given: Any, values: Values, now: Any, where: Any, label: int
) -> float:
    """That of the whole array with a label in one place, the others as they are."""
    name = step.variables[0]
    changed = np.array(now)
    changed[where] = label
    there = {**values, name: np.array(values[name])}
    fill(step.statement, changed, there, graph.sizes)
    with np.errstate(all="ignore"):
        return float(np.sum(given(there[name])))
