"""Joint draws from a normal distribution near to the conditional, each a proposal.

The conditional is the normal distribution times a ratio. What is proposed does not depend on the
current values, and the normal density cancels: a proposal is accepted by the ratio there divided by
the ratio here (an independence Metropolis step: L. Tierney, 1994, Annals of Statistics 22, 2.3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gibbsppl.runtime.joint import Given, Joint
from gibbsppl.runtime.types import Generator, Numbers, TunedState
from gibbsppl.runtime.walks import walk_of


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
    tried = joint.draw(rng, s, coefficients)
    taken = -rng.standard_exponential() < log_ratio(tried) - before
    share = walk_of(s, name, (), scale=1.0)
    share.accepted += float(taken)
    share.proposed += 1
    return tried if taken else now
