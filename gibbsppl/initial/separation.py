"""Directions in which a posterior does not fall: its integral is then infinite.

Comes in: a graph, data, a state. Goes out: a `Direction`, or nothing. A log density that is a sum
of concave functions has an infinite integral exactly if there is a direction other than zero in
which none of its terms falls. Separated outcomes of a logistic regression, outcomes that are all
alike, a column that is seen with zero counts alone and a design without full rank are cases of it
(A. Albert and J. A. Anderson 1984, Biometrika 71; by linear programming: K. Konis 2007, thesis,
Oxford).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import mentions
from gibbsppl.derive.designs import MOST_ENTRIES, Columns, columns_of
from gibbsppl.initial.recession import Sides, sides_of
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools

EPSILON = float(np.finfo(float).eps)

# How far below zero the linear programme lets a row be (the default of HiGHS).
FEASIBLE = 1e-7

# So many elements of a direction are named in a message.
MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction as elements with shares; ``level``: every term is constant along it."""

    elements: tuple[str, ...]
    shares: tuple[float, ...]
    arrays: tuple[str, ...]
    level: bool

    def __str__(self) -> str:
        shown = list(zip(self.elements, self.shares, strict=True))[:MOST_NAMED]
        text = "".join(
            f" {'-' if share < 0 else '+'} {_multiple(abs(share))}{element}"
            for element, share in shown
        )
        more = len(self.elements) - len(shown)
        return text.removeprefix(" + ").removeprefix(" ") + (f" + {more} more" if more else "")


def _multiple(share: float) -> str:
    text = f"{share:.3g}"
    return "" if text == "1" else f"{text} "


def direction_of(graph: Graph, values: Values) -> Direction | None:
    """A direction in which no term of the log density falls; None if there is or is found none."""
    for arrays, sides in moving(graph, values):
        found = recession(sides)
        if found is not None:
            return _named(*found, columns_of(graph, arrays))
    return None


def moving(graph: Graph, values: Values) -> Iterator[tuple[tuple[str, ...], Sides]]:
    """The groups of arrays to search for directions: flat arrays, and arrays with priors on these.

    The arrays of a group enter linearly together, given all other variables. The prior of an array
    outside of all groups falls in all directions.
    """
    waiting = tuple(_flat(graph))
    while waiting:
        found: tuple[str, ...] = ()
        sides = None
        for name in waiting:
            found, sides = _with(graph, values, found, name, sides)
        for name in dict.fromkeys(s.target.array.name for s in graph.latent if _is_real(graph, s)):
            own = [s.log_density for s in graph.statements_of(name)]
            if name not in found and any(mentions(d, found) for d in own):
                found, sides = _with(graph, values, found, name, sides)
        if sides is None:
            return
        yield found, sides
        waiting = tuple(n for n in waiting if n not in found)


def _with(
    graph: Graph, values: Values, found: tuple[str, ...], name: str, sides: Sides | None
) -> tuple[tuple[str, ...], Sides | None]:
    """The arrays and their sides, with another array if all can be read together."""
    more = sides_of(graph, (*found, name), values)
    return (found, sides) if more is None else ((*found, name), more)


def _flat(graph: Graph) -> Iterator[str]:
    """The real arrays with an element whose prior is constant."""
    names = (s.target.array.name for s in graph.latent if _is_real(graph, s) and is_flat(s))
    yield from dict.fromkeys(names)


def is_flat(statement: Statement) -> bool:
    """Whether a prior is constant on a line or a half line, so that it has no integral."""
    support = statement.support
    is_constant = not mentions(statement.log_density, (statement.target.array.name,))
    return is_constant and not {support.lower, support.upper}.isdisjoint((-sp.oo, sp.oo))


def _is_real(graph: Graph, statement: Statement) -> bool:
    """Whether all of an array is latent and moves freely, but for bounds that are given."""
    name = statement.target.array.name
    own = graph.statements_of(name)
    filled = all(s.known == 0 and s.support.kind in ("real", "vector") for s in own)
    fixed = any(c.target.array.name == name for c in graph.constants)
    latent = [s.target.array.name for s in graph.latent]
    bounds = [sp.sympify(b) for s in own for b in (s.support.lower, s.support.upper)]
    return filled and not fixed and not any(mentions(b, latent) for b in bounds)


def recession(sides: Sides) -> tuple[Floats, bool] | None:
    """A direction that keeps to the sides, not zero, and whether no term changes along it."""
    kept = _free_columns(sides)
    rows = [m[:, kept] for m in (sides.equal, sides.least, sides.inside)]
    equal, *one_sided = (m[np.diff(m.indptr) > 0] for m in rows)
    if sum(m.shape[0] for m in (equal, *one_sided)) * kept.size > MOST_ENTRIES or not kept.size:
        return None
    changes = one_sided[0].shape[0]
    equal, least = equal.toarray(), np.concatenate([m.toarray() for m in one_sided])
    scale = abs(np.concatenate([equal, least])).max(axis=0, initial=0)
    scale = np.where(scale > 0, scale, 1.0)
    equal, least = equal / scale, least / scale
    found = _direction(null_space(equal), least)
    if found is None:
        return None
    level = bool((_is_kept(least, found) & _is_kept(-least, found))[:changes].all())
    direction = np.zeros(sides.equal.shape[1])
    direction[kept] = np.where(abs(found) > EPSILON * len(found) * abs(found).max(), found, 0.0)
    direction[kept] /= scale
    return direction, level


def _direction(basis: Floats, least: Floats) -> Floats | None:
    """A direction spanned by a basis on which ``least`` is zero, or else at least zero."""
    if not basis.shape[1]:
        return None
    inner = null_space(least @ basis)
    return basis @ inner[:, 0] if inner.shape[1] else _one_sided(least, basis)


def _free_columns(sides: Sides) -> NDArray[np.intp]:
    """The columns that no row holds at zero alone (the prior of one element, say)."""
    kept = np.arange(sides.equal.shape[1])
    while kept.size:
        rows = sides.equal[:, kept]
        alone = np.diff(rows.indptr) == 1
        fixed = np.unique(rows[alone].indices)
        if not fixed.size:
            return kept
        kept = np.delete(kept, fixed)
    return kept


def null_space(rows: Floats) -> Floats:
    """A basis of the null space of the rows: columns of an element and its compensation.

    The rank is that of a triangular factor with pivots, to the rounding of the factorisation
    (G. H. Golub and C. F. Van Loan 2013, Matrix Computations, section 5.4).

    >>> null_space(np.array([[1.0, 2.0, 3.0]]))[:, 0]
    array([ 0. ,  1. , -0.66666667])
    """
    width = rows.shape[1]
    if not rows.shape[0] or not width:
        return np.eye(width)
    # (Pivots are slow: they are chosen in a triangle with the same columns but for a rotation.)
    triangle = np.linalg.qr(rows, mode="r")
    triangle, order = scipy.linalg.qr(triangle, mode="r", pivoting=True, check_finite=False)
    size = abs(np.diag(triangle))
    rank = int((size > max(rows.shape) * EPSILON * size[0]).sum())
    found = np.zeros((width, width - rank))
    left, right = triangle[:rank, :rank], triangle[:rank, rank:]
    found[order[:rank]] = -scipy.linalg.solve_triangular(left, right)
    found[order[rank:]] = np.eye(width - rank)
    return found


def _one_sided(least: Floats, basis: Floats) -> Floats | None:
    """A direction on which ``least`` is at least zero, where no direction makes all of it zero.

    Rows are added until none is violated: with few of them the answer is mostly none.
    """
    rows = least @ basis
    rows = rows / np.maximum(abs(rows).max(axis=1, keepdims=True), np.finfo(float).tiny)
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[:: max(1, len(rows) // (10 * rows.shape[1]))] = True
    inner = np.eye(rows.shape[1])
    while True:
        some = rows[chosen]
        # (The rank of some rows grows with them: once it is full it need not be found again.)
        inner = null_space(some) if inner.shape[1] else inner
        found = inner[:, 0] if inner.shape[1] else _longest(some)
        if found is None:
            return None
        wrong = ~_is_kept(rows, found) & ~chosen
        if not wrong.any():
            break
        worst = np.argsort(np.where(wrong, rows @ found, np.inf))
        chosen[worst[: min(int(wrong.sum()), int(chosen.sum()))]] = True
    direction = basis @ found
    if not _is_kept(least, direction).all():
        direction = basis @ _polished(rows, found)
    moves = abs(direction).max() > 0
    return direction if moves and _is_kept(least, direction).all() else None


def _is_kept(rows: Floats, direction: Floats) -> Bools:
    """Which rows are at least zero, to the rounding of their sums."""
    margin = EPSILON * len(direction) * (abs(rows) @ abs(direction))
    return rows @ direction >= -margin


def _longest(rows: Floats) -> Floats | None:
    """The direction in a box that is furthest above zero on the rows; None if only zero is."""
    from scipy.optimize import linprog  # noqa: PLC0415  (it takes long to import)

    solved = linprog(
        -rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs"
    )
    # (each direction can be made longer until it meets the box.)
    return solved.x if solved.success and abs(solved.x).max() > 0.5 else None


def _polished(rows: Floats, direction: Floats) -> Floats:
    """The direction made exactly zero on the rows on which the solver has it zero."""
    basis = null_space(rows[abs(rows @ direction) <= FEASIBLE])
    return basis @ np.linalg.lstsq(basis, direction, rcond=None)[0]


def _named(direction: Floats, level: bool, columns: Columns) -> Direction:
    """The direction with its elements, the smallest share being one."""
    places = np.flatnonzero(direction)
    shares = direction[places] / abs(direction[places]).min()
    if level and shares[0] < 0:
        shares = -shares
    elements = tuple(columns.element(int(p)) for p in places)
    arrays = tuple(dict.fromkeys(e.split("[")[0] for e in elements))
    return Direction(elements, tuple(map(float, shares)), arrays, level)
