"""The mixing of scales, and of what is drawn given auxiliary variables: by missing information.

Comes in: a graph, log densities to second order, the values of all arrays at some states. Goes out:
rates of convergence.

A scale that is drawn given its group converges at the rate of the information that is missing: one
less the ratio of what the data say of the scale to what the group says of it (O. Papaspiliopoulos,
G. O. Roberts and M. Skold, 2007, "A general framework for the parametrization of hierarchical
models", Statistical Science 22). A block that is drawn given auxiliary variables converges at the
rate of the information that these are missing, in its worst direction (A. P. Dempster, N. M. Laird
and D. B. Rubin, 1977, Journal of the Royal Statistical Society B 39, of the EM algorithm; J. S.
Liu, 1994, Journal of the American Statistical Association 89, of data augmentation).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import mentions
from gibbsppl.derive.quadratic import Quadratic, degree_of, quadratic_of
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Factor, Graph
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.planning.modal import to_second_order
from gibbsppl.planning.normal_blocks import NormalBlock, normal_block
from gibbsppl.rewrites.recentring import location_and_scale
from gibbsppl.schedule.precisions import masks_of
from gibbsppl.schedule.sweeps import Schedule

# The numbers of an array that are looked at one by one.
MOST_SCALES = 8
# The step of a logarithm by which second differences keep half of the digits.
STEP = float(np.finfo(float).eps) ** 0.25


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The shares of variance that a draw given auxiliary variables forgets of what it was before.

    In the direction, or of the element given all others, of which it forgets least: of all, and
    ``of`` arrays by name.
    """

    least: float
    of: Mapping[str, float]


def forgotten(
    augmented: tuple[Graph, Quadratic],
    states: Sequence[Values],
    plain: tuple[Graph, Quadratic],
    there: Sequence[Values],
) -> Forgotten | None:
    """The shares of a block that is drawn given auxiliary variables, and these given the block.

    ``augmented`` is its log density given these, at states that have them; ``plain`` that of the
    model, to second order, at states of its own. Of the block given these the covariance is an
    average over states: what a draw forgets is the mean of this variance as a share of all
    variance. Of the model the precision is. Of more elements than a matrix has shares are of single
    elements, given all others. None where they are not those of normal densities.
    """
    try:
        complete, observed = (
            _averaged(*augmented, states, inverse=True), _averaged(*plain, there)
        )  # fmt: skip
        if complete is not None and observed is not None:
            return _forgotten_of_blocks(complete, observed)
    except np.linalg.LinAlgError:  # (rounding: it is proper by hardly anything)
        return None
    diagonals = _diagonals(*plain, there)
    complete_ones = _diagonals(*augmented, states, inverse=True)
    each = {n: diagonals[n] / own for n, own in complete_ones.items()}
    if not each or not all(np.isfinite(s).all() for s in each.values()):
        return None
    shares = {n: float(s.min()) for n, s in each.items()}
    return _within_bounds(min(shares.values()), shares)


def _forgotten_of_blocks(complete: NormalBlock, observed: NormalBlock) -> Forgotten | None:
    """The shares of a block, of which there are both precisions."""
    own = complete.numbers.items()
    rows = np.concatenate([observed.numbers[n][at >= 0] for n, at in own])
    known: Any = observed.precision[rows[:, None], rows]
    factor = np.linalg.inv(np.linalg.cholesky(complete.precision))
    least = float(np.linalg.eigvalsh(factor @ known @ factor.T)[0])
    if not np.isfinite(least):
        return None
    places = {n: np.ix_(at[at >= 0], at[at >= 0]) for n, at in own}
    return _within_bounds(least, _of_arrays(complete.precision, known, places, least))


def _of_arrays(
    complete: Any, known: Any, places: Mapping[str, Any], least: float
) -> dict[str, float]:
    """The least share of each array, of two precisions: none is below that of all."""
    try:
        given, whole = np.linalg.inv(complete), np.linalg.inv(known)
        shares = {n: _least_share(given[at], whole[at]) for n, at in places.items()}
    except np.linalg.LinAlgError:
        return dict.fromkeys(places, least)
    return {n: max(least, s) for n, s in shares.items()}


def _least_share(given: Floats, whole: Floats) -> float:
    """The least share that one covariance has of another, of all directions."""
    factor = np.linalg.inv(np.linalg.cholesky(whole))
    return float(np.linalg.eigvalsh(factor @ given @ factor.T)[0])


def _within_bounds(least: float, shares: Mapping[str, float]) -> Forgotten:
    """Shares between 0 and 1, which averages over other states may exceed."""
    bounded = {n: float(np.clip(s, 0.0, 1.0)) for n, s in shares.items()}
    return Forgotten(float(np.clip(least, 0.0, 1.0)), bounded)


def rate_of_augmentation(
    augmented: tuple[Graph, Quadratic],
    states: Sequence[Values],
    plain: tuple[Graph, Quadratic],
    there: Sequence[Values],
) -> float | None:
    """The rate of a block that is drawn given auxiliary variables, and these given the block.

    That of the direction of which a draw forgets least (`forgotten`, with the same arguments).
    """
    found = forgotten(augmented, states, plain, there)
    return None if found is None else 1.0 - found.least


def _averaged(
    graph: Graph, block: Quadratic, states: Sequence[Values], *, inverse: bool = False
) -> NormalBlock | None:
    """The block whose precision is the average over states; None if it is not proper at one.

    Or where the average is beyond all floats. With ``inverse`` its covariance is the average.
    """
    found = [normal_block(graph, block, values) for values in states]
    blocks = [b for b in found if b is not None]
    if len(blocks) < len(found) or not blocks:
        return None
    every = np.array([b.precision for b in blocks])
    with np.errstate(over="ignore"):
        precision = np.linalg.inv(np.linalg.inv(every).mean(0)) if inverse else every.mean(0)
    if not np.isfinite(precision).all():
        return None
    return replace(blocks[0], precision=precision)


def _diagonals(
    graph: Graph, block: Quadratic, states: Sequence[Values], *, inverse: bool = False
) -> dict[str, Floats]:
    """The diagonal of a block's precision, by array, on average over states.

    With ``inverse`` its elements' reciprocals are averages.
    """
    free = masks_of(graph, block, states[0])
    found = {n: np.zeros((len(states), *mask.shape)) for n, mask in free.items()}
    for number, values in enumerate(states):
        for piece in block.pieces:
            first, other = piece.views[0], piece.views[-1]
            if degree_of(piece) < 2 or first.array != other.array:
                continue
            shape = tuple(map(len, piece.over))

            def at(value: Any, over: Any = piece.over, of: Any = values, to: Any = shape) -> Any:
                return np.broadcast_to(evaluate(value, over, of, graph.sizes), to)

            ends = [
                tuple(at(i).astype(np.intp) for i in view.indices if i is not None)
                for view in (first, other)
            ]
            same = np.all([a == b for a, b in zip(*ends, strict=True)], axis=0)
            weight = np.where(same, -2.0 * at(piece.coefficient), 0.0)
            into = found[first.array.name][number, ...]
            rows: Any = np.ravel_multi_index(ends[0], into.shape) if into.ndim else 0
            np.add.at(into.reshape(-1), np.broadcast_to(rows, shape), weight)
    each = {n: own[:, free[n]] for n, own in found.items()}
    with np.errstate(divide="ignore", over="ignore"):
        return {n: 1 / (1 / own).mean(0) if inverse else own.mean(0) for n, own in each.items()}


def block_of_group(graph: Graph, name: str, data: Values) -> Quadratic | None:
    """The log density of a group given all else, to second order.

    None where it is not concave, or not of location-scale families.
    """
    own = graph.statements_of(name)
    if any(s.family.location_scale is None for s in own):
        return None
    return quadratic_of(graph, own, data) or to_second_order(graph, own, data)


def rate_of_scale(
    graph: Graph, quadratic: Quadratic | None, scales: Collection[str], values: Values
) -> float | None:
    """The rate at which a scale converges that is drawn given its group, and the group given it.

    Of the information that the group has of the logarithm of the scale, the share that is missing
    once the group is integrated out. None where the group has no normal block, has more than one
    scale, or is too large.
    """
    if quadratic is None or any(np.size(values[v]) != 1 for v in scales):
        return None
    block = normal_block(graph, quadratic, values)
    prior = None if block is None else _prior_precision(graph, quadratic, block, values)
    if block is None or prior is None:
        return None
    # (how much better the elements are known given the data, in units of their prior)
    better = np.eye(len(prior)) - prior @ np.linalg.inv(block.precision)
    return float(np.clip(1.0 - np.sum(better * better.T) / len(prior), 0.0, 1.0))


def _prior_precision(
    graph: Graph, quadratic: Quadratic, block: NormalBlock, values: Values
) -> Floats | None:
    """The precision of a group by its own statements alone; by their scale if there is one."""
    if len(quadratic.statements) > 1:
        names = {s.name for s in quadratic.statements}
        own = tuple(p for p in quadratic.pieces if p.factor in names)
        found = normal_block(graph, replace(quadratic, pieces=own), values)
        return None if found is None else found.precision
    (group,) = quadratic.statements
    name = group.target.array.name
    scale: Any = evaluate(location_and_scale(group)[1], group.over, values, graph.sizes)
    whole = np.ones(block.numbers[name].shape)
    where = slices_of(region_of(graph, group))
    every = np.broadcast_to(scale, tuple(map(len, group.over)))
    whole[where] = np.reshape(every, whole[where].shape)
    return np.diag(block.as_vector({name: whole}) ** -2.0)


def rate_of_scales(
    schedule: Schedule, graph: Graph, block: Quadratic, states: Sequence[Values]
) -> float:
    """The highest rate of the positive numbers that are drawn given a block, and the block given.

    Of the information that the conditional of each has of its logarithm, the share that is missing
    once the block is integrated out: the variance of the slope of the log density, for a block
    drawn given the number (T. A. Louis, 1982, Journal of the Royal Statistical Society B 44). Both
    are averages over states. Numbers with a non-centred update, and arrays with many, are left out,
    and numbers of which nothing would be known.
    """
    again = {v for i in schedule.interwoven.values() for v in i.variables}
    places = list[tuple[str, tuple[int, ...]]]()
    for statement in graph.latent:
        name, support = statement.target.array.name, statement.support
        if support.kind != "real" or support.lower != 0 or name in again:
            continue
        if any(mentions(p.coefficient, (name,)) for p in block.pieces):
            where = np.zeros(np.shape(states[0][name]), dtype=bool)
            where[slices_of(region_of(graph, statement)) if where.ndim else ()] = True
            own = [(name, tuple(map(int, at))) for at in np.argwhere(where)]
            places += own if len(own) <= MOST_SCALES else []
    total = np.zeros((len(places), 2))
    for values in states if places else ():
        here = normal_block(graph, block, values)
        if here is None:
            return 0.0
        total += [_information(graph, block, here, values, *place) for place in places]
    return max((float(m / c) for m, c in total if 0 < m < c), default=0.0)


def _information(
    graph: Graph,
    block: Quadratic,
    here: NormalBlock,
    values: Values,
    name: str,
    at: tuple[int, ...],
) -> tuple[float, float]:
    """The information on the log of an element: what a block is missing, and what it has."""

    def moved(step: float) -> dict[str, Any]:
        array = np.array(values[name], dtype=float)
        array[at] *= np.exp(step)
        return {**values, name: array[()]}

    states = [moved(step) for step in (-STEP, 0.0, STEP)]
    own = replace(block, pieces=tuple(p for p in block.pieces if mentions(p.coefficient, (name,))))
    below, above = (normal_block(graph, own, v, whole=False) for v in (states[0], states[2]))
    if below is None or above is None:
        return 0.0, 0.0
    factors = graph.factors_of(name)
    low, middle, high = (
        sum(float(np.sum(_log_density(f, v, graph))) for f in factors) for v in states
    )
    covariance = np.linalg.inv(here.precision)
    slope = (above.precision - below.precision) / (2 * STEP)
    linear = (above.linear - below.linear) / (2 * STEP) - slope @ (covariance @ here.linear)
    both = slope @ covariance
    missing = float(np.sum(both * both.T)) / 2 + float(linear @ covariance @ linear)
    return missing, (2 * middle - low - high) / STEP**2


def _log_density(factor: Factor, values: Values, graph: Graph) -> Floats:
    """The log density of a factor, at all of its positions."""
    shape = tuple(map(len, factor.over))
    found: Floats = np.broadcast_to(
        evaluate(factor.log_density, factor.over, values, graph.sizes), shape
    )
    return found
