"""The evidence: the log marginal likelihood of a model, with its error, and how it was found.

Comes in: a sampler, a method. Goes out: an `Evidence`. Each method is a row of `METHODS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gibbsppl.errors import RunError, counted, did_you_mean
from gibbsppl.html import Printed
from gibbsppl.run.chains import Chain
from gibbsppl.run.choice import Asked
from gibbsppl.run.sampling import run
from gibbsppl.runtime.types import Floats
from gibbsppl.tempering import stones
from gibbsppl.tempering.chib import chib, exchangeable, is_suited
from gibbsppl.tempering.engine import RUNGS
from gibbsppl.tempering.ladder import first
from gibbsppl.tempering.sampling import (
    STEPS,
    Compile,
    Sampling,
    check_draws,
    hot,
    prior_of,
)
from gibbsppl.tempering.stones import Estimate, combined

# The share of swaps refused: half of what is best for trips from end to end, as the variance of
# ratios of neighbours rises faster than their distance.
REFUSED = 0.25
FEWEST_DRAWS = 4


@dataclass(frozen=True, slots=True)
class Evidence(Printed):
    """The log marginal likelihood of a model, with its standard error.

    ``value`` is ``log p(data)``, constants included: the log of the integral of the declared
    density over all latent variables. ``error`` is the Monte Carlo standard error of ``value``;
    of a lower bound it is infinite, as no one knows how far above it the evidence is.
    ``method`` says how it was found, ``why`` why in this way, ``work`` how much was drawn;
    ``warnings`` what may be wrong with it.
    """

    value: float
    error: float
    method: str
    why: str
    work: str
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if np.isinf(self.error):
            first_line = f"log evidence at least {self.value:.7g}"
        else:
            least = max(self.error, np.spacing(abs(self.value)))
            digits = max(0, 1 - int(np.floor(np.log10(least))))
            first_line = f"log evidence {self.value:.{digits}f}, standard error {self.error:.2g}"
        lines = (
            first_line,
            f"by {self.method}: {self.why}",
            self.work,
        )
        return "\n".join((*lines, *(f"Beware: {w}" for w in self.warnings)))


@dataclass(frozen=True, slots=True)
class Run:
    """The settings of the runs that a method makes; ``starts`` has chains, and notes on these."""

    starts: Callable[[], tuple[list[Chain], Any]]
    asked: Asked
    draws: int
    warmup: int
    progress: bool


def _along_powers(
    name: str,
    about: str,
    estimate: Callable[[Floats, Floats], Estimate],
    model: Sampling,
    compiled: Compile,
    settings: Run,
) -> Evidence:
    """The evidence by an estimate of log likelihoods at all powers, from tempered chains."""
    made, starts = hot(model, compiled), settings.starts()[0]
    sweeps = len(starts) * (settings.warmup + settings.draws)
    engine = made.engine(settings.asked, sweeps, (), None, REFUSED)
    result = run(
        made.sampler.program,
        made.sampler.prepared,
        [made.start(engine, s, with_prior=True) for s in starts],
        engine=engine,
        draws=settings.draws,
        warmup=settings.warmup,
        keep=[made.graph.log_likelihood],
        progress=settings.progress,
    )
    rungs = [c.state[RUNGS] for c in result.chains]
    each = [estimate(r.powers, r.seen.log_likelihoods) for r in rungs]
    found = combined(each)
    if not np.isfinite(found.value):
        raise RunError(
            f"{model.graph.name}: found no finite evidence by {name}: the likelihood is zero for "
            "draws of the prior; use method='stepping stone' with more draws, or a narrower prior."
        )
    powers = sorted({len(r.powers) for r in rungs})
    some = " to ".join(map(str, powers[:: max(1, len(powers) - 1)]))
    work = f"{counted(len(rungs), 'chain')}, {counted(settings.draws, 'draw')} at {some} powers"
    return Evidence(found.value, found.error, name, about, work)


def check_prior(model: Sampling) -> None:
    """Raise unless the prior is proper, and can be drawn."""
    prior, why = prior_of(model.graph, model.data)
    if prior is None:
        raise RunError(
            f"{model.graph.name}: the evidence of a model with an improper prior is not defined, "
            f"and that of one which cannot be drawn is not found. {why}"
        )


def _by_ordinates(model: Sampling, compiled: Compile, settings: Run) -> Evidence:
    """The evidence by the density of the posterior at one point."""
    del compiled
    starts = settings.starts()[0]
    found = combined([chib(model, s, settings.draws, settings.warmup) for s in starts])
    work = f"{counted(len(starts), 'chain')}, {counted(settings.draws, 'draw')} of each ordinate"
    told = tuple(exchangeable(model, starts[0]))
    return Evidence(found.value, found.error, CHIB, ABOUT_CHIB, work, told)


def _by_bound(model: Sampling, compiled: Compile, settings: Run) -> Evidence:
    """The bound of a factorised approximation, the best of as many starts as there are chains."""
    del compiled
    chains = settings.starts()[0]
    rng, progress = chains[0].rng, settings.progress
    fit = model.variational(starts=len(chains), seed=rng, progress=progress)
    work = f"{counted(len(chains), 'start')}, the best after {counted(len(fit.trace), 'sweep')}"
    return Evidence(fit.elbo, np.inf, "the variational bound", ABOUT_BOUND, work)


ABOUT_BOUND = "the best factorised approximation, less its divergence from the posterior"
CHIB = "Chib's method"
ABOUT_CHIB = "each draw has a density, and together they have that of the posterior at a point"

# By name: from a sampler, a function that compiles, and settings.
METHODS: Mapping[str, Callable[[Sampling, Compile, Run], Evidence]] = {
    "stepping stone": partial(
        _along_powers,
        "stepping stones",
        "the prior is proper and can be drawn, and no rule is needed between powers",
        stones.stepping_stones,
    ),
    "thermodynamic": partial(
        _along_powers,
        "thermodynamic integration",
        "the prior is proper and can be drawn, and the likelihood is never zero",
        stones.thermodynamic,
    ),
    "chib": _by_ordinates,
    "bound": _by_bound,
}


def evidence(
    model: Sampling, compiled: Compile, method: str | None, settings: Run
) -> Evidence:
    """The evidence of a model by a method, by default the one that suits its prior."""
    if method is not None and method not in METHODS:
        expected = f"expected one of {', '.join(map(repr, METHODS))}"
        near = did_you_mean(method, METHODS)
        raise RunError(f"evidence: found method={method!r}, {expected}.{near}")
    if settings.draws < FEWEST_DRAWS:
        raise RunError(
            f"evidence: found draws={settings.draws}, expected {FEWEST_DRAWS} at least."
        )
    check_draws(model)
    check_prior(model)
    if method is None:
        return _by_default(model, compiled, settings)
    return METHODS[method](model, compiled, settings)


def _by_default(model: Sampling, compiled: Compile, settings: Run) -> Evidence:
    """The evidence by stepping stones, or where the prior is vague, by ordinates if these suit."""
    made = hot(model, compiled)
    chain = settings.starts()[0][0]
    powers = first(made.log_likelihoods(chain.rng), STEPS)
    if not made.is_vague(powers) or not is_suited(model) or any(exchangeable(model, chain)):
        return METHODS["stepping stone"](model, compiled, settings)
    found = METHODS["chib"](model, compiled, settings)
    return replace(found, why=f"the prior is vague, so that ladders from it are long; {ABOUT_CHIB}")
