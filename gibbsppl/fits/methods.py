"""The methods of a sampler that fit its model by other readings than draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gibbsppl.errors import RunError
from gibbsppl.model.graph import Graph
from gibbsppl.run.chains import Chain, Seed
from gibbsppl.run.choice import Backend, asked_for
from gibbsppl.schedule.moments import By

if TYPE_CHECKING:
    from gibbsppl.fits.approximation import Approximation
    from gibbsppl.fits.optimum import Optimum
    from gibbsppl.initial.inits import Init


class Fitting:
    """The methods of a sampler besides drawing: `variational` and `maximise`."""

    __slots__ = ()
    graph: Graph

    def read_by(self, by: Mapping[str, By]) -> Any:
        """The sampler of the same model in one graph, its conditionals read otherwise."""
        raise NotImplementedError

    def _put_moments(self, chains: Sequence[Chain]) -> None:
        """Put the moments of what is read by its mean into chains at their starts."""
        from gibbsppl.fits.points import moments_at  # noqa: PLC0415  (draws need none)

        model: Any = self
        for chain in chains:
            known = {**model.derivation.known, **chain.state}
            chain.state |= moments_at(model.schedule, known)

    def variational(  # noqa: PLR0913  (settings, all named at the call)
        self,
        *,
        starts: int = 1,
        sweeps: int = 10_000,
        tolerance: float = 1e-10,
        batch: Mapping[str, int] | None = None,
        warmup: int | None = None,
        anneal: bool = False,
        seed: Seed = None,
        init: Init = None,
        backend: Backend | None = None,
        progress: bool = True,
    ) -> Approximation:
        """A factorised approximation of the posterior: each conditional read by its mean.

        Mean-field variational Bayes by coordinate ascent. The factors of q are the steps of the
        sampler: what is drawn jointly stays joint. The evidence lower bound rises with each update,
        until two sweeps in a row change it by less than ``tolerance`` of its size; the best of
        several ``starts`` is kept. ``warmup`` sweeps of draws come first, 200 unless ``init`` says
        where to start, with ``anneal=True`` at powers of the likelihood that rise
        (docs/tempering.md). ``seed``, ``init`` and ``backend`` as in `sample`: by default sweeps
        are compiled once loops would have saved more than compiling them takes. Positions whose
        data are alike are swept as one where that saves time (docs/readings.md).

        ``batch={"doc": 256}``: by minibatches of so many positions of a dim (stochastic variational
        inference). The fit is that of the variables that do not belong to these positions, from one
        start, in NumPy; ``sweeps`` are passes over the data, at most: until the bound rises by less
        than the standard error of its estimate in a pass, whatever ``tolerance`` is.

        Raises `CompileError` where a variable cannot be read by its mean, naming the term.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="noise") as noise:
        ...     mu = gp.Normal("mu", 0, tau=0.01)
        ...     tau = gp.Gamma("tau", 1, rate=1)
        ...     y = gp.Normal("y", mu, tau=tau, dims="i", observed=[1.2, 0.7, 2.1, 1.6])
        >>> fit = gp.compile(noise).variational(seed=1, progress=False)
        >>> print(fit)
        noise: bound -7.55717 after 8 sweeps
          mu   Normal(mu=1.398, tau=6.548)
          tau  Gamma(shape=3, rate=1.835)
        """
        from gibbsppl.fits.starting import Search  # noqa: PLC0415  (when asked for)
        from gibbsppl.fits.variational import variational  # noqa: PLC0415  (when asked for)

        by: dict[str, By] = dict.fromkeys(self.graph.drawn, "mean")
        search = Search(
            starts, sweeps, tolerance, warmup, anneal, seed, init, progress, asked_for(backend)
        )
        if batch is not None and (starts != 1 or backend == "compiled"):
            raise RunError(
                "batch: minibatches have one start, and sweeps in NumPy; found "
                f"starts={starts}, backend={backend!r}: leave them out."
            )
        read, start = self.read_by(by), self.read_by({})
        if batch is None:
            return variational(read, start, search)
        from gibbsppl.fits.stochastic import fitted_by_parts  # noqa: PLC0415  (when asked for)

        return fitted_by_parts(read, start, batch, search)

    def maximise(  # noqa: PLR0913  (settings, all named at the call)
        self,
        by: Mapping[str, By] | None = None,
        *,
        scale: str | None = None,
        draws: int = 1,
        starts: int = 1,
        sweeps: int = 10_000,
        tolerance: float = 1e-10,
        warmup: int | None = None,
        anneal: bool = False,
        seed: Seed = None,
        init: Init = None,
        backend: Backend | None = None,
        progress: bool = True,
    ) -> Optimum:
        """The values of the highest posterior density: conditionals read by their modes.

        Labels and counts, and auxiliary variables, are read by their means, all else by modes: this
        is the EM algorithm (A. P. Dempster, N. M. Laird and D. B. Rubin, 1977, JRSS B 39). ``by``
        says otherwise: all by ``"mode"`` are iterated conditional modes, and alternating least
        squares of a factorisation; coefficients by ``"mean"`` and their scales by ``"mode"``,
        type-II likelihood. Where some are by ``"draw"``, all others are given averages over so many
        ``draws`` of these, at last over all sweeps: Monte Carlo EM (docs/readings.md). ``warmup``
        sweeps of draws come first, none by default; with ``anneal=True`` 200, at powers of the
        density that rise to 100: simulated annealing. A mode depends on the scale: it is
        that of the density of a variable as it is declared, and with ``scale="log"`` that of the
        log, of all positive variables (one: ``by={"tau": "mode of log"}``). Variables whose log
        density is concave in all of them together, and that have no closed form, are put to their
        joint mode by Newton steps. All else as in `variational`.

        Raises `RunError` where a density is largest at an end of its support, or at infinity.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="noise") as noise:
        ...     mu = gp.Normal("mu", 0, tau=0.01)
        ...     tau = gp.Gamma("tau", 2, rate=1)
        ...     y = gp.Normal("y", mu, tau=tau, dims="i", observed=[1.2, 0.7, 2.1, 1.6])
        >>> best = gp.compile(noise).maximise(seed=1, progress=False)
        >>> {name: round(float(value), 4) for name, value in best.values.items()}
        {'mu': 1.3982, 'tau': 1.9608}
        """
        from gibbsppl.fits.starting import Search  # noqa: PLC0415  (when asked for)
        from gibbsppl.fits.variational import maximised  # noqa: PLC0415  (when asked for)

        latent = self.graph.latent
        usual: dict[str, By] = {
            s.target.array.name: "mean" if s.support.is_discrete else "mode" for s in latent
        }
        if scale not in (None, "log"):
            raise RunError(f"scale: found {scale!r}, expected 'log', or None (as declared).")
        if scale == "log":
            positive = {s.target.array.name for s in latent if s.support.lower == 0}
            real = {s.target.array.name for s in latent if s.support.kind == "real"}
            usual |= {n: "mode of log" for n in positive & real if usual[n] == "mode"}
        search = Search(
            starts, sweeps, tolerance, warmup, anneal, seed, init, progress, asked_for(backend),
            draws,
        )  # fmt: skip
        return maximised(self.read_by({**usual, **(by or {})}), self.read_by({}), search)
