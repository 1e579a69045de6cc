"""Matrix factorisation, the sweep written by hand: a row of factors in one draw, all rows at once.

Ratings are sorted by row once, so that those of a row are a slice: sums over them are
``np.add.reduceat`` or, where there is more to add up than a call costs, one product per row.
"""

import numpy as np

SMALL = 20_000


def prepare(left, right, value, shape, level):
    """What depends on the data alone; every row is assumed to have a rating."""
    sides = []
    for mine, other, size in ((left, right, shape[0]), (right, left, shape[1])):
        order = np.argsort(mine, kind="stable")
        starts = np.searchsorted(mine[order], np.arange(size))
        sides.append((other[order], value[order] - level, starts))
    return {"sides": sides, "shape": shape}


def start(rng, c, factors):
    """Factors at unit scale."""
    rows, columns = c["shape"]
    return {
        "U": rng.standard_normal((rows, factors)),
        "V": rng.standard_normal((columns, factors)),
    }


def sweep(rng, s, c, tau=10.0):
    """All rows of U, then all rows of V."""
    for mine, other, side in (("U", "V", c["sides"][0]), ("V", "U", c["sides"][1])):
        s[mine] = _rows(rng, s[other], *side, tau)


def _rows(rng, other, index, value, starts, tau):
    known = other.take(index, axis=0)
    precision = tau * _squares(known, starts) + np.eye(known.shape[1])
    moments = tau * np.add.reduceat(known * value[:, None], starts)
    lower = np.linalg.cholesky(precision)
    # Triangular systems, all rows at once: the entry is the first axis, so that rows are adjacent.
    triangle = np.ascontiguousarray(lower.transpose(1, 2, 0))
    solution = moments.T.copy()
    for i in range(len(solution)):
        solution[i] /= triangle[i, i]
        solution[i + 1 :] -= triangle[i + 1 :, i] * solution[i]
    solution += rng.standard_normal(solution.shape)
    for i in reversed(range(len(solution))):
        solution[i] /= triangle[i, i]
        solution[:i] -= triangle[i, :i] * solution[i]
    return solution.T.copy()


def _squares(known, starts):
    """For each row the sum of the outer products of what it meets."""
    ratings, factors = known.shape
    if ratings * factors**2 < SMALL:
        outer = (known[:, :, None] * known[:, None, :]).reshape(ratings, -1)
        return np.add.reduceat(outer, starts).reshape(-1, factors, factors)
    squares = np.empty((len(starts), factors, factors))
    stops = [*starts[1:].tolist(), ratings]
    for square, first, last in zip(squares, starts.tolist(), stops, strict=True):
        block = known[first:last]
        np.dot(block.T, block, out=square)
    return squares
