"""Expectations of polynomials in many elements at once that are independent under q.

Comes in: an expression whose elements are seen through the entries of a multilinear form, such as
the square of a sum of products. Goes out: its expectation, by means and variances. Where no element
has a higher power than its square,

    E f = exp(sum of Var[a] / 2 d^2/da^2) f   at the means, the sum over all elements a

(each factor is ``1 + Var[a] / 2 d^2/da^2``: the second derivative has none of a left). Nothing is
multiplied out that reads one element alone: a square about a centre stays one. The derivative by an
element is read at each position that may show it, with equalities of positions; sums over pairs of
elements come apart into products of sums over one.

>>> from gibbsppl.algebra.expressions import Array
>>> x, s, k = Array("x"), Array("s"), Dim("k")
>>> seen = Seen(x[k], (Range(k, 0, 9),), s[k])
>>> expected((1 - Over(x[k], k)) ** 2, [seen])
(1 - sum(x[k], k))**2 + sum(s[k₁], k₁, 0, 9)
>>> pairs = (Over(x[k], k) ** 2 - Over(x[k] ** 2, k)) / 2
>>> expected(pairs, [seen]) == pairs
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import factorial

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range

# The positions that are the same, of the element and of what is read: pairs of dims.
Same = frozenset[tuple[Dim, Dim]]
# A derivative: its value where positions are the same, added up.
Partials = dict[Same, Expr]


@dataclass(frozen=True, slots=True)
class Seen:
    """The elements that are seen through one view: at all positions of ranges, none of them twice.

    ``variance`` is that of the element, at the same positions.
    """

    leaf: Leaf
    ranges: tuple[Range, ...]
    variance: Expr

    def sees(self, leaf: Leaf) -> bool:
        """Whether an element is seen through the view, at whatever position."""
        return _matches(self.leaf, leaf, {r.dim for r in self.ranges}, {})


class NoPolynomialError(Exception):
    """Raised where an expression is no polynomial in the elements seen."""


def expected(expr: Expr, seen: Iterable[Seen]) -> Expr:
    """The expectation of a polynomial in the elements seen, as one of their means."""
    seen = tuple(seen)
    found, term, order = expr, expr, 0
    while (term := Add(*(_spread(term, one, is_first=order == 0) for one in seen))) != 0:
        order += 1
        found += term / factorial(order)
    return found


def _spread(expr: Expr, seen: Seen, *, is_first: bool) -> Expr:
    """The sum over the elements of a view of half of the variance times the second derivative."""
    taken = {s for e in (expr, seen.leaf) for s in e.atoms(Dim)}
    new = copies_of((r.dim for r in seen.ranges), taken)
    by_element = _Derivative(seen, new)
    _, second = by_element.of(expr)
    if is_first and _total(*(_product({s: sp.S.One}, by_element.of(v)[0])
                             for s, v in second.items())):  # fmt: skip
        raise NoPolynomialError("it has more than the square of an element")
    terms = []
    for same, value in second.items():
        # (the dims of the element are written as those that they are the same as)
        here = _standing(same)
        tied = Mul(*(Equals(*sorted((d, here[n]), key=str)) for n, d in same if d != here[n]))
        variance = substitute(seen.variance, {d: here.get(n, n) for d, n in new.items()})
        left = [
            (n, (sp.Integer(r.start), sp.Integer(r.stop)))
            for r in seen.ranges if (n := new[r.dim]) not in here
        ]  # fmt: skip
        terms.append(summed(tied * variance * value / 2, left))
    return Add(*terms)


def summed(body: Expr, over: Iterable[tuple[Dim, tuple[Expr, ...]]]) -> Expr:
    """The sum of a body over dims with their ends, what is free of a dim outside of its sum.

    >>> from gibbsppl.algebra.expressions import Array
    >>> a, b, k, j = Array("a"), Array("b"), Dim("k"), Dim("j")
    >>> summed(a[k] * (b[j] - b[k]), [(k, ())])
    b[j]*sum(a[k], k) - sum(a[k]*b[k], k)
    """
    for dim, ends in reversed(tuple(over)):
        terms = []
        for term in Add.make_args(_apart(body, dim)):
            inside = [f for f in Mul.make_args(term) if dim in dims_of(f)]
            outside = [f for f in Mul.make_args(term) if dim not in dims_of(f)]
            terms.append(Mul(*outside, Over(Mul(*inside), dim, *ends)))
        body = Add(*terms)
    return body


def _apart(body: Expr, dim: Dim) -> Expr:
    """A product with sums multiplied out whose terms are of other positions than those of a dim."""
    mixed = [f for f in Mul.make_args(body) if _is_mixed(f, dim)]
    if not mixed:
        return body
    rest = Mul(*(f for f in Mul.make_args(body) if f not in mixed))
    terms = sp.expand_mul(rest * sp.expand(Mul(*mixed), deep=False), deep=False)
    return Add(*(_apart(t, dim) for t in Add.make_args(terms)))


def _is_mixed(factor: Expr, dim: Dim) -> bool:
    """Whether a sum, or a power of one, reads elements beside those along a dim."""
    leaves = factor.atoms(Leaf) if factor.as_base_exp()[0].is_Add else set()
    along = [dims_of(x) for x in leaves if dim in dims_of(x)]
    beside = [dims_of(x) for x in leaves if dim not in dims_of(x)]
    free = dims_of(factor)
    return bool(along) and bool(set().union(*beside) & free - set().union(*along))


@dataclass(frozen=True, slots=True)
class _Derivative:
    """The first and second derivative by the element seen at new dims."""

    seen: Seen
    new: Mapping[Dim, Dim]

    def of(self, expr: Expr) -> tuple[Partials, Partials]:
        """Both derivatives of an expression."""
        if not mentions(expr, (self.seen.leaf.array.name,)):
            return {}, {}
        if isinstance(expr, Leaf):
            return self._of_leaf(expr), {}
        if isinstance(expr, Over):
            first, second = self.of(expr.body)
            return self._over(first, expr), self._over(second, expr)
        if expr.is_Add:
            both = [self.of(a) for a in expr.args]
            return _total(*(f for f, _ in both)), _total(*(s for _, s in both))
        if expr.is_Mul:
            head, *rest = expr.args
            return _of_product((head, *self.of(head)), (Mul(*rest), *self.of(Mul(*rest))))
        if isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp > 0:
            base, n = expr.base, int(expr.exp)
            first, second = self.of(base)
            inner, outer = n * (n - 1) * base ** (n - 2), n * base ** (n - 1)
            squares = _times(_product(first, first), inner)
            return _times(first, outer), _total(squares, _times(second, outer))
        raise NoPolynomialError(f"{expr} is no polynomial")

    def _of_leaf(self, leaf: Leaf) -> Partials:
        """One, where the positions read are those of the element."""
        found: dict[Dim, Dim] = {}
        if not _matches(self.seen.leaf, leaf, set(self.new), found):
            return {}
        return {frozenset((n, i) for d, i in found.items() if (n := self.new[d]) != i): sp.S.One}

    def _over(self, partials: Partials, expr: Over) -> Partials:
        """The derivatives of a sum: a single term of it, where one position is read."""
        (dim,), ends = expr.bound, expr.args[2:]
        found = []
        for same, value in partials.items():
            tied = [n for n, d in same if d == dim]
            if not tied:
                found.append({same: summed(value, [(dim, ends)])})
                continue
            left = frozenset(pair for pair in same if pair[1] != dim)
            here = _standing(left)
            (n,) = tied
            found.append(_written({left: substitute(value, {dim: here.get(n, n)})}))
        return _total(*found)


def _matches(pattern: Expr, expr: Expr, own: set[Dim], found: dict[Dim, Dim]) -> bool:
    """Whether an expression is a pattern with other dims in place of its own, which are found."""
    if isinstance(pattern, Dim) and pattern in own:
        return isinstance(expr, Dim) and found.setdefault(pattern, expr) == expr
    if not dims_of(pattern) & own:
        return pattern == expr
    return (
        pattern.func == expr.func and len(pattern.args) == len(expr.args) > 0
        and all(_matches(p, e, own, found) for p, e in zip(pattern.args, expr.args, strict=True))
    )  # fmt: skip


def _standing(same: Same) -> dict[Dim, Dim]:
    """For each new dim the first dim that it is the same as, which stands for it."""
    found: dict[Dim, Dim] = {}
    for n, d in sorted(same, key=str):
        found.setdefault(n, d)
    return found


def _written(partials: Partials) -> Partials:
    """Partials in which dims that are the same are written alike."""
    found = {}
    for same, value in partials.items():
        here = _standing(same)
        alike = {**here, **{d: here[n] for n, d in same if d != here[n]}}
        found[same] = substitute(value, alike)
    return found


def _of_product(
    one: tuple[Expr, Partials, Partials], other: tuple[Expr, Partials, Partials]
) -> tuple[Partials, Partials]:
    f, f_first, f_second = one
    g, g_first, g_second = other
    twice = _times(_product(f_first, g_first), sp.Integer(2))
    return (
        _total(_times(f_first, g), _times(g_first, f)),
        _total(_times(f_second, g), twice, _times(g_second, f)),
    )


def _product(one: Partials, other: Partials) -> Partials:
    return _total(*({s | t: a * b} for s, a in one.items() for t, b in other.items()))


def _times(partials: Partials, factor: Expr) -> Partials:
    return _written({same: value * factor for same, value in partials.items()})


def _total(*every: Partials) -> Partials:
    """The sum of partials, what is zero left out."""
    found: Partials = {}
    for partials in every:
        for same, value in _written(partials).items():
            found[same] = found.get(same, sp.S.Zero) + value
    return {same: value for same, value in found.items() if multiplied_out(value) != 0}
