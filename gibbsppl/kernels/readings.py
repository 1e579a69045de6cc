"""Conditionals that are not drawn from: read by their mean, or by their mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.algebra.notation import Notation
from gibbsppl.code.module import Module
from gibbsppl.explain.derivation import Derivation
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.mean_loops import MeanLoop
from gibbsppl.schedule.moments import Moment
from gibbsppl.schedule.steps import Drawable, Formula, Kind, Step

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Reading(Step):
    """A step that reads the conditional of a `draw` in another way."""

    draw: Step

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
        """The statements of the elements."""
        return self.draw.statements

    @property
    def name(self) -> str:
        """The name of the draw."""
        return self.draw.name

    @property
    def approximate(self) -> bool:
        """Whether the draw is approximate, and so this reading."""
        return self.draw.approximate

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All expressions that the conditional reads."""
        yield from self.draw.expressions(graph)

    def given_rest(self, module: Module) -> str:
        """The function of the conditional."""
        return self.draw.given_rest(module)

    # Words

    @property
    def owner(self) -> str:
        """The family, the labels or the search."""
        return self.draw.owner

    def how(self, graph: Graph) -> str:
        """The way of reading, and the elements that are read at once."""
        return ", ".join(filter(None, (f"by {self.by}", self.draw.how(graph))))

    def formula(self, notation: Notation) -> Formula:
        """The formula of the conditional."""
        return self.draw.formula(notation)

    def collected(self, derivation: Derivation) -> list[str]:
        """Every term that holds the variable."""
        return self.draw.collected(derivation)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The family recognised."""
        return self.draw.recognised(derivation)


@dataclass(frozen=True, slots=True)
class ByMean(Reading):
    """A step that takes the moments of a conditional: others read these, as they would a draw.

    ``moments`` are those that others read, the last of them the entropy, each with its formula in
    the arrays ``given`` (with their axes) that the function of the conditional returns, if it is
    one. With a ``loop`` shared values are kept up to date from element to element.
    """

    moments: tuple[Moment, ...]
    formulas: tuple[Expr | None, ...]
    given: Mapping[str, tuple[Dim, ...]]
    loop: MeanLoop | None = None
    by = "mean"

    @property
    def variables(self) -> tuple[str, ...]:
        """The arrays of moments."""
        return tuple(m.name for m in self.moments)

    @property
    def is_from_current(self) -> bool:
        """Whether elements are averaged one after the other."""
        return self.draw.is_by_element

    def functions(self, module: Module) -> list[str]:
        """The function of the moments, where these are formulas."""
        return self.draw.functions_by_mean(module, self)

    def lines(self, module: Module) -> list[str]:
        """The lines that compute the moments."""
        return self.draw.lines_by_mean(module, self)

    def lower(self, workshop: Workshop) -> None:
        """The statements that compute the moments."""
        self.draw.lower_by_mean(workshop, self)


@dataclass(frozen=True, slots=True)
class ByMode(Reading):
    """A step that puts a variable to the mode of a conditional, where the density is largest.

    ``formula_of_mode`` is in the arrays ``given`` (with their axes) that the function of the
    conditional returns, where the mode is a formula.
    """

    formula_of_mode: Expr | None = None
    given: Mapping[str, tuple[Dim, ...]] | None = None
    by = "mode"

    @property
    def is_from_current(self) -> bool:
        """Whether elements are moved one after the other, or searched for."""
        return self.draw.is_from_current

    def functions(self, module: Module) -> list[str]:
        """The function of the mode, where it is a formula."""
        return self.draw.functions_by_mode(module, self)

    def lines(self, module: Module) -> list[str]:
        """The lines that put the variable to its mode."""
        return self.draw.lines_by_mode(module, self)

    def lower(self, workshop: Workshop) -> None:
        """The statements that put the variable to its mode."""
        self.draw.lower_by_mode(workshop, self)
