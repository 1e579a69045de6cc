"""Draws of labels from their log weights, all values enumerated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from gibbsppl.algebra.columns import columns
from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.notation import Notation
from gibbsppl.code.by_colour import by_colour, name_by_colour
from gibbsppl.code.element_sums import by_sums, loop_by_sums, name_by_sums
from gibbsppl.code.elements import call_text, each_line, made, selection, state_text
from gibbsppl.code.labels import shares_lines, shift_text, weights
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.code.places import positions_name, where_text
from gibbsppl.derive.colours import Colours, colours_told
from gibbsppl.derive.labels import FiniteConditional
from gibbsppl.explain.derivation import Derivation
from gibbsppl.explain.terms import parameter_text
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.densities import (
    label_terms,
    log_weights,
    probabilities_of,
    shape_in_array,
)
from gibbsppl.schedule.element_sums import sum_loop
from gibbsppl.schedule.kinds import LabelDraw, of_piece
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Formula, Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class FiniteDraw(LabelDraw):
    """A draw of labels from their log weights."""

    conditional: FiniteConditional
    weights: NaturalParameter
    region: tuple[Place, ...]
    kind: Kind = "finite"
    colours: Colours | None = None
    called: str = ""
    draw_function = "labels"

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The draw from weights of labels; None for other conditionals."""
        if not isinstance(derived, FiniteConditional):
            return None
        region = made.region(derived.statement)
        return cls(derived, made.weights(derived, region), region)

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """The support, and what the log weights read."""
        yield from LabelDraw.expressions(self, graph)
        yield from (e for p in self.conditional.pieces for e in of_piece(p))

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the log weights, the label along the first axis."""
        label = self.conditional.label
        writer = module.writer({label: self.conditional.size}, keeps=True)
        body = [weights(writer, self.weights, as_tables=module.is_whole(self))]
        doc = f"{self.statement.target} | rest: log weights of {self.range_text} (first axis)."
        return module.function(module.functions[self.name], doc, writer, body)

    def functions(self, module: Module) -> list[str]:
        """The generator of the log weights of one colour at a time."""
        if (loop := loop_by_sums(module, self)) is not None:
            return [by_sums(module, self, loop)]
        name = name_by_colour(module, self)
        return [by_colour(module, self, name)] if name else []

    def lines(self, module: Module) -> list[str]:
        """A draw from log weights, whose first axis is the label."""
        state, draw, call = state_text(self), "runtime.labels", call_text(module, self)
        shift = shift_text(self.conditional.lower)
        if name := self._generator(module):
            told = colours_told(self.colours).partition(":")[0]
            line = f"for at, eta in {name}(s, c):  # {told}"
            return [line, f"{INDENT}{state}[at] = {draw}(rng, eta[0]){shift}"]
        chosen = selection(module, self)
        if chosen.calls:
            drawn = f"{draw}(rng, {call}[(slice(None), *at)]){shift}"
            return [each_line(module, self), f"{INDENT}{state}[at] = {drawn}"]
        if not chosen.part:
            return [f"{state} = {draw}(rng, {call}){shift}"]
        where = where_text(module, self)
        inside = where[1:-1]
        behind = f"(slice(None), *{inside})" if self.statement.known != 0 else f":, {inside}"
        return [*made(module, self), f"{state}{where} = {draw}(rng, {call}[{behind}]){shift}"]

    def lines_by_mean(self, module: Module, taken: Any) -> list[str]:
        """The probability of each label, and the entropy."""
        first, shape = call_text(module, self), module.shape(self.statement)
        names = [m.name for m in taken.moments]
        is_each = bool(taken.moments[-1].dims)  # (the entropy of each label, or of all)
        if not self.is_by_element and module.is_whole(self):
            return shares_lines(first, shape, names, is_each=is_each)
        given = f"runtime.probabilities({first}, {shape})"
        where = "[at]" if self.is_by_element else where_text(module, self)
        put = [f"found, entropies = {given}", f's["{names[0]}"]{where} = found{where}']
        if is_each:
            put.append(f's["{names[1]}"]{where} = entropies{where}')
            return [each_line(module, self), *indented(put)] if self.is_by_element else put
        if self.is_by_element:
            total = f's["{names[1]}"] += entropies{where}.sum()'
            return [f's["{names[1]}"] = 0.0', each_line(module, self), *indented([*put, total])]
        return [*put, f's["{names[1]}"] = entropies{where}.sum()']

    def lines_by_mode(self, module: Module, taken: Any) -> list[str]:
        """The likeliest label of each element."""
        del taken
        state, shape = state_text(self), module.shape(self.statement)
        lower = f", lower={self.conditional.lower}" if self.conditional.lower else ""
        found = f"runtime.likeliest({call_text(module, self)}, {shape}{lower})"
        if self.is_by_element:
            return [each_line(module, self), f"{INDENT}{state}[at] = {found}[at]"]
        if module.is_whole(self):
            return [f"{state} = {found}"]
        where = where_text(module, self)
        return [*made(module, self), f"{state}{where} = {found}{where}"]

    def lower(self, workshop: Workshop) -> None:
        """A draw from log weights, for each element or element by element."""
        from gibbsppl.code.lowering.by_sums import lower_by_sums  # noqa: PLC0415  (if compiled)
        from gibbsppl.code.lowering.draws import lower_labels  # noqa: PLC0415  (if compiled)

        if (loop := sum_loop(self, workshop.graph)) is not None:
            lower_by_sums(workshop, self, loop, self.conditional.label)
        else:
            lower_labels(workshop, self, self.weights, self.conditional.label)

    def lower_by_mean(self, workshop: Workshop, taken: Any) -> None:
        """The probability of each label, and the entropy."""
        from gibbsppl.code.lowering.readings import lower_shares  # noqa: PLC0415  (if compiled)

        lower_shares(workshop, self, self.weights, self.conditional.label, taken.moments)

    def lower_by_mode(self, workshop: Workshop, taken: Any) -> None:
        """The likeliest label of each element."""
        from gibbsppl.code.lowering.readings import lower_likeliest  # noqa: PLC0415  (if compiled)

        del taken
        lower_likeliest(workshop, self, self.weights, self.conditional.label)

    def in_row(self, module: Module) -> dict[str, str]:
        """The generator of log weights, if there is one."""
        name = self._generator(module)
        if name is not None and not self.is_coloured:
            return {"by_colour": name, "colours": repr(positions_name(module, self))}
        return {"by_colour": name} if name else {}

    def _generator(self, module: Module) -> str | None:
        """The name of the generator of the log weights of one call, if there is one."""
        if loop_by_sums(module, self) is not None:
            return name_by_sums(module, self)
        return name_by_colour(module, self)

    @property
    def plain_parameters(self) -> tuple[NaturalParameter, ...]:
        """The log weights."""
        return (self.weights,)

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log weight of each label."""
        del drawn
        return label_terms(self, given, values, sizes)

    def log_normalised(self, normaliser: Any) -> Floats | None:
        """The log weights less the logs of their sums."""
        found: Floats = normaliser.of_labels()
        return found

    # Words

    def formula(self, notation: Notation) -> Formula:
        """The log weight of a label."""
        return "log weight = ", [parameter_text(self.weights, self, notation)], ""

    def collected(self, derivation: Derivation) -> list[str]:
        """The log weights, each with its factor."""
        text = derivation.notation.text
        rows = [(text(p.coefficient), p.factor) for p in self.conditional.pieces]
        told = f"with the label put in place of {self.statement.target}:"
        return [told, *columns([("log weight", "from"), *rows])]

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The sum of log weights."""
        weights = derivation.summed((self.weights,), named=False)
        return [("The log weights of the labels", [*derivation.labels(), *weights])]

    # What the checks compare

    @property
    def has_probabilities(self) -> bool:
        """Whether the labels have known ends, too."""
        return self.statement.support.is_finite

    def label_probabilities(
        self, graph: Graph, given: Any, values: Values, labels: range
    ) -> Floats:
        """The probability of each label, from its log weight."""
        del values, labels
        shape = shape_in_array(self.statement, graph.sizes)
        return probabilities_of(self.statement, log_weights(self, given, shape), graph.sizes)
