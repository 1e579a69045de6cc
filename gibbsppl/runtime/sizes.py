"""The sizes of dims, from the shapes of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gibbsppl.errors import RunError


def sizes(
    data: Mapping[str, Any],
    arrays: Mapping[str, tuple[str, ...]],
    own: Mapping[str, int],
    fixed: Mapping[str, int] | None = None,
    given: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """The number of positions of each dim: of ``arrays`` of the data, each with its dims, or given.

    ``own`` are those of the source of a sampler that others may be ``given`` for, ``fixed`` those
    that it holds for alone.

    >>> sizes({"y": np.zeros((3, 2))}, {"y": ("rat", "day")}, {"doc": 4})
    {'doc': 4, 'rat': 3, 'day': 2}
    """
    fixed, given = fixed or {}, given or {}
    if unknown := sorted(set(given) - set(own)):
        raise RunError(
            f"sizes: found {', '.join(unknown)}, expected {', '.join(own) or 'none'}; sizes along "
            "which there are data are read from these."
        )
    found, seen = {**own, **given, **fixed}, dict.fromkeys(fixed, "the source")
    for name, dims in arrays.items():
        if name not in data:
            continue
        shape = np.shape(data[name])
        if len(shape) != len(dims):
            raise RunError(
                f"{name}: expected {len(dims)} axes ({', '.join(dims)}), found the shape {shape}."
            )
        for dim, size in zip(dims, shape, strict=True):
            if dim in seen and size != found[dim]:
                agree = "compile the model with these data" if dim in fixed else "let them agree"
                raise RunError(
                    f"{name}: found {size} along {dim}, expected {found[dim]} as in {seen[dim]}; "
                    f"{agree}."
                )
            found[dim], seen[dim] = size, seen.get(dim, name)
    return found
