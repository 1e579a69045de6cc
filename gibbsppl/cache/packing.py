"""Values of a derivation as bytes; rows of tables, which hold functions, by their places there.

Comes in: any value. Goes out: bytes, or None where something is no row and cannot be packed.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import sympy as sp

from gibbsppl.cache.unpacking import unevaluated
from gibbsppl.derive.changes import TRANSFORMS, Transform
from gibbsppl.families import FAMILIES
from gibbsppl.families.rows import Family
from gibbsppl.rewrites import RULES
from gibbsppl.rewrites.applied import density_row
from gibbsppl.rewrites.rows import Rule


class _Packer(pickle.Pickler):
    def persistent_id(self, value: Any) -> tuple[Any, ...] | None:
        """The table and the place of a row; None of all else."""
        match value:
            case Family() if FAMILIES.get(value.name) is value:
                return ("family", value.name)
            case Family() if not value.name:
                support = value.support(())
                if density_row(support, value.event) is value:
                    return ("density", support, value.event)
            case Rule() if value in RULES:
                return ("rule", RULES.index(value))
            case Transform() if value in TRANSFORMS:
                return ("transform", TRANSFORMS.index(value))
        return None

    def reducer_override(self, value: Any) -> Any:
        """How to make a value again: sums, products and powers as they are, not evaluated anew."""
        if type(value) in (sp.Add, sp.Mul, sp.Pow):
            return unevaluated, (type(value), value.args)
        return NotImplemented


def packed(value: object) -> bytes | None:
    """The bytes of a value; None if it cannot be packed."""
    file = io.BytesIO()
    try:
        _Packer(file, pickle.HIGHEST_PROTOCOL).dump(value)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
        return None
    return file.getvalue()
