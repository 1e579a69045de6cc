"""Linear equations among sums: an inverse matrix times a vector, of which no inverse is needed."""

from __future__ import annotations

from gibbsppl.code.arrays.expressions import Expr, Position, Reduce, Span, is_call, product


def equations_of(
    e: Reduce, fixed: frozenset[str]
) -> tuple[Reduce, Expr, Position, Span] | None:
    """Of ``sum(j: entry(inverse(M), i, j) * v[j])`` the matrix, the vector, the place and the span.

    None for other reductions, and where there are many such matrices or vectors.
    """
    factors = e.body.parts if is_call(e.body, "*") else (e.body,)
    inverses = [f for f in factors if is_call(f, "entry")]
    if e.by != "sum" or len(e.spans) > 1 or len(inverses) != 1:
        return None
    (span,), (matrix, row, column) = e.spans, inverses[0].parts
    right = product([f for f in factors if f is not inverses[0]])
    if not isinstance(matrix, Reduce) or not isinstance(row, Position) or row.shift:
        return None
    is_row = column == Position(span.dim) and row.dim != span.dim
    is_whole = is_row and span.ends == matrix.spans[1].ends
    is_one = not matrix.free - fixed and not right.free - fixed - {span.dim}
    return (matrix, right, row, span) if is_whole and is_one else None
