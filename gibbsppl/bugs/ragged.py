"""Lines that give vectors of different lengths, ``x[i, 1:n[i]] ~ ddirch(...)``, divided by length.

Comes in: lines at their positions, and what is known. Goes out: lines each of which gives ranges
with the same ends at all of its positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.numbers import Numbers, evaluator_of
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.syntax import Operation, Program
from gibbsppl.bugs.values import Known


def divided(
    program: Program, relations: tuple[Relation, ...], numbers: Mapping[str, Numbers]
) -> tuple[Relation, ...]:
    """The lines, numbered anew, those divided whose ranges have ends that differ."""
    found = [part for r in relations for part in _parts(program, r, numbers)]
    return tuple(replace(part, number=n) for n, part in enumerate(found))


def _parts(
    program: Program, relation: Relation, numbers: Mapping[str, Numbers]
) -> Iterator[Relation]:
    ends = _ends(program, relation, numbers)
    space = relation.space
    if space is None or not ends:
        yield relation
        return
    every = np.stack([space.rows(e) for e in ends])
    changes = (every[:, 1:] != every[:, :-1]).any(axis=0)
    if len(space.dims) == 1:  # (positions in a row with the same ends are a box)
        labels = np.concatenate([[0], np.cumsum(changes)])
    else:
        labels = np.unique(every, axis=1, return_inverse=True)[1]
    grid = Grid(space.dims, labels.reshape(space.shape))
    yield from (relation.within(s) for s in space.divided(grid))


def _ends(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> list[Grid]:
    """The ends of ranges among the indices of what a line gives, where they differ."""
    if relation.space is None or not relation.space.size:
        return []
    evaluator = evaluator_of(program, numbers, relation.space)
    ranges = (i for i in relation.line.target.indices or () if isinstance(i, Operation))
    values = [evaluator.number(e) for i in ranges if i.operator == ":" for e in i.operands]
    grids = [v.grid.reduced() for v in values if isinstance(v, Known)]
    return [g for g in grids if g.dims and g.is_known]
