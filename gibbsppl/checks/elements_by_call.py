"""The elements that each call of a generated program draws, where draws go colour by colour.

Comes in: a program with its constants, and a step. Goes out: the elements drawn by each vector
call, read from the program's own constants, however the colours were found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gibbsppl.checks.expected_calls import Index
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Sizes, Values, evaluate
from gibbsppl.model.graph import Statement
from gibbsppl.schedule.steps import Step

# After so many calls the drawn elements are changed before the next call.
MOST_CHANGED = 64

Mask = NDArray[np.bool_]


def calls_of(step: Step, program: Program, constants: Constants, values: Values) -> list[Mask]:
    """A mask of the elements drawn by each call of a step; none unless drawn by colour."""
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
    """A mask of an array's elements, read along the ranges of a statement."""
    over = regions(statement, sizes)
    shape = tuple(map(len, over))
    indices = (
        np.broadcast_to(evaluate(i, over, {}, sizes), shape) for i in statement.target.indices
    )
    return np.asarray(drawn[tuple(i.astype(np.intp) for i in indices)])


def draws_each_once(calls: list[Mask], statement: Statement, free: Mask, sizes: Sizes) -> bool:
    """Whether calls draw each free element of a statement once, and no other elements."""
    times = np.sum(calls, axis=0)
    own = of_statement(np.ones(times.shape, dtype=bool), statement, sizes)
    seen = of_statement(times, statement, sizes)
    return bool(np.array_equal(seen, free & own) and times.sum() == seen.sum())


def gap_of_calls(
    rng: np.random.Generator, step: Step, program: Program, constants: Constants, state: State
) -> tuple[float, float]:
    """The largest gap between parameters of single calls and of all elements, and their size.

    Drawn elements are changed on the way, as in a sweep, so that values kept up to date between
    calls are checked too. Infinite where parameters cannot be computed, where a call draws other
    elements than the program's constants say, and where the number of calls is wrong.
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
                own, [given] if step.labels is not None else given, strict=True
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
    """The numbers of the calls after which drawn elements are changed: all, if these are few."""
    return set(rng.choice(count, min(count, MOST_CHANGED), replace=False).tolist())


def _there(
    whole: ArrayLike, part: ArrayLike, at: Index, shape: tuple[int, ...]
) -> np.ndarray:
    """The parameters of all elements, read at the elements of one call."""
    lead = np.ndim(part) - np.ndim(_numbered(shape, at))
    full = np.broadcast_to(whole, (*np.shape(part)[:lead], *shape))
    return full[(*(slice(None),) * lead, *at)]


def _numbered(shape: tuple[int, ...], at: Index) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)[at]
