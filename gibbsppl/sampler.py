"""A sampler: a model with its derivation and its program, and what can be asked of it.

>>> import gibbsppl as gp
>>> with gp.Model(name="coin") as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Binomial("heads", 10, p, observed=7)
>>> sampler = gp.compile(coin)
>>> print(sampler)
coin: 1 step, all exact
  p  Beta  eta = (heads, 10 - heads)
>>> draws = sampler.sample(draws=500, warmup=100, chains=2, seed=1)
>>> draws["p"].shape
(2, 500)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from gibbsppl.algebra.pickling import pickled, restored
from gibbsppl.arguments import methods_told
from gibbsppl.cache.derivation import Derivation, derivation_of
from gibbsppl.checks.methods import Checking
from gibbsppl.code.program import Constants, Prepared, Program, load
from gibbsppl.comparing.methods import Comparing
from gibbsppl.errors import CompileError, RunError
from gibbsppl.fits.methods import Fitting
from gibbsppl.initial.inits import Init, inits_of
from gibbsppl.initial.pilot import Pilots
from gibbsppl.initial.propriety import check_proper, check_proper_as_usual
from gibbsppl.language.coordinates import as_array
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array, Attributes
from gibbsppl.output.draws import STATISTICS, Draws
from gibbsppl.predict.methods import Names, Predicting
from gibbsppl.run.choice import Asked, Backend, asked_for, engine_for, seconds_of
from gibbsppl.run.engines import Engine, Interpreted
from gibbsppl.run.pools import Wanted, pool_of
from gibbsppl.run.recording import Types
from gibbsppl.run.sampling import Chain, RunResult, Seed, check_memory, run, seed_sequence, streams
from gibbsppl.settings import ARGUMENTS, Settings, checked_settings
from gibbsppl.tempering.methods import AtPowers

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from gibbsppl.bugs.reading import Reading
    from gibbsppl.checks.results import Verification
    from gibbsppl.code.loop_program import LoopProgram
    from gibbsppl.comparing.comparison import Comparison
    from gibbsppl.initial.rooms import Rooms
    from gibbsppl.output.until import Until
    from gibbsppl.rewrites import Found
    from gibbsppl.schedule.moments import By
    from gibbsppl.schedule.sweeps import Schedule

FIXED = ("prior", "given")  # notes of initial values that no rule made up


def compiled(
    graph: Graph,
    data: Values,
    coords: Mapping[str, Array | range],
    settings: Settings,
    *,
    declared: bool = False,
) -> Sampler:
    """The sampler of a graph, as declared or with limits; settings as `compile` takes them."""

    def derive() -> Derivation:
        from gibbsppl.deriving import derived  # noqa: PLC0415  (not if it was derived before)
        return derived(graph, data, settings, declared=declared)

    found = derivation_of(graph, data, {**settings, "declared": declared}, derive)
    program = load(found.facts.source, found.functions)
    prepared = Prepared(program, found.known)
    return Sampler(found.graph, found.known, coords, found, program, prepared, settings)


def _restored(content: bytes) -> Sampler:
    """The sampler that was pickled; nothing is derived."""
    (facts, graph, known, functions, schedule), given = restored(content)
    derivation = Derivation(facts, graph, known, lambda: schedule, functions, made=schedule)
    declared, data, coords, settings, reading, tuned_from = given
    program = load(facts.source, functions)
    made = (program, Prepared(program, known), settings, reading, tuned_from)
    return Sampler(declared, data, coords, derivation, *made)


@methods_told(RunError, **ARGUMENTS)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sampler(Predicting, Fitting, AtPowers, Comparing, Checking):
    """A compiled model: its graph, data, derivation and program.

    ``graph`` is the declared model with the limits of its parameters; ``schedule.graph`` has the
    auxiliary variables too. ``reading`` is the program text that the model was read from, if any;
    ``tuned_from`` the comparison that it has won, if it has been chosen by `tuned`.
    """

    graph: Graph
    data: Values
    coords: Mapping[str, Array | range]
    derivation: Derivation
    program: Program
    prepared: Prepared
    settings: Settings
    reading: Reading | None = None
    tuned_from: Comparison | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        own = self.derivation
        derived = (own.facts, own.graph, own.known, own.functions, own.schedule)
        given = (self.graph, self.data, self.coords, self.settings, self.reading, self.tuned_from)
        return _restored, (pickled((derived, given)),)

    @property
    def constants(self) -> Constants:
        """The constants that sweeps in NumPy read beside the state."""
        return self.prepared.made

    @property
    def types(self) -> Types:
        """The types that draws are kept as: the smallest that hold a variable's support."""
        return self.derivation.facts.types

    def __str__(self) -> str:
        text = self.derivation.text(self._choices)
        return text if self.tuned_from is None else f"{self.tuned_from.as_chosen}\n\n{text}"

    def __repr__(self) -> str:
        return f"<Sampler of {self.graph.name}: {len(self.program.steps)} steps>"

    @property
    def schedule(self) -> Schedule:
        """The steps of a sweep; derived, or read, when first asked for."""
        return self.derivation.schedule

    @property
    def source(self) -> str:
        """The generated NumPy module."""
        return self.program.source

    def explain(self, name: str | None = None) -> str:
        """The derivation of the conditional of a variable, or of all, with the rewrites."""
        from gibbsppl.code.source import lines_by_step  # noqa: PLC0415  (only when asked for)
        from gibbsppl.explain import explained  # noqa: PLC0415  (only when asked for)

        told = explained(self.schedule, lines_by_step(self.schedule), self.data, name)
        return told + (f"\n\n\n{self.rewrites}" if name is None else "")

    @property
    def rewrites(self) -> str:
        """The rewrites made, such as auxiliary variables, and the possible further ones."""
        from gibbsppl.explain import rewrites_told  # noqa: PLC0415  (only when asked for)

        return rewrites_told(self.schedule, self.graph, self.data, self.settings["collapse"])

    def verify(self, seed: int = 0) -> Verification:
        """The exact checks of the whole sampler: a printed table with ``.passed`` and ``.proved``.

        A random change of each variable must change the log joint density and the log of the
        generated conditional by the same amount, to 1e-9 of the size of the terms; the graphs in
        which steps draw must have the density of the declared model; a model read from a text must
        have the density of the text, read once more. ``passed``: nothing disagrees. ``proved``:
        besides, no comparison is left open. Of conditionals that are read by their means or modes:
        those of the draws, to which they come at a point; and the bound, which no update lets fall.
        """
        from gibbsppl.checks.verification import verify  # noqa: PLC0415  (only checks need it)

        if self.settings["by"]:
            from gibbsppl.fits.verification import verify_readings  # noqa: PLC0415  (as above)

            return verify_readings(self, self.drawing(), seed)
        schedule = self.schedule
        parts = (self.graph, self.program, schedule.steps, self.data, seed)
        return verify(*parts, graphs=schedule.graphs, schedule=schedule, reading=self.reading)

    def _with(self, data: Values | None = None, **changes: object) -> Sampler:
        """The sampler of the same model with other settings, or of other data."""
        settings = checked_settings(**{**self.settings, **changes})
        made = compiled(self.graph, data or self.data, self.coords, settings)
        return made if data else replace(made, reading=self.reading)

    def _operations_with(self, changes: Settings, found: Found) -> float | None:
        from gibbsppl.deriving import scheduled  # noqa: PLC0415  (when asked for)

        settings = checked_settings(**{**self.settings, **changes})
        try:
            other = scheduled(self.graph, self.data, settings, found)
            operations = other.operations
        except CompileError:
            return None
        return None if other.schedule.ways == self.schedule.ways else operations

    def initial_states(
        self, chains: int, seed: Seed = None, init: Init = None
    ) -> tuple[list[Chain], dict[str, str]]:
        """A dispersed starting state and random stream per chain, and the origin of each value."""
        engine: Engine = Interpreted(self.program, self.constants)
        if not self.derivation.facts.is_within:
            engine = self._engine(asked_for("auto"), chains, ())
        return self._starts(chains, seed, init, engine)

    def _starts(
        self, chains: int, seed: Seed, init: Init, engine: Engine
    ) -> tuple[list[Chain], dict[str, str]]:
        if self.settings["by"]:
            from gibbsppl.fits.points import moments_at  # noqa: PLC0415  (draws need none)

            found, notes = self._with(by={}).initial_states(chains, seed, init)
            for chain in found:
                chain.state |= moments_at(self.schedule, {**self.derivation.known, **chain.state})
            return found, notes
        pilots = Pilots(self.graph, self.data, self.program, self.prepared, engine)
        return pilots.starts(streams(seed, chains), inits_of(init, chains), self._check_proper)

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
        keep: Sequence[str] | None = None,
        backend: Backend | None = None,
        threads: int | None = None,
        dtype: str | None = None,
        temper: bool | int = False,
        cores: int | None = None,
        executor: Executor | None = None,
        until: Until | None = None,
        progress: bool = True,
        limit_bytes: int = 4 << 30,
    ) -> Draws:
        """Draws from the posterior.

        ``draws`` per chain are kept, every ``thin`` sweeps after ``warmup`` sweeps. ``seed`` is a
        whole number, a ``SeedSequence`` or a ``Generator``; without one, a fresh one is drawn and
        recorded. ``init`` fixes starting values by variable, NaN for elements without; a list has
        one such mapping for each chain, and of a fit each starts from a draw. ``keep`` names the
        variables to keep. By default these are all of the model's but labels and counts, each with
        draws of more than 64 MiB: a line on stderr and ``draws.left_out`` say so. Whole numbers
        have the smallest integer type that holds their support, which products can leave.
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
        Above ``limit_bytes`` of draws the run is refused. Ctrl-C returns the draws so far and
        reports the rest, which ``draws.interrupted`` does too.
        """
        if not self.program.steps or (keep is not None and not len(keep)):
            raise RunError(
                f"{self.graph.name}: there is nothing to draw or to keep; a run needs a latent "
                "variable, and keep= at least one name."
            )
        asked = asked_for(backend, threads, dtype)
        wanted = Wanted(cores, executor)
        check_memory({self.graph.name: chains * draws}, limit_bytes)  # (a byte each at least)
        sequence, sweeps = seed_sequence(seed), chains * (warmup + draws * thin)
        how: dict[str, Any] = {"draws": draws, "warmup": warmup, "thin": thin, "keep": keep}
        how |= {"progress": progress, "limit_bytes": limit_bytes, "until": until}
        if temper is False:
            engine, starts, started = self._started(asked, sweeps, keep, chains, sequence, init)
            own = (self.program, self.prepared)
            seconds = partial(self._seconds, engine, sweeps, threads, until)
            with pool_of(wanted, chains, seconds) as pool:
                result = run(*own, starts, engine=engine, types=self.types, pool=pool, **how)
        else:
            from gibbsppl.tempering.sampling import hot, tempered_run  # noqa: PLC0415  (if asked)

            starts, notes = self.initial_states(chains, sequence, init)
            given, model = init is not None, hot(self, compiled)
            with pool_of(wanted, chains, lambda: nan) as pool:
                how["pool"] = pool
                result, made = tempered_run(model, starts, temper, asked, how, given)
            started = self._told(sequence, made, notes)
        return self.as_draws(result, started)

    def _started(
        self, asked: Asked, sweeps: int, keep: Names, chains: int, seed: Seed, init: Init
    ) -> tuple[Engine, list[Chain], Attributes]:
        """An engine for so many sweeps, starts of chains, and what is said of both."""
        sequence, names = seed_sequence(seed), (keep,) if isinstance(keep, str) else keep or ()
        engine = self._engine(asked, sweeps, names)
        starts, notes = self._starts(chains, sequence, init, engine)
        return engine, starts, self._told(sequence, engine.attributes, notes)

    def _engine(self, asked: Asked, sweeps: int, keep: Sequence[str]) -> Engine:
        """An engine for so many sweeps."""
        loops, own = partial(self.loops, keep=keep), (self.program, self.prepared)
        numpy, worth = partial(Interpreted.of, *own), self.derivation.worth
        return engine_for(asked, numpy, loops, sweeps, worth)

    def _seconds(
        self, engine: Engine, sweeps: int, threads: int | None, until: Until | None
    ) -> float:
        """About the seconds of so many sweeps, as far as a rule lets them go on.

        NaN where they are not known, or threads have the cores.
        """
        found = nan if threads else seconds_of(engine, self.loops, sweeps, self.derivation.worth)
        minutes = None if until is None else until.minutes
        return found if minutes is None else min(found, 60 * minutes)

    @staticmethod
    def _told(
        seed: np.random.SeedSequence, made: Attributes, notes: Mapping[str, str]
    ) -> Attributes:
        """Attributes of draws on their making: seed, engine, and starts that a rule made up."""
        by_rule = ", ".join(n for n, told in notes.items() if told not in FIXED)
        return {"seed": seed.entropy, **made, "started_by_rule": by_rule}

    def of_graph(
        self, graph: Graph, data: Values, coords: Mapping[str, Array | range], settings: Settings
    ) -> Sampler:
        """The sampler of another graph."""
        return compiled(graph, data, coords, settings)

    def loops(self, dtype: str = "float64", keep: Sequence[str] | None = None) -> LoopProgram:
        """The sweep in loops, large arrays of a ``dtype``; its state without what is not kept."""
        from gibbsppl.code.loop_program import loops_of  # noqa: PLC0415  (only where it is compiled)

        return loops_of(self.schedule, self.data, self.prepared, dtype, keep)

    def as_draws(self, result: RunResult, started: Attributes) -> Draws:
        """The draws with the names of their dims, their coords, the data, and how they were made.

        ``started`` says where the chains have started, and what has made their sweeps.
        """
        values = result.values
        stats = {f"{STATISTICS[what]}{step}": r for (step, what), r in result.rates.items()}
        stats |= result.stats
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
            "choices": "\n".join(self.derivation.facts.choices),
            "tuned": None if self.tuned_from is None else self.tuned_from.best.name,
            "tuned_from": None if self.tuned_from is None else str(self.tuned_from),
        }
        dims = self.derivation.facts.dims
        observed = {s.target.array.name for s in self.graph.statements if s.known != 0}
        observed |= {p.of for p in self.graph.potentials if p.of is not None}
        own = self.graph.variables
        data = {n: (dims[n], np.asarray(a)) for n, a in self.data.items() if n in own}
        used = {d for n in (*values, *data) for d in dims[n]}
        return Draws(
            values=dict(values),
            dims={n: dims[n] for n in values},
            coords={d: as_array(c) for d, c in self.coords.items() if d in used},
            observed_data={n: v for n, v in data.items() if n in observed},
            constant_data={n: v for n, v in data.items() if n not in observed},
            sample_stats=stats,
            attributes={k: v for k, v in attributes.items() if v is not None},
        )

    def drawing(self) -> Sampler:
        """The sampler that draws from the conditionals which this one reads otherwise."""
        from gibbsppl.rewrites import REWRITES  # noqa: PLC0415  (when asked for)

        # (in one graph no scale is drawn without its locations)
        applied = {r.rule.name for r in self.schedule.rewrites}
        made = {r.name: r.name in applied for r in REWRITES} | {"locations": False}
        return self._with(by={}, interweave=False, rewrites=made)

    def read_by(self, by: Mapping[str, By]) -> Sampler:
        """The sampler of the same model in one graph, its conditionals read otherwise.

        Labels that are drawn approximately, with others integrated out, are read so, too.
        """
        labels = {s.name for s in self.schedule.approximate}
        is_so = bool(labels) and all(by.get(n) == "mean" for n in labels)
        return self._with(
            kernels={}, order=(), scan="systematic", interweave=False, by=by, approximate=is_so,
            collapse=self.settings["collapse"] if is_so else (),
        )  # fmt: skip
