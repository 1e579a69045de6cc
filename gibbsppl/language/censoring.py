"""Censored observations: values known by bounds alone, without latent values.

Comes in: a distribution, its values, and which of them are censored. Goes out: a statement whose
log density is, for a censored value, the log probability of the known bounds.

>>> from gibbsppl.language import Exponential, Gamma
>>> with Model() as model:
...     rate = Gamma("rate", 1, rate=1)
...     seen = Exponential(rate=rate)
...     t = Censored("t", seen, event=[1, 0], dims="patient", observed=[2.0, 5.0])
>>> print(model.graph.statement("t"))
t[patient] ~ Exponential(rate=rate), censored above t[patient] where t.event[patient] = 0, observed
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of
from gibbsppl.algebra.functions import AtMost
from gibbsppl.arguments import GivenArray, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.language.completeness import first
from gibbsppl.language.data import Data
from gibbsppl.language.declared import Observed
from gibbsppl.language.dim_names import dims_named
from gibbsppl.language.distributions import Distribution, can_be_truncated
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.model import Model, current_model
from gibbsppl.language.statements import Names, Observations, declared
from gibbsppl.language.tensors import Tensor, Value, own_tensor
from gibbsppl.language.values import count_axes
from gibbsppl.model.graph import Censoring, Statement

Given = Mapping[str, Expr]
Array = np.ndarray


@calls_told(ModelError)
def Censored(  # noqa: N802  (constructors of the language are capitalised)
    name: str,
    distribution: Distribution,
    *,
    event: Value | GivenArray | None = None,
    lower: Value | GivenArray | None = None,
    upper: Value | GivenArray | None = None,
    dims: Names = None,
    observed: Observations = None,
) -> Tensor:
    """An observed variable with censored values, known by their bounds alone.

    ``lower`` and ``upper`` without ``event`` are detection limits: a value at or beyond a limit is
    known to be there, no more. ``event`` is 1 where a value was seen exactly; where ``event`` is 0,
    the value is between ``lower`` and ``upper``, or above the value of ``observed`` if neither is
    given. Each argument is a number, data, or an array over ``dims``.
    """
    model = current_model(name)
    _check_distribution(name, distribution)
    if observed is None:
        raise ModelError(
            f"{name}: a censored variable without values; give observed=, with the bound in the "
            "place of a value that is censored."
        )
    along = dims_named(dims, name)
    asked = {"event": event, "lower": lower, "upper": upper}
    given = {k: _known(model, name, k, v, along) for k, v in asked.items() if v is not None}
    if not given:
        raise ModelError(
            f"{name}: nothing says which values are censored; give event= (1: seen exactly), or a "
            "detection limit as lower= or upper=."
        )
    return declared(name, distribution, along, observed, censor=partial(_censored, given))


def _check_distribution(name: str, distribution: object) -> None:
    if not isinstance(distribution, Distribution):
        raise ModelError(
            f"{name}: censored {distribution!r}; expected a distribution without a name, as in "
            f'gp.Censored("{name}", gp.Exponential(rate=rate), ...).'
        )
    if not can_be_truncated(distribution.family):
        raise ModelError(
            f"{name}: {distribution.family.name} has no distribution function in closed form, "
            "so its values cannot be censored: choose another distribution."
        )


def _known(
    model: Model, name: str, which: str, value: Value | GivenArray, along: tuple[Dim, ...]
) -> Expr:
    """What was given, raw arrays declared as data along the variable's dims."""
    if not isinstance(value, Tensor) and count_axes(value) > 0:
        value = Data(f"{name}.{which}", value, dims=[d.name for d in along])
    expr: Expr = own_tensor(model, f"{name}: {which}", value).expr
    if extra := dims_of(expr) - set(along):
        raise ModelError(
            f"{name}: {which}= has the dimensions {', '.join(sorted(map(str, extra)))}, which "
            f"{name} lacks ({', '.join(map(str, along)) or 'none'}); add them to dims=, or index "
            "them away."
        )
    return expr


def _censored(
    given: Given, model: Model, statement: Statement, observed: Observed | None
) -> Statement:
    """The statement with its censoring, which fits the observed values."""
    name = statement.name
    if observed is None or not observed.known.all():
        raise ModelError(
            f"{name}: some values are missing; expected a value or a bound for each: leave the "
            "missing ones out (they tell nothing)."
        )
    values = {k: _values(model, statement, k, e) for k, e in given.items()}
    support = [
        _values(model, statement, "a bound of its support", sp.sympify(b))
        for b in (statement.support.lower, statement.support.upper)
    ]
    if "event" not in given:
        _check_limits(statement, values, *support)
        observed.values = _clipped(observed.values, values.get("lower"), values.get("upper"))
        return replace(statement, censored=_at_limits(statement.target, given))
    _check_events(statement, values, observed.values, *support)
    bounds = (given.get("lower"), given.get("upper"))
    above = bounds if bounds != (None, None) else (statement.target, None)
    return replace(statement, censored=(Censoring(1 - given["event"], *above),))


def _at_limits(target: Leaf, given: Given) -> tuple[Censoring, ...]:
    """Below the one detection limit, above the other."""
    sides = {
        "lower": lambda limit: Censoring(AtMost(target, limit), upper=limit),
        "upper": lambda limit: Censoring(AtMost(limit, target), lower=limit),
    }
    return tuple(sides[which](limit) for which, limit in given.items())


def _clipped(observed: Array, lower: Array | None, upper: Array | None) -> Array:
    """The values clipped to the limits; whole numbers keep their type where possible."""
    clipped = np.asarray(np.clip(observed, lower, upper))
    whole = clipped.astype(observed.dtype)
    return whole if (whole == clipped).all() else clipped


def _values(model: Model, statement: Statement, what: str, expr: Expr) -> Array:
    """The values of what must be known, at all positions of the statement."""
    if expr in (sp.oo, -sp.oo):
        return np.full(tuple(map(len, statement.over)), float(expr))
    values = evaluate(expr, statement.over, model.known, model.sizes)
    if values is None:
        raise ModelError(
            f"{statement.name}: {what} is {expr}, which is not known; expected numbers or data, by "
            "which to tell what is censored: give it as gp.Data."
        )
    return values


def _check_limits(
    statement: Statement, values: Mapping[str, Array], low: Array, high: Array
) -> None:
    """Detection limits are inside the support, in order."""
    for which, limit in values.items():
        _refuse(
            statement,
            f"{which}=",
            limit,
            (limit <= low) | (limit >= high),
            f"a limit inside {statement.support!r}, where values can be on both sides of it",
        )
    if len(values) == 2:
        wrong = values["lower"] >= values["upper"]
        _refuse(statement, "lower=", values["lower"], wrong, "a limit below upper=")


def _check_events(
    statement: Statement,
    values: Mapping[str, Array],
    observed: Array,
    low: Array,
    high: Array,
) -> None:
    """Events are 0 or 1; bounds are in order; what stands for a censored value is between them.

    Bounds are in order where a value was seen too, or the term left out there had no value.
    """
    event = values["event"]
    _refuse(statement, "event=", event, (event != 0) & (event != 1), "1 (seen exactly) or 0")
    lower, upper = values.get("lower", low), values.get("upper", high)
    for which, bound in (("lower=", lower), ("upper=", upper)):
        outside = (bound < low) | (bound > high)
        _refuse(statement, which, bound, outside, f"a bound in {statement.support!r}")
    _refuse(statement, "lower=", lower, lower >= upper, "a bound below upper=")
    outside = (event == 0) & ((observed < lower) | (observed > upper))
    _refuse(statement, "observed=", observed, outside, "a value between lower= and upper=")


def _refuse(
    statement: Statement, which: str, values: Array, bad: Array, expected: str
) -> None:
    if bad.any():
        at = first(np.asarray(bad))
        where = f" at position {at}" if at else ""
        raise ModelError(
            f"{statement.name}: {which} has {values[at]:g}{where}; expected {expected}: correct it."
        )
