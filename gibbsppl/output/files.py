"""Draws for other programs: an xarray.DataTree in ArviZ's layout, InferenceData; files read again.

The only module that imports xarray. Comes in: a ``Draws``. Goes out: its groups (`groups`) as data
sets with named dims and coords.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Hashable, Mapping
from importlib.util import find_spec
from os import PathLike
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import xarray as xr

from gibbsppl.errors import RunError
from gibbsppl.output.arrays import Array, Attributes, Named
from gibbsppl.output.ends import Ends
from gibbsppl.output.groups import (
    ENDS,
    LIBRARY,
    MONITORED,
    OURS,
    RARER,
    SAMPLED,
    SAMPLED_GROUPS,
    Draws,
    Group,
    attributes_of,
    groups_of,
    groups_of_file,
    is_other,
)
from gibbsppl.output.monitored import AllMonitored, monitored_of
from gibbsppl.output.thinning import Every

if TYPE_CHECKING:
    from arviz import InferenceData


class Fields(TypedDict):
    """The fields of `gibbsppl.Draws` that a file has."""

    values: Mapping[str, Array]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Array]
    observed_data: Mapping[str, Named]
    constant_data: Mapping[str, Named]
    sample_stats: Mapping[str, Array]
    attributes: Attributes
    ends: Ends | None
    monitored: AllMonitored
    every: Every
    groups: Mapping[str, OtherFields]


class OtherFields(TypedDict):
    """The fields of draws that belong to others."""

    values: Mapping[str, Array]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Array]
    attributes: Attributes


# What the libraries below raise, each at a place of its own, where a file is not what it should be.
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)


def to_datatree(draws: Draws) -> xr.DataTree:
    """The draws and their data as a tree of data sets; empty groups are left out."""
    return _tree(draws, groups_of(draws))


def _tree(draws: Draws, groups: Mapping[str, Group]) -> xr.DataTree:
    attributes = attributes_of(draws)
    sets = {
        name: _dataset(group, attributes if group.attributes is None else group.attributes)
        for name, group in groups.items()
    }
    tree = xr.DataTree.from_dict(sets)
    tree.attrs = attributes
    return tree


def _dataset(group: Group, attributes: Attributes) -> xr.Dataset:
    """One group."""
    variables = {
        group.key(name): xr.Variable(dims, value, {"name": name})
        for name, (dims, value) in group.arrays.items()
    }
    labels = {dim: _coordinate(dim, labels) for dim, labels in group.labels.items()}
    return xr.Dataset(variables, labels, attributes)


def _coordinate(dim: str, labels: Array) -> xr.Variable:
    """The labels of a dim; times in a file are counted from where 64 bits reach all of them."""
    if labels.dtype.kind != "M":
        return xr.Variable(dim, labels)
    units = {"units": "nanoseconds since 1970-01-01", "dtype": "int64"}
    return xr.Variable(dim, labels.astype("M8[ns]"), encoding=units)


def written(draws: Draws) -> memoryview:
    """The bytes of a netCDF file."""
    # HDF5 may end the process where a disk is full: it writes to memory.
    file = io.BytesIO()
    _tree(draws, groups_of_file(draws)).to_netcdf(file, engine="h5netcdf")
    return file.getbuffer()


def fields_of(path: str | PathLike[str]) -> Fields:
    """The content of a file written by ``save``, by the names of the fields of ``Draws``."""
    tree = _tree_of(path)
    library = tree.attrs.get("inference_library")
    if not (isinstance(library, str) and library == LIBRARY) or "posterior" not in tree:
        raise RunError(f"{path}: found no draws, expected a file that Draws.save wrote.")
    nodes = {str(n): node for n, node in tree.children.items() if not is_other(str(n))}
    others = {str(n): node for n, node in tree.children.items() if is_other(str(n))}
    groups = {name: _named(path, name, node) for name, node in nodes.items()}
    coords = {k: v for node in nodes.values() for k, v in _coords(node).items()}
    rates = {name: _rate(name) for name in groups}
    posterior = {n: a for g, rate in rates.items() if rate for n, a in groups[g].items()}
    return {
        "values": {name: value for name, (_, value) in posterior.items()},
        "dims": {name: dims[2:] for name, (dims, _) in posterior.items()},
        "coords": coords,
        "observed_data": groups.get("observed_data", {}),
        "constant_data": groups.get("constant_data", {}),
        "sample_stats": {n: value for n, (_, value) in groups.get("sample_stats", {}).items()},
        "ends": Ends(content=groups[ENDS][ENDS][1].tobytes()) if ENDS in groups else None,
        "attributes": _attributes(tree),
        "monitored": _monitored(path, tree),
        "every": {n: rate for g, rate in rates.items() if rate > 1 for n in groups[g]},
        "groups": {n: _other(path, n, node) for n, node in others.items()},
    }


def _other(path: str | PathLike[str], name: str, node: xr.DataTree) -> OtherFields:
    """The draws of another group."""
    arrays = _named(path, name, node)
    return {
        "values": {n: value for n, (_, value) in arrays.items()},
        "dims": {n: dims[2:] for n, (dims, _) in arrays.items()},
        "coords": _coords(node),
        "attributes": _attributes(node),
    }


def _coords(node: xr.DataTree) -> dict[str, Array]:
    """The labels along dims."""
    return {str(k): _labels(v) for k, v in node.coords.items() if k not in SAMPLED}


def _attributes(node: xr.DataTree) -> dict[str, object]:
    """The attributes, numbers as Python's own."""
    return {str(n): _from_file(v) for n, v in node.attrs.items() if n not in OURS}


def _rate(group: str) -> int:
    """Of how many draws of a run one is in a group; 0 where none is.

    >>> [_rate(name) for name in ("posterior", "posterior_every_10", "sample_stats")]
    [1, 10, 0]
    """
    told = group.removeprefix(RARER)
    return int(group == "posterior") if told == group or not told.isdecimal() else int(told)


def _monitored(path: str | PathLike[str], tree: xr.DataTree) -> AllMonitored:
    """The statistics of what was monitored."""
    nodes = tree[MONITORED].children if MONITORED in tree else {}
    found = {}
    for name, node in nodes.items():
        labels = {str(k): _labels(v) for k, v in node.coords.items()}
        arrays = _named(path, f"{MONITORED}/{name}", node)
        try:
            found[str(name)] = monitored_of(arrays, labels)
        except KeyError as error:
            raise RunError(
                f"{path}: {MONITORED}/{name}: found no {error}; the file was changed since "
                "Draws.save wrote it."
            ) from error
    return AllMonitored(found)


def _tree_of(path: str | PathLike[str]) -> xr.DataTree:
    """All of a file, in memory; `RunError` if the libraries that read netCDF make nothing of it."""
    try:
        with xr.open_datatree(path, engine="h5netcdf") as opened:
            tree = opened.load()
        for node in tree.subtree:
            node.to_dataset()  # (whose dims are compared only now)
    except _UNREADABLE as error:
        why = str(error) or type(error).__name__
        raise RunError(f"{path}: not a file that Draws.save wrote ({why}).") from error
    return tree


def _from_file(value: object) -> object:
    """A number as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def _named(path: str | PathLike[str], group: str, node: xr.DataTree) -> dict[str, Named]:
    """The arrays of a group by the names that they have in a model."""
    found: dict[str, Named] = {}
    for key, variable in node.to_dataset().data_vars.items():
        name, dims, values = variable.attrs.get("name"), variable.dims, variable.to_numpy()
        wrong = _wrong(group, name, dims, values)
        if wrong or name in found:
            raise RunError(
                f"{path}: {group}/{key}: found {wrong or f'a second {name}'}; the file was changed "
                "since Draws.save wrote it."
            )
        found[str(name)] = tuple(map(str, dims)), values
    return found


def _wrong(group: str, name: object, dims: tuple[Hashable, ...], values: Array) -> str:
    """The part of an array that cannot be in a group of draws or data; empty if nothing."""
    if not isinstance(name, str):
        return f"the name {name!r}, expected a text"
    is_drawn = group in SAMPLED_GROUPS or is_other(group) or _rate(group)
    if is_drawn and dims[:2] != SAMPLED:
        return f"dims {dims}, expected {SAMPLED} and others after them"
    if group == SAMPLED_GROUPS[1] and dims != SAMPLED:
        return f"dims {dims}, expected {SAMPLED}"
    if values.dtype.kind not in "biuf":
        return f"values of type {values.dtype}, expected numbers"
    return ""


def _labels(coordinate: xr.DataArray) -> Array:
    """Labels as they were: a file gives text back as objects."""
    values = coordinate.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else values


def to_arviz(draws: Draws) -> xr.DataTree | InferenceData:
    """ArviZ's own ``InferenceData`` where the installed version has it, else the DataTree."""
    tree = to_datatree(draws)
    if find_spec("arviz") is None:
        return tree
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # arviz 0.23 announces its version 1
        import arviz  # noqa: PLC0415  (an extra, slow to import)
    if not hasattr(arviz, "InferenceData"):
        return tree
    sets = {n: node.to_dataset() for n, node in tree.children.items()}
    return arviz.InferenceData(**{n: found for n, found in sets.items() if n != MONITORED})
