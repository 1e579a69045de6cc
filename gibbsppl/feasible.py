"""A start moved to where observations and potentials allow it.

Comes in: a graph and the values of a first attempt. Goes out: the same values, changed in place:
bounds of what is observed moved past it, elements exchanged that a potential wants in order. What
the user has given stays, and what is known.

A bound that is a monotone function of one element is solved for it. Any other is approached: the
elements that it reads go halfway to an end of their support (or twice as far from the other one)
for as long as that makes the bound better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.evaluation import Floats, Values, evaluate
from gibbsppl.expressions import AtMost, Below, Expr, Leaf, dims_of, leaves_of, mentions
from gibbsppl.forward import State, fill
from gibbsppl.graph import Graph, Potential, Statement
from gibbsppl.limits import solved
from gibbsppl.ranges import Range, size_of

# So many times halfway: to a millionth of the distance.
HALVINGS = 20


def raise_to_observed(graph: Graph, values: State, given: Values) -> None:
    """A latent bound of something observed (``y ~ Uniform(0, theta)``) moved past what was seen."""
    free = set(graph.drawn) - set(given)
    for child in graph.statements:
        y, support = child.target, child.support
        inside = (AtMost(y, support.upper), AtMost(support.lower, y))
        for indicator in inside if child.known != 0 and not child.family.event else ():
            for leaf in sorted(leaves_of(indicator, free), key=str):
                found = solved(indicator, leaf)
                if leaf.array != y.array and found is not None:
                    side, value = found
                    _move_past(graph, child, leaf, 1 if side == "lower" else -1, value, values)


def _move_past(
    graph: Graph, child: Statement, leaf: Leaf, sign: int, value: Expr, values: State
) -> None:
    """A bound of something observed moved past the value that it must not be on this side of."""
    shape = tuple(map(len, child.over))
    seen, bound = (
        np.broadcast_to(evaluate(e, child.over, values, graph.sizes), shape) for e in (value, leaf)
    )
    short = sign * (seen - bound) > 0
    indices = tuple(
        np.broadcast_to(evaluate(i, child.over, values, graph.sizes), shape)[short].astype(int)
        for i in leaf.indices
    )
    update = np.maximum if sign > 0 else np.minimum
    whole = graph.variables[leaf.array.name].integer
    margin = 0.1 * np.abs(seen[short])
    margin = sign * (np.ceil(margin) if whole else margin)
    bounds = values[leaf.array.name]
    if not bounds.ndim:
        best = update.reduce(seen[short] + margin, initial=float(bounds))
        values[leaf.array.name] = np.asarray(best)
        return
    update.at(bounds, indices, seen[short] + margin)


def put_in_order(graph: Graph, values: State, given: Values) -> None:
    """Latent elements exchanged wherever a potential wants the one below the other."""
    drawn = _drawn_elements(graph, values)
    free = set(drawn) - set(given)
    orders = [
        (potential, pair)
        for potential in graph.potentials
        for pair in _pairs_in_order(potential)
        if {leaf.array.name for leaf in pair} <= free
    ]
    for _ in orders:
        for potential, pair in orders:
            _exchange(graph, potential, pair, values, drawn)


def _drawn_elements(graph: Graph, values: State) -> dict[str, Any]:
    """For each array whose statements observe nothing, which of its elements they draw."""
    latent = [s for s in graph.latent if s.known == 0]
    found = {s.target.array.name: np.zeros(values[s.target.array.name].shape) for s in latent}
    for s in latent:
        fill(s, 1.0, found, graph.sizes)
    return {name: mask == 1 for name, mask in found.items()}


def _pairs_in_order(potential: Potential) -> list[tuple[Leaf, ...]]:
    """The pairs of elements the first of which is below the second, or the density is zero."""
    if not isinstance(potential.log_density, sp.log):
        return []
    relations = sp.Mul.make_args(potential.log_density.args[0])
    pairs = (r.args for r in relations if isinstance(r, (Below, AtMost)))
    return [pair for pair in pairs if all(isinstance(x, Leaf) for x in pair)]


def _exchange(
    graph: Graph,
    potential: Potential,
    pair: tuple[Leaf, ...],
    values: State,
    drawn: Mapping[str, Any],
) -> None:
    """The first of each pair of elements made the smaller one, in as many passes as it takes.

    Elements that are not drawn stay.
    """
    low, high = (_places(graph, potential, leaf, values) for leaf in pair)
    below, above = (values[leaf.array.name] for leaf in pair)
    is_low, is_high = (drawn[leaf.array.name] for leaf in pair)
    both = [(i, j) for i, j in zip(low, high, strict=True) if is_low[i] and is_high[j]]
    for _ in range(len(both)):
        wrong = [(i, j) for i, j in both if below[i] > above[j]]
        for i, j in wrong:
            if below[i] > above[j]:
                below[i], above[j] = above[j], below[i]
        if not wrong:
            return


def _places(
    graph: Graph, potential: Potential, leaf: Leaf, values: Values
) -> list[tuple[int, ...]]:
    """The element that a leaf reads, for each position of a potential."""
    shape = tuple(map(len, potential.over))
    indices = (evaluate(i, potential.over, values, graph.sizes) for i in leaf.indices)
    flat = [np.broadcast_to(i, shape).astype(int).ravel().tolist() for i in indices]
    return list(zip(*flat, strict=True)) if flat else [()] * math.prod(shape)


def bring_observed_inside(graph: Graph, values: State, given: Values) -> None:
    """Whatever the bounds of something observed read, moved until it is between them."""
    bounds = list(_bounds_of_observed(graph, set(graph.drawn) - set(given)))
    if not bounds or _amiss(graph, bounds, values) == NOTHING:
        return
    drawn, ends = _drawn_elements(graph, values), _ends(graph, values)
    for _ in range(HALVINGS):
        if not _improved(graph, bounds, values, drawn, ends):
            return


@dataclass(frozen=True, slots=True)
class _Bound:
    """``gap`` of an observed value and a bound: not above zero where it is between its bounds.

    ``moved`` are the elements, of latent arrays, that it reads.
    """

    child: Statement
    gap: Expr
    moved: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where the support of each element of an array ends, and whether it is a whole number."""

    lower: Floats
    upper: Floats
    whole: bool

    def nearer(self, x: Floats, sign: int) -> Floats:
        """Values halfway to the upper or the lower end; twice as far where it is at infinity."""
        lower, upper = (self.lower, self.upper) if sign < 0 else (-self.upper, -self.lower)
        y = -sign * x
        with np.errstate(invalid="ignore"):
            one_sided = np.maximum(upper - y, 1) if self.whole else upper - y
            distance = np.where(np.isfinite(upper), one_sided, np.maximum(np.abs(y), 1))
            found = np.where(np.isfinite(lower), (y + lower) / 2, y - distance)
        return -sign * (np.floor(found) if self.whole else found)


# How many observed values are outside of their bounds, and by how much.
Amiss = tuple[int, float]
NOTHING: Amiss = (0, 0.0)


def _bounds_of_observed(graph: Graph, free: set[str]) -> Iterator[_Bound]:
    """The bounds of what is observed that read arrays which are free."""
    for child in graph.statements:
        if child.known == 0 or child.family.event:
            continue
        y, support = child.target, child.support
        for gap in (support.lower - y, y - support.upper):
            leaves = (x for x in leaves_of(gap, free) if x.array != y.array)
            if moved := tuple(sorted(leaves, key=str)):
                yield _Bound(child, gap, moved)


def _outside(graph: Graph, bound: _Bound, values: Values) -> Floats:
    """How far each value that is seen is outside of a bound; zero where it is not."""
    child = bound.child
    shape = tuple(map(len, child.over))

    def at(expr: Any) -> Floats:
        return np.broadcast_to(evaluate(sp.sympify(expr), child.over, values, graph.sizes), shape)

    seen = at(child.known) != 0
    for c in child.censored:
        seen &= at(c.where) == 0
    with np.errstate(all="ignore"):
        gap = at(bound.gap)
    return np.where(seen & ~(gap <= 0), np.where(np.isnan(gap), np.inf, gap), 0.0)


def _amiss(graph: Graph, bounds: Sequence[_Bound], values: Values) -> Amiss:
    found = [_outside(graph, b, values) for b in bounds]
    return sum(int((f > 0).sum()) for f in found), float(sum(f.sum() for f in found))


def _ends(graph: Graph, values: State) -> dict[str, _Ends]:
    """The ends of the supports of the elements of arrays that can be moved one by one."""
    arrays = {s.target.array.name for s in graph.latent}
    apart = ("real", "integer", "vector")
    fixed = {s.target.array.name for s in graph.latent if s.support.kind not in apart}
    ends = tuple(
        {n: np.full(np.shape(values[n]), none) for n in arrays - fixed}
        for none in (-np.inf, np.inf)
    )
    for s in graph.latent:
        if s.target.array.name in fixed or s.support.kind == "vector":
            continue
        for end, bound in zip(ends, (s.support.lower, s.support.upper), strict=True):
            here = {**values, **end}
            fill(s, evaluate(sp.sympify(bound), s.over, values, graph.sizes), here, graph.sizes)
    lower, upper = ends
    return {n: _Ends(lower[n], upper[n], graph.variables[n].integer) for n in lower}


def _improved(
    graph: Graph,
    bounds: Sequence[_Bound],
    values: State,
    drawn: Mapping[str, Any],
    ends: Mapping[str, _Ends],
) -> bool:
    """Whether elements have been moved, array by array, so that less is outside of its bounds."""
    is_better = False
    for bound in bounds:
        for name in sorted({leaf.array.name for leaf in bound.moved} & set(drawn) & set(ends)):
            outside = _outside(graph, bound, values) > 0
            if not outside.any():
                break
            moved = _read(graph, bound, name, outside, values) & drawn[name]
            now, concerned = values[name], [b for b in bounds if mentions(b.gap, (name,))]
            tried = [np.where(moved, ends[name].nearer(now, sign), now) for sign in (-1, 1)]
            amiss = [_amiss(graph, concerned, {**values, name: x}) for x in tried]
            if min(amiss) < _amiss(graph, concerned, values):
                values[name] = tried[amiss.index(min(amiss))]
                is_better = True
    return is_better


def _read(graph: Graph, bound: _Bound, name: str, where: Any, values: Values) -> Any:
    """Which elements of an array a bound reads at some positions."""
    found = np.zeros(np.shape(values[name]), dtype=bool)
    over = bound.child.over
    for leaf in (x for x in bound.moved if x.array.name == name):
        inner = sorted(dims_of(leaf) - {r.dim for r in over}, key=str)
        every = (*over, *(Range(d, 0, size_of(d, graph.sizes)) for d in inner))
        shape = tuple(map(len, every))
        here = np.broadcast_to(np.reshape(where, (*where.shape, *(1,) * len(inner))), shape)
        read = (np.rint(evaluate(i, every, values, graph.sizes)) for i in leaf.indices)
        at = [np.broadcast_to(i, shape)[here].astype(int) for i in read]
        # (a sum over a part of a dim reads nothing at its other positions)
        inside = np.ones(int(here.sum()), dtype=bool)
        for axis, i in enumerate(at):
            inside &= (i >= 0) & (i < found.shape[axis])
        found[tuple(i[inside] for i in at)] = True
    return found
