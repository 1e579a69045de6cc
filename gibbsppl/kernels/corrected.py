"""Steps of a block whose log density is quadratic but for a correction: proposed by a joint draw.

A rewrite (`gibbsppl.rewrites.volatility`) may leave a log density quadratic in a block but for the
log of a ratio near to one, in a potential of its own. The quadratic part is drawn jointly, and the
ratio accepts: so the step is exact for whatever the ratio is, and seldom rejected.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, Self

import numpy as np

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.notation import Notation, signed_sum
from gibbsppl.code.joint import joint_coefficients, joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.code.readings import total
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.explain.derivation import Derivation
from gibbsppl.kernels.concave_block import summed
from gibbsppl.kernels.joint import JointDraw
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph, Potential, Statement
from gibbsppl.schedule.kinds import QuadraticDraw
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.steps import Formula, Kind


@dataclass(frozen=True, slots=True)
class CorrectedDraw(QuadraticDraw):
    """A Metropolis step of several statements' elements, proposed by ``draw``, or towards it.

    ``terms`` add up to the correction.
    """

    draw: JointDraw
    terms: tuple[Contribution, ...]
    called: str = ""
    kernel = "corrected joint draw"
    kind: Kind = "move"
    pencil = None
    is_move = True
    is_from_current = True
    returns_arrays = True

    @classmethod
    def of(cls, graph: Graph, draw: JointDraw, corrections: tuple[Potential, ...]) -> Self:
        """The step of a joint draw in the graph without some potentials, which correct it."""
        each = ((p.name, p.log_density, p.over) for p in corrections)
        return cls(draw, tuple(starmap(partial(summed, graph), each)))

    @property
    def conditional(self) -> Quadratic:  # type: ignore[override]
        """The quadratic part of the log density."""
        return self.draw.conditional

    @property
    def linear(self) -> tuple[NaturalParameter, ...]:  # type: ignore[override]
        """The coefficients of elements."""
        return self.draw.linear

    @property
    def squares(self) -> tuple[NaturalParameter, ...]:  # type: ignore[override]
        """The coefficients of squares."""
        return self.draw.squares

    @property
    def pairs(self) -> tuple[Pair, ...]:  # type: ignore[override]
        """The coefficients of products."""
        return self.draw.pairs

    @property
    def layout(self) -> str:  # type: ignore[override]
        """The layout of the precision matrix."""
        return self.draw.layout

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are drawn together."""
        return self.draw.statements

    @property
    def may_be_coloured(self) -> bool:
        """All elements are drawn in one call."""
        return False

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the quadratic part and the correction read."""
        yield from self.draw.expressions(graph)
        yield from (t.value for t in self.terms)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the coefficients, and of the correction as a function of the arrays."""
        name, drawn = module.functions[self.name], ", ".join(self.variables)
        ratio = f"runtime.LogDensity(s, c, {self._ratio(module)})"
        both = f"{self._coefficients(module)}(s, c), {ratio}"
        lines = [
            f"def {name}(s, c):",
            f'{INDENT}"""{drawn} | rest, jointly: coefficients of a quadratic, a correction."""',
            f"{INDENT}return {both}",
        ]
        return "\n".join(lines)

    def functions(self, module: Module) -> list[str]:
        """The functions of the quadratic part, and of the correction."""
        drawn = ", ".join(self.variables)
        doc = f"{drawn} | rest: what the log density has besides a quadratic."
        ratio = total(module, self._ratio(module), "log_ratio", self.terms, doc)
        return [joint_coefficients(module, self, "", self._coefficients(module)), ratio]

    def lines(self, module: Module) -> list[str]:
        """The lines of a sweep that propose, compare and accept or not."""
        joint, given = joint_name(module, self), module.functions[self.name]
        return [
            f's.update(runtime.corrected_draw(rng, s, "{self.name}",',
            f'{INDENT}c["{joint}"], {given}(s, c)))',
        ]

    def in_row(self, module: Module) -> dict[str, str]:
        """The share of accepted proposals is recorded."""
        del module
        return {"is_walk": "True"}

    def lower(self, workshop: Any) -> None:
        """The same step in a sweep as a value."""
        from gibbsppl.code.lowering.corrected import (  # noqa: PLC0415  (if compiled)
            lower_corrected,
        )

        lower_corrected(workshop, self, self.terms)

    def _coefficients(self, module: Module) -> str:
        return module.function_of(self, "coefficients")

    def _ratio(self, module: Module) -> str:
        return module.function_of(self, "log_ratio")

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The terms of the quadratic, and the correction of all elements together."""
        coefficients, log_ratio = given
        terms = self.draw.log_terms(coefficients, values, sizes, drawn)
        more = log_ratio({n: values[n] for n in self.variables})
        return np.append(terms, np.asarray(more, dtype=float))

    # Words

    @property
    def owner(self) -> str:
        """The method."""
        return self.kernel

    def how(self, graph: Graph) -> str:
        """The layout of the precision matrix."""
        return self.draw.how(graph)

    def formula(self, notation: Notation) -> Formula:
        """The log density, up to a constant: the quadratic, and the correction."""
        head, (quadratic,), tail = self.draw.formula(notation)
        more = signed_sum([notation.text(t.value) for t in self.terms])
        return head, [f"{quadratic} + {more}"], tail

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the quadratic, and every correction."""
        told = [f"{derivation.notation.text(t.value)} from {t.factor}" for t in self.terms]
        return [*self.draw.collected(derivation), "and, which corrects this:", *told]

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The family of what is proposed, and how it is accepted."""
        told = [
            "Without the correction a joint draw is made, three times in four the proposal itself,",
            "else what the current vector is turned towards by a small angle about the mean; what",
            "the correction is there, less what it is here, is the log of the ratio that accepts.",
        ]
        return [*self.draw.recognised(derivation), ("The proposal", told)]
