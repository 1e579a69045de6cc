"""The names of dimensions, as they are given, and those that they stand for.

Comes in: a name or several, or a dim. Goes out: dims, all different; the name of the declared one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim
from gibbsppl.errors import ModelError

# The name of an array, a dimension or a factor: it is written into source text.
NAME = re.compile(r"\w[\w.]*(?: [\w.]+)*")


def check_name(name: object, what: str) -> None:
    """Raise unless a text is the name of something."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ModelError(
            f"{what} needs a name; found {name!r}, expected letters, digits, _ and dots (and "
            "single blanks between words)."
        )


def dims_named(names: str | Iterable[str] | None, owner: str) -> tuple[Dim, ...]:
    """The dimensions of those names, all different.

    >>> dims_named(("rat", "day"), "weight")
    (rat, day)
    """
    is_number = isinstance(names, np.ndarray) and names.ndim == 0  # (cannot be gone through)
    unordered = isinstance(names, (set, frozenset))
    if is_number or unordered or not isinstance(names, (str, Iterable, type(None))):
        raise ModelError(
            f"{owner}: found the dims {names!r}; expected the names of dimensions in their order, "
            'such as dims="i" or dims=("i", "j").'
        )
    listed = (names,) if isinstance(names, str) else () if names is None else tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise ModelError(f"{owner}: dims are names; found {name!r}, expected a text.")
    for name in listed:
        if listed.count(name) > 1:
            raise ModelError(
                f"{owner}: dimension {name!r} is named twice; no array has one dimension twice: "
                f'a square matrix has dims ("{name}", "{name}\'").'
            )
    return tuple(map(Dim, listed))


def base(dim: Dim | str) -> str:
    """The name of the declared dimension that a primed one or a copy stands for.

    >>> base(Dim("factor'₁"))
    'factor'
    """
    return root_of(dim if isinstance(dim, Dim) else Dim(dim)).rstrip("'")
