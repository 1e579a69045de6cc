"""The log probability of labels in a graph, by the log density with each label put in.

Comes in: a graph, a statement of labels and the values of all arrays. Goes out: the log
probability of its labels given all else, or None where they depend on one another, or are too
many. Nothing is derived: for each element in turn, the log density is evaluated at all labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import logsumexp

from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.density import free_elements, log_density, regions
from gibbsppl.evaluation import Floats, Values, evaluate
from gibbsppl.forward import fill
from gibbsppl.graph import Factor, Graph, Statement

# Evaluations of the log density, at most.
MOST_EVALUATIONS = 1000


def log_probability_of_labels(graph: Graph, statement: Statement, values: Values) -> float | None:
    """The log probability of the labels of a statement, given all else."""
    labels = _labels_of(graph, statement, values)
    if labels is None:
        return None
    total = 0.0
    moved = np.where(labels.free, _next(labels), labels.own)
    for position in np.argwhere(labels.free):
        element = tuple(position)
        heights, size = labels.heights(labels.own, element)
        elsewhere, size_elsewhere = labels.heights(moved, element)
        total += heights[labels.own[element] - labels.lower[element]] - logsumexp(heights)
        # (given other labels of the rest)
        change = np.ptp(heights - elsewhere)
        if not change <= RELATIVE_TOLERANCE * (size + size_elsewhere):
            return None
    return float(total)


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels of a statement: those that there are, their ends, and which are drawn."""

    graph: Graph
    statement: Statement
    values: Values
    own: Any
    lower: Any
    upper: Any
    free: Any

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The statement of the labels, and the factors that see them."""
        seen = (self.statement, *self.graph.factors_of(self.statement.target.array))
        return tuple({f.name: f for f in seen}.values())

    def heights(self, labels: Any, element: tuple[int, ...]) -> tuple[Floats, float]:
        """The log density at each label of one element, given those of the rest; and its size."""
        name, sizes = self.statement.target.array.name, self.graph.sizes
        values = {**self.values, name: np.array(self.values[name])}
        found, largest = [], 1.0
        for label in range(self.lower[element], self.upper[element] + 1):
            put_in = labels.copy()
            put_in[element] = label
            fill(self.statement, put_in, values, sizes)
            terms = [log_density(f, values, sizes) for f in self.factors]
            found.append(sum(float(t.sum()) for t in terms))
            largest = max(largest, *(float(np.abs(t[np.isfinite(t)]).sum()) for t in terms))
        return np.array(found), largest


def _labels_of(graph: Graph, statement: Statement, values: Values) -> _Labels | None:
    """The labels of a statement; None where they are no labels, or too many."""
    over, support = regions(statement, graph.sizes), statement.support
    free = free_elements(statement, values, graph.sizes)
    own, lower, upper = (
        np.broadcast_to(evaluate(sp.sympify(e), over, values, graph.sizes), free.shape)
        for e in (statement.target, support.lower, support.upper)
    )
    if support.kind != "integer" or not (np.isfinite(lower) & np.isfinite(upper)).all():
        return None
    if 2 * np.where(free, upper - lower + 1, 0).sum() > MOST_EVALUATIONS:
        return None
    own, lower, upper = (a.astype(int) for a in (own, lower, upper))
    return _Labels(graph, statement, values, own, lower, upper, free)


def _next(labels: _Labels) -> Any:
    """Other labels, each the next one."""
    count = labels.upper - labels.lower + 1
    return labels.lower + (labels.own - labels.lower + 1) % count
