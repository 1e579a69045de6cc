"""Values moved, step by step, to where the requirements of a start are met.

Comes in: a graph, values, which elements are free, requirements. Goes out: values that are nearer
to meeting them, or meet them. The search takes no derivatives and knows nothing of the form of what
is required: along one direction after the other, it tries steps from tiny to large, to both sides,
and takes the best. The elements that are moved are those that an unmet requirement reads.

A step towards an end of the support of an element divides its distance from there, and one away
from it multiplies that; its own size is the unit where there is no end. Whole numbers go by whole
steps, entries of a simplex and the variances of a matrix by factors; unit vectors are turned.

>>> x, end = np.array([1.0, 8.0]), np.zeros(2)
>>> _Ends(end, np.array([np.inf, 10.0])).stepped(x, np.array([[1.0], [-1.0]]))
array([[2. , 9. ],
       [0.5, 4. ]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import mentions
from gibbsppl.initial.feasible import ONE_BY_ONE, kinds_of
from gibbsppl.initial.requirements import Requirement, concerned, least_amiss
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, fill
from gibbsppl.model.graph import Graph, Statement

# In an order in which moderate steps come first: of several as good, the first is taken.
SIZES = 4.0 ** np.array(sorted(range(-10, 7), key=abs))
STEPS = np.concatenate([[0.0], np.column_stack([SIZES, -SIZES]).ravel()])
ROUNDS = 40
# So many single elements, and so many directions at random, in one round.
MOST_SINGLES = 256
RANDOM = 8
# So many positions of requirements are looked at, a call counting as some hundred.
# The log of the largest factor by which a variance changes at once.
LARGEST_LOG = 300.0
MOST_WORK = 300_000
OF_A_CALL = 100


@dataclass(frozen=True, slots=True)
class _Direction:
    """The relative length and the sign of the move of each element of some arrays.

    ``beyond``: it passes ends of its support that read what is drawn, and can be moved in turn.
    """

    lengths: Values
    beyond: bool = False


def brought_nearer(
    graph: Graph,
    requirements: Sequence[Requirement],
    values: State,
    free: Values,
    rng: np.random.Generator | None = None,
) -> State:
    """The values after moves of all elements of an array that are concerned, until none helps.

    With ``rng`` of single elements, too, and of all of them in directions at random.
    """
    kinds = {n: kinds_of(graph, n) for n in free}
    movable = {n: free[n] for n, k in kinds.items() if k <= ONE_BY_ONE or k <= {*OF_TIED}}
    left = MOST_WORK
    for _ in range(ROUNDS):
        before = values
        moved = concerned(graph, requirements, values, movable)
        for direction in _directions(moved, rng):
            read = [r for r in requirements if r.mentions(direction.lengths)]
            left -= sum(r.size + OF_A_CALL for r in read)
            if left < 0:
                return values
            values = _best_along(graph, read, values, direction)
        if values is before:
            break
    return values


def _directions(moved: Values, rng: np.random.Generator | None) -> Iterator[_Direction]:
    """Whole arrays first, then single elements in an order at random, then all together."""
    names = sorted(moved)
    yield from (_Direction({n: moved[n] * 1.0}) for n in names)
    if rng is None:
        return
    singles = [(n, at) for n in names for at in np.argwhere(moved[n])]
    for i in rng.permutation(len(singles))[:MOST_SINGLES]:
        yield from _of_single(moved, *singles[i])
    for _ in range(RANDOM if len(singles) > 1 else 0):
        lengths = {n: moved[n] * rng.standard_normal(moved[n].shape) for n in names}
        yield _Direction(lengths, beyond=True)


def _of_single(moved: Values, name: str, at: Sequence[int]) -> Iterator[_Direction]:
    """The directions of one element, between the ends of its support and beyond."""
    one = np.zeros(moved[name].shape)
    one[tuple(at)] = 1.0
    yield _Direction({name: one})
    yield _Direction({name: one}, beyond=True)


def _best_along(
    graph: Graph, requirements: Sequence[Requirement], values: State, direction: _Direction
) -> State:
    """The values after the best of all steps along a direction; the same ones if none is better."""
    stacked = {n: _moved(graph, values, n, direction) for n in direction.lengths}
    best = least_amiss(graph, requirements, values, stacked)
    return {**values, **{n: x[best] for n, x in stacked.items()}} if best else values


def _moved(graph: Graph, values: Values, name: str, direction: _Direction) -> Floats:
    """An array after each of the steps along a direction, stacked along the first axis."""
    steps = np.multiply.outer(STEPS, direction.lengths[name])
    now = np.asarray(values[name], dtype=np.float64)
    statements = graph.statements_of(name)
    first = statements[0]
    if first.support.kind in OF_TIED:
        return OF_TIED[first.support.kind](now, steps)
    found = _ends(graph, values, statements, beyond=direction.beyond).stepped(now, steps)
    if graph.variables[name].integer:
        found = np.where(steps > 0, np.ceil(found), np.floor(found))
    return np.where(steps == 0, now, found)


def _of_shares(now: Floats, steps: Floats) -> Floats:
    """Shares with some of them multiplied."""
    with np.errstate(divide="ignore"):
        logs = np.log(now) + steps
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _of_directions(now: Floats, steps: Floats) -> Floats:
    """Unit vectors turned towards some of their axes, or away from them."""
    turned = now + steps
    length = np.linalg.norm(turned, axis=-1, keepdims=True)
    return np.asarray(np.where(length > 0, turned / np.where(length > 0, length, 1.0), now))


def _of_matrices(now: Floats, steps: Floats) -> Floats:
    """Positive definite matrices of other variances; correlations stay."""
    by = np.diagonal(steps, axis1=-2, axis2=-1) / 2
    factors = np.clip(by[..., :, None] + by[..., None, :], -LARGEST_LOG, LARGEST_LOG)
    return np.asarray(now * np.exp(factors))


# The moves of values whose entries, along the last axes, are tied, so that none can go alone.
OF_TIED: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "simplex": _of_shares,
    "sphere": _of_directions,
    "spd": _of_matrices,
}


@dataclass(frozen=True, slots=True)
class _Ends:
    """Where the support of each element of an array ends; infinite where it does not."""

    lower: Floats
    upper: Floats

    def stepped(self, x: Floats, steps: Floats) -> Floats:
        """The elements after steps, upwards where a step is positive."""
        end = np.where(steps > 0, self.upper, self.lower)
        other = np.where(steps > 0, self.lower, self.upper)
        with np.errstate(all="ignore"):
            towards = end - (end - x) / (1 + np.abs(steps))
            distance = np.where(np.isfinite(other), np.abs(x - other), np.abs(x))
            away = x + steps * np.where(distance > 0, distance, 1.0)
            is_ahead = np.isfinite(end) & ((end - x) * np.sign(steps) >= 0)
        return np.where(is_ahead, towards, away)


def _ends(graph: Graph, values: Values, statements: Sequence[Statement], *, beyond: bool) -> _Ends:
    """The ends of the supports of an array's elements; ``beyond``: only the fixed ones."""
    name = statements[0].target.array.name
    found = [{**values, name: np.full(np.shape(values[name]), e)} for e in (-np.inf, np.inf)]
    for s in (s for s in statements if s.support.kind in ("real", "integer")):
        for here, bound in zip(found, (s.support.lower, s.support.upper), strict=True):
            end = sp.sympify(bound)
            if not (beyond and mentions(end, graph.drawn)):
                fill(s, evaluate(end, s.over, values, graph.sizes), here, graph.sizes)
    lower, upper = (here[name] for here in found)
    return _Ends(lower, upper)
