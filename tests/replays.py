"""A sweep in plain loops beside the sweep in NumPy, from one state and one stream.

``beside(sampler, state, rng)`` makes one sweep of each and notes how far they are from one another:
in what draws are called with, in log densities, in what is drawn, in the state afterwards.

Most kernels of loops take random numbers in the order of whole arrays, and run. The others
(``APART`` in their files) are replayed where the order matters: the loops compute the arguments,
which are compared, and get what NumPy has drawn. A log density is asked for at the value before a
draw, at the one drawn and between them; what counts is by how much it differs between two points.
After the last number of a call the stream is where NumPy has left it, so that one difference does
not hide the next.
"""

import copy
import importlib
import inspect
import pkgutil
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from unittest import mock

import numpy as np

from gibbsppl import runtime
from gibbsppl.code.loop_program import Runner
from gibbsppl.code.loop_text.loading import PLAIN
from gibbsppl.code.loop_text.module import whole_text
from gibbsppl.runtime import concave, elliptical, loops, moves, tied, walks
from gibbsppl.runtime.draws import SMALL_SHAPE
from gibbsppl.runtime.loops.slices import DISTANCE
from gibbsppl.runtime.loops.walks import PROBABILITY, TAKEN
from gibbsppl.runtime.tuning import OF_BATCHES, move_with_rate, tuning_arrays

# How far arguments and log densities may be apart, for the size of their array; values afterwards.
CLOSE, AFTERWARDS = 1e-10, 1e-9

# The axes of one draw, where it is no number.
EVENTS = {
    **dict.fromkeys(("dirichlet", "multinomial", "von_mises_fisher"), 1),
    **dict.fromkeys(("wishart", "inverse_wishart"), 2),
}

# What moves numbers by their log densities: where, and the kernels that begin and go on.
BY_DENSITY = {
    "log_concave": (concave, "concave"),
    "slice_batch": (moves, "slice"),
    "slice_integers": (moves, "slice"),
    "walk_batch": (walks, "walk"),
    "along_ellipses": (elliptical, "ellipse"),
}
STARTS = {
    "concave_start": "concave",
    "slice_start": "slice",
    "slice_whole_start": "slice",
    "walk_start": "walk",
    "walk_whole_start": "walk",
    "ellipse_start": "ellipse",
}
NEXTS = {
    "concave_next": "concave",
    "slice_next": "slice",
    "walk_next": "walk",
    "ellipse_next": "ellipse",
}

# What draws by weights where whole arrays are drawn by their logs, to which a number may be added.
BY_WEIGHTS = {"shares_in": "multinomial"}

# The smallest shape of the gammas that a draw is made of, for those in order unless it is small.
SHAPES = {
    "gamma": lambda eta_1, _: eta_1 + 1.0,
    "inverse_gamma": lambda eta_1, _: -eta_1 - 1.0,
    "chi_squared": lambda eta_1: eta_1 + 1.0,
    "beta": lambda eta_1, eta_2: np.minimum(eta_1, eta_2) + 1.0,
    "wishart": lambda *_: 0.0,
}
# Of these, and of what is between bounds, even a single one is drawn otherwise.
NEVER_ALONE = ("multinomial", "polya_gamma")


@cache
def apart():
    """The kernels that take random numbers in another order than whole arrays do."""
    names = (m.name for m in pkgutil.iter_modules(loops.__path__))
    tables = [vars(importlib.import_module(f"{PLAIN}.{n}")).get("APART") for n in names]
    return {name for table in tables if isinstance(table, dict) for name in table}


def beside(sampler, state, rng, program=None):
    """One sweep in NumPy, which changes the state, and one in the loops of a program.

    What is returned has ``far``: the lines of what is farther apart than it may be.
    """
    program = sampler.loops() if program is None else program
    before, stream = copy.deepcopy(state), copy.deepcopy(rng)
    tape = Tape()
    with np.errstate(all="ignore"):
        with tape.recording():
            sampler.program.sweep(rng, state, sampler.constants)
        arrays = program.arrays_of(before)
        given = copy.deepcopy(program.constants)
        outputs = program.outputs()
        records = {n: np.zeros((1, *a.shape)) for n, a in outputs.items()}
        kept = (*program.unrecorded()[: -len(outputs) or None], *records.values())
        runner = Runner(program, tape.scope(program.module)["run"])
        runner.record(program.arguments(stream, arrays), 1, 1, outputs, kept)
        known = sampler.program.deterministics(state, sampler.constants)
        taken = {}
        for name in outputs:
            if (move := move_with_rate(name)) is not None:
                step, field = move
                if step not in taken:
                    moved = state.get("~" + step)  # (of a random scan maybe none)
                    taken[step] = {} if moved is None else moved.taken()
                known[name] = taken[step].get(field, np.nan)
        tape.compare_states(program, state, arrays)
        tape.note("stream at the end", stream.bit_generator.state != rng.bit_generator.state)
        for name, old, new in zip(program.module.constants, given, program.constants, strict=True):
            tape.note(f"constant {name} changed", not np.array_equal(old, new, equal_nan=True))
    for name, (values,) in records.items():
        tape.compare(f"deterministic {name}", values, known[name], AFTERWARDS)
    return tape


@dataclass
class Call:
    """A call of a draw of whole arrays: its arguments, what it drew, and the stream after it.

    ``points`` are where log densities are compared and ``heights`` those of NumPy; ``told`` is what
    is known of a move afterwards, by its place among the numbers that the kernel works with.
    """

    arguments: list
    drawn: np.ndarray
    stream: dict
    is_replayed: bool
    points: tuple = ()
    heights: tuple = ()
    told: dict = field(default_factory=dict)
    done: int = 0

    def argument(self, n, k, rank):
        """The argument of element k, which has so many axes of its own."""
        values = np.asarray(self.arguments[n])
        batch = self.drawn.shape[:1]
        own = values.shape[values.ndim - rank :] if rank else ()
        lead = values.shape[: values.ndim - rank]
        if lead == self.batch:
            return values.reshape((*batch, *own))[k]
        return np.broadcast_to(values, (*self.batch, *own)).reshape((*batch, *own))[k]

    batch: tuple = ()


@dataclass
class Asked:
    """A number drawn by its log density: the call, its place there, and what was found so far."""

    call: Call
    place: int
    begin: object
    found: list = field(default_factory=list)
    number: int = 0
    runs: bool = False


class Tape:
    """What the sweep in NumPy has called, by kernel, in order, and how far the loops are off."""

    def __init__(self):
        self.calls = {}
        self.differences = []
        self.depth = 0
        self.told = {}
        self.asked = {}

    # ---- differences -----------------------------------------------------------------------------

    @property
    def far(self):
        """The differences that are larger than they may be."""
        return [f"{what}: {far:.3g}" for what, far, limit in self.differences if not far <= limit]

    @property
    def farthest(self):
        """The largest difference of those that may be there."""
        return max((far for _, far, limit in self.differences if far <= limit), default=0.0)

    def note(self, what, is_wrong):
        """Note that something is wrong, if it is."""
        self.differences.append((what, float(is_wrong), 0.0))

    def compare(self, what, ours, theirs, limit, size=None):
        """Note how far two values are from one another, for their size."""
        ours, theirs = (np.asarray(v, dtype=float) for v in (ours, theirs))
        if ours.shape != theirs.shape:
            self.differences.append((f"{what}: shape {ours.shape}, {theirs.shape}", np.inf, limit))
            return
        size = largest(theirs) if size is None else size
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        far = np.where(same, 0.0, np.abs(ours - theirs) / max(size, 1e-300))
        self.differences.append((what, float(np.max(far, initial=0.0)), limit))

    def compare_states(self, program, state, arrays):
        """Compare all that NumPy has left in a state with the arrays of the loops."""
        known = program.sweep_value.arrays
        tuned = {n: a.shape for n, a in arrays.items() if known[n].is_tuning}
        values = {**state, **tuning_arrays(state, tuned, {n: known[n].start for n in tuned})}
        for name, array in arrays.items():
            if name.rpartition(".")[2] in OF_BATCHES and known[name].is_tuning:
                continue
            self.compare(f"state {name}", array, values[name], AFTERWARDS)
        for name, left in self.calls.items():
            self.note(f"{name}: {len(left)} calls that the loops do not make", bool(left))

    # ---- NumPy -----------------------------------------------------------------------------------

    @contextmanager
    def recording(self):
        """In this context, draws by NumPy are put on the tape."""
        places = [
            (runtime, name, self.recorded(name, getattr(runtime, name)))
            for name in sorted(apart() - {"chain"})
            if hasattr(runtime, name)
        ]
        places.append((runtime, "chain", self.chain_recorded(runtime.chain)))
        for name, (module, kernel) in BY_DENSITY.items():
            function = self.moved(name, kernel, getattr(module, name))
            places += [(m, name, function) for m in (runtime, module, tied) if hasattr(m, name)]
        places.append((moves.Width, "learn", self.learning(moves.Width.learn)))
        places.append((walks, "is_accepted", self.accepting(walks.is_accepted)))
        patches = [mock.patch.object(*place) for place in places]
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in patches:
                patch.stop()

    def put(self, name, call):
        """Add a call, of which no number is taken yet."""
        if len(call.drawn):
            self.calls.setdefault(name, deque()).append(call)

    def recorded(self, name, function):
        """A draw from a family that is put on the tape."""
        signature, rank = inspect.signature(function), EVENTS.get(name, 0)

        def draw(rng, *given, **named):
            if self.depth:
                return function(rng, *given, **named)
            bound = signature.bind(rng, *given, **named)
            bound.apply_defaults()
            named_apart = bound.arguments.items()
            arguments = [as_array(v) for n, v in named_apart if n not in ("rng", "size")]
            size = bound.arguments["size"]
            with self.inside():
                drawn = function(rng, *given, **named)
            batch = tuple(size[: len(size) - rank])
            if name == "multinomial":  # (a total is one number for a row)
                arguments[1] = np.broadcast_to(arguments[1], size)[..., 0]
            if rank == 1:
                arguments[0] = np.broadcast_to(arguments[0], size)
            values = np.asarray(drawn).reshape((-1, *size[len(size) - rank :]))
            replayed = is_replayed(name, arguments, len(values))
            state = rng.bit_generator.state
            self.put(name, Call(arguments, values, state, replayed, batch=batch))
            return drawn

        return draw

    def chain_recorded(self, function):
        """A draw of chains of labels that is put on the tape: each chain is one draw."""

        def draw(rng, log_weights, log_transitions, **named):
            axis = named.get("axis", 0)
            weights = np.moveaxis(np.array(log_weights), (axis + 1, 0), (-2, -1))
            moved = np.array(log_transitions)
            if moved.ndim > 2:
                moved = np.moveaxis(moved, (axis + 2, 0, 1), (-3, -2, -1))
            drawn = function(rng, log_weights, log_transitions, **named)
            along = np.moveaxis(np.asarray(drawn), axis, -1)
            values = along.reshape((-1, along.shape[-1]))
            state = rng.bit_generator.state
            call = Call([weights, moved], values, state, len(values) > 1, batch=along.shape[:-1])
            self.put("chain", call)
            return drawn

        return draw

    def moved(self, name, kernel, function):
        """A draw or move by a log density that is put on the tape."""

        def move(rng, *given, **named):
            bound = inspect.signature(function).bind(rng, *given, **named)
            bound.apply_defaults()
            own = bound.arguments
            if self.depth or not own.get("apart", True):
                return function(rng, *given, **named)
            start = np.array(own.get("start", own.get("x")))
            width = own.get("width")
            ends = ("mean", "noise") if kernel == "ellipse" else ("lower", "upper")
            ends = [np.array(own[e]) for e in ends]
            arguments = [start, *ends, *([] if width is None else [np.array(width.value)])]
            if kernel == "walk":
                arguments.append(np.array(own["walk"].log_scale))
            self.told.clear()
            with self.inside():
                drawn = function(rng, *given, **named)
                state = rng.bit_generator.state
                is_whole = name == "slice_integers" or start.dtype.kind == "i"
                points = between(start, np.asarray(drawn), is_whole=is_whole)
                heights = [np.array(own["log_density"](p[()])) for p in points]
            alone = start.ndim == 0 or (kernel in {"concave", "ellipse"} and start.size == 1)
            heights = [np.broadcast_to(h, start.shape).ravel() for h in heights]
            call = Call(
                arguments, np.asarray(drawn).ravel(), state, not alone, batch=start.shape,
                points=tuple(p.ravel() for p in points), heights=tuple(heights),
                told={place: np.ravel(values) for place, values in self.told.items()},
            )  # fmt: skip
            self.put(kernel, call)
            return drawn

        return move

    def learning(self, function):
        """What widths learn from is put on the tape."""

        def learn(width, distance):
            self.told[DISTANCE] = np.array(distance)
            return function(width, distance)

        return learn

    def accepting(self, function):
        """Which steps of walks are accepted is put on the tape."""

        def accept(rng, log_ratio):
            probability, accepted = function(rng, log_ratio)
            self.told |= {PROBABILITY: probability, TAKEN: accepted}
            return probability, accepted

        return accept

    @contextmanager
    def inside(self):
        """In this context, calls of draws are parts of one that is on the tape."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    # ---- loops -----------------------------------------------------------------------------------

    def scope(self, module):
        """The functions of a text, whose kernels compare their arguments and replay draws."""
        scope = {"__name__": "gibbsppl_loops"}
        exec(compile(whole_text(module, PLAIN), "<loops>", "exec"), scope)  # noqa: S102
        for name in (n for _, names in module.imports for n in names):
            if name in STARTS:
                scope[name] = self.started(name, scope[name])
            elif name in NEXTS:
                scope[name] = self.gone_on(NEXTS[name], scope[name])
            elif name in apart():
                scope[name] = self.replayed(name, scope[name])
        return scope

    def next_element(self, name):
        """The call that the next draw of a kernel is of, and its place there."""
        left = self.calls.get(name)
        if not left:
            raise AssertionError(f"{name}: the loops draw more than NumPy. {self.far}")
        call = left[0]
        call.done += 1
        if call.done == len(call.drawn):
            left.popleft()
        return call, call.done - 1

    def replayed(self, name, kernel):
        """A kernel that compares its arguments, and draws, or returns what NumPy has drawn."""
        own_name = "chain" if name.startswith("chain") else BY_WEIGHTS.get(name, name)
        goes_out = own_name in EVENTS or own_name == "chain"

        def draw(rng, *given):
            call, k = self.next_element(own_name)
            arguments = given[:-1] if goes_out else given
            if own_name == "chain":
                arguments = given[:2]
            elif name in BY_WEIGHTS:
                arguments = (as_logs(given[0], call.argument(0, k, 1)), given[1])
            elif len(arguments) != len(call.arguments):
                raise AssertionError(f"{name}: {len(arguments)}, {len(call.arguments)} arguments")
            for n, a in enumerate(arguments):
                if call.arguments[n] is None:
                    continue
                theirs, size = call.argument(n, k, np.ndim(a)), largest(call.arguments[n])
                self.compare(f"{name}: argument {n + 1} of draw {k}", a, theirs, CLOSE, size)
            if call.is_replayed:
                drawn = call.drawn[k]
                if goes_out:
                    given[-1][...] = drawn
            else:
                drawn = kernel(rng, *given)
                found = given[-1] if goes_out else drawn
                self.compare(
                    f"{name}: draw {k}", found, call.drawn[k], AFTERWARDS, largest(call.drawn)
                )
            self.wind(rng, name, call, k)
            return None if goes_out else drawn[()] if call.is_replayed else drawn

        return draw

    def wind(self, rng, name, call, k):
        """After the last draw of a call: the stream where NumPy has left it."""
        if k < len(call.drawn) - 1:
            return
        if not call.is_replayed:
            self.note(f"{name}: stream", rng.bit_generator.state != call.stream)
        rng.bit_generator.state = copy.deepcopy(call.stream)

    def started(self, name, begin):
        """The beginning of a draw by a log density, whose arguments are compared."""
        kernel = STARTS[name]

        def start(*given):
            skipped = 2 if name == "slice_whole_start" else 1
            call, k = self.next_element(kernel)
            for n, a in enumerate(given[skipped:]):
                theirs, size = call.argument(n, k, 0), largest(call.arguments[n])
                what = ("value", "first number", "second number", "width")[n]
                self.compare(f"{kernel}: {what} of draw {k}", a, theirs, CLOSE, size)
            self.asked[kernel] = Asked(call, k, lambda: begin(*given))

        return start

    def gone_on(self, kernel, more):
        """What asks for log densities: first where they are compared, then for the draw."""

        def go_on(rng, work):
            asked = self.asked[kernel]
            call, k = asked.call, asked.place
            if not asked.runs:
                if asked.number:
                    asked.found.append(float(work[1]))
                if asked.number < len(call.points):
                    work[0] = call.points[asked.number][k]
                    asked.number += 1
                    return True
                self.compare_heights(kernel, call, k, asked.found)
                if call.is_replayed:
                    work[0] = call.drawn[k]
                    for place, values in call.told.items():
                        work[place] = values[k]
                    self.wind(rng, kernel, call, k)
                    return False
                asked.begin()
                asked.runs = True
            if more(rng, work):
                return True
            size = largest(call.drawn)
            self.compare(f"{kernel}: draw {k}", work[0], call.drawn[k], AFTERWARDS, size)
            self.wind(rng, kernel, call, k)
            return False

        return go_on

    def compare_heights(self, kernel, call, k, ours):
        """Compare the differences of log densities between points."""
        ours = np.array(ours)
        theirs = np.array([h[k] for h in call.heights])
        finite = np.isfinite(theirs) & np.isfinite(ours)
        impossible = [np.isnan(f) | (f == -np.inf) for f in (ours, theirs)]
        what = f"{kernel}: log density of draw {k}"
        self.note(f"{what}: where it is finite", (impossible[0] != impossible[1]).any())
        if finite.any():
            size = max(largest(ours[finite]), largest(theirs[finite]))
            first = np.flatnonzero(finite)[0]
            steps = [(f - f[first])[finite] for f in (ours, theirs)]
            self.compare(what, *steps, CLOSE, size)


def is_replayed(name, arguments, count):
    """Whether the random numbers of a call come in another order than number by number."""
    if name in NEVER_ALONE or name.startswith("truncated"):
        return True
    if count == 1:
        return False
    if name == "dirichlet":
        shapes = np.asarray(arguments[0]) + 1.0
        return bool((shapes.sum(axis=-1) < 1.0).any() or (shapes <= 0.0).any())
    return name not in SHAPES or bool(np.min(SHAPES[name](*arguments)) < SMALL_SHAPE)


def between(start, drawn, *, is_whole):
    """The points at which log densities are compared."""
    if is_whole:
        return start, drawn, (start + drawn) // 2
    return start, drawn, start + (drawn - start) * 0.375


def as_logs(weights, logs):
    """The logs of weights, the largest of which is as large as that of some logs."""
    with np.errstate(divide="ignore"):
        found = np.log(weights)
    return found - np.max(found) + np.max(logs)


def as_array(value):
    """A copy of an argument; None of what is none."""
    found = np.array(value)
    return found if found.dtype.kind in "biuf" else None


def largest(values):
    """The size of the largest of some numbers that is finite."""
    sizes = np.abs(np.asarray(values, dtype=float))
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
