"""The derivation of a conditional, told step by step, from the joint to the generated lines.

Comes in: a schedule and the generated source. Goes out: text. Nothing is derived here: what is
shown are the values that the passes have made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from gibbsppl.algebra.columns import columns, indented
from gibbsppl.algebra.expressions import Array, Dim, Expr, dims_of
from gibbsppl.algebra.notation import Notation, wrapped
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.explain.interweaving import interwoven_told
from gibbsppl.explain.leaves import drawn_without
from gibbsppl.explain.names import drawn_name
from gibbsppl.explain.repairs import diagnoses, family_named, proposed, tried
from gibbsppl.explain.schedule_text import name_of, nearest_hint, owner_of, turn_told
from gibbsppl.explain.terms import contributions_of, reach, statistic_shown
from gibbsppl.model.graph import Factor, Graph, Scatter, Statement
from gibbsppl.model.graph_views import blanket, full_notation
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.pieces.split import Piece, support_indicators
from gibbsppl.schedule.deferral import deferred
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

WIDTH = 96
MOST_REPAIRS = 3


def explained(
    schedule: Schedule,
    code: Mapping[str, list[str]],
    data: Mapping[str, Any],
    name: str | None = None,
) -> str:
    """The derivation of the steps of a named variable or statement, or of all steps.

    ``code`` are the generated lines of each step; ``data`` are used to try repairs. What is read
    otherwise than by draws is explained as the conditional that it is read of.
    """
    schedule = replace(schedule, steps=tuple(s.instead_of or s for s in schedule.steps))
    if name is not None:
        steps = _named(schedule, name)
        return "\n\n".join(Derivation(schedule, code[s.name], s, data).text() for s in steps)
    model = "\n".join(["The model", *indented(str(schedule.graph).splitlines())])
    parts = (Derivation(schedule, code[s.name], s, data).text() for s in schedule.steps)
    return "\n\n\n".join([model, *parts])


def _named(schedule: Schedule, name: str) -> list[Step]:
    """The steps of a variable, or the step of a statement."""
    names = {name, *(p.name for p in schedule.parts if p.of == name)}
    found = [s for s in schedule.steps if names & {s.name, *schedule.drawn_by(s)}]
    if not found:
        raise CompileError(_unknown(schedule, name))
    return found


def _unknown(schedule: Schedule, name: str) -> str:
    latent = list(dict.fromkeys(n for s in schedule.steps for n in schedule.drawn_by(s)))
    known = f"expected a latent variable: {', '.join(latent)}"
    graph = schedule.graph
    if name in graph.variables or any(name == d.name for d in graph.deterministics):
        return f"explain({name!r}): {name} is not drawn, so it has no conditional; {known}."
    meant = did_you_mean(name, latent)
    return f"explain({name!r}): found no such variable in the model; {known}.{meant}"


@dataclass(frozen=True, slots=True)
class Derivation:
    """One step's derivation, section by section."""

    schedule: Schedule
    code: Sequence[str]
    step: Step
    data: Mapping[str, Any]

    @property
    def graph(self) -> Graph:
        """The graph in which the step draws."""
        return self.schedule.graph_of(self.step)

    @property
    def statement(self) -> Statement:
        """The statement whose elements the step draws."""
        return self.step.statement

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The factors that mention the variable, its own statement included even if flat."""
        mentioning = [f for n in self.step.variables for f in self.graph.factors_of(n)]
        return tuple(f for f in self.graph.factors if f in mentioning)

    @property
    def changes(self) -> tuple[StandIn, ...]:
        """The arrays that stand for others in the graph of the step."""
        return self.schedule.stand_ins(self.step)

    @property
    def notation(self) -> Notation:
        """The notation of the graph."""
        return full_notation(self.graph)

    def text(self) -> str:
        """All sections under a title."""
        how = self.step.how(self.schedule.whole)
        title = f"{name_of(self.step, self.schedule)} | rest: {owner_of(self.step, self.schedule)}"
        if self.step in self.schedule.fallbacks:
            title += " sampling, a fallback"
        elif self.step.asked is not None:
            title += ", as asked" if self.step.is_asked else ", beside other draws"
        title += ", interwoven" if self.changes else ""
        title += f", drawn {how}" if how else ""
        title += ", when recorded" if self.step.name in deferred(self.schedule) else ""
        lines = [title, "=" * len(title)]
        for number, (heading, body) in enumerate(self._sections(), 1):
            lines += ["", f"{number}. {heading}", *indented(body)]
        return "\n".join(lines)

    def _sections(self) -> list[tuple[str, list[str]]]:
        drawn = drawn_name(self.step, self.graph)
        name = " or ".join(self.step.variables)
        return [
            *self._added(),
            *drawn_without(self.schedule, self.step.variables),
            *interwoven_told(self.step, self.schedule, self.notation),
            (f"The joint density (* marks the factors that mention {name})", self._joint()),
            ("The Markov blanket", self._blanket()),
            ("The log densities of the factors marked", self._log_densities()),
            (f"The terms that hold {name}, collected", self.step.collected(self)),
            *self.step.recognised(self),
            *self._in_turn(),
            (f"The generated code that draws {drawn}", list(self.code)),
        ]

    def _in_turn(self) -> list[tuple[str, list[str]]]:
        """The section on the other steps by the same kernel, if it is made of others."""
        composed = self.schedule.composed_of(self.step.name)
        if composed is None:
            return []
        told = wrapped(turn_told(composed, self.schedule), WIDTH)
        return [("The kernel that it is a part of", told)]

    def _added(self) -> list[tuple[str, list[str]]]:
        """The section on an auxiliary variable: identity, source, replaced term and support."""
        made = [r for r in self.schedule.rewrites if r.statement in self.step.statements]
        return [
            (
                f"The auxiliary variable, by the rule {r.rule.name!r}",
                columns(
                    [
                        ("identity", r.rule.identity),
                        ("source", r.rule.source),
                        ("in", f"{r.factor}: {self.notation.text(r.term)}"),
                        ("support", f"{r.statement.target} in {r.statement.support}"),
                    ]
                ),
            )
            for r in made
        ]

    def _joint(self) -> list[str]:
        """The factors as the model prints them, the blanket's marked."""
        lines = str(self.graph).splitlines()
        mine = {f.name for f in self.factors}
        marks = ("* " if f.name in mine else "  " for f in self.graph.factors)
        return [mark + line for mark, line in zip(marks, lines, strict=False)]

    def _blanket(self) -> list[str]:
        own = [s.name for s in self.step.statements]
        every = [blanket(self.graph, name) for name in own]
        rows = (
            ("parents", [n for b in every for n in b.parents]),
            ("children", [n for b in every for n in b.children]),
            ("co-parents", [n for b in every for n in b.co_parents]),
        )
        drawn = {*own, *self.step.variables} if len(own) > 1 else set()
        named = ((kind, dict.fromkeys(n for n in names if n not in drawn)) for kind, names in rows)
        return columns([(kind, ", ".join(names) or "none") for kind, names in named])

    def _log_densities(self) -> list[str]:
        lines = []
        for factor in self.factors:
            density = factor.log_density
            density += sum(support_indicators(factor, s) for s in self.step.statements)
            over = ", ".join(r.dim.name for r in factor.over)
            lines.append(f"{factor.name}, for each {over}:" if over else f"{factor.name}:")
            lines += indented(wrapped(self.notation.text(density), WIDTH))
        return lines

    def pieces(self, pieces: Iterable[Piece]) -> list[str]:
        """A table of pieces: statistic, coefficient, factor, and the dims summed over."""
        head = ("statistic", "coefficient", "from", "summed over")
        return columns([head, *map(self._piece, pieces)])

    def scatter(self, scatter: Scatter) -> str:
        """The value added to an array, and the positions."""
        text = self.notation.text
        over = ", ".join(r.dim.name for r in scatter.over)
        at = f" at [{', '.join(map(text, scatter.indices))}]" if scatter.indices else ""
        return f"{text(scatter.value)}{at}" + (f" for each {over}" if over else "")

    def _piece(self, piece: Piece) -> tuple[str, ...]:
        text = self.notation.text
        summed = ", ".join(d.name for d in _summed_dims(piece))
        return text(piece.statistic), text(piece.coefficient), piece.factor, summed

    def refused(self, refusal: NotConjugate) -> list[str]:
        """The reason of a refusal, the nearest family, and repairs that give a closed form."""
        lines = [refusal.reason, *nearest_hint(self.graph, refusal, self.notation, self.data)]
        for factor, conditional in diagnoses(self.graph, refusal, self.data).items():
            family = family_named(conditional)
            lines += [f"diagnosis, not a repair: without {factor} it would be {family}"]
        found = list(islice(proposed(self.graph, refusal, self.data), MOST_REPAIRS))
        if not found:
            return [*lines, f"no repair was found (tried: {tried()})"]
        shown = (line for repair in found for line in indented(repair.text.splitlines()))
        return [*lines, "what would repair it, each tried on this model:", *shown]

    def labels(self) -> list[str]:
        """The draw of a label from log weights, in words."""
        target = self.statement.target
        return [
            f"{target} takes {self.step.owner}: each is drawn with a probability proportional to",
            "exp(log weight), the log weight being the sum of",
        ]

    def summed(self, parameters: Iterable[NaturalParameter], *, named: bool = True) -> list[str]:
        """The contributions to each parameter, each with its factor; ``named`` by its statistic."""
        lines, step = [], self.step
        assert isinstance(step, Single)  # (a joint draw has no regions)
        for j, parameter in enumerate(parameters, 1):
            if named:
                shown = statistic_shown(parameter, step, self.graph)
                lines.append(f"eta_{j}, the coefficient of {self.notation.text(shown)}:")
            rows = [
                (self._signed(c.value, n), f"from {c.factor}", _reached(c, parameter, step))
                for n, c in enumerate(contributions_of(parameter, step))
            ]
            lines += indented(columns(rows) if rows else ["0"])
        return lines or ["none: the density is flat on its support"]

    def _signed(self, value: Expr, position: int) -> str:
        """A term of a sum, with its sign unless it is the first."""
        text = self.notation.text(value)
        if position == 0:
            return "  " + text
        if value.is_Add:
            return f"+ ({text})"
        return f"- {text[1:]}" if text.startswith("-") else f"+ {text}"


def _summed_dims(piece: Piece) -> list[Dim]:
    """The dims of a piece that are summed onto an element: no view is indexed by these."""
    indices = (i for v in piece.views for i in v.indices if i is not None)
    direct = {d for i in indices if not i.atoms(Array) for d in dims_of(i)}
    return [r.dim for r in piece.over if r.dim not in direct]


def _reached(contribution: Contribution, parameter: NaturalParameter, step: Single) -> str:
    where = reach(contribution, parameter.axes, step)
    return f"at {where}" if where else ""
