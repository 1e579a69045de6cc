"""What the calls of a generated program draw together, where elements are drawn colour by colour.

Comes in: a program with its constants, and a step. Goes out: for each vector call which elements it
draws, read from what the program itself uses; nothing of how the colours were found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.code.program import Constants, Program, State
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Sizes, Values, evaluate
from gibbsppl.model.graph import Statement
from gibbsppl.schedule.steps import FiniteDraw, Step

# So many calls change what they draw before the next one is looked at.
MOST_CHANGED = 64

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
    rng: np.random.Generator, step: Step, program: Program, constants: Constants, state: State
) -> tuple[float, float]:
    """How far the parameters of single calls are from those of all elements, and their size.

    What calls draw is changed on the way, as a sweep does, so that what is kept up to date between
    them is checked too. Infinite where parameters cannot be computed, where a call draws other
    elements than it says, and where there are more calls or fewer.
    """
    called = program.colours.get(step.name)
    if step.name not in program.by_colour or called is None:
        return 0.0, 0.0
    calls, gap, size, n = list(constants[called]), 0.0, 0.0, -1
    changing = _some(rng, len(calls))
    name, known = step.variables[0], list(state)
    state = {**state, name: np.array(state[name])}
    shape = state[name].shape
    try:
        given = program.given_rest[step.name](state, constants)
        found = program.by_colour[step.name](state, constants)
        for n, (at, own) in enumerate(found):
            if n >= len(calls) or not np.array_equal(
                _numbered(shape, calls[n]), _numbered(shape, at)
            ):
                return np.inf, 0.0
            for part, whole in zip(
                own, [given] if isinstance(step, FiniteDraw) else given, strict=True
            ):
                there, here = _there(whole, np.asarray(part), at, shape), np.asarray(part)
                if there.shape != here.shape:
                    return np.inf, 0.0
                # (impossible labels have the same infinite weight in both)
                apart = np.subtract(there, here, out=np.zeros(here.shape), where=there != here)
                gap = max(gap, float(np.nan_to_num(np.abs(apart), nan=np.inf).max(initial=0.0)))
                size = max(size, float(np.abs(there[np.isfinite(there)]).max(initial=0.0)))
            if n in changing:
                state[name][at] = rng.choice(state[name].ravel(), state[name][at].shape)
                given = program.given_rest[step.name]({k: state[k] for k in known}, constants)
    except (ArithmeticError, ValueError, LookupError):
        return np.inf, 0.0
    return (gap, size) if n + 1 == len(calls) else (np.inf, 0.0)


def _some(rng: np.random.Generator, count: int) -> set[int]:
    """Which of so many calls change what they draw: all, if these are few."""
    return set(rng.choice(count, min(count, MOST_CHANGED), replace=False).tolist())


def _there(whole: Any, part: Any, at: Any, shape: tuple[int, ...]) -> Any:
    """The parameters of all elements where a call draws."""
    lead = np.ndim(part) - np.ndim(_numbered(shape, at))
    full = np.broadcast_to(whole, (*np.shape(part)[:lead], *shape))
    return full[(*(slice(None),) * lead, *at)]


def _numbered(shape: tuple[int, ...], at: Any) -> Any:
    return np.arange(int(np.prod(shape))).reshape(shape)[at]
