"""Increments of arrays, and of a log partition function, by one element of a label.

Comes in: a `Marginal` and the conditional of a label. Goes out: the `Change` that an element makes
to each array, the increment of the log partition function, and the arrays to keep: those of the
marginal, and sums of functions of them. Or an error, where the increment by one element depends on
others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    Leaf,
    Over,
    array_of,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.derive.labels import LABEL, FiniteConditional
from gibbsppl.model.graph import Graph, Maintained, Marginal, Scatter
from gibbsppl.rewrites.integrals import expand_logs_of, free_stem


class NoIncrementsError(Exception):
    """The reason why the contribution of one element cannot be added by itself."""


@dataclass(frozen=True, slots=True)
class Increment:
    """The increment of a maintained array by an element of a label: ``array[at] += value``.

    ``over`` are dims of the children of one element: the change is made for each position.
    """

    array: Array
    at: tuple[Expr, ...]
    value: Expr
    over: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Touch:
    """Where an element touches the arrays of a marginal, and by how much each changes.

    ``here`` is the index on each axis: of an axis that is touched whole the dim itself.
    """

    here: Mapping[Dim, Expr]
    changes: Mapping[str, Increment]

    def is_point(self, binder: Binder) -> bool:
        """Whether a sum changes at one position alone."""
        return all(self.here.get(d, d) != d for d in binder.bound)


def touched(marginal: Marginal, own: FiniteConditional) -> Touch:
    """The changes by one element of a label; raise unless each array changes at one place."""
    here: dict[Dim, Expr] = {}
    changes: dict[str, Increment] = {}
    for array in marginal.arrays:
        change = _change(array, own)
        if change is None:
            continue
        changes[array.name] = change
        for axis, index in zip(array.axes, change.at, strict=True):
            if here.setdefault(axis, index) != index:
                raise NoIncrementsError(_several(marginal.name, own, [here[axis], index]))
    return Touch(here, changes)


def _change(array: Maintained, own: FiniteConditional) -> Increment | None:
    """The change of an array by an element; None if the array does not read the label."""
    label = own.statement
    name, ranges = label.target.array.name, {r.dim for r in label.over}
    places: dict[tuple[tuple[Expr, ...], tuple[Range, ...]], Expr] = {}
    for s in array.scatters:
        leaves = {x for e in (s.value, *s.indices) for x in leaves_of(e, (name,))}
        if not leaves:
            continue
        if leaves != {label.target}:
            shown = ", ".join(sorted(map(str, leaves)))
            raise NoIncrementsError(
                f"{label.target} changes {array.name} through several elements at once ({shown})"
            )
        # A further dim is itself the position on an axis, or there are several children.
        over = tuple(r for r in s.over if r.dim not in ranges and r.dim in s.indices)
        value = s.value
        for r in (r for r in s.over if r.dim not in ranges and r not in over):
            if any(r.dim in dims_of(i) for i in s.indices):
                raise NoIncrementsError(_several(array.name, own, [list(s.indices)]))
            value = Over(value, r.dim, r.start, r.stop)
        here = {label.target: LABEL + own.lower}
        at, value = tuple(substitute(i, here) for i in s.indices), substitute(value, here)
        if any(mentions(e, (name,)) for e in (value, *at)):  # (under a sum over all elements)
            raise NoIncrementsError(f"a sum over all of {name} changes {array.name}")
        places[at, over] = places.get((at, over), sp.S.Zero) + value
    if len(places) > 1:
        raise NoIncrementsError(_several(array.name, own, [list(at) for at, _ in places]))
    found = (Increment(array.element.array, at, v, over) for (at, over), v in places.items())
    return next(found, None)


def _several(name: str, own: FiniteConditional, places: Sequence[Expr | list[Expr]]) -> str:
    shown = "; ".join(map(str, places))
    return (
        f"an element of {own.statement.target.array.name} touches {name} at more than one place "
        f"({shown})"
    )


def difference(
    marginal: Marginal, touch: Touch, graph: Graph
) -> tuple[list[tuple[Expr, tuple[Range, ...]]], list[Increment], list[Maintained]]:
    """The increment of a log partition function by an element, the changes, the arrays to keep."""
    batch = {r.dim: r for r in marginal.over}
    over = {tuple(r for r in c.over if r.dim in batch) for c in touch.changes.values()}
    if len(over) != 1:
        raise NoIncrementsError(f"the children of one element change {marginal.name} unevenly")
    (children,) = over
    told = _Told({a.name: a for a in marginal.arrays}, dict(touch.changes), touch.here)
    total = sp.S.Zero
    for term in Add.make_args(marginal.log_density):
        if isinstance(term, Over) and touch.is_point(term):
            total += told.more(_inside(term, marginal, touch))
            continue
        whole = term
        for o in sorted(filter(touch.is_point, _outermost(term)), key=str):
            value = told.more(_inside(o, marginal, touch))
            array = _total(marginal, o, batch, graph)
            at = tuple(touch.here.get(a, a) for a in array.axes)
            whole = whole.xreplace({o: array.element})
            told.add(array, Increment(array.element.array, at, multiplied_out(value), children))
        total += told.more(whole)
    reduced = simplified(sp.sympify(total), told.arrays)
    reduced = expand_logs_of(reduced, told.arrays.values(), told.arrays)
    terms = [t for t in Add.make_args(reduced) if LABEL in dims_of(t)]
    used = _with_read({x.array.name for t in terms for x in leaves_of(t)}, told.arrays)
    return (
        [(Add(*terms), children)],
        [c for n, c in told.changes.items() if n in used],
        [a for n, a in told.arrays.items() if n in used],
    )


@dataclass(slots=True)
class _Told:
    """Arrays and their changes by an element: expressions before and after it is added."""

    arrays: dict[str, Maintained]
    changes: dict[str, Increment]
    here: Mapping[Dim, Expr]

    def add(self, array: Maintained, change: Increment) -> None:
        """One more array."""
        self.arrays[array.name], self.changes[array.name] = array, change

    def more(self, expr: Expr) -> Expr:
        """The increment of an expression by the element."""
        leaves = leaves_of(expr, self.arrays)
        without = {x: self._read(x) for x in leaves}
        added = {x: without[x] + self._added(x) for x in leaves}
        return expr.xreplace(added) - expr.xreplace(without)

    def _read(self, leaf: Leaf) -> Leaf:
        """The leaf, at the place that the element touches."""
        axes = self.arrays[leaf.array.name].axes
        pairs = zip(leaf.indices, axes, strict=True)
        return leaf.array[tuple(self._index(i, a, leaf) for i, a in pairs)]

    def _index(self, index: Expr, axis: Dim, leaf: Leaf) -> Expr:
        if self.here.get(axis, axis) == axis:
            return index
        if index != axis:
            raise NoIncrementsError(f"{leaf} is another element than that which is touched")
        return self.here[axis]

    def _added(self, leaf: Leaf) -> Expr:
        change = self.changes.get(leaf.array.name)
        if change is None:
            return sp.S.Zero
        axes = self.arrays[leaf.array.name].axes
        whole = {a: i for a, i in zip(axes, leaf.indices, strict=True) if self.here.get(a, a) == a}
        return substitute(change.value, {a: i for a, i in whole.items() if a != i})


def _with_read(names: set[str], every: Mapping[str, Maintained]) -> set[str]:
    """The names of arrays, and of the arrays that they are recomputed from."""
    values = (s.value for n, a in every.items() if n in names for s in a.scatters)
    return names | {x.array.name for v in values for x in leaves_of(v, every)}


def _outermost(expr: Expr) -> Iterator[Over]:
    """The sums in an expression that are in no other binder."""
    if isinstance(expr, Over):
        yield expr
    elif not isinstance(expr, Binder):
        for a in expr.args:
            yield from _outermost(a)


def _inside(o: Over, marginal: Marginal, touch: Touch) -> Expr:
    """The body of a sum, which must change at a single position alone."""
    for array in marginal.arrays:
        read = array.element in o.body.atoms(Leaf)
        if read and array.name in touch.changes and not set(o.bound) <= set(array.axes):
            raise NoIncrementsError(f"an element changes all positions of {o.bound[0]} of {o}")
    return o.body


def _total(marginal: Marginal, o: Over, batch: Mapping[Dim, Range], graph: Graph) -> Maintained:
    """The array of a sum, at each position of the dims that it is not summed over."""
    terms = (t for t in Add.make_args(marginal.log_density) if not isinstance(t, Over))
    every = sorted({o for t in terms for o in _outermost(t)}, key=str)
    name = f"{free_stem(f'{marginal.name}_sum', graph)}_{every.index(o) + 1}"
    axes = tuple(d for d in batch if d in dims_of(o))
    over = (*(batch[a] for a in axes), range_of(o, graph.sizes))
    array = array_of(name, is_positive=bool(o.is_positive))
    return Maintained(array[axes], (Scatter(name, axes, o.body, over),))
