"""The values of a program's expressions: known numbers, or formulas in random variables.

A value may be a vector or a matrix, with axes beside the dims of the loops. The length may differ
among the positions of loops (``x[1:n[i]]``): the value is then as long as the longest vector, and
carries the length at each position. Beyond the end the last entry is repeated, so that no further
elements are read there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from gibbsppl.algebra.expressions import Dim, Expr, substitute
from gibbsppl.bugs.grids import Array, Grid, combined

# The number of positions along each axis, where it differs.
Lengths = Mapping[Dim, Grid]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Numbers, all or some of them known; ``text`` is the program's spelling.

    ``expr`` reads the numbers from a data array, if such an array holds them.
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
    """The lengths of all values, by axis (no two values share an axis)."""
    return {a: g for v in values for a, g in v.lengths.items()}


def length_mask(lengths: Lengths, sizes: Mapping[Dim, int]) -> Grid | None:
    """1 at positions within the vectors' lengths, 0 beyond; None without lengths."""
    steps = {a: Grid((a,), np.arange(sizes[a])) for a in lengths}
    within = [combined(np.greater, length, steps[a]) for a, length in lengths.items()]
    return combined(_all_of, *within) if within else None


def _all_of(*conditions: Array) -> Array:
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*conditions)) * 1)


def are_as_long(one: Grid | None, other: Grid | None) -> bool:
    """Whether two lengths are the same at all positions; None is the whole of an axis."""
    if one is None or other is None:
        return one is other
    return bool(combined(np.equal, one, other).values.all())


def side_by_side(values: Sequence[Value]) -> tuple[tuple[Value, ...], Value] | None:
    """Values aligned position by position: vectors along the same axes, and numbers.

    Then a value with these axes and lengths. None where lengths differ: vectors of two shapes have
    no positions in common.
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


def map_values(
    numeric: Callable[..., ArrayLike],
    symbolic: Callable[..., Expr],
    values: Sequence[Value],
    like: Value,
    expr_of: Callable[[Value], Expr],
    text: str,
) -> Value:
    """A function of numbers, applied to aligned values; the result has the axes of ``like``."""
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
