"""A start inside of all requirements that are linear: orders, intervals, sums between limits.

Comes in: a graph, its requirements, values, which elements are free. Goes out: the values with the
free elements moved, as little as possible, to where all linear requirements are met with room to
spare: a quarter of the most that all can have at once. Both are linear programmes, as in Boyd and
Vandenberghe, Convex Optimization (2004), sections 4.3.1 (the centre) and 6.1 (the nearest point).

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> from gibbsppl.algebra.functions import Below
>>> from gibbsppl.algebra.ranges import Range
>>> from gibbsppl.initial.requirements import requirements_of
>>> from gibbsppl.model.graph import Potential, Variable
>>> i, x = Dim("i"), Array("x")
>>> rising = Potential("rising", sp.log(Below(x[i], x[i + 1])), (Range(i, 0, 3),))
>>> graph = Graph("g", {i: 4}, {"x": Variable("x", (i,), "random")}, (), (rising,))
>>> values = {"x": np.array([3.0, 2.0, 1.0, 9.0])}
>>> free = {"x": np.array([True, True, True, False])}
>>> moved = inside_linear(graph, requirements_of(graph), values, free)
>>> bool((np.diff(moved["x"]) > 0.5).all()), float(moved["x"][3])
(True, 9.0)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, eye_array, hstack, vstack

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.functions import Maximum, Minimum
from gibbsppl.initial.requirements import Requirement
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.forward import State
from gibbsppl.model.graph import Graph
from gibbsppl.model.operations import Bools
from gibbsppl.pieces.split import Piece, split

Ints = NDArray[np.intp]

# The share of the most room that all requirements can have at once.
ROOM = 0.25
# So many inequalities at most, and so many of one gap with a choice of largest values.
MOST_ROWS = 100_000
MOST_PARTS = 64


def inside_linear(
    graph: Graph, requirements: Sequence[Requirement], values: State, free: Values
) -> State:
    """The values, the free elements moved to where all linear requirements are met, if possible.

    Whole numbers, and entries that are tied to one another, stay.
    """
    names = [n for n in sorted(free) if free[n].any() and _is_movable(graph, n)]
    system = _system_of(graph, requirements, values, names)
    if system is None:
        return values
    start = np.concatenate([np.ravel(values[n]) for n in names])
    is_free = np.concatenate([np.ravel(free[n]) for n in names]) & system.is_read
    moved = system.nearest(start, is_free)
    if moved is None:
        return values
    shapes = [np.shape(values[n]) for n in names]
    parts = np.split(moved, np.cumsum([math.prod(s) for s in shapes])[:-1])
    return {**values, **{n: p.reshape(s) for n, p, s in zip(names, parts, shapes, strict=True)}}


def _is_movable(graph: Graph, name: str) -> bool:
    """Whether the elements of an array are numbers that can be moved one by one."""
    kinds = {s.support.kind for s in graph.statements_of(name)}
    return kinds <= {"real", "vector"} and not graph.variables[name].integer


@dataclass(frozen=True, slots=True)
class _System:
    """``matrix @ x + offset <= 0``, with room where ``has_room``."""

    matrix: csr_array
    offset: Floats
    has_room: Floats

    @property
    def is_read(self) -> Bools:
        """The elements that any inequality reads."""
        return np.asarray(abs(self.matrix).sum(axis=0) > 0)

    def nearest(self, start: Floats, is_free: Bools) -> Floats | None:
        """The point nearest to a start (sum of distances) with room; None if there is none."""
        # (solvers know of no numbers but those near 1)
        scale = float(max(np.abs(start).max(), np.abs(self.offset).max())) or 1.0
        start, n = start / scale, len(start)
        read = np.flatnonzero(abs(self.matrix) @ is_free)
        matrix, most = self.matrix[read], -self.offset[read] / scale
        has_room, fixed = self.has_room[read], _fixed(start, is_free)
        with_room = hstack([matrix, has_room[:, None]], format="csr")
        aim = np.r_[np.zeros(n), -1.0]
        widest = linprog(aim, with_room, most, bounds=[*fixed, (0.0, 1.0)])
        if not widest.success or not (widest.x[-1] > 0 or not has_room.any()):
            return None
        one = eye_array(n, format="csr")
        rows = vstack([
            hstack([matrix, csr_array(matrix.shape)]),
            hstack([one, -one]),
            hstack([-one, -one]),
        ], format="csr")  # fmt: skip
        most = np.r_[most - ROOM * widest.x[-1] * has_room, start, -start]
        aim = np.r_[np.zeros(n), np.ones(n)]
        found = linprog(aim, rows, most, bounds=[*fixed, *[(0.0, None)] * n])
        return np.where(is_free, found.x[:n], start) * scale if found.success else None


def _fixed(start: Floats, is_free: Bools) -> list[tuple[float | None, float | None]]:
    """The bounds of all elements: none of the free ones."""
    return [(None, None) if f else (v, v) for f, v in zip(is_free, start, strict=True)]


def _system_of(
    graph: Graph, requirements: Sequence[Requirement], values: Values, names: Sequence[str]
) -> _System | None:
    """All linear inequalities about some arrays; None if there are none, or too many."""
    first = dict(zip(names, np.cumsum([0, *(np.size(values[n]) for n in names)]), strict=False))
    width = sum(np.size(values[n]) for n in names)
    blocks = []
    gaps = [(r, r.gap) for r in requirements if r.gap is not None]
    both = {(r.factor, -gap) for r, gap in gaps}
    rows = 0
    for requirement, whole in ((r, gap) for r, gap in gaps if r.mentions(names)):
        for gap in _convex_parts(whole):
            block = _block(graph, requirement, gap, values, first, width)
            if block is None:
                continue
            rows += len(block[1])
            if rows > MOST_ROWS:
                return None
            # (two sides that are equal have no room)
            has_room = float((requirement.factor, whole) not in both)
            blocks.append((*block, np.full(len(block[1]), has_room)))
    if not blocks:
        return None
    matrices, offsets, rooms = zip(*blocks, strict=True)
    return _System(vstack(matrices, format="csr"), np.concatenate(offsets), np.concatenate(rooms))


def _convex_parts(gap: Expr) -> Iterator[Expr]:
    """The gaps that are all met if one is: ``max(a, b) - c`` is ``a - c`` and ``b - c``."""
    choices = [_choices(t) for t in sp.Add.make_args(gap)]
    if math.prod(map(len, choices)) > MOST_PARTS:
        yield gap
        return
    for chosen in product(*choices):
        part = sp.Add(*chosen)
        yield from (part,) if part == gap else _convex_parts(part)


def _choices(term: Expr) -> tuple[Expr, ...]:
    """The terms of which a term is the largest; itself alone if it is no such choice."""
    number, rest = term.as_coeff_Mul()
    if isinstance(rest, Maximum if number > 0 else Minimum):
        return tuple(number * a for a in rest.args)
    return (term,)


def _block(
    graph: Graph,
    requirement: Requirement,
    gap: Expr,
    values: Values,
    first: dict[str, int],
    width: int,
) -> tuple[csr_array, Floats] | None:
    """Matrix and offset of a gap at all positions that count; None if it is not linear."""
    over, sizes = requirement.factor.over, graph.sizes
    pieces = split("", gap, over, first, sizes)
    if not pieces or not all(isinstance(p.statistic, Leaf) for p in pieces):
        return None
    shape = tuple(map(len, over))
    zeros = {n: np.zeros(np.shape(values[n])) for n in first}
    offset = np.broadcast_to(evaluate(gap, over, {**values, **zeros}, sizes), shape).ravel()
    counts = np.broadcast_to(evaluate(requirement.counts, over, values, sizes), shape).ravel() != 0
    parts = [_entries(p, len(shape), values, sizes, first) for p in pieces]
    at, column, value = (np.concatenate(c) for c in zip(*parts, strict=True))
    matrix = coo_array((value, (at, column)), shape=(max(len(offset), 1), width)).tocsr()
    keep = counts & np.isfinite(offset)
    if not np.isfinite(value).all():
        return None
    return matrix[np.flatnonzero(keep)], offset[keep]


def _entries(
    piece: Piece, axes: int, values: Values, sizes: Sizes, first: dict[str, int]
) -> tuple[Ints, Ints, Floats]:
    """Row, column and coefficient of each element that a piece reads."""
    shape = tuple(map(len, piece.over))
    view = piece.views[0]

    def at(expr: Expr) -> Floats:
        return np.broadcast_to(evaluate(expr, piece.over, values, sizes), shape)

    outer, inner = shape[:axes], shape[axes:]
    rows = np.arange(math.prod(outer)).reshape((*outer, *(1,) * len(inner)))
    indices = tuple(np.rint(at(i)).astype(int) for i in view.read)
    own = np.shape(values[view.array.name])
    # (what is outside of the array is read at no position)
    inside = np.ones(shape, dtype=bool)
    for index, size in zip(indices, own, strict=True):
        inside &= (index >= 0) & (index < size)
    flat = np.ravel_multi_index(indices, own, mode="clip") if own else np.zeros(shape, dtype=int)
    column = first[view.array.name] + np.broadcast_to(flat, shape)
    return np.broadcast_to(rows, shape)[inside], column[inside], at(piece.coefficient)[inside]
