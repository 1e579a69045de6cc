"""The mixing of sweeps over blocks of few and of many normal variables, by theory.

Comes in: a block, the schedules of sweeps over it, the values of all arrays. Goes out: the
effective draws of a sweep, by the rate at which means converge, as in `mixing`. Of many variables,
few of which are tied, the precision matrix is sparse, and the rate is what sweeps leave of a
deviation in the end (the power method): each exact draw solves a system of its own elements.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, nan, sqrt
from typing import Any

import numpy as np

from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.mixing import is_in_turn, moved_along, rate_of_sweep, rows_of, share_of
from gibbsppl.planning.normal_blocks import LARGEST, SparseBlock, normal_block, sparse_block
from gibbsppl.schedule.choices import SEED
from gibbsppl.schedule.sweeps import Schedule

# The sweeps of a deviation: of the second half the mean fall of its size is the rate.
SWEEPS = 60


def order_of(graph: Graph, block: Quadratic) -> int:
    """The number of elements of a block."""
    return sum(count_of(graph, s) for s in block.statements)


def shares_of_sweeps(
    graph: Graph, block: Quadratic, own: Schedule, other: Schedule, values: Values
) -> tuple[float, ...]:
    """The effective draws of sweeps of two schedules over a block; NaN where theory is silent."""
    if order_of(graph, block) > LARGEST:
        many = sparse_block(graph, block, values)
        rates = [rate_of_many(s, graph, many, values) if many else None for s in (own, other)]
        return tuple(nan if r is None else share_of(r) for r in rates)
    found = normal_block(graph, block, values)
    if found is None:
        return nan, nan
    return tuple(share_of(rate_of_sweep(s, graph, found, values)) for s in (own, other))


def rate_of_many(
    schedule: Schedule, graph: Graph, block: SparseBlock, values: Values
) -> float | None:
    """The rate at which a sweep converges in a block.

    None where it is not of exact draws, or one of these has no precision.
    """
    draws = list[Callable[[Floats], Floats]]()
    for step, own in zip(schedule.steps, schedule.graphs, strict=True):
        interwoven = schedule.interwoven.get(step.name)
        if interwoven is not None:
            draws += [_along(block, d.columns) for d in moved_along(interwoven, block, values)]
        elif own is graph and {*step.variables} & block.numbers.keys():
            if step.is_move:
                return None
            try:
                drawn = _drawn(block, rows_of(step, graph, block), in_turn=is_in_turn(step))
            except RuntimeError:  # (a matrix that is singular)
                return None
            draws.append(drawn)
    left = np.random.default_rng(SEED).standard_normal(len(block.linear))
    falls = list[float]()
    for _ in range(SWEEPS):
        before = _size(block, left)
        for draw in draws:
            left = draw(left)
        after = _size(block, left)
        if after <= before * len(left) * np.finfo(float).eps:
            return 0.0
        falls.append(log(after / before))
        left = left / after
    return float(min(np.exp(np.mean(falls[SWEEPS // 2 :])), 1.0))


def _size(block: SparseBlock, left: Floats) -> float:
    """The size of a deviation, in units of the block."""
    return sqrt(max(float(left @ (block.precision @ left)), 0.0))


def _drawn(block: SparseBlock, rows: Any, *, in_turn: bool) -> Callable[[Floats], Floats]:
    """What a draw of some elements leaves of a deviation: all at once, or ``in_turn``."""
    from scipy import sparse  # noqa: PLC0415  (of large models alone)
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    beside = block.precision[rows, :]
    own = beside[:, rows]
    solve = splu((sparse.tril(own) if in_turn else own).tocsc()).solve

    def after(left: Floats) -> Floats:
        found = left.copy()
        found[rows] -= solve(beside @ left)
        return found

    return after


def _along(block: SparseBlock, columns: Floats) -> Callable[[Floats], Floats]:
    """What a draw along some directions leaves of a deviation."""
    pulled = np.asarray((block.precision @ columns).T)
    own = pulled @ columns

    def after(left: Floats) -> Floats:
        found: Floats = left - columns @ np.linalg.solve(own, pulled @ left)
        return found

    return after
