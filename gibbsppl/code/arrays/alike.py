"""Sums over rows of which many are alike: over those that differ, each as often as it occurs.

``sum(n: loggamma(r + y[n]))`` of ten thousand counts, none above 50, calls 51 functions, times how
many counts there are of each. Comes in: a `Sweep` and its data. Goes out: the sweep with such sums,
where at most half of the rows differ and the sum calls a dear function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    mapped,
    product,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Statement, with_expressions
from gibbsppl.code.arrays.sweeps import Array, Sweep, Table, names_in, spans_in
from gibbsppl.model.evaluation import Values
from gibbsppl.runtime.position_tables import number_that_differ

# The largest share of rows that may differ.
LARGEST_SHARE = 0.5


def of_different_rows(sweep: Sweep, data: Values) -> Sweep:
    """The sweep with sums over rows that differ."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    work = _Rows(names, sweep.arrays, data)
    done = replace(
        sweep,
        statements=tuple(map(work.of, sweep.statements)),
        monitors=tuple(map(work.of, sweep.monitors)),
    )
    return replace(
        done,
        arrays={**sweep.arrays, **work.made},
        tables=(*sweep.tables, *(t for t in work.known.values() if t is not None)),
        sizes={**sweep.sizes, **work.counted},
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """The facts of arrays, and the rows that have been found."""

    names: Names
    arrays: Mapping[str, Array]
    data: Values
    known: dict[tuple[object, ...], Table | None] = field(default_factory=dict)
    made: dict[str, Array] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)

    def of(self, s: Statement) -> Statement:
        """A statement with sums over rows that differ."""
        return with_expressions(s, lambda e: mapped(e, self.summed))

    def summed(self, e: Expr) -> Expr | None:
        """A sum over rows that differ; None for others."""
        if not isinstance(e, Reduce) or e.by != "sum" or not all(s.is_whole for s in e.spans):
            return None
        if not is_dear(e.body) or all(self.is_data(a) for a in e.body.arrays):
            return None
        dims = tuple(s.dim for s in e.spans)
        found = set(self.read(e.body, frozenset(dims)))
        read = sorted((r for r in found if r is not None), key=str)
        if None in found or {d for r in read for d in r.free} != set(dims):
            return None
        table = self.different(read, dims)
        if table is None:
            return None
        times, *values = table.names
        (dim,) = self.made[times].dims
        here = (Position(dim),)
        at_row = {r: Element(v, here) for r, v in zip(read, values, strict=True)}
        body = mapped(e.body, lambda x: at_row.get(x) if isinstance(x, Element) else None)
        return Reduce(product([Element(times, here), body]), (Span.whole(dim),))

    def is_data(self, array: str) -> bool:
        """Whether an array is data."""
        return array in self.data and self.arrays[array].kind == "data"

    def read(self, e: Expr, dims: frozenset[str]) -> Iterator[Element | None]:
        """The elements of data that are read along dims; None where anything else varies."""
        if not e.free & dims:
            return
        if isinstance(e, Position):
            yield None
        elif isinstance(e, Element) and self.is_along(e, dims):
            yield e
        else:
            for part in e.parts:
                yield from self.read(part, dims)

    def is_along(self, e: Element, dims: frozenset[str]) -> bool:
        """Whether an element of data is read at positions along dims alone."""
        own = [i.dim for i in e.indices if isinstance(i, Position) and not i.shift]
        is_own = len(set(own)) == len(e.indices) and dims.issuperset(own)
        return is_own and e.array in self.arrays and self.is_data(e.array)

    def different(self, read: Sequence[Element], dims: tuple[str, ...]) -> Table | None:
        """The rows of some elements of data that differ; None where these are too many."""
        axes = tuple(tuple(dims.index(d) for d in _dims(r)) for r in read)
        arguments = (axes, *(f"@{r.array}" for r in read))
        if arguments not in self.known:
            arrays = [np.asarray(self.data[r.array]) for r in read]
            count = number_that_differ(axes, arrays, LARGEST_SHARE)
            self.known[arguments] = None if count is None else self.table(read, count, arguments)
        return self.known[arguments]

    def table(self, read: Sequence[Element], count: int, arguments: tuple[object, ...]) -> Table:
        """The table of the rows that differ: how often each occurs, and their data."""
        stem = "_".join(dict.fromkeys(r.array for r in read))
        dim, times = self.names.fresh(f"{stem}_different"), self.names.fresh(f"{stem}_times")
        values = [self.names.fresh(f"{r.array}_different") for r in read]
        self.counted[dim] = count
        self.made[times] = Array((dim,), "table")
        for name, r in zip(values, read, strict=True):
            own = self.arrays[r.array]
            self.made[name] = Array((dim,), "table", own.type, of=own.of)
        return Table((times, *values), "rows_alike", arguments)


def _dims(e: Element) -> list[str]:
    """The dims at whose positions an element is read."""
    return [i.dim for i in e.indices if isinstance(i, Position)]
