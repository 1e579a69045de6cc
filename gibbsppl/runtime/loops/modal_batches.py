"""Batches of proposals about a mode: made by one factor, judged together, taken one by one.

`modal` calls these; `modal_steps` says what they work in, `gibbsppl.runtime.modal` what is known
of a batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isnan, sqrt

from gibbsppl.runtime.modal import (
    BATCH,
    FREEDOM,
    FREEDOM_BY_ELEMENT,
    HEIGHT,
    HELD,
    HELD_ON,
    LEAST_ACCEPTED,
    LEFT,
    OF_PROPOSAL,
    OF_TARGET,
    THRESHOLD,
    WEIGHT,
)
from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .copies import copied
from .modal_steps import (
    ASK,
    BATCHED,
    CURRENT,
    FOUND,
    KNOWN,
    MADE,
    NOW,
    OF_BATCH,
    PROPOSED,
    STAGE,
    TAKE,
    TAKEN,
    TO_SECOND_ORDER,
    are_equal,
    log_t,
)

APART: Mapping[str, str] = {}


@kernel
def are_batched(state: Floats, share: float, adapting: int, batched: int) -> bool:
    """Whether proposals come from batches now."""
    may = batched != 0 and adapting == 0 and share >= LEAST_ACCEPTED
    return bool(may and state[HELD] == HELD_ON)


@kernel
def batch_before(work: Floats, now: Floats, last: Floats, u: Floats, state: Floats) -> bool:
    """Whether a batch is to be made; ``u`` is the current vector in units of the approximation."""
    length = 0.0
    for value in u:
        length += value * value
    state[WEIGHT] = log_t(length, len(u))
    work[MADE] = 1.0 if state[LEFT] == 0.0 else 0.0
    # (the log density of another vector is not known)
    work[STAGE] = PROPOSED if state[HELD] == HELD_ON and are_equal(now, last) else CURRENT
    return bool(work[MADE] == 1.0)


@kernel
def one_of_batch(rng: Generator, judged: Floats, number: int, z: Floats) -> None:
    """A proposal of a batch, in units of the approximation, into ``z``; what is known of it."""
    freedom, length = FREEDOM + FREEDOM_BY_ELEMENT * len(z), 0.0
    stretch = sqrt(freedom / (2.0 * rng.standard_gamma(freedom / 2.0)))
    for i in range(len(z)):
        z[i] = stretch * rng.standard_normal()
        length += z[i] * z[i]
    judged[OF_PROPOSAL, number] = log_t(length, len(z))
    judged[THRESHOLD, number] = -rng.standard_exponential()


@kernel
def put_in_batch(base: Floats, order: Ints, x: Floats, number: int, proposals: Floats) -> None:
    """A proposal, ``x`` away from the mode in the order of factorisation, into the batch."""
    for i in range(len(x)):
        proposals[order[i], number] = base[order[i]] + x[i]


@kernel
def batch_after(
    work: Floats, now: Floats, state: Floats, wanted: Ints, tried: Floats
) -> int:
    """What is asked for once a batch is there."""
    state[LEFT] = BATCH if work[MADE] else state[LEFT]
    wanted[TO_SECOND_ORDER] = 0
    if work[STAGE] == PROPOSED:
        return KNOWN
    copied(now, tried)
    return ASK


@kernel
def asked_of_batch(work: Floats, wanted: Ints) -> int:
    """The task once the current vector's log density is known: those of a new batch are asked."""
    if work[MADE] == 0.0:
        return TAKE
    wanted[OF_BATCH] = 1
    work[STAGE] = BATCHED
    return ASK


@kernel
def taken_of_batch(
    work: Floats, state: Floats, proposals: Floats, judged: Floats, tried: Floats
) -> None:
    """The next proposal of a batch, if it is accepted, into ``tried``."""
    number = BATCH - int(state[LEFT])
    height = judged[OF_TARGET, number]
    height = -inf if isnan(height) else height
    ratio = height - state[HEIGHT] + state[WEIGHT] - judged[OF_PROPOSAL, number]
    # (at a pole it would stay)
    if judged[THRESHOLD, number] < ratio < inf:
        work[TAKEN] = 1.0
        state[HEIGHT], state[WEIGHT] = height, judged[OF_PROPOSAL, number]
        for i in range(len(tried)):
            tried[i] = proposals[i, number]
    work[NOW] = work[FOUND] = state[HEIGHT]
    state[LEFT] -= 1.0
