"""Values as bytes and back, by the pickles of the standard library.

Comes in: any value. Goes out: bytes, and from them an equal value; expressions in it are as they
were, and not evaluated anew. Rows of tables, which hold functions, are looked up in their tables.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
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
