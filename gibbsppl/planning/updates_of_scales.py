"""Gains of the non-centred update of a scale, by theory.

Comes in: an update, and the values of all arrays at a state. Goes out: the effective draws of the
scale in a sweep, with the update and without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import nan, prod

import numpy as np

from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.quadratic import Quadratic, degree_of
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Graph
from gibbsppl.planning.information import Forgotten, block_of_group, rate_of_scale
from gibbsppl.planning.mixing import share_of
from gibbsppl.planning.normal_blocks import sparse_block
from gibbsppl.rewrites.recentring import anchor_of
from gibbsppl.rewrites.stages import NonCentred
from gibbsppl.schedule.sweeps import Schedule


def shares_of_scale(
    interwoven: NonCentred,
    forgets: Callable[[], Forgotten],
    own: Schedule,
    other: Schedule,
    values: Values,
) -> tuple[float, ...]:
    """The effective draws of a scale with its non-centred update and without it.

    With it, but of walks, they are all at best. Without it the scale moves as far as its group
    does, which draws given auxiliary variables forget in part (``forgets``); where these forget
    least, an element is slower than the scale, and no more effective draws count than it has. NaN
    where theory is silent.
    """
    del own, other
    graph = interwoven.before
    block = block_of_group(graph, interwoven.group, values)
    if is_walk(graph, interwoven.group):
        known = known_of_steps(graph, block, interwoven.group, values)
        return _shares_of_steps(nan if known is None else known)
    rate = rate_of_scale(graph, block, interwoven.variables, values)
    if rate is None:
        return 1.0, nan
    told = forgets()
    slowest = share_of(1.0 - told.least)
    moved = (1.0 - rate) * told.of.get(interwoven.group, 1.0)
    return slowest, min(share_of(1.0 - moved), slowest)


def _shares_of_steps(known: float) -> tuple[float, float]:
    """The effective draws of the scale of a walk, of which others tell so much beside its steps.

    Given the walk the draw keeps a share ``1 / (1 + known)``, given its shape ``known / (1 +
    known)``. Where what the two hold fixed is independent, one after the other keep the product (Y.
    Yu and X.-L. Meng, 2011, "To center or not to center: that is not the question", Journal of
    Computational and Graphical Statistics 20).

    >>> _shares_of_steps(1.0)
    (0.75, 0.5)
    """
    return 1.0 - known / (1.0 + known) ** 2, known / (1.0 + known)


def is_walk(graph: Graph, name: str) -> bool:
    """Whether an array is a walk from where a statement of its own begins it."""
    return any(anchor_of(graph, s) is not None for s in graph.statements_of(name))


def known_of_steps(
    graph: Graph, quadratic: Quadratic | None, name: str, values: Values
) -> float | None:
    """The information of a walk's scale given its shape, beside the information of its steps.

    Both are informations on the logarithm of the scale: of the elements by their distances from the
    start, which are multiples of the scale, and of the steps, 2 each. The more is known of a scale
    that is drawn, the less it moves; a walk that has come far, measured by the noise, tells more
    of it than its steps do. None where the array is no walk of this kind, or nothing is told of it.
    """
    own = graph.statements_of(name)
    pairs = ((s, anchor_of(graph, s)) for s in own)
    found = next(((s, anchor) for s, anchor in pairs if anchor is not None), None)
    if quadratic is None or found is None:
        return None
    steps, anchor = found
    names = {s.name for s in own}
    told = tuple(p for p in quadratic.pieces if p.factor not in names)
    if not any(degree_of(p) == 2 for p in told):
        return None
    block = sparse_block(graph, replace(quadratic, pieces=told), values)
    if block is None:
        return None
    away = steps.target - anchor
    over = tuple(Range(d, 0, graph.sizes[d]) for d in steps.target.own_dims)
    shape = tuple(map(len, over))
    distances = np.broadcast_to(evaluate(away, over, values, graph.sizes), shape)
    x = block.as_vector({name: distances})
    return float(x @ (block.precision @ x)) / (2.0 * prod(map(len, steps.over)))
