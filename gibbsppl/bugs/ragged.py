"""Lines that give vectors of different lengths, ``x[i, 1:n[i]] ~ ddirch(...)``, or parts of axes.

Comes in: lines at their positions, and what is known. Goes out: lines each of which gives ranges
with the same ends at all of its positions, and vectors with a distribution that fill an axis: those
that do not are arrays of their own, ``x.1``, of which ``x`` has copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.numbers import Numbers, elements_of, evaluator_of, target_of
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.syntax import Assignment, Number, Operation, Program, Stochastic
from gibbsppl.bugs.values import Known
from gibbsppl.graph import fresh


def divided(
    program: Program, relations: tuple[Relation, ...], numbers: Mapping[str, Numbers]
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """The lines, numbered anew, those divided whose ranges have ends that differ."""
    found = [part for r in relations for part in _parts(program, r, numbers)]
    return tuple(replace(part, number=n) for n, part in enumerate(found)), dict(numbers)


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


def with_own_arrays(
    program: Program, relations: tuple[Relation, ...], numbers: Mapping[str, Numbers]
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """The lines with vectors that fill a part of an axis as arrays of their own."""
    found: list[Relation] = []
    known, taken = dict(numbers), set(numbers)
    for r in relations:
        spans = _spans(program, r, known)
        if spans is None:
            found.append(r)
            continue
        assert isinstance(r.line, Stochastic)
        own = fresh(f"{r.line.target.name}.part", taken)
        taken.add(own)
        drawn, copied = _apart(r.line, own, spans, alone=not r.around)
        known |= _moved(program, r, own, known)
        found += [replace(r, line=drawn), replace(r, line=copied)]
    return tuple(replace(r, number=n) for n, r in enumerate(found)), known


Spans = Mapping[int, tuple[int, int]]


def _spans(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> Spans | None:
    """The ends of the ranges that a line with ~ gives, by axis, unless they fill all of these."""
    line, space = relation.line, relation.space
    if not isinstance(line, Stochastic) or space is None or line.target.name not in numbers:
        return None
    if target_of(program, relation, numbers) is None:  # (an error, where elements are counted)
        return None
    evaluator = evaluator_of(program, numbers, space)
    found = {}
    for axis, index in enumerate(line.target.indices or ()):
        if isinstance(index, Operation) and index.operator == ":":
            ends = [evaluator.number(e) for e in index.operands]
            low, high = (int(e.grid.values.flat[0]) for e in ends if isinstance(e, Known))
            found[axis] = (low, high)
    shape = numbers[line.target.name].shape
    is_whole = all((low, high) == (1, shape[axis]) for axis, (low, high) in found.items())
    return None if not found or is_whole else found


def _apart(
    line: Stochastic, own: str, spans: Spans, *, alone: bool
) -> tuple[Stochastic, Assignment]:
    """The line for an array of its own, and the line that copies it to where it was."""
    indices = line.target.indices or ()
    ranges = {
        axis: Operation(":", (Number(1.0), Number(float(high - low + 1))))
        for axis, (low, high) in spans.items()
    }
    kept = tuple(
        ranges.get(axis, index) for axis, index in enumerate(indices) if axis in ranges or not alone
    )
    target = replace(line.target, name=own, indices=kept)
    return replace(line, target=target), Assignment(line.target, None, target, line.at)


def _moved(
    program: Program,
    relation: Relation,
    own: str,
    numbers: Mapping[str, Numbers],
) -> dict[str, Numbers]:
    """What is known of the elements of a line, as the numbers of its own array."""
    name = relation.line.target.name
    array = numbers[name]
    at = target_of(program, relation, numbers)
    assert at is not None
    dims, elements, axes = elements_of(program, relation.line.target, array.shape, at)
    if not array.known[elements].any():
        return {}
    assert relation.space is not None
    if relation.around:
        raise program.error(
            relation.line.at,
            f"{name} is observed where it is a part of an axis, in a loop; expected an array of "
            "its own for such vectors.",
        )
    order = [dims.index(a) for a in axes]
    values = np.transpose(array.values[elements], order)
    known = np.transpose(array.known[elements], order)
    left = Numbers(array.values, array.known.copy())
    left.known[elements] = False
    return {name: left, own: Numbers(np.array(values), np.array(known))}


def _ends(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> list[Grid]:
    """The ends of ranges among the indices of what a line gives, where they differ."""
    if relation.space is None or not relation.space.size:
        return []
    evaluator = evaluator_of(program, numbers, relation.space)
    ranges = (i for i in relation.line.target.indices or () if isinstance(i, Operation))
    values = [evaluator.number(e) for i in ranges if i.operator == ":" for e in i.operands]
    grids = [v.grid.reduced() for v in values if isinstance(v, Known)]
    return [g for g in grids if g.dims and g.is_known]
