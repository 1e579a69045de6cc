"""What the calls of a generated program draw together, where elements are drawn colour by colour.

Comes in: a program with its constants, and a step. Goes out: for each vector call which elements it
draws, read from what the program itself uses; nothing of how the colours were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.backends.program import Constants, Program, State
from gibbsppl.density import regions
from gibbsppl.evaluation import Sizes, Values, evaluate
from gibbsppl.graph import Statement
from gibbsppl.schedule.steps import FiniteDraw, Step

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


def gap_of_calls(
    step: Step, program: Program, constants: Constants, state: State, given: Any
) -> tuple[float, float]:
    """How far the parameters of single calls are from those of all elements, and their size.

    Infinite where they cannot be computed, where a call draws other elements than it says, and
    where there are more calls or fewer.
    """
    name = program.colours.get(step.name)
    if step.name not in program.by_colour or name is None:
        return 0.0, 0.0
    calls, gap, size = list(constants[name]), 0.0, 0.0
    try:
        found = list(program.by_colour[step.name](state, constants))
    except (ArithmeticError, ValueError, LookupError):
        return np.inf, 0.0
    if len(found) != len(calls):
        return np.inf, 0.0
    shape = np.shape(state[step.variables[0]])
    for expected, (at, own) in zip(calls, found, strict=True):
        if not np.array_equal(_numbered(shape, expected), _numbered(shape, at)):
            return np.inf, 0.0
        for part, whole in zip(
            own, [given] if isinstance(step, FiniteDraw) else given, strict=True
        ):
            part = np.asarray(part)  # noqa: PLW2901  (as an array from here on)
            lead = np.ndim(part) - len(shape)
            full = np.broadcast_to(whole, (*np.shape(part)[:lead], *shape))
            there = full[(*(slice(None),) * lead, *at)]
            if there.shape != np.shape(part):
                return np.inf, 0.0
            gap = max(gap, float(np.abs(there - part).max(initial=0.0)))
            size = max(size, float(np.abs(there).max(initial=0.0)))
    return gap, size


def _numbered(shape: tuple[int, ...], at: Any) -> Any:
    return np.arange(int(np.prod(shape))).reshape(shape)[at]
