"""Callbacks of a run: a function of the user's that sees each chain every so many sweeps.

It is called in the process of the run, between segments, wherever these are carried out; what it
sees cannot be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np

from gibbsppl.arguments import shown
from gibbsppl.errors import RunError
from gibbsppl.run.recording import Array
from gibbsppl.run.segments import Position


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A chain of a run, as it is between two sweeps; its arrays can be read, and not written to.

    ``chain`` is its number, ``sweep`` the number of sweeps that it has made in the run, warm-up
    included, and ``is_warm`` says whether that is over. ``state`` has the variables by name,
    auxiliary ones among them, as the last sweep has left them: they change when the run goes on, so
    keep copies. ``draws`` are what is kept of this chain so far, by name, with the draws along the
    first axis.
    """

    chain: int
    sweep: int
    is_warm: bool
    state: Mapping[str, Array]
    draws: Mapping[str, Array]


@dataclass(slots=True)
class Callback:
    """A function that is called with a `View` of each chain, every so many of its sweeps."""

    call: Callable[[View], object]
    every: int
    seen: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            signature(self.call).bind(None)
        except ValueError:  # (of a built-in function nobody knows)
            return
        except TypeError as error:
            name = getattr(self.call, "__name__", shown(self.call))
            raise RunError(
                f"callback: found {name}, which cannot be called with one argument ({error}); give "
                "a function of a view of a chain."
            ) from error

    def look(self, number: int, position: Position, draws: Mapping[str, Array]) -> None:
        """Call the function, if the chain has made so many sweeps since the last time."""
        sweep = position.chain.sweep - position.before
        if sweep // self.every == self.seen.get(number, 0) // self.every:
            return
        self.seen[number] = sweep
        state = {n: _read_only(a) for n, a in position.chain.state.items() if n[:1] != "~"}
        so_far = {n: _read_only(a) for n, a in draws.items()}
        self.call(View(number, sweep, position.is_warm, state, so_far))


def _read_only(value: Any) -> Array:
    """An array that can be read, and not written to."""
    found = np.asarray(value).view()
    found.flags.writeable = False
    return found
