"""Arrays whose rows are probabilities: each is a simplex, data of sum one, or one beside zeros."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.syntax import Assignment, Everything, Expression, Reference

# Data that sums to one up to this does, as written with decimals.
ROUNDING = 1e-12


def are_probabilities(facts: Facts, given: Expression, simplexes: Collection[str]) -> bool:
    """Whether ``given`` is a whole row of an array each row of which is certain to sum to one.

    ``simplexes`` are arrays, by the program's names, of which lines give whole vectors of sum one.
    """
    if not isinstance(given, Reference) or not given.indices:
        return False
    if given.name not in facts.defined or not isinstance(given.indices[-1], Everything):
        return False
    defined, numbers = facts.defined[given.name].relation, facts.numbers[given.name]
    rows = defined.reshape(-1, defined.shape[-1])
    values = np.where(numbers.known, numbers.values, np.nan).reshape(rows.shape)
    return all(_is_one(facts, *row, simplexes) for row in zip(rows, values, strict=True))


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
    if not isinstance(line, Assignment):
        return line.target.name in simplexes
    copied = line.value
    return (
        isinstance(copied, Reference)
        and copied.name in simplexes
        and int(free.sum()) == facts.shape(copied.name)[-1]
    )
