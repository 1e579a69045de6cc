"""Gradients beside extrapolated differences of the log density: no algebra, no generated slopes."""

import numpy as np

from gibbsppl.runtime.loops.unconstrained import (
    from_coordinates,
    slopes_by_coordinates,
    to_coordinates,
)
from gibbsppl.runtime.unconstrained import unconstrained_in


def moved_step(sampler):
    """The step that moves along paths."""
    return next(s for s in sampler.schedule.steps if s.is_move)


def worst_slope(sampler, seed=2):
    """The largest difference of a slope from its limit, by what it may differ.

    Slopes are those by coordinates without bounds where values are tied, else by values.
    """
    step, made = moved_step(sampler), sampler.prepared.made
    start = sampler.initial_states(1, seed=seed)[0][0].state
    state = {k: v for k, v in start.items() if k[0] != "~"}
    given = sampler.program.given_rest[step.name](state, made)
    _, slopes = given({n: state[n] for n in step.variables})
    space = unconstrained_in(made, step.variables)
    joint = space.joint
    ends = np.full(joint.size, -np.inf), np.full(joint.size, np.inf)
    u, found = np.empty(space.size), np.empty(space.size)

    def height(u):
        values, flat = np.empty(joint.size), np.zeros(joint.size)
        from_coordinates(space.table, u, *ends, values)
        known = {"are_bounded": False, "gradient": flat, "slopes": np.empty(space.size)}
        grown = slopes_by_coordinates(space.table, u, *ends, **known)
        return float(given(joint.placed(state, values))[0]) + grown

    assert to_coordinates(space.table, joint.flat(state), *ends, u)
    known = {"are_bounded": False, "gradient": joint.flat(slopes), "slopes": found}
    slopes_by_coordinates(space.table, u, *ends, **known)
    return worst_difference(height, u, found)


def worst_difference(height, x, slopes):
    """The largest difference of the slopes of a function at a point from their limits.

    By what it may be: differences are extrapolated twice, the error of the last is of the sixth
    order of the step, and less than what the second extrapolation changed; rounding of the function
    is added.
    """
    worst = 0.0
    for k in range(len(x)):

        def at(h, k=k):
            moved = x.copy()
            moved[k] += h
            return height(moved)

        h = 1e-3 * min(1.0, abs(x[k]), 0.5)
        one, two, four = ((at(h * m) - at(-h * m)) / (2 * h * m) for m in (1, 2, 4))
        first, second = (4 * one - two) / 3, (4 * two - four) / 3
        limit = (16 * first - second) / 15
        rounding = 64 * np.finfo(float).eps * (1 + abs(height(x))) / h
        worst = max(worst, abs(slopes[k] - limit) / (rounding + abs(limit - first)))
    return worst
