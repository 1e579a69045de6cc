"""Labels of the positions along a dimension, as users give them.

Comes in: labels in a row, or a size. Goes out: an array with one label for each position, all
different, or a range; an error where one is missing, or cannot be compared, printed and saved.

>>> labels_of(["a", "b"], "rat", "coords")
array(['a', 'b'], dtype='<U1')
>>> labels_of(3, "rat", "coords")
range(0, 3)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.arguments import is_na, is_no_text, shown
from gibbsppl.errors import ModelError

# No array has more positions than this along a dimension.
LARGEST_SIZE = 2**40

# Labels in a row, or the number of positions.
GivenLabels: TypeAlias = ArrayLike | Sequence[Hashable]


def labels_of(labels: GivenLabels, dim: str, owner: str) -> np.ndarray | range:
    """The labels of a dimension, counted from 0 where its size is given.

    Those that are counted stay a range, which takes no memory.
    """
    if _is_size(labels) and 0 < int(labels) < LARGEST_SIZE:
        with _room_for(labels, dim, owner):
            np.empty(int(labels))
        return range(int(labels))
    if isinstance(labels, range) and len(labels) and labels == range(len(labels)):
        return labels
    found = _array_of(labels, dim, owner)
    if found.ndim != 1 or len(found) == 0:
        raise ModelError(
            f"{owner}: dimension {dim!r} has labels of shape {found.shape}; expected one or "
            "more labels in a row: a dimension without positions holds no variables."
        )
    given = labels if isinstance(labels, np.ma.MaskedArray) else found
    _check_labels(given.tolist(), dim, owner)
    return found


def _is_size(labels: object) -> TypeGuard[int]:
    """Whether labels are given by their number."""
    return isinstance(labels, (int, np.integer)) and not isinstance(labels, bool)


@contextmanager
def _room_for(labels: object, dim: str, owner: str) -> Iterator[None]:
    """A context in which there is an error for arrays that memory has no room for."""
    try:
        yield
    except MemoryError as error:
        raise ModelError(
            f"{owner}: dimension {dim!r} has more positions than there is memory for their labels "
            f"({shown(labels)}); expected fewer positions."
        ) from error


def _array_of(labels: GivenLabels, dim: str, owner: str) -> np.ndarray:
    """The labels as an array, of any shape, of a type that can be printed and saved."""
    is_size = _is_size(labels)
    if _is_size(labels) and labels < LARGEST_SIZE:  # (none, or fewer)
        return np.arange(0)
    if isinstance(labels, list | tuple) and labels and all(isinstance(x, tuple) for x in labels):
        pairs = np.empty(len(labels), dtype=object)
        pairs[:] = labels  # (each is one label, not a row of labels)
        return pairs
    try:
        with _room_for(labels, dim, owner):
            found = np.asarray(labels)
    except (TypeError, ValueError):
        found = np.empty(())
    if is_size or found.dtype.kind in "cV" or found.ndim == 0 or _has_no_unit(found):
        raise ModelError(
            f"{owner}: dimension {dim!r} has the labels {shown(labels)}; expected labels in a row, "
            "or its size."
        )
    if found.dtype.kind in "SU" and isinstance(labels, Iterable):
        _check_text([*labels], dim, owner)
    return found


def as_array(labels: np.ndarray | range) -> np.ndarray:
    """Labels as an array."""
    return np.arange(len(labels)) if isinstance(labels, range) else labels


def _has_no_unit(labels: np.ndarray) -> bool:
    """Whether labels are spans of time in no unit."""
    return labels.dtype.kind == "m" and np.datetime_data(labels.dtype)[0] == "generic"


def _check_text(labels: list[Hashable], dim: str, owner: str) -> None:
    """Every label can be printed; as given, as arrays of texts lose nulls at the end."""
    for position, label in enumerate(labels):
        if isinstance(label, str | bytes) and is_no_text(label):
            raise ModelError(
                f"{owner}: dimension {dim!r} has the label {label!r} at position {position}, with "
                "half of a character, or a null; expected text that can be printed and saved."
            )


def _check_labels(labels: list[Hashable], dim: str, owner: str) -> None:
    """Every position of a dimension has a label of its own."""
    _check_text(labels, dim, owner)
    first: dict[Hashable, int] = {}
    for position, label in enumerate(labels):
        if not _is_hashable(label):
            raise ModelError(
                f"{owner}: dimension {dim!r} has the label {shown(label)} at position {position}, "
                "which can change; expected labels that stay as they are: text, numbers, times, "
                "or tuples of such."
            )
        # (What is missing does not equal itself.)
        if is_na(label) or label != label:  # noqa: PLR0124
            raise ModelError(
                f"{owner}: dimension {dim!r} has the missing label {label} at position {position}; "
                "expected a label for each position: name it, or leave the position out."
            )
        if first.setdefault(label, position) != position:
            raise ModelError(
                f"{owner}: dimension {dim!r} has the label {label!r} at positions {first[label]} "
                f"and {position}; expected different labels: rename one, or give the size alone."
            )


def _is_hashable(label: object) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True
