"""Newton steps to the joint mode of variables whose log density is concave in all together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import Any

from gibbsppl.algebra.expressions import Expr, Over
from gibbsppl.algebra.notation import Notation, signed_sum, wrapped
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.analysis.curvature import Certificate
from gibbsppl.code.joint import joint_coefficients, joint_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.maintained import maintained_functions
from gibbsppl.code.module import Module
from gibbsppl.code.readings import total
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import SecondOrder, Weight
from gibbsppl.explain.derivation import WIDTH, Derivation
from gibbsppl.model.graph import Graph, Statement, Variable
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.kinds import QuadraticDraw, of_piece
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.precisions import precision_of
from gibbsppl.schedule.steps import Formula, Kind


@dataclass(frozen=True, slots=True)
class Ascent(QuadraticDraw):
    """A step that puts several statements' elements to their joint mode.

    The conditional is the log density to second order, in steps from where the variables are,
    computed from the ``kept`` arrays of weights; ``terms`` add up to the log density that rises.
    """

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
    is_from_current = True

    @property
    def instead_of(self) -> Ascent:  # type: ignore[override]
        """Itself: a point has no draws, of which there would be several."""
        return self

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are put to their mode together."""
        return self.conditional.statements

    @property
    def name(self) -> str:
        """The names of the arrays."""
        return ", ".join(self.variables)

    @property
    def may_be_coloured(self) -> bool:
        """All elements are moved together."""
        return False

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the log density and its second-order terms read."""
        del graph
        yield from (t.value for t in self.terms)
        yield from (e for p in self.conditional.pieces for e in of_piece(p))

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the gradient, and of halves of the second derivatives."""
        drawn = ", ".join(self.variables)
        doc = f"{drawn} | rest, to second order: the gradient, halves of the second derivatives."
        own = joint_coefficients(module, self, doc)
        return "\n\n\n".join([*maintained_functions(module, self), own])

    def functions(self, module: Module) -> list[str]:
        """The function of the log density."""
        doc = f"{', '.join(self.variables)} | rest: the log density, up to a constant."
        return [total(module, self._density_name(module), "log_density", self.terms, doc)]

    def lines(self, module: Module) -> list[str]:
        """The lines of a sweep that climb to the mode."""
        own = f'c["{joint_name(module, self)}"]'
        functions = f"{module.functions[self.name]}, {self._density_name(module)}"
        return [f"s.update(runtime.climb_jointly(s, c, {own},", f"{INDENT}{functions}))"]

    def _density_name(self, module: Module) -> str:
        return module.function_of(self, "log_density")

    def lower(self, workshop: Any) -> None:
        """A sweep as a value has none."""
        self.lower_by_mode(workshop, self)

    # Words

    @property
    def owner(self) -> str:
        """The method."""
        return self.kernel

    def how(self, graph: Graph) -> str:
        """The layout of the matrix of second derivatives."""
        del graph
        return f"by mode, jointly, {self.layout}"

    def formula(self, notation: Notation) -> Formula:
        """The log density, up to a constant."""
        return "log density = ", [self._density_text(notation)], ""

    def _density_text(self, notation: Notation) -> str:
        return signed_sum([notation.text(t.value) for t in self.terms])

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the log density to second order."""
        told = ", ".join(self.variables)
        head = [f"to second order, of steps of {told} from where they are:"]
        return head + derivation.pieces(self.conditional.pieces)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The certificate, and how the mode is found."""
        density = wrapped(self._density_text(derivation.notation), WIDTH)
        told = [
            "A Newton step is the joint mean of the terms above; it is halved until the log",
            f"density is no lower. The matrix of second derivatives: {self.layout}.",
        ]
        return [
            ("The certificate: the log density is concave", str(self.certificate).splitlines()),
            ("The log density that rises", density),
            ("The search", told),
        ]


def ascent(
    graph: Graph,
    taken: SecondOrder,
    data: Mapping[str, Any],
    asked: Blocks,
) -> Ascent | None:
    """The climb to a joint mode, if the matrix of second derivatives is within the limits."""
    weights = {w.element.array.name: w for w in taken.weights}
    arrays = {n: Variable(n, w.axes, "random") for n, w in weights.items()}
    known = replace(graph, variables={**graph.variables, **arrays})
    found = precision_of(known, taken.weighted, data, asked)
    if found is None:
        return None
    kept = tuple(map(partial(_kept, graph), weights.values()))
    own = (found.linear, found.squares, found.pairs, found.layout)
    terms = tuple(starmap(partial(_summed, graph), taken.terms))
    return Ascent(taken.quadratic, *own, terms, taken.certificate, kept)


def _summed(graph: Graph, factor: str, value: Expr, over: tuple[Range, ...]) -> Contribution:
    """All terms of a factor summed: those of one position first, where large ones cancel."""
    found = bounded(value, graph.sizes)
    for r in reversed(over):
        found = Over(found, r.dim, r.start, r.stop)
    return Contribution(factor, found, ())


def _kept(graph: Graph, weight: Weight) -> NaturalParameter:
    """The weights as an array that is computed for a step."""
    place = tuple(Range(d, 0, graph.sizes[d]) for d in weight.axes)
    found = Contribution(weight.factor, bounded(weight.value, graph.sizes), place)
    return NaturalParameter(weight.element, weight.axes, (found,))
