"""Fields on maps: pairs of neighbours, from the vectors of GeoBUGS.

``num[i]`` is the number of neighbours of site i, and ``adj`` has the neighbours of all sites one
after the other, counted from 1; a third vector of the same length as ``adj`` has their weights.

>>> tied = pairs_of([2, 1, 3, 2], [1.0, 1.0, 2.0, 2.0], [1, 2, 1])
>>> tied.first, tied.second, tied.weights
(array([0, 1]), array([1, 2]), array([1., 2.]))
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike
from sympy import log, pi

from gibbsppl.algebra.expressions import Expr
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.rows import Field, Sites
from gibbsppl.errors import ModelError


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of neighbours, each once, with the weight of the second at the first, and back."""

    size: int
    first: Array
    second: Array
    weights: Array
    back: Array


def pairs_of(adj: ArrayLike, weights: ArrayLike, num: ArrayLike) -> Pairs:
    """The pairs of neighbours; `ModelError` where the vectors do not fit one another."""
    adj, num = _positions("adj", adj), _positions("num", num)
    weights = np.asarray(weights, dtype=float)
    if len(adj) != num.sum() or len(weights) != len(adj):
        raise ModelError(
            f"found {len(adj)} neighbours and {len(weights)} weights, but num says that there are "
            f"{num.sum()}; expected one of each for every neighbour of every site."
        )
    if len(adj) and not 1 <= adj.min() <= adj.max() <= len(num):
        raise ModelError(
            f"found the neighbours {adj.min()} to {adj.max()} in adj; expected sites from 1 to "
            f"{len(num)}, the length of num."
        )
    sites = np.repeat(np.arange(len(num)), num)
    ends = zip(sites.tolist(), (adj - 1).tolist(), strict=True)
    directed = dict(zip(ends, weights.tolist(), strict=True))
    _check_pairs(directed, len(adj))
    kept = [(i, j) for i, j in directed if i < j]
    first, second = np.array(kept, dtype=np.intp).reshape(-1, 2).T
    return Pairs(
        len(num),
        first,
        second,
        np.array([directed[i, j] for i, j in kept]),
        np.array([directed[j, i] for i, j in kept]),
    )


def _positions(name: str, values: ArrayLike) -> Array:
    found = np.asarray(values)
    if found.ndim != 1 or (found != np.rint(found)).any() or (found < 0).any():
        raise ModelError(f"found {name} = {found}; expected a vector of whole numbers.")
    return found.astype(np.intp)


def _check_pairs(directed: dict[tuple[int, int], float], count: int) -> None:
    if len(directed) < count:
        raise ModelError(
            "found a site twice among the neighbours of another one; expected it once."
        )
    for i, j in directed:
        if i == j:
            raise ModelError(f"found site {i + 1} among its own neighbours; leave it out of adj.")
        if (j, i) not in directed:
            raise ModelError(
                f"found site {j + 1} among the neighbours of site {i + 1}, but not the other way "
                "round; expected both or neither."
            )


def _intrinsic_sites(adj: ArrayLike, weights: ArrayLike, num: ArrayLike) -> Sites:
    """Sites tied by weights; ``rank`` is each site's share of the rank of the precision matrix."""
    pairs = pairs_of(adj, weights, num)
    _check_equal(pairs.weights, pairs.back, pairs)
    if (pairs.weights <= 0).any():
        raise ModelError(
            f"found the weight {pairs.weights.min():g}; expected positive ones: sites that are not "
            "tied are no neighbours."
        )
    for site in np.flatnonzero(np.asarray(num) == 0)[:1]:
        raise ModelError(
            f"found site {site + 1} without neighbours; its value would be known by nothing: leave "
            "it out of the map."
        )
    graph = nx.Graph(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    graph.add_nodes_from(range(pairs.size))
    parts = nx.number_connected_components(graph)
    rank = np.full(pairs.size, 1 - parts / pairs.size)
    return Sites(pairs.first, pairs.second, {"weight": pairs.weights}, {"rank": rank})


def _proper_sites(C: ArrayLike, adj: ArrayLike, num: ArrayLike, M: ArrayLike) -> Sites:
    """Sites of variances M / tau whose precision matrix is ``tau (I - gamma C) / M``.

    Its determinant is that of tau / M times the product of ``1 - gamma eigenvalue``.
    """
    pairs, M = pairs_of(adj, C, num), np.asarray(M, dtype=float)
    if M.shape != (pairs.size,) or (M <= 0).any():
        raise ModelError(
            f"found M = {M}; expected {pairs.size} positive numbers, one for each site of num."
        )
    tied = pairs.weights / M[pairs.first]
    _check_equal(tied, pairs.back / M[pairs.second], pairs)
    scaled = np.zeros((pairs.size, pairs.size))
    scaled[pairs.first, pairs.second] = tied * np.sqrt(M[pairs.first] * M[pairs.second])
    eigenvalues = np.linalg.eigvalsh(scaled + scaled.T)
    data = {"variance": M, "eigenvalue": eigenvalues}
    return Sites(pairs.first, pairs.second, {"tied": tied}, data)


def _check_equal(there: Array, back: Array, pairs: Pairs) -> None:
    """Raise unless each pair of sites has the same entry both ways, up to rounding."""
    unequal = np.abs(there - back) > 8 * np.finfo(float).eps * np.abs(there)
    for at in np.flatnonzero(unequal)[:1]:
        raise ModelError(
            f"found {there[at]:g} from site {pairs.first[at] + 1} to site {pairs.second[at] + 1}, "
            f"and {back[at]:g} back; expected the same: the precision matrix is symmetric."
        )


def _proper_site(
    x: Expr, *, tau: Expr, gamma: Expr, variance: Expr, eigenvalue: Expr
) -> Expr:
    return (
        (log(tau) - log(variance) - log(2 * pi) + log(1 - gamma * eigenvalue)) / 2
        - tau * x**2 / (2 * variance)
    )


# Besag, York and Mollie (1991), with the power of tau of Knorr-Held (2003), as GeoBUGS has them.
INTRINSIC = Field(
    names=("car.normal",),
    parameters={"adj": 1, "weights": 1, "num": 1, "tau": 0},
    known=("adj", "weights", "num"),
    sites=_intrinsic_sites,
    site=lambda x, *, tau, rank: rank * log(tau) / 2,  # noqa: ARG005
    pair=lambda x, y, *, tau, weight: -tau * weight * (x - y) ** 2 / 2,
    is_centred=True,
)

PROPER = Field(
    names=("car.proper",),
    parameters={"mu": 1, "C": 1, "adj": 1, "num": 1, "M": 1, "tau": 0, "gamma": 0},
    known=("C", "adj", "num", "M"),
    sites=_proper_sites,
    site=_proper_site,
    pair=lambda x, y, *, tau, gamma, tied: tau * gamma * tied * x * y,
    centre="mu",
)
