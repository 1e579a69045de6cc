"""Whether the values of lines fit their left sides: the shape, and data.

Comes in: a line, with its row or the axes of its value. Goes out: nothing, or an error at the place
in the text.
"""

from __future__ import annotations

from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.numbers import target_of
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.rows import SHAPES, Distribution
from gibbsppl.bugs.syntax import Assignment, Stochastic


def check_event(facts: Facts, relation: Relation, row: Distribution) -> None:
    """Refuse a vector or a matrix that is given to a number, and the other way round."""
    target = target_of(facts.program, relation, facts.numbers)
    assert target is not None
    found = sum(len(i.axes) for i in target)
    if found != row.event:
        raise facts.program.error(
            relation.line.target.at,
            f"{row.names[0]} gives {SHAPES[row.event]}, found {SHAPES[min(found, 2)]} on the left "
            "side; expected a range for each axis of a value, x[i, 1:K], and none else.",
        )


def check_assigned(facts: Facts, line: Assignment, found: int, expected: int) -> None:
    """Refuse a value of ``<-`` that has other axes than the left side."""
    if found != expected:
        raise facts.program.error(
            line.at,
            f"found {SHAPES[min(found, 2)]} to the right of <-, expected "
            f"{SHAPES[min(expected, 2)]}: {line.target.name}.",
        )


def check_observed(facts: Facts, relation: Relation) -> None:
    """Refuse lines about other variables without an observed left side."""
    line = relation.line
    assert isinstance(line, Stochastic)
    name, numbers = line.target.name, facts.numbers[line.target.name]
    given = facts.defined[name].relation == relation.number + 1
    if not numbers.known[given].all():
        raise facts.program.error(
            line.target.at,
            f"{name} ~ {line.distribution.function} is not observed; expected data: it says what "
            "is known of others.",
        )
