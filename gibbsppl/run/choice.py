"""The choice of what carries out sweeps: as asked, or what is faster for the sweeps of a run.

>>> checked_backend("compiled")
'compiled'
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, cast

from gibbsppl.code.worth import NEVER, Worth
from gibbsppl.errors import NotLoweredError, RunError, did_you_mean
from gibbsppl.run.engines import Compiled, Engine, Interpreted, Threaded
from gibbsppl.run.progress import say

if TYPE_CHECKING:
    from gibbsppl.code.loop_program import LoopProgram

Backend = Literal["auto", "numpy", "compiled"]
BACKENDS = ("auto", "numpy", "compiled")
# What large arrays of real numbers are kept in, by default first.
TYPES = ("float64", "float32")
# What is used where nothing is asked.
VARIABLE = "GIBBSPPL_BACKEND"

# Sweeps that are no work for several processes, whatever the model.
FEW = 1000

MISSING = 'Numba is not installed, which {} needs: pip install "gibbsppl[fast]", or leave {}= out.'
NOT_COMPILED = (
    "No compiled sweep has this part: leave {}= out, or ask for backend='numpy', which has it."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The settings of the sweeps of a run: the back end, threads, the type of large arrays."""

    backend: Backend
    threads: int | None = None
    dtype: str | None = None

    @property
    def of_loops(self) -> str | None:
        """A setting that compiled loops alone know, as it is written."""
        told = {"threads": self.threads, "dtype": self.dtype}
        return next((f"{n}={x!r}" for n, x in told.items() if x not in {None, TYPES[0]}), None)


def asked_for(backend: str | None, threads: int | None = None, dtype: str | None = None) -> Asked:
    """The settings asked for, the back end of the environment if none is; an error for others.

    Who asks for threads, or for another type, asks for compiled loops.
    """
    if threads is not None and threads < 1:
        raise RunError(f"threads: found {threads}, expected a whole number from 1 on.")
    if dtype not in {None, *TYPES}:
        raise RunError(f"dtype: found {dtype!r}, expected one of {', '.join(map(repr, TYPES))}.")
    found = Asked("compiled", threads, dtype)
    usual = os.environ.get(VARIABLE, "auto") if found.of_loops is None else "compiled"
    kind = checked_backend(backend if backend is not None else usual)
    if found.of_loops is None:
        return replace(found, backend=kind)
    if kind == "numpy":
        name, _, value = found.of_loops.partition("=")
        raise RunError(
            f"{name}: found {value} with backend='numpy', expected compiled loops, which alone "
            f"know it; leave backend= or {name}= out."
        )
    return found


def checked_backend(backend: str) -> Backend:
    """A back end; an error for what is none."""
    if backend not in BACKENDS:
        raise RunError(
            f"backend: found {backend!r}, expected one of {', '.join(map(repr, BACKENDS))}."
            f"{did_you_mean(str(backend), BACKENDS)}"
        )
    return cast("Backend", backend)


def is_installed() -> bool:
    """Whether loops can be compiled here: whether Numba is installed."""
    return find_spec("numba") is not None


def engine_for(
    asked: Asked,
    numpy: Callable[[], Interpreted],
    lowered: Callable[[str], LoopProgram],
    sweeps: int,
    worth: Callable[[Callable[[], Worth]], Worth],
) -> Engine:
    """The engine of so many sweeps: in ``numpy``, or in the loops that ``lowered`` makes.

    Loops are made with large arrays of a type. ``worth`` is what is known of them, or finds it by
    the function that it is called with.
    """
    made = cache(lambda: lowered(asked.dtype or TYPES[0]))
    if asked.backend == "numpy":
        return numpy()
    if asked.backend == "compiled":
        needed = asked.of_loops or "backend='compiled'"
        setting = needed.partition("=")[0]
        if not is_installed():
            raise RunError(MISSING.format(needed, setting))
        try:
            loops = made()
        except NotLoweredError as error:
            raise NotLoweredError(f"{error} {NOT_COMPILED.format(setting)}") from error
        return Compiled(loops) if asked.threads is None else Threaded(loops, threads=asked.threads)
    if not worth(lambda: _worth_of(made)).pays(sweeps):
        return numpy()
    if not is_installed():
        say(f'gibbsppl: {sweeps} sweeps would be faster compiled: pip install "gibbsppl[fast]".')
        return numpy()
    return Compiled(made())


def seconds_of(
    engine: Engine,
    lowered: Callable[[str], LoopProgram],
    sweeps: int,
    worth: Callable[[Callable[[], Worth]], Worth],
) -> float:
    """About the seconds of so many sweeps by an engine, by their operations; NaN if not known.

    Fewer sweeps than `FEW` are not looked at: counting would take longer than they do.
    """
    if sweeps < FEW:
        return 0.0
    found = worth(lambda: _worth_of(lambda: lowered(TYPES[0])))
    return found.seconds(sweeps, in_loops=isinstance(engine, Compiled))


def _worth_of(lowered: Callable[[], LoopProgram]) -> Worth:
    """The worth of loops, if they can be made."""
    from gibbsppl.code.costs import worth_of  # noqa: PLC0415  (only where nothing is known)

    try:
        loops = lowered()
    except NotLoweredError:
        return NEVER
    return worth_of(loops.sweep_value, loops.known_sizes)
