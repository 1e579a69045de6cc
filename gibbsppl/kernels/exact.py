"""Exact draws from a family of the table, in one vector call, by colour or one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gibbsppl.code.by_colour import by_colour, name_by_colour
from gibbsppl.code.element_loops import by_form, name_by_form
from gibbsppl.code.elements import (
    call_text,
    each_line,
    known_text,
    made,
    mapped,
    put,
    selection,
    state_text,
)
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.maintained_forms import maintained_form_functions
from gibbsppl.code.module import Module
from gibbsppl.code.places import where_text
from gibbsppl.derive.colours import Colours, colours_told
from gibbsppl.derive.match_results import Conditional
from gibbsppl.kernels.closed import ClosedDraw
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.densities import (
    exact_parts,
    is_in_support,
    probabilities_of,
    with_label,
)
from gibbsppl.schedule.parameters import Bound, NaturalParameter
from gibbsppl.schedule.steps import Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ExactDraw(ClosedDraw):
    """An exact draw from a family of the table, in one vector call or element by element."""

    conditional: Conditional
    parameters: tuple[NaturalParameter, ...]
    region: tuple[Place, ...]
    bounds: tuple[Bound, ...] = ()
    kept: tuple[NaturalParameter, ...] = ()
    kind: Kind = "exact"
    colours: Colours | None = None
    alpha: float | None = None
    called: str = ""

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The draw from a closed form by element; None for other conditionals."""
        if not isinstance(derived, Conditional) or derived.dense:
            return None
        region = made.region(derived.statement)
        parameters = made.parameters(derived, region)
        kept = made.maintained_of(parameters)
        made.check_event_is_last(derived.statement, derived.family, derived.own_event)
        return cls(derived, parameters, region, made.bounds(derived, region), kept)

    # Generated code

    def functions(self, module: Module) -> list[str]:
        """The generator of the parameters of one colour at a time, or of one form's entries."""
        if name := name_by_colour(module, self):
            return [by_colour(module, self, name)]
        if name := name_by_form(module, self):
            return [*maintained_form_functions(module, self), by_form(module, self, name)]
        return []

    def lines(self, module: Module) -> list[str]:
        """The draw of the whole array, of a part, or element by element."""
        draw, state = f"runtime.{self.draw_function}", state_text(self)
        if name := name_by_colour(module, self) or name_by_form(module, self):
            line = f"for at, eta in {name}(s, c):  # {colours_told(self.colours)}"
            return [line, f"{INDENT}{state}[at] = {draw}(rng, *eta, {state}[at].shape)"]
        call = call_text(module, self)
        known = known_text(module, self) + self._relaxed(module)
        count = len(self.parameters) + len(self.bounds)
        chosen = selection(module, self)
        if chosen.calls:
            etas = "".join(f", eta[{j}][at]" for j in range(count))
            size = f"{state}[at].shape" if self.is_coloured else "()"
            drawn = put(module, self, "[at]", f"{draw}(rng{etas}, {size}{known})")
            return [each_line(module, self), f"{INDENT}eta = {call}", *indented(drawn)]
        if not chosen.part:
            shape = module.shape(self.statement)
            return put(module, self, "", f"{draw}(rng, *{call}, {shape}{known})")
        where = where_text(module, self)
        etas = "".join(f", eta[{j}]{where}" for j in range(count))
        drawn = put(module, self, where, f"{draw}(rng{etas}, {state}{where}.shape{known})")
        return [*made(module, self), f"eta = {call}", *drawn]

    def _relaxed(self, module: Module) -> str:
        """The current value and alpha of an over-relaxed draw, as keywords."""
        if self.alpha is None:
            return ""
        change, state = self.change, state_text(self)
        now = state if change is None else f"({mapped(module, self, change.forward, state)})"
        where = where_text(module, self) if not module.is_whole(self) else ""
        where = "[at]" if self.is_by_element else where
        return f", x={now}{where}, alpha={self.alpha!r}"

    def lower(self, workshop: Workshop) -> None:
        """A draw from the family, for each element or element by element."""
        from gibbsppl.code.lowering.draws import lower_family  # noqa: PLC0415  (if compiled)

        lower_family(workshop, self)

    def in_row(self, module: Module) -> dict[str, str]:
        """The generator of parameters, if there is one."""
        name = name_by_colour(module, self) or name_by_form(module, self)
        return {"by_colour": name} if name else {}

    @property
    def plain_parameters(self) -> tuple[NaturalParameter, ...]:
        """The natural parameters, where nothing else is part of a draw."""
        more = self.bounds or self.kept or self.conditional.known or self.change
        return () if more or self.alpha is not None else self.parameters

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """Statistics times natural parameters, the base measure, the Jacobian and the bounds."""
        del drawn
        return np.concatenate(exact_parts(self.conditional, given, values, sizes))

    # What the checks compare

    @property
    def has_probabilities(self) -> bool:
        """Whether the draw is of finitely many values."""
        return self.statement.support.is_finite

    def label_probabilities(
        self, graph: Graph, given: Any, values: Values, labels: range
    ) -> Floats:
        """The probability of each value, from the family's density."""
        logs = [self._log_density_at(v, graph, given, values) for v in labels]
        return probabilities_of(self.statement, np.stack(logs), graph.sizes)

    def _log_density_at(self, label: int, graph: Graph, given: Any, values: Values) -> Floats:
        """The log density of each element at a value, in the array's order."""
        statement, sizes = self.statement, graph.sizes
        there = with_label(statement, label, values, sizes)
        with np.errstate(all="ignore"):
            total = np.sum(exact_parts(self.conditional, given, there, sizes), axis=0)
        possible = is_in_support(statement, label, values, sizes)
        return np.where(possible.ravel(), total, -np.inf)
