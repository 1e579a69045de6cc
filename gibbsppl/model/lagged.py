"""Arrays that read their own earlier elements, drawn at all positions at once.

Comes in: a statement that reads its own array with lags, and a draw of a whole statement. Goes out:
values at all positions, as if each had been drawn given those before. Two kinds can be drawn so:

- labels: at each position one is drawn for each value of the label that is read, and that of the
  label which is there is taken;
- what an earlier element shifts: where the density is one of ``x - mu``, and ``mu`` is a number
  plus multiples of earlier elements, all is drawn with these at zero, and then shifted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Expr, Leaf, dims_of, leaves_of, mentions
from gibbsppl.model.ancestral import direction_of, each_element, read_by
from gibbsppl.model.density import event_dims, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools

Ints: TypeAlias = NDArray[np.int64]
# So many labels at most: each has a draw of the whole array.
MOST_LABELS = 1000

Draw: TypeAlias = Callable[[Statement, dict[str, Any]], Floats]


@dataclass(frozen=True, slots=True)
class Lagged:
    """A statement whose elements read earlier ones, and how they can be drawn.

    ``at`` is the element that each position fills, ``read`` what it reads there by each of the
    leaves, both in the flattened array; ``order`` has the positions, each after what it reads.
    ``labels`` are the values that are read, or else ``slopes`` how much each leaf shifts a draw.
    """

    statement: Statement
    at: Ints
    read: tuple[Ints, ...]
    order: Ints
    labels: tuple[int, ...] = ()
    slopes: tuple[Expr, ...] = ()

    def drawn(
        self, graph: Graph, rng: np.random.Generator, values: Values, draw: Draw, free: Bools | bool
    ) -> Floats:
        """Values of all positions; where they are not ``free``, what is known stays."""
        name = self.statement.target.array.name
        is_free = np.broadcast_to(free, self.shape(graph)).ravel()
        waits = tuple(np.isin(r, self.at[is_free]) for r in self.read)

        def given(value: float) -> Floats:
            """The draws where all that is read of what is not drawn yet has a value."""
            array = np.array(values[name], order="C")  # (so that it is changed, not a copy)
            array.reshape(-1)[self.at[is_free]] = value
            return np.asarray(draw(self.statement, {**values, name: array}), dtype=float).ravel()

        known = np.array(values[name], dtype=float).ravel()
        if self.labels:
            found = [given(k).tolist() for k in self.labels]
            self._follow_labels(known, found, waits[0], is_free)
        else:
            before = rng.bit_generator.state
            base = given(0.0)
            after, rng.bit_generator.state = rng.bit_generator.state, before
            is_shifted = given(1.0) != base  # (a value by a rule is what it is)
            rng.bit_generator.state = after
            self._shift(graph, values, known, base, [w & is_shifted for w in waits], is_free)
        return known[self.at].reshape(self.shape(graph))

    def shape(self, graph: Graph) -> tuple[int, ...]:
        """The numbers of positions."""
        return tuple(map(len, regions(self.statement, graph.sizes)))

    def _follow_labels(
        self, known: Floats, found: Sequence[list[float]], waits: Bools, is_free: Bools
    ) -> None:
        """Put into ``known`` the draws for the labels that are read."""
        array, first = known.tolist(), self.labels[0]
        at, read = self.at.tolist(), np.where(waits, self.read[0], -1).tolist()
        for i in self.order[is_free[self.order]].tolist():
            k = 0 if read[i] < 0 else int(array[read[i]]) - first
            array[at[i]] = found[k][i]
        known[:] = array

    def _shift(
        self,
        graph: Graph,
        values: Values,
        known: Floats,
        base: Floats,
        waits: Sequence[Bools],
        is_free: Bools,
    ) -> None:
        """Put into ``known`` the draws, shifted by what is read."""
        array, at = known.tolist(), self.at.tolist()
        at_zero, over, shape = base.tolist(), self.statement.over, self.shape(graph)
        terms = []
        for slope, own, read in zip(self.slopes, waits, self.read, strict=True):
            value = np.broadcast_to(evaluate(slope, over, values, graph.sizes), shape).ravel()
            terms.append((np.where(own, value, 0.0).tolist(), read.tolist()))
        for i in self.order[is_free[self.order]].tolist():
            found = at_zero[i]
            for slopes, elements in terms:
                if slopes[i]:
                    found += slopes[i] * array[elements[i]]
            array[at[i]] = found
        known[:] = array


def lagged(graph: Graph, statement: Statement, values: Values) -> Lagged | None:
    """How a statement that reads its own array is drawn at once; None of others."""
    name = statement.target.array.name
    leaves = sorted(set().union(*(leaves_of(e, {name}) for e in read_by(statement))), key=str)
    if not leaves or not _is_simple(graph, statement, leaves):
        return None
    labels, slopes = _labels(graph, statement, leaves, values), _slopes(statement, leaves)
    if not labels and not slopes:
        return None
    over, sizes = statement.over, graph.sizes
    direction = direction_of([statement], values, sizes)
    if direction is None:
        return None
    shape = tuple(map(len, over))
    index = statement.target.indices[direction.axes[name]]
    along = np.broadcast_to(evaluate(index, over, values, sizes), shape).ravel()
    at, *read = (
        np.broadcast_to(each_element(leaf, over, values, sizes), shape).ravel()
        for leaf in (statement.target, *leaves)
    )
    order = np.argsort(direction.sign * along, kind="stable")
    return Lagged(statement, at, tuple(read), order, labels, slopes)


def _is_simple(graph: Graph, statement: Statement, leaves: Sequence[Leaf]) -> bool:
    """Whether each element is one draw from its family, from single elements that it reads."""
    name, own = statement.target.array.name, {r.dim for r in statement.over}
    narrowed = statement.lower is not None or statement.upper is not None or statement.censored
    tied = any(mentions(p.log_density, (name,)) for p in graph.potentials)
    indices = (*statement.target.indices, *(i for leaf in leaves for i in leaf.indices))
    return not (
        event_dims(statement)
        or narrowed
        or tied
        or any(mentions(i, (name,)) for i in indices)
        or any(not dims_of(leaf) <= own for leaf in leaves)
    )


def _labels(
    graph: Graph, statement: Statement, leaves: Sequence[Leaf], values: Values
) -> tuple[int, ...]:
    """The labels that the one element which is read may have; none if these are not few."""
    support, over = statement.support, statement.over
    if support.kind != "integer" or len(leaves) > 1:
        return ()
    ends = (sp.sympify(e) for e in (support.lower, support.upper))
    lower, upper = (evaluate(e, over, values, graph.sizes) for e in ends)
    first, last = np.min(lower, initial=np.inf), np.max(upper, initial=-np.inf)
    few = 0 <= last - first < MOST_LABELS
    return tuple(range(int(first), int(last) + 1)) if few else ()


def _slopes(statement: Statement, leaves: Sequence[Leaf]) -> tuple[Expr, ...]:
    """How much each leaf shifts the distribution; none if they do more than that."""
    array = statement.target.array.name
    read_in = [(n, a) for n, a in statement.arguments if mentions(a, (array,))]
    if len(read_in) != 1 or not _is_line(statement) or not _shifts(statement, read_in[0][0]):
        return ()
    symbols = {leaf: sp.Dummy() for leaf in leaves}
    value = read_in[0][1].xreplace(symbols)
    if mentions(value, (array,)) or not all(_is_affine(value, s) for s in symbols.values()):
        return ()
    slopes = tuple(sp.diff(value, s) for s in symbols.values())
    alone = not any(s in slope.free_symbols for slope in slopes for s in symbols.values())
    return slopes if alone else ()


def _is_line(statement: Statement) -> bool:
    """Whether a value may be any number."""
    support = statement.support
    return support.kind == "real" and (support.lower, support.upper) == (-sp.oo, sp.oo)


def _shifts(statement: Statement, parameter: str) -> bool:
    """Whether the density is one of the distance from a parameter."""
    family = statement.family
    symbols: Mapping[str, Expr] = {n: sp.Dummy(n, real=True) for n, _ in statement.arguments}
    away = sp.Dummy("away", real=True)
    density = family.log_density(symbols[parameter] + away, statement.event, **symbols)
    return symbols[parameter] not in density.free_symbols


def _is_affine(expr: Expr, symbol: Expr) -> bool:
    """Whether an expression is a number plus a multiple of a symbol."""
    if symbol not in expr.free_symbols or expr == symbol:
        return True
    if isinstance(expr, sp.Add):
        return all(_is_affine(a, symbol) for a in expr.args)
    inside = [a for a in expr.args if symbol in a.free_symbols]
    return isinstance(expr, sp.Mul) and len(inside) == 1 and _is_affine(inside[0], symbol)
