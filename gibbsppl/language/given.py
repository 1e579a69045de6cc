"""Values of latent variables that a user gives: initial values, or where to evaluate a density.

Comes in: values by variable, missing ones masked or NaN. Goes out: arrays of floats of the shapes
of the variables, NaN where a value is missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.arguments import shown
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.language.values import entries_and_known
from gibbsppl.model.alignment import aligned
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, fill
from gibbsppl.model.graph import Graph, Statement


def given_arrays(what: str, graph: Graph, data: Values, given: Values) -> State:
    """The user's values as arrays, refused unless they are of a latent variable and its shape.

    ``what`` is the argument that has them. Missing elements, masked or NaN, are NaN.
    """
    latent = set(graph.drawn)
    for name in given:
        if name not in latent:
            raise RunError(
                f"{what}: {name!r} is not a variable to be drawn; expected one of {sorted(latent)}."
                f"{did_you_mean(str(name), sorted(latent))}"
            )
    return {name: _full(what, graph, data, name, value) for name, value in given.items()}


def _full(what: str, graph: Graph, data: Values, name: str, value: ArrayLike) -> Floats:
    names = [d.name for d in graph.variables[name].dims]
    value = aligned(f"{what}: {name}", value, names, graph.labels, RunError)
    try:
        entries, given = entries_and_known(value)
    except (TypeError, ValueError, OverflowError):
        entries, given = np.empty((), dtype=object), np.ones((), dtype=bool)
    if entries.dtype.kind not in "biuf":
        raise RunError(
            f"{what}: {name} is {shown(value)}, expected real numbers in a rectangular array."
        )
    array = np.where(given, entries, 0).astype(np.float64)
    array[~given] = np.nan
    shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
    if array.shape != shape:
        raise RunError(
            f"{what}: {name} has shape {array.shape}, expected {shape}, one value per position of "
            f"{', '.join(d.name for d in graph.variables[name].dims) or 'no dimension'}."
        )
    for s in graph.latent:
        if s.target.array.name == name and s.known != 0:
            _keep_known(what, graph, data, s, array)
    return array


def _keep_known(
    what: str, graph: Graph, data: Values, statement: Statement, array: Floats
) -> None:
    """Observed values put into the user's array; another value there is an error."""
    name, over = statement.target.array.name, regions(statement, graph.sizes)
    known = evaluate(statement.known, over, data, graph.sizes) != 0
    seen, asked = (
        evaluate(statement.target, over, {**data, name: a}, graph.sizes)
        for a in (data[name], array)
    )
    if (known & ~np.isnan(asked) & (asked != seen)).any():
        raise RunError(
            f"{what}: {name} differs from the data where it is observed; give NaN at those "
            "elements."
        )
    fill(statement, np.where(known, seen, asked), {**data, name: array}, graph.sizes)
