"""A draw of an array some positions of its first axis at a time, so that it takes little memory.

What a draw computes on its way, a weight for each label of each element say, may take many times
the memory of what it reads. Where elements are independent given the rest, each part of them is
drawn from the same parts of all that is read: the numbers of the stream go to the elements in the
same order, so that a draw that takes one number for each element is the same as of all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.runtime.moves import Width
from gibbsppl.runtime.types import Constants, Generator, TunedState

# A function that draws an array of a state.
DrawOf = Callable[[Generator, TunedState, Any], None]


@dataclass(frozen=True, slots=True)
class ByParts:
    """The parts of an array that one call draws each.

    ``drawn`` is the array, ``size`` the name of the size of its first dim among the constants;
    ``state`` and ``data`` are the arrays that have this dim, with its axis; ``tuned`` is the name
    of what is kept of a move, ``at_once`` the number of positions of a part.
    """

    drawn: str
    size: str
    state: Mapping[str, int]
    data: Mapping[str, int]
    tuned: str
    at_once: int

    def parts(
        self, s: TunedState, c: Constants
    ) -> Iterator[tuple[TunedState, Mapping[str, Any]]]:
        """The state and the constants of each part in turn."""
        length: Any = c[self.size]
        for first in range(0, length, self.at_once):
            stop = min(first + self.at_once, length)
            own = {n: _rows(s[n], axis, first, stop) for n, axis in self.state.items() if n in s}
            if self.tuned in s:
                width: Width = s[self.tuned]
                own[self.tuned] = Width(width.value[first:stop], width.moves, width.adapting)
            read = {n: _rows(c[n], axis, first, stop) for n, axis in self.data.items()}
            yield {**s, **own}, {**c, **read, self.size: stop - first}


def drawn_by_parts(
    draw: DrawOf, rng: Generator, s: TunedState, c: Constants, by: ByParts
) -> None:
    """Draw an array of the state part by part.

    >>> by = ByParts("x", "n", {"x": 0}, {"y": 0}, "~x", 2)
    >>> def draw(rng, s, c):
    ...     s["x"] = c["y"] + rng.random(c["n"])
    >>> s, whole, c = {}, {}, {"n": 3, "y": np.array([0.0, 10.0, 20.0])}
    >>> drawn_by_parts(draw, np.random.default_rng(1), s, c, by)
    >>> draw(np.random.default_rng(1), whole, c)
    >>> np.array_equal(s["x"], whole["x"])
    True
    """
    found, widths = [], []
    for own, read in by.parts(s, c):
        draw(rng, own, read)
        found.append(own[by.drawn])
        if by.tuned in own:
            widths.append(own[by.tuned])
    s[by.drawn] = np.concatenate(found)
    if widths:
        values = np.concatenate([w.value for w in widths])
        s[by.tuned] = Width(values, widths[-1].moves, widths[-1].adapting)


def _rows(array: Any, axis: int, first: int, stop: int) -> Any:
    """A part of an array along an axis."""
    return array[(*(slice(None),) * axis, slice(first, stop))]
