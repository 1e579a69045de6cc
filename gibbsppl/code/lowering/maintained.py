"""Maintained arrays, sums over the state: computed before they are read, shared while they hold.

A scan keeps those that it changes up to date. What whole numbers were added to and taken off has
its digits still: draws after the scan read it. Others are computed anew.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from gibbsppl.code.arrays.accesses import reads
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.lowering.parameters import parameter
from gibbsppl.code.lowering.stored import Stored
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.model.density import scattered
from gibbsppl.model.graph_views import of_data_alone
from gibbsppl.runtime.types import Numbers
from gibbsppl.schedule.parameters import NaturalParameter

# Numbers held while an array of data alone is summed, as a multiple of the largest array of data.
MOST_OF_DATA = 8


@contextmanager
def with_maintained(
    w: Workshop, kept: Collection[NaturalParameter], last: Mapping[str, int] | None = None
) -> Iterator[dict[str, Stored]]:
    """A context whose expressions read maintained arrays; ``last`` are axes to be stored last.

    Those of data alone are read from where the program in NumPy has them.
    """
    before = w.read
    for p in kept:
        found = _of_data(w, p) or w.maintained.get(p.array)
        if found is None or found.parameter != p or not found.is_current(w.statements):
            found = _computed(w, p, (last or {}).get(p.array))
        w.read = {**w.read, p.array: found}
        w.maintained[p.array] = found
    yield {p.array: w.read[p.array] for p in kept}
    w.read = before


def _of_data(w: Workshop, p: NaturalParameter) -> Stored | None:
    """An array of data alone, as a table of what the program in NumPy has; None for others."""
    found = _from_data(w, p.array)
    if found is None:
        return None
    key, stems, dims = ("maintained", p.array), (p.array,), (p.axes,)
    (name,) = w.computed(key, stems, dims, lambda: (found,))
    return Stored(p, name, tuple(range(len(p.axes))), frozenset(), w.statements, 0)


def _from_data(w: Workshop, name: str) -> Numbers | None:
    """The value of an array of data alone; None for others.

    It is computed here where that takes memory in proportion to the data. Otherwise the program in
    NumPy has it, which contracts.
    """
    graphs = (g for g in (w.schedule.graph, *w.schedule.graphs) if name in of_data_alone(g))
    graph = next(graphs, None)
    if graph is None:
        return None
    every = {a.name: a for m in graph.marginals for a in m.arrays if a.name in of_data_alone(graph)}
    sizes = [math.prod(map(len, s.over)) for a in every.values() for s in a.scatters]
    largest = max((np.size(a) for a in w.data.values()), default=1)  # (there may be no data)
    if max(sizes, default=0) <= MOST_OF_DATA * largest:
        return scattered(tuple(every.values()), w.data, graph.sizes)[name]
    of_steps = (known for known in w.constants.values() if isinstance(known, dict))
    return next((known[name] for known in of_steps if name in known), None)


def _computed(w: Workshop, p: NaturalParameter, last: int | None) -> Stored:
    """An array computed anew."""
    axes = range(len(p.axes))
    order = tuple(a for a in axes if a != last) + (() if last is None else (last,))
    name, first = w.fresh(p.array), len(w.statements)
    value = parameter(w, p, f"{name}_sum")
    factors = ", ".join(dict.fromkeys(c.factor for c in p.contributions))
    w.add(Let(name, tuple(w.span(p.axes[a]) for a in order), value, factors))
    own = reads(w.statements[first:])
    return Stored(p, name, order, own, w.statements, len(w.statements))


def kept_up(w: Workshop, names: Collection[str], whole: Collection[str]) -> None:
    """Note which arrays a scan has kept up to date, and which of these by whole numbers."""
    inexact = {w.maintained[n].name for n in names if n not in whole}
    for n in names:
        found = w.maintained[n]
        if n in whole and not found.reads & inexact:
            w.maintained[n] = replace(found, since=len(w.statements))
        else:
            del w.maintained[n]
