"""Recursive arrays with lines at positions that form no box, such as ``(f[i] + 1):T``.

Comes in: the lines that give elements of an array. Goes out: the array's value, region after region
along one axis. Where several lines give elements of a region, each position has the value of its
line; an element that no line gives is 0, and never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, dims_of, leaves_of
from gibbsppl.algebra.functions import Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.parts import bound, unsupported
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Relation, Space
from gibbsppl.bugs.syntax import Assignment, Stochastic
from gibbsppl.bugs.values import Known
from gibbsppl.model.graph import Constant


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """The elements of an array given by one line or by the data: positions and value."""

    where: np.ndarray
    value: Expr


def in_regions(
    facts: Facts, elements: Elements, name: str, lines: Sequence[Relation]
) -> list[Constant]:
    """The regions of an array with elements given by ``lines`` with ``<-``, each with its value."""
    dims, shape = elements.dims[name], facts.shape(name)
    space = Space(dict(zip(dims, shape, strict=True)), {}, dict.fromkeys(dims, 0))
    computed = [_of_line(facts, elements, space, r) for r in lines]
    axis = _axis(facts, dims, [s.value for s in computed])
    if axis is None:
        line = lines[0].line
        assert isinstance(line, Assignment)
        raise unsupported(facts, name, line, line.at)
    others = (_drawn(facts, elements, space, name), _known(facts, elements, space, name))
    sources = [*computed, *(s for s in others if s is not None)]
    given = [Known(Grid(dims, s.where.astype(int)), text=f"{name}_given") for s in sources]
    found = []
    for start, stop, present in _regions([s.where for s in sources], axis):
        value: Expr = sp.S.Zero
        for n in present:
            here = sources[n].where.take(range(start, stop), axis)
            mask = elements.expr_of(given[n], space)
            value = sources[n].value if here.all() else Where(mask, sources[n].value, value)
        ends = [(start, stop) if a == axis else (0, size) for a, size in enumerate(shape)]
        over = tuple(Range(d, *e) for d, e in zip(dims, ends, strict=True))
        found.append(Constant(Array(name)[dims], over, value))
    return found


def _regions(
    masks: Sequence[np.ndarray], axis: int
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The stretches of an axis with the same masks true somewhere, and the numbers of these masks.

    >>> first, later = np.eye(2, 4, dtype=bool), np.array([[0, 1, 1, 1], [0, 0, 1, 1]], bool)
    >>> list(_regions([first, later], 1))
    [(0, 1, (0,)), (1, 2, (0, 1)), (2, 4, (1,))]
    """

    def present(at: int) -> tuple[int, ...]:
        return tuple(n for n, mask in enumerate(masks) if mask.take(at, axis).any())

    for found, positions in groupby(range(masks[0].shape[axis]), present):
        first, *rest = positions
        if found:
            yield first, first + len(rest) + 1, found


def _of_line(facts: Facts, elements: Elements, space: Space, line: Relation) -> _Source:
    """The mask and value of a line with ``<-``; off the mask the value is at the first position."""
    assignment = line.line
    assert isinstance(assignment, Assignment)
    defined = facts.defined[assignment.target.name]
    where = defined.relation == line.number + 1
    some = np.where(where, defined.position, defined.position[where][0])
    inside = bound(facts, line.number + 1, Grid(space.dims, some), space)
    elements.within = Grid(space.dims, where)
    with facts.program.told_at(assignment.value.at):
        evaluator = Evaluator(facts.program, elements, inside)
        value = evaluator.assigned(assignment)
        expr = evaluator.expr(value)
    elements.within = None
    if value.axes:
        raise unsupported(facts, assignment.target.name, assignment, assignment.at)
    return _Source(where, expr)


def _drawn(facts: Facts, elements: Elements, space: Space, name: str) -> _Source | None:
    """The elements given by lines with ``~``, observed ones among them."""
    lines = [r for r in facts.relations if r.line.target.name == name]
    drawn = [r.number + 1 for r in lines if isinstance(r.line, Stochastic)]
    where = np.isin(facts.defined[name].relation, drawn)
    if not where.any():
        return None
    first = np.argwhere(where)[0]
    at = tuple(np.where(where, i, n) for i, n in zip(np.indices(where.shape), first, strict=True))
    elements.within = Grid(space.dims, where)
    expr = elements.element(lines[0].line.target, space.dims, at, space)
    elements.within = None
    return _Source(where, expr)


def _known(facts: Facts, elements: Elements, space: Space, name: str) -> _Source | None:
    """The elements known as numbers."""
    numbers = facts.numbers[name]
    where = numbers.known & (facts.defined[name].relation == 0)
    if not where.any():
        return None
    grid = Grid(space.dims, np.where(where, numbers.values, 0))
    return _Source(where, elements.expr_of(Known(grid, text=f"{name}_known"), space))


def _axis(facts: Facts, dims: tuple[Dim, ...], values: Sequence[Expr]) -> int | None:
    """The axis along which elements of computed arrays are read at other positions."""
    for value in values:
        for leaf in leaves_of(value):
            if leaf.array.name in facts.computed:
                for index in leaf.indices:
                    own = [d for d in dims_of(index) if d in dims and index != d]
                    if own:
                        return dims.index(own[0])
    return None
