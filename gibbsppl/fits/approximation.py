"""The result of a variational fit: a factorised distribution near to the posterior.

Comes in: the sampler whose variables are read by their means, and where a fit of it has come to.
Goes out, when asked: moments of variables, the parameters of a factor, draws, the derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gibbsppl.checks.results import Verification
from gibbsppl.code.program import Constants, Program, State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.fits.factors import Factor, factor_of
from gibbsppl.html import Printed
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.output.draws import Draws
from gibbsppl.predict.conditional_means import Conditionals
from gibbsppl.predict.step_moments import What
from gibbsppl.run.chains import Chain
from gibbsppl.run.ready import RunResult
from gibbsppl.run.sampling import Seed, run, seed_sequence, streams
from gibbsppl.schedule.sweeps import Schedule


@dataclass(frozen=True, eq=False, repr=False)
class Approximation(Printed):
    """A factorised approximation q of the posterior, fitted by coordinate ascent (mean field).

    ``trace`` has the evidence lower bound after each sweep, ``elbo`` its last value; the log
    evidence is never below it. ``converged``: the last sweeps have not changed it. A variable that
    was fitted by its mode is a point. Fitted by minibatches, it is that of the global variables,
    with the ``natural`` parameters of each; the trace has an estimate of the bound for each of the
    minibatches, ``of_last`` of them in the last pass.
    """

    schedule: Schedule
    program: Program
    constants: Constants
    data: Values
    state: State
    trace: Floats
    converged: bool
    made: Any
    natural: Mapping[str, Any] = field(default_factory=dict)
    of_last: int = 1

    @property
    def elbo(self) -> float:
        """The evidence lower bound; by minibatches, its mean estimate in the last pass."""
        return float(self.trace[-self.of_last :].mean())

    @property
    def source(self) -> str:
        """The generated NumPy module of the updates and the bound."""
        return self.program.source

    def __repr__(self) -> str:
        after = f"after {len(self.trace)} sweeps"
        told = after if self.converged else f"{after}, not converged"
        return f"<Approximation of {self.schedule.graph.name}: bound {self.elbo:.6g} {told}>"

    def __str__(self) -> str:
        name, factors = self.schedule.graph.name, (self.factor(s.name) for s in self.drawn.steps)
        after = f"bound {self.elbo:.6g} after {len(self.trace)} sweeps"
        head = f"{name}: {after}" + ("" if self.converged else ", not converged")
        rows = [(s.name, str(f)) for s, f in zip(self.drawn.steps, factors, strict=True)]
        width = max((len(n) for n, _ in rows), default=0)
        return "\n".join([head, *(f"  {n:<{width}}  {told}" for n, told in rows)])

    @cached_property
    def drawn(self) -> Schedule:
        """The schedule that draws from q: each conditional given the moments of all else."""
        steps = tuple(s.instead_of or s for s in self.schedule.steps)
        graph = replace(self.schedule.graph, deterministics=self.made.graph.deterministics)
        return replace(self.schedule, steps=steps, graph=graph, bound=())

    def mean(self, name: str) -> Floats:
        """The mean of a variable under q, an array over its dims."""
        return self._moment(name, "mean")

    def sd(self, name: str) -> Floats:
        """The standard deviation of a variable under q, an array over its dims."""
        return self._moment(name, "sd")

    def probabilities(self, name: str) -> Floats:
        """The probability of each value of a label under q, along one more axis, the last."""
        return self._moment(name, "probabilities")

    def _moment(self, name: str, what: What) -> Floats:
        self._check(name)
        model = Conditionals(self.drawn, self.program, self.constants, self.data)
        found: Floats = model.of(self._as_draws(), name, what)[name][0, 0]
        return found

    def _as_draws(self) -> Draws:
        """The moments as those of one draw."""
        values = {n: np.asarray(v)[None, None] for n, v in self.state.items() if n[:1] != "~"}
        dims = {n: tuple(f"{n} {a}" for a in range(v.ndim - 2)) for n, v in values.items()}
        return Draws(values=values, dims=dims, coords={})

    def factor(self, name: str) -> Factor:
        """The factor of q with a variable: its family and parameters.

        Of variables that are normal together: the means and standard deviations of each.
        """
        step = self.drawn.step(self._step_of(name))
        return factor_of(self, step)

    def _step_of(self, name: str) -> str:
        """The name of the step of a variable."""
        for step in self.drawn.steps:
            if name == step.name or name in step.variables:
                return step.name
        self._check(name)
        return name

    def _check(self, name: str) -> None:
        known = {n for s in self.drawn.steps for n in s.variables}
        if name not in known:
            raise RunError(
                f"{name!r} is no latent variable of {self.schedule.graph.name}; expected one of "
                f"{', '.join(sorted(known))}.{did_you_mean(str(name), sorted(known))}"
            )

    def verify(self, seed: int = 0) -> Verification:
        """The exact checks of the updates and of the bound, as `Sampler.verify`."""
        found: Verification = self.made.verify(seed)
        return found

    def sample(self, draws: int = 1000, *, chains: int = 4, seed: Seed = None) -> Draws:
        """Independent draws from q, as those of a run: for summaries, predictions and plots."""
        program = load(write_numpy(self.drawn)).giving(unchanging(self.natural))
        constants = program.prepare(self.data)
        sequence = seed_sequence(seed)
        starts = [Chain(dict(self.state), rng) for rng in streams(sequence, chains)]
        moments = {m for s in self.schedule.steps if s.instead_of for m in s.variables}
        own = {n for s in self.drawn.steps for n in s.variables} - moments
        keep = [n for n in self.made.graph.drawn if n in own]
        keep += [d.name for d in self.made.graph.deterministics]
        result: RunResult = run(
            program, constants, starts, draws=draws, warmup=0, keep=keep, progress=False
        )
        found: Draws = self.made.as_draws(result, {"seed": sequence.entropy, "drawn_from": "q"})
        return found

    def starts(self, chains: int, seed: Seed = None) -> list[dict[str, Any]]:
        """A draw from q for each of some chains to start from: ``sample(start=fit)``.

        Without a ``seed`` they are always the same.
        """
        draws = self.sample(1, chains=chains, seed=len(self.trace) if seed is None else seed)
        latent = [n for n in self.made.graph.drawn if n in draws]
        return [{n: draws[n][chain, 0] for n in latent} for chain in range(chains)]

    def explain(self, name: str | None = None) -> str:
        """The derivation of the update of a variable, ``E[...]`` in its notation; or of all."""
        from gibbsppl.code.source import lines_by_step  # noqa: PLC0415  (only when asked for)
        from gibbsppl.explain import explained  # noqa: PLC0415  (only when asked for)

        lines = lines_by_step(self.schedule)
        return explained(self.drawn, lines, self.data, name)


def unchanging(natural: Mapping[str, Any]) -> dict[str, Callable[[State, Constants], Any]]:
    """Functions of conditionals, by step, that have the same natural parameters in any state."""

    def always(given: Any) -> Callable[[State, Constants], Any]:
        return lambda *_: given

    return {name: always(given) for name, given in natural.items()}
