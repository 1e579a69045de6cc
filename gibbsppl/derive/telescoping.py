"""Telescoping sums over data: inner terms cancel, and those at the ends are left.

``sum(loggamma(n - a[t]) - loggamma(n - b[t]), t)`` loses each pair of an a and a b that are equal,
at whatever positions: counts that are removed from a population in passes, in a loop.

Comes in: the pieces and limits of a statement, and the data. Goes out: the pieces at the positions
that are left, and of the limits by data the tightest ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Expr, dims_of, mentions, substitute
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.readings import direct_view
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.limits import Limit
from gibbsppl.pieces.split import Piece, View

Said = tuple[tuple[Piece, ...], tuple[Limit, ...]]


def telescoped(
    graph: Graph,
    statement: Statement,
    pieces: tuple[Piece, ...],
    limits: tuple[Limit, ...],
    data: Values,
) -> Said | None:
    """Pieces and limits without terms that cancel along sums over data; None if no terms do."""
    here = _Here(graph, statement, data)
    summed = [s for p in pieces if (s := here.summed(p)) is not None]
    left = [(group, found) for group in _grouped(summed) if (found := _left(here, group))]
    if not left:
        return None
    tightest, others = _tightest(here, limits)
    gone = [s.piece for group, _ in left for s in group]
    kept = tuple(p for p in pieces if p not in gone)
    ends = tuple(_piece(here, e, tightest) for _, found in left for e in found.ends)
    return (*kept, *ends), (*others, *(_limit(here, b) for b in tightest))


@dataclass(frozen=True, slots=True)
class _Along:
    """Data, written in the dims of a statement's values, and the ranges besides these."""

    value: Expr
    ranges: tuple[Range, ...]

    def at(self, j: int) -> Expr:
        """The data at one position, counted through, of the ranges besides."""
        indices = np.unravel_index(j, tuple(map(len, self.ranges))) if self.ranges else ()
        pairs = zip(self.ranges, indices, strict=True)
        at = {r.dim: sp.Integer(r.start + int(k)) for r, k in pairs}
        return substitute(self.value, at) if at else self.value


@dataclass(frozen=True, slots=True)
class _Summed:
    """A piece that is a number times a function of the target (``own``) and data added to it."""

    piece: Piece
    own: Expr
    rest: _Along

    @property
    def key(self) -> tuple[str, str]:
        """The function and the target's part of its argument: shared by pieces that may cancel."""
        return self.piece.statistic.func.__name__, str(self.own)


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """A term left of sums: the coefficient, a piece and position that have it, and the data."""

    coefficient: Expr
    of: _Summed
    position: int
    column: Floats


@dataclass(frozen=True, slots=True)
class _Ends:
    """The terms that are left of sums; none where all cancel."""

    ends: tuple[_End, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Tightest:
    """The tightest one of the limits on a side, and its values."""

    of: Limit
    value: Expr
    column: Floats


@dataclass(frozen=True, slots=True)
class _Here:
    """A statement, at whose values data are compared."""

    graph: Graph
    statement: Statement
    data: Values

    @property
    def over(self) -> tuple[Range, ...]:
        """The ranges of the statement's values."""
        return regions(self.statement, self.graph.sizes)

    @property
    def view(self) -> View:
        """The view of the elements of the statement."""
        target = self.statement.target
        return View(target.array, target.indices)

    def summed(self, piece: Piece) -> _Summed | None:
        """The piece as a multiple of a function of the target plus data; None for other pieces."""
        statistic = piece.statistic
        is_function = isinstance(statistic, sp.Function) and len(statistic.args) == 1
        if len(piece.views) != 1 or not (is_function and piece.coefficient.is_number):
            return None
        found = self._written(statistic.args[0], piece.views[0], piece.over)
        if found is None:
            return None
        terms = Add.make_args(found.value)
        own = [t for t in terms if mentions(t, {self.statement.target.array.name})]
        rest = _Along(Add(*(t for t in terms if t not in own)), found.ranges)
        is_apart = not dims_of(Add(*own)) & {r.dim for r in found.ranges}
        return _Summed(piece, Add(*own), rest) if is_apart and self._is_data(rest) else None

    def bound(self, limit: Limit) -> _Along | None:
        """The values of a limit by data."""
        found = self._written(limit.value, limit.view, limit.over)
        return found if found is not None and self._is_data(found) else None

    def columns(self, known: _Along) -> Floats:
        """Data at all values of the statement (rows) and positions besides (columns)."""
        ranges = (*self.over, *known.ranges)
        found = evaluate(known.value, ranges, self.data, self.graph.sizes)
        rows = int(np.prod([len(r) for r in self.over], dtype=int))
        # (0 is added so that there is one zero, not two)
        return np.broadcast_to(found, tuple(map(len, ranges))).reshape(rows, -1) + 0.0

    def _written(self, expr: Expr, view: View, over: tuple[Range, ...]) -> _Along | None:
        """An expression in the dims of the statement, if the view shows each value once."""
        shown = {d for i in view.indices if i is not None for d in dims_of(i)}
        besides = tuple(r for r in over if r.dim not in shown)
        own = tuple(r for r in over if r.dim in shown)
        mapping: Mapping[Expr, Expr] | None
        mapping = direct_view(view, own, self.statement, self.over)
        if mapping is None or {r.dim for r in besides} & {r.dim for r in self.over}:
            return None
        return _Along(substitute(expr, mapping), besides)

    def _is_data(self, known: _Along) -> bool:
        """Whether an expression reads nothing but data, at these positions."""
        dims = {r.dim for r in (*self.over, *known.ranges)}
        return not mentions(known.value, self.graph.random) and dims_of(known.value) <= dims


def _grouped(summed: Iterable[_Summed]) -> Iterator[list[_Summed]]:
    """The pieces that may cancel: of one function of the target, some added and some taken off."""
    for _, found in groupby(sorted(summed, key=lambda s: s.key), key=lambda s: s.key):
        group = list(found)
        signs = {float(s.piece.coefficient) > 0 for s in group}
        if len(signs) > 1 and any(s.rest.ranges for s in group):
            yield group


def _left(here: _Here, group: list[_Summed]) -> _Ends | None:
    """The terms that do not cancel; None where they are more than the pieces are."""
    columns = [here.columns(s.rest) for s in group]
    if not all(np.isfinite(c).all() for c in columns):
        return None
    ends: dict[bytes, _End] = {}
    for s, values in zip(group, columns, strict=True):
        for j, column in enumerate(values.T):
            key = column.tobytes()
            before = ends[key].coefficient if key in ends else sp.S.Zero
            ends[key] = _End(before + s.piece.coefficient, s, j, column)
    found = tuple(e for e in ends.values() if e.coefficient != 0)
    return _Ends(found) if len(found) <= len(group) else None


def _tightest(here: _Here, limits: tuple[Limit, ...]) -> tuple[list[_Tightest], list[Limit]]:
    """The tightest of the limits by data on each side, and the limits that it does not replace.

    Where no limit is the tightest for all values of the statement, all are kept.
    """
    known = [(n, b, here.columns(b)) for n in limits if (b := here.bound(n)) is not None]
    found: list[_Tightest] = []
    met: list[Limit] = []
    for kind in dict.fromkeys((n.side, n.strict) for n, _, _ in known):
        own = [k for k in known if (k[0].side, k[0].strict) == kind]
        all_values = np.concatenate([values for _, _, values in own], axis=1)
        end = all_values.max(1) if kind[0] == "lower" else all_values.min(1)
        ways = ((n, b, j) for n, b, v in own for j in range(v.shape[1]) if (v[:, j] == end).all())
        limit, along, j = next(ways, (None, None, 0))
        if limit is not None and along is not None:
            found.append(_Tightest(limit, along.at(j), end))
            met += [n for n, _, _ in own]
    return found, [n for n in limits if n not in met]


def _piece(here: _Here, end: _End, bounds: Iterable[_Tightest]) -> Piece:
    """A term left of sums, as a piece, its data written by a bound of the target if possible."""
    ways = (w for b in bounds if (w := _by(end.column, b)) is not None)
    rest = next(ways, None)
    argument = end.of.own + (end.of.rest.at(end.position) if rest is None else rest)
    statistic = end.of.piece.statistic.func(argument)
    return Piece(end.of.piece.factor, statistic, (here.view,), end.coefficient, here.over)


def _by(column: Floats, bound: _Tightest) -> Expr | None:
    """Data as a bound, or minus the bound, plus an integer; None if not so everywhere."""
    for sign in (-1, 1):
        more = column - sign * bound.column
        if (more == more[0]).all() and float(more[0]).is_integer():
            return sign * bound.value + int(more[0])
    return None


def _limit(here: _Here, bound: _Tightest) -> Limit:
    """The tightest limit, one for each value of a statement."""
    whole = not bound.of.strict and bool((bound.column == np.rint(bound.column)).all())
    return replace(bound.of, value=bound.value, view=here.view, over=here.over, whole=whole)
