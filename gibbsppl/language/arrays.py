"""Arrays that are filled region by region.

>>> from gibbsppl.language import Model, Normal
>>> with Model(coords={"time": 10}) as model:
...     x = Array("x", dims="time")
...     x[0] = Normal(0, sigma=1)
...     x[1:] = Normal(x.lag("time", 1), sigma=1)
>>> [s.name for s in model.graph.statements]
['x[0]', 'x[1:]']
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.algebra import expressions
from gibbsppl.algebra.expressions import Dim, dims_of
from gibbsppl.arguments import calls_told
from gibbsppl.errors import ModelError
from gibbsppl.language.checks import check_reads
from gibbsppl.language.completeness import first
from gibbsppl.language.data import made_data
from gibbsppl.language.distributions import Distribution
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.missing import declare_observed
from gibbsppl.language.model import Model, current_model
from gibbsppl.language.regions import Key, Region, region_of
from gibbsppl.language.statements import (
    Names,
    Observations,
    axes_and_values,
    check_values,
    place,
    plain_array,
)
from gibbsppl.language.tensors import Tensor, own_tensor
from gibbsppl.language.values import dims_given
from gibbsppl.model.graph import Constant, Variable
from gibbsppl.model.graph_views import bounds_of


@calls_told(ModelError)
def Array(  # noqa: N802  (constructors of the language are capitalised)
    name: str,
    dims: Names = None,
    event: Names = None,
    observed: Observations = None,
    missing: ArrayLike | None = None,
) -> Tensor:
    """An array whose regions are filled by assignment: ``x[0] = ...; x[1:] = ...``.

    ``event`` names the event dims, or the dim that labels point into.
    """
    model = current_model(name)
    axes = dims_given(name, dims, observed)
    axes, values = axes_and_values(model, name, axes, observed, missing)
    hint = model.dims(event, name)
    of = hint[0] if len(hint) == 1 and hint[0] not in axes else None
    variable = Variable(name, axes, "random", of=of)
    model.declare(variable, "an array")
    if values is not None:
        declare_observed(model, variable, values)
    shape = tuple(map(model.size, axes))
    model.declared.arrays[name] = np.zeros(shape, dtype=bool)
    model.declared.numbers[name] = np.zeros(shape)
    leaf = expressions.Array(name)[axes]
    return Tensor(leaf, model, of, fill=partial(_fill, model, variable, hint))


def _fill(
    model: Model, variable: Variable, hint: tuple[Dim, ...], key: Key, value: object
) -> None:
    """Fill a region of an array with a distribution or with a known value."""
    name = variable.name
    region = region_of(model, name, variable.dims, key)
    filled = model.declared.arrays[name]
    if filled[region.slices].any():
        at = first(np.asarray(filled[region.slices]))
        raise ModelError(
            f"{region.label}: overlaps a region that is already filled (element {at} of it); "
            "regions are disjoint: assign each element once."
        )
    if isinstance(value, Distribution):
        _fill_with_distribution(model, variable, region, hint, value)
    else:
        _fill_with_expression(model, variable, region, value)
    filled[region.slices] = True
    if name in model.declared.computed:
        _fill_as_computed(model, variable)
    elif filled.all() and not _has_statements(model, name):
        _fill_as_data(model, variable)


def _fill_with_distribution(
    model: Model, variable: Variable, region: Region, hint: tuple[Dim, ...], value: Distribution
) -> None:
    values = model.declared.observed.get(variable.name)
    placed = place(model, variable.name, value, region, plain_array, hint, values)
    check_values(model, placed.statement, region, values, value)
    if placed.of != variable.of:
        found = "none" if placed.of is None else repr(placed.of.name)
        expected = "none" if variable.of is None else repr(variable.of.name)
        raise ModelError(
            f"{region.label}: its values point into {found}, those of {variable.name} into "
            f'{expected}; declare gp.Array("{variable.name}", ..., event="dim") with the dim that '
            "all its labels point into."
        )
    model.declared.statements.append(placed.statement)


def _fill_with_expression(model: Model, variable: Variable, region: Region, value: object) -> None:
    """Fill a region with known numbers, or with a function of variables."""
    tensor = own_tensor(model, region.label, value)
    if extra := dims_of(tensor.expr) - set(region.dims):
        raise ModelError(
            f"{region.label}: assigned {tensor}, which also runs over "
            f"{', '.join(d.name for d in model.in_order(extra))}; expected a distribution, a "
            "number, or an expression over the dims of the region: sum over the others."
        )
    check_reads(model, region.label, tensor.expr, bounds_of(region.over))
    target = expressions.Array(variable.name)[region.indices]
    given = Constant(target, region.over, tensor.expr)
    found = evaluate(tensor.expr, region.over, model.known, model.sizes)
    if found is None:
        model.declared.computed.setdefault(variable.name, []).append(given)
        return
    _check_constant(model, variable.name, region, found)
    model.declared.numbers[variable.name][region.slices] = found
    model.declared.constants.append(given)


def _has_statements(model: Model, name: str) -> bool:
    return any(s.target.array.name == name for s in model.declared.statements)


def _fill_as_computed(model: Model, variable: Variable) -> None:
    """Arrays with a region computed from variables are computed as a whole."""
    name = variable.name
    if _has_statements(model, name) or name in model.declared.observed:
        raise ModelError(
            f"{name}: some of its regions are computed from variables, others have distributions "
            "or are observed; expected one or the other for all: give what has a distribution an "
            "array of its own."
        )
    own = [c for c in model.declared.constants if c.target.array.name == name]
    model.declared.computed[name] += own
    model.declared.constants = [c for c in model.declared.constants if c not in own]


def _fill_as_data(model: Model, variable: Variable) -> None:
    """An array all of whose regions are known numbers is data."""
    name = variable.name
    if name in model.declared.observed:
        raise ModelError(
            f"{name}: observed, but all its elements are assigned known numbers; observed= is for "
            "regions with a distribution: remove it."
        )
    made_data(model, variable, model.declared.numbers[name])
    model.declared.constants = [c for c in model.declared.constants if c.target.array.name != name]


def _check_constant(model: Model, name: str, region: Region, found: np.ndarray) -> None:
    """A constant agrees with what is observed there, and stands in the data array."""
    observed = model.declared.observed.get(name)
    if observed is None:
        return
    if np.any(observed.known[region.slices] & (observed.values[region.slices] != found)):
        raise ModelError(
            f"{region.label}: assigned a constant where other values are observed; mask these "
            "entries of observed=, or assign a distribution."
        )
    observed.values[region.slices] = found
