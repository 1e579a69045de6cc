"""Regions of arrays: from the indices in ``x[...] =`` to a target and its ranges.

>>> region = region_of(Model(coords={"time": 10}), "x", (Dim("time"),), slice(1, None))
>>> region.label, region.over
('x[1:]', (Range(dim=time, start=1, stop=10),))
"""

from __future__ import annotations

from dataclasses import dataclass
from types import EllipsisType
from typing import TypeAlias

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.errors import ModelError
from gibbsppl.language.model import Model

# A region as it is written: a position or a slice per axis.
Key: TypeAlias = int | np.integer | slice | EllipsisType | tuple[int | np.integer | slice, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A box of an array: an index per axis, the ranges of its dims, NumPy slices, a name."""

    indices: tuple[Expr, ...]
    over: tuple[Range, ...]
    slices: tuple[int | slice, ...]
    label: str

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dims along which the region extends."""
        return tuple(r.dim for r in self.over)


def whole(model: Model, name: str, dims: tuple[Dim, ...]) -> Region:
    """The region that is all of an array."""
    over = tuple(Range(d, 0, model.size(d)) for d in dims)
    return Region(dims, over, tuple(slice(0, r.stop) for r in over), name)


def region_of(model: Model, name: str, dims: tuple[Dim, ...], key: Key) -> Region:
    """The region that a key means: a position or a slice per axis."""
    keys = key if isinstance(key, tuple) else (key,)
    if len(keys) == 1 and keys[0] is Ellipsis:
        keys = (slice(None),) * len(dims)
    if len(keys) != len(dims):
        raise ModelError(
            f"{name}: a region with {len(keys)} indices; expected one per dimension "
            f"({', '.join(map(str, dims)) or 'none'}): write : for a whole dimension."
        )
    axes = [_axis(model, name, d, k) for d, k in zip(dims, keys, strict=True)]
    over = tuple(a for a in axes if isinstance(a, Range))
    if all(len(r) == model.size(r.dim) for r in over) and len(over) == len(dims):
        return whole(model, name, dims)
    return Region(
        indices=tuple(a.dim if isinstance(a, Range) else sp.Integer(a) for a in axes),
        over=over,
        slices=tuple(slice(a.start, a.stop) if isinstance(a, Range) else a for a in axes),
        label=f"{name}[{', '.join(_printed(a, model) for a in axes)}]",
    )


def position_of(index: object, size: int, dim: str, owner: str) -> int:
    """A position along a dimension, negative ones counted from its end."""
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
        raise ModelError(
            f"{owner}: position {index!r} of dimension {dim!r}; expected a whole number: positions "
            "are counted from 0."
        )
    if not -size <= index < size:
        raise ModelError(
            f"{owner}: position {index} of dimension {dim!r}, which has size {size}; "
            f"positions are 0 to {size - 1}."
        )
    return int(index) % size


def _axis(model: Model, name: str, dim: Dim, key: object) -> Range | int:
    size = model.size(dim)
    if not isinstance(key, slice):
        return position_of(key, size, dim.name, name)
    if not (key.step is None or _is_number(key.step, 1)):
        raise ModelError(f"{name}: a region with step {key.step}; expected step 1: x[1:].")
    start, stop = (
        default if end is None else _end(name, dim, end, size)
        for end, default in ((key.start, 0), (key.stop, size))
    )
    if start >= stop:
        raise ModelError(
            f"{name}: the region {start}:{stop} of dimension {dim.name!r} (size {size}) is empty; "
            "leave the assignment out, or give the dimension more positions."
        )
    return Range(dim, start, stop)


def _end(name: str, dim: Dim, end: object, size: int) -> int:
    """The end of a slice; unlike in Python, it is never clipped."""
    return size if _is_number(end, size) else position_of(end, size, dim.name, name)


def _is_number(found: object, number: int) -> bool:
    """Whether what was found, which may be an array, is a whole number, and that one."""
    return isinstance(found, (int, np.integer)) and int(found) == number


def _printed(axis: Range | int, model: Model) -> str:
    if isinstance(axis, int):
        return str(axis)
    stop = "" if axis.stop == model.size(axis.dim) else str(axis.stop)
    return f"{axis.start or ''}:{stop}"
