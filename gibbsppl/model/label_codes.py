"""Labels that say where an index points to, as positions along the dim that they label.

Comes in: texts, times, tuples, categories of pandas or polars; the labels of a dim, if it has some.
Goes out: the labels that were found, or a position for each; an error that names the first unknown.

>>> positions_of("county", ["Lund", "Oslo"], "town", ("Oslo", "Lund"))
array([1, 0])
>>> are_labels(["Lund", "Oslo"]), are_labels([1, 0])
(True, False)
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gibbsppl.arguments import is_na, shown
from gibbsppl.errors import GibbspplError, ModelError, did_you_mean
from gibbsppl.model.alignment import in_form_of, listed

Array = Any  # of NumPy, pandas, polars or xarray, or lists


def are_labels(values: Array) -> bool:
    """Whether values are labels by their kind: anything but numbers."""
    if _categories(values) is not None or _is_categorical(values):
        return True
    found = _entries(values)
    if found.dtype != object:
        return found.dtype.kind in "SUmM"
    known = [v for v in found.flat if not is_na(v)]
    return any(isinstance(v, (str, bytes, tuple, np.datetime64, np.timedelta64)) for v in known)


def labels_found(what: str, values: Array) -> np.ndarray | list[Hashable]:
    """The labels among the values, each once: as categories are ordered, or sorted."""
    found = dict.fromkeys(_known(what, values, ModelError))
    if (told := _categories(values)) is not None:
        return told
    entries = _entries(values)
    if entries.dtype.kind in "mM":
        return np.unique(entries)
    try:
        return sorted(found)  # type: ignore[type-var]
    except TypeError:  # (of several kinds, which have no order)
        return [*found]


def positions_of(
    what: str,
    values: Array,
    dim: str,
    labels: Sequence[Hashable],
    error: type[GibbspplError] = ModelError,
) -> np.ndarray:
    """The position of each value among the labels of a dim."""
    found = _known(what, values, error)
    at = {label: position for position, label in enumerate(in_form_of(found, labels))}
    for number, label in enumerate(found):
        if label not in at:
            raise error(
                f"{what}: found the label {shown(label)} at entry {number}, expected labels of "
                f"{dim!r}, which are {shown(tuple(labels))}: give it one of these, or add it to "
                f"the model's coords.{did_you_mean(str(label), map(str, labels))}"
            )
    codes = np.array([at[label] for label in found], dtype=np.intp)
    return codes.reshape(_entries(values).shape)


def could_be_labels(codes: np.ndarray, labels: Sequence[Hashable]) -> bool:
    """Whether all numbers are labels of a dim, and mean other positions as labels."""
    if codes.size == 0 or codes.dtype.kind not in "iuf":
        return False
    at = {label: position for position, label in enumerate(labels)}
    found = set(codes.ravel().tolist())
    return found <= at.keys() and any(at[n] != n for n in found)


def number_or_label(what: str, dim: str) -> str:
    """The message on numbers for which `could_be_labels` is true."""
    return (
        f"{what}: found numbers all of which are labels of {dim!r}, and other positions as such; "
        "expected positions counted from 0, or labels that are told as labels: pass "
        f"pandas.Categorical(...) for labels; for positions, give {dim!r} labels that are texts, "
        "or its size alone."
    )


def _known(what: str, values: Array, error: type[GibbspplError]) -> list[Hashable]:
    """All labels in a row, none of which may be missing."""
    found = _entries(values)
    labels = listed(found.ravel())
    for number, label in enumerate(labels):
        # (What is missing does not equal itself.)
        if is_na(label) or label == "NaT" or label != label:  # noqa: PLR0124
            raise error(
                f"{what}: the label at entry {number} is missing; an index is complete: give the "
                "missing ones a label of their own, or leave these entries out."
            )
    return labels


def _entries(values: Array) -> np.ndarray:
    """The values as an array; a tuple in a list is one label."""
    if isinstance(values, list | tuple) and values and isinstance(values[0], tuple):
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return np.empty(0)


def _categories(values: Array) -> list[Hashable] | None:
    """The categories in their order, where the type of the values has them."""
    told = getattr(getattr(values, "dtype", None), "categories", None)
    return listed(np.asarray(told)) if hasattr(told, "__len__") else None


def _is_categorical(values: Array) -> bool:
    return "categorical" in type(getattr(values, "dtype", None)).__name__.lower()
