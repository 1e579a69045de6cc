"""Largest and smallest values over dims: of all positions, or of each group."""

from __future__ import annotations

from sympy import Mul

from gibbsppl.backends.text import ATOM, Text
from gibbsppl.backends.writer import Writer
from gibbsppl.expressions import Dim, Equals, Expr, Greatest, Least, Where, dims_of


def extreme_text(writer: Writer, expr: Greatest | Least) -> Text:
    """The text of the largest (or smallest) value of a body."""
    body, ranges = writer.unnested(expr)
    with writer.over(ranges):
        if isinstance(body, Where) and _is_one_hot(body.args[0]):
            return _by_group(writer, expr, body, {r.dim for r in ranges})
        text = writer.write(body)
    axes = tuple(text.dims.index(r.dim) for r in ranges if r.dim in text.dims)
    if not axes:
        return text
    left = tuple(d for d in text.dims if d not in {r.dim for r in ranges})
    axis = axes[0] if len(axes) == 1 else axes
    return Text(f"{text.within(ATOM)}.{expr.symbol}(axis={axis})", left)


def _by_group(writer: Writer, expr: Greatest | Least, body: Where, gone: set[Dim]) -> Text:
    """The extreme of the values that belong to each position of the gathers' axes.

    Along the dims that are not ``gone`` each position is a group of its own.
    """
    matches, value, _ = body.args
    pairs = [m.args for m in Mul.make_args(matches)]
    inside = {d for index, _ in pairs for d in dims_of(index)} | dims_of(value)
    pairs += [(d, d) for d in writer.sorted(inside - gone - {axis for _, axis in pairs})]
    texts, _ = writer.aligned([writer.write(e) for e in (*(index for index, _ in pairs), value)])
    axes = tuple(axis for _, axis in pairs)
    sizes = tuple(writer.size(a) for a in axes)
    shown = f"({', '.join(texts[:-1])},)"
    code = f"{writer.call(f'segment_{expr.symbol}')}({texts[-1]}, {shown}, {sizes})"
    return Text(code, axes)


def _is_one_hot(expr: Expr) -> bool:
    return all(isinstance(f, Equals) for f in Mul.make_args(expr))
