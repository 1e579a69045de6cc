"""Ranges of positions along dimensions, and names that nothing else has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Operand, Over, Size, dims_of

# A range that ends so few positions before the end of its dim is meant to.
NEAR_THE_END = 3


@dataclass(frozen=True, slots=True)
class Range:
    """The positions ``start .. stop - 1`` of a dimension."""

    dim: Dim
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def size_of(dim: Dim, sizes: Mapping[Dim, int]) -> int:
    """The size of a dim, or of the original of a copied dim."""
    return sizes[dim] if dim in sizes else sizes[Dim(root_of(dim))]


def from_the_end(stop: int, size: int) -> int | None:
    """The number of positions before the end of a dim at which a range ends; None if anywhere.

    A lag of one or two along a time of any length ends so, not at a position of its own.

    >>> from_the_end(30, 30), from_the_end(29, 30), from_the_end(4, 30)
    (0, 1, None)
    """
    missing = size - stop
    return missing if missing == 0 or 0 < missing <= NEAR_THE_END < stop else None


def named_size(dim: Dim, sizes: Mapping[Dim, int]) -> Expr:
    """The size of a dim by a name: its own, or that of the dim that it is a copy of.

    A copy may have fewer positions: the steps of a chain are one fewer than its times.

    >>> t, step = Dim("t"), Dim("t₁")
    >>> [named_size(step, {t: 9, **own}) for own in ({}, {step: 8}, {step: 2})]
    [|t|, |t| - 1, 2]
    """
    root, own = Dim(root_of(dim)), size_of(dim, sizes)
    if root not in sizes:
        return Size(dim.name)
    missing = from_the_end(own, sizes[root])
    return sp.Integer(own) if missing is None else Size(root.name) - missing


def length_of(r: Range, sizes: Mapping[Dim, int]) -> Expr:
    """The number of positions of a range, by the name of the size of its dim where it is near.

    >>> day = Dim("day")
    >>> length_of(Range(day, 1, 30), {day: 30}), length_of(Range(day, 1, 5), {day: 30})
    (|day| - 1, 4)
    """
    if r.dim not in sizes and Dim(root_of(r.dim)) not in sizes:
        return sp.Integer(len(r))
    missing = from_the_end(r.stop, size_of(r.dim, sizes))
    if missing is None:
        return sp.Integer(len(r))
    return named_size(r.dim, sizes) - missing - r.start


def numbered(expr: Expr, sizes: Mapping[Dim, int]) -> Expr:
    """The expression with sizes as numbers.

    >>> day = Dim("day")
    >>> numbered(length_of(Range(day, 1, 30), {day: 30}), {day: 30})
    29
    """
    named = ((s, Dim(s.name)) for s in expr.atoms(Size))
    found = {s: sp.Integer(sizes[dim]) for s, dim in named if dim in sizes}
    return expr.xreplace(found) if found else expr


def is_numeric(expr: Expr) -> bool:
    """Whether an expression is a number once the sizes of dims are known.

    >>> is_numeric(Size("rat") / 2 - 1), is_numeric(Dim("rat"))
    (True, False)
    """
    return expr.is_number or all(isinstance(s, Size) for s in expr.free_symbols)


def range_of(binder: Binder, sizes: Mapping[Dim, int]) -> Range:
    """The range of a sum or an extreme over a dim: all positions, unless the binder has ends.

    >>> from gibbsppl.algebra.expressions import Array, Over
    >>> k, x = Dim("k"), Array("x")
    >>> range_of(Over(x[k], k), {k: 3}), range_of(Over(x[k], k, 1, 2), {k: 3})
    (Range(dim=k, start=0, stop=3), Range(dim=k, start=1, stop=2))
    """
    (found,) = ranges_of(binder, sizes)
    return found


def ranges_of(binder: Binder, sizes: Mapping[Dim, int]) -> tuple[Range, ...]:
    """The ranges of all dims of a binder: all positions, unless the binder has ends."""
    ends: tuple[Operand, ...] = binder.args[1 + binder.binds :]
    if len(ends) != 2 * binder.binds:
        ends = tuple(e for d in binder.bound for e in (0, size_of(d, sizes)))
    pairs = zip(binder.bound, ends[::2], ends[1::2], strict=True)
    return tuple(Range(d, int(start), int(stop)) for d, start, stop in pairs)


def unnested(expr: Binder) -> tuple[Expr, tuple[Binder, ...]]:
    """The body of nested binders of one kind (sums of sums), and these, the outermost first.

    A dim that is bound once more starts another nest.

    >>> from gibbsppl.algebra.expressions import Array, Over
    >>> x, i, j = Array("x"), Dim("i"), Dim("j")
    >>> body, sums = unnested(Over(Over(2 * x[i, j], j), i, 1, 3))
    >>> body, [s.bound for s in sums]
    (2*x[i, j], [(i,), (j,)])
    """
    body: Expr = expr
    nest: list[Binder] = []
    bound: set[Dim] = set()
    while isinstance(body, type(expr)) and bound.isdisjoint(body.bound):
        nest.append(body)
        bound.update(body.bound)
        body = body.body
    return body, tuple(nest)


def bounded(expr: Expr, sizes: Mapping[Dim, int]) -> Expr:
    """The expression with the bounds of every sum written out, and sums of constants done.

    >>> from gibbsppl.algebra.expressions import Array
    >>> i, j, x = Dim("i"), Dim("j"), Array("x")
    >>> bounded(Over(x[i], j) + Over(x[j], j), {i: 2, j: 3})
    |j|*x[i] + sum(x[j], j, 0, 3)
    """
    if not expr.has(Over):
        return expr
    args = tuple(bounded(a, sizes) if isinstance(a, sp.Expr) else a for a in expr.args)
    if isinstance(expr, Over) and len(args) == 2:
        body, (dim,) = args[0], expr.bound
        if dim in dims_of(body):
            return Over(body, dim, 0, size_of(dim, sizes))
        return body * named_size(dim, sizes)
    return expr.func(*args)


def counted(expr: Expr, sizes: Mapping[Dim, int]) -> Expr:
    """The expression with sums of constants done, as numbers: what proofs need of a bound.

    >>> day = Dim("day")
    >>> counted(Over(2, day) - 1, {day: 30})
    59
    """
    return numbered(bounded(expr, sizes), sizes)


def fresh(name: str, taken: Collection[str]) -> str:
    """A name that is not taken: the name wanted, or that with a number.

    >>> fresh("x", {"x", "x_2"})
    'x_3'
    """
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def plain_name(dim: Dim) -> str:
    """The name of a dimension without marks, for the names of arrays.

    >>> plain_name(Dim("k₁")), plain_name(Dim("factor'"))
    ('k', 'factor_2')
    """
    return root_of(dim).replace("'", "_2")
