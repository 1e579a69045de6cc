"""Lines divided into parts, so that each part reads every name at elements of a single line.

``mu[i] <- ...`` may be given by several lines, and ``alpha[1] <- -sum(alpha[2:K])`` be an element
of an array that is random elsewhere. A line that reads ``alpha[group[i]]`` is then two statements:
for the positions where ``group[i]`` is 1, and for all others.

Comes in: facts. Goes out: for each line with ``~`` its parts, each with its own positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid, filled
from gibbsppl.bugs.numbers import check_given, elements_of, numbers_at
from gibbsppl.bugs.relations import Relation, Space
from gibbsppl.bugs.syntax import Assignment, Expression, Position, Reference, Stochastic
from gibbsppl.bugs.values import Formula, Known, Value, lengths_of

NUMBER = -1

# Stands for any random element while lines are divided.
SOMETHING = sp.Symbol("random", real=True)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """The elements that a reference reads, each with its line and the position of the loops.

    ``relation``: the number of the line with ``<-`` of each element; 0 for drawn and for known
    elements of random arrays; `NUMBER` for known elements of other arrays. ``position``: the number
    of the position of the line's loops.
    """

    dims: tuple[Dim, ...]
    at: tuple[np.ndarray, ...]
    axes: tuple[Dim, ...]
    relation: Grid
    position: Grid

    @property
    def lines(self) -> np.ndarray:
        """The different lines, by number."""
        return np.unique(self.relation.values)

    def places(self, line: int) -> Grid:
        """The positions of a line's loops at the line's elements, the nearest of them elsewhere."""
        here = self.relation.values == line
        return Grid(self.position.dims, filled(self.position.values, here)).reduced()


class Divided(Exception):  # noqa: N818  (no error: it says where a line is to be divided)
    """A reference that several lines give: the line of each position of the space."""

    def __init__(self, labels: Grid) -> None:
        super().__init__(labels)
        self.labels = labels


def read_at(facts: Facts, ref: Reference, indices: tuple[Value, ...] | None) -> Known | Read:
    """The elements of a reference with known indices; raise for one with neither data nor line."""
    check_given(facts.program, ref, facts.numbers)
    numbers = facts.numbers[ref.name]
    known = numbers_at(facts.program, ref, numbers, indices)
    if known.is_known:
        return known
    dims, at, axes = elements_of(facts.program, ref, numbers.shape, indices)
    defined = facts.defined[ref.name]
    relation, position = defined.relation[at], defined.position[at]
    nothing = (relation == 0) & ~numbers.known[at]
    if nothing.any():
        first = np.unravel_index(int(np.argmax(np.ravel(nothing))), relation.shape)
        element = ", ".join(str(int(np.broadcast_to(a, relation.shape)[first]) + 1) for a in at)
        raise facts.program.error(
            ref.at,
            f"{ref.name}[{element}] is read here, and nothing gives it: expected it in the data, "
            "or a line with ~ or <-.",
        )  # fmt: skip
    constant = 0 if ref.name in facts.random else NUMBER
    relation = np.where(relation == 0, constant, relation)
    drawn = [
        n for n in np.unique(relation) if n > 0 and isinstance(facts.relation(n).line, Stochastic)
    ]
    relation = np.where(np.isin(relation, drawn), 0, relation)
    return Read(dims, at, axes, Grid(dims, relation), Grid(dims, position))


def bound(facts: Facts, number: int, position: Grid, space: Space) -> Space:
    """The space with a line's loop variables bound to their values at given positions."""
    relation = facts.relation(number)
    assert relation.space is not None
    loops = {
        name: Grid(position.dims, relation.space.rows(grid)[position.values]).reduced()
        for name, grid in relation.space.loops.items()
    }
    return Space(space.sizes, loops, space.starts)


class Recursive(Exception):  # noqa: N818  (no error: it says which arrays are computed by steps)
    """Raised at recursive arrays, with the error to raise if no recursion can be made."""

    def __init__(self, names: frozenset[str], error: Exception) -> None:
        super().__init__(names, error)
        self.names, self.error = names, error


def recursive(facts: Facts, ref: Reference, line: Assignment, through: Iterable[int]) -> Recursive:
    """The exception for a line that reads its own array through lines."""
    names = frozenset(facts.relation(n).line.target.name for n in through)
    return Recursive(names, unsupported(facts, ref.name, line, ref.at))


def unsupported(facts: Facts, name: str, line: Assignment, at: Position) -> Exception:
    """The error of a recursion without an order along one axis, or of vectors that fill no box."""
    return facts.program.error(
        at,
        f"{name} is computed from its own elements by line {line.at.line}, which do not come one "
        "after the other along one index, or are vectors whose positions are no box; expected "
        "numbers, and reads of positions before: x[t - 1].",
    )


class _Dividing:
    """Finds the lines that give the elements read, through all lines with ``<-``."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.reading: list[tuple[int, str]] = []
        self.sizes: list[int] = []

    def reference(
        self, ref: Reference, indices: tuple[Value, ...] | None, evaluator: Evaluator
    ) -> Value:
        """Numbers, or something random; a reference that several lines give divides the space."""
        axes, lengths = tuple(a for i in indices or () for a in i.axes), lengths_of(indices or ())
        if any(isinstance(i, Formula) for i in indices or ()):
            check_given(self.facts.program, ref, self.facts.numbers)
            return Formula(SOMETHING, axes, lengths)
        found = read_at(self.facts, ref, indices)
        if isinstance(found, Known):
            return found
        if ref.name in self.facts.computed:
            return Formula(SOMETHING, axes, lengths)
        if len(found.lines) > 1:
            labels = _of_space(found, evaluator.space)
            if labels is not None:
                raise Divided(labels)
        for number in found.lines:
            if number > 0:
                self._enter(int(number), found, ref, evaluator)
        return Formula(SOMETHING, axes, lengths)

    def _enter(self, number: int, found: Read, ref: Reference, evaluator: Evaluator) -> None:
        line = self.facts.relation(number).line
        assert isinstance(line, Assignment)
        way = [n for n, _ in self.reading]
        if number in way:
            raise recursive(self.facts, ref, line, way[way.index(number) :])
        self.reading.append((number, ref.name))
        space = bound(self.facts, number, found.places(number), evaluator.space)
        Evaluator(self.facts.program, self, space).assigned(line)
        self.reading.pop()

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of an array."""
        return self.facts.numbers[name].shape if name in self.facts.numbers else None

    def axis(self, count: int, _of: tuple[str, int] | None = None) -> Dim:
        """A new dim for each vector."""
        self.sizes.append(count)
        return Dim(f"axis {len(self.sizes)}")

    def size(self, dim: Dim) -> int:
        """The size of such a dim."""
        return self.sizes[int(dim.name.split()[1]) - 1]

    def has(self, dim: Dim) -> bool:
        """Whether a dim is known."""
        return bool(dim.name.startswith("axis "))

    def expr_of(self, _value: Known, _space: Space) -> Expr:
        """Numbers beside something random."""
        return SOMETHING


def _of_space(found: Read, space: Space) -> Grid | None:
    """The line of each position, if it differs among positions (not only within a vector)."""
    own = [d for d in found.dims if d in space.sizes]
    if not own:
        return None
    labels = found.relation.along((*own, *(d for d in found.dims if d not in own)))
    flat = labels.reshape(*labels.shape[: len(own)], -1)
    if (flat == flat[(0,) * len(own)]).all():
        return None
    patterns, numbers = np.unique(flat.reshape(-1, flat.shape[-1]), axis=0, return_inverse=True)
    together = _together([frozenset(p.tolist()) for p in patterns])[numbers]
    if (together == together[0]).all():
        return None
    return Grid(tuple(own), together.reshape(flat.shape[:-1]))


def _together(lines: Sequence[frozenset[int]]) -> np.ndarray:
    """Numbers of groups of vectors to be read together: of the same line, or overlapping lines.

    A group with several lines is read as a choice between these lines for each element.

    >>> _together([frozenset({1}), frozenset({1, 2}), frozenset({2, 3}), frozenset({4, 5})])
    array([0, 1, 1, 3])
    """
    found = np.arange(len(lines))
    for n, own in enumerate(lines):
        for m, other in enumerate(lines[:n]):
            if own == other or (len(own) > 1 < len(other) and own & other):
                found[found == found[n]] = found[m]
    return found


def parts_of(facts: Facts, relation: Relation) -> Iterator[Relation]:
    """The parts of a line with ``~``: each reads every name at elements of a single line."""
    assert relation.space is not None
    waiting = [relation]
    while waiting:
        part = waiting.pop(0)
        labels = _labels(facts, part)
        if labels is None:
            yield part
        else:
            assert part.space is not None
            waiting[:0] = [part.within(s) for s in part.space.divided(labels)]


def _labels(facts: Facts, part: Relation) -> Grid | None:
    line, space = part.line, part.space
    assert isinstance(line, Stochastic)
    assert space is not None
    evaluator = Evaluator(facts.program, _Dividing(facts), space)
    read: list[Expression] = [*line.distribution.arguments]
    if line.restriction is not None:
        read += [b for b in (line.restriction.lower, line.restriction.upper) if b is not None]
    try:
        for expression in read:
            evaluator.value(expression)
    except Divided as divided:
        return divided.labels
    return None
