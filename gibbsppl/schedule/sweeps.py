"""A schedule: the steps of one sweep, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gibbsppl.derive.contractions import Contribution
from gibbsppl.errors import CompileError
from gibbsppl.model.graph import Graph
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.rewrites import Rewrite
from gibbsppl.rewrites.stages import NonCentred
from gibbsppl.schedule.choices import Choice
from gibbsppl.schedule.composed import Composed, Turn
from gibbsppl.schedule.pages import Listed
from gibbsppl.schedule.precisions import TooLarge
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True, repr=False)
class Schedule(Listed):
    """One sweep: its steps in order.

    ``graph`` is that of all variables. ``graphs`` has for each step the graph in which it draws:
    one that lacks auxiliary variables has them integrated out. ``rewrites`` brought them in.
    ``parts`` are arrays that stand for positions of others while a sweep goes on. Auxiliary
    variables ``within_sweep`` hold for some of its draws alone. ``tables`` are data besides those
    of the model, which its program reads. ``scan`` says how steps follow one another: in order, or
    by ``units`` (each the positions of steps that stay together), of which a random scan draws as
    many as there are, with probabilities in proportion to ``weights`` (none: all equal), and a
    symmetric one takes all forwards and then backwards. ``interwoven`` are the
    non-centred updates, by name of step: stand-ins are computed before the draw, what they stand
    for after. ``leaves`` are arrays with leaves (missing data, predictions), imputed last.
    ``bound`` has the terms of the evidence lower bound, where variables are read by their means.
    ``composed`` says of the consecutive steps by one kernel that is made of others how they follow
    one another. ``apart`` are arrays that would be drawn jointly if their precision matrix were not
    too large. ``choices`` say what else there was. ``memory`` tells of steps that would hold too
    much if sweeps in NumPy drew all elements at once.
    """

    graph: Graph
    steps: tuple[Step, ...]
    graphs: tuple[Graph, ...]
    rewrites: tuple[Rewrite, ...] = ()
    parts: tuple[StandIn, ...] = ()
    within_sweep: frozenset[str] = frozenset()
    tables: Mapping[str, Any] = field(default_factory=dict)
    scan: str = "systematic"
    units: tuple[tuple[int, ...], ...] = ()
    weights: tuple[float, ...] = ()
    interwoven: Mapping[str, NonCentred] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()
    bound: tuple[Contribution, ...] = ()
    composed: tuple[Composed, ...] = ()
    apart: tuple[TooLarge, ...] = ()
    choices: tuple[Choice, ...] = ()
    decided: Mapping[str, Any] = field(default_factory=dict)
    memory: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [s.name for s in self.steps]
        twice = sorted({n for n in names if names.count(n) > 1})
        assert not twice, f"{self.graph.name}: several steps are called {', '.join(twice)}"

    @property
    def whole(self) -> Graph:
        """The graph, with the arrays and the dims of all graphs that steps draw in."""
        variables, sizes = dict(self.graph.variables), dict(self.graph.sizes)
        for graph in self.graphs:
            variables = {**graph.variables, **variables}
            sizes = {**graph.sizes, **sizes}
        return replace(self.graph, variables=variables, sizes=sizes)

    @property
    def ways(self) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """The steps, each with what owns it, how it draws, and what its graph draws."""
        own = zip(self.steps, self.graphs, strict=True)
        return [(s.name, s.owner, s.how(self.whole), tuple(g.drawn)) for s, g in own]

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The names of the auxiliary variables, in the order in which they are drawn."""
        return tuple(r.variable for r in self.rewrites)

    @property
    def approximate(self) -> tuple[Step, ...]:
        """The steps that do not leave the posterior as it is, but come near."""
        return tuple(s for s in self.steps if s.approximate)

    @property
    def fallbacks(self) -> tuple[Step, ...]:
        """The moves that no user has asked for: there is no exact draw, and this is told.

        A move beside an exact draw is none, nor one of a block each of whose parts has a draw.
        """
        moves = (s for s in self.steps if s.is_move and s.asked is None and s.refusal is not None)
        return tuple(m for m in moves if m.name not in self.interwoven)

    @property
    def proposed(self) -> tuple[Step, ...]:
        """The moves of blocks, in place of the exact draws of their parts or beside these."""
        return tuple(
            s for s in self.steps if s.is_move and s.asked is None and s.refusal is None
        )

    @property
    def beside(self) -> tuple[Step, ...]:
        """The moves of arrays whose elements are also drawn, by kernels that nobody asked for."""
        return tuple(s for s in self.steps if s.asked is not None and not s.is_asked)

    @property
    def asked(self) -> tuple[Step, ...]:
        """The steps that are no independent draws because the user asks for another kernel."""
        return tuple(s for s in self.steps if s.is_asked)

    def stand_ins(self, step: Step) -> tuple[StandIn, ...]:
        """The arrays that stand for others in the graph of a step, but for parts."""
        found = self.interwoven.get(step.name)
        return () if found is None else found.stand_ins

    def drawn_by(self, step: Step) -> tuple[str, ...]:
        """The arrays that a step draws, by their names in the model."""
        stands_for = {r.name: r.of for r in self.stand_ins(step)}
        return tuple(stands_for.get(n, n) for n in step.variables)

    def changed_by(self, step: Step) -> tuple[str, ...]:
        """The arrays of the model that a step changes: the drawn ones, and groups moved along."""
        moved = (r.of for r in self.stand_ins(step))
        return tuple(dict.fromkeys((*self.drawn_by(step), *moved)))

    def drawing(self, name: str) -> tuple[Step, ...]:
        """The steps that draw an array, each element once.

        Without non-centred updates; of the steps by one kernel an exact draw, if there is one.
        """
        own = [s for s in self.steps if name in s.variables and s.name not in self.interwoven]
        kept: dict[str, Step | None] = {}
        for composed in self.composed:
            parts = [s for s in own if s.name in composed.names]
            kept |= dict.fromkeys(composed.names, min(parts, key=lambda s: s.is_move, default=None))
        return tuple(s for s in own if kept.get(s.name, s) is s)

    def composed_of(self, step: str) -> Composed | None:
        """The steps by one kernel among which a step is; None for a step alone."""
        return next((c for c in self.composed if step in c.names), None)

    def turns(self, places: Iterable[int]) -> tuple[Turn, ...]:
        """The units carried out one after the other, of steps at some places."""
        found: list[Turn] = []
        inside: set[str] = set()
        for name in (self.steps[j].name for j in places):
            composed = self.composed_of(name)
            if composed is None or name not in inside:
                found.append(composed or name)
                inside = set(() if composed is None else composed.names)
            inside.discard(name)
        return tuple(found)

    def only(self, places: Sequence[int]) -> Schedule:
        """The schedule of some of its steps alone, in this order."""
        steps = tuple(self.steps[j] for j in places)
        names = {s.name for s in steps}
        return replace(
            self,
            steps=steps,
            graphs=tuple(self.graphs[j] for j in places),
            interwoven={n: i for n, i in self.interwoven.items() if n in names},
            composed=tuple(c for c in self.composed if names.issuperset(c.names)),
        )

    def graph_of(self, step: Step) -> Graph:
        """The graph in which a step draws."""
        found = zip(self.steps, self.graphs, strict=True)
        return next(graph for s, graph in found if step in (s, s.instead_of))

    def step(self, name: str) -> Step:
        """The step of this name, or the step that draws the statement of this name."""
        named = [s for s in self.steps if s.name == name]
        for step in (*named, *self.steps):
            if name in (step.name, *(t.name for t in step.statements)):
                return step
        raise CompileError(
            f"{self.graph.name}: found no step {name!r}, expected one of "
            f"{', '.join(s.name for s in self.steps)}."
        )
