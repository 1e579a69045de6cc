"""The recording of draws: the stored variables, the memory needed, and the arrays.

Comes in: a program, a state, the names to keep, the integer types of what is known to be whole.
Goes out: arrays of the draws of one chain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.output.thinning import Every
from gibbsppl.runtime.trajectories import Trajectory
from gibbsppl.runtime.tuning import move_with_rate
from gibbsppl.runtime.walks import Walk

Array = NDArray[Any]
Aimed = Sequence[tuple[Array, str]]
# The integer types of variables and quantities of whole numbers, by name.
Types = Mapping[str, DTypeLike]

# Labels and counts whose draws take more are not kept unless they are named: labels of more than
# 16,000 points in four chains of 1,000 draws. Below that, a process takes more memory by itself.
LARGE = 64 << 20


def kept_of(
    program: Program,
    constants: Constants,
    state: State,
    keep: Sequence[str] | None,
    asked: str = "keep",
) -> dict[str, Array]:
    """The variables to store, by name, at their initial values; ``asked``: the argument."""
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
            raise RunError(f"{asked}: {name!r} is a part of {program.parts[name]!r}; name that.")
        if name in program.within_sweep:
            raise RunError(
                f"{asked}: {name!r} holds for one draw of each sweep alone, and belongs to nothing "
                "else that is stored; leave it out."
            )
        if name not in known:
            raise RunError(f"{asked}: found {name!r}, expected names among {', '.join(known)}."
                f"{did_you_mean(name, known)}")
    return {name: known[name] for name in names}


# How to need less memory for draws, and for statistics of what has none.
ADVICE = {
    "draws": "name what you need in keep=[...], store fewer draws further apart (draws=, chains=, "
    "thin=), or few of what is large (keep={...: 1, ...: 10})",
    "statistics": "monitor less of it, by a function of the state, or fewer chains",
    "simulations": "name what you need, or take fewer draws, draws.thinned(10) say",
    "log likelihoods": "name what you need, or take fewer draws, draws.thinned(10) say",
}


def check_memory(needed: Mapping[str, int], limit: int, what: str = "draws") -> None:
    """Refuse what takes more bytes than the limit, draws say, naming the largest variable."""
    total = sum(needed.values())
    if total > limit:
        largest = max(needed, key=lambda name: needed[name])
        raise RunError(
            f"{largest}: its {what} would take {_in_words(needed[largest])} of the "
            f"{_in_words(total)} that would be stored, above the limit of {_in_words(limit)}; "
            f"{ADVICE[what]}, or raise limit_bytes=."
        )


def _in_words(size: float) -> str:
    """A number of bytes as people say it: ``3.2 GiB``."""
    power = min(4, int(math.log(max(size, 1), 1024)))
    return f"{size / 1024**power:.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def bytes_needed(
    kept: Mapping[str, ArrayLike],
    chains: int,
    draws: int,
    types: Types | None = None,
    every: Every | None = None,
) -> dict[str, int]:
    """The bytes that the draws take, by variable, given one draw of each.

    ``every``: of how many draws one is kept, of variables that have not all.

    >>> one = {"theta": np.zeros(30), "z": np.zeros(30, int)}
    >>> bytes_needed(one, chains=4, draws=1000, types={"z": np.int8})
    {'theta': 960000, 'z': 120000}
    """
    arrays = {name: np.asarray(value) for name, value in kept.items()}
    recorded = {name: np.dtype((types or {}).get(name, a.dtype)) for name, a in arrays.items()}
    drawn = {n: draws // (every or {}).get(n, 1) for n in arrays}
    return {n: a.size * recorded[n].itemsize * chains * drawn[n] for n, a in arrays.items()}


def large(needed: Mapping[str, int], types: Types) -> tuple[str, ...]:
    """Labels and counts whose draws are large, unless there is nothing else to keep.

    >>> large({"mu": LARGE + 1, "z": LARGE + 1}, {"z": np.int8})
    ('z',)
    """
    found = tuple(n for n, size in needed.items() if n in types and size > LARGE)
    return found if len(found) < len(needed) else ()


def left_out_told(names: Sequence[str], needed: Mapping[str, int]) -> str | None:
    """The arrays that a run leaves out, and how to have them; None where there are none.

    >>> print(left_out_told(["z"], {"mu": 32_000, "z": 400_000_000}))
    z (381 MiB of draws) is not kept by default; name what to keep, as in keep=[..., "z"].
    """
    if not names:
        return None
    sizes = " and ".join(f"{n} ({_in_words(needed[n])} of draws)" for n in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    is_or_are = "is" if len(names) == 1 else "are"
    return (
        f"{sizes} {is_or_are} not kept by default; name what to keep, as in keep=[..., {quoted}]."
    )


def walks_of(program: Program, state: State) -> dict[str, Walk | Trajectory]:
    """The tuning of moves that count what they accept and have made one, by name of the step."""
    return {name: state["~" + name] for name in program.walks if "~" + name in state}


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """The variables that a run records, of how many draws of each chain, in which types.

    ``types``: the types of what is known to be whole. ``every``: of how many draws one is wanted,
    of variables of which not all are. ``is_warm``: draws are those of the warm-up, whose sweeps
    carry out no deferred steps. ``kinds``: the shape and the type of each variable, found at
    the first draw.
    """

    program: Program
    constants: Constants
    names: tuple[str, ...]
    draws: int
    types: Types = field(default_factory=dict)
    every: Every = field(default_factory=dict)
    is_warm: bool = False
    kinds: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = field(default_factory=dict)

    def find_kinds(self, state: State) -> None:
        """Find shapes and types: a start given as a whole number says nothing of its kind."""
        found = self.program.deterministics(state, self.constants) | state
        for name in self.names:
            array = np.asarray(found[name])
            self.kinds[name] = array.shape, np.dtype(self.types.get(name, array.dtype))

    def deferred_in(self, draw: int) -> tuple[str, ...]:
        """The deferred steps that the sweep of a draw (1 is the first) carries out.

        These are the ones that something wanted of it depends on, and all for the last draw, so
        that a run ends with a state all of whose parts belong together.
        """
        if not self.program.deferred or self.is_warm:
            return ()
        if draw == self.draws:
            return tuple(self.program.deferred)
        wanted = [n for n in self.names if draw % self.every.get(n, 1) == 0]
        return self.program.needed_for(wanted)

    def alike_from(self, draw: int) -> int:
        """A number of draws, this one the first, whose sweeps carry out the same deferred steps."""
        left = self.draws - draw
        if not self.program.deferred or self.is_warm:
            return left + 1
        until_next = [k - draw % k if draw % k else 1 for k in self.every.values()]
        return min([max(left, 1), *until_next])

    def recorder(self, first: int, most: int, limit: int | None = None) -> Recorder:
        """A recorder of the draws from ``first`` (0 is that of the run) to below ``most``.

        It has no room for more draws than take ``limit`` bytes, unless one does.
        """
        return Recorder(self, first, most - first, limit)


@dataclass(slots=True)
class Recorder:
    """Arrays being filled with some draws of a chain, from the draw number ``first`` on.

    They are allocated at the first one. ``lost``: the first variable of which a draw is not what is
    recorded, as the type of its array does not hold it. ``rates``: statistics of moves by step and
    field, each the mean since the draw before.
    """

    recording: Recording
    first: int
    room: int
    limit: int | None = None
    values: dict[str, Array] = field(default_factory=dict)
    drawn: int = 0
    from_state: Aimed = ()
    derived: Aimed = ()
    lost: str | None = None
    rates: dict[tuple[str, str], Array] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """The number of draws that there is room for."""
        return self.room - self.drawn

    @property
    def following(self) -> tuple[int, tuple[str, ...]]:
        """A number of draws after these, whose sweeps carry out the same deferred steps; these."""
        draw = self.first + self.drawn + 1
        alike = min(self.left, self.recording.alike_from(draw))
        return alike, self.recording.deferred_in(draw)

    def store(self, state: State) -> None:
        """Add the state as the next draw."""
        if not self.values:
            self._allocate(state)
        program = self.recording.program
        self._put(self.from_state, state)
        if self.derived:
            self._put(self.derived, program.deterministics(state, self.recording.constants))
        if program.walks:
            self._store_rates(state)
        self.drawn += 1

    def places(self, state: State, arrays: Mapping[str, Array], draws: int) -> list[Array]:
        """Where the next draws go, for each array; nowhere if it is not kept.

        Whoever fills them says how many draws there are now.
        """
        if not self.values:
            self._allocate(state)
        following = slice(self.drawn, self.drawn + draws)
        return [self._place(name, a)[following] for name, a in arrays.items()]

    def recorded(self) -> tuple[dict[str, Array], dict[tuple[str, str], Array]]:
        """The draws so far, and the statistics of moves."""
        values = {name: array[: self.drawn] for name, array in self.values.items()}
        return values, {move: array[: self.drawn] for move, array in self.rates.items()}

    def _place(self, name: str, array: Array) -> Array:
        """Where the draws of an array go, or the statistics of a move."""
        if (move := move_with_rate(name)) is not None:
            return self._rates_of(*move)
        found = self.values.get(name)
        return np.empty((0, *array.shape), array.dtype) if found is None else found

    def _put(self, aimed: Aimed, values: Mapping[str, Any]) -> None:
        types, drawn = self.recording.types, self.drawn
        for array, name in aimed:
            if name in types:
                self._put_whole(array, name, np.asarray(values[name]))
            else:
                array[drawn] = values[name]

    def _put_whole(self, array: Array, name: str, value: Array) -> None:
        array[self.drawn] = value
        if array.dtype != value.dtype and (array[self.drawn] != value).any():
            self.lost = self.lost or name

    def _store_rates(self, state: State) -> None:
        for name, walk in walks_of(self.recording.program, state).items():
            for what, value in walk.taken().items():
                self._rates_of(name, what)[self.drawn] = value

    def _rates_of(self, step: str, what: str) -> Array:
        """A statistic of a move."""
        if (step, what) not in self.rates:
            self.rates[step, what] = np.full(self.room, np.nan)
        return self.rates[step, what]

    def _allocate(self, state: State) -> None:
        """Make arrays for the draws, and find which are of the state."""
        if not self.recording.kinds:
            self.recording.find_kinds(state)
        kinds = self.recording.kinds
        if self.limit is not None:
            one = sum(math.prod(shape) * kind.itemsize for shape, kind in kinds.values())
            self.room = max(1, min(self.room, self.limit // max(one, 1)))
        self.values = {n: np.empty((self.room, *shape), kind) for n, (shape, kind) in kinds.items()}
        self.from_state = tuple((a, n) for n, a in self.values.items() if n in state)
        self.derived = tuple((a, n) for n, a in self.values.items() if n not in state)

    def fault(self, start: int) -> str | None:
        """What is wrong with the draws of the state from ``start`` on; None if nothing is."""
        for array, name in self.from_state:
            if array.dtype.kind == "f" and not np.isfinite(array[start : self.drawn]).all():
                return f"{name}: found draws not finite."
        if self.lost:
            kind = self.values[self.lost].dtype
            return f"{self.lost}: found draws that its type, {kind}, does not hold."
        return None
