"""Sums over rows that read what is drawn through an index of data alone: sums over what it picks.

``sum(n: (y[n] - a[g[n]]) * x[n, j])`` is ``sum(n: y[n] * x[n, j])``, which depends on data alone,
less ``sum(k: a[k] * sum(n: [g[n] == k] * x[n, j]))``, in which data are added up by group
beforehand. Comes in: a `Sweep` and the sizes of its dims. Goes out: the sweep with such sums, where
these tables have fewer elements than there are rows to be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from gibbsppl.code.arrays.expressions import (
    ONE,
    Apply,
    Element,
    Expr,
    Position,
    Reduce,
    Size,
    Span,
    at,
    is_call,
    mapped,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Choice, Draw, Loop, Statement, with_expressions
from gibbsppl.code.arrays.sweeps import Array, Sweep, names_in, spans_in
from gibbsppl.code.arrays.terms import quotient, terms_of


def picked(sweep: Sweep, sizes: Mapping[str, int]) -> Sweep:
    """The sweep with sums over what an index picks in place of sums over rows."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    known = {**sizes, **sweep.sizes}
    copies = {d: known.get(_size_of(s), 0) for d, s in spans_in(sweep.every).items()}
    work = _Picked(names, sweep.arrays, {**copies, **known})
    return replace(
        sweep,
        statements=tuple(map(work.of, sweep.statements)),
        monitors=tuple(map(work.of, sweep.monitors)),
    )


@dataclass(frozen=True, slots=True)
class _Picked:
    """The facts of arrays and sizes."""

    names: Names
    arrays: Mapping[str, Array]
    sizes: Mapping[str, int]

    def of(self, s: Statement) -> Statement:
        """A statement; what is computed again and again inside of others stays."""
        if isinstance(s, Loop | Choice) or (isinstance(s, Draw) and s.density is not None):
            return s
        return with_expressions(s, lambda e: mapped(e, self.summed))

    def summed(self, e: Expr) -> Expr | None:
        """A sum over rows as sums over what is picked, and of data; None for others."""
        if not isinstance(e, Reduce) or e.by != "sum" or not all(s.is_whole for s in e.spans):
            return None
        if self.is_data(e):
            return None
        found = [self.term(t, e) for t in _distributed(e.body)]
        whole = [t for t in found if t is not None]
        return total(whole) if len(whole) == len(found) else None

    def term(self, body: Expr, e: Reduce) -> Expr | None:
        """One of the terms that are summed; None where it has to be summed over rows."""
        sign, factors, spans = _opened(body, e.spans, self.names, e.free)
        found = self.of_factors(factors, spans, e)
        return negative(found) if found is not None and sign < 0 else found

    def of_factors(self, factors: list[Expr], spans: tuple[Span, ...], e: Reduce) -> Expr | None:
        """The sum of a product over spans; None where it has to be over rows."""
        rows = frozenset(s.dim for s in spans)
        data = [f for f in factors if self.is_data(f)]
        others = [f for f in factors if not self.is_data(f)]
        if not others:
            return Reduce(product(factors), spans)
        indices = {i for f in others for i in self.indices(f, rows)}
        if len(indices) > 1:
            return None
        free = frozenset[str]().union(e.free, *(f.free for f in factors))
        hot, group = list[Expr](), list[Span]()
        for index in indices:
            dims = {d for f in others for d in self.dims(f, index)}
            if len(dims) > 1:
                return None
            (dim,) = dims
            here = Position(dim if dim not in free else self.names.fresh(dim))
            others = [_placed(f, index, here) for f in others]
            hot, group = [Apply("equals", (index, here))], [Span.whole(here.dim, dim)]
        outer = frozenset[str]().union(*(f.free for f in others))
        own = tuple(s for s in spans if s.dim not in outer)
        left = tuple(s for s in spans if s.dim in outer)
        if not own or not all(i.free <= {s.dim for s in own} for i in indices):
            return None
        table = Reduce(product([*hot, *data]), own)
        copies = {x.dim: self.sizes.get(_size_of(x), 0) for x in (*spans, *group)}
        if not self.is_smaller(table, data, own, copies):
            return None
        whole = product([*others, table])
        return Reduce(whole, (*left, *group)) if left or group else whole

    def indices(self, f: Expr, rows: frozenset[str]) -> Iterator[Element]:
        """The indices of data along rows at which a factor reads what is drawn."""
        if isinstance(f, Element) and f.array in self.arrays and not self.is_data(f):
            found = (i for i in f.indices if isinstance(i, Element) and i.free & rows)
            yield from (i for i in found if self.is_data(i))
            return
        for part in f.parts:
            yield from self.indices(part, rows)

    def dims(self, f: Expr, index: Element) -> Iterator[str]:
        """The dims that an expression reads at an index."""
        if isinstance(f, Element) and f.array in self.arrays:
            dims = self.arrays[f.array].dims
            yield from (d for d, i in zip(dims, f.indices, strict=True) if i == index)
        for part in f.parts:
            yield from self.dims(part, index)

    def is_data(self, e: Expr) -> bool:
        """Whether an expression reads data alone, or nothing."""
        known = (self.arrays.get(a) for a in e.arrays)
        return all(a is not None and a.kind in {"data", "table"} for a in known)

    def is_smaller(
        self, table: Reduce, data: Sequence[Expr], rows: Sequence[Span], copies: Mapping[str, int]
    ) -> bool:
        """Whether a table has fewer elements than there are rows, each with what data have."""
        sizes = {**self.sizes, **copies}
        own = frozenset(s.dim for s in rows)
        read = frozenset[str]().union(*(f.free for f in data if not is_call(f, "equals")))
        cells, each = (prod(sizes.get(d, 0) for d in dims) for dims in (table.free, read - own))
        return 0 < cells < each * prod(copies[s.dim] for s in rows)


def _size_of(span: Span) -> str:
    return span.stop.dim if isinstance(span.stop, Size) else span.dim


def _distributed(body: Expr) -> Iterable[Expr]:
    """The terms of a product with one sum of terms."""
    factors = body.parts if is_call(body, "*") else (body,)
    sums = [f for f in factors if is_call(f, "+")]
    if len(sums) != 1:
        return [body]
    rest = [f for f in factors if f is not sums[0]]
    return [product([t, *rest]) for t in terms_of(sums[0])]


def _placed(f: Expr, index: Element, here: Position) -> Expr:
    """A factor at a position of a group, in place of an index."""
    return mapped(f, lambda x: here if x == index else None)


def _opened(
    body: Expr, spans: tuple[Span, ...], names: Names, taken: frozenset[str]
) -> tuple[int, list[Expr], tuple[Span, ...]]:
    """The sign and the factors of a term, those of sums in it among them, with all spans."""
    whole = quotient(body)
    sign = whole.sign
    found: list[Expr] = [Apply("/", (ONE, b)) for b in whole.below]
    for f in whole.above:
        if not isinstance(f, Reduce) or f.by != "sum":
            found.append(f)
            continue
        dims = {x.dim for x in spans} | body.free | taken
        new = {x.dim: names.fresh(x.dim) for x in f.spans if x.dim in dims}
        inner = at(f.body, {d: Position(n) for d, n in new.items()})
        own = tuple(replace(x, dim=new.get(x.dim, x.dim)) for x in f.spans)
        inside = _opened(inner, (*spans, *own), names, taken)
        sign *= inside[0]
        found += inside[1]
        spans = inside[2]
    return sign, found, spans
