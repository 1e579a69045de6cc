"""Scans by buckets: the counts of few labels are read, whatever the number of labels.

The rests of weights are in a tree, counts of groups in lists (`gibbsppl.runtime.loops.buckets`). An
element is taken out of its counts, a label is drawn, the element is put back. Where rests depend on
a group, elements are drawn group by group: with a group its counts come into the tree, and leave it
after the last element. So a sweep takes time by elements, lengths of lists and levels of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from gibbsppl.algebra.copies import root_of
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

    ``starts`` is where the list of a group begins, ``rest`` that of a label.
    """

    work: Scanning
    buckets: Buckets
    tree: Vector
    entries: Vector
    used: Vector
    starts: Expr
    rest: Expr

    @classmethod
    def of(cls, work: Scanning, buckets: Buckets) -> _Bucketed:
        """The arrays, by new names."""
        w, array = work.w, work.array
        number = prod(map(w.size, work.scan.statement.target.own_dims))
        node = Span(w.fresh(f"{array}_node"), ZERO, Number(2 * work.scan.size))
        entry, group = w.own_dim(f"{array}_entry", number), w.span(buckets.listed.axis)
        tree, entries, used = (
            Vector(w.fresh(f"{array}_{name}"), span)
            for name, span in (("tree", node), ("entries", entry), ("used", group))
        )
        members, _ = w.groups.members(_hot(w, buckets.listed), work.over)
        rest = at(work.ratio(buckets.rest), position(work.label))
        return cls(work, buckets, tree, entries, used, members.start, rest)

    @property
    def here(self) -> str:
        """The counts of the group whose elements are drawn."""
        return self.buckets.counts[1].array.name

    @property
    def counts(self) -> tuple[str, ...]:
        """The counts that rests read."""
        return tuple(c.array.name for c in self.buckets.counts if c.array.name in self.rest.arrays)

    def begin(self) -> None:
        """The lists and the counts, and the tree as it is before the first group comes into it."""
        work, w, label = self.work, self.work.w, self.work.label
        w.add(Let(self.entries.name, (self.entries.span,), ZERO, type="int", is_empty=True))
        w.add(Let(self.used.name, (self.used.span,), ZERO, type="int"))
        group = w.expr(self.buckets.listed.index)
        w.add(Loop(work.over, (self.listed("one_more", work.counted, group),)))
        for name in self.counts:
            w.add(Let(name, (label,), ZERO, type="int"))
            if name != self.here:
                w.add(Add(name, (work.counted,), ONE, work.over))
        w.add(Let(self.tree.name, (self.tree.span,), ZERO))
        leaf = Element(self.tree.name, (Position(label.dim, work.scan.size),))
        w.add(Store(leaf, self.rest, (label,)))
        w.add(Draw((self.tree.whole,), "tree_of_sums", (), own=(self.tree.span,), is_random=False))

    def scan(self) -> None:
        """The elements, one by one; group by group, if the rest depends on one."""
        w, over = self.work.w, self.work.over
        if self.buckets.within is None:
            with w.inside(*over):
                self.draw(lambda e: e)
            return
        group, members, placed = _grouped(w, self.buckets.within, over)
        now = placed(self.work.counted)
        leave = Store(Element(self.here, (now,)), ZERO)
        with w.inside(group):
            w.add(Loop(members, (Add(self.here, (now,), ONE, ()),)))
            w.add(Loop(members, (self.weighed(now),)))
            with w.inside(*members):
                self.draw(placed)
            w.add(Loop(members, (leave,)), Loop(members, (self.weighed(now),)))

    def draw(self, placed: Placed) -> None:
        """The draw of one element."""
        work, w = self.work, self.work.w
        now = work.index("now", placed(work.counted))
        group = work.index("group", placed(w.expr(self.buckets.listed.index)))
        self.move("one_less", now, group, negative(ONE))
        base = placed(w.plain(self.buckets.base))
        numbers = (base, self.first(group), Element(self.used.name, (group,)))
        given = (*map(Argument, numbers), self.entries.given, self.tree.given)
        drawn = work.drawn("label_in_buckets", *given)
        target = placed(work.target)
        assert isinstance(target, Element)
        w.add(Store(target, work.label_of(drawn)))
        self.move("one_more", drawn, group, ONE)

    def move(self, kernel: str, label: Element, group: Element, change: Expr) -> None:
        """An element of a label comes into its counts, or leaves them."""
        w = self.work.w
        w.add(*(Add(name, (label,), change, ()) for name in self.counts))
        w.add(self.weighed(label), self.listed(kernel, label, group))

    def weighed(self, label: Expr) -> Statement:
        """The rest of a label comes into the tree."""
        given = (Argument(label), Argument(at(self.rest, {self.work.label.dim: label})))
        own = (self.tree.span,)
        return Draw((self.tree.whole,), "weight_in_tree", given, own=own, is_random=False)

    def listed(self, kernel: str, label: Expr, group: Expr) -> Statement:
        """An element of a label comes into the list of its group, or leaves it."""
        given = tuple(map(Argument, (self.first(group), group, label)))
        targets, own = (self.entries.whole, self.used.whole), (self.entries.span, self.used.span)
        return Draw(targets, kernel, given, own=own, is_random=False)

    def first(self, group: Expr) -> Expr:
        """Where the list of a group begins."""
        return at(self.starts, {_axis(self.buckets.listed): group})


def _grouped(
    w: Workshop, within: Grouping, over: tuple[Span, ...]
) -> tuple[Span, tuple[Span, ...], Placed]:
    """The span of groups, those of the members of one, and what reads an expression at a member."""
    if isinstance(within.index, Dim):
        (group,) = (s for s in over if s.dim == within.index.name)
        return group, tuple(s for s in over if s != group), lambda e: e
    members, placed = w.groups.members(_hot(w, within), over)
    return Span.whole(_axis(within)), (members,), placed


def _hot(w: Workshop, grouping: Grouping) -> Hot:
    """The factor that is 1 for the elements of one group."""
    index = w.expr(grouping.index)
    assert isinstance(index, Element)
    return Hot(index, Position(_axis(grouping)))


def _axis(grouping: Grouping) -> str:
    """The dim of groups."""
    return root_of(grouping.axis)
