"""Products of arrays, summed over some of their dims: matrix products where axes stand so."""

from __future__ import annotations

import math

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.text import ATOM, MATMUL, POWER, PRODUCT, Text
from gibbsppl.code.writer import Writer

# The number of products that takes as long as NumPy's search for an order of operands.
FEW_PRODUCTS = 20_000


def einsum(writer: Writer, operands: list[Text], summed: set[Dim]) -> Text:
    """The product of operands, summed over the dims."""
    if len(operands) == 1:
        return _summed(operands[0], summed)
    if (product := _matrix_product(operands, summed)) is not None:
        return product
    if (form := _quadratic_form(operands, summed)) is not None:
        return form
    if (product := _of_vectors(operands, summed)) is not None:
        return product
    dims = writer.sorted(d for t in operands for d in t.dims)
    kept = tuple(d for d in dims if d not in summed)
    letters = {d: chr(ord("a") + n) for n, d in enumerate(dims)}
    spec = ",".join("".join(letters[d] for d in t.dims) for t in operands)
    out = "".join(letters[d] for d in kept)
    codes = ", ".join(t.code for t in operands)
    many = math.prod(writer.size(d) for d in dims) > FEW_PRODUCTS
    ordered = ", optimize=True" if many and len(operands) > 2 else ""
    return Text(f'{writer.call("einsum")}("{spec}->{out}", {codes}{ordered})', kept)


def _summed(text: Text, summed: set[Dim]) -> Text:
    """One array, summed over some of its dims."""
    axes = [str(a) for a, d in enumerate(text.dims) if d in summed]
    left = tuple(d for d in text.dims if d not in summed)
    inner = f"axis={axes[0]}" if len(axes) == 1 else f"axis=({', '.join(axes)})"
    return Text(f"{text.within(ATOM)}.sum({inner if left else ''})", left)


def _matrix_product(operands: list[Text], summed: set[Dim]) -> Text | None:
    """Two operands with one summed dim in common as a matrix product, if the axes fit."""
    if len(operands) != 2 or len(summed) != 1:
        return None
    (k,) = summed
    for a, b in (operands, operands[::-1]):
        meets = bool(a.dims) and bool(b.dims) and a.dims[-1] == k == b.dims[0]
        shared = set(a.dims) & set(b.dims)
        if meets and shared == {k} and len(b.dims) <= 2 and len(a.dims) <= 2:
            # A factor that multiplies the product must not be drawn into it: * and @ bind alike.
            code = f"{a.within(POWER)} @ {b.within(POWER)}"
            return Text(code, a.dims[:-1] + b.dims[1:], MATMUL)
    a, b = operands
    if len(a.dims) == len(b.dims) == 2 and set(a.dims) & set(b.dims) == {k}:
        # Two matrices with the summed dim on the same side: one of them is turned.
        if a.dims[0] == b.dims[0] == k:
            return Text(f"{a.within(ATOM)}.T @ {b.within(POWER)}", (a.dims[1], b.dims[1]), MATMUL)
        if a.dims[1] == b.dims[1] == k:
            return Text(f"{a.within(POWER)} @ {b.within(ATOM)}.T", (a.dims[0], b.dims[0]), MATMUL)
    return None


def _of_vectors(operands: list[Text], summed: set[Dim]) -> Text | None:
    """Several vectors along one dim, summed over it: looking for an order would take longer."""
    if len(operands) < 3 or len(summed) != 1 or any(set(t.dims) != summed for t in operands):
        return None
    *others, last = operands
    code = " * ".join(t.within(PRODUCT) for t in others)
    return Text(f"({code}) @ {last.within(POWER)}", (), MATMUL)


def _quadratic_form(operands: list[Text], summed: set[Dim]) -> Text | None:
    """Two vectors and a matrix between them, all summed."""
    matrices = [t for t in operands if len(t.dims) == 2]
    vectors = {t.dims[0]: t for t in operands if len(t.dims) == 1}
    if len(operands) != 3 or len(matrices) != 1 or len(vectors) != 2:
        return None
    (matrix,) = matrices
    if set(matrix.dims) != set(vectors) or not set(vectors) <= summed:
        return None
    left, right = (vectors[d].within(POWER) for d in matrix.dims)
    return Text(f"{left} @ {matrix.within(POWER)} @ {right}", (), MATMUL)
