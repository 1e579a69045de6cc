"""Ladders of powers: where they stand, so that neighbours swap equally often, and how many.

Comes in: powers, and the share of swaps of neighbours that were refused. Goes out: other powers.
The sum of the shares up to a power is the *communication barrier* there, which hardly depends on
the ladder (S. Syed, A. Bouchard-Cote, G. Deligiannidis and A. Doucet, 2022, "Non-reversible
parallel tempering", Journal of the Royal Statistical Society B 84): powers at equal steps of it
swap equally often, and with steps of 1/2 states go from end to end with the least work.

>>> steps_of(2.2)
5
>>> moved([0.0, 0.5, 1.0], [0.9, 0.1], 4).round(3)
array([0.   , 0.139, 0.278, 0.417, 1.   ])
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.runtime.types import Floats

# The share of swaps refused at which states go from end to end with the least work.
REFUSED = 0.5
# Where no two neighbours ever swap, they are as good as at the end of what can be told.
LEAST = 1e-3
# Draws that have quartiles.
FEWEST = 4


def steps_of(barrier: float, refused: float = REFUSED) -> int:
    """The number of steps of a ladder across a barrier, of which each refuses such a share."""
    return max(1, math.ceil(barrier / refused))


def moved(powers: ArrayLike, refused: ArrayLike, steps: int) -> Floats:
    """Powers at equal steps of the barrier, between the same ends.

    ``refused`` is the share of swaps refused by each pair of neighbours. The barrier rises evenly
    between powers, and a little wherever there is no sign of it.
    """
    shares = np.maximum(np.asarray(refused, dtype=float), LEAST)
    barrier = np.concatenate([[0.0], np.cumsum(shares)])
    found: Floats = np.interp(
        np.linspace(0.0, barrier[-1], steps + 1), barrier, np.asarray(powers, dtype=float)
    )
    return found


def first(log_likelihoods: Floats, steps: int) -> Floats | None:
    """A ladder to begin with, given log likelihoods of draws of the prior; None if these tell none.

    The first power is that at which the middle half of the prior, of what has a likelihood, differs
    by one; then they rise in proportion.
    """
    found = log_likelihoods[np.isfinite(log_likelihoods)]
    if len(found) < FEWEST:
        return None
    low, high = np.quantile(found, [0.25, 0.75], method="nearest")
    return np.concatenate([[0.0], between(1.0 / max(1.0, high - low), steps - 1)])


def between(least: float, steps: int, last: float = 1.0) -> Floats:
    """Powers that rise in proportion from the least one to the last.

    >>> between(0.25, 4, last=4.0)
    array([0.25, 0.5 , 1.  , 2.  , 4.  ])
    """
    if steps < 1 or least >= last:
        return np.full(1, last)
    return np.asarray(np.exp(np.linspace(math.log(least), math.log(last), steps + 1)))
