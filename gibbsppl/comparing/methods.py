"""The methods of a sampler that compare it with others: `costs`, `compare`, `tuned`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any, Self

from gibbsppl.code.program import Prepared
from gibbsppl.errors import CompileError, RunError, did_you_mean
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.run.choice import Backend
from gibbsppl.settings import Settings

if TYPE_CHECKING:
    from gibbsppl.cache.derivation import Derivation
    from gibbsppl.code.loop_program import LoopProgram
    from gibbsppl.comparing.comparison import Comparison
    from gibbsppl.comparing.costs import Costs
    from gibbsppl.rewrites import Found
    from gibbsppl.schedule.choices import Choice
    from gibbsppl.schedule.sweeps import Schedule


class Comparing:
    """Costs of a sampler, and the sampler beside others of the same model."""

    __slots__ = ()
    graph: Graph
    data: Values
    prepared: Prepared
    settings: Settings
    derivation: Derivation

    @property
    def schedule(self) -> Schedule:
        """The steps of a sweep."""
        raise NotImplementedError

    def _with(self, data: Values | None = None, **changes: object) -> Any:
        """The sampler of the same model with other settings, or of other data."""
        raise NotImplementedError

    def loops(self) -> LoopProgram:
        """The sweep in loops."""
        raise NotImplementedError

    def _choices(self) -> tuple[Choice, ...]:
        """The choices that the settings leave open, with what compiling has counted."""
        from gibbsppl.comparing.alternatives import Planned, choices_of  # noqa: PLC0415  (if asked)

        return choices_of(Planned(self.graph, self.data, self.schedule, self.settings))

    def _counted_choices(self) -> tuple[Choice, ...]:
        """The choices that the settings leave open, with the operations of all candidates."""
        from gibbsppl.code.trials import operations_of  # noqa: PLC0415  (when asked for)
        from gibbsppl.comparing.alternatives import counted_choices  # noqa: PLC0415

        if self.derivation.counted is None:
            try:
                own = operations_of(self.schedule, self.loops())
            except CompileError:  # (whether or not loops can be made of the schedule)
                own = nan
            found: Found = {}
            counted = counted_choices(
                self._choices(), own, lambda c: self._operations_with(c, found)
            )
            self.derivation.counted = counted
        return self.derivation.counted

    def _operations_with(self, changes: Settings, found: Found) -> float | None:
        """The operations of a sweep with other settings; None where these change no step.

        ``found`` has conditionals that have been derived by other settings, and keeps these.
        """
        raise NotImplementedError

    def costs(self, *, alternatives: bool = False) -> Costs:
        """Operations and bytes of a sweep, step by step, in the sizes of the model's dims too.

        Counted in the array program, for the sizes of the data: no clock is read, and all machines
        find the same. One operation is what an addition takes that waits for another; functions and
        draws count as so many (``gibbsppl.runtime.operations``). Prints as a table: the operations,
        their leading terms in the plates (``n*K**2 + J*K**3``), the bytes read and written, what is
        computed once, memory. A step that only NumPy has (a kernel of your own) is not counted, and
        its row says why. With ``alternatives`` the operations of the variants that `compare` runs
        are counted too: each is compiled for it, and none is run. How normal variables mix by
        theory is told beside. (The printed schedule has the two nearest ones to each choice.)

        >>> import gibbsppl as gp
        >>> with gp.Model(name="line", coords={"i": 3}) as line:
        ...     a, tau = gp.Normal("a", 0, tau=0.01), gp.Gamma("tau", 2, rate=1)
        ...     y = gp.Normal("y", a * gp.Data("x", [1.0, 2.0, 4.0], dims="i"), tau=tau, dims="i",
        ...                   observed=[0.9, 2.2, 3.7])
        >>> found = gp.compile(line).costs()
        >>> [step.name for step in found.steps], found["tau"].plates
        (['a', 'tau'], '1')
        """
        from gibbsppl.code.loop_program import loops_of  # noqa: PLC0415  (when asked for)
        from gibbsppl.comparing.costs import alternatives_of, costs_of  # noqa: PLC0415

        loops = loops_of(self.schedule, self.data, self.prepared, is_partial=True)
        found = costs_of(self.schedule, loops)
        if not alternatives:
            return found
        from gibbsppl.comparing.variants import mixing_told, variants_of  # noqa: PLC0415  (as above)

        _, *others = variants_of(self.graph, self.data, self.schedule, self.settings).items()
        known = {c.named(o): o.operations for c in self._counted_choices() for o in c.others}
        refused = {c.named(o) for c in self._choices() for o in c.others} - known.keys()
        variants = {name: how for name, how in others if name not in refused}
        counted = alternatives_of(
            lambda settings: self._with(**settings), variants, known, mixing_told(self.schedule)
        )
        return replace(found, alternatives=counted)

    def _checked(
        self,
        method: str,
        variants: Mapping[str, Settings] | None,
        of: Sequence[str] | None,
    ) -> Sequence[str] | None:
        """The names of the compared variables; an error for unknown names, also of settings."""
        names = (of,) if isinstance(of, str) else of
        named = (d.name for d in self.graph.deterministics)
        known = [*self.graph.drawn, *named, *self.schedule.auxiliary]
        asked = [("of", n, known) for n in names or ()]
        for variant, settings in (variants or {}).items():
            asked += [(f"variants[{variant!r}]", n, [*self.settings]) for n in settings]
        for where, name, expected in asked:
            if name not in expected:
                raise RunError(
                    f"{method}: {where}: found {name!r}, expected names among "
                    f"{', '.join(expected)}.{did_you_mean(name, expected)}"
                )
        return names

    def compare(
        self,
        variants: Mapping[str, Settings] | None = None,
        *,
        of: Sequence[str] | None = None,
        draws: int = 500,
        warmup: int = 250,
        chains: int = 2,
        seed: int = 0,
    ) -> Comparison:
        """A comparison of variants of this sampler in short runs: effective draws per operation.

        ``variants`` are keyword arguments of `compile` by a name; by default this sampler, one
        without its order, scan and kernels, and one for each alternative that the schedule tells.
        ``of`` names the variables to compare by (default: all but labels). Operations are those of
        `costs`; seconds are told beside them. ``best`` is the first variant, unless another one has
        more effective draws per operation by more than the error of both.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="robust") as robust:
        ...     mu = gp.Normal("mu", 0, tau=0.1)
        ...     y = gp.StudentT("y", nu=4, mu=mu, tau=1, dims="i", observed=[0.3, -1.2, 9.0])
        >>> found = gp.compile(robust).compare(draws=50, warmup=10)
        >>> sorted(v.name for v in found.variants)
        ['as compiled', 'without "power of a sum"']
        """
        from gibbsppl.comparing.comparison import compared  # noqa: PLC0415  (when asked for)
        from gibbsppl.comparing.variants import variants_of  # noqa: PLC0415  (when asked for)

        parts = (self.graph, self.data, self.schedule, self.settings)
        of = self._checked("compare", variants, of)
        every = variants_of(*parts) if variants is None else variants
        run: dict[str, Any] = {"draws": draws, "warmup": warmup, "chains": chains, "seed": seed}
        return compared(lambda settings: self._with(**settings), every, of, **run)

    def tuned(
        self,
        seed: int = 0,
        *,
        variants: Mapping[str, Settings] | None = None,
        of: Sequence[str] | None = None,
        sweeps: int = 500,
        chains: int = 4,
        backend: Backend | None = None,
    ) -> Self:
        """The best sampler of the same model: the winner of a tournament among variants.

        ``variants`` are as those of `compare`, by default these and other kernels of variables that
        are moved. Each makes pilot runs of ``chains``, of ``sweeps`` each, unless its sweep has so
        many operations that not even independent draws would make up for them; the better half by
        effective draws per operation makes runs twice as long, and so on (successive halving); then
        what has won is combined with other changes that were better than this sampler, one after
        the other. This sampler stays unless another one is better by more than the error of both.
        No clock is read: equal seeds find equal winners, by the same back end.
        ``found.tuned_from`` is the `Comparison`, which the printed schedule begins with and the
        draws record.

        K. Jamieson and A. Talwalkar (2016), "Non-stochastic best arm identification and
        hyperparameter optimization", AISTATS.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="robust") as robust:
        ...     mu = gp.Normal("mu", 0, tau=0.1)
        ...     y = gp.StudentT("y", nu=4, mu=mu, tau=1, dims="i", observed=[0.3, -1.2, 9.0])
        >>> found = gp.compile(robust).tuned(seed=1, sweeps=50)
        >>> found.tuned_from.best.name
        'as compiled'
        """
        from gibbsppl.comparing.tournament import tournament  # noqa: PLC0415  (when asked for)
        from gibbsppl.comparing.variants import after_own, candidates_of  # noqa: PLC0415

        parts = (self.graph, self.data, self.schedule, self.settings)
        of = self._checked("tuned", variants, of)
        every = candidates_of(*parts) if variants is None else after_own(variants)
        run: dict[str, Any] = {"chains": chains, "seed": seed, "backend": backend}
        found = tournament(
            lambda settings: self._with(**settings), every, self.settings, of, sweeps, run
        )
        winner: Self = replace(self._with(**found.best.settings), tuned_from=found)
        return winner
