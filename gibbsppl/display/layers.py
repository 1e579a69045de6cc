"""In which row of a picture each node stands, from the top.

Comes in: nodes, edges and plates. Goes out: the number of a row for each node. Edges go down, and
are short; those that would close a circle go up. A linear program of differences: its vertices are
whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from gibbsppl.display.plates import Path, every_plate

Pair = tuple[str, str]

# What a row more of a plate costs, where an edge's costs 1.
TALL_PLATE = 0.3
# What a node costs in each row further down, so that what nothing ties is at the top.
UPWARDS = 1e-4


def rows_of(paths: Mapping[str, Path], edges: Sequence[Pair]) -> dict[str, int]:
    """The row of each node, the uppermost 0.

    >>> rows_of({"mu": (), "y": (), "sd": ()}, [("mu", "y"), ("sd", "y")])
    {'mu': 0, 'y': 1, 'sd': 0}
    """
    nodes, plates = list(paths), every_plate(paths.values())
    at = {n: i for i, n in enumerate(nodes)}
    top = {p: len(nodes) + 2 * i for i, p in enumerate(plates)}
    down = [(at[a], at[b], 1.0) for a, b in edges if a != b]
    apart = list(down)
    for plate in plates:
        inside = [at[n] for n in nodes if paths[n][: len(plate)] == plate]
        apart += [pair for i in inside for pair in ((top[plate], i, 0.0), (i, top[plate] + 1, 0.0))]
    cost = np.zeros(len(nodes) + 2 * len(plates))
    cost[: len(nodes)] = UPWARDS
    for a, b, _ in down:
        cost[a] -= 1
        cost[b] += 1
    for i in top.values():
        cost[i : i + 2] += -TALL_PLATE, TALL_PLATE
    found = _smallest(cost, apart)
    lowest = min((found[at[n]] for n in nodes), default=0)
    return {n: found[at[n]] - lowest for n in nodes}


def _smallest(cost: np.ndarray, apart: Sequence[tuple[int, int, float]]) -> list[int]:
    """Whole numbers of least cost, the second of each pair as far behind the first as is said."""
    if not apart:
        return [0] * len(cost)
    first, second, gaps = map(np.array, zip(*apart, strict=True))
    each = np.arange(len(apart))
    signs = np.repeat([1.0, -1.0], len(apart))
    places = np.concatenate([each, each]), np.concatenate([first, second])
    above = csr_array((signs, places), shape=(len(apart), len(cost)))
    bounds = (0, len(cost))
    found = linprog(cost, A_ub=above, b_ub=-gaps, bounds=bounds, method="highs-ds")
    return [int(v) for v in np.rint(found.x)]


def without_circles(names: Iterable[str], edges: Iterable[Pair]) -> list[Pair]:
    """The edges, those turned round that lead back to where a search in depth comes from.

    >>> without_circles(["x", "y"], [("x", "y"), ("y", "x"), ("x", "x")])
    [('x', 'y'), ('x', 'y'), ('x', 'x')]
    """
    edges = list(edges)
    after: dict[str, list[str]] = {n: [b for a, b in edges if a == n] for n in names}
    state: dict[str, int] = {}  # (1 while what comes after is searched, then 2)
    back: set[Pair] = set()
    starts = sorted(after, key=lambda n: sum(b == n for a, b in edges if a != n))
    for start in starts:
        stack = [] if start in state else [(start, iter(after[start]))]
        state.setdefault(start, 1)
        while stack:
            node, rest = stack[-1]
            found = next(rest, None)
            if found is None:
                state[node] = 2
                stack.pop()
            elif found not in state:
                state[found] = 1
                stack.append((found, iter(after[found])))
            elif state[found] == 1:
                back.add((node, found))
    return [(b, a) if (a, b) in back else (a, b) for a, b in edges]
