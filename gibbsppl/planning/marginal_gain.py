"""What moves of a few numbers gain where a variable that they see is integrated out, by theory.

Comes in: a plan, the same with a variable integrated out of moves, states. Goes out: the effective
draws of a sweep of both. Numbers that are drawn given a variable, and it given them, converge at
the rate of the information that is missing without it (as with auxiliary variables, `information`):
one less the ratio of what is known of them without it and with it, in the worst direction. What is
known is minus the second derivative of the log density, by differences, on scales without bounds;
where the log density is not concave, how much it bends all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import exp, expm1
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.supports import Support
from gibbsppl.model.density import log_density
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.planning.information import STEP
from gibbsppl.planning.mixing import Drawn, rate_of, share_of

# So many numbers are looked at together: differences take the square of it.
MOST_NUMBERS = 12


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A number of an array on a scale without bounds: ``moved`` takes it a step from a value.

    Second differences are those of steps of a ``size``: of whole numbers of one.
    """

    array: str
    at: tuple[int, ...]
    moved: Callable[[float, float], float]
    size: float


def coordinates(graph: Graph, names: Collection[str]) -> tuple[Coordinate, ...]:
    """The numbers of some arrays; none where one is in no interval with known ends, or too many."""
    found = list[Coordinate]()
    for statement in graph.latent:
        name = statement.target.array.name
        if name not in names:
            continue
        moved = _moved_within(statement.support)
        shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
        drawn = np.zeros(shape, dtype=bool)
        drawn[slices_of(region_of(graph, statement)) if shape else ()] = True
        places = np.argwhere(drawn) if shape else [()]
        if moved is None or len(found) + len(places) > MOST_NUMBERS:
            return ()
        size = 1.0 if statement.support.is_discrete else STEP
        found += [Coordinate(name, tuple(map(int, at)), moved, size) for at in places]
    return tuple(found)


def _moved_within(support: Support) -> Callable[[float, float], float] | None:
    """The steps of numbers in an interval; None where it has ends that are no numbers.

    (Of whole numbers, whose steps are one, ends may be anything: beyond them nothing is known.)
    """
    if support.kind == "integer":
        return lambda x, step: x + step
    lower, upper = (sp.sympify(e) for e in (support.lower, support.upper))
    if support.kind != "real" or not (lower.is_number and upper.is_number):
        return None
    low, high = float(lower), float(upper)
    if np.isinf(low) and np.isinf(high):
        return lambda x, step: x + step
    if np.isinf(high):
        return lambda x, step: low + (x - low) * exp(step)
    if np.isinf(low):
        return lambda x, step: high - (high - x) * exp(-step)
    # (of the log of the odds of where it is between the ends)
    return lambda x, step: x + (x - low) * (high - x) * expm1(step) / (
        high - low + (x - low) * expm1(step)
    )


def shares_of_moves(
    given: Graph, without: Graph, names: Collection[str], states: Sequence[Values]
) -> tuple[float, float] | None:
    """The effective draws of a sweep over numbers, moved one by one in each of two graphs.

    In the second one a variable of the first is integrated out. None where theory is silent.
    """
    own = coordinates(given, names)
    complete, observed = (known_of(g, own, states) for g in (given, without))
    if complete is None or observed is None:
        return None
    factor = np.linalg.inv(np.linalg.cholesky(complete))
    known = float(np.clip(np.linalg.eigvalsh(factor @ observed @ factor.T)[0], 0.0, 1.0))
    kept = (1.0 - _rate_one_by_one(complete)) * known
    return share_of(1.0 - kept), share_one_by_one(observed)


def share_one_by_one(information: Floats) -> float:
    """The effective draws of a sweep over numbers that are moved one by one; together it is 1."""
    return share_of(_rate_one_by_one(information))


def _rate_one_by_one(information: Floats) -> float:
    return rate_of(information, [Drawn(np.eye(len(information)), in_turn=True)])


def known_of(graph: Graph, own: Sequence[Coordinate], states: Sequence[Values]) -> Floats | None:
    """The information of some numbers, on average over states; None where it is no number."""
    if not own or not states:
        return None
    with np.errstate(all="ignore"):
        found = np.mean([_information(graph, own, values) for values in states], axis=0)
    if not np.isfinite(found).all():
        return None
    found = _bent(found)
    try:
        np.linalg.cholesky(found)
    except np.linalg.LinAlgError:
        return None
    known: Floats = found
    return known


def _bent(information: Floats) -> Floats:
    """The information, by how much the log density bends in each direction, whichever way.

    Where it is not concave, as far out, moves go about as far as curvature lets them (M.
    Betancourt, 2013, "A general metric for Riemannian manifold Hamiltonian Monte Carlo").
    Directions are those of numbers in units of their own curvature.
    """
    scale = np.sqrt(np.abs(np.diag(information)))
    if not scale.all():
        return information
    values, vectors = np.linalg.eigh(information / scale / scale[:, None])
    found: Floats = (vectors * np.abs(values)) @ vectors.T * scale * scale[:, None]
    return information if values[0] > 0 else found


def _information(graph: Graph, own: Sequence[Coordinate], values: Values) -> Floats:
    """Minus the second derivatives of the log density in some coordinates."""
    names = {c.array for c in own}
    kinds = {n: None if graph.variables[n].integer else float for n in names}
    factors = {f.name: f for n in names for f in graph.factors_of(n)}.values()

    def at(steps: Floats) -> float:
        moved: dict[str, Any] = {n: np.array(values[n], dtype=kinds[n]) for n in names}
        for coordinate, step in zip(own, steps, strict=True):
            array = moved[coordinate.array]
            array[coordinate.at] = coordinate.moved(float(array[coordinate.at]), float(step))
        state = {**values, **{n: a[()] for n, a in moved.items()}}
        return sum(float(np.sum(log_density(f, state, graph.sizes))) for f in factors)

    size = len(own)
    steps = np.array([c.size for c in own])
    unit, found = np.diag(steps), np.zeros((size, size))
    middle = at(np.zeros(size))
    one = [at(s * e) for e in unit for s in (1.0, -1.0)]
    for i in range(size):
        found[i, i] = one[2 * i] + one[2 * i + 1] - 2 * middle
        for j in range(i):
            both = at(unit[i] + unit[j]) + at(-unit[i] - unit[j])
            apart = sum(one[2 * i : 2 * i + 2]) + sum(one[2 * j : 2 * j + 2])
            found[i, j] = found[j, i] = (both - apart + 2 * middle) / 2
    information: Floats = -found / steps / steps[:, None]
    return information
