"""From draws and CPU seconds to rates, and from the rates of two sides to a ratio with its spread.

A side is a program that runs a workload; a turn is one run of it. What counts is ``amount`` per CPU
second of sampling: effective draws of the element that mixes worst (bulk, the same function for all
sides), or sweeps where there are no draws. Warm-up and compiling are told apart and not counted.
Both sides take turns; a ratio above 1 says that gibbsppl is ahead.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from time import process_time

import jags
import numpy as np

from gibbsppl.output.diagnostics import ess_bulk, r_hat

# Chains have settled when they have so many effective draws, and no R-hat above: the limits of
# Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021), Bayesian Analysis 16(2).
ENOUGH, HIGHEST_R_HAT = 400, 1.01
# A pilot sees how long to run for so many: estimates of small sizes are high as often as low.
MARGIN = 2
QUARTERS = 4


def drawn_in(sampler, count, run):
    """Draws, and the CPU seconds that these took: warm-up, compiling and set-up are not in them."""
    sampler.sample(2, **run)
    start = process_time()
    sampler.sample(2, **run)
    before = process_time() - start
    start = process_time()
    draws = sampler.sample(count, **run)
    return draws, process_time() - start - before


@dataclass(frozen=True, slots=True)
class Turn:
    """One run: draws of each chain or sweeps, CPU seconds of these and of what came before."""

    size: int
    sampling: float
    warming: float = 0.0
    draws: Mapping | None = None  # by name, with axes (chain, draw, ...)


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a turn; of draws the element that mixes worst, and the highest R-hat."""

    size: int
    sampling: float
    warming: float
    amount: float
    element: str = ""
    r_hat: float = 1.0
    constant: int = 0  # elements that did not move at all, of which nothing can be said

    @property
    def rate(self):
        """The rate: how much comes of a CPU second."""
        return self.amount / self.sampling

    @property
    def is_settled(self):
        """Whether there are draws enough to believe the rate; sweeps always are."""
        return not self.element or (self.amount >= ENOUGH and self.r_hat <= HIGHEST_R_HAT)


def judged(turn, watched=None):
    """The amount of a turn; ``watched`` are names of elements, all of them without it."""
    seconds = turn.size, turn.sampling, turn.warming
    if turn.draws is None:
        return Found(*seconds, float(turn.size))
    assert turn.sampling > 0, turn.sampling
    scalars = jags.scalars(turn.draws)
    if watched is not None:
        missing = sorted(set(watched) - set(scalars))
        assert not missing, f"{missing}: not among the draws {sorted(scalars)[:20]}"
        scalars = {name: scalars[name] for name in watched}
    moving = [name for name, x in scalars.items() if np.ptp(x) > 0]
    assert moving, f"nothing has moved of {sorted(scalars)[:20]}"
    table = np.stack([np.asarray(scalars[name], dtype=float) for name in moving], axis=-1)
    sizes, ratios = ess_bulk(table), r_hat(table)
    worst = int(np.argmin(sizes))
    still = len(scalars) - len(moving)
    return Found(*seconds, float(sizes[worst]), moving[worst], float(ratios.max()), still)


def longer(found, least, most):
    """The size that takes ``least`` seconds, or as long as it takes to settle up to ``most``."""
    each = max(found.sampling, 1e-6) / found.size
    wanted = least / each
    if found.element:
        wanted = max(wanted, MARGIN * ENOUGH / max(found.amount, 1.0) * found.size)
    return max(1, round(min(wanted, most / each)))


def ratios(ours, theirs):
    """Turn by turn, how many times as much comes of a CPU second here as there."""
    return [o.rate / t.rate for o, t in zip(ours, theirs, strict=True)]


def spread(values):
    """The quartiles: lower, median, upper; of one value, this value."""
    if len(values) == 1:
        return (values[0],) * 3
    return tuple(statistics.quantiles(values, n=QUARTERS, method="inclusive"))
