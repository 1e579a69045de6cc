"""The result of a maximisation: points, and factors of q of what was read by its mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.fits.approximation import Approximation
from gibbsppl.fits.factors import shown
from gibbsppl.model.evaluation import Floats
from gibbsppl.run.chains import Chain, Seed, advance
from gibbsppl.run.sampling import streams
from gibbsppl.schedule.steps import Step


def _arrays(step: Step) -> tuple[str, ...]:
    """The arrays of the model that a step is about."""
    return tuple(s.target.array.name for s in step.statements)


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(Approximation):
    """Values of variables that were read by their modes, and a factorised q of all others.

    ``trace`` has the objective after each sweep, ``value`` the last: the log joint density at the
    values, and where variables were read by their means, the bound of it with these averaged out.
    Where some were drawn, it is the mean over their draws, of the last sweeps.
    """

    @property
    def value(self) -> float:
        """The objective: a log density, or the bound of one."""
        return self.elbo

    @property
    def values(self) -> Mapping[str, Floats]:
        """The values of the variables of the model that were read by their modes."""
        moments = {m for s in self.schedule.steps if s.instead_of for m in s.variables}
        drawn = {n for s in self.drawn.steps for n in s.variables}
        points = drawn & moments
        return {n: np.asarray(self.state[n]) for n in self.made.graph.drawn if n in points}

    def starts(self, chains: int, seed: Seed = None) -> list[dict[str, Any]]:
        """A state for each of some chains to start from: ``sample(start=best)``.

        What was read by its mean is drawn from q; then each variable is drawn once from its
        conditional, whose spread is about that of the posterior beside the optimum.
        """
        drawn, names = self.made.drawing(), self.made.graph.drawn
        averaged = {n for s in self.schedule.steps if s.by == "mean" for n in _arrays(s)}
        own = [dict[str, Any]() for _ in range(chains)]
        if averaged & set(names):
            own = Approximation.starts(self, chains, seed)
        found, seed = [], len(self.trace) if seed is None else seed
        for rng, drawn_values in zip(streams(seed, chains), own, strict=True):
            at = {n: np.array(self.state[n]) for n in names if n in self.state}
            chain = Chain({**at, **drawn_values}, rng)
            drawn.program.augment(rng, chain.state, drawn.constants)
            advance(drawn.program, drawn.constants, chain)
            found.append({n: chain.state[n] for n in names})
        return found

    def __str__(self) -> str:
        found = self.values
        after = f"{self.value:.6g} after {len(self.trace)} sweeps"
        after += "" if self.converged else ", not converged"
        head = f"{self.schedule.graph.name}: {after}"
        rows = [(n, shown(v)) for n, v in found.items()]
        averaged = (s for s in self.schedule.steps if s.by == "mean")
        rows += [(s.name, f"by mean: {self.factor(s.name)}") for s in averaged]
        width = max((len(n) for n, _ in rows), default=0)
        return "\n".join([head, *(f"  {n:<{width}}  {told}" for n, told in rows)])

    def __repr__(self) -> str:
        after = f"after {len(self.trace)} sweeps"
        told = after if self.converged else f"{after}, not converged"
        return f"<Optimum of {self.schedule.graph.name}: {self.value:.6g} {told}>"
