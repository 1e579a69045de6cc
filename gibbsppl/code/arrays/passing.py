"""Arrays of the state that pass within one sweep, as new arrays of it.

An auxiliary variable is drawn before anything reads it, and the next sweep draws it anew. Where it
is not recorded either it is no part of the state, and axes of it that a loop stands for are never
stored.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from gibbsppl.code.arrays.expressions import ZERO, Span
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.arrays.sweeps import Sweep, names_in


def without_passing(sweep: Sweep, names: Collection[str]) -> Sweep:
    """The sweep with arrays of the state, each of which it draws whole, as its own."""
    watched = names_in(sweep.monitors)
    own = {n: a for n, a in sweep.arrays.items() if n in names and n not in watched}
    lets = tuple(
        Let(n, tuple(map(Span.whole, a.dims)), ZERO, type=a.type, is_empty=True)
        for n, a in own.items()
    )
    arrays = {n: a for n, a in sweep.arrays.items() if n not in own}
    return replace(sweep, arrays=arrays, statements=(*lets, *sweep.statements))
