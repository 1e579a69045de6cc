"""Steps of blocks whose log density is concave in all their variables together.

Comes in: a block's log density to second order. Goes out, for the kernels that are made of it
(`ascent` to the joint mode, `modal` proposals): the functions that compute the gradient and the
second derivatives, assembled as the coefficients of a joint draw are, and the log density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import starmap
from typing import Any, Self

from gibbsppl.algebra.expressions import Expr, Over
from gibbsppl.algebra.notation import Notation, signed_sum, wrapped
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.analysis.curvature import Certificate
from gibbsppl.code.joint import joint_coefficients
from gibbsppl.code.maintained import maintained_functions
from gibbsppl.code.module import Module
from gibbsppl.code.readings import total
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import SecondOrder
from gibbsppl.derive.weights import Weight
from gibbsppl.explain.derivation import WIDTH, Derivation
from gibbsppl.model.graph import Graph, Statement, Variable
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.kinds import QuadraticDraw, of_piece
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.precisions import TooLarge, precision_of
from gibbsppl.schedule.steps import Formula


@dataclass(frozen=True, slots=True)
class ConcaveBlock(QuadraticDraw):
    """A step of several statements' elements together, by their concave log density.

    The conditional is the log density to second order, in steps from where the variables are,
    computed from the ``kept`` arrays of weights; ``terms`` add up to the log density.
    """

    conditional: Quadratic
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    pairs: tuple[Pair, ...]
    layout: str
    terms: tuple[Contribution, ...]
    certificate: Certificate
    kept: tuple[NaturalParameter, ...]
    last: tuple[str, ...] = ()
    called: str = ""
    pencil = None
    is_from_current = True
    verb = "rises"

    @classmethod
    def of(
        cls,
        graph: Graph,
        taken: SecondOrder,
        data: Mapping[str, Any],
        asked: Blocks,
        last: tuple[str, ...] = (),
    ) -> Self | TooLarge:
        """The step of a block, if its matrix of second derivatives is within the limits.

        Arrays that come ``last`` are its border.
        """
        weights = {w.element.array.name: w for w in taken.weights}
        arrays = {n: Variable(n, w.axes, "random") for n, w in weights.items()}
        known = replace(graph, variables={**graph.variables, **arrays})
        found = precision_of(known, taken.weighted, data, asked, last)
        if isinstance(found, TooLarge):
            return found
        kept = tuple(map(partial(_kept, graph), weights.values()))
        own = (found.linear, found.squares, found.pairs, found.layout)
        terms = tuple(starmap(partial(summed, graph), taken.terms))
        return cls(taken.quadratic, *own, terms, taken.certificate, kept, last)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are moved together."""
        return self.conditional.statements

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

    def second_order(self, module: Module, name: str) -> str:
        """The function of the gradient, and of halves of the second derivatives."""
        drawn = ", ".join(self.variables)
        doc = f"{drawn} | rest, to second order: the gradient, halves of the second derivatives."
        own = joint_coefficients(module, self, doc, name)
        return "\n\n\n".join([*maintained_functions(module, self), own])

    def density(self, module: Module) -> str:
        """The function of the log density."""
        doc = f"{', '.join(self.variables)} | rest: the log density, up to a constant."
        return total(module, self.density_name(module), "log_density", self.terms, doc)

    def density_name(self, module: Module) -> str:
        """The name of the function of the log density."""
        return module.function_of(self, "log_density")

    # Words

    @property
    def owner(self) -> str:
        """The method."""
        return self.kernel

    def formula(self, notation: Notation) -> Formula:
        """The log density, up to a constant."""
        return "log density = ", [self.density_text(notation)], ""

    def density_text(self, notation: Notation) -> str:
        """The log density, up to a constant, as text."""
        return signed_sum([notation.text(t.value) for t in self.terms])

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the log density to second order."""
        told = ", ".join(self.variables)
        head = [f"to second order, of steps of {told} from where they are:"]
        return head + derivation.pieces(self.conditional.pieces)

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The certificate, and what is done with the log density."""
        density = wrapped(self.density_text(derivation.notation), WIDTH)
        return [
            ("The certificate: the log density is concave", str(self.certificate).splitlines()),
            (f"The log density that {self.verb}", density),
            ("The search", self.told()),
        ]

    def told(self) -> list[str]:
        """Lines on what the step does."""
        raise NotImplementedError


def summed(graph: Graph, factor: str, value: Expr, over: tuple[Range, ...]) -> Contribution:
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
