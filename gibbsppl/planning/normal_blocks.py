"""Blocks with a quadratic log density, as normal distributions at a state.

Comes in: a graph, a block, the values of all arrays. Goes out: the precision matrix of its elements
given all else, by row; None where it is too large, or improper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gibbsppl.derive.quadratic import Quadratic, degree_of
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.runtime.types import Ints
from gibbsppl.schedule.precisions import MOST_CELLS, masks_of

# Ten products of matrices of this order take a tenth of a second.
LARGEST = 400


@dataclass(frozen=True, slots=True, eq=False)
class NormalBlock:
    """The precision matrix of the elements of some arrays, given all else, and its mean.

    ``linear`` is their product. ``numbers`` has for each array the row of each of its elements, -1
    for elements that are known.
    """

    numbers: Mapping[str, Ints]
    precision: Floats
    linear: Floats

    def of(self, statement: Statement, graph: Graph) -> Ints:
        """The rows of the elements of a statement."""
        own = self.numbers[statement.target.array.name]
        found: Ints = np.ravel(own[slices_of(region_of(graph, statement))])
        return found[found >= 0]

    def as_vector(self, values: Values) -> Floats:
        """The values of all elements, by row."""
        found = np.zeros(len(self.precision))
        for name, rows in self.numbers.items():
            found[rows[rows >= 0]] = np.broadcast_to(values[name], rows.shape)[rows >= 0]
        return found


def normal_block(
    graph: Graph, block: Quadratic, values: Values, *, whole: bool = True
) -> NormalBlock | None:
    """The block at a state; None if it is too large for a matrix of its precision, or improper.

    One that is not ``whole`` is of a part of its log density, and may be improper.
    """
    numbers: dict[str, Ints] = {}
    order = 0
    for name, free in masks_of(graph, block, values).items():
        own = np.full(free.shape, -1, dtype=np.intp)
        own[free] = np.arange(order, order + int(free.sum()))
        numbers[name], order = own, order + int(free.sum())
    positions = sum(prod(map(len, p.over)) for p in block.pieces)
    if not 0 < order <= LARGEST or positions > MOST_CELLS:
        return None
    precision, linear = np.zeros((order, order)), np.zeros(order)
    for piece in block.pieces:
        shape = tuple(map(len, piece.over))

        def at(value: Any, over: Any = piece.over, shape: Any = shape) -> Any:
            return np.broadcast_to(evaluate(value, over, values, graph.sizes), shape)

        weight, rows, known = at(piece.coefficient), list[Any](), list[Any]()
        for view in piece.views:
            where = tuple(at(i).astype(np.intp) for i in view.indices if i is not None)
            array = np.asarray(values[view.array.name], dtype=float)
            rows.append(np.broadcast_to(numbers[view.array.name][where], shape))
            known.append(np.broadcast_to(array[where], shape))
        if degree_of(piece) == 1:
            _add(linear, rows[:1], weight)
            continue
        (first, one), (second, other) = (rows[0], known[0]), (rows[-1], known[-1])
        _add(precision, (first, second), -weight)
        _add(linear, (np.where(second < 0, first, -1),), weight * other)
        _add(linear, (np.where(first < 0, second, -1),), weight * one)
    both = precision + precision.T
    finite = np.isfinite(both).all() and np.isfinite(linear).all()
    told = finite and (not whole or _is_proper(both))
    return NormalBlock(numbers, both, linear) if told else None


def _is_proper(precision: Floats) -> bool:
    """Whether a precision matrix is positive definite."""
    try:
        np.linalg.cholesky(precision)
    except np.linalg.LinAlgError:
        return False
    return True


def _add(into: Floats, rows: Sequence[Ints], weight: Floats) -> None:
    """Add weights at rows of an array, but for elements that are known."""
    inner = np.logical_and.reduce([r >= 0 for r in rows])
    np.add.at(into, tuple(r[inner] for r in rows), weight[inner])
