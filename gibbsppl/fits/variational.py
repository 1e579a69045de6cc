"""Fits by other readings than draws: from a sampler to an `Approximation`, or an `Optimum`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gibbsppl.fits.approximation import Approximation
from gibbsppl.fits.fitting import Fitted, fitted
from gibbsppl.fits.optimum import Optimum
from gibbsppl.fits.points import moments_at
from gibbsppl.fits.turning import Turning
from gibbsppl.run.chains import Seed
from gibbsppl.run.choice import Asked
from gibbsppl.run.progress import reporting


@dataclass(frozen=True, slots=True)
class Search:
    """The settings of a fit: from how many starts, until when, from where, by what."""

    starts: int
    sweeps: int
    tolerance: float
    seed: Seed
    init: Any
    progress: bool
    asked: Asked


def variational(read: Any, start: Any, search: Search) -> Approximation:
    """The approximation of the highest bound.

    ``read`` is the sampler whose conditionals are read otherwise, ``start`` one that draws.
    """
    best = _best(read, start, search)
    own = (read.schedule, read.program, read.constants, read.derivation.known)
    return Approximation(*own, best.chain.state, best.trace, best.converged, read)


def maximised(read: Any, start: Any, search: Search) -> Optimum:
    """The highest optimum."""
    best = _best(read, start, search)
    own = (read.schedule, read.program, read.constants, read.derivation.known)
    return Optimum(*own, best.chain.state, best.trace, best.converged, read)


def _best(read: Any, start: Any, search: Search) -> Fitted:
    """The best of several fits, each from a start of its own."""
    known = read.derivation.known
    made = Turning.of(read, search.asked)
    chains, _ = start.initial_states(search.starts, search.seed, search.init)
    best: Fitted | None = None
    with reporting(
        search.starts * search.sweeps, "sweeps", wanted=search.progress
    ) as report:
        for chain in chains:
            chain.state |= moments_at(read.schedule, {**known, **chain.state})
            found = fitted(
                made, chain, sweeps=search.sweeps, tolerance=search.tolerance, report=report
            )
            made.spread(chain, found.trace[-1])
            if best is None or found.trace[-1] > best.trace[-1]:
                best = found
    assert best is not None
    return best
