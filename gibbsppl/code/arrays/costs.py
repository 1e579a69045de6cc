"""Costs of functions: dear ones are computed once rather than at every position."""

from __future__ import annotations

from gibbsppl.code.arrays.expressions import Apply, Expr, walk

# Arithmetic and comparisons take a cycle or few each; all else takes tens.
CHEAP = frozenset(
    (
        *("+", "*", "neg", "equals", "below", "at_most", "and", "where"),
        *("minimum", "maximum", "weighted", "smaller", "//"),
    )
)


def is_dear(expr: Expr) -> bool:
    """Whether an expression calls a dear function."""
    return any(isinstance(e, Apply) and _is_dear(e) for e in walk(expr))


def _is_dear(e: Apply) -> bool:
    if e.function == "**":
        return str(e.arguments[1]) not in {"2", "2.0"}
    return e.function not in CHEAP
