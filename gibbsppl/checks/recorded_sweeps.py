"""A sweep in NumPy whose draws are put on a tape, with what they were given.

Recorded are draws from families and of labels, and moves by log densities: those of which loops
have a kernel that makes one draw. Joint draws and scans, which have kernels of their own, take
random numbers in one order, and can be made anew from the same stream.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from gibbsppl import runtime
from gibbsppl.checks.rebound import noted, rebound
from gibbsppl.checks.tapes import Call, Tape
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.families import FAMILIES
from gibbsppl.runtime import concave, elliptical, moves, tied, walks
from gibbsppl.runtime.loops.slices import DISTANCE
from gibbsppl.runtime.loops.walks import PROBABILITY, TAKEN
from gibbsppl.runtime.types import Array, Flags, Floats, Generator, Numbers, Values

# The functions that draw labels, and chains of them; the kernels of loops are called so, too.
LABELS, CHAIN = "labels", "chain"
# The functions that move numbers by their log densities, and the kernel of loops of each.
BY_DENSITY: Mapping[str, str] = {
    "log_concave": "concave",
    "slice_batch": "slice",
    "slice_integers": "slice",
    "walk_batch": "walk",
    "along_ellipses": "ellipse",
}
# The modules with these functions and with those that call them; later ones call earlier ones.
MOVES = (concave, moves, walks, elliptical, tied)
# The ends of what is moved to, by the kernel, and how far steps go.
ENDS: Mapping[str, tuple[str, str]] = {"ellipse": ("mean", "noise")}
BOUNDS = ("lower", "upper")
# Between the value before a move and the one after it, where log densities are compared.
BETWEEN = 0.375


@cache
def of_families() -> Mapping[str, int]:
    """The number of axes of one draw, by the functions that draw from families."""
    rows = ((f.natural, f.event) for f in FAMILIES.values() if f.natural is not None)
    named = ((n, event) for own, event in rows for n in (own.draw, own.truncated, own.over_relaxed))
    return {name: event for name, event in named if name is not None}


@dataclass(slots=True)
class Recorder:
    """Sweeps of a program, in copies of its functions that put what they draw on a tape.

    Of draws those by ``kernels`` are recorded, and all moves by log densities.
    """

    program: Program
    tape: Tape
    kernels: Collection[str]
    step: str = "draws"

    def sweep(self, rng: Generator, s: State, c: Constants) -> None:
        """One sweep, which changes the state."""
        own = self.program.sweep.__globals__
        of_steps = noted(own, (self.program.given_rest, self.program.by_colour), self._noting)
        recorded = _Runtime(self._recorded())
        rebound(own, {"runtime": recorded, **of_steps})["sweep"](rng, s, c)

    def _noting(self, step: str, function: Callable[..., object]) -> Callable[..., object]:
        """A step's function, wrapped so that the step whose draws come is known."""

        def note(s: State, c: Constants) -> object:
            self.step = step
            return function(s, c)

        return note

    def _recorded(self) -> dict[str, Any]:
        """The functions of the runtime that are recorded, or call such ones, by name."""
        drawn = of_families().keys() & self.kernels
        found: dict[str, Any] = {n: self._of_family(n, getattr(runtime, n)) for n in drawn}
        labels = {LABELS: self._of_labels, CHAIN: self._of_chains}
        found |= {n: f for n, f in labels.items() if n in self.kernels}
        instead: dict[Any, Any] = {}  # (modules have functions of one name)
        for module in MOVES:
            own = vars(module)
            functions = {n: f for n, f in own.items() if isinstance(f, FunctionType)}
            for name in BY_DENSITY.keys() & functions.keys():
                if functions[name] not in instead:
                    instead[functions[name]] = self._of_move(name, functions[name])
            made = rebound(own, {n: instead[f] for n, f in functions.items() if f in instead})
            instead |= {f: made[n] for n, f in functions.items() if made[n] is not f}
        every = vars(runtime).items()
        moved = {n: instead[f] for n, f in every if isinstance(f, FunctionType) and f in instead}
        return found | moved

    def _put(self, kernel: str, arguments: list[Any], drawn: Any, rank: int, **more: Any) -> None:
        values = np.array(drawn)
        batch = values.shape[: values.ndim - rank]
        given = [*map(_numbers, arguments)]
        self.tape.put(Call(kernel, self.step, given, values, batch, **more))

    def _of_family(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Draws from a family."""
        signature, rank = inspect.signature(function), of_families()[name]

        def draw(rng: Generator, *given: Any, **named: Any) -> Any:
            bound = signature.bind(rng, *given, **named)
            bound.apply_defaults()
            given_to = bound.arguments
            drawn = function(rng, *given, **named)
            arguments = [v for n, v in given_to.items() if n not in ("rng", "size")]
            values = np.broadcast_to(drawn, given_to["size"])
            self._put(name, arguments, values, rank, stream=rng.bit_generator.state)
            return drawn

        return draw

    def _of_labels(self, rng: Generator, log_weights: Floats | runtime.LogWeights) -> Any:
        """Draws of labels, each from the weights of its own."""
        drawn = runtime.labels(rng, log_weights)
        weights = np.moveaxis(np.asarray(log_weights), 0, -1)
        values = np.broadcast_to(drawn, weights.shape[:-1])
        self._put(LABELS, [weights], values, 0, stream=rng.bit_generator.state)
        return drawn

    def _of_chains(self, rng: Generator, log_weights: Floats, moves: Floats, **named: Any) -> Any:
        """Draws of chains of labels: each chain is one draw."""
        axis = named.get("axis", 0)
        weights = np.moveaxis(np.asarray(log_weights), (axis + 1, 0), (-2, -1))
        between = np.asarray(moves)
        if between.ndim > 2:
            between = np.moveaxis(between, (axis + 2, 0, 1), (-3, -2, -1))
        drawn = runtime.chain(rng, log_weights, moves, **named)
        along = np.moveaxis(np.asarray(drawn), axis, -1)
        self._put(CHAIN, [weights, between], along, 1, stream=rng.bit_generator.state)
        return drawn

    def _of_move(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Draws and moves by log densities."""
        kernel, signature, told = BY_DENSITY[name], inspect.signature(function), _Told()
        own = inspect.unwrap(function).__globals__
        telling = rebound(own, told.changed(own))[name]

        def move(rng: Generator, *given: Any, **named: Any) -> Any:
            bound = signature.bind(rng, *given, **named)
            bound.apply_defaults()
            of = bound.arguments
            if not of.get("apart", True):
                return function(rng, *given, **named)
            start = np.array(of.get("start", of.get("x")))
            arguments = [start, *(of[e] for e in ENDS.get(kernel, BOUNDS))]
            if (width := of.get("width")) is not None:
                arguments.append(np.array(width.value))
                of["width"] = _Learning(width, told)
            if "walk" in of:
                arguments.append(np.array(of["walk"].log_scale))
            told.found.clear()
            drawn = telling(**of)
            state, points = rng.bit_generator.state, _between(start, np.asarray(drawn))
            heights = [np.broadcast_to(of["log_density"](p[()]), start.shape) for p in points]
            self._put(
                kernel, arguments, np.broadcast_to(drawn, start.shape), 0, stream=state,
                points=tuple(p.ravel() for p in points), heights=tuple(h.ravel() for h in heights),
                told={n: np.broadcast_to(v, start.shape).ravel() for n, v in told.found.items()},
            )  # fmt: skip
            return drawn

        return move


@dataclass(slots=True)
class _Told:
    """Facts of moves known afterwards, by their places among the numbers that kernels work with."""

    found: dict[int, Any] = field(default_factory=dict)

    def changed(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Of the functions of a module, those that tell something."""
        return {"is_accepted": self._accepting} if "is_accepted" in own else {}

    def _accepting(self, rng: Generator, log_ratio: Numbers) -> tuple[Floats, Flags]:
        """Whether steps of walks are accepted, and with what probability."""
        probability, accepted = walks.is_accepted(rng, log_ratio)
        self.found |= {PROBABILITY: probability, TAKEN: accepted}
        return probability, accepted


class _Learning:
    """Typical widths of slices, with how far the moves went that they learn from."""

    def __init__(self, width: moves.Width, told: _Told) -> None:
        self._width, self._told = width, told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._width, name)

    def learn(self, distance: Floats) -> None:
        """Take in how far the last moves went."""
        self._told.found[DISTANCE] = np.array(distance)
        self._width.learn(distance)


class _Runtime:
    """The runtime as a generated module sees it, some of its functions recorded."""

    def __init__(self, recorded: Mapping[str, Any]) -> None:
        self._recorded = recorded

    def __getattr__(self, name: str) -> Any:
        return self._recorded.get(name, getattr(runtime, name))


def _between(start: Array, drawn: Array) -> tuple[Array, Array, Array]:
    """The points at which log densities are compared: whole numbers between whole ones."""
    if drawn.dtype.kind == "i":
        return start, drawn, (start + drawn) // 2
    return start, drawn, start + (drawn - start) * BETWEEN


def _numbers(value: Values | None) -> Array | None:
    """A copy of an argument; None of what has no numbers."""
    found = np.array(value)
    return found if found.dtype.kind in "biuf" else None
