"""Files of data that other programs write: CSV, Parquet, NumPy's npz, netCDF.

Comes in: the path of a file. Goes out: its columns or arrays by name, None where an entry of a
table is missing. (What BUGS, JAGS and Stan write is read by `gibbsppl.bugs.data`.)
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from gibbsppl.errors import ModelError

Columns = dict[str, Any]

# An entry of a CSV that stands for a missing one.
MISSING = ("", "NA", "NaN", "nan", "null", "None")


def read_table(path: Path) -> Columns:
    """The columns or arrays of a file, by name."""
    if not path.is_file():
        raise ModelError(f"{path}: found no such file, expected a file of data.")
    try:
        return FORMS[path.suffix.lower()](path)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(
            f"{path}: it cannot be read as {path.suffix[1:]} ({first[0]}); expected a whole file."
        ) from error


def _csv(path: Path) -> Columns:
    """Columns under the names in the first line, numbers where all entries are numbers."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    names, lines = (rows[0], [r for r in rows[1:] if r]) if rows else ([], [])
    if not lines or len(set(names)) < len(names):
        raise ModelError(
            f"{path}: found the names {', '.join(names) or 'none'} and {len(lines)} lines, "
            "expected different names in the first line, then one or more lines of values."
        )
    for number, line in enumerate(lines, 2):
        if len(line) != len(names):
            raise ModelError(
                f"{path}: line {number} has {len(line)} entries, expected {len(names)}, one for "
                "each name in the first line."
            )
    return {n: _column([r[i].strip() for r in lines]) for i, n in enumerate(names)}


def _column(entries: list[str]) -> list[Any]:
    """Entries as numbers if all are, whole ones if all are; else as texts."""
    known = [e for e in entries if e not in MISSING]
    for kind in (int, float):
        try:
            for entry in known:
                kind(entry)
        except ValueError:
            continue
        return [None if e in MISSING else kind(e) for e in entries]
    return [None if e in MISSING else e for e in entries]


def _parquet(path: Path) -> Columns:
    """The columns of a Parquet file, by polars, or by pandas."""
    try:
        table = import_module("polars").read_parquet(path)
        return {n: table[n].to_list() for n in table.columns}
    except ImportError:
        pass
    try:
        table = import_module("pandas").read_parquet(path)
    except ImportError as error:
        raise ModelError(f"{path}: Parquet needs polars, or pandas with pyarrow.") from error
    return {str(n): table[n].astype(object).where(table[n].notna(), None).tolist() for n in table}


def _npz(path: Path) -> Columns:
    """The arrays that numpy.savez has saved."""
    import numpy as np  # noqa: PLC0415  (--help loads none of it)

    with np.load(path, allow_pickle=False) as arrays:
        return {n: arrays[n] for n in arrays.files}


def _netcdf(path: Path) -> Columns:
    """The variables of a netCDF file, NaN missing."""
    from numpy.ma import masked_invalid  # noqa: PLC0415  (as above)

    with import_module("xarray").open_dataset(path, engine="h5netcdf") as file:
        arrays = {str(n): v.to_numpy() for n, v in file.data_vars.items()}
    return {n: masked_invalid(a) if a.dtype.kind == "f" else a for n, a in arrays.items()}


FORMS: Mapping[str, Callable[[Path], Columns]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
    ".nc": _netcdf,
}
