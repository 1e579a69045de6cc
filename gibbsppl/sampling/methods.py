"""The methods of a sampler that draw: runs of its sweeps, and draws with their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

import numpy as np

from gibbsppl.cache.derivation import Derivation
from gibbsppl.checkpoints.identity import Identity
from gibbsppl.code.program import Constants, Prepared, Program
from gibbsppl.errors import RunError
from gibbsppl.initial.inits import Init, Start
from gibbsppl.initial.propriety import check_proper, check_proper_as_usual
from gibbsppl.language.coordinates import as_array
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array, Attributes
from gibbsppl.output.draws import Draws
from gibbsppl.output.shares import LABELS, dims_told
from gibbsppl.run.beginning import Size, beginning, start_of
from gibbsppl.run.callbacks import View
from gibbsppl.run.chains import Chain, Seed, seed_sequence, streams
from gibbsppl.run.choice import Asked, Backend, asked_for, checked_backend, engine_for, seconds_of
from gibbsppl.run.engines import Engine, Interpreted
from gibbsppl.run.pools import Wanted, pool_of
from gibbsppl.run.ready import Keep, Reading, Ready, Records, RunResult
from gibbsppl.run.recording import Types, check_memory
from gibbsppl.run.starting import Started, started
from gibbsppl.run.workers import Pool
from gibbsppl.sampling import warmups
from gibbsppl.sampling.extending import Before, check_monitors, going_on
from gibbsppl.sampling.observations import observations
from gibbsppl.sampling.resuming import CALLBACK_EVERY, How, check_folder, drawn
from gibbsppl.sampling.runs import ChainEnds, Made, Run, shown_of
from gibbsppl.sampling.starting import FITS, Starting
from gibbsppl.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from os import PathLike

    from gibbsppl.code.loop_program import LoopProgram
    from gibbsppl.initial.rooms import Rooms
    from gibbsppl.output.until import Until
    from gibbsppl.sampling.monitors import ToMonitor, Watching
    from gibbsppl.schedule.sweeps import Schedule

def _told(
    sampler: Drawing, read: Reading, started: Attributes, watch: Watching | None, result: RunResult
) -> Draws:
    """The draws of a run, which has started so, with what was monitored."""
    found, more = read(result)
    draws = sampler.as_draws(found, {**started, **more})
    return draws if watch is None else replace(draws, monitored=watch.told(result))


class Drawing:
    """The methods of a sampler that draw from the posterior."""

    __slots__ = ()
    graph: Graph
    data: Values
    coords: Mapping[str, Array | range]
    derivation: Derivation
    program: Program
    prepared: Prepared
    settings: Settings
    tuned_from: Any

    @property
    def constants(self) -> Constants:
        """The constants that sweeps in NumPy read beside the state."""
        raise NotImplementedError

    @property
    def schedule(self) -> Schedule:
        """The steps of a sweep."""
        raise NotImplementedError

    @property
    def types(self) -> Types:
        """The types that draws are kept as."""
        raise NotImplementedError

    def _with(self, data: Values | None = None, **changes: object) -> Any:
        """The sampler of the same model with other settings, or of other data."""
        raise NotImplementedError

    def loops(self, dtype: str = "float64", keep: Sequence[str] | None = None) -> LoopProgram:
        """The sweep in loops."""
        raise NotImplementedError

    def initial_states(
        self, chains: int, seed: Seed = None, init: Init = None, start: Start = "pilot"
    ) -> tuple[list[Chain], dict[str, str]]:
        """A dispersed starting state and random stream per chain, and the origin of each value."""
        found = self._started(chains, seed, init, start)
        return found.chains, dict(found.origins)

    def _started(
        self,
        chains: int,
        seed: Seed,
        init: Init,
        start: Start = "pilot",
        engine: Engine | None = None,
        pool: Pool | None = None,
        *,
        progress: bool = False,
    ) -> Started:
        """Chains at their starts, by pilot runs of an engine, by default that of few sweeps."""
        if self.settings["by"]:
            model, drawing = cast("Any", self), cast("Drawing", self._with(by={}))
            found = drawing._started(chains, seed, init, start)  # noqa: SLF001  (of this class)
            model._put_moments(found.chains)  # noqa: SLF001  (of this class)
            return found
        if engine is None and self.derivation.facts.is_within:
            engine = Interpreted(self.program, self.constants)
        engine = engine or self._engine(asked_for("auto"), chains, ())
        own = [Chain({}, rng) for rng in streams(seed, chains)]
        work = Starting.of(self, engine, chains, start, init)
        return started(work, own, pool, progress=progress)

    def _check_proper(self, state: Values, *, first: bool, rooms: Rooms | None = None) -> None:
        usual = partial(self._with, kernels={}, order=(), scan="systematic")
        check_proper(self.derivation, self.program, self.prepared, state, first, rooms)
        check_proper_as_usual(self.derivation, usual, state, first)

    def sample(  # noqa: PLR0913  (settings, all named at the call)
        self,
        draws: int = 1000,
        *,
        warmup: int = 500,
        chains: int = 4,
        seed: Seed = None,
        thin: int = 1,
        init: Init = None,
        start: Start = "pilot",
        keep: Keep = None,
        keep_warmup: bool = False,
        monitor: ToMonitor | None = None,
        backend: Backend | None = None,
        threads: int | None = None,
        dtype: str | None = None,
        temper: bool | int = False,
        cores: int | None = None,
        executor: Executor | None = None,
        until: Until | None = None,
        checkpoint: str | PathLike[str] | None = None,
        every: float | None = None,
        callback: Callable[[View], object] | None = None,
        callback_every: int = CALLBACK_EVERY,
        progress: bool = True,
        limit_bytes: int = 4 << 30,
    ) -> Draws:
        """Draws from the posterior.

        ``draws`` per chain are kept, every ``thin`` sweeps after ``warmup`` sweeps. ``seed`` is a
        whole number, a ``SeedSequence`` or a ``Generator``; without one, a fresh one is drawn and
        recorded. ``init`` fixes starting values by variable, NaN for elements without; a list has
        one such mapping for each chain, and of a fit or of draws each starts from one draw.
        ``start`` says where all other values are from: ``"pilot"`` runs choose among dispersed
        states, ``"prior"`` is a draw of the prior, ``"optimum"`` one beside a mode and
        ``"variational"`` one of a fit, each chain's own; or it gives values as ``init`` does, which
        comes first where both have some. What neither has is found by rule. ``keep`` names the
        variables to keep, all draws of each, or in a dict one draw in so many: ``{"theta": 1,
        "z": 10}`` (`Draws.together` has those of both). By default these are all of the model's but
        labels and counts, each with draws of more than 64 MiB: a line on stderr and
        ``draws.left_out`` say so. Whole numbers have the smallest integer type that holds their
        support, which products can leave. ``keep_warmup`` keeps draws of the warm-up, too, every
        ``thin`` sweeps: ``draws.groups["warmup_posterior"]``.
        ``monitor`` names what only statistics are wanted of, too large to keep: variables,
        functions of the state, ``gp.predictive(...)``, in a list or by name in a dict;
        ``draws.monitored`` has them, and no draws of what ``keep`` does not name.
        ``backend`` is ``"numpy"``, ``"compiled"`` (loops, by Numba) or ``"auto"``: loops if these
        save more than compiling takes. ``threads`` share large loops of one chain,
        ``dtype="float32"`` halves large arrays (docs/sampling.md).
        ``temper=True`` makes each chain one of parallel tempering: states at powers of the
        likelihood are swapped, so that it goes from mode to mode; ``temper=8`` with so many powers
        (docs/tempering.md).
        ``cores`` is the number of processes that chains are drawn in, by default as many as there
        are cores and chains if the run has work for them, by a count of its operations. Any
        ``executor`` of `concurrent.futures` will do, such as that of a cluster. Draws are the same
        whoever makes them.
        ``until`` ends the run before it has all ``draws``: `gp.until(ess=400, r_hat=1.01)` when
        there are enough effective draws, or with ``minutes=10`` when the time is over.
        ``checkpoint="folder"`` writes draws there as they come, and ``every`` so many seconds (30)
        where each chain is, so that a run that is killed goes on by `gp.resume`; the draws are read
        from the disk, and may be larger than memory (docs/sampling.md).
        ``callback`` is called with a view of each chain, ``callback_every`` so many of its sweeps:
        its number, sweep, state, and draws so far.
        Above ``limit_bytes`` of draws in memory the run is refused. Ctrl-C returns the draws so far
        and reports the rest, which ``draws.interrupted`` does too.
        """
        if not self.program.steps or (keep is not None and not len(keep)):
            raise RunError(
                f"{self.graph.name}: there is nothing to draw or to keep; a run needs a latent "
                "variable, and keep= at least one name."
            )
        asked, wanted = asked_for(backend, threads, dtype), Wanted(cores, executor)
        check_memory({self.graph.name: chains * draws}, limit_bytes)  # (a byte each at least)
        warmups.check_keeping(keep_warmup, temper)
        size = Size(draws, warmup, thin, keep_warmup)
        sequence, sweeps = seed_sequence(seed), chains * size.sweeps
        watch = self._watching(monitor, sequence.entropy)
        check_folder(checkpoint, every, watch)
        records = Records.of(keep, {} if watch is None else watch.watched)
        engine = None if temper is not False else self._engine(asked, sweeps, records.named)
        about = (lambda: nan) if engine is None else partial(
            self._seconds, engine, threads, until, sweeps
        )
        shown = shown_of(progress, callback, callback_every)
        how: How = {"shown": shown, "checkpoint": checkpoint, "every": every}
        with pool_of(wanted, chains, about) as pool:
            starts = self._started(
                chains, sequence, init, start, engine, pool, progress=progress
            )
            ready = self._ready_at(starts, engine, records, sequence)
            if engine is None:
                # (without values to start from, each power may have a draw of the prior of its own)
                is_given = init is not None or not isinstance(start, str) or start in FITS
                ready = self._with_powers(ready, temper, asked, size, is_given=is_given)
            run = self._run(ready, asked, temper, size, until, watch)
            if checkpoint is None:
                check_memory(run.beginning.needed, limit_bytes)
            check_memory(run.beginning.added_up, limit_bytes, "statistics")
            return drawn(run, start_of(ready.chains), pool, **how)

    def extend(  # noqa: PLR0913  (settings, all named at the call)
        self,
        draws: Draws,
        more: int = 1000,
        *,
        monitor: ToMonitor | None = None,
        cores: int | None = None,
        executor: Executor | None = None,
        until: Until | None = None,
        checkpoint: str | PathLike[str] | None = None,
        every: float | None = None,
        callback: Callable[[View], object] | None = None,
        callback_every: int = CALLBACK_EVERY,
        progress: bool = True,
        limit_bytes: int = 4 << 30,
    ) -> Draws:
        """The draws of a run, and ``more`` of each chain after them.

        Chains go on where they have ended, with their random numbers and all that warm-up has
        adapted; ``draws`` are as `sample` has returned them, or as `gp.load_draws` reads them. They
        are left as they are. Sampler and data must be those of the run, else a `RunError` says what
        differs. Back end, tempering and thinning are those of the run; other arguments are as in
        `sample`: ``monitor`` has to be that of the run, whose statistics go on.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="coin") as coin:
        ...     p = gp.Beta("p", 1, 1)
        ...     heads = gp.Binomial("heads", 10, p, observed=7)
        >>> sampler = gp.compile(coin)
        >>> longer = sampler.extend(sampler.sample(100, chains=2, seed=1), more=50)
        >>> print((longer["p"] == sampler.sample(150, chains=2, seed=1)["p"]).all())
        True
        """
        ends = ChainEnds.of(draws)
        ends.made.identity.check(self._identity(), "draws")
        asked, temper = ends.made.asked, ends.made.temper
        thin, warmup = (draws.attributes[n] for n in ("thin", "warmup"))
        size, chains = Size(draws.draws + more, warmup, thin), [p.chain for p in ends.positions]
        watch = self._watching(monitor, draws.attributes.get("seed"))
        check_monitors(watch, draws, ends.made.monitored)
        check_folder(checkpoint, every, watch)
        kept = {name: draws.every.get(name, 1) for name in draws}
        records = Records(kept, {} if watch is None else watch.watched)
        engine = self._engine(asked, len(chains) * more * thin, records.named)
        own = (self.program, self.prepared)
        ready = Ready(*own, chains, engine, self.types, records, draws.attributes.get("seed"))
        if temper is not False:
            ready = self._with_powers(ready, temper, asked, size, is_given=True)
        run = self._run(ready, asked, temper, size, until, watch, draws.attributes)
        if checkpoint is None:
            check_memory(run.beginning.needed, limit_bytes)
        check_memory(run.beginning.added_up, limit_bytes, "statistics")
        before = Before.of(draws, run.beginning.job.kept)
        so_far = going_on(run.beginning, ends.positions, draws)
        shown = shown_of(progress, callback, callback_every)
        how: How = {"shown": shown, "checkpoint": checkpoint, "every": every}
        with_warmup = warmups.with_warmup_of(draws, run)
        return drawn(with_warmup, so_far, Wanted(cores, executor), **how, before=before)

    def _run(
        self,
        ready: Ready,
        asked: Asked,
        temper: bool | int,
        size: Size,
        until: Until | None,
        watch: Watching | None,
        started: Attributes | None = None,
    ) -> Run:
        """The run of chains that are ready, which have ``started`` as is told."""
        begun = ready.attributes if started is None else started
        told = partial(_told, self, ready.read, begun, watch)
        seconds = None if temper else partial(self._seconds, ready.engine, asked.threads, until)
        # (the same settings would choose the same back end here; another machine may have no Numba)
        backend = checked_backend(ready.engine.name)
        monitored = {} if watch is None else watch.digests
        made = Made(self._identity, replace(asked, backend=backend), temper, monitored)
        found = beginning(ready, size, until)
        left_out = found.left_out or begun.get("left_out")
        return Run(made, replace(found, left_out=left_out), told, seconds)

    def _identity(self) -> Identity:
        """The identity of runs of this sampler."""
        return Identity.of(self.graph.name, str(self.graph), self.data, self.program.source)

    def _ready(
        self,
        asked: Asked,
        size: Size,
        records: Records,
        chains: int,
        sequence: np.random.SeedSequence,
        init: Init,
    ) -> Ready:
        """Chains at their starts, and an engine for the sweeps of a run of this size."""
        engine = self._engine(asked, chains * size.sweeps, records.named)
        starts = self._started(chains, sequence, init, engine=engine)
        return self._ready_at(starts, engine, records, sequence)

    def _ready_at(
        self,
        starts: Started,
        engine: Engine | None,
        records: Records,
        sequence: np.random.SeedSequence,
    ) -> Ready:
        """Chains at their starts, and an engine for their sweeps, by default that in NumPy."""
        own = (self.program, self.prepared)
        sweeping, told = engine or Interpreted.of(*own), (starts.origins, starts.seconds)
        return Ready(*own, starts.chains, sweeping, self.types, records, sequence.entropy, *told)

    def _watching(self, monitor: ToMonitor | None, entropy: object) -> Watching | None:
        """What a run with this seed is to watch, as its argument ``monitor`` says."""
        if monitor is None:
            return None
        from gibbsppl.sampling.monitors import watching  # noqa: PLC0415  (only when asked for)

        seed = crc32(str(entropy).encode())  # (draws that were saved have it as a text)
        dims = self.derivation.facts.dims
        return watching(monitor, self.graph, self.data, dims, self.coords, seed)

    def _with_powers(
        self, ready: Ready, temper: bool | int, asked: Asked, size: Size, *, is_given: bool
    ) -> Ready:
        """Chains of parallel tempering, from those of the model."""
        model: Any = self
        found: Ready = model._tempered(ready, temper, asked, size, is_given=is_given)  # noqa: SLF001
        return found

    def _engine(self, asked: Asked, sweeps: int, keep: Sequence[str]) -> Engine:
        """An engine for so many sweeps."""
        loops, own = partial(self.loops, keep=keep), (self.program, self.prepared)
        numpy, worth = partial(Interpreted.of, *own), self.derivation.worth
        return engine_for(asked, numpy, loops, sweeps, worth)

    def _seconds(
        self, engine: Engine, threads: int | None, until: Until | None, sweeps: int
    ) -> float:
        """About the seconds of so many sweeps, as far as a rule lets them go on.

        NaN where they are not known, or threads have the cores.
        """
        found = nan if threads else seconds_of(engine, self.loops, sweeps, self.derivation.worth)
        minutes = None if until is None else until.minutes
        return found if minutes is None else min(found, 60 * minutes)

    def as_draws(self, result: RunResult, started: Attributes) -> Draws:
        """The draws with the names of their dims, their coords, the data, and how they were made.

        ``started`` says where the chains have started, and what has made their sweeps.
        """
        values = result.values
        stats = {**warmups.statistics_of(result.rates), **result.stats}
        own = self.graph.variables
        labels = {n: v.of.name for n, v in own.items() if n in values and v.of is not None}
        attributes = {
            "model": self.graph.name,
            **started,
            "warmup": result.warmup,
            "thin": result.thin,
            "sampling_seconds": result.seconds[1],
            "warmup_seconds": result.seconds[0],
            "interrupted": result.interrupted,
            "until": result.until,
            "left_out": result.left_out,
            LABELS: dims_told(labels),
            "choices": "\n".join(self.derivation.facts.choices),
            "tuned": None if self.tuned_from is None else self.tuned_from.best.name,
            "tuned_from": None if self.tuned_from is None else str(self.tuned_from),
        }
        dims = self.derivation.facts.dims
        observed = observations(self.graph, self.data)
        data = {n: (dims[n], np.asarray(a)) for n, a in self.data.items() if n in own}
        used = {d for n in (*values, *data) for d in dims[n]} | {*labels.values()}
        return Draws(
            values=dict(values),
            dims={n: dims[n] for n in values},
            coords={d: as_array(c) for d, c in self.coords.items() if d in used},
            observed_data={n: (dims[n], a) for n, a in observed.items()},
            constant_data={n: v for n, v in data.items() if n not in observed},
            sample_stats=stats,
            every=result.every,
            groups=warmups.warmup_groups(result, dims, self.coords),
            attributes={k: v for k, v in attributes.items() if v is not None},
        )
