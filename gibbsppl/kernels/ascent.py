"""Newton steps to the joint mode of variables whose log density is concave in all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gibbsppl.code.joint import joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.kernels.concave_block import ConcaveBlock
from gibbsppl.model.graph import Graph


@dataclass(frozen=True, slots=True)
class Ascent(ConcaveBlock):
    """A step that puts several statements' elements to their joint mode."""

    kernel = "Newton steps"
    kind = "joint"
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
