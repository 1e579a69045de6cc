"""A move of elements of several arrays by the gradient of their log density."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Binder, Expr, Greatest, Least, Over, mentions
from gibbsppl.algebra.notation import Notation, signed_sum, wrapped
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.algebra.supports import Kind as KindOfSupport
from gibbsppl.code.gradients import bounds, surface, unconstrained_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.derive.contractions import Contribution, pull_back, pull_back_extreme
from gibbsppl.derive.gradients import Slopes
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.explain.derivation import WIDTH, Derivation
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.limits import Side
from gibbsppl.pieces.split import Piece, View
from gibbsppl.schedule.fixed_matrices import FixedMatrices
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.kinds import TogetherStep, of_piece
from gibbsppl.schedule.parameters import Bound, NaturalParameter, Pair
from gibbsppl.schedule.precisions import is_data_of
from gibbsppl.schedule.steps import Formula, Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class Path:
    """How a kernel moves: a ``function`` of the runtime, and how far its paths go.

    ``target`` is the probability of accepting that steps adapt to.
    """

    function: str
    target: float
    extent: float


@dataclass(frozen=True, slots=True)
class GradientMove(TogetherStep):
    """A move of all elements of several statements along a path, by the gradient.

    ``terms`` add up to the log density, ``gradient`` are the partial derivatives by the elements of
    each array; both read the ``kept`` arrays. ``ends`` are the bounds of arrays that have some.
    Which elements are tied need not be known: there are no ``pairs``. Where nobody asks for it,
    there are ``refusals``: why no family owns the conditionals.
    """

    conditional: Slopes
    terms: tuple[Contribution, ...]
    gradient: tuple[NaturalParameter, ...]
    path: Path
    ends: tuple[tuple[str, Bound, Bound], ...]
    kept: tuple[NaturalParameter, ...]
    kernel: str
    asked: Kernel | None
    refusals: tuple[NotConjugate, ...] = ()
    called: str = ""
    kind: Kind = "move"
    pairs: tuple[Pair, ...] = ()
    layout: str = ""
    pencil: FixedMatrices | None = None
    is_move = True
    returns_array = True
    is_from_current = True

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements whose elements are moved together."""
        return self.conditional.statements

    @property
    def tied(self) -> Mapping[str, KindOfSupport]:
        """The kinds of the arrays of simplexes and of matrices, by name."""
        return {s.target.array.name: s.support.kind for s in self.statements if s.support.is_tied}

    @property
    def refusal(self) -> NotConjugate | None:
        """Why no family owns the first conditional, where nobody asks for the move."""
        return self.refusals[0] if self.refusals else None

    @property
    def may_be_coloured(self) -> bool:
        """All elements are moved in one call."""
        return False

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the log density, its gradient and the bounds read."""
        del graph
        yield from (c.value for c in self.terms)
        yield from (c.value for p in self.kept for c in p.contributions)
        yield from (e for p in self.conditional.pieces for e in of_piece(p))
        yield from (c.value for _, *both in self.ends for b in both for c in b.contributions)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function that returns the log density and its gradient, as a function of arrays."""
        return "\n\n\n".join(surface(module, self, module.function_of(self, "surface")))

    def functions(self, module: Module) -> list[str]:
        """The function of the bounds."""
        return [bounds(module, self, module.function_of(self, "bounds"))] if self.ends else []

    def lines(self, module: Module) -> list[str]:
        """The lines of a sweep that move along a path."""
        own, given = f'c["{unconstrained_name(module, self)}"]', module.functions[self.name]
        known = f'runtime.trajectory_of(s, "{self.name}", {own}, {self.path.target!r})'
        ends = f", bounds={module.function_of(self, 'bounds')}(s, c)" if self.ends else ""
        return [
            f"s.update(runtime.{self.path.function}(",
            f"{INDENT}rng, s, {own}, {given}(s, c),",
            f"{INDENT}{known},",
            f"{INDENT}{self.path.extent!r}{ends},",
            "))",
        ]

    def lower(self, workshop: Workshop) -> None:
        """A move of one vector."""
        from gibbsppl.code.lowering.trajectories import (  # noqa: PLC0415  (if compiled)
            lower_trajectory,
        )

        lower_trajectory(workshop, self)

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log density, as one number."""
        del sizes, drawn
        height, _ = given({n: np.asarray(values[n], dtype=float)[()] for n in self.variables})
        return np.ravel(np.asarray(height, dtype=float))

    # Words

    @property
    def method(self) -> str:
        """The kernel."""
        return self.kernel

    @property
    def owner(self) -> str:
        """The kernel."""
        return self.kernel

    def how(self, graph: Graph) -> str:
        """Whether several arrays are moved together."""
        del graph
        return "together" if len(self.variables) > 1 else ""

    def formula(self, notation: Notation) -> Formula:
        """The log density, up to a constant."""
        return "log density = ", [self._density_text(notation)], ""

    def _density_text(self, notation: Notation) -> str:
        found = self.conditional
        terms = (_summed(found.graph, *t) for t in found.whole)
        return signed_sum([notation.text(t.value) for t in terms])

    def collected(self, derivation: Derivation) -> list[str]:
        """Every partial derivative."""
        told = "the gradient: the coefficient of each element is the partial derivative by it:"
        return [told, *derivation.pieces(self.conditional.pieces)]

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The log density, and how paths end."""
        density = wrapped(self._density_text(derivation.notation), WIDTH)
        return [(f"The log density that {self.kernel} evaluates, with its gradient", density)]


def gradient_move(
    slopes: Slopes, kernel: Kernel, path: Path, refusals: tuple[NotConjugate, ...] = ()
) -> GradientMove:
    """The move of statements by a kernel along its paths; by default if there are refusals."""
    graph = slopes.graph
    is_data = is_data_of(graph)
    kept = tuple(NaturalParameter(p.element, p.axes, p.contributions) for p in slopes.parts)
    terms = tuple(_summed(graph, *t) for t in slopes.terms)
    gradient = tuple(_slopes(graph, slopes, name, is_data) for name in slopes.arrays)
    found = (_ends(graph, slopes.statements, name) for name in slopes.arrays)
    ends = tuple(e for e in found if e is not None)
    asked, told = None if refusals else kernel, str(kernel)
    return GradientMove(slopes, terms, gradient, path, ends, kept, told, asked, refusals)


def _summed(graph: Graph, factor: str, value: Expr, over: tuple[Range, ...]) -> Contribution:
    """All terms of a factor summed: those of one position first, where large ones cancel."""
    found = bounded(value, graph.sizes)
    for r in reversed(over):
        found = Over(found, r.dim, r.start, r.stop)
    return Contribution(factor, found, ())


def _slopes(graph: Graph, slopes: Slopes, name: str, is_data: Any) -> NaturalParameter:
    """The partial derivatives by the elements of an array."""
    axes = graph.variables[name].dims
    found = []
    for p in slopes.gradient.of(name, 1):
        indices = tuple(i for i in p.views[0].indices if i is not None)
        found.append(pull_back(p, axes, indices, graph.sizes, is_data))
    array = next(s.target.array for s in slopes.statements if s.target.array.name == name)
    return NaturalParameter(array[axes], axes, tuple(found))


def _ends(
    graph: Graph, statements: Sequence[Statement], name: str
) -> tuple[str, Bound, Bound] | None:
    """The bounds of the elements of an array; None where there are none.

    A bound that moves with the elements is a term of the log density.
    """
    moved = {s.target.array.name for s in statements}
    own = [s for s in statements if s.target.array.name == name and not s.support.is_tied]
    sides: tuple[tuple[Side, type[Binder]], ...] = (("lower", Greatest), ("upper", Least))
    axes, found = graph.variables[name].dims, []
    for side, extreme in sides:
        ends = ((s, sp.sympify(getattr(s.support, side))) for s in own)
        held = [(s, e) for s, e in ends if e not in (sp.oo, -sp.oo) and not mentions(e, moved)]
        pieces = (_end(s, e) for s, e in held)
        found.append(tuple(pull_back_extreme(p, axes, graph.sizes, extreme) for p in pieces))
    if not any(found):
        return None
    return name, Bound("lower", axes, found[0]), Bound("upper", axes, found[1])


def _end(statement: Statement, end: Expr) -> Piece:
    """A bound of the elements of a statement, as a piece of them."""
    view = View(statement.target.array, statement.target.indices)
    return Piece(statement.name, sp.S.One, (view,), end, statement.over)
