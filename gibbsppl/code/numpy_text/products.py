"""Products of arrays, summed over some of their dims: matrix products where axes stand so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gibbsppl.code.numpy_text.text import ATOM, MATMUL, POWER, PRODUCT, Text
from gibbsppl.code.numpy_text.writer import Writer

# The number of products that takes as long as NumPy's search for an order of operands.
FEW_PRODUCTS = 20_000

Kind: TypeAlias = Literal["sum", "matrix product", "form", "of vectors", "einsum"]


@dataclass(frozen=True, slots=True)
class Contraction:
    """How a product is summed: the operands in order, and the place of one that is turned."""

    kind: Kind
    order: tuple[int, ...]
    dims: tuple[str, ...]
    turned: int | None = None


def contraction_of(
    axes: Sequence[tuple[str, ...]], summed: frozenset[str], kept: tuple[str, ...]
) -> Contraction:
    """How operands with these axes are multiplied and summed; ``kept`` in the order wanted."""
    every = tuple(range(len(axes)))
    if len(axes) == 1:
        return Contraction("sum", every, tuple(d for d in axes[0] if d not in summed))
    if (found := _matrix_product(axes, summed)) is not None:
        return found
    if (found := _quadratic_form(axes, summed)) is not None:
        return found
    # (several vectors along one dim: looking for an order would take longer)
    if len(axes) > 2 and len(summed) == 1 and all(set(a) == summed for a in axes):
        return Contraction("of vectors", every, ())
    return Contraction("einsum", every, kept)


def _matrix_product(axes: Sequence[tuple[str, ...]], summed: frozenset[str]) -> Contraction | None:
    """Two operands with one summed dim in common as a matrix product, if the axes fit."""
    if len(axes) != 2 or len(summed) != 1:
        return None
    (k,) = summed
    for order in ((0, 1), (1, 0)):
        a, b = (axes[n] for n in order)
        meets = bool(a) and bool(b) and a[-1] == k == b[0]
        if meets and set(a) & set(b) == {k} and len(b) <= 2 and len(a) <= 2:
            return Contraction("matrix product", order, a[:-1] + b[1:])
    a, b = axes
    if len(a) == len(b) == 2 and set(a) & set(b) == {k}:
        # Two matrices with the summed dim on the same side: one of them is turned.
        if a[0] == b[0] == k:
            return Contraction("matrix product", (0, 1), (a[1], b[1]), turned=0)
        if a[1] == b[1] == k:
            return Contraction("matrix product", (0, 1), (a[0], b[0]), turned=1)
    return None


def _quadratic_form(axes: Sequence[tuple[str, ...]], summed: frozenset[str]) -> Contraction | None:
    """Two vectors and a matrix between them, all summed."""
    matrices = [n for n, a in enumerate(axes) if len(a) == 2]
    vectors = {a[0]: n for n, a in enumerate(axes) if len(a) == 1}
    if len(axes) != 3 or len(matrices) != 1 or len(vectors) != 2:
        return None
    (matrix,) = matrices
    if set(axes[matrix]) != set(vectors) or not set(vectors) <= summed:
        return None
    left, right = (vectors[d] for d in axes[matrix])
    return Contraction("form", (left, matrix, right), ())


def _weights(operands: Sequence[Text], summed: frozenset[str]) -> int | None:
    """The place of a vector that weighs sums of products of all others, along a dim of each."""
    if len(operands) < 3 or any(not summed.issuperset(t.dims) for t in operands):
        return None
    inner = [n for n, t in enumerate(operands) if len(t.dims) == 1]
    others = [t for t in operands if len(t.dims) > 1]
    if len(inner) != 1 or any(operands[inner[0]].dims[0] not in t.dims for t in others):
        return None
    return inner[0]


def product_text(writer: Writer, operands: list[Text], summed: frozenset[str]) -> Text:
    """The text of the product of operands, summed over dims."""
    dims = writer.sorted(d for t in operands for d in t.dims)
    kept = tuple(d for d in dims if d not in summed)
    if (n := _weights(operands, summed)) is not None:
        weighted = [t for m, t in enumerate(operands) if m != n]
        rest = product_text(writer, weighted, summed - {operands[n].dims[0]})
        return Text(f"{rest.within(POWER)} @ {operands[n].within(POWER)}", (), MATMUL)
    how = contraction_of([t.dims for t in operands], summed, kept)
    texts = [operands[n] for n in how.order]
    match how.kind:
        case "sum":
            return summed_text(texts[0], summed)
        case "matrix product" | "form":
            # A factor that multiplies the product must not be drawn into it: * and @ bind alike.
            codes = [
                f"{t.within(ATOM)}.T" if n == how.turned else t.within(POWER)
                for n, t in enumerate(texts)
            ]
            return Text(" @ ".join(codes), how.dims, MATMUL)
        case "of vectors":
            *others, last = texts
            code = " * ".join(t.within(PRODUCT) for t in others)
            return Text(f"({code}) @ {last.within(POWER)}", (), MATMUL)
    letters = {d: chr(ord("a") + n) for n, d in enumerate(dims)}
    spec = ",".join("".join(letters[d] for d in t.dims) for t in texts)
    out = "".join(letters[d] for d in kept)
    every = ", ".join(t.code for t in texts)
    many = math.prod(len(writer.places_along(d)) for d in dims) > FEW_PRODUCTS
    ordered = ", optimize=True" if many and len(texts) > 2 else ""
    return Text(f'{writer.call("einsum")}("{spec}->{out}", {every}{ordered})', kept)


def summed_text(text: Text, summed: frozenset[str], by: str = "sum") -> Text:
    """One array, reduced over some of its dims."""
    axes = [str(a) for a, d in enumerate(text.dims) if d in summed]
    left = tuple(d for d in text.dims if d not in summed)
    inner = f"axis={axes[0]}" if len(axes) == 1 else f"axis=({', '.join(axes)})"
    return Text(f"{text.within(ATOM)}.{by}({inner if left else ''})", left)
