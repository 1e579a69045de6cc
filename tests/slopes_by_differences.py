"""Gradients beside extrapolated differences of the log density: no algebra, no generated slopes."""

import numpy as np


def moved_step(sampler):
    """The step that moves along paths."""
    return next(s for s in sampler.schedule.steps if s.is_move)


def worst_slope(sampler, seed=2):
    """The largest difference of a partial derivative from its limit, by what it may differ.

    Differences are extrapolated twice: the error of the last is of the sixth order of the step, and
    less than what the second extrapolation changed; rounding of the log density is added.
    """
    step, made = moved_step(sampler), sampler.prepared.made
    start = sampler.initial_states(1, seed=seed)[0][0].state
    state = {k: v for k, v in start.items() if k[0] != "~"}
    given = sampler.program.given_rest[step.name](state, made)
    height, slopes = given({n: state[n] for n in step.variables})
    joint = made["_".join(step.variables) + "_joint"]
    x, found = joint.flat(state), joint.flat(slopes)
    worst = 0.0
    for k in range(joint.size):

        def at(h, k=k):
            moved = x.copy()
            moved[k] += h
            return float(given(joint.placed(state, moved))[0])

        h = 1e-3 * min(1.0, abs(x[k]), 0.5)
        one, two, four = ((at(h * m) - at(-h * m)) / (2 * h * m) for m in (1, 2, 4))
        first, second = (4 * one - two) / 3, (4 * two - four) / 3
        limit = (16 * first - second) / 15
        rounding = 64 * np.finfo(float).eps * (1 + abs(float(height))) / h
        worst = max(worst, abs(found[k] - limit) / (rounding + abs(limit - first)))
    return worst
