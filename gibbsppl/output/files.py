"""Draws for other programs: an xarray.DataTree in ArviZ's layout, netCDF files, InferenceData.

The only module that imports xarray. Comes in: a ``Draws``. Goes out: groups ``posterior``,
``sample_stats``, ``observed_data`` and ``constant_data`` with named dims and coords.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Hashable, Mapping
from importlib.util import find_spec
from os import PathLike
from typing import TYPE_CHECKING, Protocol, TypedDict

import numpy as np
import xarray as xr

import gibbsppl
from gibbsppl.errors import RunError
from gibbsppl.output.arrays import Array, Attributes, Named
from gibbsppl.output.whole_files import whole

if TYPE_CHECKING:
    from arviz import InferenceData


class Draws(Protocol):
    """The attributes of `gibbsppl.Draws` that are written."""

    chains: int
    draws: int
    values: Mapping[str, Array]
    coords: Mapping[str, Array]
    sample_stats: Mapping[str, Array]
    observed_data: Mapping[str, Named]
    constant_data: Mapping[str, Named]
    attributes: Attributes

    def dims_of(self, name: str) -> tuple[str, ...]:
        """The dims of a variable."""


class Fields(TypedDict):
    """The fields of `gibbsppl.Draws` that a file has."""

    values: Mapping[str, Array]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Array]
    observed_data: Mapping[str, Named]
    constant_data: Mapping[str, Named]
    sample_stats: Mapping[str, Array]
    attributes: Attributes


LIBRARY = "gibbsppl"
_OURS = ("inference_library", "inference_library_version")

# The first dims of what is recorded at each draw, and the groups that have them.
SAMPLED = ("chain", "draw")
_SAMPLED_GROUPS = ("posterior", "sample_stats")

# What the libraries below raise, each at a place of its own, where a file is not what it should be.
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)


def to_datatree(draws: Draws) -> xr.DataTree:
    """The draws and their data as a tree of data sets; empty groups are left out."""
    positions = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws)}
    coords = {**positions, **draws.coords}
    groups: dict[str, dict[str, Named]] = {
        "posterior": {n: (SAMPLED + draws.dims_of(n), v) for n, v in draws.values.items()},
        "sample_stats": {n: (SAMPLED, v) for n, v in draws.sample_stats.items()},
        "observed_data": dict(draws.observed_data),
        "constant_data": dict(draws.constant_data),
    }
    attributes = {
        "inference_library": LIBRARY,
        "inference_library_version": gibbsppl.__version__,
        **{name: _plain(value) for name, value in draws.attributes.items() if value is not None},
    }
    sets = {name: _dataset(arrays, coords, attributes) for name, arrays in groups.items() if arrays}
    tree = xr.DataTree.from_dict(sets)
    tree.attrs = attributes
    return tree


def _dataset(
    arrays: Mapping[str, Named], coords: Mapping[str, Array], attributes: Attributes
) -> xr.Dataset:
    """One group; a variable named like a dimension gets a ``_``, as labels have that name."""
    sizes = {d: n for dims, v in arrays.values() for d, n in zip(dims, v.shape, strict=True)}
    variables = {
        name + "_" * (name in sizes): xr.Variable(dims, value, {"name": name})
        for name, (dims, value) in arrays.items()
    }
    labels = {dim: _coordinate(dim, coords.get(dim, np.arange(n))) for dim, n in sizes.items()}
    return xr.Dataset(variables, labels, attributes)


def _coordinate(dim: str, labels: Array) -> xr.Variable:
    """The labels of a dim; times in a file are counted from where 64 bits reach all of them."""
    saved = _saved(labels)
    if saved.dtype.kind != "M":
        return xr.Variable(dim, saved)
    units = {"units": "nanoseconds since 1970-01-01", "dtype": "int64"}
    return xr.Variable(dim, saved.astype("M8[ns]"), encoding=units)


def _saved(labels: Array) -> Array:
    """Labels as a file can hold them: as text if of several types, of others' types, or far times.

    >>> _saved(np.array(["2020-01-01", "9999-01-01"], "datetime64[D]"))
    array(['2020-01-01', '9999-01-01'], dtype='<U10')
    """
    is_lost = labels.dtype.kind == "O" or (labels.dtype.kind in "mM" and _are_lost(labels))
    return np.array([str(label) for label in labels]) if is_lost else labels


def _are_lost(times: Array) -> bool:
    """Whether times would be others when read back, as 64 bits of nanoseconds."""
    kind, (unit, count) = times.dtype.kind, np.datetime_data(times.dtype)
    if count != 1 or (kind == "m" and unit in ("Y", "M")):  # (no unit of a file; of no one length)
        return True
    try:
        read_back = times.astype(f"{kind}8[ns]").astype(times.dtype)
    except OverflowError:
        return True
    return bool((read_back != times).any())


def _plain(value: object) -> float | str | np.integer | np.floating:
    """An attribute as a file can hold it: a number of at most 64 bits, or text."""
    match value:
        case bool():
            return int(value)
        case int() if abs(value) >= 1 << 63:
            return str(value)
        case int() | float() | np.integer() | np.floating():
            return value
        case _:
            return str(value)


def save(draws: Draws, path: str | PathLike[str]) -> None:
    """Write a netCDF file beside ``path`` and move it there once it is whole."""
    # HDF5 may end the process where a disk is full: it writes to memory, and Python to the disk.
    file = io.BytesIO()
    to_datatree(draws).to_netcdf(file, engine="h5netcdf")
    with whole(path) as (unfinished,):
        unfinished.write_bytes(file.getbuffer())


def fields_of(path: str | PathLike[str]) -> Fields:
    """The content of a file written by ``save``, by the names of the fields of ``Draws``."""
    tree = _tree_of(path)
    library = tree.attrs.get("inference_library")
    if not (isinstance(library, str) and library == LIBRARY) or "posterior" not in tree:
        raise RunError(f"{path}: found no draws, expected a file that Draws.save wrote.")
    groups = {name: _named(path, name, node) for name, node in tree.children.items()}
    coords = {str(k): _labels(v) for node in tree.children.values() for k, v in node.coords.items()}
    attributes = dict(tree.attrs)
    posterior = groups["posterior"]
    return {
        "values": {name: value for name, (_, value) in posterior.items()},
        "dims": {name: dims[2:] for name, (dims, _) in posterior.items()},
        "coords": {name: v for name, v in coords.items() if name not in SAMPLED},
        "observed_data": groups.get("observed_data", {}),
        "constant_data": groups.get("constant_data", {}),
        "sample_stats": {n: value for n, (_, value) in groups.get("sample_stats", {}).items()},
        "attributes": {str(n): _from_file(v) for n, v in attributes.items() if n not in _OURS},
    }


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
    """What of an array cannot be in a group of draws or data; empty if nothing."""
    if not isinstance(name, str):
        return f"the name {name!r}, expected a text"
    if group in _SAMPLED_GROUPS and dims[:2] != SAMPLED:
        return f"dims {dims}, expected {SAMPLED} and others after them"
    if group == _SAMPLED_GROUPS[1] and dims != SAMPLED:
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
    return arviz.InferenceData(**{n: node.to_dataset() for n, node in tree.children.items()})
