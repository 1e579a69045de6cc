"""A natural parameter as a function of arrays, which are sums of the factors' contributions.

A variable that multiplies a whole sum (a precision the sum of its observations) is taken out of it,
so that the array does not depend on the variable.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    Over,
    array_of,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.ranges import Range, unnested
from gibbsppl.errors import CompileError
from gibbsppl.model.graph import Maintained, Scatter
from gibbsppl.pieces.logs import expand_logs

# The factor that multiplies an array, the array's axes, and the axes that both are summed over.
_Key = tuple[Expr, tuple[Dim, ...], tuple[Dim, ...]]


class Sums:
    """The scatters onto a natural parameter, by the factors of variables integrated out later."""

    def __init__(
        self, name: str, event: tuple[Dim, ...], later: Mapping[str, tuple[Dim, ...]]
    ) -> None:
        self.name = name
        self.event = {*event, *map(primed, event)}
        self.later = later
        self.found: dict[_Key, list[Scatter]] = {}

    def add(self, scatter: Scatter, axes: tuple[Dim, ...]) -> None:
        """Add a scatter, term by term."""
        if not mentions(scatter.value, self.later):
            self._add((sp.S.One, axes, ()), scatter)
            return
        value = _in_order(expand_logs(scatter.value, self.later), self.later)
        for term in Add.make_args(sp.expand_mul(value)):
            self._add_term(term, scatter, axes)

    def _add(self, key: _Key, scatter: Scatter) -> None:
        self.found.setdefault(key, []).append(_named_by_axes(scatter, key[1]))

    def _add_term(self, term: Expr, scatter: Scatter, axes: tuple[Dim, ...]) -> None:
        """Add one term, factors of later variables taken out, at the axes of the array."""
        factors, over = _opened(term, scatter.over)
        held = Mul(*(f for f in factors if mentions(f, self.later)))
        free = Mul(*(f for f in factors if not mentions(f, self.later)))
        pairs = list(zip(axes, scatter.indices, strict=True))
        outside = substitute(held, {i: a for a, i in pairs if i != a})
        # The axes of an event that the rest does not depend on leave the array; a dim that both
        # are summed over takes the place of one of them.
        alone = {i for i in dims_of(held) - dims_of(free) if scatter.indices.count(i) == 1}
        gone = [(a, i) for a, i in pairs if a in self.event and i in alone]
        summed = [r.dim for r in over if r.dim in dims_of(outside) - set(axes)]
        names = {d: primed(a) for d, (a, _) in zip(summed, gone, strict=False)}
        outside = _in_order(substitute(outside, names), self.later)
        kept = [*(p for p in pairs if p not in gone), *((n, d) for d, n in names.items())]
        own = tuple(a for a, _ in kept)
        if not dims_of(outside) <= {*axes, *own}:
            tied = min(x.array.name for x in leaves_of(held, self.later))
            raise CompileError(
                f"collapse: {tied} cannot be taken out of the sums that {self.name} is made of; "
                f"leave {tied} out of collapse=."
            )
        left = {i for _, i in gone}
        ranges = tuple(r for r in over if r.dim not in left)
        key = (outside, own, tuple(names.values()))
        self._add(key, Scatter(scatter.factor, tuple(i for _, i in kept), free, ranges))

    def finished(self) -> tuple[Expr, list[Maintained]]:
        """The natural parameter as a function of arrays, and the arrays."""
        total, arrays = sp.S.Zero, []
        for n, ((outside, axes, summed), scatters) in enumerate(self.found.items(), 1):
            name = self.name if len(self.found) == 1 else f"{self.name}_{n}"
            # (the array is positive where possible: the signs of functions of it are then known)
            turned = outside != 1 and all(s.value.is_nonpositive for s in scatters)
            kept = [replace(s, value=-s.value) if turned else s for s in scatters]
            is_positive = all(s.value.is_nonnegative for s in kept)
            element = array_of(name, is_positive=is_positive)[axes]
            arrays.append(Maintained(element, _merged(kept)))
            term = (-outside if turned else outside) * element
            for d in summed:
                term = Over(term, d)
            total += term
        return total, arrays


def _in_order(expr: Expr, matrices: Mapping[str, tuple[Dim, ...]]) -> Expr:
    """The expression with entries of symmetric matrices, and of their inverses, in one order.

    ``matrices`` says for each array which dims are those of a symmetric matrix, if any.
    """
    if isinstance(expr, InverseEntry) and isinstance(expr.body, Leaf):
        own = matrices.get(expr.body.array.name, ())
        if own:
            names = dict(zip(expr.bound, own, strict=True))
            body = _in_order(substitute(expr.body, names), matrices)
            return InverseEntry(body, *own, *sorted(expr.args[3:], key=sp.default_sort_key))
    if isinstance(expr, Leaf):
        own = matrices.get(expr.array.name, ())
        first = len(expr.indices) - len(own)
        pair = (
            sorted(expr.indices[first:], key=sp.default_sort_key) if own else expr.indices[first:]
        )
        return expr.array[(*expr.indices[:first], *pair)]
    if not mentions(expr, matrices):
        return expr
    return expr.func(*(_in_order(a, matrices) if isinstance(a, sp.Expr) else a for a in expr.args))


def _named_by_axes(scatter: Scatter, axes: tuple[Dim, ...]) -> Scatter:
    """The scatter with dims that index an axis directly renamed to the axis."""
    dims = {r.dim for r in scatter.over}
    names = {i: a for a, i in zip(axes, scatter.indices, strict=True) if i in dims and i != a}
    names = {i: a for i, a in names.items() if a not in dims or a in names}
    return replace(
        scatter,
        indices=tuple(substitute(i, names) for i in scatter.indices),
        value=substitute(scatter.value, names),
        over=tuple(replace(r, dim=names.get(r.dim, r.dim)) for r in scatter.over),
    )


def _merged(scatters: Collection[Scatter]) -> tuple[Scatter, ...]:
    """The scatters, those of a factor onto the same place added up."""
    found: dict[Hashable, Scatter] = {}
    for s in scatters:
        key = (s.factor, s.indices, s.over)
        found[key] = replace(s, value=s.value + found[key].value) if key in found else s
    return tuple(found.values())


def _opened(term: Expr, over: tuple[Range, ...]) -> tuple[list[Expr], tuple[Range, ...]]:
    """The factors of a product, those under a sum among them, with the ranges of all."""
    factors: list[Expr] = []
    for factor in Mul.make_args(term):
        if isinstance(factor, Over) and len(factor.args) == 4:
            body, nest = unnested(factor)
            factors += Mul.make_args(body)
            over += tuple(Range(o.bound[0], int(o.args[2]), int(o.args[3])) for o in nest)
        else:
            factors.append(factor)
    return factors, over
