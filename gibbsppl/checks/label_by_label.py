"""The log probability of labels in a graph, by the log density with each label put in.

Comes in: a graph, a statement of labels and the values of all arrays. Goes out: the log
probability of its labels given all else, or None where they depend on one another, or are too
many. Nothing is derived: for each element in turn, the log density is evaluated at all labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.special import logsumexp

from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.checks.terms import Terms, size_of
from gibbsppl.model.density import free_elements, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools

# Evaluations of the log density, at most.
Whole = NDArray[np.int_]

MOST_EVALUATIONS = 1000


def log_probability_of_labels(graph: Graph, statement: Statement, values: Values) -> float | None:
    """The log probability of the labels of a statement, given all else."""
    labels = _labels_of(graph, statement, values)
    if labels is None or _exclude_one_another(labels):
        return None
    elements = labels.elements
    here = {e: labels.heights(labels.own, e) for e in elements}
    moved = labels.own.copy()
    for e in elements:
        moved[e] = _next(labels, e, here[e].possible)
    total = 0.0
    for e in elements:
        heights, elsewhere = here[e], labels.heights(moved, e)
        if not heights.possible.any() or (heights.possible != elsewhere.possible).any():
            return None
        total += heights.sums[labels.own[e] - labels.lower[e]] - logsumexp(heights.sums)
        # (given other labels of the rest)
        change = float(np.ptp(heights.of_possible - elsewhere.of_possible))
        size = max(heights.size + elsewhere.size, 1.0)
        at = chain(labels.put_in(labels.own, e), labels.put_in(moved, e))
        if not change <= RELATIVE_TOLERANCE * labels.terms.size_behind(change, size, at):
            return None
    return float(total)


def _exclude_one_another(labels: _Labels) -> bool:
    """True where some labels are impossible because of others.

    Of labels that do not depend on one another, the factors that are zero with all of them changed
    are those that are zero with one of them changed.
    """
    changed = labels.own.copy()
    zero_with_one = labels.zero_factors(labels.own)
    for e in labels.elements:
        one = labels.own.copy()
        one[e] = changed[e] = _next(labels, e)
        zero_with_one = zero_with_one | labels.zero_factors(one)
    return bool((labels.zero_factors(changed) != zero_with_one).any())


@dataclass(frozen=True, slots=True)
class _Heights:
    """The log densities with each label of one element: their sums, and the size of terms."""

    sums: Floats
    size: float

    @property
    def possible(self) -> Bools:
        """A mask of the possible labels."""
        return np.isfinite(self.sums)

    @property
    def of_possible(self) -> Floats:
        """The sums of the labels that are possible."""
        return self.sums[self.possible]


@dataclass(frozen=True, slots=True)
class _Labels:
    """The labels of a statement: values, lower and upper bounds, and a mask of the drawn ones."""

    graph: Graph
    statement: Statement
    values: Values
    own: Whole
    lower: Whole
    upper: Whole
    free: Bools

    @property
    def terms(self) -> Terms:
        """The log densities of the statement of the labels, and of the factors that see them."""
        return Terms(self.graph.factors_of(self.statement.target.array), self.graph.sizes)

    @property
    def elements(self) -> list[tuple[int, ...]]:
        """The positions of the labels that are drawn."""
        return [tuple(position) for position in np.argwhere(self.free)]

    def heights(self, labels: Whole, element: tuple[int, ...]) -> _Heights:
        """The log densities with each label of one element, the labels of the rest as given."""
        terms = [self.terms.at(v) for v in self.put_in(labels, element)]
        return _Heights(np.array([t.sum() for t in terms]), max(map(size_of, terms)))

    def zero_factors(self, labels: Whole) -> Bools:
        """A mask of the elements of factors with density zero, given all labels."""
        return np.isneginf(self.terms.at(self._with(labels)))

    def put_in(self, labels: Whole, element: tuple[int, ...]) -> Iterator[Values]:
        """The values with each label of one element, the labels of the rest as given."""
        for label in range(self.lower[element], self.upper[element] + 1):
            changed = labels.copy()
            changed[element] = label
            yield self._with(changed)

    def _with(self, labels: Whole) -> Values:
        """The values with all labels as given."""
        name = self.statement.target.array.name
        values = {**self.values, name: np.array(self.values[name])}
        fill(self.statement, labels, values, self.graph.sizes)
        return values


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
    if np.where(free, 2 * (upper - lower + 1) + 1, 0).sum() > MOST_EVALUATIONS:
        return None
    at, least, most = (a.astype(np.int_) for a in (own, lower, upper))
    return _Labels(graph, statement, values, at, least, most, free)


def _next(labels: _Labels, element: tuple[int, ...], possible: Bools | None = None) -> int:
    """The next label of an element, in cyclic order; of the ``possible`` labels, if given."""
    count = int(labels.upper[element] - labels.lower[element] + 1)
    at = int(labels.own[element] - labels.lower[element])
    after = np.roll(np.ones(count) if possible is None else possible, -at - 1)
    return int(labels.lower[element] + (at + 1 + after.argmax()) % count)
