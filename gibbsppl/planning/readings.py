"""The readings of a schedule's conditionals: by draw, by mode, by mean.

Comes in: the schedule of a Gibbs sweep, and by which of these each variable is read. Goes out: the
schedule of a sweep in which conditionals are given the moments of what is read by its mean. The
factors of q are the steps of the schedule: what is drawn jointly is averaged jointly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr, mentions
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.gradients import Slopes
from gibbsppl.derive.label_chains import PREVIOUS
from gibbsppl.derive.labels import LABEL
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.expectation.averages import Averages
from gibbsppl.expectation.bound import Term, bound_of, summed
from gibbsppl.expectation.choice import averages_of
from gibbsppl.expectation.expected import Expectation
from gibbsppl.expectation.of_labels import Labels
from gibbsppl.expectation.of_scans import expected_scan
from gibbsppl.kernels.ascent import Ascent
from gibbsppl.kernels.defaults import maker_of
from gibbsppl.kernels.joint import JointDraw, joint_draw
from gibbsppl.kernels.readings import ByMean, ByMode
from gibbsppl.model.graph import Graph, Variable
from gibbsppl.model.graph_views import times_of
from gibbsppl.pieces.split import Piece, View
from gibbsppl.planning.ascents import ascents
from gibbsppl.planning.by_colour import with_colours
from gibbsppl.planning.concave_blocks import Objective
from gibbsppl.planning.step_names import called_by_parts
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.mean_loops import mean_loop
from gibbsppl.schedule.moments import Asked, By, Refused
from gibbsppl.schedule.precisions import is_data_of
from gibbsppl.schedule.steps import OfOne, Step
from gibbsppl.schedule.sweeps import Schedule


def read_by(
    schedule: Schedule, data: Mapping[str, Any], by: Mapping[str, By], blocks: Blocks
) -> Schedule:
    """The schedule with each variable read as asked; an error says what has no such reading."""
    reading = _Reading.of(schedule, by)
    return reading.schedule(data, blocks)


MODES = ("mode", "mode of log")


class _Reading:
    """A schedule whose conditionals are being read otherwise."""

    def __init__(self, schedule: Schedule, by: Mapping[str, By]) -> None:
        latent = [n for n in schedule.graph.drawn if n not in schedule.auxiliary]
        for name in by:
            if name not in latent:
                raise CompileError(
                    f"by: found {name!r}, expected latent variables of the model: "
                    f"{', '.join(latent)}.{did_you_mean(str(name), latent)}"
                )
        drawn = any(by.get(n, "draw") == "draw" for n in latent)
        # (auxiliary variables by mode would change what is maximised)
        self.by = {**dict.fromkeys(schedule.auxiliary, "draw" if drawn else "mean"), **by}
        self.source = schedule
        self.graph = replace(
            schedule.graph, variables=schedule.whole.variables, sizes=schedule.whole.sizes
        )
        names = {*schedule.whole.variables, *(d.name for d in schedule.whole.sizes)}
        self.asked = Asked(names)
        self.averages: dict[str, Averages] = {}

    @property
    def imputed(self) -> set[str]:
        """The steps of what nothing else sees, which comes last, and changes no bound."""
        return {s.name for s in self.source.steps if set(s.variables) <= {*self.source.leaves}}

    @property
    def inner(self) -> Graph:
        """The graph without what is imputed; with all that scans have integrated out."""
        if self.source.approximate:
            return self.graph
        both = zip(self.source.steps, self.source.graphs, strict=True)
        return next((g for s, g in both if s.name not in self.imputed), self.graph)

    @classmethod
    def of(cls, schedule: Schedule, by: Mapping[str, By]) -> _Reading:
        """The readings of a schedule in one graph."""
        found = cls(schedule, by)
        for step in schedule.steps:
            found.check_kernel(step)
        for step, graph in zip(schedule.steps, schedule.graphs, strict=True):
            if found.how(step) == "mean":
                try:
                    found.averages[step.name] = averages_of(graph, found.asked, step)
                except Refused as refused:
                    raise found.error(step, refused) from refused
        return found

    def how(self, step: Step) -> By:
        """How the variables of a step are read."""
        found = {self.by.get(n, "draw") for n in step.variables}
        if len(found) > 1:
            raise CompileError(
                f"by: {', '.join(step.variables)} are drawn jointly, and are read in one way; "
                "name the same for all of them, or keep them apart by blocks=."
            )
        return found.pop()

    def check_kernel(self, step: Step) -> None:
        """Raise an error for variables that are moved by their gradient, which is not averaged."""
        if isinstance(step.conditional, Slopes):
            names = ", ".join(step.variables)
            raise CompileError(
                f"kernels: {step.asked} moves {names} by the gradient of the log density, and by= "
                "needs expectations of what draws are made of; leave "
                f"{names} out of kernels=, or leave by= out."
            )

    def error(self, step: Step, refused: Refused) -> CompileError:
        """The refusal to read a step otherwise than by draws."""
        return CompileError(f"{step.name}: it cannot be read by its {self.how(step)}: {refused}.")

    def schedule(self, data: Mapping[str, Any], blocks: Blocks) -> Schedule:
        """The schedule with the steps read as asked."""
        q = Expectation.of(self.graph, self.averages.values())
        for averages in self.averages.values():
            _ = averages.always, averages.entropy
        inner = q.without([a for n, a in self.averages.items() if n in self.imputed])
        conditionals = {s.name: self._conditional(s, q) for s in self.source.steps}
        try:
            every = (*bound_of(self.inner, inner), *self._jacobians())
        except Refused as refused:
            raise CompileError(f"{self.graph.name} has no bound: {refused}.") from refused
        times = (times_of(self.graph, [r.dim for r in over]) for _, _, over in every)
        terms = tuple((n, t * v, over) for t, (n, v, over) in zip(times, every, strict=True))
        graph = self._graph()
        objective = Objective(graph, terms, data, blocks, Ascent.of)
        climbed = [called_by_parts(a, graph) for a in ascents(objective, self._by_mode())]
        jointly = {t.name: a for a in climbed for t in a.statements}
        alone = [s for s in self.source.steps if all(t.name not in jointly for t in s.statements)]
        steps = [self._made(s, conditionals[s.name], graph, data) for s in alone]
        coloured, tables = with_colours(steps, [graph] * len(steps), data)
        taken = dict(zip((s.name for s in alone), map(self._taken, coloured), strict=True))
        in_order = (taken.get(s.name) or jointly[s.statements[0].name] for s in self.source.steps)
        found = tuple({s.name: s for s in in_order}.values())
        return replace(
            self.source, graph=graph, steps=found, graphs=(graph,) * len(found),
            tables={**self.source.tables, **tables},
            bound=summed(terms, graph.sizes, is_data_of(graph)),
        )  # fmt: skip

    def _by_mode(self) -> list[Step]:
        """The steps that are read by their modes, all whose factors are those of the objective."""
        inner = self.inner
        both = zip(self.source.steps, self.source.graphs, strict=True)
        return [
            s for s, g in both
            if self.how(s) == "mode" and s.name not in self.imputed
            and all(_said_of(g, n) == _said_of(inner, n) for n in s.variables)
        ]  # fmt: skip

    def _conditional(self, step: Step, q: Expectation) -> OfOne | Quadratic:
        """The conditional of a step given the moments of all else."""
        assert not isinstance(step.conditional, Slopes)  # (`check_kernel`)
        own = self.averages.get(step.name)
        if isinstance(step.conditional, Scan):
            assert isinstance(own, Labels)
            try:
                return expected_scan(step.conditional, own)
            except Refused as refused:
                raise self.error(step, refused) from refused
        # (elements that depend on one another are given the moments of the others)
        apart = [own] if own is not None and not step.is_by_element else []
        other = q.without(apart)
        # (a mode without a formula is searched for on the variable's own scale)
        is_sought = self.how(step) in MODES and step.refusal is not None
        found = step.refusal if is_sought and step.refusal is not None else step.conditional
        if is_sought and self.how(step) == "mode of log":
            (view,) = {View(s.target.array, s.target.indices) for s in step.statements}
            log = Piece(step.name, sp.log(view.leaf), (view,), sp.S.One, step.statement.over)
            assert isinstance(found, NotConjugate)
            found = replace(found, pieces=(*found.pieces, log))
        read = [v for _, v in getattr(found, "known", ())]
        read += [limit.value for limit in getattr(found, "limits", ())]
        if names := [n for n in other.arrays if any(mentions(e, (n,)) for e in read)]:
            raise self.error(step, Refused(
                f"its bounds, or what its family must know, are {names[0]}, which is read by its "
                f"mean: read {names[0]} by draws or by its mode"
            ))  # fmt: skip
        try:
            mapped = found.mapped(partial(self._pieces, step, other))
            forms = tuple(f.mapped(other) for f in getattr(mapped, "forms", ()))
        except Refused as refused:
            raise self.error(step, refused) from refused
        return replace(mapped, forms=forms) if isinstance(mapped, Conditional) else mapped

    def _pieces(self, step: Step, q: Expectation, piece: Piece) -> Iterator[Piece]:
        """A piece of a step's conditional given moments, as often as its positions are in the data.

        (What belongs to a position is given that position once.)
        """
        own = {r.dim for s in step.statements for r in s.over}
        times = times_of(self.graph, [r.dim for r in piece.over if r.dim not in own])
        for p in q.pieces(piece, _labels_of(step)):
            yield replace(p, coefficient=times * p.coefficient)

    def _jacobians(self) -> Iterator[Term]:
        """The logs of what is read by the mode of its log: its density is that of the log."""
        for step in self.source.steps:
            if self.how(step) == "mode of log":
                for s in step.statements:
                    yield s.name, sp.log(s.target), s.over

    def _graph(self) -> Graph:
        """The graph with the arrays of moments among its variables."""
        found = self.asked.found.values()
        more = {m.name: Variable(m.name, m.dims, "random", sign=m.written) for m in found}
        own = self.graph.sizes
        sizes: dict[Dim, int] = {primed(d): n for d, n in own.items()}
        sizes |= {**own, **self.asked.sizes}
        averaged = [n for a in self.averages.values() for n in a.arrays]
        # (a function of what has no value has none)
        told = tuple(d for d in self.graph.deterministics if not mentions(d.value, averaged))
        return replace(
            self.graph, variables={**self.graph.variables, **more}, sizes=sizes, deterministics=told
        )

    def _made(
        self, step: Step, conditional: OfOne | Quadratic, graph: Graph, data: Mapping[str, Any]
    ) -> Step:
        """The step of a conditional, as the one that it stands for."""
        if isinstance(conditional, Quadratic):
            asked = Blocks(together=(frozenset(step.variables),))
            made = joint_draw(graph, conditional, data, asked, by_rows=False)
            assert isinstance(made, JointDraw)
            return made.with_fields(pencil=None)
        return maker_of(graph)(conditional)

    def _taken(self, step: Step) -> Step:
        """The step that takes the moments of a conditional, where that is asked."""
        if self.how(step) in MODES:
            return self._at_mode(step)
        if step.name not in self.averages:
            return step
        averages = replace(self.averages[step.name], step=step)
        arrays = set(step.variables)
        own = [m for m in self.asked.found.values() if set(m.of) <= arrays and m.what != "entropy"]
        own.append(averages.entropy)
        try:
            formulas = tuple(map(averages.formula, own))
        except Refused as refused:
            raise self.error(step, refused) from refused
        taken = dict(zip(own, formulas, strict=True))
        loop = mean_loop(self._graph(), step, taken, averages.given)
        return ByMean(step, tuple(own), formulas, averages.given, loop)

    def _at_mode(self, step: Step) -> Step:
        """The step that puts a variable to its mode."""
        plain = step.labels is not None or step.is_joint
        if plain and self.how(step) == "mode of log":
            raise self.error(step, Refused("what is drawn jointly, or a label, has no log"))
        if step.refusal is not None or plain:
            return ByMode(step)
        try:
            averages = averages_of(self.graph, self.asked, step)
            is_of_log = self.how(step) == "mode of log"
            return ByMode(step, averages.mode(of_log=is_of_log), averages.given)
        except Refused as refused:
            raise self.error(step, refused) from refused


def _said_of(graph: Graph, array: str) -> set[tuple[str, Expr]]:
    """The log densities that hold an array, by factor."""
    return {(f.name, f.log_density) for f in graph.factors_of(array)}


def _labels_of(step: Step) -> tuple[Range, ...]:
    """The ranges of the dims that stand for labels in the log weights of a step."""
    if step.labels is None:
        return ()
    return tuple(Range(d, 0, len(step.labels)) for d in (LABEL, PREVIOUS))
