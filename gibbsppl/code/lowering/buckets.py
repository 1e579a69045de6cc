"""Weights of a scan as ``(base + count) * rest``: what a draw by buckets needs, found by algebra.

Comes in: a `Scan`. Goes out: its `Buckets`, if each element adds one to all arrays that it changes.
Then an array is what it is without any element, plus a count: of all elements of a label, or of
those that are in a group. One factor of the weights has a count of its own, in groups of which the
labels with counts are listed. The rest of the weights may have counts of one other grouping, in the
order of which elements are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import (
    Dim,
    Leaf,
    Over,
    arrays_in,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.derive.labels import LABEL
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Maintained
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.runtime.kernel_costs import DENSE_SCAN, SPARSE_SCAN
from gibbsppl.runtime.loops.buckets import ONE_MORE


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of elements: the index that says where an element is along an axis of counts."""

    index: Formula
    axis: Dim

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
    which elements are drawn. ``length`` is how long lists are at most, on average over elements.
    """

    base: Formula
    rest: tuple[Formula, ...]
    listed: Grouping
    within: Grouping | None
    counts: tuple[Leaf, Leaf]
    length: float


def buckets_of(
    scan: Scan, graph: Graph, data: Values, factors: Sequence[Formula], counts: tuple[Leaf, Leaf]
) -> Buckets | None:
    """The buckets of weights that are a product of factors; None if they have none.

    ``counts`` stand for those of all elements of a label, and of those in a group. If there are
    several ways, that with the shorter lists.
    """
    found = list(_Finding.of(scan, graph, data, counts).every(factors))
    return min(found, key=lambda b: b.length, default=None)


def are_worth_it(buckets: Buckets, size: int) -> bool:
    """Whether a draw by buckets takes less time than one that weighs all labels, by their number.

    >>> from sympy import S
    >>> short = Buckets(S.One, (), Grouping(S.One, LABEL), None, (), length=50)
    >>> [are_worth_it(short, size) for size in (20, 1000)]
    [False, True]
    """
    sparse = SPARSE_SCAN.seconds(buckets.length, log2(size))
    return size < ONE_MORE and sparse < DENSE_SCAN.seconds(size)


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
        """The buckets, for each factor that may have the listed count."""
        for n, factor in enumerate(factors):
            rest = [f for f in (*factors[:n], *factors[n + 1 :]) if LABEL in dims_of(f)]
            leaves = [*leaves_of(factor, self.places)]
            if len(leaves) == 1 and (found := self.one(factor, leaves[0], rest)) is not None:
                yield found

    def one(self, factor: Formula, leaf: Leaf, rest: list[Formula]) -> Buckets | None:
        """The buckets with the count of one array in lists; None if that cannot be."""
        listed, others = self.grouping(leaf), self.groupings(rest)
        if listed is None or others is None or listed in others or len(others) > 1:
            return None
        base, within = self.without_elements(leaf), next(iter(others), None)
        if base is None or mentions(factor - leaf, self.places) or not self.has_table(listed):
            return None
        if within is not None and not (within.index in self.dims or self.has_table(within)):
            return None
        counted = [self.counted(f) for f in rest]
        known = [f for f in counted if f is not None]
        base = factor - leaf + base
        if len(known) < len(rest) or not self.are_apart(base, known):
            return None
        return Buckets(base, tuple(known), listed, within, self.counts, self.length(listed))

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

    def groupings(self, rest: Sequence[Formula]) -> set[Grouping] | None:
        """The groups of arrays that the rest reads; None if some are no groups."""
        leaves = {x for f in rest for x in leaves_of(f, self.places)}
        found = {self.grouping(x) for x in leaves if x.indices != (LABEL,)}
        return None if None in found else {g for g in found if g is not None}

    def has_table(self, grouping: Grouping) -> bool:
        """Whether the groups of elements are data."""
        return grouping.is_table(self.graph, self.dims)

    def are_apart(self, base: Formula, rest: Sequence[Formula]) -> bool:
        """Whether the base does not depend on the label, nor the rest on anything else."""
        own = (self.scan.statement.target.array.name, *self.places)
        is_free = not any(mentions(f, own) for f in (base, *rest))
        return is_free and LABEL not in dims_of(base) and all(dims_of(f) <= {LABEL} for f in rest)

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
        """What an element of an array would be without any element of the label."""
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

    def length(self, listed: Grouping) -> float:
        """How many labels a list has at most, on average over elements."""
        (name,) = arrays_in(listed.index)
        sizes = np.bincount(np.ravel(self.data[name]))
        return float(sizes @ np.minimum(sizes, self.scan.size) / max(1, sizes.sum()))
