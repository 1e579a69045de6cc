"""Fits by other readings than draws: from a sampler to an `Approximation`, or an `Optimum`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.fits.approximation import Approximation
from gibbsppl.fits.fitting import Fitted, fitted
from gibbsppl.fits.monte_carlo import MonteCarlo, Rested
from gibbsppl.fits.optimum import Optimum
from gibbsppl.fits.points import moments_at
from gibbsppl.fits.starting import Search, starts_of
from gibbsppl.fits.turning import Turning
from gibbsppl.run.progress import reporting


def variational(read: Any, start: Any, search: Search) -> Approximation:
    """The approximation of the highest bound.

    ``read`` is the sampler whose conditionals are read otherwise, ``start`` one that draws.
    """
    best = _best(read, start, search)
    own = (read.schedule, read.program, read.constants, read.derivation.known)
    return Approximation(*own, best.chain.state, best.trace, best.converged, read)


def maximised(read: Any, start: Any, search: Search) -> Optimum:
    """The highest optimum; of Monte Carlo EM where some variables are drawn."""
    own = (read.schedule, read.program, read.constants, read.derivation.known)
    if search.draws < 1:
        raise RunError(f"draws: found {search.draws}, expected a whole number from 1 on.")
    if any(s.instead_of is None for s in read.schedule.steps):
        found = _rested(read, start, search)
        state, told = found.chain.state, (found.trace, found.converged, read)
        return Optimum(*own, state, *told, found.natural, found.of_last)
    if search.draws != 1:
        raise RunError(
            f"draws: found {search.draws}, and nothing is drawn; name variables that are, as "
            'by={"z": "draw"}, or leave it out.'
        )
    best = _best(read, start, search)
    return Optimum(*own, best.chain.state, best.trace, best.converged, read)


def _rested(read: Any, start: Any, search: Search) -> Rested:
    """The best of several fits by draws, by the mean objective of their last sweeps."""
    if search.asked.backend == "compiled":
        raise RunError(
            "backend: found 'compiled', and fits by draws are in NumPy alone; leave it out."
        )
    made, found = MonteCarlo.of(read, search.draws), list[Rested]()
    total = search.starts * search.sweeps
    with (
        np.errstate(all="ignore"),
        reporting(total, "sweeps", wanted=search.progress) as report,
    ):
        for chain in starts_of(start, search, beyond=True):
            chain.state |= moments_at(read.schedule, {**read.derivation.known, **chain.state})
            found.append(made.rested(chain, search.sweeps, report))
    return max(found, key=lambda r: float(r.trace[-r.of_last :].mean()))


def _best(read: Any, start: Any, search: Search) -> Fitted:
    """The best of several fits, each from a start of its own."""
    known = read.derivation.known
    all_means = all(s.by == "mean" for s in read.schedule.steps)
    made = Turning.of(read, search.asked)
    best: Fitted | None = None
    with reporting(
        search.starts * search.sweeps, "sweeps", wanted=search.progress
    ) as report:
        for chain in starts_of(start, search, beyond=not all_means):
            chain.state |= moments_at(read.schedule, {**known, **chain.state})
            found = fitted(
                made, chain, sweeps=search.sweeps, tolerance=search.tolerance, report=report
            )
            made.spread(chain, found.trace[-1])
            if best is None or found.trace[-1] > best.trace[-1]:
                best = found
    assert best is not None
    return best
