"""Moves that leave a conditional invariant without drawing from it, by its log density.

By a kernel that the user asks for, else by slice sampling, the fallback.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gibbsppl.algebra.notation import wrapped
from gibbsppl.algebra.supports import Kind as KindOfSupport
from gibbsppl.code.elements import bounds_text, call_text, selection, state_text
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.code.places import where_text
from gibbsppl.derive.colours import Colours
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.explain.derivation import WIDTH, Derivation
from gibbsppl.explain.terms import log_density_text
from gibbsppl.kernels.by_density import ByDensity
from gibbsppl.model.density import event_dims
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.densities import of_drawn, of_region
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop

# The moves of values whose entries are tied to one another, and the lines that these go along.
MOVES_OF_TIED: Mapping[KindOfSupport, tuple[str, str]] = {
    "simplex": ("tied", "shared_out"),
    "counts": ("tied", "exchanged"),
    "sphere": ("tied", "turned"),
    "spd": ("matrices", "sheared"),
}


@dataclass(frozen=True, slots=True)
class Move(ByDensity):
    """A move that leaves the conditional invariant: a fallback, or a kernel the user asks for.

    ``asked`` is the kernel that the user named, if any; ``joint`` are the axes along which it moves
    elements as one vector.
    """

    conditional: NotConjugate
    parameters: tuple[NaturalParameter, ...]
    terms: tuple[Contribution, ...]
    region: tuple[Place, ...]
    kernel: str = "slice"
    kind: Kind = "move"
    colours: Colours | None = None
    asked: Kernel | None = None
    joint: tuple[int, ...] = ()
    called: str = ""
    is_move = True
    returns_array = True
    is_from_current = True

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The move of what no family owns; None for other conditionals."""
        if not isinstance(derived, NotConjugate):
            return None
        statement = derived.statement
        if statement.support.is_tied:
            made.check_event_is_last(statement, statement.family, event_dims(statement))
        region = made.region(statement)
        parameters, terms = made.log_density(derived, statement.target, region)
        return cls(derived, parameters, terms, region)

    @property
    def refusal(self) -> NotConjugate:
        """Why no family owns the conditional."""
        return self.conditional

    @property
    def may_be_coloured(self) -> bool:
        """Whether independent elements may be moved in one call, as the kernel says."""
        apart = self.asked is None or self.asked.colours or self.tied > 0
        return self.is_by_element and apart

    # Generated code

    def functions(self, module: Module) -> list[str]:
        """The functions that the kernel asked for needs."""
        return [] if self.asked is None else self.asked.functions(module, self)

    def lines(self, module: Module) -> list[str]:
        """The move of all elements at once, of a part, or element by element."""
        call, bounds = call_text(module, self), bounds_text(module, self)
        if self.asked is not None and not self.asked.slices:
            return self.asked.lines(module, self, call, bounds)
        statement, state, chosen = self.statement, state_text(self), selection(module, self)
        ends = f"{bounds}{', whole=True' if statement.support.is_discrete else ''}"
        where = where_text(module, self)
        shape = f"{state}{where}.shape" if chosen.part else module.shape(statement)
        width = f'runtime.width_of(s, "{self.name}", {shape})'
        if statement.support.is_tied:
            return self.tied_lines(module, "slice", call, width)
        if chosen.calls:
            return [
                f"{state} = runtime.slice_{chosen.by}(",
                f"{INDENT}rng, {state}, {call}, {width}, {chosen.calls}{ends}",
                ")",
            ]
        if chosen.part:
            arguments = f"{state}, {chosen.part}, {call}, {width}{ends}"
            return [f"{state} = runtime.slice_part(rng, {arguments})"]
        move = "slice_integers" if statement.support.is_discrete else "slice_batch"
        return [f"{state} = runtime.{move}(rng, {state}, {call}, {width}{bounds})"]

    def lines_by_mode(self, module: Module, taken: Any) -> list[str]:
        """The search of the largest log density, of all elements at once, a part, or in turn."""
        del taken
        call, bounds = call_text(module, self), bounds_text(module, self)
        state, chosen = state_text(self), selection(module, self)
        if chosen.calls:
            return [f"{state} = runtime.climb_{chosen.by}({state}, {call}, {chosen.calls}{bounds})"]
        if chosen.part:
            return [f"{state} = runtime.climb_part({state}, {chosen.part}, {call}{bounds})"]
        return [f"{state} = runtime.climb({call}, {state}{bounds})"]

    @property
    def line(self) -> str:
        """The line that values with tied entries move along; empty for others."""
        return MOVES_OF_TIED[self.statement.support.kind][1] if self.tied else ""

    def tied_lines(self, module: Module, by: str, call: str, tuning: str) -> list[str]:
        """The moves of values whose entries are tied to one another, entry by entry."""
        state, calls = state_text(self), selection(module, self).calls
        what, line = MOVES_OF_TIED[self.statement.support.kind]
        return [
            f"{state} = runtime.{by}_{what}(",
            f"{INDENT}rng, {state}, {call}, {tuning},",
            f"{INDENT}{calls}, runtime.{line}",
            ")",
        ]

    def lower(self, workshop: Workshop) -> None:
        """A slice move of each element, or a move by the kernel asked for."""
        from gibbsppl.code.lowering.moves import lower_slice  # noqa: PLC0415  (if compiled)

        if self.asked is not None and not self.asked.slices:
            self.asked.lower(workshop, self)
        else:
            lower_slice(workshop, self, self.line)

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log density of the elements that the statement fills."""
        del sizes
        if drawn is not None and self.tied:  # (there is one log density for each value)
            drawn = np.any(drawn, axis=tuple(range(-self.tied, 0)))
        density = of_drawn(given, drawn)(np.asarray(values[self.variables[0]]))
        return of_region(density, self.statement)

    # Words

    @property
    def owner(self) -> str:
        """The kernel."""
        return self.kernel

    def how(self, graph: Graph) -> str:
        """Whether as vectors, as one array, or by which colours."""
        if self.joint:
            dims = graph.variables[self.variables[0]].dims
            return "as one vector over " + ", ".join(dims[a].name for a in self.joint)
        if self.asked is not None and self.asked.takes_all:
            return ""
        return ByDensity.how(self, graph)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """Why there is no family or that the kernel is asked for, and the log density."""
        density = wrapped(log_density_text(self, derivation.notation), WIDTH)
        if self.asked is not None:
            return [
                ("The kernel", [self.conditional.reason]),
                (f"The log density that {self.kernel} evaluates", density),
            ]
        refused = derivation.refused(self.conditional)
        return [
            ("No family recognised", refused[: 1 if derivation.changes else None]),
            (f"The log density that {self.method} evaluates", density),
        ]

    # What the checks compare

    @property
    def has_probabilities(self) -> bool:
        """Whether the kernel knows the probabilities of its steps between labels."""
        return self.asked is not None and self.asked.enumerates

    def label_probabilities(
        self, graph: Graph, given: Any, values: Values, labels: range
    ) -> Floats:
        """The probability of each label after a move by the kernel."""
        assert self.asked is not None
        return np.asarray(self.asked.probabilities(graph, self, given, values, labels))
