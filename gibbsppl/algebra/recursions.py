"""Arrays that are computed from their own earlier elements, as parts of expressions.

Comes in: what each region of an array is, in terms of elements that come before. Goes out: a
`Recursion`, an expression like any other: what the array depends on is seen in it.

>>> from gibbsppl.algebra.expressions import Array
>>> t, phi, psi, first = Dim("t"), Array("phi"), Own("psi"), Array("first")
>>> steps = [
...     step(Earlier(psi, 0), first[()], ()),
...     step(Earlier(psi, t), phi[t] * Earlier(psi, t - 1), (Range(t, 1, 5),)),
... ]
>>> found = Recursion(system_of(steps), psi, 4)
>>> found, sorted(leaf.array.name for leaf in found.atoms(Leaf)), found.system.shape(psi)
(psi[4], ['first', 'phi'], (5,))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Self

import networkx as nx
import sympy as sp
from sympy.printing.str import StrPrinter

from gibbsppl.algebra.copies import copies_of, root_of
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, Operand, Over, dims_of, substitute
from gibbsppl.algebra.ranges import Range


class Own(sp.Symbol):
    """The name of a computed array: no array of data, nor of the state."""

    __slots__ = ()


class _Element(sp.Expr):
    is_commutative = True

    def _eval_is_extended_real(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True


class Earlier(_Element):
    """One element of an array within its own recursion."""

    args: tuple[Own, *tuple[Expr, ...]]

    def __new__(cls, own: Own, *indices: Operand) -> Self:
        """The element at indices, one per axis."""
        return super().__new__(cls, own, *map(sp.sympify, indices))

    @property
    def own(self) -> Own:
        """The name of the array."""
        return self.args[0]

    @property
    def indices(self) -> tuple[Expr, ...]:
        """One index expression per axis."""
        return self.args[1:]

    def _sympystr(self, printer: StrPrinter) -> str:
        return _element_text(printer, self.args)


class Given(sp.Expr):
    """``Given(element, value)``: an element and its value."""

    is_commutative = True


class Step(Binder):
    """``Step(Given(element, value), *dims, *ends)``: an element for all positions of a region."""

    symbol = "step"

    @property
    def binds(self) -> int:  # type: ignore[override]
        """The number of dims of the region."""
        return (len(self.args) - 1) // 3

    @property
    def element(self) -> Earlier:
        """The element with the value."""
        return self.body.args[0]  # type: ignore[return-value]

    @property
    def value(self) -> Expr:
        """The value of the element."""
        return self.body.args[1]

    @property
    def over(self) -> tuple[Range, ...]:
        """The positions of the region."""
        ends = self.args[1 + self.binds :]
        pairs = zip(ends[::2], ends[1::2], strict=True)
        return tuple(Range(d, int(a), int(b)) for d, (a, b) in zip(self.bound, pairs, strict=True))

    def extent(self, axis: int) -> tuple[int, int]:
        """The first position of the region along an axis, and the one after the last."""
        index = self.element.indices[axis]
        if index.is_Integer:
            return int(index), int(index) + 1
        (found,) = (r for r in self.over if r.dim == index)
        return found.start, found.stop


class System(sp.Expr):
    """All steps of a recursion, in the order of the steps of one position."""

    args: tuple[Step, ...]
    is_commutative = True

    @property
    def axes(self) -> Mapping[Own, int]:
        """The axis of each array along which elements are computed in sequence."""
        return _way_of(self)[0]

    @property
    def is_backward(self) -> bool:
        """Whether the last elements are computed first."""
        return _way_of(self)[1] < 0

    @property
    def plain(self) -> System:
        """The system with each dim of a step named by its root, where the name is free."""
        outer = set(dims_of(self))
        return System(*(_plain(s, outer) for s in self.args))

    def shape(self, own: Own) -> tuple[int, ...]:
        """The shape of an array."""
        steps = [s for s in self.args if s.element.own == own]
        axes = range(len(steps[0].element.indices))
        return tuple(max(s.extent(a)[1] for s in steps) for a in axes)

    @property
    def positions(self) -> range:
        """The positions in the order in which they are gone through."""
        length = max(self.shape(own)[axis] for own, axis in self.axes.items())
        return range(length)[::-1] if self.is_backward else range(length)

    def at(self, position: int) -> Iterator[tuple[Step, tuple[Range, ...]]]:
        """The steps at a position, in order, each with its ranges there."""
        for s in self.args:
            axis = self.axes[s.element.own]
            start, stop = s.extent(axis)
            if start <= position < stop:
                along = s.element.indices[axis]
                here = position, position + 1
                yield s, tuple(Range(r.dim, *here) if r.dim == along else r for r in s.over)


class Recursion(Binder):
    """``Recursion(system, own, *indices)``: an element of an array computed by a system."""

    args: tuple[System, Own, *tuple[Expr, ...]]
    binds = 0
    symbol = "an array that is computed from its own elements"

    def __new__(cls, system: System, own: Own, *indices: Operand) -> Self:
        """The element at indices, one per axis."""
        return super().__new__(cls, system, own, *map(sp.sympify, indices))

    @property
    def system(self) -> System:
        """The system of the array, and of others perhaps."""
        return self.args[0]

    @property
    def own(self) -> Own:
        """The name of the array."""
        return self.args[1]

    @property
    def indices(self) -> tuple[Expr, ...]:
        """One index expression per axis."""
        return self.args[2:]

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols read by the steps and indices, without names of computed arrays."""
        read = self.system.free_symbols.difference(self.system.axes)
        return read.union(*(i.free_symbols for i in self.indices))

    @property
    def outer(self) -> frozenset[Dim]:
        """The dims read by steps without being over them."""
        return frozenset(dims_of(self.system))

    def _sympystr(self, printer: StrPrinter) -> str:
        return _element_text(printer, (self.own, *self.indices))


def step(element: Earlier, value: Expr, over: Sequence[Range]) -> Step:
    """A step, its dims in the order of the element's axes."""
    order = [i for i in element.indices if isinstance(i, Dim)]
    own = sorted(over, key=lambda r: order.index(r.dim))
    ends = (e for r in own for e in (r.start, r.stop))
    return Step(Given(element, value), *(r.dim for r in own), *map(sp.Integer, ends))


def taken_out(own: Step, count: int = 0) -> tuple[Expr, dict[Own, Expr]]:
    """The value of a step with names for parts free of the recursion, and these parts.

    They can be computed for all positions at once, counted from the first of each range. Names go
    on from a count.

    >>> from gibbsppl.algebra.expressions import Array
    >>> t, psi, x, b = Dim("t"), Own("psi"), Array("x"), Array("b")[()]
    >>> one = step(Earlier(psi, t), Earlier(psi, t - 1) + b * x[t], (Range(t, 1, 5),))
    >>> taken_out(one)
    (part 0[t - 1] + psi[t - 1], {part 0: b*x[t]})
    """
    parts: dict[Own, Expr] = {}
    at = [r.dim - r.start for r in own.over]

    def shortened(expr: Expr) -> Expr:
        if not owns_read(expr):
            is_short = expr.is_number or isinstance(expr, Leaf | Dim)
            return expr if is_short or not dims_of(expr) & set(own.bound) else named(expr)
        if isinstance(expr, Binder | Earlier):
            return expr
        if expr.is_Add or expr.is_Mul:
            free = [a for a in expr.args if not owns_read(a)]
            held = [shortened(a) for a in expr.args if a not in free]
            return expr.func(shortened(expr.func(*free)), *held)
        return expr.func(*map(shortened, expr.args))

    def named(expr: Expr) -> Expr:
        found = next((n for n, e in parts.items() if e == expr), None)
        if found is None:
            found = Own(f"part {count + len(parts)}")
            parts[found] = expr
        return Earlier(found, *at)

    return shortened(own.value), parts


@lru_cache(maxsize=2**12)
def terms_of_remainder(value: Expr) -> tuple[Expr, int] | None:
    """The sum of the sizes of terms, and their number, of a number less several earlier elements.

    >>> t, p = Dim("t"), Own("p")
    >>> terms_of_remainder(1 - Over(Earlier(p, t), t, 0, 3))
    (sum(Abs(p[t]), t, 0, 3) + 1, 4)
    """
    whole, rest = value.as_coeff_Add()
    parts = [-a for a in sp.Add.make_args(rest)]
    sums = [a for a in parts if isinstance(a, Over) and len(a.args) == 4]
    if not whole.is_positive or not all(isinstance(_body(a), Earlier) for a in parts):
        return None
    sizes = [
        Over(sp.Abs(a.body), *a.bound, *a.args[2:]) if isinstance(a, Over) else sp.Abs(a)
        for a in parts
    ]
    count = len(parts) - len(sums) + sum(int(a.args[3] - a.args[2]) for a in sums)
    return (sp.Add(whole, *sizes), 1 + count) if count > 1 else None


def _body(expr: Expr) -> Expr:
    """The body of a sum between known positions, or a term itself."""
    return expr.body if isinstance(expr, Over) and len(expr.args) == 4 else expr


@lru_cache(maxsize=2**12)
def owns_read(expr: Expr) -> frozenset[Own]:
    """The recursive arrays read in an expression, without those computed by a part of it."""
    found = frozenset[Own]().union(*(owns_read(a) for a in expr.args if a.args))
    if isinstance(expr, Earlier):
        return found | {expr.own}
    return found.difference(expr.system.axes) if isinstance(expr, Recursion) else found


def _plain(own: Step, outer: set[Dim]) -> Step:
    """A step with dims of names of their own: elements are read at each position of ``outer``."""
    names: Mapping[Dim, Dim] = {d: Dim(root_of(d)) for d in own.bound}
    taken = (own.free_symbols | _bound_within(own.body)).difference(own.bound) | outer
    if len(set(names.values())) < len(names) or not taken.isdisjoint(names.values()):
        if outer.isdisjoint(own.bound):
            return own
        names = copies_of(own.bound, {*taken, *own.bound})
    ends = own.args[1 + own.binds :]
    return Step(substitute(own.body, names), *names.values(), *ends)


def _bound_within(expr: Expr) -> set[Dim]:
    return set().union(*(b.bound for b in expr.atoms(Binder)))


def system_of(steps: Sequence[Step]) -> System | None:
    """The steps in an order in which each reads earlier elements alone; None if there is none."""
    for axes, sign in _ways(tuple(steps)):
        lags = [_lags(s, axes, sign) for s in steps]
        if any(lag is None or lag < 0 for read in lags for _, lag in read):
            continue
        order = nx.DiGraph()
        order.add_nodes_from(range(len(steps)))
        level = ((e, n) for n, read in enumerate(lags) for e, lag in read if lag == 0)
        order.add_edges_from(
            (m, n) for e, n in level for m, s in enumerate(steps) if _may_give(s, e, steps[n])
        )
        if nx.is_directed_acyclic_graph(order):
            return System(*(steps[n] for n in nx.lexicographical_topological_sort(order)))
    return None


# An axis of each array, and the sign of the direction along all of them.
_Way = tuple[Mapping[Own, int], int]


@lru_cache(maxsize=2**12)
def _way_of(system: System) -> _Way:
    """The first way along which each step reads earlier elements alone."""
    steps: tuple[Step, ...] = system.args
    numbers = range(len(steps))
    return next(w for w in _ways(steps) if all(_comes_after(n, steps, w) for n in numbers))


def _comes_after(number: int, steps: tuple[Step, ...], way: _Way) -> bool:
    """Whether a step reads only elements of earlier positions, or of earlier steps."""
    own = steps[number]
    return all(
        lag is not None
        and (lag > 0 or (lag == 0 and not any(_may_give(s, e, own) for s in steps[number:])))
        for e, lag in _lags(own, *way)
    )


def _ways(steps: tuple[Step, ...]) -> Iterator[_Way]:
    """Each choice of one axis of each array, forward and backward."""
    ranks = {s.element.own: len(s.element.indices) for s in steps}
    for chosen in product(*(range(n) for n in ranks.values())):
        for sign in (1, -1):
            yield dict(zip(ranks, chosen, strict=True)), sign


def _lags(own: Step, axes: Mapping[Own, int], sign: int) -> list[tuple[Earlier, int | None]]:
    """The elements read by a step, and how far behind along their axes at least."""
    at = own.element.indices[axes[own.element.own]]
    reads = dict.fromkeys(_reads(own.value, {r.dim: r for r in own.over}))
    return [
        (e, _least(sign * (at - e.indices[axes[e.own]]), dict(ranges)))
        for e, ranges in sorted(reads, key=str)
        if e.own in axes  # (parts that are taken out are there before)
    ]


def _reads(
    expr: Expr, ranges: Mapping[Dim, Range]
) -> Iterator[tuple[Earlier, tuple[tuple[Dim, Range], ...]]]:
    """The elements read by an expression, each with the ranges of the dims around it."""
    if isinstance(expr, Earlier):
        yield expr, tuple(ranges.items())
    if isinstance(expr, Over) and len(expr.args) > 2:
        (dim,), (start, stop) = expr.bound, expr.args[2:]
        ranges = {**ranges, dim: Range(dim, int(start), int(stop))}
    elif isinstance(expr, Binder):
        ranges = {d: r for d, r in ranges.items() if d not in expr.bound}
    for part in expr.args:
        if not isinstance(part, sp.Symbol):
            yield from _reads(part, ranges)


def _least(difference: Expr, ranges: Mapping[Dim, Range]) -> int | None:
    """The least value of a sum of dims and numbers; None where it is not known."""
    total, dims = sp.expand(difference).as_coeff_Add()
    for term in sp.Add.make_args(dims):
        factor, dim = term.as_coeff_Mul()
        if dim == 1:
            continue
        if not isinstance(dim, Dim) or dim not in ranges or not factor.is_Integer:
            return None
        found = ranges[dim]
        total += factor * (found.start if factor > 0 else found.stop - 1)
    return int(total) if total.is_Integer else None


def _may_give(other: Step, read: Earlier, own: Step) -> bool:
    """Whether a step may give an element read by another one."""
    if other.element.own != read.own:
        return False
    ranges = {r.dim: r for r in own.over}
    for axis, index in enumerate(read.indices):
        first, stop = other.extent(axis)
        dims = dims_of(index)
        if index.is_Integer:
            low = high = int(index)
        elif len(dims) == 1 and (shift := index - next(iter(dims))).is_Integer:
            (dim,) = dims
            if dim not in ranges:
                continue
            low, high = ranges[dim].start + int(shift), ranges[dim].stop - 1 + int(shift)
        else:
            continue
        if high < first or low >= stop:
            return False
    return True


def _element_text(printer: StrPrinter, args: Sequence[Expr]) -> str:
    name, *indices = map(printer.doprint, args)
    return f"{name}[{', '.join(indices)}]"
