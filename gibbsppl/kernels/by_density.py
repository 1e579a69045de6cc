"""The common part of steps by the log density alone: exact draws, and moves."""

from __future__ import annotations

from typing import Any, Self

from gibbsppl.algebra.notation import Notation
from gibbsppl.code.module import Module
from gibbsppl.code.moves import log_density
from gibbsppl.derive.colours import Chart, Colours, OneByOne, Pattern, colours_told
from gibbsppl.explain.derivation import Derivation
from gibbsppl.explain.families import new_variable_told
from gibbsppl.explain.terms import log_density_text, touches
from gibbsppl.model.evaluation import Floats
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.steps import Formula
from gibbsppl.schedule.terms_by_element import terms_by_element


class ByDensity(DensityDraw):
    """A step by a log density that is evaluated at candidates."""

    __slots__ = ()

    def coloured(self, colours: Colours, graph: Graph) -> Self:
        """The step with its colours, and the log density of each element by itself."""
        found = super().coloured(colours, graph)
        if not found.is_coloured:
            return found
        terms = terms_by_element(found, graph)
        if terms is None:
            why = "a sum within a term reads its elements at positions of their own"
            return found.with_fields(colours=OneByOne(why))
        return found.with_fields(terms=terms)

    def how(self, graph: Graph) -> str:
        """The order in which elements are drawn, or entries of values moved together."""
        if not self.tied or not isinstance(self.colours, Pattern | Chart):
            return super().how(graph)
        apart = f", values {colours_told(self.colours)}" if self.colours.count > 1 else ""
        return f"entry by entry{apart}"

    def given_rest(self, module: Module) -> str:
        """The function that returns the log density, as a function of the array."""
        return log_density(module, self)

    def log_normalised(self, normaliser: Any) -> Floats | None:
        """The log density less the logs of its integrals."""
        found: Floats | None = normaliser.integrated()
        return found

    def formula(self, notation: Notation) -> Formula:
        """The log density."""
        return "log density = ", [log_density_text(self, notation)], ""

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the log density."""
        pieces = (p for p in self.conditional.pieces if touches(p, self))
        return new_variable_told(self, derivation.notation) + derivation.pieces(pieces)
