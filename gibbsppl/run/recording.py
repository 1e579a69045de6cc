"""The recording of draws: the stored variables, the memory needed, and the arrays.

Comes in: a program, a state, the names to keep. Goes out: arrays with axes (chain, draw, ...).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.runtime.walks import Walk

Array = NDArray[Any]
Aimed = list[tuple[Array, str]]


def kept_of(
    program: Program, constants: Constants, state: State, keep: Sequence[str] | None
) -> dict[str, Array]:
    """The variables to store, by name, at their initial values."""
    derived = program.deterministics(state, constants)
    if keep is None:
        own = (step for step in program.steps if step not in program.auxiliary)
        arrays = (name for step in own for name in program.step_variables[step])
        drawn = dict.fromkeys(program.parts.get(name, name) for name in arrays)
        return {name: state[name] for name in drawn} | derived
    known = {name: value for name, value in state.items() if not name.startswith("~")} | derived
    names = (keep,) if isinstance(keep, str) else keep
    for name in names:
        if name in program.parts:
            raise RunError(f"keep: {name!r} is a part of {program.parts[name]!r}; keep that.")
        if name in program.within_sweep:
            raise RunError(
                f"keep: {name!r} holds for one draw of each sweep alone, and belongs to nothing "
                "else that is stored; leave it out."
            )
        if name not in known:
            raise RunError(f"keep: found {name!r}, expected names among {', '.join(known)}."
                f"{did_you_mean(name, known)}")
    return {name: known[name] for name in names}


def check_memory(needed: Mapping[str, int], limit: int) -> None:
    """Refuse draws that take more bytes than the limit, naming the largest variable."""
    total = sum(needed.values())
    if total > limit:
        largest = max(needed, key=lambda name: needed[name])
        raise RunError(
            f"{largest}: its draws would take {_in_words(needed[largest])} of the "
            f"{_in_words(total)} that this run would store, above the limit of {_in_words(limit)}; "
            "name what you need in keep=[...], store fewer draws further apart (draws=, chains=, "
            "thin=), or raise limit_bytes=."
        )


def _in_words(size: float) -> str:
    """A number of bytes as people say it: ``3.2 GiB``."""
    power = min(4, int(math.log(max(size, 1), 1024)))
    return f"{size / 1024**power:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def bytes_needed(kept: Mapping[str, ArrayLike], chains: int, draws: int) -> dict[str, int]:
    """The bytes that the draws take, by variable, given one draw of each.

    >>> bytes_needed({"theta": np.zeros(30)}, chains=4, draws=1000)
    {'theta': 960000}
    """
    return {name: np.asarray(value).nbytes * chains * draws for name, value in kept.items()}


def walks_of(program: Program, state: State) -> dict[str, Walk]:
    """The tuning of random walks that have made a step, by the name of the step."""
    return {name: state["~" + name] for name in program.walks if "~" + name in state}


@dataclass(slots=True)
class Recorder:
    """Arrays being filled with draws, one chain after the other.

    They are allocated at the first draw: a start given as a whole number says nothing of its kind.
    ``rates``: for each random walk, the share of its steps since the draw before that it accepted.
    """

    program: Program
    constants: Constants
    names: tuple[str, ...]
    size: tuple[int, int]
    values: dict[str, Array] = field(default_factory=dict)
    drawn: int = 0
    from_state: Aimed = field(default_factory=list)
    derived: Aimed = field(default_factory=list)
    rates: dict[str, Array] = field(default_factory=dict)

    def store(self, number: int, state: State) -> None:
        """Add the state as the next draw of chain ``number``."""
        if self.drawn == 0:
            self._aim(number, state)
        for array, name in self.from_state:
            array[self.drawn] = state[name]
        if self.derived:
            values = self.program.deterministics(state, self.constants)
            for array, name in self.derived:
                array[self.drawn] = values[name]
        if self.program.walks:
            self._store_rates(number, state)
        self.drawn += 1

    def _store_rates(self, number: int, state: State) -> None:
        for name, walk in walks_of(self.program, state).items():
            if name not in self.rates:
                self.rates[name] = np.full(self.size, np.nan)
            self.rates[name][number, self.drawn] = walk.taken_rate()

    def _aim(self, number: int, state: State) -> None:
        """Find the array that each name goes to in this chain."""
        self.from_state, self.derived = [], []
        found = self.program.deterministics(state, self.constants) | state
        for name in self.names:
            value = np.asarray(found[name])
            if name not in self.values:
                self.values[name] = np.empty((*self.size, *value.shape), value.dtype)
            aimed = self.from_state if name in state else self.derived
            aimed.append((self.values[name][number], name))

    def not_finite(self, start: int) -> str | None:
        """The first variable of the state with draws from ``start`` on that are not finite."""
        for array, name in self.from_state:
            if array.dtype.kind == "f" and not np.isfinite(array[start : self.drawn]).all():
                return name
        return None
