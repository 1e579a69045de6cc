"""Weights of a scan as ``(base + count) * rest``: what a draw by buckets needs, found by algebra.

Comes in: a `Scan`. Goes out: its `Buckets`, if each element adds one to all arrays that it changes.
Then an array is what it is without any element, plus a count: of all elements of a label, or of
those that are in a group. One factor of the weights has a count of its own, in groups of which the
labels with counts are listed. The rest of the weights may depend on groups of another kind, in the
order of which elements are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2, prod

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import (
    Dim,
    Leaf,
    Over,
    arrays_in,
    dims_of,
    leaves_of,
    mentions,
    renamed_apart,
    substitute,
)
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.ranges import size_of
from gibbsppl.derive.labels import LABEL
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph, Maintained
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.runtime.kernel_costs import DENSE_SCAN, SPARSE_SCAN
from gibbsppl.runtime.loops.buckets import ONE_MORE


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of elements: the index that says where an element is along an axis of counts."""

    index: Formula
    axis: Dim

    @property
    def place(self) -> Dim:
        """The dim whose positions are the groups: of elements themselves, or of the axis."""
        return self.index if isinstance(self.index, Dim) else Dim(root_of(self.axis))

    def is_table(self, graph: Graph, dims: Sequence[Dim]) -> bool:
        """Whether the index is data, one for each element."""
        if not isinstance(self.index, Leaf) or self.index.indices != tuple(dims):
            return False
        variable = graph.variables.get(self.index.array.name)
        return variable is not None and variable.kind != "random"


@dataclass(frozen=True, slots=True)
class Buckets:
    """Weights of labels, ``(base + count in a listed group) * product of rest``.

    The ``rest`` reads ``counts`` of all elements of a label, and of those in a group ``within``
    which elements are drawn, of which it may depend in other ways, too. When a group comes, either
    all labels are weighed anew (``is_anew``), or those that the group has counts of: again when it
    goes. ``length`` is how long lists are expected to be, on average over elements, and ``weighed``
    how many labels there are in all groups within, for each element.
    """

    base: Formula
    rest: tuple[Formula, ...]
    listed: Grouping
    within: Grouping | None
    counts: tuple[Leaf, Leaf]
    length: float
    weighed: float = 0.0
    is_anew: bool = False

    def seconds(self, size: int) -> float:
        """The time of a draw of so many labels, in seconds."""
        levels = log2(size) * (1 if self.within is None or self.is_anew else 2)
        return SPARSE_SCAN.seconds(self.length, levels, self.weighed if self.is_anew else 0.0)


def buckets_of(
    scan: Scan, graph: Graph, data: Values, factors: Sequence[Formula], counts: tuple[Leaf, Leaf]
) -> Buckets | None:
    """The buckets of weights that are a product of factors; None if they have none.

    ``counts`` stand for those of all elements of a label, and of those in a group. If there are
    several ways, the one that takes least time.
    """
    found = list(_Finding.of(scan, graph, data, counts).every(factors))
    return min(found, key=lambda b: b.seconds(scan.size), default=None)


def are_worth_it(buckets: Buckets, size: int) -> bool:
    """Whether a draw by buckets takes less time than one that weighs all labels, by their number.

    >>> from sympy import S
    >>> short = Buckets(S.One, (), Grouping(S.One, LABEL), None, (), length=50)
    >>> [are_worth_it(short, size) for size in (20, 1000)]
    [False, True]
    """
    return size < ONE_MORE and buckets.seconds(size) < DENSE_SCAN.seconds(size)


@dataclass(frozen=True, slots=True)
class _Finding:
    """The work on a scan; ``places`` are those that an element of a label changes, by array."""

    scan: Scan
    graph: Graph
    data: Values
    counts: tuple[Leaf, Leaf]
    kept: Mapping[str, Maintained]
    places: Mapping[str, tuple[Formula, ...]]

    @classmethod
    def of(cls, scan: Scan, graph: Graph, data: Values, counts: tuple[Leaf, Leaf]) -> _Finding:
        """The work, with no places where elements change arrays by anything but one."""
        is_one = all(c.value == 1 and not c.over and c.at.count(LABEL) == 1 for c in scan.changes)
        places = {c.array.name: c.at for c in scan.changes}
        kept = {a.name: a for a in scan.kept}
        return cls(scan, graph, data, counts, kept, places if is_one else {})

    def every(self, factors: Sequence[Formula]) -> Iterator[Buckets]:
        """The buckets, for each factor that may have the listed count, and each order of groups."""
        for n, factor in enumerate(factors):
            leaves = [*leaves_of(factor, self.places)]
            if len(leaves) != 1 or mentions(factor - leaves[0], self.places):
                continue
            listed, base = self.grouping(leaves[0]), self.without_elements(leaves[0])
            if listed is None or base is None or not self.has_table(listed):
                continue
            others = [f for f in (*factors[:n], *factors[n + 1 :]) if LABEL in dims_of(f)]
            rest = [f for f in map(self.counted, others) if f is not None]
            for within in self.orders(others, listed) if len(rest) == len(others) else ():
                own = self.apart(factor - leaves[0] + base, within)
                placed = [self.placed(f, within) for f in rest]
                if self.are_apart(own, placed, within):
                    length = self.length(listed, own)
                    found = Buckets(own, tuple(placed), listed, within, self.counts, length)
                    yield from self.ways(found)

    def ways(self, found: Buckets) -> Iterator[Buckets]:
        """The ways in which groups may come."""
        if found.within is None:
            yield found
            return
        place = found.within.place
        elements = prod(size_of(d, self.graph.sizes) for d in self.dims)
        weighed = self.scan.size * size_of(place, self.graph.sizes) / max(1, elements)
        found = replace(found, weighed=weighed)
        yield replace(found, is_anew=True)
        if not any(place in dims_of(f) for f in found.rest):
            yield found

    def orders(self, rest: Sequence[Formula], listed: Grouping) -> list[Grouping | None]:
        """The groups in whose order elements may be drawn: of counts, or of other arrays."""
        leaves = {x for f in rest for x in leaves_of(f, self.places)}
        counted = {self.grouping(x) for x in leaves if x.indices != (LABEL,)}
        if counted:
            (first, *more) = counted
            is_one = first is not None and not more and first != listed
            return [first] if is_one and self.is_of_elements(first) else []
        read = {x for f in rest for x in f.atoms(Leaf) if LABEL in x.indices}
        found = (g for x in sorted(read, key=str) for g in self.read_by(x))
        return [None, *dict.fromkeys(g for g in found if self.is_of_elements(g))]

    def read_by(self, leaf: Leaf) -> Iterator[Grouping]:
        """The groups by which an element of an array of the model is read."""
        variable = self.graph.variables.get(leaf.array.name)
        if variable is not None:
            pairs = zip(leaf.indices, variable.dims, strict=True)
            yield from (Grouping(i, d) for i, d in pairs if i != LABEL)

    def is_of_elements(self, grouping: Grouping | None) -> bool:
        """Whether groups are positions along a dim of elements, or known from data."""
        return grouping is not None and (grouping.index in self.dims or self.has_table(grouping))

    def apart(self, factor: Formula, within: Grouping | None) -> Formula:
        """A factor whose sums are over other dims than loops over groups and elements."""
        return renamed_apart(factor, {*self.dims, *([within.place] if within is not None else [])})

    def placed(self, factor: Formula, within: Grouping | None) -> Formula:
        """A factor at a group, instead of at an element of it."""
        found = self.apart(factor, within)
        return found if within is None else found.xreplace({within.index: within.place})

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The dims of the elements."""
        return self.scan.statement.target.own_dims

    def grouping(self, leaf: Leaf) -> Grouping | None:
        """The groups of an array, of which weights read an element; None for others."""
        at = [n for n, i in enumerate(leaf.indices) if i != LABEL]
        if leaf.indices != self.places[leaf.array.name] or len(at) != 1:
            return None
        return Grouping(leaf.indices[at[0]], self.kept[leaf.array.name].axes[at[0]])

    def has_table(self, grouping: Grouping) -> bool:
        """Whether the groups of elements are data."""
        return grouping.is_table(self.graph, self.dims)

    def are_apart(self, base: Formula, rest: Sequence[Formula], within: Grouping | None) -> bool:
        """Whether the base does not depend on the label, nor the rest on an element."""
        own = (self.scan.statement.target.array.name, *self.places)
        is_free = not any(mentions(f, own) for f in (base, *rest))
        group = set() if within is None else {within.place}
        # (a group is not taken for an element)
        is_clear = within is None or within.index in self.dims or not group & {*self.dims}
        is_known = all(dims_of(f) <= {LABEL, *group} for f in rest)
        return is_free and is_clear and is_known and LABEL not in dims_of(base)

    def counted(self, factor: Formula) -> Formula | None:
        """A factor that reads counts instead of arrays that elements change."""
        mapping: dict[Formula, Formula] = {}
        for leaf in leaves_of(factor, self.places):
            base = self.without_elements(leaf)
            if base is None:
                return None
            mapping[leaf] = base + self.counts[len(leaf.indices) - 1]
        return factor.xreplace(mapping)

    def without_elements(self, leaf: Leaf) -> Formula | None:
        """The value of an element of an array without any element of the label."""
        array, name = self.kept[leaf.array.name], self.scan.statement.target.array.name
        found: Formula = sp.S.Zero
        for s in array.scatters:
            if any(mentions(e, (name,)) for e in (s.value, *s.indices)):
                continue
            whole = all((r.start, r.stop) == (0, self.graph.sizes.get(r.dim)) for r in s.over)
            if s.indices != array.axes or not whole:
                return None
            read = leaves_of(s.value, self.kept)
            inner = {x: e for x in read if (e := self.without_elements(x)) is not None}
            if len(inner) < len(read):
                return None
            value = s.value.xreplace(inner)
            for r in s.over:
                value = value if r.dim in array.axes else Over(value, r.dim, r.start, r.stop)
            found += value
        return substitute(found, dict(zip(array.axes, leaf.indices, strict=True)))

    def length(self, listed: Grouping, base: Formula) -> float:
        """The length of lists, averaged over elements: as expected of an urn, or at most."""
        (name,) = arrays_in(listed.index)
        sizes = np.bincount(np.ravel(self.data[name]).astype(np.intp), minlength=1)
        lengths = np.minimum(sizes, self.scan.size)
        if base.is_number:
            lengths = expected_labels(float(base), self.scan.size, int(sizes.max()))[sizes]
        return float(sizes @ lengths / max(1, sizes.sum()))


def expected_labels(base: float, size: int, most: int) -> Floats:
    """The expected numbers of labels of 0, 1, ... elements, each drawn by ``base + count``.

    >>> expected_labels(0.5, 3, 2)
    array([0. , 1. , 1.4])
    """
    before = base * size + np.arange(most)
    with np.errstate(divide="ignore"):  # (a single label is never missed)
        missed = np.exp(np.cumsum(np.log1p(-base / before)))
    return size * (1 - np.concatenate([[1.0], missed]))
