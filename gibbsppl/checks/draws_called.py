"""The arguments of draws: each call of the runtime in a sweep against its step.

The ratio check proves the conditional that ``*_given_rest`` returns. This check proves the draws of
the sweep: the function called, natural parameters, known parameters, bounds, the shape, the
elements that receive the result, that no draw reads a stale variable, in the order of the sweep,
and that the parts of kernels made of others are chosen and carried out as these say. A sweep is
carried out with the module's ``runtime`` and its ``*_given_rest`` recorded; the expected value of a
parameter follows from its name (``checks.expected_calls``), with every expression evaluated by the
plain interpreter.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl import runtime
from gibbsppl.checks.expected_calls import Call
from gibbsppl.checks.in_parts import parts_differ
from gibbsppl.checks.rebound import noted, rebound
from gibbsppl.checks.terms import Given
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import CompileError, GibbspplError
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Values
from gibbsppl.model.forward import fill
from gibbsppl.runtime.by_parts import ByParts, DrawOf
from gibbsppl.schedule.composed import Turn
from gibbsppl.schedule.staleness import read_by, stale_from
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# At most so many calls of a step that draws element by element, or colour by colour, are checked.
MOST_CALLS = 3
# A random scan and a mixture leave some steps out: sweeps go on until all have been seen. Of n
# equally likely units, one is never among the n of each sweep with a probability below exp(-20); so
# is a part of a mixture, in as many times the sweeps that come to it once on average.
MOST_SWEEPS = 20

# What a sweep does, in order: a step, by its name, or the choice of a part by the shares of all.
Choice = tuple[tuple[float, ...], int]
Order = list[str | Choice]


def calls_against_steps(
    rng: np.random.Generator,
    schedule: Schedule,
    program: Program,
    data: Values,
    state: Values,
) -> dict[str, str]:
    """For each step, the mistake in its calls in a sweep; empty if there is none."""
    recorder = _Recorder(schedule, program, data, program.prepare(data))
    recorder.state = _Watched({n: np.array(v) for n, v in state.items()}, recorder.finish)
    sweep = recorder.recorded()
    try:
        with np.errstate(all="ignore"):
            for _ in range(_most_sweeps(schedule)):
                recorder.orders.append([])
                sweep(rng, recorder.state, recorder.constants)
                recorder.finish()
                if not _never_drawn(schedule, recorder.seen):
                    break
    except (ArithmeticError, ValueError, LookupError, TypeError, GibbspplError) as error:
        told = f"its call fails with {type(error).__name__}: {error}"
        recorder.wrong.setdefault(recorder.current, told)
        never = {}  # (what comes after is not reached)
    else:
        never = dict.fromkeys(_never_drawn(schedule, recorder.seen), "it is never drawn")
    orders = recorder.orders
    wrong = never | _stale(schedule, orders) | _not_in_turn(schedule, orders) | recorder.wrong
    return {s.name: wrong.get(s.name, "") for s in schedule.steps}


def _never_drawn(schedule: Schedule, seen: Collection[str]) -> set[str]:
    """The steps to be drawn in a sweep that were not seen.

    An auxiliary variable that holds for some draws alone need not be drawn if none of them is
    carried out: the units of a scan draw the ones that they read.
    """
    every = enumerate(schedule.steps)
    read = set().union(*(read_by(schedule, j) for j, s in every if s.name in seen))
    idle = schedule.within_sweep - read
    return {s.name for s in schedule.steps if s.name not in seen and not idle >= set(s.variables)}


def _most_sweeps(schedule: Schedule) -> int:
    """How many sweeps see all steps, if all parts of mixtures are equally likely."""
    return MOST_SWEEPS * max([_one_of(c) for c in schedule.composed], default=1)


def _one_of(turn: Turn) -> int:
    """In how many times that it is carried out each step of a turn is expected, at least, once."""
    if isinstance(turn, str):
        return 1
    return max(map(_one_of, turn.parts)) * (len(turn.parts) if turn.weights else 1)


def _not_in_turn(schedule: Schedule, orders: Sequence[Order]) -> dict[str, str]:
    """Mistakes by step: parts of a kernel that are not carried out as it says."""
    for order in orders:
        at = 0
        while at < len(order):
            name = next((e for e in order[at:] if isinstance(e, str)), "")
            composed = schedule.composed_of(name)
            after = at + 1 if composed is None else _after(composed, order, at)
            if after is None or after == at:
                assert composed is not None
                told = composed.told(lambda name: name)
                return {composed.names[0]: f"what its kernel is made of is not carried out: {told}"}
            at = after
    return {}


def _after(turn: Turn, order: Order, at: int) -> int | None:
    """The place in an order after a turn that begins at a place; None if it is not carried out."""
    now = order[at] if at < len(order) else ""
    if isinstance(turn, str):
        # (what comes twice in a row is recorded once)
        return at + 1 if now == turn else at if at and order[at - 1] == turn else None
    parts = turn.parts
    if turn.weights:
        if isinstance(now, str) or now[0] != turn.shares:
            return None
        at, parts = at + 1, (parts[now[1]],)
    found: int | None = at
    for part in parts:
        found = None if found is None else _after(part, order, found)
    return found


def _stale(schedule: Schedule, orders: Sequence[Order]) -> dict[str, str]:
    """Mistakes by step: stale variables that are read, or left at the end of a sweep."""
    places = {s.name: j for j, s in enumerate(schedule.steps)}
    stale: dict[str, str] = {}
    for order in (*orders, *orders):  # (what a sweep leaves, the next one may read)
        steps = [e for e in order if isinstance(e, str)]
        for name in steps:
            try:
                stale = stale_from(schedule, (places[name],), stale)
            except CompileError as error:
                return {name: str(error)}
        for left in sorted(set(stale) - schedule.within_sweep):
            return {steps[-1]: f"{left} is stale when the sweep ends"}
    return {}


@dataclass(slots=True)
class _Recorder:
    """A program's sweep, with each drawing call of the runtime checked."""

    schedule: Schedule
    program: Program
    data: Values
    constants: Constants
    state: State = field(default_factory=dict)
    current: str = ""
    seen: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    orders: list[Order] = field(default_factory=list)
    given: Given = None
    pending: tuple[Call, ArrayLike | None] | None = None

    def recorded(self) -> Callable[..., object]:
        """The sweep, all functions of its module calling recorded ones."""
        own = self.program.sweep.__globals__
        tables = (self.program.given_rest, self.program.by_colour, self.program.scaled)
        of_steps = noted(own, tables, self._noting)
        module = rebound(own, {"runtime": _Runtime(self), **of_steps})
        if "PROBABILITIES" in module:
            possible = np.asarray(module["PROBABILITIES"]) > 0
            module["PROBABILITIES"] = possible / possible.sum()
        return module["sweep"]  # type: ignore[no-any-return]

    def _noting(self, step: str, function: Callable[..., object]) -> Callable[..., object]:
        """A step's function, wrapped so that the current step is recorded."""

        def noted(s: State, c: Constants) -> Given:
            self.finish()
            if step != self.current or step not in self.program.by_colour:
                self.current = step
            self.seen.setdefault(step, 0)
            if self.schedule.step(step).is_joint:
                self._carried_out(step)
            self.given = function(s, c)
            return self.given

        return noted

    def _carried_out(self, step: str) -> None:
        """Record a step in the order of the sweep, once for consecutive calls by element."""
        order = self.orders[-1]
        if order[-1:] != [step]:
            order.append(step)

    def chosen_part(self, rng: np.random.Generator, shares: tuple[float, ...]) -> int:
        """The part of a mixture to be carried out now, all being equally likely."""
        self.finish()
        part = int(rng.integers(len(shares)))
        self.orders[-1].append((shares, part))
        return part

    def by_parts(
        self, draw: DrawOf, rng: np.random.Generator, s: State, c: Constants, by: ByParts
    ) -> None:
        """Draw all of an array, after a look at what its parts would be drawn from."""
        self.finish()
        (name,) = (n for n in self.program.given_rest if by.tuned == f"~{n}")
        self.current = name
        if parts_differ(self.schedule.step(name), self.program.given_rest[name], dict(s), c, by):
            self.wrong.setdefault(name, "a part is drawn from other parameters than the whole")
        draw(rng, s, c)

    def called(self, name: str, arguments: Values) -> None:
        """Check the arguments of a drawing call, before the draw."""
        self.finish()
        scans = [s for s in self.schedule.steps if not s.calls_given_rest]
        own = [
            s
            for s in scans
            if arguments.get("z") is self.state[s.variables[0]]
            or arguments.get("name") == s.variables[0]
        ]
        # (statements of one array are told apart by where they draw)
        there = (s for s in own if not _call(self, s, 0).wrong_of("positions", arguments))
        self.current = next((s.name for s in (*there, *own)), self.current)
        step = self.schedule.step(self.current)
        self._carried_out(step.name)
        count = self.seen[step.name] = self.seen.get(step.name, 0) + 1
        if step.returns_arrays or (step.is_by_element and count > MOST_CALLS):
            return
        call = _call(self, step, count - 1)
        wrong = call.wrong(name, arguments)
        if wrong:
            self.wrong.setdefault(step.name, f"{name}: {wrong}")
        self.pending = (call, None)

    def drawn(self, result: ArrayLike | None) -> None:
        """Record the result of a drawing call."""
        if self.pending is not None:
            self.pending = (self.pending[0], result)

    def finish(self) -> None:
        """Check the elements that have received the last result."""
        if self.pending is not None:
            (call, result), self.pending = self.pending, None
            if wrong := call.misplaced(result, self.state):
                self.wrong.setdefault(call.step.name, wrong)


class _Watched(dict[str, Any]):
    """A state with a function called before an array is taken out."""

    def __init__(self, arrays: Values, before: Callable[[], None]) -> None:
        super().__init__(arrays)
        self.before = before

    def __delitem__(self, name: str) -> None:
        self.before()
        super().__delitem__(name)

    def pop(self, *args: Any) -> Any:
        """The array taken out."""
        self.before()
        return super().pop(*args)


class _Runtime:
    """The runtime as a generated module sees it, its draws recorded."""

    def __init__(self, recorder: _Recorder) -> None:
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        found = getattr(runtime, name)
        if found is runtime.chosen_part:
            return self._recorder.chosen_part
        if found is runtime.drawn_by_parts:
            return self._recorder.by_parts
        if not isinstance(found, FunctionType):
            return found
        signature = inspect.signature(found)
        if next(iter(signature.parameters), None) != "rng":
            return found

        def recorded(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            self._recorder.called(name, bound.arguments)
            result = found(*args, **kwargs)
            self._recorder.drawn(result)
            return result

        return recorded


def _call(recorder: _Recorder, step: Step, count: int) -> Call:
    """The call that a step makes now, its first, second, .."""
    graph, name = recorder.schedule.graph_of(step), step.variables[0]
    values = {**recorder.data, **recorder.state}
    values[name] = np.array(values[name])
    free = np.zeros(np.shape(values[name]), dtype=bool)
    for s in (s for s in step.statements if s.target.array.name == name):
        own = {**values, name: free}
        fill(s, free_elements(s, values, graph.sizes), own, graph.sizes)
    at = None
    if step.is_by_element and not step.in_one_call:
        called = recorder.program.colours.get(step.name)
        calls = list(zip(*np.nonzero(free), strict=True))
        if called is not None:
            calls = list(recorder.constants[called])
        at = tuple(calls[count % len(calls)])  # (units of a scan may come again in a sweep)
    with np.errstate(all="ignore"):
        given = recorder.program.given_rest[step.name](dict(recorder.state), recorder.constants)
    return Call(step, graph, values, given, recorder.given, free, at)
