"""The exponentials and powers that the plain interpreter forms on the way to an expression's value.

Comes in: an expression. Goes out: these, each with the ranges of the sums around it.

>>> from gibbsppl.algebra.expressions import Array, Over
>>> k, x = Dim("k"), Array("x")
>>> found = powers_in(sp.log(Over(sp.exp(x[k]), k)) + Over(x[k] ** 2, k), {k: 3})
>>> list(found)
[(x[k]**2, (Range(dim=k, start=0, stop=3),))]
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Extreme,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
)
from gibbsppl.algebra.ranges import Range, range_of, size_of
from gibbsppl.algebra.recursions import Earlier, Recursion
from gibbsppl.model.evaluation import Sizes
from gibbsppl.model.operations import is_constant, is_power, operation_of, sums_exponentials

Found = Iterator[tuple[Expr, tuple[Range, ...]]]


def powers_in(expr: Expr, sizes: Sizes, ranges: tuple[Range, ...] = ()) -> Found:
    """The exponentials and powers in an expression, in the ranges around it.

    Those inside of matrices and recursions are not told: a `ValueError`.
    """
    match expr:
        case LogDet() | InverseEntry() | Recursion() | Earlier():
            raise ValueError(expr)
        case Dim() | Leaf():
            return
        case Over() | Times() | Extreme():
            yield from powers_in(expr.body, sizes, (*ranges, range_of(expr, sizes)))
        case sp.log() if sums_exponentials(expr.args[0]):
            yield from _of_log(expr.args[0], sizes, ranges)
        case _ if is_constant(expr):
            return
        case _:
            for argument in operation_of(expr)[1]:
                yield from powers_in(argument, sizes, ranges)
            if is_power(expr):
                yield expr, ranges


def _of_log(of: Expr, sizes: Sizes, ranges: tuple[Range, ...]) -> Found:
    """Those formed for the log of products of sums of exponentials, which themselves are not."""
    match of:
        case _ if of.is_negative:
            return
        case sp.Mul() | sp.Add():
            for part in of.args:
                yield from _of_log(part, sizes, ranges)
        case sp.Pow():
            yield from powers_in(of.exp, sizes, ranges)
            yield from _of_log(of.base, sizes, ranges)
        case Over():
            inner = (Range(d, 0, size_of(d, sizes)) for d in of.bound)
            yield from _of_log(of.body, sizes, (*ranges, *inner))
        case _:
            yield from powers_in(sp.log(of), sizes, ranges)
