r"""Sums over the pieces of a curve of data, by a search for the piece in which a number is.

``sum(k: w[k] * minimum(maximum(x - a[k], 0), l[k]))``, as a piecewise linear function has it, goes
through all pieces for each ``x``. Where ``a`` and ``l`` are data, and no piece ends after the next
one begins, all are passed but one at most, in which ``x`` is: a search finds it, and what those
before it add up to is in a table. Comes in: a `Sweep`, its data and the sizes of its dims. Goes
out: the sweep with such sums of one term; two roundings apart, the same numbers.

>>> from gibbsppl.code.arrays.sweeps import Array
>>> a, x = Element("a", (Position("k"),)), Element("x")
>>> rise = Apply("maximum", (total([x, negative(a)]), ZERO))
>>> piece = Apply("minimum", (rise, Number(0.5)))
>>> known = {"a": Array(("k",), "data"), "x": Array((), "state")}
>>> sweep = Sweep("m", known, (Add("s", (), piece, (Span.whole("k"),)),))
>>> done = searched(sweep, {"a": np.arange(20.0)}, {"k": 20})
>>> print(*done.statements, sep="\n")
let piece = 0
call piece = last_at_most([pieces] starts[pieces], x)
add s += passed[piece] + slopes[piece] * minimum(maximum(x - starts[piece], 0), lengths[piece])
>>> searched(sweep, {"a": np.arange(20.0) / 10}, {"k": 20}) == sweep  # (they overlap)
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gibbsppl.code.arrays.evaluation import computed, positions_of
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Size,
    Span,
    is_call,
    negative,
    product,
    total,
    walk,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import (
    Add,
    Argument,
    Draw,
    Let,
    Loop,
    Statement,
    replaced,
)
from gibbsppl.code.arrays.sweeps import Array, Sweep, Table, every, made_by, names_in, spans_in
from gibbsppl.code.arrays.terms import Quotient, quotient, renumbered, terms_of
from gibbsppl.model.evaluation import Values

# As many pieces make a search worth while: it takes 0.8 of the time of 4, 0.6 of 8, 0.3 of 24.
FEWEST = 8


def searched(sweep: Sweep, data: Values, sizes: Mapping[str, int]) -> Sweep:
    """The sweep in which one piece is searched for."""
    work = _Curves(sweep, data, {**sizes, **sweep.sizes})
    statements, monitors = work.of(sweep.statements), work.of(sweep.monitors)
    if not work.known:
        return sweep
    return replace(
        sweep,
        statements=statements,
        monitors=monitors,
        arrays={**sweep.arrays, **work.arrays},
        tables=(*sweep.tables, *work.tables),
        sizes={**sweep.sizes, **work.own_sizes},
    )


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum of pieces: ``of * slope * minimum(maximum(point - start, 0), length)``, by position.

    ``start``, ``length`` and ``slope`` are of each piece, the other two of all.
    """

    of: Quotient
    slope: Quotient
    point: Expr
    start: Expr
    length: Expr

    @property
    def of_pieces(self) -> tuple[Expr, ...]:
        """The start, the length and the slope of each piece."""
        return self.start, self.length, self.slope.value


@dataclass(frozen=True, slots=True)
class _Tables:
    """The names of tables of pieces, and the dim along which they are."""

    dim: str
    starts: str
    lengths: str
    slopes: str
    passed: str


class _Curves:
    """The work on a sweep: its data, and the tables that are made, by what they are made of."""

    def __init__(self, sweep: Sweep, data: Values, sizes: Mapping[str, int]) -> None:
        whole = (*sweep.prepare, *sweep.every)
        self.names = Names({*sweep.arrays, *names_in(whole), *spans_in(whole), *sizes})
        self.lanes, self.sizes = sweep.lanes, sizes
        given = (n for n, a in sweep.arrays.items() if a.kind == "data" and n in data)
        self.data: dict[str, Any] = {n: np.asarray(data[n]) for n in given}
        makers = Counter(n for s in every(sweep.prepare) for n in made_by(s))
        lets = (s for s in sweep.prepare if isinstance(s, Let) and not s.is_empty)
        self.prepared = {s.name: s for s in lets if makers[s.name] == 1}
        self.known = dict[object, _Tables | None]()
        self.arrays, self.own_sizes = dict[str, Array](), dict[str, int]()
        self.tables = list[Table]()

    def of(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        """Statements, in which one piece is searched for."""
        return replaced(statements, lambda s: self.added(s) if isinstance(s, Add) else [s])

    def added(self, s: Add) -> list[Statement]:
        """An addition; of one piece instead of all, where these lie one after the other."""
        if s.by == "sum" and self.lanes.isdisjoint(x.dim for x in s.over):
            for span in s.over:
                found = _sum_of_pieces(s.value, span.dim)
                ends = (e for other in s.over if other != span for e in other.ends)
                if found is not None and not any(span.dim in e.free for e in (*s.indices, *ends)):
                    tables = self.tables_of(found, span)
                    if tables is not None:
                        return self.of_one(s, span, found, tables)
        return [s]

    def of_one(self, s: Add, span: Span, found: _Sum, tables: _Tables) -> list[Statement]:
        """An addition of the piece in which a number is, and of what those before it add up to."""
        place = Element(self.names.fresh("piece"))
        before: list[Statement] = []
        x = found.point
        if not isinstance(x, Element | Number):
            x = Element(self.names.fresh("point"))
            before.append(Let(x.array, (), found.point, step=s.step))
        starts = Element(tables.starts, (Position(tables.dim),))
        arguments = (Argument(starts, (Span.whole(tables.dim),), as_is=True), Argument(x))
        search = Draw((place,), "last_at_most", arguments, is_random=False, step=s.step)
        before += [Let(place.array, (), ZERO, type="int", step=s.step), search]
        of = {n: Element(n, (place,)) for n in (tables.starts, tables.lengths, tables.slopes)}
        above = Apply("maximum", (total([x, negative(of[tables.starts])]), ZERO))
        inside = Apply("minimum", (above, of[tables.lengths]))
        passed = Element(tables.passed, (place,))
        value = total([passed, product([of[tables.slopes], inside])])
        whole = replace(found.of, above=(*found.of.above, value)).value
        rest = tuple(x for x in s.over if x != span)
        done = replace(s, value=whole, over=())
        return [Loop(rest, (*before, done))] if rest else [*before, done]

    def tables_of(self, found: _Sum, span: Span) -> _Tables | None:
        """The tables of pieces; None where some overlap, or are no data."""
        key = (*(renumbered(e, [span]) for e in found.of_pieces), span.ends)
        if key not in self.known:
            values = self.values(found, span)
            self.known[key] = None if values is None else self.made(*values)
        return self.known[key]

    def values(self, found: _Sum, span: Span) -> tuple[Any, Any, Any, Any] | None:
        """Starts, lengths, slopes, and what the pieces before each add up to."""
        if not all(self.is_data(e, span.dim) for e in found.of_pieces):
            return None
        places = positions_of(span, self.sizes)
        if places is None or len(places) < FEWEST:
            return None
        data = self.data | computed(self.needed(found.of_pieces), self.data, self.sizes)
        shown = (computed([Let("~", (span,), e)], data, self.sizes)["~"] for e in found.of_pieces)
        starts, lengths, slopes = (values[places.start : places.stop] for values in shown)
        with np.errstate(all="ignore"):
            passed = np.cumsum([0.0, *(lengths * slopes)])[:-1]
            is_in_order = (np.diff(starts) >= lengths[:-1]).all() and (lengths >= 0).all()
        tables = (starts, lengths, slopes, passed)
        return tables if is_in_order and all(np.isfinite(v).all() for v in tables) else None

    def needed(self, exprs: Iterable[Expr]) -> list[Let]:
        """The arrays computed beforehand of data, as far as expressions read them."""
        names = frozenset[str]().union(*(e.arrays for e in exprs))
        return [self.prepared[n] for n in sorted(names & self.prepared.keys())]

    def is_data(self, e: Expr, dim: str) -> bool:
        """Whether an expression is of data alone, and of the positions of one dim."""
        return e.free <= {dim} and all(self.is_given(n) for n in e.arrays) and _is_plain(e)

    def is_given(self, name: str) -> bool:
        """Whether an array is data, or computed of data beforehand."""
        made = self.prepared.get(name)
        of_data = made is not None and _is_plain(made.value) and made.value.arrays <= {*self.data}
        return of_data or name in self.data

    def made(self, starts: Any, lengths: Any, slopes: Any, passed: Any) -> _Tables:
        """New tables."""
        dim = self.names.fresh("pieces")
        self.own_sizes[dim] = len(starts)
        values = {"starts": starts, "lengths": lengths, "slopes": slopes, "passed": passed}
        names = {stem: self.names.fresh(stem) for stem in values}
        for stem, name in names.items():
            self.arrays[name] = Array((dim,), "table")
            self.tables.append(Table((name,), "as_given", (values[stem],)))
        return _Tables(dim, **names)


def _sum_of_pieces(e: Expr, dim: str) -> _Sum | None:
    """The sum over a dim of pieces of a curve; None where an expression is none."""
    whole = _unweighted(quotient(e), dim)
    above, below = ([f for f in own if dim in f.free] for own in (whole.above, whole.below))
    common = replace(
        whole,
        above=tuple(f for f in whole.above if dim not in f.free),
        below=tuple(f for f in whole.below if dim not in f.free),
    )
    for n, f in enumerate(above):
        for rise, length in _clipped(f):
            terms = terms_of(rise)
            point = [t for t in terms if dim not in t.free]
            start = [negative(t) for t in terms if dim in t.free]
            if point and start:
                slope = Quotient(1, (*above[:n], *above[n + 1 :]), tuple(below))
                return _Sum(common, slope, total(point), total(start), length)
    return None


def _unweighted(found: Quotient, dim: str) -> Quotient:
    """A product in which weights by position are factors.

    Not where what is weighted has a factor that may be infinite: a weight of zero makes it zero.
    """
    for n, f in enumerate(found.above):
        inside = quotient(product(list(f.parts))) if is_call(f, "weighted") else None
        if inside is not None and all(dim in x.free for x in (*inside.above, *inside.below)):
            above = (*found.above[:n], *inside.above, *found.above[n + 1 :])
            below = (*found.below, *inside.below)
            return _unweighted(Quotient(found.sign * inside.sign, above, below), dim)
    return found


def _clipped(e: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Arguments of a clip to 0 and an upper limit, each with the limit."""
    for outer, inner in (("minimum", "maximum"), ("maximum", "minimum")):
        if not is_call(e, outer):
            continue
        for one, other in (e.parts, e.parts[::-1]):
            if is_call(one, inner):
                for rise, limit in (one.parts, one.parts[::-1]):
                    zero, length = (limit, other) if outer == "minimum" else (other, limit)
                    if zero == ZERO:
                        yield rise, length


def _is_plain(e: Expr) -> bool:
    """Whether an expression has no sums inside."""
    return all(isinstance(x, Number | Size | Position | Element | Apply) for x in walk(e))
