"""Arrays that terms compute, recursions and matrices with their inverses, under names.

Comes in: terms of a log density, and the arrays that move. Goes out: the terms with elements of
`Computed` arrays in place of recursions and entries of inverses, and these arrays: what is between
what moves and the log density, in the order in which it is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gibbsppl.algebra.copies import copies_of, copy_of, root_of
from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    dims_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.ranges import Range, bounded, fresh, size_of
from gibbsppl.algebra.recursions import Own, Recursion, System, owns_read, step
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.shared import Term
from gibbsppl.model.graph import Graph, Variable

# The dims of a matrix, whatever they are called.
ROW, COLUMN = Dim("row of a matrix"), Dim("column of a matrix")


@dataclass(frozen=True, slots=True)
class Computed:
    """An array that is computed once for a log density and its gradient: what adds up to it."""

    element: Leaf
    contributions: tuple[Contribution, ...]

    @property
    def name(self) -> str:
        """The name of the array."""
        return self.element.array.name

    @property
    def axes(self) -> tuple[Dim, ...]:
        """The dims of the array."""
        return tuple(i for i in self.element.indices if isinstance(i, Dim))

    @property
    def reads(self) -> frozenset[str]:
        """The names of the arrays that it is computed from."""
        leaves = (c.value.atoms(Leaf) for c in self.contributions)
        return frozenset(leaf.array.name for found in leaves for leaf in found)


@dataclass(frozen=True, slots=True)
class Recursive:
    """The arrays of a recursion, each by its name within it; ``outer`` are the first axes."""

    factor: str
    system: System
    outer: tuple[Dim, ...]
    arrays: dict[Own, Computed]

    @property
    def computed(self) -> tuple[Computed, ...]:
        """The arrays, in order."""
        return tuple(self.arrays.values())


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix along the last two axes, and its inverse."""

    factor: str
    value: Expr
    whole: Computed
    inverse: Computed

    @property
    def computed(self) -> tuple[Computed, ...]:
        """The matrix and its inverse."""
        return self.whole, self.inverse


@dataclass(slots=True)
class Naming:
    """The names that terms get for what they compute; ``nodes`` grows with them.

    What is read at some positions of a dim alone, or of a recursion that is not done, has none.
    """

    graph: Graph
    moved: set[str]
    nodes: list[Recursive | Matrix] = field(default_factory=list)
    known: dict[object, Recursive | Matrix] = field(default_factory=dict)
    factor: str = ""

    def term(self, term: Term) -> Term:
        """A term with names for what it computes."""
        self.factor, value, over = term
        whole = (r.dim for r in over if self.is_whole(r.dim, r.start, r.stop))
        return self.factor, self.named(value, frozenset(whole)), over

    def is_whole(self, dim: Dim, start: int, stop: int) -> bool:
        """Whether a range has all positions of a dim."""
        sizes = self.graph.sizes
        is_known = dim in sizes or Dim(root_of(dim)) in sizes
        return is_known and (start, stop) == (0, size_of(dim, sizes))

    def named(self, expr: Expr, whole: frozenset[Dim]) -> Expr:
        """An expression with names, where all positions of some dims are read."""
        if isinstance(expr, Leaf) or not mentions(expr, self.moved):
            return expr
        if isinstance(expr, Recursion):
            return self._recursion(expr, whole)
        if isinstance(expr, LogDet | InverseEntry):
            return self._matrix(expr, whole)
        if isinstance(expr, Binder):
            ends = [int(e) for e in expr.args[1 + expr.binds :]]
            is_whole = not ends or self.is_whole(expr.bound[0], ends[0], ends[1])
            inside = whole | set(expr.bound) if is_whole else whole - set(expr.bound)
            return expr.func(self.named(expr.body, inside), *expr.args[1:])
        return expr.func(*(self.named(a, whole) for a in expr.args))

    def inverses(self, expr: Expr) -> Expr:
        """An expression with names for inverses of matrices that have one."""
        if isinstance(expr, InverseEntry) and isinstance(expr.body, Leaf):
            node = self.known.get(expr.body.array.name)
            if isinstance(node, Matrix):
                *outer, _, _ = expr.body.indices
                return Leaf(node.inverse.element.array, *outer, *expr.args[3:])
        if not expr.args or not expr.has(InverseEntry):
            return expr
        return expr.func(*map(self.inverses, expr.args))

    def element(self, stem: str, axes: Sequence[Dim]) -> Leaf:
        """The elements of a new array along some dims."""
        name = fresh(stem, {*self.graph.variables, *(d.name for d in self.graph.sizes)})
        variable = Variable(name, tuple(axes), "random")
        self.graph = replace(self.graph, variables={**self.graph.variables, name: variable})
        self.moved.add(name)
        return Leaf(Array(name, real=True), *axes)

    def everywhere(self, axes: Sequence[Dim]) -> tuple[Range, ...]:
        """All positions of some dims."""
        return tuple(Range(d, 0, size_of(d, self.graph.sizes)) for d in axes)

    def given(self, element: Leaf, value: Expr) -> Computed:
        """The array of an element with a value at all positions of its dims."""
        found = bounded(value, self.graph.sizes)
        axes = tuple(i for i in element.indices if isinstance(i, Dim))
        return Computed(element, (Contribution(self.factor, found, self.everywhere(axes)),))

    def _matrix(self, expr: LogDet | InverseEntry, whole: frozenset[Dim]) -> Expr:
        """A log determinant of a matrix with a name, or an element of its inverse."""
        body, bound = self.named(expr.body, whole | set(expr.bound)), expr.bound
        rest = expr.args[3:]
        outer = tuple(sorted(dims_of(body) - set(bound), key=str))
        if not whole.issuperset(outer) or owns_read(body):
            return expr.func(body, *expr.args[1:])
        key = substitute(body, dict(zip(bound, (ROW, COLUMN), strict=True)))
        node = self.known.get(key)
        if not isinstance(node, Matrix):
            node = self._new_matrix(body, (*outer, *bound))
            self.known |= {key: node, node.whole.name: node}
            self.nodes.append(node)
        if isinstance(expr, LogDet):
            return LogDet(Leaf(node.whole.element.array, *outer, *bound), *bound)
        return Leaf(node.inverse.element.array, *outer, *rest)

    def _new_matrix(self, body: Expr, axes: tuple[Dim, ...]) -> Matrix:
        whole = self.given(self.element("matrix", axes), body)
        copies = copies_of(axes[-2:], axes)
        inside = substitute(whole.element, copies)
        value = InverseEntry(inside, *copies.values(), *axes[-2:])
        inverse = self.given(self.element("inverse", axes), value)
        return Matrix(self.factor, body, whole, inverse)

    def _recursion(self, expr: Recursion, whole: frozenset[Dim]) -> Expr:
        """An element of an array of a recursion, all of whose positions are computed."""
        outer = tuple(sorted(expr.outer, key=str))
        if not whole.issuperset(outer) or owns_read(expr):
            return expr
        node = self.known.get(expr.system)
        if not isinstance(node, Recursive):
            node = self._new_recursion(expr.system, outer)
            if node is None:
                return expr
            self.known[expr.system] = node
            self.nodes.append(node)
        return Leaf(node.arrays[expr.own].element.array, *outer, *expr.indices)

    def _new_recursion(self, system: System, outer: tuple[Dim, ...]) -> Recursive | None:
        steps = []
        for s in system.args:
            whole = {r.dim for r in s.over if self.is_whole(r.dim, r.start, r.stop)}
            value = self.named(s.value, frozenset({*outer, *whole}))
            steps.append(step(s.element, value, s.over))
        inner = System(*steps)
        axes = {own: self._axes(inner, own, outer) for own in inner.axes}
        found = {}
        for own, dims in axes.items():
            if dims is None:
                return None
            element = self.element(f"elements_of_{own}", (*outer, *dims))
            found[own] = self.given(element, Recursion(inner, own, *dims))
        return Recursive(self.factor, inner, outer, found)

    def _axes(self, system: System, own: Own, outer: Sequence[Dim]) -> tuple[Dim, ...] | None:
        """Dims for the axes of an array of a recursion; None where it is along others."""
        found: list[Dim] = []
        elements = [s.element for s in system.args if s.element.own == own]
        for axis, size in enumerate(system.shape(own)):
            along = [d for e in elements if isinstance(d := e.indices[axis], Dim)]
            if not along:
                return None
            dim = Dim(root_of(along[0]))
            if dim not in self.graph.sizes or self.graph.sizes[dim] != size:
                return None
            taken = {*outer, *found}
            found.append(copy_of(dim, taken) if dim in taken else dim)
        return tuple(found)
