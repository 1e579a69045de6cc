"""The observed part of a partly missing array, as arrays of data of its own.

Comes in: the values of an array, which of them are known, and bounds of others. Goes out:
statements of arrays that take its place, in which missing values add nothing to the log density.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, substitute
from gibbsppl.algebra.ranges import Range, fresh, plain_name
from gibbsppl.analysis.known_limits import KnownLimits
from gibbsppl.model.density import free_elements, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Censoring, Graph, Kind, Statement, Variable
from gibbsppl.pieces.dependence import region_of, slices_of


class Observed:
    """Arrays of data in the place of one that is drawn in part."""

    def __init__(self, graph: Graph, data: Values, name: str) -> None:
        self.variables = {n: v for n, v in graph.variables.items() if n != name}
        self.data, self.dims, self.name = dict(data), graph.variables[name].dims, name
        self.of = graph.variables[name].of
        self.sizes: dict[Dim, int] = {}

    def stated(
        self, statements: Sequence[Statement], graph: Graph, known: np.ndarray, limits: KnownLimits
    ) -> dict[str, Statement]:
        """The statements of the array, by name, with an array of observed values as the target."""
        values = _standing_for(self.data.get(self.name), limits)
        array = self.named(f"{self.name}.seen", values, statements[0].target.array, self.of)
        groups = tuple(self.censorings(known, limits, values))
        stated = {}
        for s in statements:
            here = [c for where, c in groups if where[slices_of(region_of(graph, s))].any()]
            at = dict(zip(self.dims, s.target.indices, strict=True))
            stated[s.name] = replace(
                s,
                target=Leaf(array, *s.target.indices),
                known=sp.S.One,
                censored=tuple(_at(c, at) for c in here),
            )
        return stated

    def tabulated(self, statement: Statement, sizes: Mapping[Dim, int]) -> Statement:
        """The statement at the positions at which its values are observed, a row for each."""
        over, event = statement.over, regions(statement, sizes)[len(statement.over) :]
        free = free_elements(statement, self.data, sizes)
        observed = np.nonzero(~free.any(axis=tuple(range(len(over), free.ndim))))
        row = Dim(fresh(f"{self.name}.seen_rows", {d.name for d in (*sizes, *self.sizes)}))
        self.sizes[row] = len(observed[0])
        at: dict[Expr, Expr] = {}
        for r, positions in zip(over, observed, strict=True):
            own = fresh(f"{self.name}.seen_{plain_name(r.dim)}", self.variables)
            self.variables[own] = Variable(own, (row,), "index", integer=True, of=r.dim)
            self.data[own] = positions + r.start
            at[r.dim] = Array(own, nonnegative=True)[row]
        values = evaluate(statement.target, (*over, *event), self.data, sizes)
        values = np.broadcast_to(values, free.shape)[observed]
        whole = np.asarray(self.data[self.name]).dtype.kind in "iub"
        dims = (row, *(r.dim for r in event))
        seen = self.named(
            f"{self.name}.seen",
            values.astype(int) if whole else values,
            statement.target.array,
            self.of,
            dims=dims,
        )
        lower, upper = (
            None if b is None else substitute(b, at) for b in (statement.lower, statement.upper)
        )
        return replace(
            statement,
            target=Leaf(seen, *dims),
            over=(Range(row, 0, self.sizes[row]),),
            arguments=tuple((n, substitute(e, at)) for n, e in statement.arguments),
            lower=lower,
            upper=upper,
            known=sp.S.One,
        )

    def named(
        self,
        name: str,
        values: np.ndarray,
        like: Array | None = None,
        of: Dim | None = None,
        dims: tuple[Dim, ...] | None = None,
    ) -> Array:
        """A new array, of the sign of another one; of positions along a dim, if one is given."""
        own = fresh(name, self.variables)
        kind: Kind = "data" if of is None else "index"
        integer = values.dtype.kind in "iub"
        self.variables[own] = Variable(own, dims or self.dims, kind, integer=integer, of=of)
        self.data[own] = values
        return Array(own) if like is None else like.renamed(own)

    def censorings(
        self, known: np.ndarray, limits: KnownLimits, values: np.ndarray
    ) -> Iterator[tuple[np.ndarray, Censoring]]:
        """Yield the mask and the censoring of values missing, above, below, or between bounds."""
        has_lower, has_upper = np.isfinite(limits.lower), np.isfinite(limits.upper)
        for what, lower, upper in (
            ("missing", False, False),
            ("above", True, False),
            ("below", False, True),
            ("between", True, True),
        ):
            where = ~known & (has_lower == lower) & (has_upper == upper)
            if not where.any():
                continue
            told = f"{self.name}.{what}"
            # (elsewhere numbers that are possible: those of the first such value, if there are two)
            rest = (limits.lower[where][0], limits.upper[where][0])
            others = rest if lower and upper else (values, values)
            low = self._end(f"{told}.lower", where, limits.lower, others[0]) if lower else None
            high = self._end(f"{told}.upper", where, limits.upper, others[1]) if upper else None
            yield where, Censoring(self.named(told, where.astype(int))[self.dims], low, high)

    def _end(self, name: str, where: np.ndarray, limit: Floats, others: ArrayLike) -> Leaf:
        """The array of bounds at masked positions, and other numbers elsewhere."""
        return self.named(name, np.where(where, limit, others))[self.dims]


def _at(censoring: Censoring, at: Mapping[Dim, Expr]) -> Censoring:
    """A censoring of an array at the indices of a statement."""
    ends = (e if e is None else e.xreplace(at) for e in (censoring.lower, censoring.upper))
    return Censoring(censoring.where.xreplace(at), *ends)


def _standing_for(values: ArrayLike | None, limits: KnownLimits) -> np.ndarray:
    """The observed values, with bounds in place of censored values.

    Where no bounds are given, the data hold a possible number for each missing value.
    """
    if not limits.told.any():
        return np.array(values)
    bound = np.where(np.isfinite(limits.lower), limits.lower, limits.upper)
    standing = np.zeros(bound.shape) if values is None else np.array(values, dtype=float)
    beyond = limits.told & ~((standing >= limits.lower) & (standing <= limits.upper))
    return np.where(beyond, bound, standing)
