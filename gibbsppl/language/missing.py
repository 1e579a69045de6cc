"""Observed arrays with missing entries: the mask as an expression, a valid value in each gap.

A gap is drawn by the sampler; until then the data array holds a placeholder inside the support, so
that no computation on it fails.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr
from gibbsppl.errors import ModelError
from gibbsppl.language.completeness import first
from gibbsppl.language.declared import Observed
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.model import Model
from gibbsppl.language.regions import Region
from gibbsppl.model.graph import Statement, Variable


def mask_name(name: str) -> str:
    """The name of the 0/1 array that says which entries of an array are known."""
    return f"{name}.known"


def known_in(region: Region, name: str, observed: Observed | None) -> Expr:
    """1 where all of a region is observed, 0 where none is, else the mask at the target."""
    if observed is None:
        return sp.S.Zero
    known = observed.known[region.slices]
    if known.all():
        return sp.S.One
    return Array(mask_name(name))[region.indices] if known.any() else sp.S.Zero


def declare_observed(model: Model, variable: Variable, observed: Observed) -> None:
    """Keep the observed values of an array, and its mask if anything is missing."""
    model.declared.observed[variable.name] = observed
    model.declared.values[variable.name] = observed.values
    if not observed.known.all():
        mask = replace(variable, name=mask_name(variable.name), kind="data", integer=True, of=None)
        model.declare(mask, f"the mask of the missing entries of {variable.name}")
        model.declared.values[mask.name] = observed.known.astype(np.intp)


def fill_gaps(model: Model, statement: Statement, region: Region, observed: Observed) -> None:
    """Put a value of the support in the place of each missing entry of a region."""
    known = np.asarray(observed.known[region.slices])
    if known.all():
        return
    axes = tuple(i for i, d in enumerate(region.dims) if d in statement.event)
    if statement.support.is_tied:
        _check_whole_events(statement, known, axes)
    placeholders = _placeholders(model, statement, region, observed.values[region.slices], known)
    observed.values[region.slices] = np.where(
        known, observed.values[region.slices], placeholders
    )


def _check_whole_events(statement: Statement, known: np.ndarray, axes: tuple[int, ...]) -> None:
    partly = np.asarray(known.any(axis=axes) & ~known.all(axis=axes))
    if partly.any():
        where = f" at position {first(partly)}" if partly.ndim else ""
        raise ModelError(
            f"{statement.name}: the value{where} is partly missing; a value of "
            f"{statement.family.name} is observed whole or not at all: mask all of it."
        )


def _placeholders(
    model: Model, statement: Statement, region: Region, values: np.ndarray, known: np.ndarray
) -> np.ndarray | float:
    support = statement.support
    event = [region.dims.index(d) for d in statement.event if d in region.dims]
    match support.kind:
        case "simplex":
            return 1 / int(known.shape[event[0]])
        case "sphere":
            return float(1 / np.sqrt(known.shape[event[0]]))
        case "spd":
            n = known.shape[event[0]]
            shape = tuple(n if i in event else 1 for i in range(known.ndim))
            return np.eye(n).reshape(shape)
        case "counts":
            return _all_in_first(model, statement, known, event[0])
        case "vector":
            return 0.0
        case "real" | "integer":
            lower, upper = (
                evaluate(b, statement.over, model.known, model.sizes)
                for b in (support.lower, support.upper)
            )
            return _inside(lower, upper, values[known], is_whole=support.is_discrete)


def _inside(
    lower: np.ndarray | None, upper: np.ndarray | None, observed: np.ndarray, *, is_whole: bool
) -> np.ndarray | float:
    """A value between bounds: half way, one step from the only bound, or an observed one."""
    low = None if lower is None or not np.isfinite(lower).all() else lower
    high = None if upper is None or not np.isfinite(upper).all() else upper
    if low is not None and high is not None:
        middle = (low + high) / 2
        return np.asarray(np.floor(middle)) if is_whole else middle
    if low is not None:
        return low + 1
    if high is not None:
        return high - 1
    seen: float = observed.flat[0] if observed.size else 0
    return seen


def _all_in_first(model: Model, statement: Statement, known: np.ndarray, axis: int) -> np.ndarray:
    """Counts of the required total, all in the first place."""
    total = evaluate(statement.support.upper, statement.over, model.known, model.sizes)
    if total is None:
        raise ModelError(
            f"{statement.name}: missing counts need a total that is known; give the total as data."
        )
    one_hot = np.zeros(known.shape[axis])
    one_hot[0] = 1
    shape = tuple(known.shape[axis] if i == axis else 1 for i in range(known.ndim))
    return np.expand_dims(total, axis) * one_hot.reshape(shape)
