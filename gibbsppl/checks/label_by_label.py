"""The log probability of labels in a graph, by the log density with each label put in.

Comes in: a graph, a statement of labels and the values of all arrays. Goes out: the log
probability of its labels given all else, or None where they depend on one another, or are too
many. Nothing is derived: for each element in turn, the log density is evaluated at all labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy.special import logsumexp

from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.checks.terms import Terms, size_of
from gibbsppl.density import free_elements, regions
from gibbsppl.evaluation import Values, evaluate
from gibbsppl.forward import fill
from gibbsppl.graph import Graph, Statement

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
        there = [list(labels.put_in(own, element)) for own in (labels.own, moved)]
        here, elsewhere = ([labels.terms.at(v) for v in values] for values in there)
        heights = np.array([t.sum() for t in here])
        total += heights[labels.own[element] - labels.lower[element]] - logsumexp(heights)
        # (given other labels of the rest)
        change = float(np.ptp(heights - [t.sum() for t in elsewhere]))
        size = max(map(size_of, here)) + max(map(size_of, elsewhere))
        size = labels.terms.size_behind(change, max(size, 1.0), [v for vs in there for v in vs])
        if not change <= RELATIVE_TOLERANCE * size:
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
    def terms(self) -> Terms:
        """The log densities of the statement of the labels, and of the factors that see them."""
        seen = (self.statement, *self.graph.factors_of(self.statement.target.array))
        return Terms(tuple({f.name: f for f in seen}.values()), self.graph.sizes)

    def put_in(self, labels: Any, element: tuple[int, ...]) -> Iterator[Values]:
        """The values with each label of one element, the labels of the rest as they are."""
        name = self.statement.target.array.name
        for label in range(self.lower[element], self.upper[element] + 1):
            changed = labels.copy()
            changed[element] = label
            values = {**self.values, name: np.array(self.values[name])}
            fill(self.statement, changed, values, self.graph.sizes)
            yield values


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
