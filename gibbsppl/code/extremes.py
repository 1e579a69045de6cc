"""Largest and smallest values over dims: of all positions, or of each group."""

from __future__ import annotations

from collections.abc import Collection

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import Dim, Expr, Greatest, Least, dims_of
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.text import ATOM, Text
from gibbsppl.code.writer import Writer


def extreme_text(writer: Writer, expr: Greatest | Least) -> Text:
    """The text of the largest (or smallest) value of a body."""
    body, ranges = writer.unnested(expr)
    with writer.over(ranges):
        if isinstance(body, Where) and body.args[2].is_infinite and _is_one_hot(body.args[0]):
            return _by_group(writer, expr, body, ranges)
        text = writer.write(body)
    axes = tuple(text.dims.index(r.dim) for r in ranges if r.dim in text.dims)
    if not axes:
        return text
    left = tuple(d for d in text.dims if d not in {r.dim for r in ranges})
    axis = axes[0] if len(axes) == 1 else axes
    return Text(f"{text.within(ATOM)}.{expr.symbol}(axis={axis})", left)


def _by_group(
    writer: Writer, expr: Greatest | Least, body: Expr, ranges: Collection[Range]
) -> Text:
    """The extreme of the values of each group: each position of the gathers' axes.

    Along dims outside the ranges each position is a group of its own.
    """
    matches, value, _ = body.args
    matched = (m.args for m in Mul.make_args(matches))
    pairs: list[tuple[Expr, Dim]] = [(i, axis) for i, axis in matched if isinstance(axis, Dim)]
    along = {d for index, _ in pairs for d in dims_of(index)}
    for r in ranges:
        if r.dim in dims_of(value) - along:
            value = expr.func(value, r.dim, sp.Integer(r.start), sp.Integer(r.stop))
    gone = {r.dim for r in ranges} | {axis for _, axis in pairs}
    pairs += [(d, d) for d in writer.sorted((along | dims_of(value)) - gone)]
    texts, _ = writer.aligned([writer.write(e) for e in (*(index for index, _ in pairs), value)])
    axes = tuple(axis for _, axis in pairs)
    sizes = tuple(writer.size(a) for a in axes)
    shown = f"({', '.join(texts[:-1])},)"
    code = f"{writer.call(f'segment_{expr.symbol}')}({texts[-1]}, {shown}, {sizes})"
    return Text(code + _meant(writer, axes), axes)


def _meant(writer: Writer, axes: tuple[Dim, ...]) -> str:
    """The index of the positions in range along axes; empty if all positions are in range."""
    every = [(*writer.range(a), writer.stride(a)) for a in axes]
    if every == [(0, writer.size(a), 1) for a in axes]:
        return ""
    return f"[{', '.join(f'{start}:{stop}:{stride}' for start, stop, stride in every)}]"


def _is_one_hot(expr: Expr) -> bool:
    """Whether a condition is one-hot: indices equal to positions of axes."""
    factors = Mul.make_args(expr)
    return all(isinstance(f, Equals) and isinstance(f.args[1], Dim) for f in factors)
