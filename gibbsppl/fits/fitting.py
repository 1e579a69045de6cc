"""Sweeps until a bound rises no more.

Comes in: sweeps, one chain at its start, when to stop. Goes out: the chain where it has come to,
and the bound after each sweep.

A sweep of which nothing is a draw is coordinate ascent: each step puts one factor of q, or one
point, to the best given all others, so that the bound never falls (C. M. Bishop, 2006, "Pattern
Recognition and Machine Learning", chapter 10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gibbsppl.fits.turning import Turning
from gibbsppl.model.evaluation import Floats
from gibbsppl.run.chains import Chain
from gibbsppl.run.progress import Report

FEWEST_PASSES = 4


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A chain after its sweeps, the bound after each, and whether two in a row changed little."""

    chain: Chain
    trace: Floats
    converged: bool


def fitted(
    made: Turning,
    chain: Chain,
    *,
    sweeps: int,
    tolerance: float,
    report: Report | None = None,
) -> Fitted:
    """The chain after sweeps, until the bound rises by less than ``tolerance`` of its size.

    Two sweeps in a row have to: what others read changes once more after the first. (Loops make
    some more before that is seen.)
    """
    trace: list[float] = []
    still = 0
    with np.errstate(all="ignore"):
        while len(trace) < sweeps and still < 2:
            for bound in made.bounds(chain, sweeps - len(trace)):
                trace.append(bound)
                rose = abs(trace[-1] - trace[-2]) if len(trace) > 1 else np.inf
                is_still = rose <= tolerance * (1 + abs(trace[-1]))
                still = still + 1 if is_still or still >= 2 else 0
            if report is not None:
                report(len(trace), f"bound {trace[-1]:.6g}")
    return Fitted(chain, np.array(trace), still >= 2)


def rises_no_more(bounds: Floats) -> bool:
    """Whether the mean bound of passes rises by less than the standard error of that of a pass.

    After 4, 8, 16 passes and so on: of the last half of these, over the quarter before. ``bounds``
    has a row for each pass.
    """
    passes, each = bounds.shape
    if passes < FEWEST_PASSES or passes & (passes - 1):
        return False
    now, before = bounds[passes // 2 :], bounds[passes // 4 : passes // 2]
    return bool(now.mean() - before.mean() < np.sqrt(now.var() / each))
