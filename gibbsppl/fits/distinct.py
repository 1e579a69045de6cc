"""Fits on distinct positions: those of a dim that are alike are swept as one.

Comes in: a sampler whose conditionals are read by means and modes. Goes out: the graph and data of
the positions that differ, with how often each is in the data, and states of all positions as states
of these and back.

Positions of a dim are alike where all data along it are equal, if nothing else tells them apart:
each factor reads arrays along the dim at its own position alone, and no sum, no event and no number
is along it. What belongs to a position then has the same factor of q as at all positions alike,
once its moments are equal; terms of other conditionals, of the bound and of entropies count as
often as the position is in the data (`planning.readings`).

>>> same_rows([np.array([3, 1, 3, 1]), np.array([[0.5], [2.0], [0.5], [7.0]])])
(array([0, 1, 3]), array([0, 1, 0, 2]))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, Size
from gibbsppl.algebra.ranges import fresh
from gibbsppl.fits.minibatches import resized
from gibbsppl.model.evaluation import Sizes, Values
from gibbsppl.model.graph import Factor, Graph, Statement, Variable, expressions_read_by
from gibbsppl.runtime.types import Ints
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The positions of a dim by what they are like.

    ``first`` are the first of each kind, ``kind`` is that of each position.
    """

    first: Ints
    kind: Ints

    @property
    def times(self) -> Ints:
        """How many positions there are of each kind."""
        return np.bincount(self.kind, minlength=len(self.first))


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """The distinct positions of some dims, with the graph and data of these."""

    graph: Graph
    data: Values
    alike: Mapping[Dim, Alike]

    @classmethod
    def of(cls, graph: Graph, data: Values, dims: Iterable[Dim]) -> Distinct:
        """The distinct positions of those of some dims that have positions alike."""
        found: dict[Dim, Alike] = {}
        for dim in dims:
            arrays = [np.moveaxis(a, axis, 0) for a, axis in along(graph, data, dim)]
            if not arrays:
                continue
            alike = Alike(*same_rows(arrays))
            if len(alike.first) < graph.sizes[dim]:
                graph, data = _shorter(graph, data, dim, alike)
                found[dim] = alike
        return cls(graph, data, found)

    @property
    def sizes(self) -> Sizes:
        """How many positions are distinct, by dim."""
        return {d: len(a.first) for d, a in self.alike.items()}

    def sampler(self, read: Any) -> Any:
        """A sampler of the distinct positions, with the settings of another."""
        coords = {n: c for n, c in read.coords.items() if Dim(n) not in self.alike}
        return read.of_graph(self.graph, self.data, coords, read.settings)

    def is_local(self, step: Step) -> bool:
        """Whether variables of a step belong to positions of these dims."""
        return any(r.dim in self.alike for s in step.statements for r in s.over)

    def taken(self, value: Any, dims: Sequence[Dim]) -> Any:
        """An array of all positions at the distinct ones."""
        for axis, dim in enumerate(dims):
            if dim in self.alike:
                value = np.take(value, self.alike[dim].first, axis=axis)
        return value

    def spread(self, value: Any, dims: Sequence[Dim]) -> Any:
        """An array of the distinct positions at all of them."""
        for axis, dim in enumerate(dims):
            if dim in self.alike and np.shape(value)[axis] > 1:  # (or it is the same for all)
                value = np.take(value, self.alike[dim].kind, axis=axis)
        return value

    def total(self, value: Any, dims: Sequence[Dim]) -> float:
        """The sum over all positions of an array of the distinct ones."""
        for dim in dims:
            if dim in self.alike:
                value = np.tensordot(self.alike[dim].times, value, axes=(0, 0))
            else:
                value = np.sum(value, axis=0)
        return float(value)


def same_rows(arrays: Sequence[np.ndarray]) -> tuple[Ints, Ints]:
    """The first of each kind of rows, in order, and the kind of each: rows equal in all arrays."""
    kind = np.zeros(len(arrays[0]), dtype=np.intp)
    flats = [np.ascontiguousarray(np.reshape(a, (len(kind), -1))) for a in arrays]
    first_columns = [f[:, 0] for f in flats if f.size]
    wide = [f.view(f"V{f[0].nbytes}")[:, 0] for f in flats if f.shape[1] > 1]
    for rows in (*first_columns, *wide):
        _, own = np.unique(rows, return_inverse=True)
        found, kind = np.unique(kind * (own.max() + 1) + own, return_inverse=True)
        if len(found) == len(kind):
            break
    _, first = np.unique(kind, return_index=True)
    place = np.empty(len(first), dtype=np.intp)
    order = np.argsort(first)
    place[order] = np.arange(len(first))
    return first[order], place[kind]


def along(graph: Graph, data: Values, dim: Dim) -> Iterator[tuple[np.ndarray, int]]:
    """The arrays of the data along a dim, and along which axis of each it is."""
    for name, value in data.items():
        variable = graph.variables.get(name)
        if variable is not None and dim in variable.dims:
            yield np.asarray(value), variable.dims.index(dim)


def is_apart(graph: Graph, dim: Dim) -> bool:
    """Whether positions of a dim are tied by nothing, and told apart by data along it alone."""
    if any(v.of == dim or v.dims.count(dim) > 1 for v in graph.variables.values()):
        return False
    factors = [f for f in graph.factors if any(r.dim == dim for r in f.over)]
    whole = all((r.start, r.stop) == (0, graph.sizes[dim])
                for f in factors for r in f.over if r.dim == dim)  # fmt: skip
    if not factors or not whole or graph.marginals:
        return False
    if any(dim in c.target.free_symbols for c in graph.constants):
        return False
    return all(_reads_own(e, dim, graph) for f in graph.factors for e in _expressions(f))


def _expressions(factor: Factor) -> Iterator[Expr]:
    """All expressions of a factor."""
    yield from expressions_read_by(factor)
    if isinstance(factor, Statement):
        yield from (factor.target, *(a for _, a in factor.arguments))
        yield from map(sp.sympify, (factor.known, *factor.event))


def _reads_own(expr: sp.Basic, dim: Dim, graph: Graph) -> bool:
    """Whether a dim is in an expression as an index of arrays along it, and alone in that place."""
    if expr == dim or (isinstance(expr, Size) and expr.name == dim.name):
        return False
    if isinstance(expr, Binder) and dim in expr.bound:
        return False
    if not isinstance(expr, Leaf):
        return all(_reads_own(a, dim, graph) for a in expr.args)
    variable = graph.variables.get(expr.array.name)
    if variable is None or len(variable.dims) != len(expr.indices):
        return False
    return all(
        index == dim if own == dim else _reads_own(index, dim, graph)
        for own, index in zip(variable.dims, expr.indices, strict=True)
    )


def _shorter(
    graph: Graph, data: Values, dim: Dim, alike: Alike
) -> tuple[Graph, dict[str, np.ndarray]]:
    """The graph and data of the first position of each kind, with how many there are of it."""
    name = fresh(f"times_{dim.name}", {*graph.variables, *(d.name for d in graph.sizes)})
    short = resized(graph, {dim.name: len(alike.first)})
    times = Variable(name, (dim,), "data", integer=True, repeats=True)
    made = replace(
        short,
        variables={**graph.variables, name: times},
        deterministics=(),
        labels={d: x for d, x in graph.labels.items() if d != dim.name},
    )
    own = {n: np.asarray(x) for n, x in data.items() if n in graph.variables}
    for n, x in own.items():
        if dim in graph.variables[n].dims:
            own[n] = x.take(alike.first, axis=graph.variables[n].dims.index(dim))
    return made, {**own, name: alike.times}
