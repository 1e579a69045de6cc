"""Steps by what they draw from: families, labels, quadratic log densities, any log density."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Self

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.supports import Support
from gibbsppl.derive.changes import Change
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.labels import FiniteConditional
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.families import Family
from gibbsppl.model.density import tied_dims
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Place, slices_of
from gibbsppl.pieces.split import Piece
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.fixed_matrices import FixedMatrices
from gibbsppl.schedule.parameters import NaturalParameter, Pair
from gibbsppl.schedule.steps import OfOne, Step


class Single(Step):
    """A step that draws elements of one array, all or those of a region."""

    __slots__ = ()
    conditional: OfOne
    region: tuple[Place, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The one statement whose elements the step draws."""
        return (self.conditional.statement,)

    @property
    def tied(self) -> int:
        """The number of last axes along which the entries of a value are tied to one another."""
        return len(tied_dims(self.statement))

    @property
    def places(self) -> tuple[Place, ...]:
        """The positions of what may be drawn by itself: of elements, or of values of tied ones."""
        return self.region[: len(self.region) - self.tied]

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """The support of each statement, and what else the conditional reads."""
        del graph
        for statement in self.statements:
            yield from (statement.support.lower, statement.support.upper)


class ChangedDraw(Single):
    """An exact draw on a scale of its own, if there is a change of variable."""

    __slots__ = ()
    conditional: Conditional | LogConcave

    @property
    def change(self) -> Change | None:
        """The change of variable under which the conditional is recognised."""
        return self.conditional.change

    @property
    def place(self) -> Leaf:
        """The target, or the new variable."""
        return self.conditional.place

    @property
    def support(self) -> Support:
        """The support of the target, or of the new variable."""
        return self.conditional.support

    def on_new_scale(self, statement: Statement) -> Self:
        """The draw of the new variable, without its change."""
        plain = replace(self.conditional, statement=statement, change=None)
        return self.with_fields(conditional=plain)


class FamilyDraw(ChangedDraw):
    """A draw from a family of the table: a natural parameter for each of its statistics."""

    __slots__ = ()
    conditional: Conditional
    parameters: tuple[NaturalParameter, ...]

    @property
    def family(self) -> Family:
        """The family that the conditional belongs to."""
        return self.conditional.family

    @property
    def known(self) -> dict[str, Expr]:
        """The known parameters of the family."""
        return dict(self.conditional.known)

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of the array along which values are independent."""
        return self.conditional.batch

    @property
    def dense(self) -> tuple[int, ...]:
        """The axes of the array along which all elements are drawn as one vector."""
        return self.conditional.dense

    @property
    def drawn(self) -> tuple[slice, ...]:
        """The part of the batch that is drawn."""
        return slices_of(self.region[a] for a in self.batch)

    @property
    def is_from_current(self) -> bool:
        """Whether elements depend on one another, or the draw is over-relaxed."""
        return self.is_by_element or self.alpha is not None

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """Known parameters, limits, pieces, and the maintained arrays that these read."""
        yield from super().expressions(graph)
        found = self.conditional
        yield from (v for _, v in found.known)
        yield from (limit.value for limit in found.limits)
        yield from (e for pieces in found.pieces for p in pieces for e in of_piece(p))
        arrays = {a.name: a for m in graph.marginals for a in m.arrays}
        read = {x.array.name for ps in found.pieces for p in ps for x in p.coefficient.atoms(Leaf)}
        yield from (e for n in read & set(arrays) for e in arrays[n].expressions)


class TogetherStep(Step):
    """A step that draws or moves all elements of several arrays as one vector.

    ``pairs`` are natural parameters of pairs of elements; ``layout`` says how the precision matrix
    is factorised; with a ``pencil`` it is diagonalised once instead. Arrays that come ``last`` are
    its border, if there are any.
    """

    __slots__ = ()
    pairs: tuple[Pair, ...]
    layout: str
    pencil: FixedMatrices | None

    @property
    def name(self) -> str:
        """The names of the arrays, unless the step has a name of its own."""
        return self.called or self.named({})

    def named(self, parts: Mapping[str, str]) -> str:
        """The name of the step by those of its arrays, or of the ``parts`` that it draws."""
        return ", ".join(parts.get(n, n) for n in self.variables)


class QuadraticDraw(TogetherStep):
    """A draw of all elements of several arrays, whose log density is quadratic in them.

    ``linear`` and ``squares`` have a natural parameter for each of the arrays.
    """

    __slots__ = ()
    conditional: Quadratic
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]


class LabelDraw(Single):
    """A draw of labels of one range, in proportion to their weights."""

    __slots__ = ()
    conditional: FiniteConditional | ChainConditional | Scan

    @property
    def labels(self) -> range:
        """The values of the labels."""
        return range(self.conditional.lower, self.conditional.lower + self.conditional.size)

    @property
    def owner(self) -> str:
        """The labels, from the lowest to the highest."""
        return f"labels {self.range_text}"

    @property
    def range_text(self) -> str:
        """The lowest and the highest label."""
        return f"{self.labels[0]}..{self.labels[-1]}"


class DensityDraw(Single):
    """A step by the log density alone, in no family.

    ``parameters`` belong to the terms whose coefficient is computed once per step; ``terms`` are
    evaluated anew at each candidate. Where elements are drawn one by one (``elements``), ``terms``
    has everything, summed to one number.
    """

    __slots__ = ()
    conditional: LogConcave | NotConjugate
    parameters: tuple[NaturalParameter, ...]
    terms: tuple[Contribution, ...]
    kernel: str
    in_one_call = True

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the pieces of the log density read."""
        yield from super().expressions(graph)
        yield from (e for p in self.conditional.pieces for e in of_piece(p))


def of_piece(piece: Piece) -> Iterator[Expr]:
    """The expressions of a piece, and of its views."""
    yield from (piece.coefficient, piece.statistic)
    yield from (i for view in piece.views for i in view.indices if i is not None)
