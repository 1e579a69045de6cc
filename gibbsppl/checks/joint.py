"""The exact check of a joint draw: what it draws, and where it is centred.

That the coefficients are those of the joint density is seen as for any step. Where they go in the
precision matrix is seen here: about the mean of the draw a quadratic log density is even,

    log_joint(mean + d) == log_joint(mean - d)

for any change ``d`` of what is drawn, and at no other point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gibbsppl.checks.perturb import free_elements
from gibbsppl.evaluation import Sizes, Values
from gibbsppl.forward import fill
from gibbsppl.runtime.joint import Joint
from gibbsppl.schedule.steps import JointDraw

Terms = Callable[[Values], Any]


def gap_of_joint(
    rng: np.random.Generator,
    step: JointDraw,
    joint: Joint,
    given: Any,
    values: Values,
    sizes: Sizes,
    terms: Terms,
) -> tuple[float, float]:
    """How far the log density is from even about the mean, with the size of its terms.

    Infinitely far if other elements are drawn than there are to draw. ``terms`` are the log
    densities of the model. (Where the precision matrix is not positive definite there is no mean;
    the sweeps that `verify` makes stop at it.)
    """
    drawn = _to_be_drawn(step, values, sizes)
    if any(not np.array_equal(drawn[n], joint.drawn[n]) for n in step.variables):
        return np.inf, 0.0
    try:
        mean = joint.mean(values, given)
    except np.linalg.LinAlgError:
        return 0.0, 0.0
    own, _ = given
    change = {}
    for name, free in drawn.items():
        scale = np.sqrt(np.broadcast_to(-2 * np.asarray(own[name][1], dtype=float), free.shape))
        noise = rng.standard_normal(free.shape)
        change[name] = np.where(free, noise / np.where(scale > 0, scale, 1.0), 0.0)
    up, down = (
        np.ravel(terms({**values, **{n: mean[n] + sign * d for n, d in change.items()}}))
        for sign in (1.0, -1.0)
    )
    size = np.abs(up).sum() + np.abs(down).sum()
    return float(abs(up.sum() - down.sum())), float(size)


def _to_be_drawn(step: JointDraw, values: Values, sizes: Sizes) -> dict[str, Any]:
    """Which elements of each array the statements of a step leave to be drawn."""
    found = {n: np.zeros(np.shape(values[n]), dtype=bool) for n in step.variables}
    for statement in step.statements:
        name = statement.target.array.name
        copy = {**values, name: np.zeros(np.shape(values[name]))}
        fill(statement, free_elements(statement, values, sizes).astype(float), copy, sizes)
        found[name] |= np.asarray(copy[name]) > 0
    return found
