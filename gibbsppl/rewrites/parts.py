"""An array taken apart along an axis: each position an array of its own, drawn after the others.

Comes in: a graph, the name of an array, one of its axes. Goes out: the same graph with as many
arrays in its place. The elements at one position may have a closed form given all others where the
whole array has none: the coefficients of a category of a multinomial logit against the rest
(C. C. Holmes and L. Held, 2006, "Bayesian auxiliary variable models for binary and
multinomial regression", Bayesian Analysis 1).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.ranges import Range, fresh, range_of
from gibbsppl.model.graph import (
    Constant,
    Deterministic,
    Graph,
    Potential,
    Statement,
    Variable,
)
from gibbsppl.model.graph_changes import changed_potential, changed_statement
from gibbsppl.model.stand_ins import StandIn

# An axis longer than this is not taken apart: each position is a step of its own.
MOST_PARTS = 16


def taken_apart(
    graph: Graph, name: str, axis: int, taken: Collection[str]
) -> tuple[Graph, tuple[StandIn, ...]] | None:
    """The graph with an array taken apart, and its parts; None where that cannot be done.

    The names of the parts are not among those that are ``taken``.
    """
    statement, *others = graph.statements_of(name)
    dim = statement.target.indices[axis]
    own = next((r for r in statement.over if r.dim == dim), None)
    if others or own is None or statement.known != 0 or not 1 < len(own) <= MOST_PARTS:
        return None
    names = {c: fresh(f"{name}_{c}", taken) for c in range(own.start, own.stop)}
    arrays = {c: statement.target.array.renamed(n) for c, n in names.items()}
    dims = graph.variables[name].dims
    parts = tuple(_part(statement.target.array, dims, axis, c, a) for c, a in arrays.items())
    regions = (c for c in graph.constants if c.target.array.name == name)
    known = [found for region in regions for found in _on(region, axis)]
    alone = [(p, c.value) for p, c in known if p not in arrays]
    if sorted((*arrays, *(p for p, _ in alone))) != list(range(graph.sizes[own.dim])):
        return None  # (not all of it is told, or one position by several regions)
    beside = (_constant(c, axis, arrays[p]) for p, c in known if p in arrays)
    reader = _Reader(name, axis, graph.sizes, arrays, dict(alone))
    try:
        statements = [s for t in graph.statements for s in _of_statement(t, statement, reader)]
        return replace(
            graph,
            variables={**graph.variables, **{p.name: _variable(graph, p) for p in parts}},
            statements=tuple(statements),
            potentials=tuple(_of_potential(p, reader) for p in graph.potentials),
            constants=(*(c for c in graph.constants if c.target.array.name != name), *beside),
            deterministics=tuple(_of_deterministic(d, reader) for d in graph.deterministics),
        ), parts
    except _NotReadableError:
        return None


class _NotReadableError(Exception):
    """The array is read at positions of which none is a part."""


def _on(constant: Constant, axis: int) -> Iterator[tuple[int, Constant]]:
    """The positions on an axis that a region of constants has, each with the constants there."""
    index = constant.target.indices[axis]
    along = next((r for r in constant.over if r.dim == index), None)
    if along is None:
        yield int(index), constant
        return
    for position in range(along.start, along.stop):
        at = {along.dim: sp.Integer(position)}
        yield position, replace(
            constant,
            target=substitute(constant.target, at),
            over=tuple(r for r in constant.over if r.dim != index),
            value=substitute(constant.value, at),
        )


def _constant(constant: Constant, axis: int, part: Array) -> Constant:
    """The constants of a part, beside its drawn elements."""
    indices = (i for n, i in enumerate(constant.target.indices) if n != axis)
    return replace(constant, target=part[tuple(indices)])


def _part(whole: Array, dims: tuple[Dim, ...], axis: int, position: int, part: Array) -> StandIn:
    """The part that stands for a position on an axis of an array."""
    rest = (*dims[:axis], *dims[axis + 1 :])
    here = whole[(*dims[:axis], position, *dims[axis + 1 :])]
    return StandIn(part.name, here, rest, here, part[rest])


def _variable(graph: Graph, part: StandIn) -> Variable:
    """The variable of a part."""
    return replace(graph.variables[part.of], name=part.name, dims=part.dims)


def _of_statement(statement: Statement, whole: Statement, reader: _Reader) -> tuple[Statement, ...]:
    """The statement, or those of the parts, reading parts."""
    if statement is not whole:
        return (_read(statement, reader, _ranged(statement.over)),)
    dim = statement.target.indices[reader.axis]
    over = tuple(r for r in statement.over if r.dim != dim)
    found = []
    for position, array in reader.arrays.items():
        at = {dim: sp.Integer(position)}
        indices = (i for n, i in enumerate(statement.target.indices) if n != reader.axis)
        here = changed_statement(statement, partial(substitute, replacements=at))
        part = replace(here, name=str(array), target=array[tuple(indices)], over=over)
        found.append(_read(part, reader, _ranged(over)))
    return tuple(found)


def _ranged(over: tuple[Range, ...]) -> set[Dim]:
    return {r.dim for r in over}


def _read(statement: Statement, reader: _Reader, ranged: set[Dim]) -> Statement:
    """The statement with the array's parts in what it reads."""
    return changed_statement(statement, lambda e: reader.read(e, ranged))


def _of_potential(potential: Potential, reader: _Reader) -> Potential:
    return changed_potential(potential, lambda e: reader.read(e, _ranged(potential.over)))


def _of_deterministic(deterministic: Deterministic, reader: _Reader) -> Deterministic:
    return replace(deterministic, value=reader.read(deterministic.value, set()))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads expressions of an array as expressions of its parts."""

    name: str
    axis: int
    sizes: Mapping[Dim, int]
    arrays: Mapping[int, Array]
    constants: Mapping[int, Expr]

    def read(self, expr: Expr, ranged: set[Dim]) -> Expr:
        """The expression; ``ranged`` are dims at which the array cannot be read as a whole."""
        expr = sp.sympify(expr)
        if not mentions(expr, (self.name,)):
            return expr
        if isinstance(expr, Leaf):
            return (
                self._leaf(expr, ranged)
                if expr.array.name == self.name
                else self._gathered(expr, ranged)
            )
        if isinstance(expr, Over) and self._is_along(expr):
            r = range_of(expr, self.sizes)
            at = ({r.dim: sp.Integer(c)} for c in range(r.start, r.stop))
            return Add(*(self.read(substitute(expr.body, here), ranged) for here in at))
        return expr.func(
            *(self.read(a, ranged) if isinstance(a, sp.Expr) else a for a in expr.args)
        )

    def _is_along(self, expr: Over) -> bool:
        """Whether a sum is over positions at which the array is read."""
        (dim,) = expr.bound
        leaves = leaves_of(expr.body, (self.name,))
        return any(leaf.indices[self.axis] == dim for leaf in leaves)

    def _gathered(self, leaf: Leaf, ranged: set[Dim]) -> Expr:
        return leaf.func(leaf.array, *(self.read(i, ranged) for i in leaf.indices))

    def _leaf(self, leaf: Leaf, ranged: set[Dim]) -> Expr:
        """An element of a part, or of all parts in turn, chosen by an index."""
        index = leaf.indices[self.axis]
        rest = tuple(i for n, i in enumerate(leaf.indices) if n != self.axis)
        if index.is_Integer:
            return self._element(int(index), rest)
        if index in ranged or mentions(sp.Add(*leaf.indices), (self.name,)):
            raise _NotReadableError
        every = (*self.arrays, *self.constants)
        return Add(*(Equals(index, sp.Integer(c)) * self._element(c, rest) for c in every))

    def _element(self, position: int, rest: tuple[Expr, ...]) -> Expr:
        if position in self.arrays:
            return self.arrays[position][rest]
        value = self.constants[position]
        if value.free_symbols:
            raise _NotReadableError
        return value
