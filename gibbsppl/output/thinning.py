"""Draws of which each variable keeps one in so many: a large one fewer than a small one.

Comes in: arrays with the draws of a run, how often each variable's are kept. Goes out: those that
are kept. One draw in ``every`` is the last of each group of so many: those with numbers ``every``,
``2 * every``, ... (1 is the first draw of the run).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd, lcm

from gibbsppl.output.arrays import Array

# Of how many draws one is kept, by variable; all are of those that are not named.
Every = Mapping[str, int]


def of_a_part(array: Array, first: int, every: int) -> Array:
    """The draws that are kept of some, along the first axis, before which there were ``first``.

    >>> import numpy as np
    >>> of_a_part(np.arange(7, 17), first=7, every=4)  # (draws 8 to 17 of the run)
    array([ 7, 11, 15])
    """
    # (a copy, as a view would keep all of them in memory)
    return array if every == 1 else array[every - 1 - first % every :: every].copy()


def rarer(every: Every, names: Iterable[str], again: int) -> tuple[dict[str, int], dict[str, int]]:
    """Each variable's step through what it keeps, and what it keeps then, of one draw in ``again``.

    A variable that keeps one draw in 10, of one in 4, keeps those with numbers 20, 40, ...: each
    second of what it had, and of the draws that are left each fifth.

    >>> rarer({"z": 10}, ["mu", "z"], 4)
    ({'mu': 4, 'z': 2}, {'z': 5})
    """
    both = {n: lcm(every.get(n, 1), again) for n in names}
    steps = {n: both[n] // every.get(n, 1) for n in both}
    return steps, {n: both[n] // again for n in both if both[n] > again}


def most_often(every: Every, names: Iterable[str]) -> int:
    """The draws of a run of which one at least is among those of some variables."""
    return gcd(*(every.get(n, 1) for n in names))


def all_at_once(every: Every, names: Iterable[str]) -> int:
    """The draws of a run of which one has all of some variables."""
    return lcm(*(every.get(n, 1) for n in names))
