"""What an expression of a program is: numbers that are known, or a formula of random variables.

A value may be a vector or a matrix: then it has axes of its own, dims beside those of the loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from gibbsppl.bugs.grids import Grid, combined
from gibbsppl.expressions import Dim, Expr, substitute


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Numbers, where all or some are known; ``text`` is how the program says them.

    ``expr`` reads them from an array of the data, if they are what such an array holds.
    """

    grid: Grid
    axes: tuple[Dim, ...] = ()
    text: str = ""
    expr: Expr | None = None

    @property
    def is_known(self) -> bool:
        """Whether every number is known."""
        return self.grid.is_known


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """An expression in random variables; its dims are positions of loops and of its axes."""

    expr: Expr
    axes: tuple[Dim, ...] = ()


Value = Known | Formula


def renamed(value: Value, names: dict[Dim, Dim]) -> Value:
    """A value along axes of other names."""
    axes = tuple(names.get(a, a) for a in value.axes)
    if isinstance(value, Formula):
        return Formula(substitute(value.expr, dict(names)), axes)
    expr = None if value.expr is None else substitute(value.expr, dict(names))
    return replace(value, grid=value.grid.renamed(names), axes=axes, expr=expr)


def side_by_side(values: Sequence[Value]) -> tuple[tuple[Value, ...], tuple[Dim, ...]] | None:
    """Values position by position: vectors along the same axes, with numbers beside them.

    None where lengths differ: vectors of two shapes have no positions in common.
    """
    longest = max((v.axes for v in values), key=len, default=())
    found = []
    for v in values:
        if v.axes and len(v.axes) != len(longest):
            return None
        found.append(renamed(v, dict(zip(v.axes, longest, strict=True))) if v.axes else v)
    return tuple(found), longest


def applied(
    numeric: Callable[..., Any],
    symbolic: Callable[..., Expr],
    values: Sequence[Value],
    axes: tuple[Dim, ...],
    expr_of: Callable[[Value], Expr],
    text: str,
) -> Value:
    """A function of numbers, of values that are side by side."""
    known = [v for v in values if isinstance(v, Known)]
    if len(known) < len(values):
        return Formula(symbolic(*map(expr_of, values)), axes)
    grid = combined(numeric, *(v.grid for v in known))
    plain = all(v.expr is not None or not v.grid.dims for v in known)
    expr = symbolic(*map(expr_of, values)) if plain and grid.dims else None
    expr = None if expr is sp.nan else expr
    return Known(grid, axes, text, expr)
