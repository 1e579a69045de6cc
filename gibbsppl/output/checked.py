"""The content of draws, checked: kinds of their fields, sizes of arrays, names of dims.

Comes in: draws as they are made, by a run, from a file or by hand. Goes out: an error that says
what was found and expected, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.arguments import BY_NAME, COUNT, DRAWS, OFTEN, POSITIVE, Kind, is_name, shown
from gibbsppl.errors import RunError
from gibbsppl.output.groups import Draws, check_groups
from gibbsppl.output.shares import LABELS, are_dims
from gibbsppl.output.thinning import most_often

RESERVED_DIMS = ("chain", "draw")

TEXT = Kind(lambda value: isinstance(value, str), "a text")

# The attributes that are read again, where there are some.
READ: Mapping[str, Kind] = {
    "warmup": COUNT,
    "thin": POSITIVE,
    "interrupted": TEXT.or_none(),
    "left_out": TEXT.or_none(),
    "until": TEXT.or_none(),
    "tempered": TEXT.or_none(),
    LABELS: Kind(are_dims, "a text that has the dims of labels by variable").or_none(),
}


def _are_dims(value: object) -> bool:
    return isinstance(value, tuple | list) and all(map(is_name, value))


def _is_named(value: object) -> bool:
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    return _are_dims(value[0]) and isinstance(value[1], np.ndarray)


DIMS = Kind(
    lambda value: BY_NAME.fits(value) and all(map(_are_dims, value.values())),
    "a dict from names of variables to the names of their dims",
)
NAMED = Kind(
    lambda value: BY_NAME.fits(value) and all(map(_is_named, value.values())),
    "a dict from names to the names of dims with an array",
)
GROUPS = Kind(
    lambda value: BY_NAME.fits(value) and all(map(DRAWS.fits, value.values())),
    "a dict from names of groups to draws",
)
FIELDS = {
    **dict.fromkeys(("values", "coords", "sample_stats", "attributes", "monitored"), BY_NAME),
    "groups": GROUPS,
    "every": OFTEN,
    "dims": DIMS, "observed_data": NAMED, "constant_data": NAMED,
}


def check(draws: Draws) -> None:
    """Raise unless all arrays belong to the same draws, and have the dims that are named."""
    if not draws.values:
        raise RunError("draws: found no variable, expected at least one.")
    for name, array in draws.values.items():
        if not isinstance(array, np.ndarray) or array.ndim < 2:
            raise RunError(
                f"{name}: found {shown(array)}, expected an array with axes (chain, draw, ...)."
            )
    for name, labels in draws.coords.items():
        if not hasattr(labels, "__len__") or isinstance(labels, str | bytes):
            raise RunError(f"coords[{name!r}]: found {shown(labels)}, expected labels.")
    for name, kind in READ.items():
        if name in draws.attributes and not kind.fits(draws.attributes[name]):
            found = shown(draws.attributes[name])
            raise RunError(f"attributes[{name!r}]: found {found}, expected {kind.expected}.")
    if most_often(draws.every, draws.values) > 1:
        raise RunError(f"every: found {draws.every}, expected a variable with all draws.")
    size = draws.chains, draws.draws
    sizes: dict[str, int] = {name: len(labels) for name, labels in draws.coords.items()}
    for name, array in draws.values.items():
        own = draws.chains, draws.draws // draws.every.get(name, 1)
        if array.shape[:2] != own:
            raise RunError(f"{name}: found (chain, draw) {array.shape[:2]}, not {own}.")
        _check_dims(name, draws.dims_of(name), array.shape[2:], sizes)
    for name, array in draws.sample_stats.items():
        if not isinstance(array, np.ndarray) or array.shape != size:
            raise RunError(f"{name}: found {shown(array)}, expected one for each draw: {size}.")
    check_groups(draws)
    for name, (dims, array) in (*draws.observed_data.items(), *draws.constant_data.items()):
        _check_dims(name, dims, array.shape, sizes)


def _check_dims(
    name: str, dims: tuple[str, ...], shape: tuple[int, ...], sizes: dict[str, int]
) -> None:
    """Raise unless the names of dims fit the shape, each dim with one size throughout."""
    if len(dims) != len(shape) or len(set(dims)) < len(dims) or set(dims) & set(RESERVED_DIMS):
        raise RunError(
            f"{name}: found dims {dims} for shape {shape}, expected one name per axis, all "
            f"different and none of {', '.join(RESERVED_DIMS)}."
        )
    for dim, size in zip(dims, shape, strict=True):
        if sizes.setdefault(dim, size) != size:
            raise RunError(f"{name}: found size {size} along {dim!r}, expected {sizes[dim]}.")
