"""The terms of factors, and their sizes: the scale of comparisons of log densities.

Rounding is in proportion to the sizes of terms. Those that cancel within a factor (the logs of
gamma functions of a Student t of many degrees of freedom) are counted where a gap is beyond what
the log densities alone account for: all checks judge gaps by the one ``size_behind``. Where
rounding of the terms hides a gap of one, a comparison that passes proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.initial.search import overflows
from gibbsppl.model.density import log_density, size_of_terms
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Factor, Graph

# What the function of a step gives for its draw: an array, several, or a log density.
Given = Any


@dataclass(frozen=True, slots=True)
class Terms:
    """The log densities of some factors, element by element."""

    factors: Sequence[Factor]
    sizes: Sizes

    def at(self, values: Values) -> Floats:
        """The terms at values of all arrays; their sum counts."""
        found = [np.ravel(log_density(f, values, self.sizes)) for f in self.factors]
        return np.concatenate(found) if found else np.zeros(0)

    def size_behind(self, gap: float, size: float, states: Iterable[Values]) -> float:
        """The size of all terms behind a gap at some states, given the size of their sums.

        Larger where the gap is beyond that: by what cancels within factors.
        """
        if not RELATIVE_TOLERANCE * size < gap < np.inf:
            return size
        return size + sum(size_of_terms(f, v, self.sizes) for v in states for f in self.factors)


def keeps_digits(size: float) -> bool:
    """Whether a gap of one between log densities is seen behind rounding of terms of this size.

    >>> keeps_digits(3e5), keeps_digits(1e47), keeps_digits(np.inf)
    (True, False, False)
    """
    return RELATIVE_TOLERANCE * size < 1.0


def is_comparable(graph: Graph, values: Values) -> bool:
    """Whether log densities can be compared at values: digits are kept, and no power overflows."""
    terms = Terms(graph.factors, graph.sizes).at(values)
    return keeps_digits(np.abs(terms).sum()) and not overflows(graph.factors, values, graph.sizes)


def size_of(*parts: Floats) -> float:
    """The sum of the absolute values of the terms that are finite."""
    return sum(float(np.abs(t[np.isfinite(t)]).sum()) for t in parts)
