"""Values of a derivation from their bytes; modules are imported as values need them.

Comes in: bytes that `packing` made. Goes out: the value.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import sympy as sp

from gibbsppl.families import FAMILIES


def unevaluated(kind: Any, arguments: tuple[sp.Expr, ...]) -> sp.Expr:
    """A sum, a product or a power of just these arguments.

    >>> from sympy import Mul, Symbol
    >>> unevaluated(Mul, (sp.Integer(-1), Symbol("x") + 1))
    -(x + 1)
    """
    found: sp.Expr = kind(*arguments, evaluate=False)
    return found


class _Unpacker(pickle.Unpickler):
    def persistent_load(self, place: tuple[Any, ...]) -> Any:
        """The row of a table."""
        match place:
            case ("family", str(name)):
                return FAMILIES[name]
            case ("density", support, int(event)):
                from gibbsppl.rewrites.applied import density_row  # noqa: PLC0415  (rewritten models)

                return density_row(support, event)
            case ("rule", int(number)):
                from gibbsppl.rewrites import RULES  # noqa: PLC0415  (rewritten models)

                return RULES[number]
            case ("transform", int(number)):
                from gibbsppl.derive.changes import TRANSFORMS  # noqa: PLC0415  (schedules alone)

                return TRANSFORMS[number]
        raise pickle.UnpicklingError(f"found a row {place!r}, expected one of a table")


def unpacked(content: bytes) -> Any:
    """The value that was packed."""
    return _Unpacker(io.BytesIO(content)).load()
