"""A digest of all that a derivation follows from: equal digests, equal derivations.

Comes in: a graph, its data, settings. Goes out: a digest, or None where something has no content
that can be told, such as a function of the user's. Versions, and sizes and times of the package's
own files, are in it: what was derived by another version is another derivation.

>>> fingerprint((1, 2.0)) == fingerprint((1, 2.0)), fingerprint((1, 2.0)) == fingerprint((1, 2))
(True, False)
>>> fingerprint(len) is None
True
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import scipy
import sympy as sp

import gibbsppl
from gibbsppl.algebra.expressions import Array
from gibbsppl.families import FAMILIES
from gibbsppl.families.rows import Family
from gibbsppl.runtime.libraries import LIBRARIES

# Counted up where what is kept of a derivation changes.
FORMAT = 4

# Values with a content that their text tells whole.
_PLAIN = {type(None), bool, int, float, str, bytes}

PACKAGES = (np, scipy, sp, nx)


class _NotToldError(TypeError):
    """A value without a content that can be told."""


def fingerprint(value: object) -> bytes | None:
    """The digest of a value and of all versions; None if the value has parts that are unknown."""
    try:
        return _digest("all", (_versions(), _Reader().of(value)))
    except (_NotToldError, RecursionError):
        return None


@cache
def _versions() -> bytes:
    """The digest of the versions of all that derives, and of the files of the package."""
    told = [str(FORMAT), gibbsppl.__version__, sys.version]
    told += [f"{p.__name__} {p.__version__}" for p in PACKAGES]
    told += [row.told for row in LIBRARIES.values()]  # (a schedule tells of those that draw)
    return _digest("versions", (t.encode() for t in (*told, *_files(Path(__file__).parents[1]))))


def _files(folder: Path) -> Iterable[str]:
    """The modules under a folder, each with its size and the time of its last change."""
    for found in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if found.is_dir():
            yield from _files(Path(found.path))
        elif found.name.endswith(".py"):
            seen = found.stat()
            yield f"{found.path} {seen.st_size} {seen.st_mtime_ns}"


def _digest(kind: str, parts: Iterable[bytes | memoryview]) -> bytes:
    """The digest of parts in order, each with its length."""
    found = hashlib.sha256(kind.encode())
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()


@dataclass(slots=True)
class _Reader:
    """Digests of values, those of expressions each computed once."""

    # (by identity: some numbers of SymPy are equal at different precisions)
    expressions: dict[int, tuple[sp.Basic, bytes]] = field(default_factory=dict)

    def of(self, value: object) -> bytes:
        """The digest of any value."""
        match value:
            case None | bool() | int() | float() | str() | bytes() | range() | slice():
                if isinstance(value, np.generic):  # (a float of NumPy's is one of Python's too)
                    return self.of_array(np.asarray(value))
                return _digest(type(value).__name__, (repr(value).encode(),))
            case sp.Basic():
                return self.of_expression(value)
            case np.ndarray() | np.generic():
                return self.of_array(value)
            case tuple() | list() if _PLAIN.issuperset(map(type, value)):
                return _digest(f"plain {_kind(value)}", (repr(value).encode(),))
            case tuple() | list():
                return _digest(_kind(value), map(self.of, value))
            case frozenset() | set():
                return _digest("set", sorted(map(self.of, value)))
            case Mapping():
                return _digest("mapping", (self.of(part) for kv in value.items() for part in kv))
            case Family():
                return self.of_family(value)
        if is_dataclass(value) and not isinstance(value, type):
            named = (f.name for f in fields(value) if f.compare)
            return _digest(_kind(value), (self.of((n, getattr(value, n))) for n in named))
        if type(value).__module__.startswith("gibbsppl.") and not hasattr(value, "__dict__"):
            return _digest(_kind(value), ())  # (a kernel without settings)
        raise _NotToldError(type(value))

    def of_expression(self, value: sp.Basic) -> bytes:
        """The digest of an expression: its classes, names, assumptions and numbers."""
        if id(value) not in self.expressions:
            self.expressions[id(value)] = value, self._of_expression(value)
        return self.expressions[id(value)][1]

    def _of_expression(self, value: sp.Basic) -> bytes:
        if isinstance(value, sp.Dummy):
            raise _NotToldError(type(value))
        if isinstance(value, sp.Symbol):
            told = sorted(value._assumptions_orig.items())  # noqa: SLF001  (as Array does)
            bounds = value.bounds if isinstance(value, Array) else ()
            return _digest(_kind(value), map(self.of, (value.name, told, bounds)))
        if value.args:
            return _digest(_kind(value), map(self.of_expression, value.args))
        return _digest(_kind(value), (sp.srepr(value).encode(),))

    def of_array(self, value: np.ndarray | np.generic) -> bytes:
        """The digest of an array: type, shape and all bytes."""
        array = np.asarray(value)
        if type(value) is not np.ndarray and not isinstance(value, np.generic):
            raise _NotToldError(type(value))
        if array.dtype.kind == "O":
            return _digest("objects", (self.of(array.shape), self.of(array.ravel().tolist())))
        head = (array.dtype.str.encode(), repr(array.shape).encode())
        content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return _digest("array", (*head, content.data))

    def of_family(self, row: Family) -> bytes:
        """The digest of a row of the table, which is its name."""
        if FAMILIES.get(row.name) is row:
            return _digest("family", (row.name.encode(),))
        raise _NotToldError(row.name)


def _kind(value: object) -> str:
    """The name of a class of Python, of SymPy or of the package."""
    kind = type(value)
    if (kind.__module__ or "").partition(".")[0] not in ("builtins", "sympy", "gibbsppl"):
        raise _NotToldError(kind)
    return f"{kind.__module__}.{kind.__qualname__}"
