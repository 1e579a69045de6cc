"""The mixing of sweeps over normal variables, by theory, at a state.

Comes in: a block with a quadratic log density, the schedule of a sweep over it, the values of all
arrays. Given all others, its elements are normal, and each exact draw of some of them is a
projection, orthogonal in the metric of the precision matrix: of what is drawn nothing is left. A
sweep is the product of these, and its spectral radius is the rate at which the block's means
converge; a joint draw has rate 0 (G. O. Roberts and S. K. Sahu, 1997, "Updating schemes,
correlation structure, blocking and parameterization for the Gibbs sampler", Journal of the Royal
Statistical Society B 59). A non-centred update of locations draws them along a direction of their
own, their group moving along, and so is one more projection. The effective draws of a sweep are
``(1 - rate) / (1 + rate)``: those of a first-order autoregression.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.model.stand_ins import with_originals, with_stand_ins
from gibbsppl.planning.normal_blocks import NormalBlock, Numbered, normal_block
from gibbsppl.planning.proposals import accepted_share
from gibbsppl.planning.rules import RULES
from gibbsppl.planning.turning import Turned, turned
from gibbsppl.rewrites.stages import NonCentred
from gibbsppl.runtime.types import Ints
from gibbsppl.schedule.kinds import DensityDraw, Single
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# So many squarings leave of a norm, which is at most the root of the order times the radius, the
# radius to three digits.
SQUARINGS = 10
SLOWEST = RULES["slowest"].value


def share_of(rate: float) -> float:
    """The effective draws of a sweep that converges at a rate.

    >>> share_of(0.0), round(share_of(0.5), 3)
    (1.0, 0.333)
    """
    return max(0.0, (1.0 - rate) / (1.0 + rate))


class Drawn(NamedTuple):
    """The directions of exact draws, columns of a matrix: all at once, or ``in_turn``.

    Of proposals, a ``share`` is accepted.
    """

    columns: Floats
    in_turn: bool = False
    share: float = 1.0

    def after(self, unit: Floats, scale: Floats, left: Floats) -> Floats:
        """What is left of deviations, in units in which the precision has ones on its diagonal."""
        along = self.columns * scale[:, None]
        pulled = along.T @ unit
        own = pulled @ along
        # (in turn, none of what is drawn later has changed)
        drawn = along @ np.linalg.solve(np.tril(own) if self.in_turn else own, pulled @ left)
        found: Floats = left - self.share * drawn
        return found


def rate_of(precision: Floats, draws: Iterable[Drawn | Turned]) -> float:
    """The rate of a sweep of exact draws, and of moves along ellipses.

    Two normal variables of correlation 0.8, one drawn after the other, and the two together:

    >>> q = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    >>> one_by_one, together = Drawn(np.eye(2), in_turn=True), Drawn(np.eye(2))
    >>> round(rate_of(q, [one_by_one]), 3), rate_of(q, [together])
    (0.64, 0.0)
    """
    return _radius(_left_of(precision, draws)[1])


def worst_share(precision: Floats, draws: Iterable[Drawn | Turned]) -> float:
    """The effective draws of a sweep of the element that mixes worst.

    The autocovariances of a sweep that leaves ``B`` of deviations are ``B^k C``, with the
    covariance ``C``: all of them, in both directions of time, add up to ``(1 - B)^-1 (1 + B) C``.
    The rate is that of the worst direction in the end, which may be of no element.

    >>> q = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    >>> round(worst_share(q, [Drawn(np.eye(2), in_turn=True)]), 3), round(share_of(0.64), 3)
    (0.22, 0.22)
    """
    unit, left = _left_of(precision, draws)
    covariance, same = np.linalg.inv(unit), np.eye(len(unit))
    try:
        total = np.linalg.solve(same - left, (same + left) @ covariance)
    except np.linalg.LinAlgError:
        return 0.0
    shares = np.diag(covariance) / np.diag(total)
    return float(np.clip(shares.min(), 0.0, 1.0)) if np.isfinite(shares).all() else 0.0


def _left_of(
    precision: Floats, draws: Iterable[Drawn | Turned]
) -> tuple[Floats, Floats]:
    """The precision in units of its diagonal, and what a sweep leaves of deviations in these."""
    scale = np.sqrt(np.diag(precision))
    unit = precision / scale / scale[:, None]
    left = np.eye(len(unit))
    for draw in draws:
        left = draw.after(unit, scale, left)
    return unit, left


def _radius(matrix: Floats) -> float:
    """The spectral radius, as the root of the norm of a high power (I. Gelfand); 0 if rounding."""
    power, log_norm = matrix, 0.0
    for _ in range(SQUARINGS):
        size = float(np.linalg.norm(power))
        if size == 0:
            return 0.0
        power = power / size
        power, log_norm = power @ power, 2 * (log_norm + np.log(size))
    size = float(np.linalg.norm(power))
    found = np.exp((log_norm + np.log(size)) / 2**SQUARINGS) if size else 0.0
    rounding = len(matrix) * float(np.finfo(float).eps)
    return float(found) if found > np.sqrt(rounding) else 0.0


def mean_rate(
    schedule: Schedule, graph: Graph, block: Quadratic, states: Sequence[Values]
) -> float | None:
    """The mean rate of sweeps over a block; None where it is too large or improper."""
    found = [normal_block(graph, block, values) for values in states]
    if not found or any(b is None for b in found):
        return None
    pairs = [(b, v) for b, v in zip(found, states, strict=True) if b is not None]
    return float(np.mean([rate_of_sweep(schedule, graph, b, v) for b, v in pairs]))


def share_of_scales(schedule: Schedule, names: Collection[str]) -> float:
    """The most effective draws of a sweep, as some variables are groups whose scales are drawn."""
    every = schedule.interwoven.values()
    has_scale = any(i.what == "scale" and i.group in names for i in every)
    return SLOWEST if has_scale else 1.0


def rate_of_sweep(schedule: Schedule, graph: Graph, block: NormalBlock, values: Values) -> float:
    """The rate at which a sweep of a schedule converges in a block of a graph.

    1 where elements of the block are moved otherwise than `moves_of` knows, or drawn in other
    graphs alone.
    """
    return rate_of(block.precision, moves_of(schedule, graph, block, values))


def moves_of(
    schedule: Schedule, graph: Graph, block: NormalBlock, values: Values
) -> list[Drawn | Turned]:
    """The draws of elements of a block in a sweep, their moves along ellipses, and proposals.

    Slices of single elements count as draws.
    """
    found = list[Drawn | Turned]()
    for step, own in zip(schedule.steps, schedule.graphs, strict=True):
        interwoven = schedule.interwoven.get(step.name)
        if interwoven is not None:
            found += moved_along(interwoven, block, values)
        elif own is graph and set(step.variables) & set(block.numbers):
            if step.reference is not None and step.of_reference is not None:
                found += _turned(step.reference, step.of_reference, own, block, values)
            elif not step.is_move or _is_sliced(step):
                found.append(_drawn(step, own, block))
            elif (share := accepted_share(step, values)) is not None:
                found.append(_proposed(step, own, block, share))
    return found


def _is_sliced(step: Step) -> bool:
    """Whether elements are moved by slices, each by itself."""
    return isinstance(step, DensityDraw) and (step.asked is None or step.asked.slices)


def _turned(
    reference: Step, of: Graph, graph: Graph, block: NormalBlock, values: Values
) -> list[Turned]:
    """The moves along ellipses of a normal part; none where it is too large or improper."""
    quadratic = reference.conditional
    part = normal_block(of, quadratic, values) if isinstance(quadratic, Quadratic) else None
    if part is None:
        return []
    rows = np.concatenate([block.of(s, graph) for s in reference.statements])
    inside = np.ix_(rows, rows)
    own = replace(block, precision=block.precision[inside], linear=block.linear[rows])
    matrix = np.zeros(block.precision.shape)
    matrix[inside] = turned(own, part, block.as_vector(values)[rows]).matrix
    return [Turned(matrix)]


def _drawn(step: Step, graph: Graph, block: NormalBlock) -> Drawn:
    """The directions of the draws of a step, of all its elements at once or one by one."""
    return Drawn(np.eye(len(block.precision))[:, rows_of(step, graph, block)], is_in_turn(step))


def rows_of(step: Step, graph: Graph, block: Numbered) -> Ints:
    """The rows of the elements that a step draws."""
    inside = [s for s in step.statements if s.target.array.name in block.numbers]
    found: Ints = np.concatenate([block.of(s, graph) for s in inside])
    return found


def is_in_turn(step: Step) -> bool:
    """Whether a step draws its elements one by one."""
    return isinstance(step, Single) and step.is_by_element


def _proposed(step: Step, graph: Graph, block: NormalBlock, share: float) -> Drawn:
    """The directions of proposals: of all elements, or of some along which the others move."""

    def rows(*, last: bool) -> Ints:
        own = (s for s in step.statements if (s.target.array.name in step.last) == last)
        found = [block.of(s, graph) for s in own if s.target.array.name in block.numbers]
        return np.concatenate([*found, np.zeros(0, dtype=np.intp)]).astype(np.intp)

    border, inside = rows(last=bool(step.last)), rows(last=False)
    columns = np.eye(len(block.precision))[:, border]
    if step.last:
        inner, beside = (block.precision[np.ix_(inside, r)] for r in (inside, border))
        columns[inside] = -np.linalg.solve(inner, beside)
    return Drawn(columns, share=share)


def moved_along(interwoven: NonCentred, block: Numbered, values: Values) -> list[Drawn]:
    """The directions of a non-centred update of locations in a block; none of scales."""
    if interwoven.what == "scale" or not {*interwoven.variables} <= set(block.numbers):
        return []
    changes, sizes = interwoven.stand_ins, interwoven.graph.sizes
    there = with_stand_ins(changes, values, sizes)
    before = block.as_vector(with_originals(changes, there, sizes))
    columns = []
    for name in interwoven.variables:
        for at in np.argwhere(block.numbers[name] >= 0):
            moved = np.array(there[name], dtype=float)
            moved[tuple(at)] += 1.0
            after = with_originals(changes, {**there, name: moved}, sizes)
            columns.append(block.as_vector(after) - before)
    return [Drawn(np.stack(columns, axis=1))] if columns else []
