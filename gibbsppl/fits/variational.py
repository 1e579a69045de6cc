"""Variational fits: from a sampler to an `Approximation`."""

from __future__ import annotations

from typing import Any

from gibbsppl.fits.approximation import Approximation
from gibbsppl.fits.fitting import Fitted, fitted
from gibbsppl.fits.points import moments_at
from gibbsppl.run.chains import Chain, Seed
from gibbsppl.run.progress import reporting


def variational(  # noqa: PLR0913  (settings, all named at the call)
    read: Any,
    start: Any,
    *,
    starts: int,
    sweeps: int,
    tolerance: float,
    seed: Seed,
    init: Any,
    progress: bool,
) -> Approximation:
    """The best of several fits, each from a start of its own.

    ``read`` is the sampler whose conditionals are read otherwise, ``start`` one that draws.
    """
    schedule, program, constants = read.schedule, read.program, read.constants
    chains, _ = start.initial_states(starts, seed, init)

    def bound(chain: Chain) -> float:
        return float(program.bound(chain.state, constants))

    best: Fitted | None = None
    with reporting(starts * sweeps, "sweeps", wanted=progress) as report:
        for chain in chains:
            known = read.derivation.known
            chain.state |= moments_at(schedule, {**known, **chain.state})
            found = fitted(
                program, constants, chain, bound,
                sweeps=sweeps, tolerance=tolerance, report=report,
            )  # fmt: skip
            if best is None or found.trace[-1] > best.trace[-1]:
                best = found
    assert best is not None
    own = (schedule, program, constants, read.derivation.known)
    return Approximation(*own, best.chain.state, best.trace, best.converged, read)
