"""Arrays whose rows are probabilities: each is a simplex, data of sum one, or one beside zeros."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.syntax import Assignment, Everything, Expression, Operation, Reference
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
    rows, every = (a.reshape(-1, a.shape[-1])[:, at] for a in (defined, values))
    read = (n for n in range(len(rows)) if _may_be_read(facts, evaluator, given, n))
    return all(_is_one(facts, rows[n], every[n], simplexes) for n in read)


def _may_be_read(facts: Facts, evaluator: Evaluator, given: Reference, row: int) -> bool:
    """Whether a row is among those that are read, as far as its indices are known."""
    shape = facts.shape(given.name)[:-1]
    for axis, place in enumerate(np.unravel_index(row, shape) if shape else ()):
        index = evaluator.index(given, axis, shape[axis])
        if isinstance(index, Known) and not np.isin(place + 1, index.grid.values):
            return False
    return True


def _is_one(
    facts: Facts, lines: np.ndarray, values: np.ndarray, simplexes: Collection[str]
) -> bool:
    """Whether one row sums to one: what is not known (nan) comes from a whole vector that does."""
    free = np.isnan(values)
    if abs(values[~free].sum() - (not free.any())) > ROUNDING:
        return False
    givers = np.unique(lines[free])
    if len(givers) != 1:
        return not len(givers)
    if givers[0] == 0:
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
        and int(free.sum()) == facts.shape(copied.name)[-1]
    )


def is_vector(reference: Reference) -> bool:
    """Whether a line gives, or reads, a vector along the last axis of an array, and it alone."""
    ranges = [
        isinstance(i, Everything) or (isinstance(i, Operation) and i.operator == ":")
        for i in reference.indices or ()
    ]
    return bool(ranges) and ranges[-1] and not any(ranges[:-1])
