"""Markers of quantiles of draws that are not kept: the P-squared algorithm, extended.

A few markers stand in the order of what was seen, the first at the least number, the last at the
greatest; each has a height, and a place among all numbers so far. The place wanted of a marker is a
share of their number. One that is a whole place off is moved by one, and its height along a
parabola through its neighbours, or along a line where that would change their order (R. Jain and I.
Chlamtac, 1985, Communications of the ACM 28, 1076-1085; for several quantiles K. Raatikainen, 1987,
Simulation 49, 159-164).

`one_more` is told of a number, and is written for one set of markers, as loops call it, and for
rows of them alike, one for each of many numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import any_of, entry, kernel, where

APART: Mapping[str, str] = {}


@kernel
def stepped(below: Any, own: Any, above: Any, wanted: float) -> Any:
    """The height and the place of a marker after a step towards its wanted place, or none.

    Markers are pairs of a height and a place.
    """
    room_below, room_above = own[1] - below[1], above[1] - own[1]
    gap = wanted - own[1]
    is_up, is_down = (gap >= 1) & (room_above > 1), (gap <= -1) & (room_below > 1)
    if not any_of(is_up | is_down):
        return own
    step = where(is_up, 1.0, where(is_down, -1.0, 0.0))
    rises, falls = (own[0] - below[0]) / room_below, (above[0] - own[0]) / room_above
    share = (room_below + step) / (room_below + room_above)
    curved = own[0] + step * (share * falls + (1 - share) * rises)
    straight = own[0] + step * where(is_up, falls, rises)
    is_between = (below[0] < curved) & (curved < above[0])
    height = where(step == 0, own[0], where(is_between, curved, straight))
    return height, own[1] + step


@kernel
def one_more(heights: Any, places: Any, shares: Any, x: Any, count: int) -> None:
    """Markers after one more number, in place; with it there are ``count`` of them."""
    last = len(heights) - 1
    heights[0] = where(x < heights[0], x, heights[0])
    heights[last] = where(x > heights[last], x, heights[last])
    places[last] = places[last] + 1
    for k in range(1, last):
        places[k] = where(x < heights[k], places[k] + 1, places[k])
    for k in range(1, last):
        below, above = (heights[k - 1], places[k - 1]), (heights[k + 1], places[k + 1])
        wanted = 1 + (count - 1) * shares[k]
        heights[k], places[k] = stepped(below, (heights[k], places[k]), above, wanted)


@entry
def told(heights: Any, places: Any, shares: Any, draws: Any, count: int) -> None:
    """Markers of many numbers, by row, after more draws, in place; ``count`` came before these."""
    for i in range(draws.shape[1]):
        for k in range(draws.shape[0]):
            one_more(heights[i], places[i], shares, draws[k, i], count + k + 1)
