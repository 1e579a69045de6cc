"""Where a fit starts: from the starts of a sampler, after a warm-up of draws.

Comes in: a sampler that draws, the settings of a fit. Goes out: chains. A fit climbs to the nearest
top; draws go on until they are where the posterior is, so that a fit from there is better, and
takes fewer sweeps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gibbsppl.errors import RunError
from gibbsppl.run.chains import Chain, Seed
from gibbsppl.run.choice import Asked, engine_for
from gibbsppl.run.engines import Interpreted

# Sweeps of draws before a fit by means: the bound of topics then rises no more by further ones.
WARMUP = 200


@dataclass(frozen=True, slots=True)
class Search:
    """The settings of a fit: from how many starts, until when, from where, by what.

    It begins with ``warmup`` sweeps of draws (None: the usual number), at rising powers if they
    ``anneal``. Updates are averaged over so many ``draws`` of what is drawn.
    """

    starts: int
    sweeps: int
    tolerance: float
    warmup: int | None
    anneal: bool
    seed: Seed
    init: Any
    progress: bool
    asked: Asked
    draws: int = 1

    def __post_init__(self) -> None:
        if self.anneal and self.init is not None:
            raise RunError(
                "anneal: found init=, too, of which nothing is left where powers begin; leave one "
                "of them out."
            )


def starts_of(sampler: Any, search: Search, *, beyond: bool) -> list[Chain]:
    """The chains of a fit to start from; ``beyond``: they are annealed to a mode.

    Values that the user gives are left as they are, and those that modes are searched from.
    """
    chains: list[Chain] = sampler.initial_states(search.starts, search.seed, search.init)[0]
    is_usual = search.anneal or (search.init is None and not beyond)
    sweeps = search.warmup if search.warmup is not None else WARMUP * is_usual
    if search.anneal:
        return list(sampler.annealed(chains, sweeps, search.asked, beyond=beyond))
    warm_up(sampler, chains, sweeps, search.asked)
    return chains


def warm_up(sampler: Any, chains: Iterable[Chain], sweeps: int, asked: Asked) -> None:
    """Sweep chains on, in place; in loops if that pays, whatever the fit is asked to be in."""
    if asked.backend == "compiled":
        asked = replace(asked, backend="auto")
    numpy = partial(Interpreted.of, sampler.program, sampler.prepared)
    engine = engine_for(asked, numpy, sampler.loops, sweeps, sampler.derivation.worth)
    for chain in chains:
        made = 0
        while made < sweeps:
            made += engine.sweeps(chain, sweeps - made)
        chain.sweep = 0  # (the first of the fit is yet to come)
