"""Expectations of labels: independent ones, and those of hidden Markov chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Leaf,
    Over,
)
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.expectation.averages import Averages, ends_of, same_element
from gibbsppl.model.graph import PLAIN
from gibbsppl.model.graph_views import times_of
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.kinds import LabelDraw
from gibbsppl.schedule.moments import Moment, Refused


class Labels(Averages):
    """Labels that are independent of one another: a probability for each value."""

    __slots__ = ()

    @property
    def labels(self) -> range:
        """The values of the labels."""
        assert isinstance(self.step, LabelDraw)
        return self.step.labels

    def axis(self, taken: Iterable[sp.Symbol]) -> Dim:
        """The dim along which probabilities are, by another name than those taken."""
        (array,) = self.arrays
        dims, of = self.dims(array), self.graph.variables[array].of
        size = len(self.labels)
        if of is None or self.labels.start or self.graph.sizes.get(of) != size:
            of = Dim(f"{array}_label")
            self.asked.sizes[of] = size
        return copy_of(of, {*dims, *taken})

    @property
    def probabilities(self) -> Moment:
        """The probability of each value of each label."""
        (array,) = self.arrays
        own, k = self.element(array), self.axis(())
        axes, at_point = (*self.dims(array), k), Equals(own, k + self.labels.start)
        return self.asked.moment(
            (array,), "probabilities", f"P_{array}", axes,
            sign="P", inside=(at_point,), at_point=at_point, positive=True,
        )

    @property
    def entropy(self) -> Moment:
        """The entropy of all labels; of each where positions repeat."""
        (array,) = self.arrays
        if times_of(self.graph, self.dims(array)) == 1:
            return Averages.entropy.fget(self)  # type: ignore[attr-defined,no-any-return]
        name, inside = self.step.name, (self.element(array),)
        return self.asked.moment(
            (name,), "entropy", f"H_{name}", self.dims(array), sign="H", inside=inside
        )

    @property
    def always(self) -> tuple[Moment, ...]:
        """The probabilities."""
        return (self.probabilities,)

    def weight(self, leaves: Sequence[Leaf], at: Sequence[Dim]) -> Expr:
        """The joint probability of the values of some labels."""
        if not self.are_apart(leaves):
            shown = " and ".join(PLAIN.text(x) for x in leaves)
            raise Refused(f"{shown} may be the same label")
        return Mul(*(self.probabilities[(*x.indices, k)] for x, k in zip(leaves, at, strict=True)))

    def are_apart(self, leaves: Sequence[Leaf]) -> bool:
        """Whether some labels have a joint probability: no two are ever the same."""
        pairs = ((x, y) for n, x in enumerate(leaves) for y in leaves[:n])
        return all(same_element(x.indices, y.indices) == 0 for x, y in pairs)

    def ranges(self, at: Iterable[Dim]) -> tuple[Range, ...]:
        """The ranges of values of labels."""
        return tuple(Range(k, 0, len(self.labels)) for k in at)

    def mean(self, leaf: Leaf) -> Expr:
        """The mean of a label, as a number."""
        (k,) = self.at((leaf,), ())
        return Over(self.weight((leaf,), (k,)) * (k + self.labels.start), k, 0, len(self.labels))

    def covariance(self, piece: Piece) -> Expr:
        """The variance, where both labels are the same."""
        one, other = ends_of(piece)
        same = same_element(one.indices, other.indices)
        if same == 0:
            return sp.S.Zero
        (k,) = self.at((one,), piece.coefficient.free_symbols)
        from_mean = k + self.labels.start - self.mean(one)
        weighted = self.weight((one,), (k,)) * from_mean**2
        return same * Over(weighted, k, 0, len(self.labels))

    def at(self, leaves: Iterable[Leaf], taken: Iterable[sp.Symbol]) -> tuple[Dim, ...]:
        """New dims of values, one for each of some labels."""
        found: list[Dim] = []
        leaves = tuple(leaves)
        own = {s for x in leaves for s in x.free_symbols}
        for _ in leaves:
            found.append(self.axis({*own, *taken, *found}))
        return tuple(found)


class Chain(Labels):
    """Labels of hidden Markov chains: probabilities of each value, and of two neighbours."""

    __slots__ = ()
    is_quadratic = False

    @property
    def pairs(self) -> Moment:
        """The probability of each value of a label and of the one before it along the chain."""
        (array,) = self.arrays
        axis = self.step.axis
        assert axis is not None
        own, dims = self.element(array), self.dims(array)
        before = Leaf(own.array, *(d - 1 if a == axis else d for a, d in enumerate(dims)))
        j = self.axis(())
        k = self.axis((j,))
        start = self.labels.start
        both = (Equals(before, j + start), Equals(own, k + start))
        sizes = {**self.graph.sizes, **self.asked.sizes}
        place = tuple(Range(d, int(d == dims[axis]), size_of(d, sizes)) for d in (*dims, j, k))
        return self.asked.moment(
            (array,), "pairs", f"PP_{array}", (*dims, j, k),
            sign="P", inside=both, at_point=Mul(*both), positive=True, place=place,
        )  # fmt: skip

    @property
    def always(self) -> tuple[Moment, ...]:
        """The probabilities of labels, and of neighbours."""
        return self.probabilities, self.pairs

    def are_apart(self, leaves: Sequence[Leaf]) -> bool:
        """Whether some labels have a joint probability, as `weight` finds."""
        del leaves
        return True

    def weight(self, leaves: Sequence[Leaf], at: Sequence[Dim]) -> Expr:
        """The joint probability of the values of two neighbours, or of one label."""
        if len(leaves) == 1:
            return Labels.weight(self, leaves, at)
        axis = self.step.axis
        assert axis is not None
        if len(leaves) == 2:
            both = sorted(zip(leaves, at, strict=True), key=lambda p: str(p[0]))
            for (one, j), (other, k) in (both, both[::-1]):
                apart = [sp.sympify(b - a) for a, b in zip(one.indices, other.indices, strict=True)]
                if all(d == (1 if a == axis else 0) for a, d in enumerate(apart)):
                    return self.pairs[(*other.indices, j, k)]
        shown = ", ".join(PLAIN.text(x) for x in leaves)
        raise Refused(f"{shown} are no neighbours along a chain")
