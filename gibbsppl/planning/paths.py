"""The choice of variables that move together along paths, in place of slices one by one.

Comes in: the draws of a stage. Goes out: the same with one move by the no-U-turn sampler in place
of variables that no family owns and no proof calls log-concave, where each depends on each, their
log density is smooth, and there are three elements or more; and of what log densities read through
an array that is computed in sequence, such as the innovations of a series, and its parameters.

Slices move one element as far as the others let it, and evaluate the whole log density for each; a
path turns with all of them, and its gradient takes a few times as long as the log density.
Effective draws per CPU second of the worst scalar, compiled (`tests/benchmarks/paths.py`):

==================================================  ==========  ========
posterior                                           one by one     paths
==================================================  ==========  ========
neural network, weights and biases of 3 units              280       380
Gaussian process with noise, 3 parameters               10,000    58,000
two exponentials, 3 parameters                           3,000    14,000
ratio of powers, 4 parameters                               52     1,200
curve whose 3 parameters are hardly tied               110,000   150,000
pair of parameters of a curve                           31,000    33,000
two coordinates on a ring                              340,000     9,400
GARCH, 4 parameters, of which two add up below one       1,500     1,100
growth of 5 trees, whose parameters are apart                130      0.54
fire: claims of two kinds on both sides of a bound         7.8       710
==================================================  ==========  ========

Each element of a series that is drawn by itself computes all that comes after it anew, as does a
single one of its parameters, and the gradient of all of them takes a few times as long as one log
density: of log variances with 60 innovations a sweep takes 30 thousand operations by paths, 5
million by slices, and 2 million by adaptive rejection. So there paths are taken also in place of
draws by proofs of concavity, and of ellipses (a twelfth of the effective draws of the scale).

Pairs are left to slices, and elements of which several are moved in one call, unless theory finds
them on a ridge (`along_paths`). So are log
densities with conditions that change with what is moved: a gradient does not see where these do.
They may be a wall at which paths end, or be harmless, as in the last row: there paths are to be
asked for, or found by `tuned`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import networkx as nx

from gibbsppl.algebra.expressions import mentions
from gibbsppl.algebra.functions import INDICATORS, Where
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.derive.colours import OneByOne, colours_of
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.gradients import Slopes, slopes_of
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.kernels.elliptical_slice import ellipse_beside
from gibbsppl.kernels.gradient_move import gradient_move
from gibbsppl.kernels.hamiltonian import NUTS
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning.control import Control
from gibbsppl.planning.rules import RULES
from gibbsppl.schedule.asked import Asked, Made

# What is drawn, or moved, by its log density.
ByDensity = NotConjugate | LogConcave

# Fewer elements are moved by slices.
LEAST = RULES["least along a path"].value
# What a gradient knows nothing of.
JUMPS = (Where, *INDICATORS)


def with_paths(
    make: Made, graph: Graph, drawn: Sequence[Any], control: Control, data: Mapping[str, Any]
) -> list[Any]:
    """The draws of a stage, those that are worth it moved together along paths.

    Not where the user wants exact draws or single ones, or asks for a kernel.
    """
    found = list(drawn)
    if graph.marginals or not control.blocks.joined:
        return found
    asked = control.blocks.elements | set(control.kernels)
    able = [d for d in drawn if _is_able(graph, d, asked, data)]
    if not any(d.elements and _is_in_sequence(graph, d) for d in able):
        able = [d for d in able if isinstance(d, NotConjugate)]
    for group in _groups(graph, able):
        slopes = slopes_of(graph, [d.statement for d in group], data)
        if isinstance(slopes, str) or not is_smooth(slopes):
            continue
        others = (d for d in group if not _is_in_sequence(graph, d))
        if any(_has_ellipse(make, graph, d, control, data) for d in others):
            continue
        kernel = NUTS()
        refused = tuple(d.refusal if isinstance(d, LogConcave) else d for d in group)
        move = gradient_move(slopes, kernel, kernel.path, refused)
        found[found.index(group[0])] = move
        found = [d for d in found if d not in group]
    return found


def _is_able(graph: Graph, d: Any, asked: Collection[str], data: Any) -> bool:
    """Whether real elements would be moved one after the other, or drawn so in sequence."""
    if not isinstance(d, ByDensity):
        return False
    if isinstance(d, LogConcave) and not _is_in_sequence(graph, d):
        return False
    support, name = d.statement.support, d.statement.target.array.name
    if name in asked or support.is_discrete or support.is_tied:
        return False
    return count_of(graph, d.statement) == 1 or colours_of(graph, d, data) == OneByOne()


def _is_in_sequence(graph: Graph, d: ByDensity) -> bool:
    """Whether the log density reads what is drawn through an array computed in sequence."""
    own = (d.statement.target.array.name,)
    read = (r for f in graph.factors_of(own[0]) for r in f.log_density.atoms(Recursion))
    return any(mentions(r, own) for r in read)


def _groups(graph: Graph, able: Sequence[ByDensity]) -> Iterator[list[ByDensity]]:
    """Conditionals each of which depends on each, of enough elements: the largest groups first."""
    place = {d.statement.name: k for k, d in enumerate(able)}
    ties = nx.Graph()
    ties.add_nodes_from(place)
    seen = {d.statement.name: _factors(graph, d) for d in able}
    ties.add_edges_from(pair for pair in combinations(place, 2) if seen[pair[0]] & seen[pair[1]])
    sizes = {d.statement.name: count_of(graph, d.statement) for d in able}
    cliques = [sorted(c, key=place.__getitem__) for c in nx.find_cliques(ties)]
    cliques.sort(key=lambda c: (-sum(sizes[n] for n in c), [place[n] for n in c]))
    taken = set[str]()
    for clique in cliques:
        left = [n for n in clique if n not in taken]
        if sum(sizes[n] for n in left) >= LEAST:
            taken |= set(left)
            yield [able[place[n]] for n in left]


def _factors(graph: Graph, d: ByDensity) -> set[str]:
    return {f.name for f in graph.factors_of(d.statement.target.array.name)}


def is_smooth(slopes: Slopes) -> bool:
    """Whether no condition changes with what is moved."""
    moved = set(slopes.arrays)
    return not any(
        mentions(jump, moved) for _, value, _ in slopes.whole for jump in value.atoms(*JUMPS)
    )


def _has_ellipse(
    make: Made, graph: Graph, d: ByDensity, control: Control, data: Mapping[str, Any]
) -> bool:
    """Whether a normal prior ties the elements, which then move along an ellipse, too."""
    if not d.elements:
        return False
    return ellipse_beside(Asked(make, graph, d, data, control.blocks.elements)) is not None
