"""Proposals from the normal approximation at a mode, where the caller evaluates what is asked for.

The steps of `gibbsppl.runtime.modal`, with the same random numbers. The caller evaluates the log
density, and where it is ``wanted`` the gradient and the second derivatives::

    work = modal_work()
    modal_start(work)
    while modal_blocks_next(rng, work, now, ..., wanted, tried):
        work[1] = ...  # the log density at ``tried``
        if wanted[0]:
            filled[:], linear[:] = ...  # minus the second derivatives, as stored, and the gradient

In the end ``tried`` is the vector after the step. The entries are stored as those of joint draws
(`joint`, `sparse`); ``diagonal`` are their places on the diagonal. The ``state`` is what is placed
(`gibbsppl.runtime.modal`): the mode, which is the ``centre``, and what is ``filled`` hold on where
all else is ``fixed``.

After warm-up ``proposals`` are then made in batches, if they are to be ``batched``. Where
``wanted[1]`` says so, the caller evaluates the log densities of all of them, into ``judged[0]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from gibbsppl.runtime.modal import BATCH
from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .joint import placed, solve_band, solve_blocks
from .modal_batches import (
    are_batched,
    asked_of_batch,
    batch_after,
    batch_before,
    one_of_batch,
    put_in_batch,
    taken_of_batch,
)
from .modal_steps import (
    ASK,
    DONE,
    KNOWN,
    PROPOSE,
    SHARE,
    SIZE,
    STAGE,
    STARTED,
    STEP,
    TAKE,
    TAKEN,
    after_newton,
    arrange_away,
    arranged_slope,
    at_mode,
    combine,
    is_beginning,
    is_finite,
    learn,
    more_weight,
    numbers,
    proposed,
    raised,
    task_of,
)
from .sparse import solve_sparse
from .spreads import (
    drawn_band,
    drawn_blocks,
    drawn_sparse,
    spread_band,
    spread_blocks,
    spread_sparse,
)

APART: Mapping[str, str] = {}


@kernel
def modal_work() -> Floats:
    """The array that a step works in; it may be used for any number of steps, one by one."""
    return np.zeros(SIZE)


@kernel
def modal_start(work: Floats) -> None:
    """Begin a step."""
    work[STAGE] = STARTED


@kernel
def modal_taken(work: Floats) -> float:
    """1.0 if the last step was taken, else 0.0."""
    return float(work[TAKEN])


@kernel
def modal_share(work: Floats) -> float:
    """The share of accepted proposals after the last step."""
    return float(work[SHARE])


@kernel
def modal_blocks_next(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    base: Floats,
    step: Floats,
    filled: Floats,
    linear: Floats,
    counts: Ints,
    orders: Ints,
    border: int,
    order: Ints,
    diagonal: Ints,
    centre: Floats,
    last: Floats,
    state: Floats,
    proposals: Floats,
    judged: Floats,
    share: float,
    adapting: int,
    moves: int,
    batched: int,
    fixed: int,
    along: int,
    wanted: Ints,
    tried: Floats,
) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, it is the vector after the step.

    The elements inside the border are in blocks.
    """
    batches = are_batched(state, share, adapting, batched)
    begins, known = is_beginning(adapting, moves, along), (centre, last, state)
    task = task_of(rng, work, now, base, step, linear, known, fixed, batches, begins, wanted, tried)
    if task == STEP:
        more, ready = 0.0, False
        while isfinite(more) and not ready:
            matrix, x = raised(filled, diagonal, more), arranged_slope(linear, order)
            ready = solve_blocks(matrix, counts, orders, border, x, np.zeros(len(x)))
            ready = ready and is_finite(x)
            more = more_weight(filled, diagonal, more)
        task = after_newton(work, base, step, linear, x, order, ready, tried)
    if task == PROPOSE:
        at_mode(work, base, step, centre, state, adapting, fixed)
        batches = are_batched(state, share, adapting, batched)
        matrix, x, none = filled.copy(), np.zeros(len(now)), np.zeros(len(now))
        z = none if batches else numbers(rng, work, len(now), share, border * along)
        task = DONE
        if solve_blocks(matrix, counts, orders, border, x, none):
            arrange_away(now, base, order, x)
            spread_blocks(matrix, counts, orders, border, x)
            if batches:
                if batch_before(work, now, last, x, state):
                    for number in range(BATCH):
                        one_of_batch(rng, judged, number, x)
                        drawn_blocks(matrix, counts, orders, border, x)
                        put_in_batch(base, order, x, number, proposals)
                task = batch_after(work, now, state, wanted, tried)
            else:
                combine(work, x, z, len(z) - border if along else 0)
                drawn_blocks(matrix, counts, orders, border, z)
                if is_finite(z):
                    placed(z, order, step)
                    task = proposed(work, now, base, step, last, state, wanted, tried)
    if task == KNOWN:
        task = asked_of_batch(work, wanted)
    if task == TAKE:
        taken_of_batch(work, state, proposals, judged, tried)
        task = DONE
    if task == DONE:
        learn(work, now, centre, last, state, share, adapting, moves, tried)
    return task == ASK


@kernel
def modal_band_next(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    base: Floats,
    step: Floats,
    filled: Floats,
    linear: Floats,
    width: int,
    border: int,
    order: Ints,
    diagonal: Ints,
    centre: Floats,
    last: Floats,
    state: Floats,
    proposals: Floats,
    judged: Floats,
    share: float,
    adapting: int,
    moves: int,
    batched: int,
    fixed: int,
    along: int,
    wanted: Ints,
    tried: Floats,
) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, it is the vector after the step.

    The elements inside the border are in a band.
    """
    batches = are_batched(state, share, adapting, batched)
    begins, known = is_beginning(adapting, moves, along), (centre, last, state)
    task = task_of(rng, work, now, base, step, linear, known, fixed, batches, begins, wanted, tried)
    if task == STEP:
        more, ready = 0.0, False
        while isfinite(more) and not ready:
            matrix, x = raised(filled, diagonal, more), arranged_slope(linear, order)
            ready = solve_band(matrix, width, border, x, np.zeros(len(x)))
            ready = ready and is_finite(x)
            more = more_weight(filled, diagonal, more)
        task = after_newton(work, base, step, linear, x, order, ready, tried)
    if task == PROPOSE:
        at_mode(work, base, step, centre, state, adapting, fixed)
        batches = are_batched(state, share, adapting, batched)
        matrix, x, none = filled.copy(), np.zeros(len(now)), np.zeros(len(now))
        z = none if batches else numbers(rng, work, len(now), share, border * along)
        task = DONE
        if solve_band(matrix, width, border, x, none):
            arrange_away(now, base, order, x)
            spread_band(matrix, width, border, x)
            if batches:
                if batch_before(work, now, last, x, state):
                    for number in range(BATCH):
                        one_of_batch(rng, judged, number, x)
                        drawn_band(matrix, width, border, x)
                        put_in_batch(base, order, x, number, proposals)
                task = batch_after(work, now, state, wanted, tried)
            else:
                combine(work, x, z, len(z) - border if along else 0)
                drawn_band(matrix, width, border, z)
                if is_finite(z):
                    placed(z, order, step)
                    task = proposed(work, now, base, step, last, state, wanted, tried)
    if task == KNOWN:
        task = asked_of_batch(work, wanted)
    if task == TAKE:
        taken_of_batch(work, state, proposals, judged, tried)
        task = DONE
    if task == DONE:
        learn(work, now, centre, last, state, share, adapting, moves, tried)
    return task == ASK


@kernel
def modal_sparse_next(  # noqa: PLR0913, PLR0917
    rng: Generator,
    work: Floats,
    now: Floats,
    base: Floats,
    step: Floats,
    filled: Floats,
    linear: Floats,
    starts: Ints,
    rows: Ints,
    left: Ints,
    links: Ints,
    ends: Ints,
    border: int,
    order: Ints,
    diagonal: Ints,
    centre: Floats,
    last: Floats,
    state: Floats,
    proposals: Floats,
    judged: Floats,
    share: float,
    adapting: int,
    moves: int,
    batched: int,
    fixed: int,
    along: int,
    wanted: Ints,
    tried: Floats,
) -> bool:
    """Whether a log density is asked for, at ``tried``; if not, it is the vector after the step.

    The elements inside the border are eliminated one by one.
    """
    batches = are_batched(state, share, adapting, batched)
    begins, known = is_beginning(adapting, moves, along), (centre, last, state)
    task = task_of(rng, work, now, base, step, linear, known, fixed, batches, begins, wanted, tried)
    if task == STEP:
        more, ready = 0.0, False
        while isfinite(more) and not ready:
            matrix, x = raised(filled, diagonal, more), arranged_slope(linear, order)
            none = np.zeros(len(x))
            ready = solve_sparse(matrix, starts, rows, left, links, ends, border, x, none)
            ready = ready and is_finite(x)
            more = more_weight(filled, diagonal, more)
        task = after_newton(work, base, step, linear, x, order, ready, tried)
    if task == PROPOSE:
        at_mode(work, base, step, centre, state, adapting, fixed)
        batches = are_batched(state, share, adapting, batched)
        matrix, x, none = filled.copy(), np.zeros(len(now)), np.zeros(len(now))
        z = none if batches else numbers(rng, work, len(now), share, border * along)
        task = DONE
        if solve_sparse(matrix, starts, rows, left, links, ends, border, x, none):
            arrange_away(now, base, order, x)
            spread_sparse(matrix, starts, rows, border, x)
            if batches:
                if batch_before(work, now, last, x, state):
                    for number in range(BATCH):
                        one_of_batch(rng, judged, number, x)
                        drawn_sparse(matrix, starts, rows, border, x)
                        put_in_batch(base, order, x, number, proposals)
                task = batch_after(work, now, state, wanted, tried)
            else:
                combine(work, x, z, len(z) - border if along else 0)
                drawn_sparse(matrix, starts, rows, border, z)
                if is_finite(z):
                    placed(z, order, step)
                    task = proposed(work, now, base, step, last, state, wanted, tried)
    if task == KNOWN:
        task = asked_of_batch(work, wanted)
    if task == TAKE:
        taken_of_batch(work, state, proposals, judged, tried)
        task = DONE
    if task == DONE:
        learn(work, now, centre, last, state, share, adapting, moves, tried)
    return task == ASK
