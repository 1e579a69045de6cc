"""Joint draws of several arrays at once: normal, from a quadratic log density."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sympy import Mul

from gibbsppl.algebra.expressions import Expr, Over
from gibbsppl.algebra.notation import Notation, signed_sum
from gibbsppl.code.by_rows import by_rows_name, row_coefficients
from gibbsppl.code.joint import (
    fixed_matrices,
    joint_coefficients,
    joint_name,
    pencil_name,
    scaled_coefficients,
    scaled_name,
    wanted_name,
)
from gibbsppl.code.module import Module
from gibbsppl.derive.quadratic import Quadratic, owner
from gibbsppl.explain.derivation import Derivation
from gibbsppl.explain.families import jointly_told
from gibbsppl.families import Family
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.fixed_matrices import FixedMatrices
from gibbsppl.schedule.kinds import QuadraticDraw, of_piece
from gibbsppl.schedule.moments import X
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.precisions import TooLarge, precision_of
from gibbsppl.schedule.row_forms import Rows
from gibbsppl.schedule.steps import Formula, Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class JointDraw(QuadraticDraw):
    """A joint draw of all elements of several statements.

    With ``rows`` these are what it is drawn from, and the precision matrix is never made.
    ``called`` is the name of the step, if other than the names of its arrays.
    """

    conditional: Quadratic
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    pairs: tuple[Pair, ...]
    layout: str
    pencil: FixedMatrices | None = None
    rows: Rows | None = None
    called: str = ""
    kept: tuple[NaturalParameter, ...] = ()
    kind: Kind = "joint"
    is_joint = True
    returns_arrays = True

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are drawn together."""
        return self.conditional.statements

    @property
    def family(self) -> Family:
        """The normal family of vectors."""
        return owner()

    @property
    def may_be_coloured(self) -> bool:
        """All elements are drawn in one call."""
        return False

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the pieces of the log density read."""
        del graph
        yield from (e for p in self.conditional.pieces for e in of_piece(p))

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the coefficients of elements, of their squares and products."""
        if self.rows is not None:
            return row_coefficients(module, self, self.rows)
        return joint_coefficients(module, self)

    def functions(self, module: Module) -> list[str]:
        """The functions of a pencil: its fixed matrices, and what a draw needs of the state."""
        if self.pencil is None:
            return []
        own = (module, self, self.pencil)
        return [fixed_matrices(*own), scaled_coefficients(*own)]

    def lines(self, module: Module) -> list[str]:
        """The line of a sweep that draws the block."""
        given = module.functions[self.name]
        if self.rows is not None:
            drawn = by_rows_name(module, self, self.rows)
        elif self.pencil is None:
            drawn = joint_name(module, self)
        else:
            drawn, given = pencil_name(module, self, self.pencil), scaled_name(module, self)
        return [f's.update(c["{drawn}"].draw(rng, s, {given}(s, c)))']

    def lines_by_mean(self, module: Module, taken: Any) -> list[str]:
        """The means and covariances of all elements, and the entropy."""
        wanted = wanted_name(module, self, taken.moments[:-1])
        means = {m.of[0]: m.name for m in taken.moments if m.what == X}
        known = ", ".join(f'"{a}": s["{n}"]' for a, n in means.items())
        given = f"{{{known}}}, {module.functions[self.name]}(s, c)"
        entropy = taken.moments[-1].name
        return [f's.update(c["{wanted}"].of({given}, "{entropy}"))']

    def lines_by_mode(self, module: Module, taken: Any) -> list[str]:
        """The means of all elements, where the density is largest."""
        del taken
        given = f"s, {module.functions[self.name]}(s, c)"
        return [f's.update(c["{joint_name(module, self)}"].mean({given}))']

    def lower(self, workshop: Workshop) -> None:
        """A joint draw of all elements."""
        from gibbsppl.code.lowering.by_rows import lower_by_rows  # noqa: PLC0415  (if compiled)
        from gibbsppl.code.lowering.joint import lower_joint  # noqa: PLC0415  (if compiled)

        if self.rows is None:
            lower_joint(workshop, self)
        else:
            lower_by_rows(workshop, self, self.rows)

    def lower_by_mean(self, workshop: Workshop, taken: Any) -> None:
        """The means and covariances of all elements, and the entropy."""
        from gibbsppl.code.lowering.averages import lower_averages  # noqa: PLC0415  (if compiled)

        lower_averages(workshop, self, taken.moments)

    def lower_by_mode(self, workshop: Workshop, taken: Any) -> None:
        """The means of all elements."""
        from gibbsppl.code.lowering.averages import lower_mean  # noqa: PLC0415  (if compiled)

        del taken
        lower_mean(workshop, self)

    def drawing_functions(self, module: Module) -> tuple[str, ...]:
        """The function of what a pencil is drawn from."""
        return () if self.pencil is None else (scaled_name(module, self),)

    def in_row(self, module: Module) -> dict[str, str]:
        """The function of what a pencil is drawn from."""
        return {} if self.pencil is None else {"scaled": scaled_name(module, self)}

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """Coefficients times elements, squares and products of all arrays, known elements too."""
        del drawn
        own, products = given
        terms = []
        if self.rows is not None:
            terms += [np.ravel(t) for t in self._of_rows(self.rows, products, values)]
            products = ()
        for name, (linear, squares) in own.items():
            x = np.asarray(values[name], dtype=float)
            terms += [np.ravel(linear * x), np.ravel(squares * x**2)]
        for pair, coefficients in zip(self.pairs, products, strict=self.rows is None):
            ends = (evaluate(e, pair.place, values, sizes) for e in (pair.first, pair.second))
            first, second = ends
            terms.append(np.ravel(coefficients * first * second))
        return np.concatenate(terms)

    def _of_rows(self, rows: Rows, given: Any, values: Values) -> Iterator[Floats]:
        """Responses times the linear forms of the rows, and weights times their squares."""
        for form, (weight, response, design) in zip(rows.forms, given, strict=True):
            shape = tuple(map(len, form.rows))
            z: Floats = np.zeros(shape)
            for name, part in zip(self.variables, design, strict=True):
                x = np.asarray(values[name], dtype=float)
                whole = np.broadcast_to(part, (*shape, *x.shape))
                z = z + (whole * x).reshape((*shape, -1)).sum(axis=-1)
            yield from (response * z, -weight * z**2 / 2)

    def log_normalised(self, normaliser: Any) -> Floats | None:
        """The log density of the normal vector; of some of its arrays, the others given."""
        found: Floats | None = normaliser.of_joint()
        return found

    # Words

    @property
    def owner(self) -> str:
        """The family."""
        return self.family.name

    def how(self, graph: Graph) -> str:
        """The layout of the precision matrix."""
        del graph
        return f"jointly, {self.layout}"

    def formula(self, notation: Notation) -> Formula:
        """The log density, up to a constant: the pieces, each summed."""
        parts = []
        for piece in self.conditional.pieces:
            value = Mul(piece.coefficient, piece.statistic)
            for r in reversed(piece.over):
                value = Over(value, r.dim, r.start, r.stop)
            parts.append(notation.text(value))
        return "log density = ", [signed_sum(parts)], ""

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the log density."""
        return derivation.pieces(self.conditional.pieces)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """Why all can be drawn at once, and how."""
        notation = derivation.notation
        told = jointly_told(self, self.conditional.pieces, self._precision(notation), notation)
        return [("The family recognised", told)]

    def _precision(self, notation: Notation) -> str:
        """The layout of the precision matrix, with the fixed matrices diagonalised once."""
        if self.pencil is None:
            return self.layout
        parts = (
            "a fixed one" if s == 1 else f"{notation.text(s)} times one"
            for s in self.pencil.scales
        )
        return f"{self.layout}; matrices of data, diagonalised once: {' and '.join(parts)}"


def joint_draw(
    graph: Graph,
    block: Quadratic,
    data: Mapping[str, Any],
    asked: Blocks | None = None,
    *,
    by_rows: bool = True,
) -> JointDraw | TooLarge:
    """The joint draw of a block, if its precision matrix is within the limits.

    ``by_rows`` says whether the draw may be by few rows, without that matrix.
    """
    found = precision_of(graph, block, data, asked or Blocks(), by_rows=by_rows)
    if isinstance(found, TooLarge):
        return found
    parts = found.linear, found.squares, found.pairs, found.layout, found.pencil
    return JointDraw(block, *parts, found.rows)
