"""Simulated annealing: sweeps at powers that rise, which end near the highest density.

S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi (1983), "Optimization by simulated annealing", Science
220; S. Geman and D. Geman (1984), IEEE Transactions on Pattern Analysis and Machine Intelligence 6,
by Gibbs sampling. Comes in: a sampler, its chains. Goes out: the chains after so many sweeps. Up to
the power 1 it is that of the likelihood, from where the prior alone says something on, and the
chain comes to the posterior; beyond, that of the whole density, and it comes to a mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.run.chains import FAILURES, Chain
from gibbsppl.run.choice import Asked
from gibbsppl.runtime.types import Floats
from gibbsppl.tempering.engine import along
from gibbsppl.tempering.sampling import Compile, Hot, Sampling, hot

# The last power: values are then within a tenth of a standard deviation of a mode.
LAST = 100.0
FEWEST = 4


def annealed(
    model: Sampling,
    compiled: Compile,
    chains: Sequence[Chain],
    sweeps: int,
    asked: Asked,
    *,
    beyond: bool,
) -> list[Chain]:
    """The chains of a model after so many sweeps at powers that rise, ``beyond`` 1 if asked."""
    if sweeps < FEWEST:
        raise RunError(f"anneal: found {sweeps!r}, expected a number of sweeps from {FEWEST} on.")
    made = hot(model, compiled, beyond=beyond)
    engine = made.engine(asked, len(chains) * sweeps, (), None, 0.0).engine
    found = []
    for chain in chains:
        made.check(chain)
        (own,) = chain.rng.spawn(1)
        state = {n: chain.state[n] for n in made.names}
        moved = Chain({**state, made.graph.power: np.float64(1.0)}, chain.rng)
        made.sampler.program.augment(own, moved.state, made.sampler.prepared)
        try:
            with np.errstate(all="ignore"):
                powers = _powers(made, sweeps, own)
                told = [t[made.graph.log_likelihood]
                        for t in along(engine, moved, powers, made.graph.power)]  # fmt: skip
        except FAILURES as error:
            raise RunError(
                f"anneal: a sweep of {model.graph.name} at a power has failed ({error}); leave "
                "anneal= out, or give tighter priors."
            ) from error
        if not np.isfinite(told).all():
            raise RunError(
                f"anneal: the log likelihood of {model.graph.name} is not finite at a power, where "
                "the likelihood holds the variables too loosely; give tighter priors."
            )
        state = {n: moved.state[n] for n in made.names}
        model.program.augment(own, state, model.prepared)
        found.append(replace(chain, state=state))
    return found


def _powers(made: Hot, sweeps: int, rng: np.random.Generator) -> Floats:
    """Positive powers: half of them up to 1, then 1, or at equal ratios beyond."""
    more = sweeps // 2
    below = made.powers(sweeps - more + 1, rng)
    above = np.geomspace(1.0, LAST if made.graph.is_beyond else 1.0, more + 1)
    return np.concatenate([below[1:], above[1:]])
