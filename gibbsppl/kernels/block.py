"""Joint draws of all elements along some axes of an array, as one vector of its family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gibbsppl.code.elements import call_text, made, state_text
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.places import kept_axes_text
from gibbsppl.derive.match_results import Conditional
from gibbsppl.kernels.closed import ClosedDraw
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.densities import values_in_region
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class BlockDraw(ClosedDraw):
    """A joint draw of all elements along the dense axes, batched over the others.

    The dense axes are drawn whole. Natural parameters have entries for the whole batch, also
    outside of the region.
    """

    conditional: Conditional
    parameters: tuple[NaturalParameter, ...]
    region: tuple[Place, ...]
    kept: tuple[NaturalParameter, ...] = ()
    kind: Kind = "block"
    alpha: float | None = None
    called: str = ""

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The draw from a closed form of vectors; None for other conditionals."""
        if not isinstance(derived, Conditional) or not derived.dense:
            return None
        region = made.region(derived.statement)
        parameters = made.parameters(derived, region)
        return cls(derived, parameters, region, made.maintained_of(parameters))

    @property
    def may_be_coloured(self) -> bool:
        """Blocks are drawn one by one, whatever ties them."""
        return False

    # Generated code

    def lower(self, workshop: Workshop) -> None:
        """A draw of a vector for each position of the batch."""
        from gibbsppl.code.lowering.blocks import lower_block  # noqa: PLC0415  (if compiled)

        lower_block(workshop, self)

    def lines(self, module: Module) -> list[str]:
        """The draw, the dense axes flattened for it and restored afterwards."""
        writer, order = module.writer(inline={}), self.batch + self.dense
        shape = list(map(writer.length_text, self.region))
        batch, dense = ([shape[a] for a in axes] for axes in (self.batch, self.dense))
        whole = tuple_text([*batch, " * ".join(dense)])
        state, first, etas = state_text(self), [], f"*{call_text(module, self)}"
        if not module.is_whole(self):
            axes = module.dims(self.statement)
            part = kept_axes_text(((self.region[a], axes[a]) for a in self.batch), module.writer())
            first = [*made(module, self), f"eta = {call_text(module, self)}"]
            etas = f"eta[0]{part}, eta[1]{part}"
            state += kept_axes_text(zip(self.region, axes, strict=True), module.writer())
        now = ""
        if self.alpha is not None:
            moved = f".transpose{order}" if order != tuple(sorted(order)) else ""
            folded = f".reshape{whole}" if len(dense) > 1 else ""
            now = f", x={state}{moved}{folded}, alpha={self.alpha!r}"
        code = f"runtime.{self.draw_function}(rng, {etas}, {whole}{now})"
        if len(dense) > 1:
            code += f".reshape{tuple_text([*batch, *dense])}"
        if order != tuple(sorted(order)):
            code += f".transpose{tuple(order.index(a) for a in range(len(order)))}"
        return [*first, f"{state} = {code}"]

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """``eta_1[k] x[k]`` and ``eta_2[k, l] x[k] x[l]`` summed, for each entry of the batch."""
        del drawn
        eta_1, eta_2 = (np.asarray(part)[self.drawn] for part in given)
        batch = self.batch
        moved = np.transpose(values_in_region(self.statement, values, sizes), batch + self.dense)
        x = moved.reshape((*moved.shape[: len(batch)], -1))
        size = x.shape[-1]
        eta_1 = eta_1.reshape((*eta_1.shape[: len(batch)], size))
        eta_2 = eta_2.reshape((*eta_2.shape[: len(batch)], size, size))
        linear = (eta_1 * x).sum(axis=-1)
        quadratic = (x * (eta_2 @ x[..., None])[..., 0]).sum(axis=-1)
        return np.concatenate([np.ravel(linear), np.ravel(quadratic)])

    # Words

    def together(self, graph: Graph) -> str:
        """The axes along which elements are drawn jointly."""
        dims = graph.variables[self.variables[0]].dims
        along = ", ".join(dims[a].name for a in self.dense)
        return ClosedDraw.together(self, graph) or f"jointly over {along}"
