"""Linear forms of the elements of some arrays: how an expression holds them, and their designs.

Comes in: expressions, a graph, values. Goes out: a form as multiples of leaves, and its design, a
sparse matrix with one row for each position and one column for each element.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import scipy
import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Expr, Leaf, Over, mentions
from gibbsppl.algebra.functions import Where
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph, Statement

# How many roundings a slope is away from the exact one: those of the form, of its multiple, of
# the difference of two values of the function and of their sum.
ROUNDINGS = 16
ROUNDING = ROUNDINGS * float(np.finfo(float).eps)

# No factor with more entries in its design is looked at: the design is laid out.
MOST_ENTRIES = 5_000_000


@dataclass(frozen=True, slots=True)
class Columns:
    """The elements of some arrays, one column each."""

    shapes: Mapping[str, tuple[int, ...]]

    def __len__(self) -> int:
        return sum(math.prod(shape) for shape in self.shapes.values())

    def first(self, name: str) -> int:
        """The column of the first element of an array."""
        before = list(self.shapes)[: list(self.shapes).index(name)]
        return sum(math.prod(self.shapes[n]) for n in before)

    def element(self, column: int) -> str:
        """The element of a column, as text."""
        for name, shape in self.shapes.items():
            if column < math.prod(shape):
                at = ", ".join(str(int(i)) for i in np.unravel_index(column, shape))
                return f"{name}[{at}]" if at else name
            column -= math.prod(shape)
        raise IndexError(column)


def columns_of(graph: Graph, arrays: tuple[str, ...]) -> Columns:
    """A column for each element of some arrays."""
    axes = {name: graph.variables[name].dims for name in arrays}
    return Columns({n: tuple(graph.sizes[d] for d in a) for n, a in axes.items()})


# A multiple of an element of an array, summed over the ranges: one term of a linear form.
Linear = tuple[tuple[Expr, Leaf, tuple[Range, ...]], ...]


class NotLinear(Exception):  # noqa: N818  (no error: what is not understood is left alone)
    """A term that is not read as a concave function of linear forms."""


def is_masked(graph: Graph, statement: Statement) -> bool:
    """Whether missing values of an array are read by no other factor: their density sums to 1."""
    name = statement.target.array.name
    return isinstance(statement.known, Leaf) and len(graph.factors_of(name)) == 1


@dataclass(frozen=True, slots=True)
class Forms:
    """The reading of expressions as forms of some arrays; all else has its value."""

    graph: Graph
    arrays: tuple[str, ...]
    values: Values
    columns: Columns
    latent: frozenset[str]

    @classmethod
    def of(cls, graph: Graph, arrays: tuple[str, ...], values: Values) -> Forms:
        """The reading for some arrays of a graph, discrete ones given like data.

        Its values at a state have a probability of their own: where the integral over all else is
        infinite at these, it is infinite.
        """
        latent = frozenset(
            s.target.array.name
            for s in graph.latent
            if not s.support.is_discrete and not is_masked(graph, s)
        )
        return cls(graph, arrays, values, columns_of(graph, arrays), latent)

    def parts(
        self, expr: Expr, over: tuple[Range, ...]
    ) -> Iterator[tuple[Expr, tuple[Range, ...]]]:
        """The terms of a sum, with the ranges that each is summed over; linear ones are whole."""
        held = [a for a in Mul.make_args(expr) if mentions(a, self.arrays)]
        if len(held) != 1 or self.linear(expr) is not None:
            yield from ((a, over) for a in Add.make_args(expr)) if not held else ((expr, over),)
            return
        free = Mul(*(a for a in Mul.make_args(expr) if a not in held))
        match held[0]:
            case Add(args=args):
                for a in args:
                    yield from self.parts(Mul(free, a), over)
            case Over(body=body) as summed:
                yield from self.parts(Mul(free, body), (*over, range_of(summed, self.graph.sizes)))
            case _:
                yield expr, over

    def linear(self, expr: Expr) -> Linear | None:
        """The terms of an affine expression whose design is data; None for other expressions."""
        if not mentions(expr, self.arrays):
            return ()
        match expr:
            case Leaf():
                known = not any(mentions(i, self.latent) for i in expr.indices)
                return ((sp.S.One, expr, ()),) if known and expr.array.name in self.arrays else None
            case Add():
                parts = [self.linear(a) for a in expr.args]
                return None if None in parts else tuple(x for p in parts for x in p or ())
            case Mul():
                held = [a for a in expr.args if mentions(a, self.arrays)]
                scale = Mul(*(a for a in expr.args if a not in held))
                inner = self.linear(held[0]) if len(held) == 1 else None
                return None if inner is None else self._scaled(inner, scale)
            case Over():
                inner = self.linear(expr.body)
                summed = range_of(expr, self.graph.sizes)
                return inner and tuple((c, x, (*r, summed)) for c, x, r in inner)
            case Where(args=(where, yes, no)) if not mentions(where, self.latent):
                both = (self.linear(yes), where), (self.linear(no), 1 - where)
                found = [p if p is None else self._scaled(p, w) for p, w in both]
                return None if None in found else tuple(x for p in found for x in p or ())
        return None

    def _scaled(self, terms: Linear, scale: Expr) -> Linear | None:
        if mentions(scale, self.latent):
            return None
        return tuple((scale * c, x, r) for c, x, r in terms)

    def design(self, terms: Linear, over: tuple[Range, ...]) -> scipy.sparse.csr_array:
        """The design of a linear form: one row for each position of the ranges."""
        count, width = math.prod(map(len, over)), len(self.columns)
        found = scipy.sparse.csr_array((count, width))
        for coefficient, leaf, summed in terms:
            ranges = (*over, *summed)
            shape = tuple(map(len, ranges))
            if math.prod(shape) > MOST_ENTRIES:
                raise NotLinear
            at = [self.at(i, ranges).astype(int) for i in leaf.indices]
            size = self.columns.shapes[leaf.array.name]
            column = np.ravel_multi_index(at, size) if at else np.zeros(math.prod(shape), int)
            row = np.repeat(np.arange(count), math.prod(shape[len(over) :]))
            entries = (
                self.at(coefficient, ranges),
                (row, column + self.columns.first(leaf.array.name)),
            )
            found = found + scipy.sparse.coo_array(entries, shape=(count, width)).tocsr()
        found.eliminate_zeros()
        return found

    def at(self, expr: Expr, over: tuple[Range, ...]) -> Floats:
        """An expression at all positions of ranges, in one row."""
        found = evaluate(expr, over, self.values, self.graph.sizes)
        return np.broadcast_to(found, tuple(map(len, over))).ravel()


def first_rows(matrices: list[scipy.sparse.csr_array]) -> scipy.sparse.csr_array:
    """At each position the first non-zero row of the matrices."""
    first = matrices[0]
    for other in matrices[1:]:
        empty = (np.diff(first.indptr) == 0).astype(float)
        first = (first + scipy.sparse.diags_array(empty) @ other).tocsr()
        first.eliminate_zeros()
    return first


def shares_of(rows: scipy.sparse.csr_array, axis: scipy.sparse.csr_array) -> Floats:
    """The ratio of each row to the row of ``axis``; `NotLinear` unless they are proportional."""
    length = axis.multiply(axis).sum(axis=1)
    share = np.asarray(rows.multiply(axis).sum(axis=1)) / np.where(length > 0, length, 1.0)
    apart = abs(rows - scipy.sparse.diags_array(share) @ axis).tocsr()
    size = abs(rows).max(axis=1).toarray().ravel() if rows.shape[0] else np.zeros(0)
    off = apart.max(axis=1).toarray().ravel() if rows.shape[0] else np.zeros(0)
    if (off > ROUNDING * size).any():
        raise NotLinear
    return share
