"""Joint draws from a normal distribution near to the conditional, each a proposal.

The conditional is the normal distribution times a ratio. A proposal is the current vector turned
about the mean towards a draw, by an angle that depends on nothing: the normal density is left as it
is, so that a proposal is accepted by the ratio there divided by the ratio here. Three times in four
it is the draw itself (an independence Metropolis step: L. Tierney, 1994, Annals of Statistics 22,
2.3.3). Else the angle is smaller, often by far (S. L. Cotter, G. O. Roberts, A. M. Stuart and D.
White, 2013, Statistical Science 28): from a start in the tails, where the ratio is large, no draw
would be accepted, and chains would not move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gibbsppl.runtime.joint import Given, Joint
from gibbsppl.runtime.types import Generator, Numbers, TunedState
from gibbsppl.runtime.walks import walk_of

# How often the angle is a right one; and the power of a uniform number that others are.
RIGHT, POWER = 0.75, 4.0


def turned_by(u: float) -> float:
    """The angle by which a vector is turned towards a draw, from a uniform number.

    >>> turned_by(0.5) == math.pi / 2, turned_by(1.0)
    (True, 0.0)
    """
    return math.pi / 2 * min(1.0, (1.0 - u) / (1.0 - RIGHT)) ** POWER


@np.errstate(all="ignore")  # what is not a number, or overflows, is not accepted
def corrected_draw(
    rng: Generator,
    s: TunedState,
    name: str,
    joint: Joint,
    given: tuple[Given, Callable[[Mapping[str, Any]], float]],
) -> Mapping[str, Numbers]:
    """The arrays of a joint draw, drawn anew if that is accepted.

    ``given`` has the coefficients of the normal distribution, and the log of the ratio as a
    function of the arrays.
    """
    coefficients, log_ratio = given
    now = {n: s[n] for n in joint.arrays}
    before = log_ratio(now)
    mean, noise = joint.normal(rng, s, coefficients)
    angle = turned_by(rng.random())
    turned = mean + (joint.flat(s) - mean) * math.cos(angle) + noise * math.sin(angle)
    tried = joint.placed(s, turned)
    taken = -rng.standard_exponential() < log_ratio(tried) - before
    share = walk_of(s, name, (), scale=1.0)
    share.accepted += float(taken)
    share.proposed += 1
    return tried if taken else now
