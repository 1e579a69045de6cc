"""Blocks with a quadratic log density, as normal distributions at a state.

Comes in: a graph, a block, the values of all arrays. Goes out: the precision matrix of its elements
given all else, by row; None where it is too large, or improper. Of many elements, few of which are
tied to one another, it is sparse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
class Numbered:
    """The elements of some arrays by row: the product of their precision matrix and mean.

    ``numbers`` has for each array the row of each of its elements, -1 for elements that are known.
    """

    numbers: Mapping[str, Ints]
    linear: Floats

    def of(self, statement: Statement, graph: Graph) -> Ints:
        """The rows of the elements of a statement."""
        own = self.numbers[statement.target.array.name]
        found: Ints = np.ravel(own[slices_of(region_of(graph, statement))])
        return found[found >= 0]

    def as_vector(self, values: Values) -> Floats:
        """The values of all elements, by row."""
        found = np.zeros(len(self.linear))
        for name, rows in self.numbers.items():
            found[rows[rows >= 0]] = np.broadcast_to(values[name], rows.shape)[rows >= 0]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class NormalBlock(Numbered):
    """The precision matrix of the elements of some arrays, given all else, and its mean."""

    precision: Floats


@dataclass(frozen=True, slots=True, eq=False)
class SparseBlock(Numbered):
    """A `NormalBlock` of many elements, few of which are tied: a matrix of SciPy, by columns."""

    precision: Any


def normal_block(
    graph: Graph, block: Quadratic, values: Values, *, whole: bool = True
) -> NormalBlock | None:
    """The block at a state; None if it is too large for a matrix of its precision, or improper.

    One that is not ``whole`` is of a part of its log density, and may be improper.
    """
    numbers, order = _numbers(graph, block, values)
    positions = sum(prod(map(len, p.over)) for p in block.pieces)
    if not 0 < order <= LARGEST or positions > MOST_CELLS:
        return None
    precision, linear = np.zeros((order, order)), np.zeros(order)
    for rows, weight in _terms(graph, block, values, numbers):
        np.add.at(precision if len(rows) == 2 else linear, rows, weight)
    both = precision + precision.T
    finite = np.isfinite(both).all() and np.isfinite(linear).all()
    told = finite and (not whole or _is_proper(both))
    return NormalBlock(numbers, linear, both) if told else None


def sparse_block(graph: Graph, block: Quadratic, values: Values) -> SparseBlock | None:
    """The block of many elements at a state; None where the precision is beyond all floats."""
    from scipy import sparse  # noqa: PLC0415  (of large models alone)

    numbers, order = _numbers(graph, block, values)
    linear, entries = np.zeros(order), list[tuple[Any, ...]]()
    for rows, weight in _terms(graph, block, values, numbers):
        if len(rows) == 1:
            np.add.at(linear, rows, weight)
        else:
            entries.append((*rows, weight))
    first, second, weights = (np.concatenate(of) for of in zip(*entries, strict=True))
    one = sparse.coo_matrix((weights, (first, second)), (order, order))
    finite = np.isfinite(weights).all() and np.isfinite(linear).all()
    return SparseBlock(numbers, linear, (one + one.T).tocsc()) if finite else None


def _numbers(graph: Graph, block: Quadratic, values: Values) -> tuple[dict[str, Ints], int]:
    """The rows of the elements of arrays, and how many there are."""
    numbers: dict[str, Ints] = {}
    order = 0
    for name, free in masks_of(graph, block, values).items():
        own = np.full(free.shape, -1, dtype=np.intp)
        own[free] = np.arange(order, order + int(free.sum()))
        numbers[name], order = own, order + int(free.sum())
    return numbers, order


def _terms(
    graph: Graph, block: Quadratic, values: Values, numbers: Mapping[str, Ints]
) -> Iterator[tuple[tuple[Ints, ...], Floats]]:
    """Yield halves of the precision at two rows, and what is linear at one."""
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
            yield _of_free(rows[:1], weight)
            continue
        (first, one), (second, other) = (rows[0], known[0]), (rows[-1], known[-1])
        yield _of_free((first, second), -weight)
        yield _of_free((np.where(second < 0, first, -1),), weight * other)
        yield _of_free((np.where(first < 0, second, -1),), weight * one)


def _is_proper(precision: Floats) -> bool:
    """Whether a precision matrix is positive definite by more than its rounding."""
    diagonal = np.diag(precision)
    if not (diagonal > 0.0).all():
        return False
    scale = np.sqrt(diagonal)
    try:
        pivots = np.diag(np.linalg.cholesky(precision / scale / scale[:, None]))
    except np.linalg.LinAlgError:
        return False
    return bool(pivots.min() ** 2 > len(pivots) * np.finfo(float).eps)


def _of_free(rows: Sequence[Ints], weight: Floats) -> tuple[tuple[Ints, ...], Floats]:
    """Rows, and weights at these, but for elements that are known."""
    inner = np.logical_and.reduce([r >= 0 for r in rows])
    return tuple(r[inner] for r in rows), weight[inner]
