"""The exact check of the graphs of steps: each is the declared model, written otherwise.

A step draws in a graph that may have auxiliary variables ``w`` more than the model, or lack
variables ``v`` of it, which are integrated out. For conditionals q, each normalised,

    log_joint(graph) - log q(w | rest) + log q(v | rest) - log_joint(declared)

is the same whatever the values of all variables are, and no graph has a density where the model
forbids one: nothing of the model has been lost or added on the way (S. Chib, 1995, "Marginal
likelihood from the Gibbs output", Journal of the American Statistical Association 90). That each q
is right as a function of its own variable is what the ratio check says. How graphs were made is not
asked: nothing here knows of rewrites.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product

import numpy as np
from sympy import Add

from gibbsppl.checks.label_by_label import log_probability_of_labels
from gibbsppl.checks.normalised import log_conditional, size_of_partition
from gibbsppl.checks.perturb import Which, perturbed
from gibbsppl.checks.results import RELATIVE_TOLERANCE, badness
from gibbsppl.checks.terms import Terms, keeps_digits, size_of
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.initial.requirements import Requirement, outside, requirements_of
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.stand_ins import with_stand_ins
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# The change of a variable and its reverse, in words.
ADDED = ("added", "integrated out")
INTEGRATED_OUT = ("integrated out", "drawn")
TAKEN_APART = ("taken apart", "put together")

# How far a variable, or one of its elements, is moved, one move after the other (those of counts
# are short), to where the model may have no density.
SCALES = (0.5, 1.0, 2.0, 8.0, 8.0, 8.0)
SINGLE: tuple[Which | None, ...] = (None, "any")


@dataclass(frozen=True, slots=True)
class GraphChange:
    """A variable that a graph adds, lacks or takes apart, compared with the declared graph."""

    variable: str
    done: tuple[str, str]

    @property
    def words(self) -> str:
        """The change in words."""
        return f"{self.variable} {self.done[0]}"

    @property
    def undone(self) -> str:
        """The way back in words."""
        return f"{self.variable} {self.done[1]}"


@dataclass(frozen=True, slots=True)
class GraphRow:
    """The differences between a graph and a previous graph, and the gap of their log densities.

    ``changes`` are words, none where both have the same variables. ``discrepancy`` is the gap of
    the two states with the largest gap in proportion to the ``size`` of the terms; None where a
    normaliser is out of reach, or where rounding hides a gap of one (``is_hidden``).
    """

    changes: tuple[str, ...]
    discrepancy: float | None
    size: float
    is_hidden: bool = False


def graph_rows(
    declared: Graph, schedule: Schedule, program: Program, data: Values, states: Sequence[Values]
) -> list[GraphRow]:
    """A row for each graph in which a step draws, and for each intermediate graph."""
    check = _Check(declared, schedule, program, data, program.prepare(data))
    waiting = {id(g): (g, check.changes(g)) for g in check.graphs() if not check.is_declared(g)}
    none = _Heights([np.zeros(1) for _ in states], (), lambda _: 0.0, states)
    known: list[tuple[frozenset[GraphChange], _Heights]] = [(frozenset(), none)]
    rows = []
    while waiting:
        # (the graph that is nearest to one that is known)
        key, before = min(
            product(waiting, known), key=lambda pair: len(waiting[pair[0]][1] ^ pair[1][0])
        )
        graph, changes = waiting.pop(key)
        heights = check.heights(graph, states)
        known.append((changes, heights))
        gap, size, is_hidden = heights.against(before[1])
        if check.is_wider(graph, changes, states):
            gap, size, is_hidden = np.inf, 1.0, False
        words = (*(c.words for c in changes - before[0]), *(c.undone for c in before[0] - changes))
        rows.append(GraphRow(tuple(sorted(words)), gap, size, is_hidden))
    return rows


@dataclass(frozen=True, slots=True)
class _Heights:
    """The log density of a graph minus that of the declared graph at each state, in terms.

    The terms are None where a normaliser is out of reach. ``graphs``: those of both graphs alone;
    ``partitions``: the size of the terms of the log partitions at a state.
    """

    terms: Sequence[Floats | None]
    graphs: tuple[Terms, ...]
    partitions: Callable[[Values], float]
    states: Sequence[Values]

    def against(self, other: _Heights) -> tuple[float | None, float, bool]:
        """The gap of two differences, the size of the terms, and whether rounding hides the gap.

        States are compared two by two: at some, terms may be so large that they hide the others.
        None where a normaliser is out of reach, or a gap of one is hidden between all pairs.
        """
        own = [a for a in self.terms if a is not None]
        others = [b for b in other.terms if b is not None]
        sizes = [max(size_of(a, b), 1.0) for a, b in zip(own, others, strict=False)]
        if not self.states or min(len(own), len(others)) < len(self.states):
            return None, max(sizes, default=1.0), False
        heights = [a.sum() - b.sum() for a, b in zip(own, others, strict=True)]
        found = [(0.0, max(sizes))]
        for i, j in combinations(range(len(self.states)), 2):
            gap = float(np.nan_to_num(abs(heights[i] - heights[j]), nan=np.inf))
            size = sizes[i] + sizes[j]
            for h in (self, other):
                at = (h.states[i], h.states[j])
                for terms in h.graphs:
                    size = terms.size_behind(gap, size, at)
                if RELATIVE_TOLERANCE * size < gap < np.inf:
                    size += sum(map(h.partitions, at))
            found.append((gap, size))
        gap, size = max(found, key=badness)
        is_told = gap > RELATIVE_TOLERANCE * size or keeps_digits(min(s for _, s in found))
        return (gap, size, False) if is_told else (None, size, True)


@dataclass(frozen=True, slots=True)
class _Check:
    declared: Graph
    schedule: Schedule
    program: Program
    data: Values
    constants: Constants

    def graphs(self) -> Iterator[Graph]:
        """The graphs of steps and of rewrites; for a non-centred update, before recentring."""
        schedule = self.schedule
        for step, graph in zip(schedule.steps, schedule.graphs, strict=True):
            interwoven = schedule.interwoven.get(step.name)
            yield graph if interwoven is None else interwoven.before
        for rewrite in schedule.rewrites:
            yield rewrite.graph

    def is_declared(self, graph: Graph) -> bool:
        """Whether a graph has the factors of the declared one, and no others."""
        return {f.name: f for f in graph.factors} == {f.name: f for f in self.declared.factors}

    def changes(self, graph: Graph) -> frozenset[GraphChange]:
        """The differences between a graph and the declared one."""
        parts = {p.name: p.of for p in self.schedule.parts}
        own = {parts.get(n, n) for n in graph.drawn}
        apart = {of for n, of in parts.items() if n in graph.drawn}
        declared = set(self.declared.drawn)
        return frozenset(
            (
                *(GraphChange(n, TAKEN_APART) for n in apart),
                *(GraphChange(n, ADDED) for n in own - declared),
                *(GraphChange(n, INTEGRATED_OUT) for n in declared - own),
            )
        )

    def is_wider(
        self, graph: Graph, changes: Iterable[GraphChange], states: Sequence[Values]
    ) -> bool:
        """Whether a graph has a density near to some state where the declared one forbids it.

        Where nothing is integrated out: what is may be impossible at the value that it has.
        """
        if any(c.done == INTEGRATED_OUT for c in changes):
            return False
        rng = np.random.default_rng(len(states))
        required = [r for r in requirements_of(self.declared) if r.gap is not None]
        moves = [
            (s, own, asked)
            for s in self.declared.latent
            for own in (Terms(graph.factors_of(s.target.array), graph.sizes),)
            for asked in ([r for r in required if r.mentions((s.target.array.name,))],)
            if own.factors and asked  # (what is taken apart has none)
        ]
        with np.errstate(all="ignore"):
            return any(
                self._is_wider_at(rng, *move, {**self.data, **self._with_parts(state)})
                for state in states
                for move in moves
            )

    def _is_wider_at(
        self,
        rng: np.random.Generator,
        moved: Statement,
        own: Terms,
        required: Sequence[Requirement],
        values: Values,
    ) -> bool:
        """Whether a forbidden state of a variable, reached by some moves, has a density."""
        name, sizes = moved.target.array.name, self.declared.sizes
        free = free_elements(moved, values, sizes)
        for single in SINGLE:
            at = dict(values)
            for scale in SCALES:
                there = perturbed(rng, moved, at, sizes, free, scale=scale, single=single)
                at[name] = there
                forbidden = any(_is_beyond(self.declared, r, at) for r in required)
                if forbidden and np.isfinite(own.at(at)).all():
                    return True
        return False

    def heights(self, graph: Graph, states: Sequence[Values]) -> _Heights:
        """The log density of a graph minus conditionals and the model's own, at each state."""
        graphs = (_of_graph(graph), _of_graph(self.declared))
        with_parts = [self._with_parts(s) for s in states]
        terms = [self._terms(graph, values) for values in with_parts]
        partitions = partial(self._size_of_partitions, graph)
        return _Heights(terms, graphs, partitions, [{**self.data, **v} for v in with_parts])

    def _terms(self, graph: Graph, values: Values) -> Floats | None:
        at = {**self.data, **values}
        terms = [_of_graph(graph).at(at), -_of_graph(self.declared).at(at)]
        for step, names, sign in self._conditionals(graph):
            log_q = self._log_conditional(step, names, values)
            if log_q is None:
                return None
            terms.append(sign * log_q)
        return np.concatenate(terms)

    def _conditionals(self, graph: Graph) -> Iterator[tuple[Step, tuple[str, ...], int]]:
        """The steps whose conditionals are between a graph and the declared one, with signs.

        Of a joint draw that of some arrays may be, given the others.
        """
        own, declared = set(graph.drawn), set(self.declared.drawn)
        parts = {n for p in self.schedule.parts for n in (p.name, p.of)}
        added, gone = own - declared - parts, declared - own - parts
        for names, sign in ((added, -1), (gone, 1)):
            steps = {s.name: s for name in sorted(names) for s in self.schedule.drawing(name)}
            for step in steps.values():
                yield step, tuple(n for n in step.variables if n in names), sign

    def _size_of_partitions(self, graph: Graph, values: Values) -> float:
        fixed = (self.schedule, self.program, self.data, self.constants)
        steps = (step for step, *_ in self._conditionals(graph))
        return sum(size_of_partition(*fixed, step, values) for step in steps)

    def _log_conditional(
        self, step: Step, names: Collection[str], values: Values
    ) -> Floats | None:
        """The terms of the log density of variables of a step, given all of the graph with them.

        Of labels drawn one by one with variables integrated out, given these variables.
        """
        if not step.is_by_element:
            fixed = (self.schedule, self.program, self.data, self.constants)
            return log_conditional(*fixed, step, values, names)
        name = step.statement.target.array.name
        made = (r.graph for r in self.schedule.rewrites if name in r.graph.drawn)
        graph = next(made, None)
        if graph is None:
            return None
        found = log_probability_of_labels(graph, step.statement, {**self.data, **values})
        return None if found is None else np.array([found])

    def _with_parts(self, state: Values) -> State:
        """The values, with the parts of arrays that are taken apart."""
        sizes = self.schedule.whole.sizes
        values: State = with_stand_ins(self.schedule.parts, state, sizes)
        return values


def _is_beyond(graph: Graph, required: Requirement, values: Values) -> bool:
    """Whether a requirement is not met at some position, by more than rounding.

    (A probability that is a sum of shares may come to more than one.)
    """
    far = outside(graph, required, values)
    if not (far > 0).any():
        return False
    assert required.gap is not None
    over, terms = required.factor.over, Add.make_args(required.gap)
    sizes = sum(np.abs(evaluate(t, over, values, graph.sizes)) for t in terms)
    return bool((far > RELATIVE_TOLERANCE * np.nan_to_num(sizes)).any())


def _of_graph(graph: Graph) -> Terms:
    """The log densities of all factors."""
    return Terms(graph.factors, graph.sizes)
