"""Runs with tempering: the tempered program, its ladder to begin with, and the run.

Comes in: a sampler, and how to make another one. Goes out: what `gibbsppl.run` makes of it. Of one
declaration there are two programs: that of the model finds the starts, that of the tempered graph
makes all sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from gibbsppl.cache.derivation import Derivation
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.code.loop_program import LoopProgram
from gibbsppl.code.program import Prepared, Program, State
from gibbsppl.errors import CompileError, ModelError, RunError
from gibbsppl.model.density import log_joint, size_of_terms
from gibbsppl.model.evaluation import Values
from gibbsppl.model.forward import simulate
from gibbsppl.model.graph import Graph
from gibbsppl.run.beginning import Size
from gibbsppl.run.chains import Chain
from gibbsppl.run.choice import Asked, engine_for
from gibbsppl.run.engines import Engine, Interpreted
from gibbsppl.run.ready import Ready, RunResult
from gibbsppl.runtime.types import Floats
from gibbsppl.tempering.engine import RUNGS, Prior, Tempering, drawn_from
from gibbsppl.tempering.graph import Tempered, tempered
from gibbsppl.tempering.ladder import REFUSED, between, first
from gibbsppl.tempering.rungs import Rungs, in_lines, in_words

# Draws of the prior that a first ladder is found from, and its steps.
PRIOR_DRAWS, STEPS = 60, 8


class Sampling(Protocol):
    """The parts of a sampler that a run needs."""

    @property
    def graph(self) -> Graph:
        """The declared model with the limits of its parameters."""

    @property
    def data(self) -> Values:
        """The data."""

    @property
    def coords(self) -> Mapping[str, Any]:
        """The labels along dims."""

    @property
    def program(self) -> Program:
        """The program."""

    @property
    def prepared(self) -> Prepared:
        """The constants, computed once."""

    @property
    def derivation(self) -> Derivation:
        """The derivation."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of `compile`."""

    def loops(self, dtype: str = "float64", keep: Sequence[str] | None = None) -> LoopProgram:
        """The sweep in loops."""

    def variational(
        self, *, starts: int = 1, seed: np.random.Generator | None = None, progress: bool = True
    ) -> Any:
        """A factorised approximation."""


Compile = Callable[[Graph, Values, Mapping[str, Any], Mapping[str, Any]], Sampling]


@dataclass(frozen=True, slots=True, eq=False)
class Hot:
    """The sampler of a tempered graph beside that of the model; a prior, if it can be drawn."""

    model: Sampling
    sampler: Sampling
    graph: Tempered
    prior: Prior | None
    why_no_prior: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the model."""
        return self.model.graph.drawn

    def check(self, chain: Chain) -> None:
        """Raise unless the density at a power is the model's times the likelihood to a power less.

        Looked at where a chain starts, at the power 1/2, with the log likelihood that swaps read;
        where there are powers above 1, at 2, where the whole density is to the power.
        """
        model, graph, own = self.model, self.graph.graph, self.sampler
        state = {n: chain.state[n] for n in self.names}
        values, halved = {**model.data, **state}, {**state, self.graph.power: np.float64(0.5)}
        told = float(own.program.deterministics(halved, own.prepared)[self.graph.log_likelihood])
        declared = log_joint(model.graph, values)
        size = sum(size_of_terms(f, values, model.graph.sizes) for f in model.graph.factors)
        expected = {"1/2": (0.5, declared - told / 2)}
        if self.graph.is_beyond:
            expected["2"] = (2.0, 2 * declared)
        for name, (power, density) in expected.items():
            at = {**self.graph.data, **state, self.graph.power: np.float64(power)}
            found = log_joint(graph, at)
            gap = abs(found - density) if np.isfinite(declared) else 0.0
            if not gap <= RELATIVE_TOLERANCE * (1 + size):
                raise RunError(
                    f"{graph.name}: at the power {name} the log density is {found:.10g}, expected "
                    f"{density:.10g}, from that of the model, {declared:.10g}, and the log "
                    f"likelihood, {told:.10g}; please report this model, and run it without powers."
                )

    def engine(
        self, asked: Asked, sweeps: int, keep: Sequence[str], rungs: int | None, refused: float
    ) -> Tempering:
        """The engine of so many sweeps of all rungs."""
        own = self.sampler
        numpy = partial(Interpreted.of, own.program, own.prepared)
        steps = sweeps * (rungs or STEPS + 1)
        loops = partial(own.loops, keep=keep)
        found: Engine = engine_for(asked, numpy, loops, steps, own.derivation.worth)
        scan = own.settings["scan"] != "systematic" or bool(own.settings["order"])
        augments = bool(own.program.auxiliary) and scan
        told = self.graph.log_likelihood
        fixed = (own.program, own.prepared, told, self.prior, rungs, refused)
        return Tempering(found, *fixed, augments=augments)

    def powers(
        self, rungs: int | None, rng: np.random.Generator, *, with_prior: bool = False
    ) -> Floats:
        """The first ladder: from the prior, or from where all data are less than one observation.

        A vague prior is left out unless it is needed.
        """
        steps = STEPS if rungs is None else rungs - 1
        found = None if self.prior is None else first(self.log_likelihoods(rng), steps)
        if found is not None and (with_prior or not self.is_vague(found)):
            return found
        powers = between(1.0 / (1 + self.graph.observations), steps - with_prior)
        return np.concatenate([[0.0], powers]) if with_prior else powers

    def is_vague(self, powers: Floats | None) -> bool:
        """Whether a prior, from which a ladder begins so, is vague.

        Log likelihoods of its draws differ by more than the square of the number of observations,
        and by so much that the steps of the first ladder would be too long.
        """
        least = min(self.graph.observations**-2.0, np.exp(-STEPS))
        return powers is None or bool(powers[1] < least)

    def log_likelihoods(self, rng: np.random.Generator) -> Floats:
        """The log likelihoods of independent draws of the prior."""
        own, found = self.sampler, np.full(PRIOR_DRAWS, -np.inf)
        with np.errstate(all="ignore"):
            for k in range(PRIOR_DRAWS):
                drawn = drawn_from(self.prior, rng)
                if drawn is not None:
                    state = {**drawn, self.graph.power: np.float64(0.0)}
                    told = own.program.deterministics(state, own.prepared)
                    found[k] = told[self.graph.log_likelihood]
        return found

    def start(
        self,
        tempering: Tempering,
        chain: Chain,
        *,
        is_given: bool = False,
        with_prior: bool = False,
    ) -> Chain:
        """A chain with rungs, from a start of the model.

        Each rung begins with a draw of the prior of its own, taken by a sweep at each power up to
        its power, so that rungs do not all begin in one mode; where that fails, or the start
        ``is_given``, it begins at the start.
        """
        self.check(chain)
        (own,) = chain.rng.spawn(1)
        powers = self.powers(tempering.rungs, own, with_prior=with_prior)
        state = {n: chain.state[n] for n in self.names}
        program, constants = self.sampler.program, self.sampler.prepared
        state[self.graph.power] = np.float64(1.0)
        program.augment(own, state, constants)
        rungs = Rungs.of(Chain(state, chain.rng), powers, self.graph.power, self.names)
        if powers[0] == 0 and not is_given:
            rungs.chains = [tempering.annealed(c, powers[1 : k + 1], rungs.power)
                            for k, c in enumerate(rungs.chains)]  # fmt: skip
        return replace(chain, state={**rungs.coldest.state, RUNGS: rungs})


def tempered_ready(
    made: Hot, ready: Ready, temper: bool | int, asked: Asked, size: Size, *, is_given: bool
) -> Ready:
    """Chains with rungs, from chains of the model at their starts, and what makes their sweeps.

    ``is_given``: the user gave the starts. The log likelihood is a number of each draw.
    """
    own, told, names = made.sampler, made.graph.log_likelihood, ready.records.keep
    for name in names or ():
        if name in own.program.auxiliary and name not in made.model.program.auxiliary:
            raise RunError(
                f"keep: {name!r} is a variable of the tempered program alone; leave it out."
            )
    sweeps = len(ready.chains) * size.sweeps
    engine = made.engine(asked, sweeps, ready.records.named, checked_rungs(temper), REFUSED)
    return replace(
        ready,
        program=own.program,
        constants=own.prepared,
        chains=[
            c if RUNGS in c.state else made.start(engine, c, is_given=is_given)
            for c in ready.chains
        ],
        engine=engine,
        types=own.derivation.facts.types,
        records=replace(ready.records, keep=None if names is None else {**names, told: 1}),
        read=partial(at_power_one, told),
    )


def at_power_one(told: str, result: RunResult) -> tuple[RunResult, Mapping[str, Any]]:
    """The result of a tempered run as one of the model, and what is told of its ladders."""
    rungs = [c.state[RUNGS] for c in result.chains]
    values = {n: a for n, a in result.values.items() if n != told}
    attributes = {
        "tempered": in_words(rungs),
        "powers": in_lines([r.powers for r in rungs]),
        "swap_rates": in_lines([r.seen.swap_rates for r in rungs]),
    }
    return replace(result, values=values, stats={told: result.values[told]}), attributes


def hot(model: Sampling, compiled: Compile, *, beyond: bool = False) -> Hot:
    """The tempered sampler of a model; ``beyond`` for powers above 1, too.

    ``compiled`` makes a sampler of a graph, its data, coords and settings.
    """
    check_draws(model)
    found = tempered(model.graph, model.data, beyond=beyond)
    try:
        made = compiled(found.graph, found.data, model.coords, model.settings)
    except CompileError as error:
        raise CompileError(f"at powers of the likelihood: {error}") from error
    return Hot(model, made, found, *prior_of(model.graph, model.data))


def check_draws(model: Sampling) -> None:
    """Raise unless a sweep leaves the posterior as it is."""
    name, settings = model.graph.name, model.settings
    if settings["by"]:
        raise RunError(
            f"{name}: {', '.join(settings['by'])} is no draw (by={settings['by']!r}), so that a "
            "sweep does not leave the posterior at a power as it is; compile the model without by=."
        )
    if settings["approximate"]:
        raise RunError(
            f"{name}: labels are drawn approximately, so that a sweep does not leave the posterior "
            "at a power as it is; compile the model without approximate=True."
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Draws all latent variables of a graph from the prior."""

    graph: Graph
    data: Values

    def __call__(self, rng: np.random.Generator) -> State:
        found = simulate(rng, self.graph, self.data, observed=False)
        return {n: found[n] for n in self.graph.drawn}


def prior_of(graph: Graph, data: Values) -> tuple[Prior | None, str]:
    """A function that draws all latent variables from the prior; None, and why, if none does."""
    stated = replace(graph, potentials=())

    draw = _Drawn(stated, data)
    try:
        draw(np.random.default_rng(0))
    except ModelError as error:
        return None, str(error)
    return draw, ""


def checked_rungs(temper: bool | int) -> int | None:
    """The number of rungs that is asked for; None to find it."""
    if temper is True:
        return None
    if temper < 2:
        raise RunError(
            f"temper: found {temper!r}, expected True, or a number of powers from 2 on."
        )
    return int(temper)
