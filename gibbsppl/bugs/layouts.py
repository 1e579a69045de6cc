"""The layout of each array in the model: the program's axes, or the rows of a table.

An array whose lines fill boxes keeps its axes. An array filled in another way (``y[i, j]`` for
``j in 1:n[i]``) is a table: its elements in sequence, line by line, with the number of the row for
each element of the program's array.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.distributions import distribution
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid, combined, filled, position_of
from gibbsppl.bugs.numbers import target_of
from gibbsppl.bugs.relations import Relation, Space
from gibbsppl.bugs.rows import Distribution
from gibbsppl.bugs.syntax import Stochastic
from gibbsppl.bugs.values import Known

# An array that constants fill in more boxes than this is a table.
MOST_BOXES = 16
# A box has no more positions than this for each element that its line gives.
MOST_PADDING = 8


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Lines with ``~`` on a box of their array: ranges of the array's dims, or single positions.

    Several lines have the same distribution, and each gives some of the positions.
    """

    parts: tuple[Relation, ...]
    places: tuple[Range | int, ...]
    event: tuple[int, ...]

    @property
    def part(self) -> Relation:
        """The first of the lines, or the only one."""
        return self.parts[0]


@dataclass(frozen=True, slots=True, eq=False)
class Natural:
    """An array with the program's axes: boxes filled by lines, and constant boxes.

    ``padded`` is the mask of the positions in boxes that no line with ``~`` gives (None without
    such positions): known labels, made certain.
    """

    dims: tuple[Dim, ...]
    boxes: tuple[Box, ...]
    constants: tuple[tuple[slice, ...], ...]
    padded: np.ndarray | None = None

    @property
    def form(self) -> str:
        """The suffix of the array's name in the model, if it differs from the program's array."""
        return "" if self.padded is None else "padded"

    @property
    def constant_boxes(self) -> tuple[tuple[slice, ...], ...]:
        """The constant boxes."""
        return self.constants


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """An array in rows: ``row`` has for each element of the program's array its row, or -1.

    ``parts`` are lines with the first and the last row (exclusive) of each; ``constants`` are the
    known elements, whose rows come last. ``event`` are the program's axes that belong to one value.
    """

    dim: Dim
    row: np.ndarray
    parts: tuple[tuple[Relation, int, int], ...]
    event: tuple[int, ...]
    constants: np.ndarray

    @property
    def form(self) -> str:
        """The end of the array's name."""
        return "table"

    @property
    def constant_boxes(self) -> tuple[tuple[slice, ...], ...]:
        """The constant boxes: the last rows."""
        count, rows = len(self.constants), int(self.row.max(initial=-1)) + 1
        return ((slice(rows - count, rows),),) if count else ()


Layout = Natural | Table


def layout_of(
    facts: Facts,
    name: str,
    parts: Sequence[Relation],
    dims: tuple[Dim, ...],
    table: Dim,
) -> Layout:
    """The layout of an array that some parts of lines fill.

    Labels tied to other labels of the array (chains) keep the array's axes, for joint draws.
    """
    targets = [_target(facts, part) for part in parts]
    found = _natural(facts, name, parts, targets, dims)
    if found is None and name in facts.recursive:
        found = _padded(facts, name, parts, targets, dims)
    return _table(facts, name, parts, targets, table) if found is None else found


def _target(facts: Facts, part: Relation) -> tuple[Known, ...]:
    found = target_of(facts.program, part, facts.numbers)
    assert found is not None
    return found


def _natural(
    facts: Facts,
    name: str,
    parts: Sequence[Relation],
    targets: Sequence[tuple[Known, ...]],
    dims: tuple[Dim, ...],
) -> Natural | None:
    shape = facts.shape(name)
    left = np.ones(shape, dtype=bool)
    boxes = []
    for part, target in zip(parts, targets, strict=True):
        box = box_of(part, target, shape, dims)
        if box is None or box.event != tuple(range(len(shape)))[len(shape) - len(box.event) :]:
            return None  # (in the model, vectors are along the last axis)
        boxes.append(box)
        left[tuple(_slice(p) for p in box.places)] = False
    constants = tuple(boxes_of(left))
    return None if len(constants) > MOST_BOXES else Natural(dims, tuple(boxes), constants)


def _row_of_certain(parts: Sequence[Relation]) -> Distribution | None:
    """The row of lines whose distribution can make one value certain, whatever its bounds."""
    found = set()
    for part in parts:
        line = part.line
        if not isinstance(line, Stochastic) or line.restriction is not None:
            return None
        found.add(distribution(line.distribution.function, len(line.distribution.arguments)))
    row = found.pop()
    return row if not found and isinstance(row, Distribution) and row.certain is not None else None


def _padded(
    facts: Facts,
    name: str,
    parts: Sequence[Relation],
    targets: Sequence[tuple[Known, ...]],
    dims: tuple[Dim, ...],
) -> Natural | None:
    """The boxes around the elements of lines; None if other elements in them are no known labels.

    None, too, if the boxes are nearly empty, or the distribution cannot make labels certain.
    """
    row = _row_of_certain(parts)
    if row is None:
        return None
    shape = facts.shape(name)
    places = [_places(part, target, shape) for part, target in zip(parts, targets, strict=True)]
    slices = tuple(_boxes_around(places))
    if len(slices) > MOST_BOXES:
        return None
    left, padded = np.ones(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for s in slices:
        left[s], padded[s] = False, True
    for place in places:
        padded[place >= 0] = False
    is_full = (~left).sum() > MOST_PADDING * (~left & ~padded).sum()
    if is_full or not _are_labels(facts, name, row, padded):
        return None
    constants = tuple(boxes_of(left))
    boxes = tuple(_layered(parts, places, s, dims) for s in slices)
    return Natural(dims, boxes, constants, padded) if len(constants) <= MOST_BOXES else None


def _places(part: Relation, target: tuple[Known, ...], shape: tuple[int, ...]) -> np.ndarray:
    """For each element of an array, the position of a line that gives it, or -1."""
    space = part.space
    assert space is not None
    place = np.full(shape, -1)
    place[tuple(space.rows(i.grid).astype(np.intp) - 1 for i in target)] = np.arange(space.size)
    return place


def _boxes_around(places: Sequence[np.ndarray]) -> Iterator[tuple[slice, ...]]:
    """Disjoint boxes, each covered by the hulls of the same lines, with some element given."""
    around = np.zeros(places[0].shape, dtype=np.int64)
    for n, place in enumerate(places[:MOST_BOXES]):
        around[hull_of(place >= 0)] += 1 << n
    for lines in np.unique(around[around > 0]):
        for box in boxes_of(around == lines):
            if any((place[box] >= 0).any() for place in places):
                yield box


def hull_of(mask: np.ndarray) -> tuple[slice, ...]:
    """The smallest box around the true elements of a mask, which has some."""
    return tuple(slice(int(a.min()), int(a.max()) + 1) for a in np.nonzero(mask))


def _are_labels(facts: Facts, name: str, row: Distribution, padded: np.ndarray) -> bool:
    """Whether the padding between the elements of lines with ~ is known labels, none drawn."""
    numbers, is_given = facts.numbers[name], facts.defined[name].relation > 0
    beside = numbers.values[padded & numbers.known]
    most = np.inf if row.weights else row.values_from + 1
    inside = (row.values_from <= beside) & (beside <= most)
    is_drawn = (is_given & ~numbers.known)[padded].any()
    return bool((inside & (beside == np.rint(beside))).all()) and not is_drawn


def _layered(
    parts: Sequence[Relation],
    places: Sequence[np.ndarray],
    box: tuple[slice, ...],
    dims: tuple[Dim, ...],
) -> Box:
    """A box with the lines that give some of its positions."""
    own = places_of(box, dims)
    sizes = {p.dim: len(p) for p in own if isinstance(p, Range)}
    starts = {d: s.start for d, s in zip(dims, box, strict=True)}
    at = tuple(0 if isinstance(p, int) else slice(None) for p in own)
    found = []
    for part, place in zip(parts, places, strict=True):
        space, here = part.space, place[box]
        assert space is not None
        if (here >= 0).any():
            some, within = filled(here, here >= 0)[at], Grid(tuple(sizes), (here >= 0)[at])
            rows = {n: space.rows(g)[some] for n, g in space.loops.items()}
            loops = {n: Grid(tuple(sizes), r).reduced() for n, r in rows.items()}
            found.append(part.within(Space(sizes, loops, starts, within)))
    return Box(tuple(found), own, ())


def box_of(
    part: Relation, target: tuple[Known, ...], shape: tuple[int, ...], dims: tuple[Dim, ...]
) -> Box | None:
    """The box of elements that a part fills, in the array's dims; None if they form no box."""
    space = part.space
    assert space is not None
    names: dict[Dim, Dim] = {}
    starts: dict[Dim, int] = {}
    places: list[Range | int] = []
    event = []
    for axis, (index, size, dim) in enumerate(zip(target, shape, dims, strict=True)):
        zero = combined(lambda a: np.asarray(a) - 1, index.grid)
        if index.axes:
            if index.grid.dims != index.axes or index.grid.values.size != size:
                return None
            event.append(axis)
            places.append(Range(dim, 0, size))
            continue
        found = position_of(zero, dict(space.starts))
        own = zero.reduced().dims
        if found is None or (own and own[0] in names):
            return None
        if not own:
            places.append(int(found))
            continue
        names[own[0]] = dim
        starts[dim] = int(zero.reduced().values[0])
        places.append(Range(dim, starts[dim], starts[dim] + space.sizes[own[0]]))
    left = [d for d, n in space.sizes.items() if d not in names and n != 1]
    if left:
        return None
    space = _without(space, names)
    moved = part.within(space.renamed(names, starts))
    return Box((moved,), tuple(places), tuple(event))


def _without(space: Space, names: Collection[Dim]) -> Space:
    """A space without dims of one position, along which a target does not vary."""
    gone = [d for d in space.sizes if d not in names]
    if not gone:
        return space
    loops = {}
    for name, grid in space.loops.items():
        kept = tuple(d for d in grid.dims if d not in gone)
        shape = [grid.values.shape[grid.dims.index(d)] for d in kept]
        loops[name] = Grid(kept, grid.values.reshape(shape))
    sizes = {d: n for d, n in space.sizes.items() if d in names}
    return Space(sizes, loops, dict.fromkeys(sizes, 0))


def _slice(place: Range | int) -> slice:
    return slice(place, place + 1) if isinstance(place, int) else slice(place.start, place.stop)


def places_of(box: tuple[slice, ...], dims: tuple[Dim, ...]) -> tuple[Range | int, ...]:
    """The positions of a box along dims: one alone is a number."""
    pairs = zip(box, dims, strict=True)
    return tuple(b.start if b.stop - b.start == 1 else Range(d, b.start, b.stop) for b, d in pairs)


def boxes_of(mask: np.ndarray) -> Iterator[tuple[slice, ...]]:
    """Disjoint boxes that make up a mask."""
    left = mask.copy()
    while left.any():
        first = tuple(int(i) for i in np.unravel_index(int(np.argmax(left)), left.shape))
        ends = [i + 1 for i in first]
        for axis in reversed(range(left.ndim)):
            while ends[axis] < left.shape[axis]:
                wider = list(zip(first, ends, strict=True))
                wider[axis] = (ends[axis], ends[axis] + 1)
                if not left[tuple(slice(*w) for w in wider)].all():
                    break
                ends[axis] += 1
        box = tuple(slice(a, b) for a, b in zip(first, ends, strict=True))
        left[box] = False
        yield box


def _table(
    facts: Facts,
    name: str,
    parts: Sequence[Relation],
    targets: Sequence[tuple[Known, ...]],
    dim: Dim,
) -> Table:
    shape = facts.shape(name)
    event = tuple(n for n, index in enumerate(targets[0]) if index.axes)
    outer = tuple(s for n, s in enumerate(shape) if n not in event)
    row = np.full(outer, -1, dtype=np.intp)
    found, start = [], 0
    for part, target in zip(parts, targets, strict=True):
        space = part.space
        assert space is not None
        own = (i.grid for n, i in enumerate(target) if n not in event)
        at = tuple(space.rows(g).astype(np.intp) - 1 for g in own)
        rows = np.arange(start, start + space.size)
        row[at] = rows
        table = space.table(dim)
        found.append((part.within(table.renamed({}, {dim: start})), start, start + space.size))
        start += space.size
    known = facts.numbers[name].known.all(axis=event) if event else facts.numbers[name].known
    constant = np.flatnonzero((row < 0) & known)
    row.flat[constant] = np.arange(start, start + len(constant))
    return Table(dim, row, tuple(found), event, constant)


def observed_in(
    layout: Layout, values: np.ndarray, known: np.ndarray, lowest: float = 0
) -> Mapping[str, np.ndarray]:
    """The values of an array in its layout, and the mask of known ones; ``lowest`` in padding."""
    if isinstance(layout, Natural) and layout.padded is not None:
        values = np.where(layout.padded & ~known, lowest, values)
        return {"values": values, "known": known | layout.padded}
    if isinstance(layout, Natural):
        return {"values": values, "known": known}
    order = np.argsort(layout.row, axis=None)[(layout.row < 0).sum() :]
    axes = [n for n in range(values.ndim) if n not in layout.event]
    moved = [np.transpose(v, (*axes, *layout.event)) for v in (values, known)]
    flat = [v.reshape(layout.row.size, *v.shape[len(axes) :])[order] for v in moved]
    return {"values": flat[0], "known": flat[1]}
