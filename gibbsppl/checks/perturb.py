"""Random changes of a variable that stay inside its support.

Comes in: values of all arrays. Goes out: the array of one statement's target, changed at all free
elements, or at one element (one row where elements cannot change alone: a simplex).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import sympy as sp

from gibbsppl.model.density import event_dims, regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Statement
from gibbsppl.model.operations import Bools

Mask = Bools
Which = Literal["any", "first", "last"]


def perturbed(  # noqa: PLR0913  (what to change and how far, named at the call)
    rng: np.random.Generator,
    statement: Statement,
    values: Values,
    sizes: Sizes,
    free: Mask,
    *,
    scale: float = 1.0,
    single: Which | None = None,
    beyond: bool = False,
) -> Floats:
    """The target's array with random changes of the size of ``scale`` inside the support.

    ``single`` changes one element alone, a random one or that at an end. ``beyond`` ignores the
    bounds of a truncated support (positive values stay positive), and takes labels from the union
    of the ranges of all elements.
    """
    over = regions(statement, sizes)
    shape = tuple(map(len, over))
    x = np.broadcast_to(evaluate(statement.target, over, values, sizes), shape)
    where = _one_of(rng, statement, free, single) if single else free
    if beyond and statement.support.kind == "real":
        changed = _moved_beyond(rng, statement, x, values, sizes, scale)
    elif beyond and statement.support.kind == "integer":
        lower, upper = _bounds(statement, x, values, sizes)
        least, most = lower.min(initial=np.inf), upper.max(initial=-np.inf)
        changed = _moved_integer(rng, x, np.full(x.shape, least), np.full(x.shape, most))
    else:
        changed = _moved(rng, statement, x, values, sizes, scale)
    name = statement.target.array.name
    copy = {**values, name: np.array(values[name])}
    fill(statement, np.where(where, changed, x), copy, sizes)
    moved: Floats = copy[name]
    return moved


def _one_of(rng: np.random.Generator, statement: Statement, free: Mask, which: Which) -> Mask:
    """A mask of one free element, or of a whole event where entries are tied."""
    events = len(event_dims(statement)) if statement.support.is_tied else 0
    batch = free.all(axis=tuple(range(free.ndim - events, free.ndim))) if events else free
    chosen = np.zeros(batch.size, dtype=bool)
    candidates = np.flatnonzero(batch)
    if candidates.size:
        ends = {"first": candidates[0], "last": candidates[-1]}
        chosen[ends.get(which, rng.choice(candidates))] = True
    return chosen.reshape(batch.shape + (1,) * events) & free


def _moved(
    rng: np.random.Generator,
    statement: Statement,
    x: Floats,
    values: Values,
    sizes: Sizes,
    scale: float,
) -> Floats:
    noise = scale * rng.standard_normal(x.shape)
    match statement.support.kind:
        case "vector":
            return x + 0.5 * (1 + np.abs(x)) * noise
        case "simplex":
            weights = x * np.exp(noise)
            return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
        case "sphere":
            moved = x + noise / np.sqrt(x.shape[-1])
            return np.asarray(moved / np.linalg.norm(moved, axis=-1, keepdims=True))
        case "spd":
            near_identity = np.eye(x.shape[-1]) + 0.2 * noise
            moved = near_identity @ x @ np.swapaxes(near_identity, -2, -1)
            return np.asarray((moved + np.swapaxes(moved, -2, -1)) / 2)
        case "counts":
            total = np.rint(x.sum(axis=-1)).astype(int)
            return rng.multinomial(total, np.full(x.shape[-1], 1 / x.shape[-1])).astype(float)
        case "integer":
            return _moved_integer(rng, x, *_bounds(statement, x, values, sizes))
        case "real":
            return _moved_real(x, noise, *_bounds(statement, x, values, sizes))


def _moved_beyond(
    rng: np.random.Generator,
    statement: Statement,
    x: Floats,
    values: Values,
    sizes: Sizes,
    scale: float,
) -> Floats:
    lower, upper = _bounds(statement, x, values, sizes)
    floor = np.where(lower >= 0, 0.0, -np.inf)
    # (as far as an interval is long)
    size = np.where((lower < 0) & np.isfinite(upper - lower), np.maximum(upper - lower, 1.0), 1.0)
    noise = scale * size * rng.standard_normal(x.shape)
    return _moved_real(x, noise, floor, np.full(x.shape, np.inf))


def _bounds(statement: Statement, x: Floats, values: Values, sizes: Sizes) -> tuple[Floats, Floats]:
    support = statement.support
    lower, upper = (
        np.broadcast_to(evaluate(sp.sympify(b), statement.over, values, sizes), x.shape)
        for b in (support.lower, support.upper)
    )
    return lower, upper


def _moved_real(x: Floats, noise: Floats, lower: Floats, upper: Floats) -> Floats:
    """Multiplied on the positive line, shifted on the logit line between two bounds."""
    with np.errstate(all="ignore"):
        above = lower + (x - lower) * np.exp(0.5 * noise)
        below = upper - (upper - x) * np.exp(0.5 * noise)
        odds = (x - lower) / (upper - x) * np.exp(noise)
        between = lower + (upper - lower) * odds / (1 + odds)
    free = x + 0.5 * (1 + np.abs(x)) * noise
    one_sided = np.where(np.isfinite(lower), above, np.where(np.isfinite(upper), below, free))
    return np.where(np.isfinite(lower) & np.isfinite(upper), between, one_sided)


def _moved_integer(rng: np.random.Generator, x: Floats, lower: Floats, upper: Floats) -> Floats:
    """A label of a finite range; else a step of up to 3, kept in the range.

    Where parameters leave no label (a marked share larger than its population) the value stays.
    """
    finite = np.isfinite(lower) & np.isfinite(upper) & (lower <= upper)
    low, high = np.where(finite, lower, 0), np.where(finite, upper, 0)
    label = rng.integers(low.astype(int), high.astype(int), endpoint=True)
    step = rng.integers(1, 4, size=x.shape) * rng.choice([-1, 1], size=x.shape)
    stepped = np.where(lower <= upper, np.clip(x + step, lower, upper), x)
    return np.where(finite, label, stepped).astype(float)
