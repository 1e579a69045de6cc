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
from typing import TYPE_CHECKING, Any

from gibbsppl.algebra.pickling import pickled, restored
from gibbsppl.arguments import methods_told
from gibbsppl.cache.derivation import Derivation, derivation_of
from gibbsppl.checks.methods import Checking
from gibbsppl.code.program import Constants, Prepared, Program, load
from gibbsppl.comparing.methods import Comparing
from gibbsppl.errors import CompileError, RunError
from gibbsppl.explain.methods import Seen
from gibbsppl.fits.methods import Fitting
from gibbsppl.html import Text
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.predict.methods import Predicting
from gibbsppl.run.recording import Types
from gibbsppl.sampling.methods import Drawing
from gibbsppl.settings import ARGUMENTS, Settings, checked_settings
from gibbsppl.tempering.methods import AtPowers

if TYPE_CHECKING:

    from gibbsppl.bugs.reading import Reading
    from gibbsppl.checks.results import Verification
    from gibbsppl.code.loop_program import LoopProgram
    from gibbsppl.comparing.comparison import Comparison
    from gibbsppl.rewrites import Found
    from gibbsppl.schedule.moments import By
    from gibbsppl.schedule.sweeps import Schedule


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
class Sampler(Drawing, Predicting, Fitting, AtPowers, Comparing, Checking, Seen):
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
        text = self.derivation.text(self._counted_choices)
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
        return Text(self.program.source)

    def explain(self, name: str | None = None) -> str:
        """The derivation of the conditional of a variable, or of all, with the rewrites."""
        from gibbsppl.code.source import lines_by_step  # noqa: PLC0415  (only when asked for)
        from gibbsppl.explain import explained  # noqa: PLC0415  (only when asked for)

        told = explained(self.schedule, lines_by_step(self.schedule), self.data, name)
        return Text(told + (f"\n\n\n{self.rewrites}" if name is None else ""))

    @property
    def rewrites(self) -> str:
        """The rewrites made, such as auxiliary variables, and the possible further ones."""
        from gibbsppl.explain import rewrites_told  # noqa: PLC0415  (only when asked for)

        collapse = self.settings["collapse"]
        return Text(rewrites_told(self.schedule, self.graph, self.data, collapse))

    def verify(self, seed: int = 0) -> Verification:
        """The exact checks of the whole sampler: a printed table with ``.passed`` and ``.proved``.

        A random change of each variable must change the log joint density and the log of the
        generated conditional by the same amount, to 1e-9 of the size of the terms; the graphs in
        which steps draw must have the density of the declared model; a model read from a text must
        have the density of the text, read once more; and the sweep that is compiled must be the one
        in NumPy that all this is about, in what draws are given and in the state after it.
        ``passed``: nothing disagrees. ``proved``: besides, no comparison is left open. Of
        conditionals that are read by their means or modes: those of the draws, to which they come
        at a point; and the bound, which no update lets fall.
        """
        from gibbsppl.checks.verification import verify  # noqa: PLC0415  (only checks need it)

        if {*self.settings["by"].values()} - {"draw"}:
            from gibbsppl.fits.verification import verify_readings  # noqa: PLC0415  (as above)

            return verify_readings(self, self.drawing(), seed)
        schedule = self.schedule
        parts = (self.graph, self.program, schedule.steps, self.data, seed)
        return verify(
            *parts, graphs=schedule.graphs, schedule=schedule, reading=self.reading,
            loops=self.loops,
        )  # fmt: skip

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

    def of_graph(
        self, graph: Graph, data: Values, coords: Mapping[str, Array | range], settings: Settings
    ) -> Sampler:
        """The sampler of another graph."""
        return compiled(graph, data, coords, settings)

    def loops(self, dtype: str = "float64", keep: Sequence[str] | None = None) -> LoopProgram:
        """The sweep in loops, large arrays of a ``dtype``; its state without what is not kept."""
        from gibbsppl.code.loop_program import loops_of  # noqa: PLC0415  (only where it is compiled)

        return loops_of(self.schedule, self.data, self.prepared, dtype, keep)

    def drawing(self) -> Sampler:
        """The sampler that draws from the conditionals which this one reads otherwise.

        In one graph, as they are read: draws without auxiliary variables have other conditionals.
        """
        from gibbsppl.rewrites import REWRITES  # noqa: PLC0415  (when asked for)

        # (in one graph no scale is drawn without its locations)
        applied = {r.rule.name for r in self.schedule.rewrites}
        made = {r.name: r.name in applied for r in REWRITES} | {"locations": False}
        # (what is read jointly is drawn jointly, whatever that costs)
        draws = (s.instead_of for s in self.schedule.steps if s.instead_of is not s)
        joint = {d.variables: "together" for d in draws
                 if d is not None and d.is_joint and len(d.variables) > 1}  # fmt: skip
        asked = self.settings["blocks"]
        alone = asked if isinstance(asked, Mapping) else {}
        own: dict[Any, str] = {n: how for n, how in alone.items() if isinstance(n, str)}
        blocks = own | joint if joint else asked
        changes = {"by": {}, "interweave": False, "rewrites": made, "blocks": blocks}
        settings = checked_settings(**{**self.settings, **changes})
        # (an approximate scan is drawn beside others in their own graphs alone)
        by = {} if self.schedule.approximate else dict.fromkeys(self.graph.drawn, "draw")
        sampler = compiled(self.graph, self.data, self.coords, {**settings, "by": by})
        return replace(sampler, reading=self.reading)

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
