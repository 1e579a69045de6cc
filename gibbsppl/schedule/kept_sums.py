"""Values by row that a sweep keeps up to date while the elements that they read change one by one.

Comes in: a sum over elements of an array, a residual say, at the positions of the rows of data.
Goes out: a `KeptSum`: what is kept and how it is computed anew (`Kept`), which `Rows` see an
element, and what the element adds there: a weight times a function of its value. So the change of
one element is a look at the rows that see it. All that is drawn element by element reads rows so:
labels and moves (`gibbsppl.schedule.element_sums`), draws by residuals (`element_loops`), values
with tied entries (`moved_entries`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range, ranges_of, size_of, unnested
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.algebra.rounding import may_be_infinite

# The value of the element that a sum is about, in what the element adds to the sum.
VALUE = Array("·value")[()]


class UnsuitedError(Exception):
    """Raised where an expression is not made of values that can be kept up to date."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A value by row that is kept up to date: its name, its rows, and the value as computed anew.

    ``factor`` is the one that the rows are of, if there is one for all of them.
    """

    name: str
    over: tuple[Range, ...]
    form: Expr
    factor: str = ""

    @property
    def leaf(self) -> Leaf:
        """The value, at the dims of the rows."""
        return Leaf(Array(self.name, real=True), *(r.dim for r in self.over))

    @property
    def read(self) -> set[str]:
        """The arrays that the value is computed from."""
        return {leaf.array.name for leaf in self.form.atoms(Leaf)}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that see an element: those of ``over`` at which the element's place is read.

    ``here``: dims of rows, each with the axis along which the element is at the row's position.
    ``matches``: other indices of the rows, each with the axis along which it is the element's.
    Whatever their positions along other dims, rows see the element.
    """

    over: tuple[Range, ...]
    here: tuple[tuple[Dim, Dim], ...]
    matches: tuple[tuple[Expr, Dim], ...]

    @property
    def free(self) -> tuple[Range, ...]:
        """The ranges along which the place of the element says nothing."""
        own = {d for d, _ in self.here}
        return tuple(r for r in self.over if r.dim not in own)


def rows_that_see(over: Sequence[Range], read: Iterable[tuple[Expr, Dim]]) -> Rows:
    """The rows of some ranges at which each index is the place of an element along its axis.

    >>> i, t, g, h, of = Dim("i"), Dim("t"), Dim("g"), Dim("h"), Array("of")
    >>> found = rows_that_see((Range(i, 0, 9), Range(t, 0, 4)), ((i, g), (of[t], h), (i, h)))
    >>> found.here, found.matches, found.free
    (((i, g),), ((of[t], h), (i, h)), (Range(dim=t, start=0, stop=4),))
    """
    here, matches = dict[Dim, Dim](), list[tuple[Expr, Dim]]()
    dims = {r.dim for r in over}
    for index, axis in read:
        if isinstance(index, Dim) and index in dims and index not in here:
            here[index] = axis
        else:
            matches.append((index, axis))
    return Rows(tuple(over), tuple(here.items()), tuple(matches))


@dataclass(frozen=True, slots=True)
class KeptSum:
    """A kept value to which the element at the axes of an array adds ``weight`` times ``term``.

    So it is at the ``rows`` that see the element. The term is a function of `VALUE`; the weight, at
    the dims of rows and the axes, is that of these rows, whatever it is at others.
    """

    kept: Kept
    rows: Rows
    weight: Expr
    term: Expr = VALUE

    @property
    def symbol(self) -> sp.Symbol:
        """The value at one row, in a formula of numbers."""
        return sp.Symbol(self.kept.name, real=True)

    @property
    def across(self) -> tuple[Range, ...]:
        """The ranges of the rows, but for dims of these that are axes of the array itself."""
        own = {d for d, axis in self.rows.here if d == axis}
        return tuple(r for r in self.kept.over if r.dim not in own)

    @property
    def weight_by_row(self) -> Expr:
        """The weight at each row: 0 where a row does not see the element."""
        places = (*self.rows.here, *self.rows.matches)
        return Mul(self.weight, *(Equals(index, axis) for index, axis in places))

    @property
    def weight_at(self) -> Expr:
        """The weight at a row, as the element of an array of these; 1 where all are 1."""
        if self.weight_by_row == 1:
            return sp.S.One
        name = f"·weight in {self.kept.name}"
        return Leaf(Array(name, real=True), *(r.dim for r in self.across))

    def change(self, new: Expr, old: Expr) -> Expr:
        """The change of what an element adds, before it is weighted."""
        return self.term.xreplace({VALUE: new}) - self.term.xreplace({VALUE: old})


def kept_sum(
    name: str, whole: Over, element: Leaf, over: Sequence[Range], sizes: Mapping[Dim, int]
) -> KeptSum:
    """A sum that reads one element of an array at each of its positions, as it is kept by a name.

    Its rows are along some of the ranges ``over``; `UnsuitedError` if along anything else, or if
    the sum cannot be followed by changes.

    >>> x, v, of, i, j, k = Array("x"), Array("v"), Array("of"), Dim("i"), Dim("j"), Dim("k")
    >>> whole = Over(x[i, j] * v[of[i], j] + 1, j)
    >>> sizes = {i: 9, j: 3, k: 4, Dim("j'"): 3}
    >>> found = kept_sum("s", whole, v[k, Dim("j'")], (Range(i, 0, 9),), sizes)
    >>> found.weight, found.term, found.rows.matches
    (x[i, j'], ·value, ((of[i], k),))
    """
    array = (element.array.name,)
    body, sums = unnested(whole)
    summed = tuple(r for s in sums for r in ranges_of(s, sizes))
    leaves = set(leaves_of(body, array))
    inside = any(mentions(e, array) for e in body.atoms(Over))
    if len(leaves) != 1 or inside or whole.has(Recursion):
        raise UnsuitedError
    (leaf,) = leaves
    shown = tuple(r for r in over if r.dim in dims_of(whole))
    pairs = tuple(zip(leaf.indices, element.own_dims, strict=True))
    # (an axis of the array that is a dim of the rows as well is read there: each has rows apart)
    apart = any(axis in dims_of(whole) and index != axis for index, axis in pairs)
    dims = {r.dim for r in shown}
    if apart or dims_of(whole) != dims:
        raise UnsuitedError
    # (an element's weights in later elements take as long as all of these anew)
    if any(len(r) < size_of(r.dim, sizes) for r in shown):
        raise UnsuitedError
    own = _summed_over(summed, pairs, sizes)
    left = tuple(r for r in summed if r.dim not in own)
    there = [(substitute(i, own), a) for i, a in pairs if own.get(i) != a]
    within = [(i, a) for i, a in there if not dims_of(i) <= dims]
    gained, term = _gained(substitute(body.xreplace({leaf: VALUE}), own))
    if dims_of(term) & {r.dim for r in left} or may_be_infinite(term):
        raise UnsuitedError  # (what is infinite cannot be taken out of a sum again)
    weight = Mul(gained, *(Equals(i, a) for i, a in within))
    for r in reversed(left):
        weight = Over(weight, r.dim, r.start, r.stop)
    rows = rows_that_see(shown, (p for p in there if p not in within))
    return KeptSum(Kept(name, shown, whole), rows, weight, term)


def _summed_over(
    summed: Iterable[Range], pairs: Sequence[tuple[Expr, Dim]], sizes: Mapping[Dim, int]
) -> dict[Expr, Dim]:
    """The dims of sums along which all elements are read, each with its axis.

    (A sum over a part alone sees the elements of the part.)
    """
    found = dict[Expr, Dim]()
    for r in summed:
        axis = next((a for i, a in pairs if i == r.dim), None)
        if axis is not None and (r.start, len(r)) == (0, size_of(axis, sizes)):
            found[r.dim] = axis
    return found


def _gained(body: Expr) -> tuple[Expr, Expr]:
    """The weight and the term of what `VALUE` adds to a body: other terms stay as they are."""
    found = defaultdict[Expr, Expr](lambda: sp.S.Zero)
    for weight, term in _terms(body):
        found[term] += weight
    if len(found) == 1:
        ((term, weight),) = found.items()
        return weight, term
    return sp.S.One, Add(*(weight * term for term, weight in found.items()))


def _terms(expr: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The terms of an expression that hold `VALUE`, each with the factors that do not."""
    if expr.is_Add:
        for a in expr.args:
            yield from _terms(a) if a.has(VALUE) else ()
        return
    held = [f for f in Mul.make_args(expr) if f.has(VALUE)]
    rest = Mul(*(f for f in Mul.make_args(expr) if f not in held))
    if len(held) == 1 and held[0].is_Add:
        for weight, term in _terms(held[0]):
            yield rest * weight, term
    else:
        yield rest, Mul(*held)
