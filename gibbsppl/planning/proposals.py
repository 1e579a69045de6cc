"""Long-run acceptance of proposals about a mode, by theory, at some states.

Comes in: a schedule on trial, states of a chain of it. Goes out: the states, with the share that
each step of proposals is expected to accept from there on, in place of the one that the chain has
learnt.

With weights ``w``, the ratio of the densities of target and proposal, a step leaves ``x`` with
probability ``A(x) = E min(1, w(y) / w(x))`` over proposals ``y``. What has left is new, so that the
correlation over ``k`` steps is the mean of ``(1 - A(x))^k`` over the target; they add up to

    1 + 2 sum E (1 - A)^k = 2 E(1 / A) - 1

sweeps for an effective draw: as many as if each step left with probability ``1 / E(1 / A)``, the
harmonic mean. (J. S. Liu, 1996, "Metropolized independent sampling with comparisons to rejection
sampling and importance sampling", Statistics and Computing 6.) The means over the target are those
over proposals, by their weights: a short chain has hardly been where weights are large, in which
long ones stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from gibbsppl.code.trials import Trial
from gibbsppl.model.evaluation import Values
from gibbsppl.planning.rules import RULES
from gibbsppl.runtime.joint import joint_in
from gibbsppl.runtime.modal import log_weights
from gibbsppl.runtime.types import Floats
from gibbsppl.schedule.choices import SEED
from gibbsppl.schedule.steps import Step

LEAST_ACCEPTED = RULES["least accepted"].value
SURELY_ACCEPTED = RULES["surely accepted"].value
# The batches of proposals that are made at a state.
BATCHES = 2

Start = Callable[[Trial], Sequence[Values]]


def expecting(start: Start) -> Start:
    """A maker of states, with the expected shares of accepted proposals."""

    @cache
    def states(trial: Trial) -> tuple[Values, ...]:
        rng = np.random.default_rng(SEED)
        steps = [s for s in trial.schedule.proposed if not s.last]
        return tuple(_expecting(rng, trial, steps, values) for values in start(trial))

    return states


def expected_share(proposing: Trial, names: Sequence[str], start: Start) -> float:
    """The share of proposals of some variables that is expected to be accepted."""
    steps = [s for s in proposing.schedule.proposed if {*names} <= {*s.variables}]
    states = start(proposing) if steps else ()
    return min((_mean_share(s, states) for s in steps), default=0.0) if states else 0.0


def accepted_share(step: Step, values: Values) -> float | None:
    """The share of proposals that a state says are accepted; None of all but proposals."""
    tuning = values.get(f"~{step.name}") if step.learns_acceptance else None
    return None if tuning is None else float(tuning.share)


def share_by_weights(log_weight: Floats) -> float:
    """The harmonic mean of the probability of a move, by the weights of some proposals.

    >>> share_by_weights(np.zeros(10)), share_by_weights(np.full(10, -np.inf))
    (1.0, 0.0)
    >>> round(share_by_weights(np.log([2.0, 1.0, 1.0])), 3)
    0.667
    """
    possible = log_weight[np.isfinite(log_weight)]
    if len(possible) < 2:
        return 0.0
    weights = np.exp(possible - possible.max())
    # (each beside all others, of which those that are not possible are never accepted)
    ratios = np.exp(np.minimum(0.0, possible - possible[:, None]))
    moves = (ratios.sum(axis=1) - 1.0) / (len(log_weight) - 1)
    return float(weights.sum() / (weights / moves).sum()) if moves.all() else 0.0


def _mean_share(step: Step, states: Sequence[Values]) -> float:
    """The harmonic mean of the shares that a step is expected to accept."""
    shares = [accepted_share(step, values) or 0.0 for values in states]
    return len(shares) / sum(1.0 / s for s in shares) if all(shares) else 0.0


def _expecting(
    rng: np.random.Generator, trial: Trial, steps: Sequence[Step], values: Values
) -> Values:
    """A state with the shares that some steps are expected to accept there."""
    known: dict[str, Any] = {f"~{s.name}": values.get(f"~{s.name}") for s in steps}
    shares = {s.name: _share(rng, trial, s, values) for s in steps if known[f"~{s.name}"]}
    return {**values, **{f"~{n}": replace(known[f"~{n}"], share=a) for n, a in shares.items()}}


def _share(rng: np.random.Generator, trial: Trial, step: Step, values: Values) -> float:
    """The share that a step is expected to accept at a state."""
    program, constants, state = trial.program, trial.constants, dict(values)
    to_second_order: Any = program.to_second_order[step.name]
    found = log_weights(
        rng,
        state,
        values[f"~{step.name}"].centre,
        program.given_rest[step.name](state, constants),
        joint_in(constants, step.name),
        to_second_order,
        constants,
        batches=BATCHES,
    )
    return share_by_weights(found)
