"""Arrays whose rows are probabilities: each is a simplex, data of sum one, or one beside zeros."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.sums import Entry, are_one, element
from gibbsppl.bugs.syntax import Assignment, Everything, Expression, Number, Operation, Reference
from gibbsppl.bugs.values import Known

# Data that sums to one up to this does, as written with decimals.
ROUNDING = 1e-12


def are_probabilities(
    facts: Facts, evaluator: Evaluator, given: Expression, simplexes: Collection[str]
) -> bool:
    """Whether ``given`` is a row of an array, or a range of it, that is certain to sum to one.

    Whichever row it is. ``simplexes`` are arrays, by the program's names, of which lines give
    vectors of sum one along one axis.
    """
    if not isinstance(given, Reference) or not given.indices or given.name not in facts.defined:
        return False
    columns = evaluator.index(given, len(given.indices) - 1, facts.shape(given.name)[-1])
    if not isinstance(columns, Known) or columns.grid.dims != columns.axes or not columns.axes:
        return False
    at = columns.grid.values - 1
    defined, numbers = facts.defined[given.name].relation, facts.numbers[given.name]
    values = np.where(numbers.known, numbers.values, np.nan)
    read = _read(facts, evaluator, given)
    rows, every = (a[read][:, at] for a in (defined, values))
    free = np.isnan(every)
    known = np.nansum(every, axis=1)
    if (abs(known - 1) > ROUNDING)[~free.any(axis=1)].any():
        return False
    kinds, kind = np.unique(np.where(free, rows, -1), axis=0, return_inverse=True)
    places = np.argwhere(read) + 1
    for n, lines in enumerate(kinds):
        here = kind.ravel() == n
        if (lines == -1).all():
            continue
        without = bool((abs(known[here]) <= ROUNDING).all())
        if without and _is_vector_of_one(facts, lines, simplexes):
            continue
        if not _is_one(facts, given.name, lines, at + 1, places[here], every[here]):
            return False
    return True


def _read(facts: Facts, evaluator: Evaluator, given: Reference) -> np.ndarray:
    """Which rows may be read, as far as the indices are known."""
    shape = facts.shape(given.name)[:-1]
    read = np.ones(shape, dtype=bool)
    for axis, size in enumerate(shape):
        index = evaluator.index(given, axis, size)
        if isinstance(index, Known):
            told = np.isin(np.arange(size) + 1, index.grid.values)
            read &= told.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return read


def _is_vector_of_one(facts: Facts, lines: np.ndarray, simplexes: Collection[str]) -> bool:
    """Whether what is not known of a row comes from a whole vector that sums to one."""
    givers = np.unique(lines[lines != -1])
    if len(givers) != 1 or givers[0] == 0:
        return False
    line = facts.relation(int(givers[0])).line
    whole = is_vector(line.target)
    if not isinstance(line, Assignment):
        return whole and line.target.name in simplexes
    copied = line.value
    return (
        whole
        and isinstance(copied, Reference)
        and is_vector(copied)
        and copied.name in simplexes
        and int((lines != -1).sum()) == facts.shape(copied.name)[-1]
    )


def _is_one(
    facts: Facts,
    name: str,
    lines: np.ndarray,
    columns: np.ndarray,
    places: np.ndarray,
    values: np.ndarray,
) -> bool:
    """Whether rows that the same lines give, entry by entry, sum to one.

    Where there are several, their places are symbols, the same for all entries of a row.
    """
    if (lines == 0).any() or (len(places) > 1 and (lines == -1).any()):
        return False
    single = len(places) == 1
    row: list[Any] = (
        [sp.Integer(int(p)) for p in places[0]]
        if single
        else [sp.Symbol(f"row {axis}") for axis in range(places.shape[1])]
    )
    entries = []
    for number, column, value in zip(lines, columns, values[0], strict=True):
        at = [*row, sp.Integer(int(column))]
        if number == -1:
            entries.append(Entry(element(name, at), value, {}))
            continue
        line = facts.relation(int(number)).line
        loops = _loops(line.target, at)
        if loops is None:
            return False
        entries.append(Entry(element(name, at), line, loops))

    def place_of(array: str, index: tuple[int, ...]) -> tuple[int, ...] | None:
        shape = facts.shape(array) if array in facts.numbers else ()
        if len(index) != len(shape) or any(
            not 1 <= n <= m for n, m in zip(index, shape, strict=True)
        ):
            return None
        return tuple(n - 1 for n in index)

    def known(array: str, index: tuple[int, ...]) -> float | None:
        place, numbers = place_of(array, index), facts.numbers.get(array)
        if place is None or numbers is None or not numbers.known[place]:
            return None
        return float(numbers.values[place])

    def giver(array: str, index: tuple[int, ...]) -> Entry | None:
        place, defined = place_of(array, index), facts.defined.get(array)
        if place is None or defined is None or not defined.relation[place]:
            return None
        line = facts.relation(int(defined.relation[place])).line
        loops = _loops(line.target, list(map(sp.Integer, index)))
        return None if loops is None else Entry(element(array, index), line, loops)

    return are_one(entries, known, facts.shape, giver)


def _loops(target: Reference, at: list[Any]) -> dict[str, Any] | None:
    """The loop variables of a line that gives an element; None where its indices are not plain."""
    found: dict[str, Any] = {}
    for index, place in zip(target.indices or (), at, strict=True):
        match index:
            case Number():
                if place != int(index.value):
                    return None
            case Reference(indices=None):
                if found.setdefault(index.name, place) != place:
                    return None
            case Operation(
                operator="+" | "-", operands=(Reference(indices=None) as variable, Number() as step)
            ) if place.is_Integer:
                moved = place - int(step.value) * (1 if index.operator == "+" else -1)
                if found.setdefault(variable.name, moved) != moved:
                    return None
            case _:
                return None
    return found


def is_vector(reference: Reference) -> bool:
    """Whether a line gives, or reads, a vector along the last axis of an array, and it alone."""
    ranges = [
        isinstance(i, Everything) or (isinstance(i, Operation) and i.operator == ":")
        for i in reference.indices or ()
    ]
    return bool(ranges) and ranges[-1] and not any(ranges[:-1])
