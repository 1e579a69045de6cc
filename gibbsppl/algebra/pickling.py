"""Values as bytes and back, by the pickles of the standard library.

Comes in: any value. Goes out: bytes, and from them an equal value; expressions in it are as they
were, and not evaluated anew. Rows of tables, which hold functions, are looked up in their tables.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import is_dataclass
from importlib import import_module
from typing import Any

import sympy as sp


def unevaluated(kind: Any, arguments: tuple[sp.Expr, ...]) -> sp.Expr:
    """A sum, a product or a power of just these arguments.

    >>> from sympy import Mul, Symbol
    >>> unevaluated(Mul, (sp.Integer(-1), Symbol("x") + 1))
    -(x + 1)
    """
    found: sp.Expr = kind(*arguments, evaluate=False)
    return found


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """How to make a value again: sums, products and powers as they are, not evaluated anew."""
        if type(value) in (sp.Add, sp.Mul, sp.Pow):
            return unevaluated, (type(value), value.args)
        return NotImplemented


def pickled(value: object) -> bytes:
    """The bytes of a value."""
    file = io.BytesIO()
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump(value)
    return file.getvalue()


def restored(content: bytes) -> Any:
    """The value of bytes that `pickled` made."""
    return pickle.loads(content)  # noqa: S301  (whoever has them has made them, as with any pickle)


# The names that the pickle of a chain may have beside classes of the package: arrays of numbers
# and texts, streams of random numbers. None of these runs what a file says.
_PLAIN = {
    *(("builtins", n) for n in ("set", "frozenset", "complex", "slice", "range", "bytearray")),
    *((f"numpy.{m}.multiarray", n) for m in ("_core", "core") for n in ("_reconstruct", "scalar")),
    *((f"numpy.{m}.numeric", "_frombuffer") for m in ("_core", "core")),
    ("numpy", "ndarray"), ("numpy", "dtype"), ("collections", "OrderedDict"),
    ("numpy.random._pickle", "__generator_ctor"),
    ("numpy.random._pickle", "__bit_generator_ctor"),
    ("numpy.random._pcg64", "PCG64"), ("numpy.random._philox", "Philox"),
    ("numpy.random._sfc64", "SFC64"), ("numpy.random._mt19937", "MT19937"),
    ("numpy.random._pcg64", "PCG64DXSM"),
    ("numpy.random.bit_generator", "__pyx_unpickle_SeedSequence"),
    ("numpy.random.bit_generator", "SeedSequence"), ("_codecs", "encode"),
}  # fmt: skip


class _Reader(pickle.Unpickler):
    """An unpickler of plain values: numbers, arrays, streams, and records of the package's own."""

    def find_class(self, module: str, name: str) -> Any:
        """A class or function by its name, if values may have it."""
        found = super().find_class(module, name) if _is_plain(module, name) else None
        is_ours = is_dataclass(found) and found.__module__ == module
        if found is None or ((module, name) not in _PLAIN and not is_ours):
            raise pickle.UnpicklingError(f"found {module}.{name}, which is no plain value")
        return found


def _is_plain(module: str, name: str) -> bool:
    return (module, name) in _PLAIN or (module.startswith("gibbsppl.") and "." not in name)


def restored_plainly(content: bytes) -> Any:
    """The value of bytes that `pickled` made, which may come from anybody: nothing else is run.

    >>> restored_plainly(pickled({"x": 1.5}))
    {'x': 1.5}
    >>> restored_plainly(pickled(print))
    Traceback (most recent call last):
    _pickle.UnpicklingError: found builtins.print, which is no plain value
    """
    return _Reader(io.BytesIO(content)).load()


def looked_up(place: str, row: Any) -> tuple[Any, ...]:
    """How a row of a table is made again (as ``__reduce__`` tells it): it is looked up there.

    ``place`` names the table: its module, and its name.
    """
    table = _table_at(place)
    every = table.items() if isinstance(table, Mapping) else enumerate(table)
    for key, found in every:
        if found is row:
            return row_at, (place, key)
    raise pickle.PicklingError(
        f"{row.name or 'a row'}: found a row that is in no table, expected one of {place}: rows "
        "hold functions, and are looked up in their tables where they are read."
    )


def row_at(place: str, key: str | int) -> Any:
    """A row of a table."""
    return _table_at(place)[key]


def _table_at(place: str) -> Any:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)
