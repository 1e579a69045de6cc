"""What an expression of a program is: numbers that are known, or a formula of random variables.

A value may be a vector or a matrix: then it has axes of its own, dims beside those of the loops.
Its length may differ among the positions of loops (``x[1:n[i]]``): it is then as long as the
longest one, and says how long it is where. What is beyond its end is its last entry again, so that
nothing is read there that is not read inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, substitute
from gibbsppl.bugs.grids import Grid, combined

# The number of positions along each axis, where it differs.
Lengths = Mapping[Dim, Grid]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Numbers, where all or some are known; ``text`` is how the program says them.

    ``expr`` reads them from an array of the data, if they are what such an array holds.
    """

    grid: Grid
    axes: tuple[Dim, ...] = ()
    text: str = ""
    expr: Expr | None = None
    lengths: Lengths = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether every number is known."""
        return self.grid.is_known


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """An expression in random variables; its dims are positions of loops and of its axes."""

    expr: Expr
    axes: tuple[Dim, ...] = ()
    lengths: Lengths = field(default_factory=dict)


Value = Known | Formula


def renamed(value: Value, names: dict[Dim, Dim]) -> Value:
    """A value along axes of other names."""
    axes = tuple(names.get(a, a) for a in value.axes)
    lengths = {names.get(a, a): g.renamed(names) for a, g in value.lengths.items()}
    if isinstance(value, Formula):
        return Formula(substitute(value.expr, dict(names)), axes, lengths)
    expr = None if value.expr is None else substitute(value.expr, dict(names))
    grid = value.grid.renamed(names)
    return replace(value, grid=grid, axes=axes, expr=expr, lengths=lengths)


def lengths_of(values: Sequence[Value]) -> dict[Dim, Grid]:
    """The lengths of all, each of which has axes of its own."""
    return {a: g for v in values for a, g in v.lengths.items()}


def inside(lengths: Lengths, sizes: Mapping[Dim, int]) -> Grid | None:
    """1 at the positions that vectors have, 0 beyond their ends; None if they are all as long."""
    steps = {a: Grid((a,), np.arange(sizes[a])) for a in lengths}
    within = [combined(np.greater, length, steps[a]) for a, length in lengths.items()]
    return combined(_all_of, *within) if within else None


def _all_of(*conditions: Any) -> Any:
    return np.logical_and.reduce(np.broadcast_arrays(*conditions)) * 1


def are_as_long(one: Grid | None, other: Grid | None) -> bool:
    """Whether two lengths are the same at all positions; None is the whole of an axis."""
    if one is None or other is None:
        return one is other
    return bool(combined(np.equal, one, other).values.all())


def side_by_side(values: Sequence[Value]) -> tuple[tuple[Value, ...], Value] | None:
    """Values position by position: vectors along the same axes, with numbers beside them.

    With them comes one that has their axes and lengths. None where lengths differ: vectors of two
    shapes have no positions in common.
    """
    longest = max(values, key=lambda v: len(v.axes), default=Known(Grid.of(0)))
    found = []
    for v in values:
        if v.axes and len(v.axes) != len(longest.axes):
            return None
        along = renamed(v, dict(zip(v.axes, longest.axes, strict=True))) if v.axes else v
        if v.axes and not all(
            are_as_long(along.lengths.get(a), longest.lengths.get(a)) for a in longest.axes
        ):
            return None
        found.append(along)
    return tuple(found), longest


def applied(
    numeric: Callable[..., Any],
    symbolic: Callable[..., Expr],
    values: Sequence[Value],
    like: Value,
    expr_of: Callable[[Value], Expr],
    text: str,
) -> Value:
    """A function of numbers, of values that are side by side; its axes are those of one of them."""
    known = [v for v in values if isinstance(v, Known)]
    if len(known) < len(values):
        return Formula(symbolic(*map(expr_of, values)), like.axes, like.lengths)
    grid = combined(numeric, *(v.grid for v in known))
    # (where a number is not finite, the functions of the model need not mean what BUGS means)
    plain = all(v.expr is not None or not v.grid.dims for v in known) and all(
        np.isfinite(g.values).all() for g in (grid, *(v.grid for v in known))
    )
    expr = symbolic(*map(expr_of, values)) if plain and grid.dims else None
    expr = None if expr is sp.nan else expr
    return Known(grid, like.axes, text, expr, like.lengths)
