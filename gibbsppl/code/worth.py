"""The worth of compiled loops, an estimate made once of a model: seconds saved, seconds taken.

Comes out of `gibbsppl.code.costs`, which looks at the loops; what was derived keeps it, so that no
loops are made where none are worth it.

>>> [Worth(saved=1e-4, compiling=3.0).pays(sweeps) for sweeps in (20_000, 40_000)]
[False, True]
>>> Worth(saved=1e-4, compiling=3.0, is_needed=True).pays(1)
True
>>> NEVER.pays(10**9)
False
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Seconds that loops take for an operation.
AN_OPERATION = 1e-9


@dataclass(frozen=True, slots=True)
class Worth:
    """The seconds that each sweep in loops saves, and those that compiling takes.

    ``operations`` are those of a sweep, NaN where they cannot be counted.
    ``is_needed``: sweeps in NumPy would hold more memory than they may by default.
    """

    saved: float
    compiling: float
    operations: float = math.nan
    is_needed: bool = False

    def pays(self, sweeps: int) -> bool:
        """Whether so many sweeps in loops save more than compiling them takes."""
        if math.isinf(self.compiling):
            return False
        return self.is_needed or sweeps * self.saved > self.compiling

    def seconds(self, sweeps: int, *, in_loops: bool) -> float:
        """About the seconds that so many sweeps take, by their operations; NaN if not known."""
        return sweeps * (self.operations * AN_OPERATION + (0.0 if in_loops else self.saved))


# Of a sweep that cannot be carried out in loops.
NEVER = Worth(saved=0.0, compiling=math.inf)
