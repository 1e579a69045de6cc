"""The parts of the data that belong to some positions of a dim.

Comes in: the graph and its data, a dim (documents). Goes out: for some of its positions the data
that are of these alone: arrays along the dim, and along all dims whose positions belong to one of
it by an array of data (the words of documents). Variables along these dims are *local*, all others
*global*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.runtime.types import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The positions of a dim by the position of another that they belong to.

    ``order`` has them sorted by that; None: they are. ``ends`` are where each one's end.
    """

    order: Ints | None
    ends: Ints

    @classmethod
    def of(cls, owner: Ints, size: int) -> Members:
        """The members, from the owner of each position."""
        is_sorted = bool((owner[1:] >= owner[:-1]).all())
        order = None if is_sorted else np.argsort(owner, kind="stable")
        return cls(order, np.cumsum(np.bincount(owner, minlength=size)))

    def at(self, owners: Ints) -> Ints:
        """The positions that belong to some owners, in their order."""
        ends = self.ends[owners]
        starts = np.where(owners > 0, self.ends[owners - 1], 0)
        lengths = ends - starts
        first = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        found = np.sort(first + np.arange(lengths.sum()))
        return found if self.order is None else np.sort(self.order[found])


@dataclass(frozen=True, slots=True, eq=False)
class Minibatches:
    """The data by positions of a dim; ``local`` are the dims whose positions belong to these."""

    graph: Graph
    data: Values
    dim: Dim
    local: Mapping[Dim, Members | None]

    @classmethod
    def of(cls, graph: Graph, data: Values, name: str) -> Minibatches:
        """The data by positions of a dim."""
        dims = {d.name: d for d in graph.sizes}
        if name not in dims:
            raise RunError(
                f"batch: found {name!r}, expected a dim of {graph.name}: "
                f"{', '.join(dims)}.{did_you_mean(name, dims)}"
            )
        owners: dict[Dim, Ints | None] = {dims[name]: None}
        waiting = [dims[name]]
        while waiting:
            owner = waiting.pop()
            for v in graph.variables.values():
                if v.kind == "random" or v.of != owner or len(v.dims) != 1:
                    continue
                (own,) = v.dims
                if own not in owners:
                    place, above = np.asarray(data[v.name]), owners[owner]
                    owners[own] = place if above is None else above[place]
                    waiting.append(own)
        size = graph.sizes[dims[name]]
        members = {d: None if o is None else Members.of(o, size) for d, o in owners.items()}
        return cls(graph, data, dims[name], members)

    def places(self, chosen: Ints) -> dict[Dim, Ints]:
        """The positions of each local dim that belong to some of the dim's."""
        return {d: chosen if m is None else m.at(chosen) for d, m in self.local.items()}

    def part(self, chosen: Ints) -> tuple[dict[str, np.ndarray], dict[str, int]]:
        """The data that belong to some positions, in order, and the sizes of the local dims."""
        places, found = self.places(chosen), {}
        for name, value in self.data.items():
            variable = self.graph.variables.get(name)
            part = np.asarray(value)
            if variable is not None:
                for axis, dim in enumerate(variable.dims[: part.ndim]):
                    if dim in places:
                        part = part.take(places[dim], axis=axis)
                if variable.of in places:
                    part = np.searchsorted(places[variable.of], part).astype(part.dtype)
            found[name] = part
        return found, {d.name: len(at) for d, at in places.items()}


def resized(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph with other sizes of some dims, which all of its ranges have to go along whole."""
    own = {d: sizes.get(d.name, n) for d, n in graph.sizes.items()}

    def along(over: tuple[Range, ...], name: str) -> tuple[Range, ...]:
        found = []
        for r in over:
            if r.dim.name in sizes and (r.start, r.stop) != (0, graph.sizes[r.dim]):
                raise RunError(
                    f"batch: {name} is declared for {r.start} to {r.stop} along {r.dim.name}, "
                    "expected all positions: a minibatch has some of them."
                )
            found.append(replace(r, stop=own[r.dim]) if r.dim.name in sizes else r)
        return tuple(found)

    return replace(
        graph,
        sizes=own,
        statements=tuple(replace(s, over=along(s.over, s.name)) for s in graph.statements),
        potentials=tuple(replace(p, over=along(p.over, p.name)) for p in graph.potentials),
        constants=tuple(replace(c, over=along(c.over, str(c.target))) for c in graph.constants),
    )
