"""Plans of this process: what was made for some data serves other data with all the same answers.

Comes in: a digest of all but the values of data; then data. Goes out: what was made, for these
data, if some were held that gave the same answers to all that was asked.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from gibbsppl.model.asked import Kept
from gibbsppl.model.evaluation import Values

# So many digests are held, those that were used last; of each, so many plans.
MOST_HELD, MOST_OF_ONE = 32, 4

# What was asked of the data that a plan was made for, and how it is made of other data.
Plan = tuple[Kept, Callable[[Values], Any]]

_held: OrderedDict[bytes, list[Plan]] = OrderedDict()


def plan_of(key: bytes, data: Values) -> Any:
    """What a plan that is held makes of data; None if none serves them."""
    for asked, on in _held.get(key, ()):
        if asked.holds(data):
            _held.move_to_end(key)
            return on(data)
    return None


def hold(key: bytes, asked: Kept | None, on: Callable[[Values], Any]) -> None:
    """Hold a plan, which keeps no data alive; none where nobody knows what was asked."""
    if asked is None:
        return
    plans = _held.setdefault(key, [])
    plans.insert(0, (asked, on))
    del plans[MOST_OF_ONE:]
    while len(_held) > MOST_HELD:
        _held.popitem(last=False)
