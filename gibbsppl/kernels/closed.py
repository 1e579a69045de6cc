"""The common part of draws from families of the table, element by element or in blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.notation import Notation
from gibbsppl.code.mean_loops import averaging_function, averaging_name
from gibbsppl.code.module import Module
from gibbsppl.code.natural import natural_parameters, partner_sizes
from gibbsppl.code.readings import Computed, computing_function, function_name, put_computed
from gibbsppl.explain.derivation import Derivation
from gibbsppl.explain.families import family_told, new_variable_told, parameters_told
from gibbsppl.explain.repairs import family_named
from gibbsppl.explain.terms import bounds_told, parameter_text, touches
from gibbsppl.model.evaluation import Floats
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.steps import Formula

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


class ClosedDraw(FamilyDraw):
    """A draw from the family that owns the conditional, by its natural parameters."""

    __slots__ = ()

    def given_rest(self, module: Module) -> str:
        """The function of the natural parameters, and of bounds."""
        return natural_parameters(module, self)

    def functions_by_mean(self, module: Module, taken: Any) -> list[str]:
        """The function of the moments: formulas of natural parameters."""
        if taken.loop is not None:
            return [averaging_function(module, self, taken.loop)]
        extra = partner_sizes(self, module.graph.sizes)
        found = _moments(taken)
        return [computing_function(module, self, "moments", taken.given, found, extra)]

    def lines_by_mean(self, module: Module, taken: Any) -> list[str]:
        """The moments of all elements, or of those of one colour after the other."""
        if taken.loop is not None:
            return [f"{averaging_name(module, self)}(s, c)"]
        call = f"{function_name(module, self, 'moments')}(s, c)"
        return put_computed(module, self, {m.name: m.dims for m in taken.moments}, call)

    def lower_by_mean(self, workshop: Workshop, taken: Any) -> None:
        """The statements of the formulas of moments."""
        from gibbsppl.code.lowering.means_by_form import (  # noqa: PLC0415  (if compiled)
            lower_means_by_form,
        )
        from gibbsppl.code.lowering.readings import lower_formulas  # noqa: PLC0415  (if compiled)

        if taken.loop is not None:
            lower_means_by_form(workshop, self, taken.loop)
        else:
            lower_formulas(workshop, self, taken.given, _moments(taken))

    def functions_by_mode(self, module: Module, taken: Any) -> list[str]:
        """The function of the mode: a formula of natural parameters."""
        found = self._mode(module.dims(self.statement), taken)
        extra = partner_sizes(self, module.graph.sizes)
        return [computing_function(module, self, "mode", taken.given, (found,), extra)]

    def _mode(self, dims: tuple[Dim, ...], taken: Any) -> Computed:
        """The mode, which is not at an end of the support."""
        (array,) = self.variables
        support = self.statement.support
        told = f"The mode of {self.statement.target}"
        ends = sp.sympify(support.lower), sp.sympify(support.upper)
        ends = (sp.S.Zero, sp.S.One) if support.kind == "simplex" else ends
        has_ends = support.kind in ("real", "simplex") and not support.is_discrete
        has_ends = has_ends and not self.bounds
        is_inside = has_ends and all(e.is_number for e in ends) and ends != (-sp.oo, sp.oo)
        return Computed(array, dims, taken.formula_of_mode, told, ends if is_inside else None)

    def lines_by_mode(self, module: Module, taken: Any) -> list[str]:
        """The mode of all elements, or of those of one colour after the other."""
        del taken
        call = f"{function_name(module, self, 'mode')}(s, c)"
        dims = {self.variables[0]: module.dims(self.statement)}
        return put_computed(module, self, dims, call)

    def lower_by_mode(self, workshop: Workshop, taken: Any) -> None:
        """The statement of the formula of the mode."""
        from gibbsppl.code.lowering.readings import lower_formulas  # noqa: PLC0415  (if compiled)

        found = self._mode(workshop.dims(self.variables[0]), taken)
        lower_formulas(workshop, self, taken.given, (found,))

    def log_normalised(self, normaliser: Any) -> Floats | None:
        """The row's log density less its log partition."""
        found: Floats | None = normaliser.of_row()
        return found

    @property
    def owner(self) -> str:
        """The family, truncated or of a function of the variable."""
        return family_named(self.conditional)

    @property
    def draw_function(self) -> str | None:
        """The function of the runtime that draws."""
        natural = self.family.natural
        assert natural is not None
        if self.alpha is not None:
            return natural.over_relaxed
        return natural.truncated if self.bounds else natural.draw

    def how(self, graph: Graph) -> str:
        """The order of elements, and the parameter of over-relaxation."""
        over = "" if self.alpha is None else f"over-relaxed by {self.alpha:g}"
        return ", ".join(filter(None, (self.together(graph), over)))

    def together(self, graph: Graph) -> str:
        """The elements of one call, in words; nothing for a single vector call."""
        return super().how(graph)

    def formula(self, notation: Notation) -> Formula:
        """The natural parameters, what is known, and bounds."""
        parts = [parameter_text(p, self, notation) for p in self.parameters]
        known = [f"{n} = {notation.text(v)}" for n, v in self.conditional.known]
        known += bounds_told(self, notation)
        if not parts:
            return "", [", ".join(known)], ""
        after = "".join(f", {k}" for k in known)
        return ("eta = ", parts, after) if len(parts) == 1 else ("eta = (", parts, ")" + after)

    def collected(self, derivation: Derivation) -> list[str]:
        """The pieces of each statistic of the family."""
        pieces = (p for ps in self.conditional.pieces for p in ps if touches(p, self))
        told = new_variable_told(self, derivation.notation)
        return told + derivation.pieces(pieces)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The family, the natural parameters, and the family's own parameters."""
        return [
            ("The family recognised", family_told(self, derivation.graph)),
            ("The natural parameters", derivation.summed(self.parameters)),
            ("The parameters read off", parameters_told(self, derivation.graph)),
        ]


def _moments(taken: Any) -> tuple[Computed, ...]:
    """The moments that a step takes, each with its formula."""
    pairs = zip(taken.moments, taken.formulas, strict=True)
    return tuple(Computed(m.name, m.dims, f, m.told) for m, f in pairs)
