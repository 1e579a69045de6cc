"""Steps of a block with a concave log density, by the normal approximation at its mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, leaves_of
from gibbsppl.algebra.ranges import fresh
from gibbsppl.code.by_parts import limit_of
from gibbsppl.code.joint import joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.derive.batches import along
from gibbsppl.kernels.concave_block import ConcaveBlock
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph
from gibbsppl.runtime.modal import BATCH, MOST_IN_BATCH
from gibbsppl.schedule.parameters import NaturalParameter


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
    may_leave = True
    returns_arrays = True
    verb = "proposals are judged by"

    def named(self, parts: Mapping[str, str]) -> str:
        """The name of the step: the arrays proposed, and the arrays moving along."""
        last = [parts.get(n, n) for n in self.last]
        others = [parts.get(n, n) for n in self._others]
        along = ", ".join(others) + " moving along" * bool(last)
        return ", ".join([*last, along])

    @property
    def _others(self) -> tuple[str, ...]:
        """The arrays not proposed by themselves: all, or the ones moving along."""
        return tuple(n for n in self.variables if n not in self.last)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function that returns the log density, as a function of the arrays."""
        name, drawn = module.functions[self.name], ", ".join(self.variables)
        more, of_batch = self._of_batch(module) if self.is_in_batches(module.graph) else ("", "")
        lines = [
            f"def {name}(s, c):",
            f'{INDENT}"""{drawn} | rest: the log density, as a function of these arrays."""',
            f"{INDENT}return runtime.LogDensity(s, c, {self.density_name(module)}{more})",
            *(["", "", of_batch] if of_batch else []),
        ]
        return "\n".join(lines)

    def functions(self, module: Module) -> list[str]:
        """The functions of the log density, and of it to second order."""
        return [self.density(module), self.second_order(module, self._local_name(module))]

    def is_in_batches(self, graph: Graph) -> bool:
        """Whether proposals of many steps are made together: all else than the block is data.

        And a batch of them is no large array.
        """
        variables = [graph.variables[n] for n in self.variables]
        size = sum(math.prod(graph.sizes[d] for d in v.dims) for v in variables)
        is_small = not self.last and size * BATCH <= MOST_IN_BATCH
        return is_small and self._reads_data_alone(graph)

    def _reads_data_alone(self, graph: Graph) -> bool:
        """Whether all that is read besides the block is data: no other part of its arrays moves."""
        own = {s.name for s in self.statements}
        moved = {s.target.array.name for s in graph.latent if s.name not in own}
        read = {x.array.name for e in self.expressions(graph) for x in leaves_of(e)}
        others = read.difference(self.variables)
        is_data = not any(graph.variables[n].kind == "random" for n in others)
        return is_data and moved.isdisjoint(self.variables)

    def _of_batch(self, module: Module) -> tuple[str, str]:
        """The arguments that say how a batch is evaluated, and the function.

        Parts of a batch are, if all at once would hold more than the limit of memory.
        """
        count, limit = BATCH, limit_of(module)
        text, held = self._log_densities(module, count)
        while held * count > limit * BATCH and count > 1:
            count //= 2
        if count == BATCH:
            return f", {self._batch_name(module)}", text
        module.writers.pop()  # (of what is not written)
        return f", {self._batch_name(module)}, {count}", self._log_densities(module, count)[0]

    def _log_densities(self, module: Module, count: int) -> tuple[str, int]:
        """The function of so many log densities, of arrays with one more axis; bytes held in it."""
        axis = Dim(fresh("proposal", {d.name for d in module.graph.sizes}))
        own = {n: module.graph.variables[n] for n in self.variables}
        more = {n: replace(v, dims=(*v.dims, axis)) for n, v in own.items()}
        terms = along(axis, count, {n: n for n in own}, self.terms)
        parameter = NaturalParameter(sp.S.One, (axis,), terms)
        doc = f"{', '.join(own)} | rest: the log densities of a batch, up to a constant."
        writer = module.writer({axis: count}, keeps=True, more=more)
        body: list[str | Part] = [parameter_part(writer, "found", parameter, full=True)]
        text = module.function(self._batch_name(module), doc, writer, [*body, "return found"])
        return text, writer.held.most

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
        return {"to_second_order": self._local_name(module), "is_walk": "True"}

    def lower(self, workshop: Any) -> None:
        """The same step in a sweep as a value."""
        from gibbsppl.code.lowering.modal import lower_modal  # noqa: PLC0415  (if compiled)

        graph = workshop.schedule.graph_of(self)
        own = {"fixed": self._reads_data_alone(graph), "batches": self.is_in_batches(graph)}
        lower_modal(workshop, self, self.terms, **own)

    def _local_name(self, module: Module) -> str:
        return module.function_of(self, "to_second_order")

    def _batch_name(self, module: Module) -> str:
        return module.function_of(self, "log_densities")

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log density of all elements together; the mean with those of a batch of the same.

        (If one of these is not what the others are, neither is the mean.)
        """
        del sizes, drawn
        arrays = {n: np.asarray(values[n]) for n in self.variables}
        found = [given(arrays)]
        if given.of_batch is not None:
            same = {n: np.repeat(a[..., None], BATCH, axis=-1) for n, a in arrays.items()}
            found += given.many(same).tolist()
        return np.atleast_1d(np.mean(found))

    # Words

    def how(self, graph: Graph) -> str:
        """The layout of the matrix of second derivatives, and whether there are batches."""
        if self.last:
            return f"{', '.join(self._others)} moving along, {self.layout}"
        return f"jointly, {self.layout}" + f", {BATCH} together" * self.is_in_batches(graph)

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
            f"as before, in units of the matrix: {', '.join(self._others)}.",
        ]
