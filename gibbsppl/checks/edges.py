"""The exact check of a step's bounds, with the model evaluated on both sides of each.

Comes in: a step that is drawn between bounds, with what its ``given_rest`` returns. Goes out:
whether the model allows values just inside of each bound and excludes values just outside. A
bound that is a little too wide or too narrow shows in few random changes, if in any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.checks.joint import to_be_drawn
from gibbsppl.checks.terms import Given, Terms
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.schedule.steps import Step

# Distance of the values on both sides of a bound, in proportion to the bound.
NEAR = 1e-6

Place = tuple[int, ...]


def are_edges(
    rng: np.random.Generator,
    step: Step,
    given: Given,
    values: Values,
    sizes: Sizes,
    terms: Terms,
    possible: Callable[[Values], bool],
) -> bool:
    """Whether the bounds of some elements are the ends of the model's support, given the rest.

    ``terms`` are the log densities of the model; ``possible`` tells whether the step's density is
    positive at given values.
    """
    name = step.variables[0]
    for at, inside, outside in _beside(rng, step, given, values, sizes):
        here, there = ({**values, name: _with(values[name], at, x)} for x in (inside, outside))
        if possible(here) and not np.isfinite(terms.at(here)).all():
            return False
        if np.isfinite(terms.at(there)).all():
            return False
    return True


def _with(array: ArrayLike, at: Place, value: float) -> Floats:
    """An array with one element changed."""
    changed = np.array(array, dtype=float)
    changed[at] = value
    return changed


def _beside(
    rng: np.random.Generator, step: Step, given: Given, values: Values, sizes: Sizes
) -> Iterator[tuple[Place, float, float]]:
    """Elements with a finite bound, each with a value just inside and a value just outside.

    Both values are equally far from the bound on the scale of the model: a change of variable may
    have no values beyond the ends of its own scale, or take them to values inside (``u**2``).
    """
    free = to_be_drawn(step, values, sizes)[step.variables[0]]
    low, high = (np.broadcast_to(np.asarray(b, dtype=float), free.shape) for b in given[-2:])
    for bound, outwards in ((low, -1), (high, 1)):
        with np.errstate(all="ignore"):
            away = outwards * np.minimum(_near(bound), (high - low) / 4)
            ends = (_on_old_scale(step, x, values, sizes) for x in (bound, bound - away))
            edge, inside = (np.where(np.isfinite(bound), x, np.nan) for x in ends)
            beyond = np.maximum(_near(edge), np.abs(edge - inside))
        if _is_whole(step):
            inside, beyond = edge, np.ones(edge.shape)
        outside = edge + (outwards if _is_increasing(step) else -outwards) * beyond
        places = np.argwhere(free & np.isfinite(edge))
        if not len(places):
            continue
        for n in {0, int(rng.integers(len(places))), len(places) - 1}:
            at = tuple(places[n])
            yield at, float(inside[at]), float(outside[at])


def _near(bound: Floats) -> Floats:
    """A small distance from a bound, no underflow."""
    size = np.where(bound == 0, 1.0, np.abs(bound))
    return np.maximum(NEAR * size, np.finfo(float).tiny)


def _is_whole(step: Step) -> bool:
    return step.support.is_discrete


def _is_increasing(step: Step) -> bool:
    """Whether the change of variable of a draw is increasing."""
    change = step.change
    return change is None or change.is_increasing


def _on_old_scale(step: Step, new: Floats, values: Values, sizes: Sizes) -> Floats:
    """Values on the scale of the model, from values on the scale of the draw."""
    change, target = step.change, step.statement.target
    if change is None:
        return new
    axes = [i if isinstance(i, Dim) else Dim(f"·{a}") for a, i in enumerate(target.indices)]
    over = tuple(Range(d, 0, n) for d, n in zip(axes, new.shape, strict=True))
    old = change.backward(Leaf(target.array, *axes))
    found = evaluate(old, over, {**values, target.array.name: new}, sizes)
    return np.broadcast_to(found, new.shape)
