"""Tapes of the draws of a sweep in NumPy, and how far a sweep in loops is from these."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.runtime.types import Array, Generator


@dataclass(slots=True)
class Call:
    """A call of a kernel that draws whole arrays: arguments, what it drew, the stream after it.

    ``drawn`` has the axes of ``batch``, and those of one draw. Of what is moved by a log density,
    ``heights`` are its values at ``points``; ``told`` is what else is known of each move, by its
    place among the numbers that a kernel of loops works with. ``done`` of the draws have been made
    anew by loops.
    """

    kernel: str
    step: str
    arguments: Sequence[Array | None]
    drawn: Array
    batch: tuple[int, ...]
    stream: Mapping[str, Any]
    points: tuple[Array, ...] = ()
    heights: tuple[Array, ...] = ()
    told: Mapping[int, Array] = field(default_factory=dict)
    done: int = 0

    @property
    def count(self) -> int:
        """How many draws it made."""
        return int(np.prod(self.batch))

    def drawn_one(self, k: int) -> Array:
        """The value of draw k."""
        own = self.drawn.shape[len(self.batch) :]
        return np.asarray(self.drawn.reshape((-1, *own))[k])

    def argument(self, n: int, k: int, shape: tuple[int, ...]) -> Array:
        """An argument of draw k, which has a shape of its own."""
        values, event = np.asarray(self.arguments[n]), self.drawn.ndim - len(self.batch)
        is_batch = bool(shape) or values.shape == self.batch
        if not is_batch and event and values.shape[-event:] == (1,) * event:
            values = values.reshape(values.shape[:-event])  # (one number for all of a draw)
        own = np.broadcast_shapes(values.shape[values.ndim - len(shape) :], shape)
        return np.asarray(np.broadcast_to(values, (*self.batch, *own)).reshape((-1, *own))[k])


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two values are from one another, for their size; ``step`` is what they are of.

    A rounding may turn a decision, such as which label is drawn, and what follows from it.
    """

    step: str
    what: str
    far: float
    is_decision: bool = False

    @property
    def is_far(self) -> bool:
        """Whether they are further apart than rounding explains."""
        return not self.far <= RELATIVE_TOLERANCE

    def __str__(self) -> str:
        return f"{self.step}: {self.what}: {self.far:.3g}"


@dataclass(slots=True)
class Tape:
    """The calls of a sweep in NumPy, in order, and how far loops are off."""

    calls: deque[Call] = field(default_factory=deque)
    differences: list[Difference] = field(default_factory=list)

    @property
    def far(self) -> list[str]:
        """The differences that are larger than rounding explains."""
        return [str(d) for d in self.differences if d.is_far]

    def put(self, call: Call) -> None:
        """Add a call, none of whose draws has been made by loops."""
        if call.count:
            self.calls.append(call)

    def is_next(self, kernel: str) -> bool:
        """Whether the next draw is one by a kernel."""
        return bool(self.calls) and self.calls[0].kernel == kernel

    def next_draw(self, kernel: str) -> tuple[Call, int]:
        """The call that the next draw by a kernel of loops is of, and its place there."""
        if not self.is_next(kernel):
            raise LookupError(f"loops draw by {kernel} where the sweep in NumPy does not")
        call = self.calls[0]
        call.done += 1
        if call.done == call.count:
            self.calls.popleft()
        return call, call.done - 1

    def wind(self, rng: Generator, call: Call, k: int) -> None:
        """After the last draw of a call, leave the stream where NumPy has left it.

        One difference does not hide the next then.
        """
        if k == call.count - 1:
            rng.bit_generator.state = copy.deepcopy(call.stream)

    def end(self) -> None:
        """Note calls that loops have not made."""
        for call in self.calls:
            told = f"{call.kernel}: {call.count - call.done} draws that loops do not make"
            self.note(call.step, told, is_wrong=True)

    # ---- differences -----------------------------------------------------------------------------

    def note(self, step: str, what: str, *, is_wrong: bool, is_decision: bool = False) -> None:
        """Note whether something is wrong."""
        far = np.inf if is_wrong else 0.0
        self.differences.append(Difference(step, what, far, is_decision))

    def compare(
        self, step: str, what: str, ours: ArrayLike, theirs: ArrayLike, size: float | None = None
    ) -> None:
        """Note how far two values are from one another, for their size."""
        ours, theirs = (np.asarray(v, dtype=float) for v in (ours, theirs))
        if ours.shape != theirs.shape:
            told = f"{what}: shape {ours.shape}, not {theirs.shape}"
            self.differences.append(Difference(step, told, np.inf))
            return
        size = largest(theirs) if size is None else size
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        far = np.where(same, 0.0, np.abs(ours - theirs) / max(size, np.finfo(float).tiny))
        self.differences.append(Difference(step, what, float(np.max(far, initial=0.0))))

    def compare_heights(self, call: Call, k: int, found: Sequence[float]) -> None:
        """Compare by how much log densities differ between points."""
        ours, theirs = np.array(found), np.array([h[k] for h in call.heights])
        # (what is no number is impossible, as minus infinity is; plus infinity is another matter)
        kinds = [np.where(np.isfinite(f), 0, np.where(f == np.inf, 1, -1)) for f in (ours, theirs)]
        what = f"{call.kernel}: log density of draw {k}"
        is_wrong = bool((kinds[0] != kinds[1]).any())
        told = f"{what}: where it is finite"
        self.note(call.step, told, is_wrong=is_wrong, is_decision=True)
        finite = np.isfinite(theirs) & np.isfinite(ours)
        if finite.any():
            size = max(largest(ours[finite]), largest(theirs[finite]))
            ours, theirs = ours[finite], theirs[finite]
            self.compare(call.step, what, ours - ours[0], theirs - theirs[0], size)


def largest(values: ArrayLike) -> float:
    """The size of the largest of some numbers that is finite."""
    sizes = np.abs(np.asarray(values, dtype=float))
    return float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
