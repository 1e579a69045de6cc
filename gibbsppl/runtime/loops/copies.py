"""Copies of vectors, number by number: an assignment of arrays takes Numba seconds to compile."""

from __future__ import annotations

from gibbsppl.runtime.types import Floats

from . import kernel


@kernel
def copied(x: Floats, out: Floats) -> None:
    """The elements of a vector, put into ``out``."""
    for i in range(len(x)):
        out[i] = x[i]
