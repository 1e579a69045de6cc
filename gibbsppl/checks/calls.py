"""What the calls of a generated program draw together, where elements are drawn colour by colour.

Comes in: a program with its constants, and a step. Goes out: for each vector call which elements it
draws, read from what the program itself uses; nothing of how the colours were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.backends.program import Constants, Program
from gibbsppl.density import regions
from gibbsppl.evaluation import Sizes, Values, evaluate
from gibbsppl.graph import Statement
from gibbsppl.schedule.steps import Step

Mask = NDArray[np.bool_]


def calls_of(step: Step, program: Program, constants: Constants, values: Values) -> list[Mask]:
    """The elements of its array that each call draws; none if it is not drawn by colour."""
    name = program.colours.get(step.name)
    if name is None or not step.is_by_element:
        return []
    found = []
    for at in constants[name]:
        drawn = np.zeros(np.shape(values[step.variables[0]]), dtype=bool)
        drawn[at] = True
        found.append(drawn)
    return found


def of_statement(drawn: Mask, statement: Statement, sizes: Sizes) -> Mask:
    """The same along the ranges of a statement."""
    over = regions(statement, sizes)
    shape = tuple(map(len, over))
    indices = (
        np.broadcast_to(evaluate(i, over, {}, sizes), shape) for i in statement.target.indices
    )
    return np.asarray(drawn[tuple(i.astype(np.intp) for i in indices)])


def draws_each_once(calls: list[Mask], statement: Statement, free: Any, sizes: Sizes) -> bool:
    """Whether calls draw each element that is to be drawn once, and no other."""
    times = np.sum(calls, axis=0)
    own = of_statement(np.ones(times.shape, dtype=bool), statement, sizes)
    seen = of_statement(times, statement, sizes)
    return bool(np.array_equal(seen, free & own) and times.sum() == seen.sum())
