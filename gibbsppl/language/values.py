"""Arrays of the user's, read into NumPy with a mask of known entries, or refused.

Comes in: lists, NumPy (masked) arrays, objects of pandas, polars and xarray. Goes out: float
or integer arrays with a mask of the entries that are known. Missing is a mask, None, NA and NaN of
pandas and xarray, polars' null, or ``missing=``.

>>> model = Model(coords={"day": 3})
>>> read_values(model, "y", (Dim("day"),), np.ma.masked_equal([1, 2, -9], -9)).known
array([ True,  True, False])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, SupportsFloat, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.arguments import GivenArray, is_na, shown
from gibbsppl.errors import ModelError
from gibbsppl.language.completeness import first
from gibbsppl.language.declared import Observed
from gibbsppl.language.dim_names import dims_named
from gibbsppl.language.model import LARGEST_INTEGER, Model, typed
from gibbsppl.model.alignment import aligned, check_order, labels_along, names_of

A = TypeVar("A")


class Coordinates(Protocol):
    """The entries of a sparse matrix, with their positions."""

    shape: tuple[int, ...]
    data: np.ndarray
    row: np.ndarray
    col: np.ndarray


class Sparse(Protocol):
    """An array or a matrix of `scipy.sparse`, of any format."""

    def tocoo(self) -> Coordinates:
        """The entries that are stored."""

    def toarray(self) -> np.ndarray:
        """All entries."""


def read_values(
    model: Model,
    name: str,
    dims: tuple[Dim, ...],
    values: GivenArray | Sparse,
    missing: ArrayLike | None = None,
) -> Observed:
    """The values, zero where missing, and a mask of known entries, in the order of the labels.

    (A sparse array is read as such where it is what a distribution is observed as: elsewhere its
    zeros would have to be stored.)
    """
    if hasattr(values, "toarray"):
        raise ModelError(
            f"{name}: found a sparse matrix; sparse data are not read yet: pass .toarray(), or the "
            "stored entries as a long table with gp.Index for rows and columns."
        )
    with read_as_array(name, values):
        array, known = entries_and_known(in_order(model, name, dims, values))
    if array.dtype.kind not in "biuf":
        raise ModelError(
            f"{name}: found values of type {array.dtype}; expected real numbers in a rectangular "
            "array: convert them first."
        )
    if missing is not None and not is_na(missing):
        mask = in_order(model, f"{name}: missing=", dims, missing)
        with read_as_array(f"{name}: missing=", missing):
            known = known & ~_missing(name, array, mask)
    filled = np.where(known, array, 0)
    is_large = filled.dtype == np.uint64 and (filled >= LARGEST_INTEGER).any()
    numbers = typed(filled, is_whole=filled.dtype.kind != "f" and not is_large)
    if not np.isfinite(numbers).all():
        at = first(~np.isfinite(numbers))
        raise ModelError(
            f"{name}: found {numbers[at]} at position {at}; expected finite numbers: mark missing "
            "entries by missing=numpy.nan, a numpy masked array, None, or as pandas does."
        )
    return Observed(numbers, known)


@contextmanager
def read_as_array(what: str, values: object) -> Iterator[None]:
    """A context in which values that NumPy makes no array of raise a `ModelError`."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"{what}: found {shown(values)}, which is no array ({str(error).split('.')[0]}); "
            "expected real numbers in a rectangular array: lists of one length."
        ) from error


def in_order(model: Model, what: str, dims: tuple[Dim, ...], values: A) -> A:
    """An array that has labels in the order of the model's."""
    names = [d.name for d in dims]
    array: A = aligned(what, values, names, model.labels)
    check_order(what, array, names, model.labels, model.declared.seen)
    return array


def entries_and_known(values: GivenArray) -> tuple[np.ndarray, np.ndarray]:
    """The entries as an array, and which are known.

    NaN is missing in pandas and xarray, which know no other mark of a missing float. It is a number
    that is no number in NumPy and polars, which have masks and nulls.
    """
    array = _as_objects(values)
    known = np.ones(array.shape, dtype=bool)
    if isinstance(values, np.ma.MaskedArray):
        known = ~np.ma.getmaskarray(values)
    elif (tell := _teller(values)) is not None:
        known = ~np.asarray(tell(), dtype=bool)
    if array.dtype != object:
        return array, known
    given = [not is_na(v) for v in array.flat]
    known = known & np.array(given, dtype=bool).reshape(array.shape)
    kept = np.array(array[known].tolist())
    filled = np.zeros(array.shape, dtype=kept.dtype if kept.size else float)
    filled[known] = kept
    return filled, known


def _teller(values: Any) -> Callable[[], Any] | None:
    """The method of an array of pandas or xarray that tells which entries are missing."""
    told = [getattr(values, name, None) for name in ("isna", "isnull")]
    return next(filter(callable, told), None)


def _as_objects(values: Any) -> np.ndarray:
    """The entries, as objects where nulls of pandas or polars would turn into NaN."""
    if hasattr(values, "rows") and hasattr(values, "null_count"):  # (a table of polars)
        rows = values.rows()
        return np.array(rows, dtype=object).reshape(len(rows), len(values.columns))
    if callable(nulls := getattr(values, "null_count", None)) and nulls():
        return np.array(values.to_list(), dtype=object)
    is_plain = isinstance(getattr(values, "dtype", None), np.dtype)
    if not is_plain and hasattr(values, "isna") and hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy(dtype=object))
    return np.asarray(values)


def _missing(name: str, array: np.ndarray, missing: ArrayLike) -> np.ndarray:
    if np.ndim(missing) == 0:
        is_nan = isinstance(missing, (float, np.floating)) and np.isnan(missing)
        return np.isnan(array) if is_nan else np.asarray(array == missing)
    mask, told = entries_and_known(missing)
    if not told.all():
        raise ModelError(
            f"{name}: missing= is itself missing at position {first(~told)}; expected booleans."
        )
    if mask.dtype != bool or mask.shape != array.shape:
        raise ModelError(
            f"{name}: missing= is an array of {mask.dtype} and shape {mask.shape}; expected the "
            f"value that stands for missing, or booleans of shape {array.shape}."
        )
    return mask


def dims_given(
    name: str, dims: str | Iterable[str] | None, values: object
) -> tuple[Dim, ...]:
    """The dims of an array: those named, or the names that its axes have (in xarray)."""
    return dims_named(names_of(values) if dims is None else dims, name)


def dims_of_values(
    model: Model, name: str, shape: Sequence[int], dims: tuple[Dim, ...], values: object = None
) -> None:
    """Check a shape against dims; dims new to the model take their size from the shape.

    And their labels from ``values`` in which each position has one of its own.
    """
    labels = labels_along(values, [d.name for d in dims])
    if len(shape) != len(dims):
        raise ModelError(
            f"{name}: the array has {len(shape)} axes (shape {tuple(shape)}), but dims name "
            f"{len(dims)} ({', '.join(map(str, dims)) or 'none'}); name one dimension per axis."
        )
    for dim, n in zip(dims, shape, strict=True):
        if not model.has_dim(dim):
            model.add_dim(dim.name, labels.get(dim.name, n), name)
        elif n != model.size(dim):
            raise ModelError(
                f"{name}: dimension {dim.name!r} has size {model.size(dim)}, but the array has {n} "
                f"along it (shape {tuple(shape)}); pass the array with the axes "
                f"({', '.join(map(str, dims))}), or give the dimension that size."
            )


def count_axes(value: Any) -> int:
    """The number of axes of what is no tensor; 0 for what is no array."""
    try:
        return np.ndim(value)
    except (TypeError, ValueError):  # (lists of different lengths, tables of several arrays)
        return 0


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array of any library, or of lists."""
    return np.shape(value)


def finite_number(value: SupportsFloat, owner: str) -> Expr:
    """A number that is no infinity and no NaN, exactly."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{owner}: found {shown(value)}; expected a real number.") from error
    if not np.isfinite(found):
        raise ModelError(f"{owner}: found the number {found}; expected a finite one.")
    return number(found)
