"""Scans by buckets: the counts of few labels are read, whatever the number of labels.

The rests of weights are in a tree, counts of groups in lists (`gibbsppl.runtime.loops.buckets`). An
element is taken out of its counts, a label is drawn, the element is put back. Where rests depend on
a group, elements are drawn group by group: with a group all labels are weighed anew, or those that
it has counts of, and these once more after its last element. So a sweep takes time by elements,
lengths of lists and levels of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from gibbsppl.algebra.expressions import Dim, Leaf, array_of
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Element,
    Expr,
    Number,
    Position,
    Span,
    at,
    negative,
)
from gibbsppl.code.arrays.groups import Hot
from gibbsppl.code.arrays.statements import Add, Argument, Draw, Let, Loop, Statement, Store
from gibbsppl.code.lowering.buckets import Buckets, Grouping
from gibbsppl.code.lowering.scan_parts import sums_beforehand
from gibbsppl.code.lowering.scanning import Scanning, position
from gibbsppl.code.lowering.stored import Stored
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.labels import LABEL
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.parameters import NaturalParameter

# What reads an expression of an element at the place where it is among the members of a group.
Placed: TypeAlias = Callable[[Expr], Expr]


def counts_of(w: Workshop, scan: Scan) -> tuple[Leaf, Leaf]:
    """The counts of all elements of a label, and of those in a group, by new names."""
    array = scan.statement.target.array.name
    names = (w.fresh(f"{array}_counts"), w.fresh(f"{array}_counts_here"))
    every, here = (Leaf(array_of(n, is_positive=False), LABEL) for n in names)
    return every, here


def lower_by_buckets(work: Scanning, buckets: Buckets) -> None:
    """A scan by buckets."""
    with _reading(work.w, buckets.counts):
        with work.w.apart() as found:
            own = _Bucketed.of(work, buckets)
            own.begin()
            own.scan()
        work.w.add(*sums_beforehand(work.w, found, work.over))


@contextmanager
def _reading(w: Workshop, counts: Iterable[Leaf]) -> Iterator[None]:
    """A context whose expressions read counts by label."""
    before = w.read
    for leaf in counts:
        name, p = leaf.array.name, NaturalParameter(leaf, (LABEL,), ())
        w.read = {**w.read, name: Stored(p, name, (0,), frozenset(), w.statements, 0)}
    yield
    w.read = before


@dataclass(frozen=True, slots=True)
class Vector:
    """A new array over one span."""

    name: str
    span: Span

    @property
    def whole(self) -> Element:
        """The array as kernels have it, whole."""
        return Element(self.name, (Position(self.span.dim),))

    @property
    def given(self) -> Argument:
        """The array as an argument."""
        return Argument(self.whole, (self.span,), as_is=True)


@dataclass(frozen=True, slots=True)
class _Bucketed:
    """The work on a scan: a tree, the entries of lists, of which so many are used by a group.

    ``starts`` is where the list of a group begins; ``leaves`` puts all labels into the tree.
    """

    work: Scanning
    buckets: Buckets
    tree: Vector
    entries: Vector
    used: Vector
    starts: Expr
    leaves: Store

    @classmethod
    def of(cls, work: Scanning, buckets: Buckets) -> _Bucketed:
        """The arrays, by new names."""
        w, array = work.w, work.array
        number = prod(map(w.size, work.scan.statement.target.own_dims))
        node = Span(w.fresh(f"{array}_node"), ZERO, Number(2 * work.scan.size))
        entry = w.own_dim(f"{array}_entry", number)
        # (a name of its own: where elements are visited group by group the array is whole)
        group = replace(w.span(buckets.listed.axis), dim=w.fresh(f"{array}_group"))
        tree, entries, used = (
            Vector(w.fresh(f"{array}_{name}"), span)
            for name, span in (("tree", node), ("entries", entry), ("used", group))
        )
        members, _ = w.groups.members(_hot(w, buckets.listed), work.over)
        rest = at(work.ratio(buckets.rest), position(work.label))
        leaf = Element(tree.name, (Position(work.label.dim, work.scan.size),))
        (leaves,) = sums_beforehand(w, (Store(leaf, rest, (work.label,)),))
        assert isinstance(leaves, Store)
        return cls(work, buckets, tree, entries, used, members.start, leaves)

    @property
    def here(self) -> str:
        """The counts of the group whose elements are drawn."""
        return self.buckets.counts[1].array.name

    @property
    def counts(self) -> tuple[str, ...]:
        """The counts that rests read."""
        names = (c.array.name for c in self.buckets.counts)
        return tuple(n for n in names if n in self.leaves.value.arrays)

    def begin(self) -> None:
        """The lists and the counts, and the tree as it is before the first group comes into it."""
        work, w, label = self.work, self.work.w, self.work.label
        w.add(Let(self.entries.name, (self.entries.span,), ZERO, type="int", is_empty=True))
        w.add(Let(self.used.name, (self.used.span,), ZERO, type="int"))
        self.fill()
        for name in self.counts:
            w.add(Let(name, (label,), ZERO, type="int"))
            if name != self.here:
                w.add(Add(name, (work.counted,), ONE, work.over))
        w.add(Let(self.tree.name, (self.tree.span,), ZERO))
        if not self.buckets.is_anew:
            self.weigh_all()

    def fill(self) -> None:
        """The elements of all groups come into their lists."""
        work, w = self.work, self.work.w
        places = Vector(w.fresh(f"{work.array}_places"), work.label)
        w.add(Let(places.name, (places.span,), ZERO, type="int"))
        filled = (self.entries, self.used, places)
        targets, own = (tuple(x) for x in zip(*((v.whole, v.span) for v in filled), strict=True))
        group, members, placed = _grouped(w, self.buckets.listed, work.over)
        here = Position(group.dim)
        given = tuple(map(Argument, (self.first(here), here, placed(work.counted))))
        one = Draw(targets, "one_listed", given, own=own, is_random=False)
        w.add(Loop((group,), (Loop(members, (one,)),)))

    def scan(self) -> None:
        """The elements, one by one; group by group, if the rest depends on one."""
        w, over, within = self.work.w, self.work.over, self.buckets.within
        if within is None:
            with w.inside(*over):
                self.draw(lambda e: e)
            return
        group, members, placed = _grouped(w, within, over)
        with w.inside(group):
            self.come(members, placed)
            with w.inside(*members):
                self.draw(placed)
            self.leave(members, placed)

    def come(self, members: tuple[Span, ...], placed: Placed) -> None:
        """The statements that bring a group into the tree, before its elements are drawn."""
        w, now = self.work.w, placed(self.work.counted)
        if self.here in self.counts:
            w.add(Loop(members, (Add(self.here, (now,), ONE, ()),)))
        if self.buckets.is_anew:
            self.weigh_all()
        else:
            w.add(Loop(members, (self.weighed(now),)))

    def leave(self, members: tuple[Span, ...], placed: Placed) -> None:
        """The counts of a group, and what the tree has of it, are taken back."""
        w, now = self.work.w, placed(self.work.counted)
        if self.here in self.counts:
            w.add(Loop(members, (Store(Element(self.here, (now,)), ZERO),)))
        if not self.buckets.is_anew:
            w.add(Loop(members, (self.weighed(now),)))

    def weigh_all(self) -> None:
        """The rests of all labels come into the tree."""
        own = (self.tree.span,)
        summed = Draw((self.tree.whole,), "tree_of_sums", (), own=own, is_random=False)
        self.work.w.add(self.leaves, summed)

    def draw(self, placed: Placed) -> None:
        """The draw of one element."""
        work, w = self.work, self.work.w
        now = work.index("now", placed(work.counted))
        group = work.index("group", placed(w.expr(self.buckets.listed.index)))
        self.move(now, negative(ONE))
        base = placed(w.plain(self.buckets.base))
        numbers = map(Argument, (base, self.first(group), group, now))
        arrays = (v.given for v in (self.entries, self.used, self.tree))
        drawn = work.drawn("label_in_buckets", *numbers, *arrays)
        target = placed(work.target)
        assert isinstance(target, Element)
        w.add(Store(target, work.label_of(drawn)))
        self.move(drawn, ONE)

    def move(self, label: Element, change: Expr) -> None:
        """An element of a label comes into the counts and the tree, or leaves them."""
        w = self.work.w
        w.add(*(Add(name, (label,), change, ()) for name in self.counts))
        if self.counts:
            w.add(self.weighed(label))

    def weighed(self, label: Expr) -> Statement:
        """The rest of a label comes into the tree."""
        given = (Argument(label), Argument(at(self.leaves.value, {self.work.label.dim: label})))
        own = (self.tree.span,)
        return Draw((self.tree.whole,), "weight_in_tree", given, own=own, is_random=False)

    def first(self, group: Expr) -> Expr:
        """The place at which the list of a group begins."""
        return at(self.starts, {self.buckets.listed.place.name: group})


def _grouped(
    w: Workshop, within: Grouping, over: tuple[Span, ...]
) -> tuple[Span, tuple[Span, ...], Placed]:
    """The span of groups, those of the members of one, and what reads an expression at a member."""
    if isinstance(within.index, Dim):
        (group,) = (s for s in over if s.dim == within.index.name)
        return group, tuple(s for s in over if s != group), lambda e: e
    members, placed = w.groups.members(_hot(w, within), over)
    return Span.whole(within.place.name), (members,), placed


def _hot(w: Workshop, grouping: Grouping) -> Hot:
    """The factor that is 1 for the elements of one group."""
    index = w.expr(grouping.index)
    assert isinstance(index, Element)
    return Hot(index, Position(grouping.place.name))
