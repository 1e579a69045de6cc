"""The methods of a sampler at powers of its density: the log evidence, and annealing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.run.chains import Chain, Seed
from gibbsppl.run.choice import Asked, Backend, asked_for

if TYPE_CHECKING:
    from gibbsppl.initial.inits import Init
    from gibbsppl.run.beginning import Size
    from gibbsppl.run.ready import Ready
    from gibbsppl.tempering.evidence import Evidence


class AtPowers:
    """The methods of a sampler at powers of its density: `evidence`, and starts of a fit."""

    __slots__ = ()

    def of_graph(
        self, graph: Graph, data: Values, coords: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> Any:
        """The sampler of another graph."""
        raise NotImplementedError

    def initial_states(
        self, chains: int, seed: Seed = None, init: Init = None
    ) -> tuple[list[Chain], dict[str, str]]:
        """A dispersed starting state and random stream per chain, and the origin of each value."""
        raise NotImplementedError

    def _tempered(
        self, ready: Ready, temper: bool | int, asked: Asked, size: Size, *, is_given: bool
    ) -> Ready:
        """Chains of parallel tempering, from chains at their starts."""
        from gibbsppl.tempering.sampling import hot, tempered_ready  # noqa: PLC0415  (if asked for)

        model: Any = self
        made = hot(model, self.of_graph)
        return tempered_ready(made, ready, temper, asked, size, is_given=is_given)

    def annealed(
        self, chains: Sequence[Chain], sweeps: int, asked: Asked, *, beyond: bool
    ) -> list[Chain]:
        """Starting states after so many sweeps of annealing, ``beyond`` the power 1 to a mode."""
        from gibbsppl.tempering.annealing import annealed  # noqa: PLC0415  (if asked for)

        model: Any = self
        return annealed(model, self.of_graph, chains, sweeps, asked, beyond=beyond)

    def evidence(
        self,
        method: str | None = None,
        *,
        draws: int = 1000,
        warmup: int = 500,
        chains: int = 4,
        seed: Seed = None,
        backend: Backend | None = None,
        progress: bool = True,
    ) -> Evidence:
        """The log marginal likelihood of the data, with its standard error and how it was found.

        It is the log of the integral of the declared density over all latent variables, constants
        included. ``method`` is ``"stepping stone"`` (the default, unless the prior is vague) or
        ``"thermodynamic"``, from ``draws`` of each of ``chains`` tempered chains after ``warmup``;
        ``"chib"``, from runs of the sampler as it is; or ``"bound"``, the lower bound of a
        factorised approximation, the best of ``chains`` starts (docs/tempering.md has the sources).
        `RunError` where the prior is improper, so that there is none, or a method does not apply.

        >>> import math
        >>> import gibbsppl as gp
        >>> with gp.Model(name="coin") as coin:
        ...     p = gp.Beta("p", 1, 1)
        ...     heads = gp.Binomial("heads", 10, p, observed=7)
        >>> found = gp.compile(coin).evidence(draws=200, warmup=100, seed=1, progress=False)
        >>> print(abs(found.value - -math.log(11)) < 4 * found.error)
        True
        """
        from gibbsppl.tempering.evidence import Run, evidence  # noqa: PLC0415  (if asked for)

        starts = partial(self.initial_states, chains, seed)
        how = Run(starts, asked_for(backend), draws, warmup, progress)
        model: Any = self
        return evidence(model, self.of_graph, method, how)
