"""Lines of vectors of different lengths, ``x[i, 1:n[i]] ~ ddirch(...)``, or of parts of axes.

Comes in: lines at their positions, and known numbers. Goes out: lines each of which gives ranges
with the same ends at all positions, and reads ranges of one length where that is needed; and random
vectors that fill an axis: shorter vectors are arrays of their own, ``x.1``, copied to ``x``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.algebra.ranges import fresh
from gibbsppl.bugs.distributions import distribution
from gibbsppl.bugs.functions import function
from gibbsppl.bugs.grids import Grid, combined
from gibbsppl.bugs.numbers import Numbers, elements_of, evaluator_of, is_settled, target_of
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.rows import Distribution, Function
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Expression,
    Number,
    Operation,
    Program,
    Stochastic,
    is_range,
    parts_of,
)
from gibbsppl.bugs.values import Known


def divided(
    program: Program, relations: tuple[Relation, ...], numbers: Mapping[str, Numbers]
) -> tuple[Relation, ...]:
    """The lines, renumbered, each divided into parts with ranges of one length where needed.

    A line that gives vectors is divided by the ends of its ranges. A line that reads vectors is
    divided by the lengths, unless it only reduces them (as sums do), or all values are known.
    """
    found = [part for r in relations for part in _parts(program, r, numbers)]
    return tuple(replace(part, number=n) for n, part in enumerate(found))


def _parts(
    program: Program, relation: Relation, numbers: Mapping[str, Numbers]
) -> Iterator[Relation]:
    labels = _labels(program, relation, numbers)
    space = relation.space
    if space is None or not labels:
        yield relation
        return
    every = np.stack([space.rows(e) for e in labels])
    changes = (every[:, 1:] != every[:, :-1]).any(axis=0)
    if len(space.dims) == 1:  # (positions in a row with the same ends are a box)
        kinds = np.concatenate([[0], np.cumsum(changes)])
    else:
        kinds = np.unique(every, axis=1, return_inverse=True)[1]
    grid = Grid(space.dims, kinds.reshape(space.shape))
    yield from (relation.within(s) for s in space.divided(grid))


def with_own_arrays(
    program: Program, relations: tuple[Relation, ...], numbers: Mapping[str, Numbers]
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """The lines, with vectors that fill a part of an axis as separate arrays."""
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
        known |= _moved(program, r, own, known, spans)
        found += [replace(r, line=drawn), replace(r, line=copied)]
    return tuple(replace(r, number=n) for n, r in enumerate(found)), known


Spans = Mapping[int, tuple[int, int]]


def _spans(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> Spans | None:
    """The ends of the ranges given by a line with ~, by axis; None if they fill the axes."""
    line, space = relation.line, relation.space
    if not isinstance(line, Stochastic) or space is None or line.target.name not in numbers:
        return None
    if target_of(program, relation, numbers) is None:  # (an error, where elements are counted)
        return None
    evaluator = evaluator_of(program, numbers, space)
    found = {}
    for axis, index in enumerate(line.target.indices or ()):
        if is_range(index):
            ends = [evaluator.number(e) for e in index.operands]
            low, high = (int(e.grid.values.flat[0]) for e in ends if isinstance(e, Known))
            found[axis] = (low, high)
    shape = numbers[line.target.name].shape
    is_whole = all((low, high) == (1, shape[axis]) for axis, (low, high) in found.items())
    return None if not found or is_whole else found


def _apart(
    line: Stochastic, own: str, spans: Spans, *, alone: bool
) -> tuple[Stochastic, Assignment]:
    """The line with a separate array ``own`` as target, and the line that copies ``own`` back."""
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
    spans: Spans,
) -> dict[str, Numbers]:
    """The known elements of a line, as numbers of the separate array."""
    name = relation.line.target.name
    array = numbers[name]
    at = target_of(program, relation, numbers)
    assert at is not None
    _, elements, _ = elements_of(program, relation.line.target, array.shape, at)
    if not array.known[elements].any():
        return {}
    kept = (axis for axis in range(len(elements)) if axis in spans or relation.around)
    places = [elements[axis] - (spans[axis][0] - 1 if axis in spans else 0) for axis in kept]
    shape = tuple(int(a.max()) + 1 for a in places)
    moved = Numbers(np.zeros(shape, array.values.dtype), np.zeros(shape, dtype=bool))
    moved.values[tuple(places)] = array.values[elements]
    moved.known[tuple(places)] = array.known[elements]
    left = Numbers(array.values, array.known.copy())
    left.known[elements] = False
    return {name: left, own: moved}


def _labels(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> list[Grid]:
    """The ends and lengths of ranges by which to divide a line, as far as they vary."""
    if relation.space is None or not relation.space.size:
        return []
    evaluator = evaluator_of(program, numbers, relation.space)

    def ends(range_: Operation) -> list[Grid]:
        values = map(evaluator.number, range_.operands)
        return [v.grid for v in values if isinstance(v, Known)]

    ranges = (i for i in relation.line.target.indices or () if is_range(i))
    found = [end for r in ranges for end in ends(r)]
    is_given = isinstance(relation.line, Assignment) and is_settled(program, relation, numbers)
    if not is_given:
        read = [both for r in of_one_length(relation.line) if len(both := ends(r)) == 2]
        found += [combined(np.subtract, high, low) for low, high in read]
    return [g for g in (f.reduced() for f in found) if g.dims and g.is_known]


def of_one_length(line: Stochastic | Assignment) -> Iterator[Operation]:
    """The ranges on the right side that must have the same length at all positions of a line.

    Ranges that are summed may differ, and so may weights of labels: absent labels have weight 0.
    """
    if isinstance(line, Assignment):
        yield from _of_one_length(line.value, may_differ=False)
        return
    called = line.distribution
    row = distribution(called.function, len(called.arguments))
    names: Sequence[str | None] = (None,) * len(called.arguments)
    if isinstance(row, Distribution) and not row.event:
        names = tuple(row.parameters)
    for name, argument in zip(names, called.arguments, strict=True):
        is_weights = isinstance(row, Distribution) and name is not None and name == row.weights
        yield from _of_one_length(argument, may_differ=is_weights)


def _of_one_length(expression: Expression, *, may_differ: bool) -> Iterator[Operation]:
    if isinstance(expression, Call | Operation):
        name = expression.function if isinstance(expression, Call) else expression.operator
        if name == ":":
            if not may_differ:
                assert isinstance(expression, Operation)
                yield expression
            return
        row = function(name, len(parts_of(expression)))
        if isinstance(row, Function) and row.of_arrays:
            may_differ = row.is_fold
    for part in parts_of(expression):
        yield from _of_one_length(part, may_differ=may_differ)
