"""Draws as a netCDF file, written by h5netcdf alone: importing xarray takes longer than many a run.

Comes in: a ``Draws``. Goes out: the bytes of a file, the same that xarray would write of the tree
of `gibbsppl.output.files`, whose conventions these are: NaN stands for what is missing, flags are
small whole numbers, times are counted from 1970 on, text has no fixed length.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import h5netcdf
import h5py
import numpy as np

from gibbsppl.output.arrays import Array
from gibbsppl.output.groups import Draws, Group, attributes_of, groups_of_file

# The types of arrays that a file has: flags, numbers, text, times.
KINDS = "biufUmM"
SIZES = {"f": (4, 8)}

# Lengths of time in a file, and the unit that they are read back in.
LENGTHS = {"W": "days", "D": "days", "h": "hours", "m": "minutes", "s": "seconds"}
SHORT_LENGTHS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}


def written(draws: Draws) -> memoryview | None:
    """The bytes of a netCDF file; ``None`` if it has arrays or names that xarray must look at."""
    groups = groups_of_file(draws)
    if not all(_is_usual(group) for group in groups.values()):
        return None
    file, attributes = io.BytesIO(), attributes_of(draws)
    # (HDF5 may end the process where a disk is full: it writes to memory)
    with h5netcdf.File(file, "w") as root:
        root.attrs.update(attributes)
        for name, group in groups.items():
            node = root.create_group(name)
            node.attrs.update(attributes if group.attributes is None else group.attributes)
            _write(node, group)
    return file.getbuffer()


def _is_usual(group: Group) -> bool:
    """Whether types and names of a group are those of nearly all draws."""
    arrays = (*(v for _, v in group.arrays.values()), *group.labels.values())
    names = (*group.arrays, *group.labels)
    return all(map(_has_a_type, arrays)) and not any("/" in name for name in names)


def _has_a_type(array: Array) -> bool:
    kind, size = array.dtype.kind, array.dtype.itemsize
    return kind in KINDS and array.dtype.isnative and size in SIZES.get(kind, (size,))


def _write(node: Any, group: Group) -> None:
    """Write dims, arrays and labels into a group of a file."""
    for dims, value in group.arrays.values():
        for dim, size in zip(dims, value.shape, strict=True):
            node.dimensions.setdefault(dim, size)
    for dim, labels in group.labels.items():
        node.dimensions.setdefault(dim, len(labels))
    # Labels first: h5netcdf ties each array to these once.
    for dim, labels in group.labels.items():
        _write_array(node, dim, (dim,), labels, {})
    for name, (dims, value) in group.arrays.items():
        _write_array(node, group.key(name), dims, value, {"name": name})


def _write_array(
    node: Any, key: str, dims: tuple[str, ...], value: Array, attributes: Mapping[str, str]
) -> None:
    stored, more = _encoded(value)
    missing = stored.dtype.type(np.nan) if stored.dtype.kind == "f" else None
    kind = h5py.string_dtype() if stored.dtype.kind == "O" else stored.dtype
    made = node.create_variable(key, dims, kind, fillvalue=missing)
    made.attrs.update({**attributes, **more})
    made[...] = stored


def _encoded(value: Array) -> tuple[Array, dict[str, str]]:
    """An array as numbers or text of a file, and the attributes that say how to read it.

    >>> _encoded(np.array([True, False]))
    (array([1, 0], dtype=int8), {'dtype': 'bool'})
    >>> _encoded(np.array([36, 48], "timedelta64[h]"))
    (array([36, 48]), {'dtype': 'timedelta64[s]', 'units': 'hours'})
    """
    match value.dtype.kind:
        case "b":
            return value.astype("i1"), {"dtype": "bool"}
        case "U":
            return value.astype(object), {}
        case "M":
            units = {"units": "nanoseconds since 1970-01-01", "calendar": "proleptic_gregorian"}
            return value.astype("M8[ns]").astype(np.int64), units
        case "m":
            unit = np.datetime_data(value.dtype)[0]
            unit = "D" if unit == "W" else unit
            read = unit if unit in SHORT_LENGTHS else "s"
            told = {"dtype": f"timedelta64[{read}]", "units": (LENGTHS | SHORT_LENGTHS)[unit]}
            return value.astype(f"m8[{unit}]").astype(np.int64), told
    return value, {}
