"""Data and index arrays: what a model is told.

>>> with Model(coords={"day": [8, 15, 22]}) as model:
...     age = Data("age", [8, 15, 22], dims="day")
>>> age - 22, model.data["age"]
(age[day] - 22 over day, array([ 8, 15, 22]))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gibbsppl.algebra.expressions import Dim, array_of
from gibbsppl.arguments import GivenArray, calls_told
from gibbsppl.errors import ModelError
from gibbsppl.language.completeness import first
from gibbsppl.language.dim_names import dims_named
from gibbsppl.language.model import Model, current_model
from gibbsppl.language.tensors import Tensor
from gibbsppl.language.values import (
    dims_given,
    dims_of_values,
    in_order,
    read_as_array,
    read_values,
)
from gibbsppl.model.graph import Kind, Variable
from gibbsppl.model.label_codes import (
    are_labels,
    could_be_labels,
    labels_found,
    number_or_label,
    positions_of,
)

# How many missing entries an error names.
SHOWN = 5


@calls_told(ModelError)
def Data(  # noqa: N802  (constructors of the language are capitalised)
    name: str, values: GivenArray, dims: str | Iterable[str] | None = None
) -> Tensor:
    """An array of known values; new dimensions take size and labels from the array.

    An array of xarray has the names of its ``dims`` itself.
    """
    model = current_model(name)
    axes = dims_given(name, dims, values)
    numbers = _complete(model, name, axes, values)
    dims_of_values(model, name, numbers.shape, axes, values)
    integer = numbers.dtype.kind == "i"
    return _declared(model, Variable(name, axes, "data", integer=integer), numbers, "data")


@calls_told(ModelError)
def Index(  # noqa: N802  (constructors of the language are capitalised)
    name: str,
    codes: GivenArray,
    of: str,
    dims: str | Iterable[str] | None = None,
    size: int | None = None,
) -> Tensor:
    """Positions along the dimension ``of``: numbers counted from 0, or labels.

    Labels are texts, times, tuples, or a categorical column of pandas or polars. Where ``of`` is
    new, they make it known: all categories in their order, or the labels found, sorted. Else they
    are looked up among its labels. ``size`` makes ``of`` known for numbers where no coords do.

    >>> with Model():
    ...     Index("group", [0, 1, 1], of="school", dims="student", size=2)
    group[student] over student
    >>> with Model() as model:
    ...     group = Index("group", ["Lund", "Oslo", "Lund"], of="town", dims="person")
    >>> model.data["group"], model.coords["town"]
    (array([0, 1, 0]), array(['Lund', 'Oslo'], dtype='<U4'))
    """
    model = current_model(name)
    axes = dims_given(name, dims, codes)
    if not isinstance(of, str):
        raise ModelError(f"{name}: of={of!r}; expected the name of a dimension.")
    positions = _positions(model, name, axes, codes, of)
    numbers = _complete(model, name, axes, positions)
    if size is not None and not model.has_dim(of):
        model.add_dim(of, size, name)
    (target,) = model.dims(of, name)
    _check_codes(name, numbers, target, model.size(target))
    dims_of_values(model, name, numbers.shape, axes, codes)
    return _pointing(model, name, axes, numbers, target, codes)


def positions(name: str, codes: np.ndarray, of: str, dims: str) -> Tensor:
    """An index of positions that were counted here, which are no labels whatever the dim has."""
    model = current_model(name)
    (target,), axes = model.dims(of, name), dims_named(dims, name)
    dims_of_values(model, name, codes.shape, axes)
    return _pointing(model, name, axes, codes, target, codes)


def _pointing(
    model: Model,
    name: str,
    axes: tuple[Dim, ...],
    numbers: np.ndarray,
    target: Dim,
    codes: GivenArray,
) -> Tensor:
    """The index of positions along a dim."""
    variable = Variable(name, axes, "index", integer=True, of=target)
    # (four bytes for each are kept where they are given)
    kind = np.int32 if getattr(codes, "dtype", None) == np.int32 else np.intp
    return _declared(model, variable, numbers.astype(kind), "an index")


def _positions(
    model: Model, name: str, dims: tuple[Dim, ...], codes: GivenArray, of: str
) -> GivenArray:
    """Labels as positions along the dim that they label, which they may make known; else codes."""
    told = model.labels.get(of)
    if isinstance(codes, Tensor) or not are_labels(codes):
        if told and not isinstance(codes, Tensor):
            with read_as_array(name, codes):
                numbers = np.asarray(codes)
            if could_be_labels(numbers, told):
                raise ModelError(number_or_label(name, of))
        return codes
    ordered = in_order(model, name, dims, codes)
    if not model.has_dim(of):
        model.add_dim(of, labels_found(name, ordered), name)
        told = model.labels[of]
    elif told is None:
        raise ModelError(
            f"{name}: found labels, but {of!r} was given by its size alone; expected positions "
            f"from 0 to {model.size(of) - 1}: give {of!r} its labels in the model's coords."
        )
    return positions_of(name, ordered, of, told)


def checked_data(model: Model, variable: Variable, values: GivenArray) -> np.ndarray:
    """Other values of data or of an index that the model has, read and checked alike."""
    name, of = variable.name, variable.of
    if of is not None:
        values = _positions(model, name, variable.dims, values, of.name)
    numbers = _complete(model, name, variable.dims, values)
    if of is not None:
        _check_codes(name, numbers, of, model.size(of))
        numbers = numbers.astype(np.intp)
    numbers.setflags(write=False)
    return numbers


def made_data(model: Model, variable: Variable, values: np.ndarray) -> None:
    """Let an array that is known in all its elements be data, or an index."""
    kind: Kind = "data"
    if variable.of is not None:
        _check_codes(variable.name, values, variable.of, model.size(variable.of))
        kind, values = "index", values.astype(np.intp)
    model.declared.variables[variable.name] = replace(variable, kind=kind, integer=kind == "index")
    _keep(model, variable.name, values)


def _complete(model: Model, name: str, dims: tuple[Dim, ...], values: GivenArray) -> np.ndarray:
    """The values, all of which must be known."""
    if isinstance(values, Tensor):
        raise ModelError(f"{name}: found the tensor {values}; expected numbers: use it directly.")
    read = read_values(model, name, dims, values)
    if not read.known.all():
        raise ModelError(
            f"{name}: {_gaps(read.known)} missing; data must be complete: leave these rows out of "
            "the table, or draw what is missing: let the array be observed= of a distribution of "
            "its own, and use that variable in its place."
        )
    return read.values


def _gaps(known: np.ndarray) -> str:
    """The positions of the entries that are not known, the first few of many."""
    gaps = [tuple(map(int, at)) for at in np.argwhere(~known)]
    told = ", ".join(map(str, gaps[:SHOWN])) + (", ..." if len(gaps) > SHOWN else "")
    one = f"the entry at position {told} is"
    return one if len(gaps) == 1 else f"the {len(gaps)} entries at positions {told} are"


def _check_codes(name: str, codes: np.ndarray, of: Dim, size: int) -> None:
    bad = (codes != np.floor(codes)) | (codes < 0) | (codes >= size)
    if bad.any():
        at = first(bad)
        raise ModelError(
            f"{name}: found {codes[at]} at position {at}; expected whole numbers from 0 to "
            f"{size - 1}, the positions along {of.name!r}: count from 0."
        )


def _declared(model: Model, variable: Variable, values: np.ndarray, what: str) -> Tensor:
    model.declare(variable, what)
    _keep(model, variable.name, values)
    # A constant of known sign is an exponent, or a scale, by which variables can be changed.
    is_positive = variable.kind == "data" and bool((values > 0).all())
    array = array_of(variable.name, is_positive=is_positive)
    return Tensor(array[variable.dims], model, variable.of)


def _keep(model: Model, name: str, values: np.ndarray) -> None:
    values.setflags(write=False)
    model.declared.values[name] = values
