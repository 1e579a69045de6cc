"""Gradients beside extrapolated differences of the log density: no algebra, no generated slopes."""

import numpy as np

from gibbsppl.runtime.unconstrained import Coordinates, unconstrained_in


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
    space = unconstrained_in(made, step.name)
    joint, coordinates = space.joint, Coordinates(space, *np.full((2, space.joint.size), np.inf))
    coordinates.lower[:] = -np.inf

    def at(u):
        x, found = coordinates.values(u), np.empty(space.size)
        height, slopes = given(joint.placed(state, x))
        grown = coordinates.put_slopes(u, x, joint.flat(slopes), found)
        return float(height) + grown, found

    u = coordinates.of(joint.flat(state))
    return worst_difference(lambda u: at(u)[0], u, at(u)[1])


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
