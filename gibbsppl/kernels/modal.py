"""Steps of a block with a concave log density, by the normal approximation at its mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import leaves_of
from gibbsppl.code.joint import joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.kernels.concave_block import ConcaveBlock
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph


@dataclass(frozen=True, slots=True)
class ModalMove(ConcaveBlock):
    """An independence Metropolis step of several statements' elements together.

    If some arrays come ``last``, these are proposed, and all others move along: their values are
    as far from their means given those proposed as before.
    """

    kernel = "proposals about the mode"
    kind = "move"
    is_move = True
    learns_acceptance = True
    returns_arrays = True
    verb = "proposals are judged by"

    @property
    def name(self) -> str:
        """The names of the arrays that are proposed, and of those that move along."""
        if not self.last:
            return ", ".join(self.variables)
        return f"{', '.join(self.last)}, {self._others} moving along"

    @property
    def _others(self) -> str:
        """The names of the arrays that move along."""
        return ", ".join(n for n in self.variables if n not in self.last)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function that returns the log density, as a function of the arrays."""
        name, drawn = module.functions[self.name], ", ".join(self.variables)
        lines = [
            f"def {name}(s, c):",
            f'{INDENT}"""{drawn} | rest: the log density, as a function of these arrays."""',
            f"{INDENT}return runtime.of_arrays(s, c, {self.density_name(module)})",
        ]
        return "\n".join(lines)

    def functions(self, module: Module) -> list[str]:
        """The functions of the log density, and of it to second order."""
        return [self.density(module), self.second_order(module, self._local_name(module))]

    def lines(self, module: Module) -> list[str]:
        """The lines of a sweep that propose, compare and accept or not."""
        own, given = joint_name(module, self), module.functions[self.name]
        more = ", along=True" * bool(self.last)
        functions = f'{given}(s, c), c["{own}"], {self._local_name(module)}, c{more}'
        return [
            f's.update(runtime.modal_proposal(rng, s, "{self.name}",',
            f"{INDENT}{functions}))",
        ]

    def in_row(self, module: Module) -> dict[str, str]:
        """The share of accepted proposals is recorded."""
        del module
        return {"is_walk": "True"}

    def lower(self, workshop: Any) -> None:
        """The same step in a sweep as a value."""
        from gibbsppl.code.lowering.modal import lower_modal  # noqa: PLC0415  (if compiled)

        graph = workshop.schedule.graph_of(self)
        read = {x.array.name for e in self.expressions(graph) for x in leaves_of(e)}
        fixed = not any(workshop.is_state(n) for n in read.difference(self.variables))
        lower_modal(workshop, self, self.terms, fixed=fixed)

    def _local_name(self, module: Module) -> str:
        return module.function_of(self, "to_second_order")

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log density of all elements together."""
        del sizes, drawn
        return np.atleast_1d(np.asarray(given({n: values[n] for n in self.variables}), dtype=float))

    # Words

    def how(self, graph: Graph) -> str:
        """The layout of the matrix of second derivatives."""
        del graph
        return f"{self._others} moving along, {self.layout}" if self.last else (
            f"jointly, {self.layout}"
        )

    def told(self) -> list[str]:
        """How proposals are made."""
        return [
            "Newton steps lead from a centre, learnt in warm-up, to the mode given the rest; a",
            "multivariate t about it, with the second derivatives there, proposes, and the ratio",
            f"of the densities accepts. The matrix of second derivatives: {self.layout}.",
            *self._along_told(),
        ]

    def _along_told(self) -> list[str]:
        """The arrays that are proposed, and those that move along."""
        if not self.last:
            return []
        return [
            f"Proposed: {', '.join(self.last)}. Moving along, as far from their means given these",
            f"as before, in units of the matrix: {self._others}.",
        ]
