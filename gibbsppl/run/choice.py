"""The choice of what carries out sweeps: as asked, or what is faster for the sweeps of a run.

>>> checked_backend("compiled")
'compiled'
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, cast

from gibbsppl.code.costs import is_worth_compiling
from gibbsppl.code.loop_program import LoopProgram
from gibbsppl.code.loop_text.loading import is_installed
from gibbsppl.errors import NotLoweredError, RunError, did_you_mean
from gibbsppl.run.engines import Compiled, Engine, Interpreted
from gibbsppl.run.progress import say

Backend = Literal["auto", "numpy", "compiled"]
BACKENDS = ("auto", "numpy", "compiled")
# What is used where nothing is asked.
VARIABLE = "GIBBSPPL_BACKEND"

MISSING = (
    "Numba is not installed, which backend='compiled' needs: pip install \"gibbsppl[fast]\", or "
    "leave backend= out."
)


def checked_backend(backend: str | None) -> Backend:
    """The back end asked for, or that of the environment; an error for what is none."""
    asked = backend if backend is not None else os.environ.get(VARIABLE, "auto")
    if asked not in BACKENDS:
        raise RunError(
            f"backend: found {asked!r}, expected one of {', '.join(map(repr, BACKENDS))}."
            f"{did_you_mean(str(asked), BACKENDS)}"
        )
    return cast("Backend", asked)


def engine_for(
    backend: Backend, numpy: Interpreted, lowered: Callable[[], LoopProgram], sweeps: int
) -> Engine:
    """What carries out so many sweeps; ``lowered`` makes the loops."""
    if backend == "numpy":
        return numpy
    if backend == "compiled":
        if not is_installed():
            raise RunError(MISSING)
        return Compiled(lowered())
    try:
        loops = lowered()
    except NotLoweredError:
        return numpy
    if not is_worth_compiling(loops.sweep_value, loops.known_sizes, sweeps):
        return numpy
    if not is_installed():
        say(f'gibbsppl: {sweeps} sweeps would be faster compiled: pip install "gibbsppl[fast]".')
        return numpy
    return Compiled(loops)
