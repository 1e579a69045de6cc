"""Sums over dims: by group, of squares, or of a product of arrays."""

from __future__ import annotations

from sympy import Add, Mul, Pow, exp

from gibbsppl.algebra.expressions import Dim, Expr, Over, dims_of
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.products import einsum
from gibbsppl.code.segments import segments
from gibbsppl.code.squares import squares
from gibbsppl.code.text import Text, times_number
from gibbsppl.code.writer import Writer
from gibbsppl.derive.contractions import contracted


def over_text(writer: Writer, expr: Over) -> Text:
    """The text of a sum, after factors free of the summed dims are taken out."""
    body, ranges = writer.unnested(expr)
    settled = writer.is_data(body) and {r.dim for r in ranges} <= dims_of(body)
    pushed = body if settled else contracted(body, ranges, writer.known)
    if not settled and pushed != _nest(body, ranges):
        return writer.write(pushed)
    with writer.over(ranges):
        return _contraction(writer, body, ranges)


def _contraction(writer: Writer, body: Expr, ranges: tuple[Range, ...]) -> Text:
    """The text of a sum of one product over all ranges."""
    summed = {r.dim for r in ranges}
    factors = list(Mul.make_args(body))
    # (what is no integer is no position, whatever its value)
    matches = [
        f
        for f in factors
        if _is_one_hot(f, summed)
        and _is_alone(f.args[1], f, factors)
        and writer.is_whole(f.args[0])
    ]
    rest = [f for f in factors if f not in matches]
    if matches:
        return segments(writer, matches, rest, ranges)
    coefficient, product = Mul(*rest).as_coeff_Mul()
    if isinstance(product, Pow) and product.exp == 2 and dims_of(product) == summed:
        return times_number(coefficient, squares(writer, product.base, ranges))
    factors = _exponentials_together(writer, list(Mul.make_args(product)))
    factors = writer.weighted(writer.data_together(factors, Mul))
    operands = [writer.write(f) for f in factors]
    return times_number(coefficient, einsum(writer, operands, summed))


def _exponentials_together(writer: Writer, factors: list[Expr]) -> list[Expr]:
    """Exponentials along the same dims as one: each alone may overflow where the product does not.

    Those of data alone are computed once, and stay as they are.
    """
    found = [f for f in factors if isinstance(f, exp) and not writer.is_data(f)]
    every = list(dict.fromkeys(frozenset(dims_of(f)) for f in found))
    ones = [exp(Add(*(f.args[0] for f in found if dims_of(f) == dims))) for dims in every]
    return [*(f for f in factors if f not in found), *ones]


def _is_alone(axis: Expr, match: Expr, factors: list[Expr]) -> bool:
    """Whether no other factor of a sum by group depends on the axis of the groups."""
    return not any(axis in dims_of(f) for f in factors if f != match)


def _is_one_hot(factor: Expr, summed: set[Dim]) -> bool:
    """Whether a factor is one-hot: 1 at the summed positions of one group, else 0."""
    return (
        isinstance(factor, Equals)
        and isinstance(factor.args[1], Dim)
        and factor.args[1] not in summed
        and bool(dims_of(factor.args[0]))
        and dims_of(factor.args[0]) <= summed
    )


def _nest(body: Expr, ranges: tuple[Range, ...]) -> Expr:
    """The nested sum of a body over ranges, the inverse of `Writer.unnested`."""
    for r in reversed(ranges):
        body = Over(body, r.dim, r.start, r.stop)
    return body
