"""Multilinear forms: the log density of one element given the others, as a quadratic.

Comes in: the log density of a factor that is a polynomial of many elements at once, such as the
square of a sum of products, and the data. Goes out: a `LinearForm`, if the log density is a
quadratic of one expression, the *form*, that is linear in each single element: with the slope ``h``
of an element ``v``, the form at ``v + d`` is the form at ``v`` plus ``h * d``, so that the log
density is quadratic in ``d``. Slopes are derivatives through the sums (S. Rendle, 2012,
"Factorization machines with libFM", ACM Transactions on Intelligent Systems and Technology 3(3),
section 3.1, does so for his model).

It is taken for granted that one position of the form shows an element once: whether indices
differ wherever weights are not 0 is a fact of the data (`form_facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Self

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copy_of, root_of
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, Over, dims_of, mentions, substitute
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.model.graph import Factor, Graph, Statement
from gibbsppl.pieces.split import Piece, View


@dataclass(frozen=True, slots=True)
class Entry:
    """The elements of one view in a form: the view, ranges of sums, data weights, and the slope.

    ``ranges`` are those of the sums within the form; an element is seen where no weight is 0.
    """

    view: View
    ranges: tuple[Range, ...]
    weights: tuple[Expr, ...]
    slope: Expr

    @property
    def leaf(self) -> Leaf:
        """The element that is seen."""
        return self.view.leaf

    @property
    def free(self) -> tuple[int, ...]:
        """The axes along which a sum without weights reads all positions, whatever the rest."""
        read = self.view.read
        own = {r.dim for r in self.ranges} - {d for w in self.weights for d in dims_of(w)}
        return tuple(
            axis
            for axis, i in enumerate(read)
            if i in own and not any(i in dims_of(j) for n, j in enumerate(read) if n != axis)
        )


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A form, and the log density as a quadratic of it.

    The derivative of the log density by the form is ``constant + curvature * form``.
    """

    factor: str
    over: tuple[Range, ...]
    form: Expr
    constant: Expr
    curvature: Expr
    entries: tuple[Entry, ...]

    def mapped(self, function: Callable[[Expr, tuple[Range, ...]], Expr]) -> Self:
        """The form of other expressions, each at the positions of ranges: by expectations, say."""
        form, constant, curvature = (
            function(e, self.over) for e in (self.form, self.constant, self.curvature)
        )
        entries = tuple(
            replace(e, slope=function(e.slope, (*self.over, *e.ranges))) for e in self.entries
        )
        return replace(
            self, form=form, constant=constant, curvature=curvature, entries=entries
        )


@dataclass(frozen=True, slots=True)
class NotMultilinear:
    """Why a log density is not read by element."""

    reason: str


class _UnreadError(Exception):
    """Raised within this module alone."""


def degree_of(expr: Expr, target: str) -> float:
    """The degree of an expression as a polynomial in all elements of an array; else infinite.

    >>> from gibbsppl.algebra.expressions import Array
    >>> v, k = Array("v"), Dim("k")
    >>> degree_of((1 - Over(v[k], k) ** 2) ** 2, "v"), degree_of(sp.exp(v[k]), "v")
    (4, inf)
    """
    if not mentions(expr, (target,)):
        return 0
    if isinstance(expr, Leaf):
        return 1 if expr.array.name == target else inf
    if isinstance(expr, Over):
        return degree_of(expr.body, target)
    if expr.is_Add:
        return max(degree_of(a, target) for a in expr.args)
    if expr.is_Mul:
        return sum(degree_of(a, target) for a in expr.args)
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp > 0:
        return int(expr.exp) * degree_of(expr.base, target)
    return inf


def linear_form(
    graph: Graph, statement: Statement, factor: Factor, density: Expr
) -> LinearForm | NotMultilinear:
    """The form of a factor that sees the elements of a statement's array."""
    array = statement.target.array
    try:
        form = _Reader(graph, array.name, factor.over).form_in(density)
        entries = _Reader(graph, array.name, factor.over).entries(form)
    except _UnreadError as error:
        return NotMultilinear(f"{factor.name}: {error}")
    mark = sp.Dummy("form", real=True)
    whole = _in_form(density, form, mark, (array.name,))
    curvature = sp.diff(whole, mark, 2)
    if mentions(whole, (array.name,)) or curvature.has(mark):
        return NotMultilinear(f"{factor.name}: it is no quadratic of a form linear in each element")
    constant = multiplied_out(sp.diff(whole, mark).subs(mark, 0))
    return LinearForm(factor.name, factor.over, form, constant, curvature, entries)


def _in_form(density: Expr, form: Expr, mark: Expr, targets: tuple[str, ...]) -> Expr:
    """A log density with a mark in place of a form."""
    whole = density.xreplace({form: mark})
    left = {t for t in Add.make_args(whole) if mentions(t, targets)}
    own = [t for t in Add.make_args(form) if mentions(t, targets)]
    # (a number times a sum is written as a sum: the terms of elements say that it is there)
    for number in {t / own[0] for t in left}:
        if number.is_number and left == {number * t for t in own}:
            return whole - Add(*left) + number * (mark - form + Add(*own))
    return whole


def over_elements(graph: Graph, density: Expr, target: str) -> Expr:
    """A log density with sums that see elements through an index of data as sums over elements.

    ``sum(x[r, j] * g[of[j]], j)`` is ``sum(g[k] * sum([of[j] = k] * x[r, j], j), k)``: a position
    that sees an element several times sees it once, with the sum of all its weights.
    """
    if isinstance(density, Leaf) or not mentions(density, (target,)):
        return density
    if isinstance(density, Over):
        terms = Add.make_args(density.body)
        found = [_of_elements(graph, density, t, target) for t in terms]
        if None not in found:
            return Add(*(e for e in found if e is not None))
    args = (over_elements(graph, a, target) if isinstance(a, sp.Expr) else a for a in density.args)
    return density.func(*args)


def _of_elements(graph: Graph, whole: Over, term: Expr, target: str) -> Expr | None:
    """A term of a sum as a sum over the elements that it reads; None where no index says which."""
    if not mentions(term, (target,)):
        return Over(term, whole.bound[0], *whole.args[2:])
    held = [f for f in Mul.make_args(term) if mentions(f, (target,))]
    (leaf, *others), bound = held, set(whole.bound)
    if others or not isinstance(leaf, Leaf) or leaf.array.name != target:
        return None
    along = [(axis, i) for axis, i in enumerate(leaf.indices) if dims_of(i) & bound]
    if len(along) != 1 or any(mentions(i, graph.random) for i in leaf.indices):
        return None
    ((axis, index),) = along
    if not isinstance(index, Leaf) or dims_of(index) != bound:
        return None
    own = graph.variables[target].dims[axis]
    dim = copy_of(own, {*term.free_symbols, *bound, *graph.sizes, *_bound_in(term)})
    element = Leaf(leaf.array, *(dim if n == axis else i for n, i in enumerate(leaf.indices)))
    rest = (f for f in Mul.make_args(term) if f != leaf)
    weight = Over(Mul(Equals(index, dim), *rest), whole.bound[0], *whole.args[2:])
    return Over(element * weight, dim)


def _bound_in(expr: Expr) -> set[Dim]:
    return {d for e in expr.atoms(Over) for d in e.bound}


def form_pieces(form: LinearForm) -> tuple[Piece, ...]:
    """The log density of one element: coefficients of ``v`` and of ``v**2``, at the state.

    Of ``D(F + h*(u - v))`` as a quadratic of ``u``: ``h*D' - h**2*D''*v`` and ``h**2*D''/2``.
    """
    found = []
    first = form.constant + form.curvature * form.form
    for entry in form.entries:
        h, v = entry.slope, entry.leaf
        over = (*form.over, *entry.ranges)
        linear = h * (first - form.curvature * h * v)
        square = form.curvature * h**2 / 2
        for statistic, coefficient in ((v, linear), (v**2, square)):
            found.append(Piece(form.factor, statistic, (entry.view,), coefficient, over))
    return tuple(found)


def slope_in(expr: Expr, entry: Entry) -> Expr:
    """The slope of a part of a form, as the element of an entry changes."""
    stars = {root_of(r.dim): r.dim for r in entry.ranges}
    bound = {d for e in expr.atoms(Over) for d in e.bound}
    names = {d: stars[root_of(d)] for d in bound if root_of(d) in stars}
    return _slope(expr, entry.leaf, names)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the elements of one array in expressions."""

    graph: Graph
    target: str
    over: tuple[Range, ...]
    targets: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", (self.target,))

    def form_in(self, density: Expr) -> Expr:
        """The one sum in a log density that is linear in each element."""
        found = set(self._forms(density))
        # (terms of a sum stand apart where a number multiplies it)
        terms = {f: {t.as_coeff_Mul()[1] for t in Add.make_args(f)} for f in found}
        sums = [f for f in found if found - {f} <= terms[f]]
        if len(sums) != 1:
            raise _UnreadError(f"it has {len(found)} forms that are linear in each element")
        return sums[0]

    def _forms(self, expr: Expr) -> Iterator[Expr]:
        if not mentions(expr, self.targets):
            return
        if isinstance(expr, Leaf) or ((expr.is_Add or isinstance(expr, Over)) and self._fits(expr)):
            yield expr
        elif expr.is_Add or expr.is_Mul:
            for a in expr.args:
                yield from self._forms(a)
        elif isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp > 0:
            yield from self._forms(expr.base)
        else:
            raise _UnreadError("it is no polynomial of a form that is linear in each element")

    def _fits(self, expr: Expr) -> bool:
        try:
            self.entries(expr)
        except _UnreadError:
            return False
        return True

    def entries(self, form: Expr) -> tuple[Entry, ...]:
        """The ways in which a form sees elements, each with its slope."""
        taken: set[sp.Symbol] = {*dims_of(form), *(r.dim for r in self.over), *self.graph.sizes}
        names: dict[Dim, Dim] = {}
        seen: dict[Leaf, list[tuple[tuple[Range, ...], tuple[Expr, ...]]]] = {}
        for leaf, ranges, weights in self._seen(form, (), ()):
            own = [r for r in ranges if r.dim in dims_of(leaf)]
            roots = [root_of(r.dim) for r in own]
            if len(set(roots)) < len(roots):
                raise _UnreadError(f"{leaf} is read along two sums over one dimension")
            for r in ranges:
                if r.dim not in names:
                    names[r.dim] = next(
                        (s for d, s in names.items() if root_of(d) == root_of(r.dim)),
                        copy_of(r.dim, taken),
                    )
                    taken.add(names[r.dim])
            at = tuple(Range(names[r.dim], r.start, r.stop) for r in own)
            # (a weight over the dim of a sum around, without the element's, may be 0 in part of it)
            elsewhere = {r.dim for r in ranges} - dims_of(leaf)
            there = (w for w in weights if not dims_of(w) & elsewhere)
            moved = tuple(substitute(w, names) for w in there)
            seen.setdefault(substitute(leaf, names), []).append((at, moved))
        return tuple(self._entry(form, leaf, places, names) for leaf, places in seen.items())

    def _seen(
        self, expr: Expr, ranges: tuple[Range, ...], weights: tuple[Expr, ...]
    ) -> Iterator[tuple[Leaf, tuple[Range, ...], tuple[Expr, ...]]]:
        """Yield each element in an expression, with the ranges of sums and data weights on it."""
        if not mentions(expr, self.targets):
            return
        if isinstance(expr, Leaf):
            yield expr, ranges, weights
        elif isinstance(expr, Over):
            inside = (*ranges, range_of(expr, self.graph.sizes))
            yield from self._seen(expr.body, inside, weights)
        elif expr.is_Mul:
            own = (a for a in expr.args if dims_of(a) and not mentions(a, self.graph.random))
            bases = tuple(a.base if isinstance(a, sp.Pow) and a.exp.is_positive else a for a in own)
            for a in expr.args:
                yield from self._seen(a, ranges, (*weights, *bases))
        elif expr.is_Add:
            for a in expr.args:
                yield from self._seen(a, ranges, weights)
        elif isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp > 0:
            yield from self._seen(expr.base, ranges, weights)
        else:
            raise _UnreadError(f"{expr} is no polynomial")

    def _entry(
        self,
        form: Expr,
        leaf: Leaf,
        places: list[tuple[tuple[Range, ...], tuple[Expr, ...]]],
        names: Mapping[Dim, Dim],
    ) -> Entry:
        (ranges, weights), *others = places
        if any(set(r) != set(ranges) for r, _ in others):
            raise _UnreadError(f"{leaf} is read over several ranges")
        shared = tuple(w for w in weights if all(w in more for _, more in others))
        slope = _slope(form, leaf, names)
        if multiplied_out(_slope(slope, leaf, names)) != 0:
            raise _UnreadError(f"it holds {leaf} in a square of its own")
        view = View(leaf.array, leaf.indices)
        return Entry(view, ranges, tuple(dict.fromkeys(shared)), slope)


def _slope(expr: Expr, leaf: Leaf, names: Mapping[Dim, Dim]) -> Expr:
    return Add(*(value for value, _ in _partials(expr, leaf, names)))


def _partials(
    expr: Expr, leaf: Leaf, names: Mapping[Dim, Dim]
) -> list[tuple[Expr, frozenset[Dim]]]:
    """The partial derivative by an element at each place where it is read, and the sums there.

    The element is read at a single position of such a sum: only the value there is left of the sum.
    """
    if not mentions(expr, (leaf.array.name,)):
        return []
    if isinstance(expr, Leaf):
        read = frozenset(dims_of(expr) & set(names))
        return [(sp.S.One, read)] if substitute(expr, names) == leaf else []
    if isinstance(expr, Over):
        (dim,) = expr.bound
        found = []
        for value, read in _partials(expr.body, leaf, names):
            if dim in read:
                found.append((substitute(value, {dim: names[dim]}), read - {dim}))
            else:
                found.append((Over(value, dim, *expr.args[2:]), read))
        return found
    if expr.is_Add:
        return [p for a in expr.args for p in _partials(a, leaf, names)]
    if expr.is_Mul:
        return [
            (Mul(value, *expr.args[:n], *expr.args[n + 1 :]), read)
            for n, a in enumerate(expr.args)
            for value, read in _partials(a, leaf, names)
        ]
    assert isinstance(expr, sp.Pow)
    outer = expr.exp * expr.base ** (expr.exp - 1)
    return [(outer * value, read) for value, read in _partials(expr.base, leaf, names)]
