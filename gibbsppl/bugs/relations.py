"""The lines of a program with the loops around them, and all positions of these loops.

Comes in: a program, and known numbers. Goes out: relations, one for each line, with their spaces:
rectangular nests of loops are boxes with a dim for each loop; other nests (``j in 1:n[i]``) are
tables, with one dim for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.bugs.grids import Array, Grid
from gibbsppl.bugs.syntax import Assignment, Expression, Loop, Statement, Stochastic

# Gives a value (along one more dim, if it is a vector) at the positions of a space, once known.
Evaluate = Callable[[Expression, "Space"], Grid | None]


@dataclass(frozen=True, eq=False)
class Space:
    """The positions of loops: the number along each dim, and the values of loop variables.

    ``starts`` are the positions at which the dims start (0 by default). ``within`` is a mask of the
    loops' positions (None: all); with a mask, ``starts`` has all axes of an array in order, single
    positions included.
    """

    sizes: Mapping[Dim, int]
    loops: Mapping[str, Grid]
    starts: Mapping[Dim, int]
    within: Grid | None = None

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dims, the outermost loop's first."""
        return tuple(self.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of positions along each dim."""
        return tuple(self.sizes.values())

    @cached_property
    def size(self) -> int:
        """The number of positions."""
        return prod(self.shape)

    @cached_property
    def used(self) -> frozenset[Dim]:
        """All dims in use: the space's, and the dims of vectors among the loop variables."""
        return frozenset((*self.sizes, *(d for g in self.loops.values() for d in g.dims)))

    def table(self, dim: Dim, where: Array | None = None) -> Space:
        """The same positions, or some of them, as rows of a table along one dim."""
        kept = np.arange(self.size) if where is None else np.flatnonzero(np.ravel(where))
        loops = {n: Grid((dim,), self.rows(g)[kept]) for n, g in self.loops.items()}
        return Space({dim: len(kept)}, loops, {dim: 0})

    def box(self, ends: Mapping[Dim, tuple[int, int]]) -> Space:
        """The positions between two ends along some dims."""
        sizes = {d: ends[d][1] - ends[d][0] if d in ends else n for d, n in self.sizes.items()}
        loops = {}
        for name, g in self.loops.items():
            cut = tuple(slice(*ends[d]) if d in ends else slice(None) for d in g.dims)
            loops[name] = Grid(g.dims, g.values[cut])
        return Space(sizes, loops, dict(self.starts))

    def divided(self, labels: Grid) -> Iterator[Space]:
        """The positions of each label: boxes where they are, else tables of rows."""
        full = np.broadcast_to(labels.along(self.dims), self.shape)
        for label in np.unique(labels.values):
            inside = full == label
            ends = {}
            for axis, dim in enumerate(self.dims):
                others = tuple(a for a in range(inside.ndim) if a != axis)
                where = np.flatnonzero(inside.any(axis=others))
                ends[dim] = (int(where[0]), int(where[-1]) + 1)
            box = tuple(slice(*ends[d]) for d in self.dims)
            yield self.box(ends) if inside[box].all() else self.table(Dim("row"), inside)

    def rows(self, grid: Grid) -> Array:
        """Numbers at all positions, in order."""
        return np.broadcast_to(grid.along(self.dims), self.shape).ravel()

    def renamed(self, names: Mapping[Dim, Dim], starts: Mapping[Dim, int]) -> Space:
        """The same positions along dims of other names, that start elsewhere."""
        sizes = {names.get(d, d): n for d, n in self.sizes.items()}
        loops = {n: g.renamed(dict(names)) for n, g in self.loops.items()}
        return Space(sizes, loops, {d: starts.get(d, 0) for d in sizes})


EMPTY = Space({}, {}, {})


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A line with the loops around it and their positions; ``number``: the line's, from 0."""

    number: int
    line: Stochastic | Assignment
    around: tuple[Loop, ...]
    space: Space | None = None

    def within(self, space: Space) -> Relation:
        """The same line at other positions."""
        return replace(self, space=space)


def relations_of(statements: tuple[Statement, ...]) -> tuple[Relation, ...]:
    """The lines of a block, in order."""
    return tuple(
        Relation(number, line, around)
        for number, (line, around) in enumerate(_lines(statements, ()))
    )


def _lines(
    statements: tuple[Statement, ...], around: tuple[Loop, ...]
) -> Iterator[tuple[Stochastic | Assignment, tuple[Loop, ...]]]:
    for s in statements:
        if isinstance(s, Loop):
            yield from _lines(s.body, (*around, s))
        else:
            yield s, around


def space_of(around: tuple[Loop, ...], evaluate: Evaluate) -> Space | None:
    """All positions of loops, the innermost fastest; None while the values of one are unknown."""
    space = EMPTY
    for loop in around:
        values = evaluate(loop.values, space)
        if values is None:
            return None
        space = _entered(space, loop.name, values)
    return space


def _entered(space: Space, name: str, values: Grid) -> Space:
    """A space with one more loop, whose values are along the last dim of a grid, where known."""
    own = values.dims[-1]
    regular = values.known is True and not set(values.dims[:-1]) & set(space.dims)
    dim = Dim(name)
    while dim in space.sizes:
        dim = Dim(dim.name + "_")
    if regular:
        count = values.values.shape[-1]
        loops = {**space.loops, name: Grid((dim,), values.values.reshape(count))}
        return Space({**space.sizes, dim: count}, loops, {**space.starts, dim: 0})
    full = (*space.shape, values.values.shape[-1])
    rows = (space.size, full[-1])
    every = np.broadcast_to(values.along((*space.dims, own)), full).reshape(rows)
    known = np.broadcast_to(values.known_along((*space.dims, own)), full).reshape(rows)
    row, column = np.nonzero(known)
    table = space.table(dim)
    loops = {n: Grid((dim,), g.values[row]) for n, g in table.loops.items()}
    loops[name] = Grid((dim,), every[row, column])
    return Space({dim: len(row)}, loops, {dim: 0})
