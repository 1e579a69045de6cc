"""Arrays whose rows are probabilities, certain to sum to one.

A row is a vector with a distribution on the simplex, data, a vector beside zeros, or entries given
by lines whose sum can be shown to be one (`sums`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from gibbsppl.algebra.residues import POSITIONS, unknown
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid, dims_of_grids
from gibbsppl.bugs.ragged_lengths import is_whole
from gibbsppl.bugs.sums import Elements, Entry, Index, are_one
from gibbsppl.bugs.syntax import (
    Assignment,
    Everything,
    Expression,
    Number,
    Operation,
    Reference,
    is_range,
)
from gibbsppl.bugs.values import Known

# Data that sums to one up to this does, as written with decimals.
ROUNDING = 1e-12
# In the place of a line: the element is a number; the row is shorter, and has no such element.
KNOWN, ABSENT = -1, -2
# Rows given by the same lines are looked at one by one if they are no more than this.
MOST_ROWS = 10_000


def are_probabilities(
    facts: Facts, evaluator: Evaluator, given: Expression, simplexes: Collection[str]
) -> bool:
    """Whether ``given`` is certain to sum to one, whichever row (or range of a row) it reads.

    ``simplexes`` are the arrays, by the program's names, to which lines give vectors of sum one
    along one axis.
    """
    if not isinstance(given, Reference) or not given.indices or given.name not in facts.defined:
        return False
    columns = evaluator.index(given, len(given.indices) - 1, facts.shape(given.name)[-1])
    if not isinstance(columns, Known) or not columns.axes:
        return False
    defined, numbers = facts.defined[given.name].relation, facts.numbers[given.name]
    values = np.where(numbers.known, numbers.values, np.nan)
    if columns.grid.dims == columns.axes:
        at = columns.grid.values - 1
    elif _are_all(facts, evaluator, given, columns):
        absent = ~numbers.known & (defined == 0)
        values, defined = np.where(absent, 0.0, values), np.where(absent, ABSENT, defined)
        at = np.arange(defined.shape[-1])
    else:
        return False
    read = _read(facts, evaluator, given)
    rows, every = (a[read][:, at] for a in (defined, values))
    free, sums = np.isnan(every), np.nansum(every, axis=1)
    if (abs(sums - 1) > ROUNDING)[~free.any(axis=1)].any():
        return False
    lines = _Lines(facts)
    kinds, kind = np.unique(
        np.where(free | (rows == ABSENT), rows, KNOWN), axis=0, return_inverse=True
    )
    places = np.argwhere(read) + 1
    for n, kind_of_row in enumerate(kinds):
        here, there = kind.ravel() == n, kind_of_row != ABSENT
        givers = kind_of_row[there]
        if (givers == KNOWN).all():
            continue
        vector = lines.vector_of_one(givers, simplexes)
        if vector and (abs(sums[here]) <= ROUNDING).all():
            # (all of the vector is read, and of the row nothing else is given by its line)
            count = (defined[read][here] == givers.max()).sum(axis=1)
            if (count == (givers != KNOWN).sum()).all():
                continue
        known = every[here][:, there][:, givers == KNOWN]
        if not lines.sum_to_one(given.name, places[here], at[there] + 1, givers, known):
            return False
    return True


def _are_all(facts: Facts, evaluator: Evaluator, given: Reference, columns: Known) -> bool:
    """Whether ranges of different lengths read all entries that their rows have, from the first."""
    *shape, size = facts.shape(given.name)
    outer = [evaluator.index(given, axis, n) for axis, n in enumerate(shape)]
    if not is_whole(columns, size) or not all(isinstance(i, Known) and not i.axes for i in outer):
        return False
    there = facts.numbers[given.name].known | (facts.defined[given.name].relation > 0)
    lengths = columns.lengths.get(columns.axes[0], Grid.of(size))
    grids = [i.grid for i in outer if isinstance(i, Known)]
    dims = dims_of_grids([*grids, lengths])
    rows = there[tuple(g.along(dims).astype(int) - 1 for g in grids)]
    return bool((rows == (np.arange(size) < lengths.along(dims)[..., None])).all())


def _unknown_place(axis: int) -> int:
    return unknown("a place along axis", axis)


def _read(facts: Facts, evaluator: Evaluator, given: Reference) -> np.ndarray:
    """The rows that may be read, as far as the indices are known."""
    shape = facts.shape(given.name)[:-1]
    read = np.ones(shape, dtype=bool)
    for axis, size in enumerate(shape):
        index = evaluator.index(given, axis, size)
        if isinstance(index, Known):
            told = np.isin(np.arange(size) + 1, index.grid.values)
            read &= told.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return read


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines that give elements of arrays."""

    facts: Facts

    @property
    def elements(self) -> Elements:
        """The facts of the program's elements."""
        return Elements(self.number, self.entry, self.facts.shape)

    def vector_of_one(self, givers: np.ndarray, simplexes: Collection[str]) -> bool:
        """Whether a single line gives all unknown entries, as a whole vector of sum one."""
        numbers = np.unique(givers[givers != KNOWN])
        if len(numbers) != 1 or numbers[0] == 0:
            return False
        line = self.facts.relation(int(numbers[0])).line
        if not is_vector(line.target):
            return False
        if not isinstance(line, Assignment):
            return line.target.name in simplexes
        copied = line.value
        return (
            isinstance(copied, Reference)
            and is_vector(copied)
            and copied.name in simplexes
            and int((givers != KNOWN).sum()) == self.facts.shape(copied.name)[-1]
        )

    def sum_to_one(
        self,
        array: str,
        places: np.ndarray,
        columns: np.ndarray,
        givers: np.ndarray,
        known: np.ndarray,
    ) -> bool:
        """Whether rows that the same lines give sum to one: wherever they are, or else each."""

        def is_one(row: Index, numbers: np.ndarray) -> bool:
            entries = self.entries(array, row, columns, givers)
            return entries is not None and are_one([*entries, *numbers.tolist()], self.elements)

        if len(places) > 1 and not known.size:
            anywhere = tuple(map(_unknown_place, range(places.shape[1])))
            if is_one(anywhere, known[0]):
                return True
        rows = zip(places.tolist(), known, strict=True)
        return len(places) <= MOST_ROWS and all(is_one(tuple(row), own) for row, own in rows)

    def entries(
        self, array: str, row: Index, columns: np.ndarray, givers: np.ndarray
    ) -> list[Entry] | None:
        """The entries of a row with their lines; None if an entry has no line or plain index."""
        found = []
        for number, column in zip(givers.tolist(), columns.tolist(), strict=True):
            if number != KNOWN:
                entry = self._entry(array, (*row, column), number)
                if entry is None:
                    return None
                found.append(entry)
        return found

    def number(self, array: str, index: Index) -> float | None:
        """The number of an element, if it is known."""
        place, numbers = self._place(array, index), self.facts.numbers.get(array)
        if place is None or numbers is None or not numbers.known[place]:
            return None
        return float(numbers.values[place])

    def entry(self, array: str, index: Index) -> Entry | None:
        """An element that a line gives."""
        place, defined = self._place(array, index), self.facts.defined.get(array)
        if place is None or defined is None:
            return None
        return self._entry(array, index, int(defined.relation[place]))

    def _place(self, array: str, index: Index) -> Index | None:
        """The position of an element, if there is such."""
        shape = self.facts.shape(array) if array in self.facts.numbers else ()
        if len(index) != len(shape):
            return None
        inside = all(1 <= n <= size for n, size in zip(index, shape, strict=True))
        return tuple(n - 1 for n in index) if inside else None

    def _entry(self, array: str, index: Index, number: int) -> Entry | None:
        if number == 0:
            return None
        relation = self.facts.relation(number)
        loops = _loops(relation.line.target, index)
        if loops is None or not {loop.name for loop in relation.around} <= set(loops):
            return None
        return Entry(array, index, relation.line, loops)


def _loops(target: Reference, at: Index) -> dict[str, int] | None:
    """The loop variables of a line that gives an element, as far as indices are plain.

    None for ranges, whose line gives several elements.
    """
    found: dict[str, int] = {}
    for index, place in zip(target.indices or (), at, strict=True):
        match index:
            case Number():
                if place != index.value:
                    return None
            case Reference(indices=None):
                if found.setdefault(index.name, place) != place:
                    return None
            case Operation(
                operator="+" | "-", operands=(Reference(indices=None) as variable, Number() as step)
            ) if place < POSITIONS:
                moved = place - int(step.value) * (1 if index.operator == "+" else -1)
                if found.setdefault(variable.name, moved) != moved:
                    return None
            case _ if isinstance(index, Everything) or is_range(index):
                return None
    return found


def is_vector(reference: Reference) -> bool:
    """Whether a line gives, or reads, a vector along the last axis of an array, and it alone."""
    ranges = [isinstance(i, Everything) or is_range(i) for i in reference.indices or ()]
    return bool(ranges) and ranges[-1] and not any(ranges[:-1])
