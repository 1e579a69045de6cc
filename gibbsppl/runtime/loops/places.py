"""Places in tables whose numbers ascend."""

from __future__ import annotations

from gibbsppl.runtime.types import Floats

from . import inlined


@inlined
def last_at_most(numbers: Floats, x: float) -> int:
    """The last of ascending numbers that is at most ``x``; the first, where none is.

    By halves, of which no processor has to guess which one it is.
    """
    place, left = 0, len(numbers)
    while left > 1:
        half = left // 2
        place += half if numbers[place + half] <= x else 0
        left -= half
    return place
