"""A sweep in loops beside the sweep in NumPy, from one state and one stream.

The checks of a sampler prove what is derived, on the sweep in NumPy. What is run by default is the
same sweep in loops, after passes that arrange it anew (`gibbsppl.code.loop_program`): here it is
carried out in plain Python, and compared in what draws are given, in log densities, in what is
drawn, and in all that is in the state afterwards.

Kernels that make one draw compare what they are given, and give back what NumPy has drawn; those of
joint draws and of scans draw themselves. A log density is asked for at the value before a move, at
the one after it and between them: what counts is by how much it differs.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from gibbsppl.checks.recorded_sweeps import (
    BY_DENSITY,
    CHAIN,
    LABELS,
    Recorder,
    of_families,
)
from gibbsppl.checks.tapes import Call, Tape, largest
from gibbsppl.code.loop_program import LoopProgram, Runner
from gibbsppl.code.loop_text.expressions import kernels
from gibbsppl.code.loop_text.loading import PLAIN, plain
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.runtime.loops.draws import PARTED
from gibbsppl.runtime.loops.weights import OF_WEIGHTS
from gibbsppl.runtime.tuning import OF_BATCHES, move_with_rate, tuning_arrays
from gibbsppl.runtime.types import Array, Generator

# How the kernels of loops that move by a log density begin and go on are called.
STARTS, NEXT = ("_start", "_whole_start"), "_next"
# Kernels that draw labels of many elements, and chains of which moves differ from step to step; by
# weights those that draw by logs; with parameters those that compute these.
BLOCK, BY_STEP = "labels_of_block", "_by_step"
BY_LOGS = {by_weights: by_logs for by_logs, by_weights in OF_WEIGHTS.items()}
WHOLE = {row.draw: name for name, row in PARTED.items()}


def beside(
    program: Program,
    loops: LoopProgram,
    state: State,
    rng: Generator,
    constants: Constants,
    start: State | None = None,
) -> Tape:
    """One sweep in NumPy, which changes the state, and one in loops: how far they are apart.

    That in loops begins at the same state, or at another ``start``.
    """
    before, stream = copy.deepcopy(state if start is None else start), copy.deepcopy(rng)
    tape = Tape()
    with np.errstate(all="ignore"):
        drawn = {drawn_by(n) for _, names in loops.module.imports for n in names}
        Recorder(program, tape, drawn).sweep(rng, state, constants)
        arrays, given = loops.arrays_of(before), copy.deepcopy(loops.constants)
        outputs = loops.outputs()
        records = {n: np.zeros((1, *a.shape)) for n, a in outputs.items()}
        kept = (*loops.unrecorded()[: -len(outputs) or None], *records.values())
        runner = Runner(loops, _Replay(tape).functions(loops)["run"])
        runner.record(loops.arguments(stream, arrays), 1, 1, outputs, kept)
        # (what is recorded of moves begins anew)
        known = program.deterministics(state, constants) | _rates(state, outputs)
        tape.end()
        _compare_states(tape, loops, state, arrays)
        same = stream.bit_generator.state == rng.bit_generator.state
        tape.note("sweep", "the stream at its end", is_wrong=not same, is_decision=True)
        for name, old, new in zip(loops.module.constants, given, loops.constants, strict=True):
            changed = not np.array_equal(old, new, equal_nan=True)
            tape.note(name, "a constant is changed", is_wrong=changed)
    for name, (values,) in records.items():
        tape.compare(name, "value after the sweep", values, known[name])
    return tape


def _compare_states(tape: Tape, loops: LoopProgram, state: State, arrays: State) -> None:
    """Compare all that NumPy has left in a state with the arrays of loops."""
    known = loops.sweep_value.arrays
    tuned = {n: a.shape for n, a in arrays.items() if known[n].is_tuning}
    values = {**state, **tuning_arrays(state, tuned, {n: known[n].start for n in tuned})}
    for name, array in arrays.items():
        if not (known[name].is_tuning and name.rpartition(".")[2] in OF_BATCHES):
            tape.compare(name, "value after the sweep", array, values[name])


def _rates(state: State, outputs: State) -> State:
    """The rates of moves since the draw before, of those that loops tell."""
    found: State = {}
    taken: dict[str, Any] = {}
    for name in outputs:
        if (move := move_with_rate(name)) is not None:
            step, of_move = move
            if step not in taken:
                moved = state.get("~" + step)  # (of a random scan maybe none)
                taken[step] = {} if moved is None else moved.taken()
            found[name] = taken[step].get(of_move, np.nan)
    return found


@dataclass(slots=True)
class _Asked:
    """A number moved by its log density: the call, its place there, and what was found so far."""

    call: Call
    place: int
    found: list[float] = field(default_factory=list)
    number: int = 0


@dataclass(slots=True)
class _Replay:
    """The functions of loops, their kernels comparing what they are given with a tape."""

    tape: Tape
    asked: dict[str, _Asked] = field(default_factory=dict)

    def functions(self, loops: LoopProgram) -> dict[str, Any]:
        """The functions of a text, as Python carries them out."""
        scope = plain(loops.module)
        for name in (n for _, names in loops.module.imports for n in names):
            if (instead := self._instead(name, scope[name])) is not None:
                scope[name] = instead
        return scope

    def _instead(self, name: str, kernel: Callable[..., Any]) -> Callable[..., Any] | None:
        """The function called instead of a kernel; None if the kernel draws itself."""
        for moved in {*BY_DENSITY.values()}:
            if name in {moved + ending for ending in STARTS}:
                return self._started(moved, kernel)
            if name == moved + NEXT:
                return self._gone_on(moved)
        if name == BLOCK:
            return self._block(kernel)
        is_replayed = drawn_by(name) in {*of_families(), LABELS, CHAIN}
        return self._replayed(name, kernel) if is_replayed else None

    def _block(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Draws of the labels of a block of elements, from log weights by label and element."""
        one = self._replayed(LABELS, kernel)

        def draw(rng: Generator, weights: Array, count: int, out: Array) -> None:
            if not self.tape.is_next(LABELS):  # (a scan that draws all at once)
                kernel(rng, weights, count, out)
                return
            for i in range(count):
                out[i] = one(rng, weights[:, i])

        return draw

    def _replayed(self, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """A draw whose arguments are compared, and whose value is that of NumPy.

        Where NumPy is at another draw the kernel draws for a scan, or jointly, in the same order.
        """
        own = drawn_by(name)
        has_axes = own == CHAIN or of_families().get(own, 0) > 0

        def draw(rng: Generator, *given: Any) -> Any:
            if not self.tape.is_next(own):
                return kernel(rng, *given)
            call, k = self.tape.next_draw(own)
            arguments: Sequence[Any] = given[:-1] if has_axes else given
            told = f"{name}: argument {{}} of draw {k}"
            for n, (ours, theirs, size) in enumerate(_compared(name, call, k, arguments), 1):
                self.tape.compare(call.step, told.format(n), ours, theirs, size)
            drawn = call.drawn_one(k)
            self.tape.wind(rng, call, k)
            if not has_axes:
                return drawn[()]
            given[-1][...] = drawn
            return None

        return draw

    def _started(self, kernel: str, begin: Callable[..., Any]) -> Callable[..., Any]:
        """The beginning of a move, whose arguments are compared."""
        first = [*inspect.signature(begin).parameters].index("work") + 1

        def start(*given: Any) -> None:
            call, k = self.tape.next_draw(kernel)
            for n, ours in enumerate(given[first:]):
                what = ("value", "first number", "second number", "width")[n]
                theirs, size = call.argument(n, k, ()), largest(np.asarray(call.arguments[n]))
                self.tape.compare(call.step, f"{kernel}: {what} of draw {k}", ours, theirs, size)
            self.asked[kernel] = _Asked(call, k)

        return start

    def _gone_on(self, kernel: str) -> Callable[[Generator, Any], bool]:
        """The rest of a move: log densities are compared, and it ends where that of NumPy did."""

        def go_on(rng: Generator, work: Any) -> bool:
            asked = self.asked[kernel]
            call, k = asked.call, asked.place
            if asked.number:
                asked.found.append(float(work[1]))
            if asked.number < len(call.points):
                work[0] = call.points[asked.number][k]
                asked.number += 1
                return True
            self.tape.compare_heights(call, k, asked.found)
            work[0] = call.drawn_one(k)[()]
            for place, values in call.told.items():
                work[place] = values[k]
            self.tape.wind(rng, call, k)
            return False

        return go_on


def drawn_by(name: str) -> str:
    """The kernel of whole arrays that draws what a kernel of loops does."""
    if name == BLOCK:
        return LABELS
    return BY_LOGS.get(name) or WHOLE.get(name, name.removesuffix(BY_STEP))


def _compared(
    name: str, call: Call, k: int, arguments: Sequence[Any]
) -> Iterator[tuple[Array, Array, float | None]]:
    """The arguments of a kernel of loops, those of NumPy, and the size that rounding is of."""
    given = call.arguments
    theirs: list[tuple[Array, float | None] | None] = [
        None if a is None else (call.argument(n, k, np.shape(ours)), largest(a))
        for n, (a, ours) in enumerate(zip(given, arguments, strict=False))
    ]
    if name in WHOLE:
        row, values = PARTED[WHOLE[name]], [call.argument(n, k, ()) for n in range(len(given))]
        kept = (theirs[n] for n in row.kept)
        parts = (_kernel(p.function)(*(values[n] for n in p.arguments)) for p in row.parts)
        theirs = [*kept, *((np.asarray(v), None) for v in parts)]
    # (what loops are given besides is made of the same)
    for n, (ours, found) in enumerate(zip(arguments, theirs, strict=False)):
        if found is None:
            continue
        value, size = found
        if n == 0 and (name in BY_LOGS or name == LABELS):
            # (the size of logs is what they lose)
            yield _shares(ours, is_logs=name == LABELS), _shares(value), max(1.0, size or 0.0)
        else:
            yield ours, value, size


def _kernel(name: str) -> Callable[..., Any]:
    """A kernel of loops."""
    found: Callable[..., Any] = getattr(import_module(f"{PLAIN}.{kernels()[name]}"), name)
    return found


def _shares(weights: Array, *, is_logs: bool = True) -> Array:
    """Weights, or those with some logs, as shares of the largest."""
    top = np.max(weights)
    return np.exp(weights - top) if is_logs else weights / top
