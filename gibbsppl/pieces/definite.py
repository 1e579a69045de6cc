"""Arrays of positive definite matrices: by what is known of their elements, or by their support.

Comes in: a graph with its data, the name of an array. Goes out: yes or no.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.model.operations import is_positive_definite


def holds_definite(graph: Graph, data: Values, name: str) -> bool:
    """Whether the elements of an array are positive definite matrices along its last axes.

    >>> from gibbsppl.algebra.expressions import Dim
    >>> graph = Graph("g", {Dim("i"): 2}, {}, ())
    >>> data = {"one": np.eye(2), "zero": np.zeros((2, 2)), "row": np.ones(2)}
    >>> [holds_definite(graph, data, name) for name in data]
    [True, False, False]
    """
    if name in data and name not in graph.random:
        return answer(data, _are_definite, name)
    supports = [s.support for s in graph.statements_of(name)]
    return bool(supports) and all(s.kind == "spd" for s in supports)


def _are_definite(data: Values, name: str) -> bool:
    matrices = np.asarray(data[name], dtype=float)
    return matrices.ndim > 1 and bool(np.all(is_positive_definite(matrices)))
