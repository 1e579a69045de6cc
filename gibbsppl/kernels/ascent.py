"""Newton steps to the joint mode of variables whose log density is concave in all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gibbsppl.analysis.curvature import Certificate
from gibbsppl.code.joint import joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import SecondOrder
from gibbsppl.kernels.concave_block import ConcaveBlock, layout_of
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.steps import Kind


@dataclass(frozen=True, slots=True)
class Ascent(ConcaveBlock):
    """A step that puts several statements' elements to their joint mode."""

    conditional: Quadratic
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    pairs: tuple[Pair, ...]
    layout: str
    terms: tuple[Contribution, ...]
    certificate: Certificate
    kept: tuple[NaturalParameter, ...] = ()
    pencil: None = None
    kernel: str = "Newton steps"
    kind: Kind = "joint"
    by = "mode"

    @property
    def instead_of(self) -> Ascent:  # type: ignore[override]
        """Itself: a point has no draws, of which there would be several."""
        return self

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the gradient, and of halves of the second derivatives."""
        return self.second_order(module, module.functions[self.name])

    def functions(self, module: Module) -> list[str]:
        """The function of the log density."""
        return [self.density(module)]

    def lines(self, module: Module) -> list[str]:
        """The lines of a sweep that climb to the mode."""
        own = f'c["{joint_name(module, self)}"]'
        functions = f"{module.functions[self.name]}, {self.density_name(module)}"
        return [f"s.update(runtime.climb_jointly(s, c, {own},", f"{INDENT}{functions}))"]

    def lower(self, workshop: Any) -> None:
        """A sweep as a value has none."""
        self.lower_by_mode(workshop, self)

    # Words

    def how(self, graph: Graph) -> str:
        """The layout of the matrix of second derivatives."""
        del graph
        return f"by mode, jointly, {self.layout}"

    def told(self) -> list[str]:
        """How the mode is found."""
        return [
            "A Newton step is the joint mean of the terms above; it is halved until the log",
            f"density is no lower. The matrix of second derivatives: {self.layout}.",
        ]


def ascent(
    graph: Graph, taken: SecondOrder, data: Mapping[str, Any], asked: Blocks
) -> Ascent | None:
    """The climb to a joint mode, if the matrix of second derivatives is within the limits."""
    found = layout_of(graph, taken, data, asked)
    return None if found is None else Ascent(*found)
