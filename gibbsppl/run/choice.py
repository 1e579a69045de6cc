"""The choice of what carries out sweeps: as asked, or what is faster for the sweeps of a run.

>>> checked_backend("compiled")
'compiled'
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, cast

from gibbsppl.code.worth import NEVER, Worth
from gibbsppl.errors import NotLoweredError, RunError, did_you_mean
from gibbsppl.run.engines import Compiled, Engine, Interpreted
from gibbsppl.run.progress import say

if TYPE_CHECKING:
    from gibbsppl.code.loop_program import LoopProgram

Backend = Literal["auto", "numpy", "compiled"]
BACKENDS = ("auto", "numpy", "compiled")
# What is used where nothing is asked.
VARIABLE = "GIBBSPPL_BACKEND"

MISSING = (
    "Numba is not installed, which backend='compiled' needs: pip install \"gibbsppl[fast]\", or "
    "leave backend= out."
)
NOT_COMPILED = (
    "No compiled sweep has this part: leave backend= out, or ask for backend='numpy', which has it."
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


def is_installed() -> bool:
    """Whether loops can be compiled here: whether Numba is installed."""
    return find_spec("numba") is not None


def engine_for(
    backend: Backend,
    numpy: Interpreted,
    lowered: Callable[[], LoopProgram],
    sweeps: int,
    worth: Callable[[Callable[[], Worth]], Worth],
) -> Engine:
    """What carries out so many sweeps; ``lowered`` makes the loops.

    ``worth`` is what is known of them, or finds it by the function that it is called with.
    """
    made = cache(lowered)
    if backend == "numpy":
        return numpy
    if backend == "compiled":
        if not is_installed():
            raise RunError(MISSING)
        try:
            return Compiled(made())
        except NotLoweredError as error:
            raise NotLoweredError(f"{error} {NOT_COMPILED}") from error
    if not worth(lambda: _worth_of(made)).pays(sweeps):
        return numpy
    if not is_installed():
        say(f'gibbsppl: {sweeps} sweeps would be faster compiled: pip install "gibbsppl[fast]".')
        return numpy
    return Compiled(made())


def _worth_of(lowered: Callable[[], LoopProgram]) -> Worth:
    """What loops are worth, if they can be made."""
    from gibbsppl.code.costs import worth_of  # noqa: PLC0415  (only where nothing is known)

    try:
        loops = lowered()
    except NotLoweredError:
        return NEVER
    return worth_of(loops.sweep_value, loops.known_sizes)
