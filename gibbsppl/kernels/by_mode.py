"""A conditional read by its mode: the variable is put where the density is largest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.notation import Notation
from gibbsppl.code.module import Module
from gibbsppl.explain.derivation import Derivation
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.steps import Drawable, Formula, Kind, Step

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ByMode(Step):
    """A step that puts a variable to the mode of a conditional, that of a `draw`.

    ``formula_of_mode`` is in the arrays ``given`` (with their axes) that the function of the
    conditional returns, where the mode is a formula.
    """

    draw: Step
    formula_of_mode: Expr | None = None
    given: Mapping[str, tuple[Dim, ...]] | None = None
    by = "mode"

    @property
    def instead_of(self) -> Step:  # type: ignore[override]
        """The draw."""
        return self.draw

    @property
    def conditional(self) -> Drawable:  # type: ignore[override]
        """The conditional, given all else."""
        return self.draw.conditional

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """The kind of the draw."""
        return self.draw.kind

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are put to the mode."""
        return self.draw.statements

    @property
    def name(self) -> str:
        """The name of the draw."""
        return self.draw.name

    @property
    def is_from_current(self) -> bool:
        """Whether elements are moved one after the other, or searched for."""
        return self.draw.is_from_current

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All expressions that the conditional reads."""
        yield from self.draw.expressions(graph)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the conditional."""
        return self.draw.given_rest(module)

    def functions(self, module: Module) -> list[str]:
        """The function of the mode, where it is a formula."""
        return self.draw.functions_by_mode(module, self)

    def lines(self, module: Module) -> list[str]:
        """The lines that put the variable to its mode."""
        return self.draw.lines_by_mode(module, self)

    def lower(self, workshop: Workshop) -> None:
        """The statements that put the variable to its mode."""
        self.draw.lower_by_mode(workshop, self)

    # Words

    @property
    def owner(self) -> str:
        """The family, the labels or the search."""
        return self.draw.owner

    def how(self, graph: Graph) -> str:
        """What is put to its mode at once."""
        return ", ".join(filter(None, ("by mode", self.draw.how(graph))))

    def formula(self, notation: Notation) -> Formula:
        """The formula of the conditional."""
        return self.draw.formula(notation)

    def collected(self, derivation: Derivation) -> list[str]:
        """Every term that holds the variable."""
        return self.draw.collected(derivation)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The family recognised."""
        return self.draw.recognised(derivation)
