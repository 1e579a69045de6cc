"""Draws of one of many labels, of which few have counts in a group: by buckets.

A weight ``(base + count[k]) * rest[k]`` is drawn from one of two buckets: ``base * rest[k]``, by a
binary tree of sums over all labels, or ``count[k] * rest[k]``, from a list of the labels that have
counts in the group. A draw takes time by the length of the list, a change of ``rest`` by the depth
of the tree. Both are exact; nothing is proposed, nothing rejected.

The tree has its sums at 1, 2, ..., that of all first, and the weights of labels 0, 1, ... behind
them. A sum is always that of the two below it, so that no rounding errors add up, as they would in
sums that are kept for a third bucket. (Alias tables propose labels that a step of Metropolis and
Hastings corrects: a move, not a draw.) The lists of all groups are one array: an entry is a label
with its count above its bits.

H.-F. Yu, C.-J. Hsieh, H. Yun, S. V. N. Vishwanathan and I. S. Dhillon (2015), "A scalable
asynchronous distributed algorithm for topic modeling", WWW, 1340-1350 (F+LDA); buckets are those of
L. Yao, D. Mimno and A. McCallum (2009), "Efficient methods for topic model inference on streaming
document collections", KDD, 937-946.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import inlined, kernel

APART: Mapping[str, str] = {}

# An entry has its label in its last bits.
LABEL_BITS = 24
ONE_MORE = 1 << LABEL_BITS
LAST_BITS = ONE_MORE - 1


@kernel
def tree_of_sums(tree: Floats) -> None:
    """The sums of a tree that has its weights."""
    for node in range(len(tree) // 2 - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@inlined
def weight_in_tree(label: int, weight: float, tree: Floats) -> None:
    """The weight of one label, and the sums that it is in."""
    node = label + len(tree) // 2
    tree[node] = weight
    total = weight
    while node > 1:
        total += tree[node ^ 1]
        node >>= 1
        tree[node] = total


@inlined
def label_in_tree(left: float, tree: Floats) -> int:
    """The label at whose weight so much of the sum of all is passed."""
    size, node = len(tree) // 2, 1
    while node < size:
        node *= 2
        # (by rounding there may be a little left behind the last weight that is not zero)
        if left >= tree[node] and tree[node + 1] > 0.0:
            left -= tree[node]
            node += 1
    return node - size


@inlined
def one_listed(first: int, group: int, label: int, entries: Ints, used: Ints, places: Ints) -> None:
    """An element of a label comes into the list of a group, which begins at ``first``.

    Lists are filled one after the other: ``places`` has where a label has been put last.
    """
    place = places[label]
    if place < used[group] and entries[first + place] & LAST_BITS == label:
        entries[first + place] += ONE_MORE
    else:
        places[label] = used[group]
        entries[first + used[group]] = ONE_MORE | label
        used[group] += 1


@inlined
def label_in_buckets(  # noqa: PLR0913, PLR0917
    rng: Generator,
    base: float,
    first: int,
    group: int,
    now: int,
    entries: Ints,
    used: Ints,
    tree: Floats,
) -> int:
    """The label drawn of an element of a group, which leaves that of ``now`` in the list for it.

    The weights are ``(base + count of others) * rest``; the tree has rests without the element. Its
    label is passed with one element less, and found meanwhile: no branch depends on it.
    """
    size, stop = len(tree) // 2, first + used[group]
    listed, own = 0.0, first
    for place in range(first, stop):
        label = entries[place] & LAST_BITS
        own = place if label == now else own
        count = (entries[place] >> LABEL_BITS) - (1 if label == now else 0)
        listed += count * tree[size + label]
    # (nothing is listed: what all weights have in common does not matter, and may be tiny)
    base = base if listed > 0.0 else 1.0
    total = listed + base * tree[1]
    if not 0.0 < total < np.inf:
        raise ValueError("all labels have probability zero, or a weight is not a number")
    left = rng.random() * total
    if left < listed:
        place, passed = first - 1, 0.0
        while passed <= left:
            place += 1
            label = entries[place] & LAST_BITS
            count = (entries[place] >> LABEL_BITS) - (1 if label == now else 0)
            passed += count * tree[size + label]
    else:
        label = label_in_tree((left - listed) / base, tree)
        place = first
        while place < stop and entries[place] & LAST_BITS != label:
            place += 1
    if place == stop and entries[own] < 2 * ONE_MORE:
        entries[own] = ONE_MORE | label
    elif place != own:
        entries[own] -= ONE_MORE
        if place == stop:
            entries[place] = ONE_MORE | label
            used[group] += 1
        else:
            entries[place] += ONE_MORE
            if entries[own] < ONE_MORE:
                # (the last entry fills the gap)
                used[group] -= 1
                entries[own] = entries[first + used[group]]
    return int(label)
