"""Layouts for factorising a sparse precision matrix, found once from the places of its entries.

A *border* of elements that see many others is taken out; the rest is *blocks* (connected
components, all of one size batched), *banded* after a reordering, or *sparse*. The border follows
by its Schur complement. (H. Rue and L. Held, 2005, "Gaussian Markov Random Fields", chapter 2.)

>>> star = layout_of([0] + 100 * [1], np.zeros(100, dtype=int), np.arange(1, 101))
>>> star.told, star.border
('100 blocks of 1 and a border of 1', array([0]))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gibbsppl.runtime.types import Flags, Ints

Kind = Literal["blocks", "band", "sparse"]

# Up to this many elements, one dense matrix is faster than any layout that uses zeros.
DENSE = 16
# Up to so many, a matrix of all pairs of elements is no matter.
MODERATE = 48
# Up to so many elements and pairs, Python orders them in less time than scipy.sparse is imported.
FEW = 10_000
# The cost of a call, as the multiplications that would take the same time.
OVERHEAD = 2e3
# A factor that takes more multiplications than this is not made without being asked for: about as
# many as a second has.
MOST_WORK = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The elements of the border and of the inside, and how the inside is factorised.

    ``groups`` are index arrays of shape (number of blocks, size of each), one for each size of
    block; a band or a sparse matrix has a single group with one block, in the order of
    factorisation. ``width`` is the band's. ``work`` counts multiplications, ``entries`` stored
    numbers.
    """

    kind: Kind
    border: Ints
    groups: tuple[Ints, ...]
    width: int
    work: float
    entries: float

    @property
    def inside(self) -> Ints:
        """The elements inside the border, in order."""
        flat = [g.ravel() for g in self.groups]
        return np.concatenate(flat) if flat else np.zeros(0, dtype=np.intp)

    @property
    def is_regular(self) -> bool:
        """Whether the layout is blocks of equal size, without a border."""
        return self.kind == "blocks" and len(self.groups) == 1 and not len(self.border)

    @property
    def order(self) -> int:
        """The number of elements of the largest block."""
        return max((g.shape[1] for g in self.groups), default=0)

    @property
    def products(self) -> float:
        """The multiplications of a draw, where blocks of one size are diagonalised once."""
        return 2 * self.entries

    @property
    def told(self) -> str:
        """The layout in words."""
        size = len(self.inside)
        if self.kind == "band":
            text = f"banded of width {self.width}"
        elif self.kind == "sparse":
            text = f"sparse of order {size}"
        elif len(self.groups) == 1 and len(self.groups[0]) == 1:
            text = f"dense of order {size}"
        else:
            text = " and ".join(f"{len(g)} blocks of {g.shape[1]}" for g in self.groups[:3])
            text += " and others" * (len(self.groups) > 3)
        return text + f" and a border of {len(self.border)}" * (len(self.border) > 0)


def layout_of(
    owners: Sequence[int] | Ints,
    first: Ints,
    second: Ints,
    *,
    dense: int = DENSE,
    last: Sequence[int] = (),
) -> Layout:
    """The layout of least work of a symmetric matrix with entries at ``first, second``.

    ``owners`` has the number of each element's variable: the border is made of whole variables,
    those that are to come ``last`` if there are any. Up to ``dense`` elements are one dense matrix.
    """
    owner = np.asarray(owners)
    n = len(owner)
    border = np.isin(owner, last)
    if n <= dense:
        return _dense(np.flatnonzero(~border), np.flatnonzero(border))
    edges = _edges(n, first, second)
    graphs = [_Inside.of(b, *edges) for b in ([border] if len(last) else _borders(owner))]
    best = min((g.in_blocks() for g in graphs), key=lambda layout: layout.work)
    for graph in graphs:
        for other in graph.others(best.work):
            best = min(best, other, key=lambda layout: layout.work)
    return best


def in_blocks(count: int, first: Ints, second: Ints) -> Layout:
    """The layout in blocks, whatever the work, of ``count`` elements without a border."""
    return _Inside.of(np.zeros(count, dtype=bool), *_edges(count, first, second)).in_blocks()


def _edges(n: int, first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """The pairs of different tied elements, each once."""
    keys = np.minimum(first, second) * n
    keys += np.maximum(first, second)  # (in place: there may be many)
    keys.sort(kind="stable")
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]  # (faster than np.unique)
    low, high = keys // n, keys % n
    apart = low != high
    return low[apart], high[apart]


def _borders(owner: Ints) -> Iterator[Flags]:
    """The borders to try: none, then the smallest variables, up to half of all elements."""
    sizes = np.bincount(owner)
    order = np.argsort(sizes, kind="stable")
    yield np.zeros(len(owner), dtype=bool)
    for count in range(1, len(order)):
        if sizes[order[:count]].sum() > len(owner) // 2:
            return
        yield np.isin(owner, order[:count])


@dataclass(frozen=True, slots=True, eq=False)
class _Inside:
    """The elements inside a border, and the pairs of tied elements among these, by place."""

    border: Ints
    inner: Ints
    a: Ints
    b: Ints

    @classmethod
    def of(cls, is_border: Flags, first: Ints, second: Ints) -> _Inside:
        """The inside of a border, in a graph with edges from first to second elements."""
        inner = np.flatnonzero(~is_border)
        place = np.full(len(is_border), -1)
        place[inner] = np.arange(len(inner))
        i, j = place[first], place[second]
        inside = (i >= 0) & (j >= 0)
        return cls(np.flatnonzero(is_border), inner, i[inside], j[inside])

    def in_blocks(self) -> Layout:
        """Blocks: the connected components."""
        return _in_blocks(self.inner, self.border, self.a, self.b)

    def others(self, most: float) -> Iterator[Layout]:
        """A band and a sparse matrix, where these may take less work than ``most``.

        (Not where nothing is tied, or all to all.)
        """
        n = len(self.inner)
        if len(self.a) in (0, n * (n - 1) // 2):
            return
        natural = int(np.abs(self.b - self.a).max())
        # (a band is at least half as wide as an element has neighbours)
        neighbours = int(np.bincount(np.concatenate([self.a, self.b]), minlength=n).max())
        if _banded(self.inner, self.border, (neighbours + 1) // 2).work < most:
            banded = self._banded(natural)
            if banded.width < n - 1:  # (else it is dense)
                yield banded
        if _sparse(self.inner, self.border, len(self.a), 0).work < most:
            yield _sparse(self.inner, self.border, len(self.a), _front(n, self.a, self.b))

    def _banded(self, natural: int) -> Layout:
        n = len(self.inner)
        if natural > 1:
            order = _reordered(n, self.a, self.b)
            rank = np.empty_like(order)
            rank[order] = np.arange(n)
            width = int(np.abs(rank[self.a] - rank[self.b]).max())
            if width < natural:
                return _banded(self.inner[order], self.border, width)
        return _banded(self.inner, self.border, natural)


def _border_work(inner: float, border: float, solve: float) -> float:
    """The work of a border: solving for its columns, the products of these, a dense factor."""
    if not border:
        return 0.0
    return float(OVERHEAD + 2 * solve * border + inner * border**2 + border**3 / 3)


def _dense(inner: Ints, border: Ints) -> Layout:
    n = float(len(inner))
    return Layout("blocks", border, (inner[None, :],), 0, n**3, n**2)


def _in_blocks(inner: Ints, border: Ints, a: Ints, b: Ints) -> Layout:
    """Blocks: the connected components, grouped by size."""
    n, m = len(inner), len(border)
    label = _components(n, a, b)
    sizes = np.bincount(label, minlength=0)
    order = np.argsort(label, kind="stable")
    starts = np.cumsum(sizes) - sizes
    groups, work, entries, solve = [], 0.0, 0.0, 0.0
    for size in np.unique(sizes):
        which = np.flatnonzero(sizes == size)
        groups.append(inner[order[starts[which][:, None] + np.arange(size)]])
        work += float(len(which)) * float(size) ** 3
        entries += float(len(which)) * float(size) ** 2
        solve += float(len(which)) * float(size) ** 2
    work += OVERHEAD * len(groups) + _border_work(n, m, solve)
    entries += float(n + m) * m
    return Layout("blocks", border, tuple(groups), 0, work, entries)


def _banded(inner: Ints, border: Ints, width: int) -> Layout:
    n, m = float(len(inner)), float(len(border))
    work = OVERHEAD / 2 + n * (width + 1) ** 2 + 20 * n + _border_work(n, m, n * (width + 1))
    return Layout("band", border, (inner[None, :],), width, work, n * (width + 1) + (n + m) * m)


def _sparse(inner: Ints, border: Ints, pairs: int, front: int) -> Layout:
    """A sparse factor, at least of the size of nested dissection of a plane.

    (A. George, 1973, "Nested dissection of a regular finite element mesh": n log n entries.) Other
    graphs than planes, such as two large crossed groupings, end in a dense matrix of the order of
    the ``front``.
    """
    n, m = float(len(inner)), float(len(border))
    entries = (pairs + n) * max(1.0, float(np.log2(n + 1))) + float(front) ** 2
    work = 10 * OVERHEAD + max(20 * n**1.5, float(front) ** 3) + 100 * entries
    work += _border_work(n, m, 2 * entries)
    return Layout("sparse", border, (inner[None, :],), 0, work, entries + (n + m) * m)


def _front(n: int, a: Ints, b: Ints) -> int:
    """The largest number of elements tied at once to earlier elements, in the order of a band.

    Leaves of trees are not counted: any sparse factorisation eliminates them first.
    """
    a, b = _without_leaves(n, a, b)
    if not a.size:
        return 0
    order = _reordered(n, a, b)
    rank = np.empty_like(order)
    rank[order] = np.arange(n)
    low, high = np.minimum(rank[a], rank[b]), np.maximum(rank[a], rank[b])
    start = np.full(n, n)
    np.minimum.at(start, high, low)
    tied = start < n
    change = np.bincount(start[tied], minlength=n) - tied
    return int(change.cumsum().max())


def _without_leaves(n: int, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """The edges without those to leaves, taken off as often as a balanced tree is deep."""
    for _ in range(n.bit_length()):
        leaf = np.bincount(np.concatenate([a, b]), minlength=n) == 1
        kept = ~(leaf[a] | leaf[b])
        if kept.all():
            break
        a, b = a[kept], b[kept]
    return a, b


def _components(n: int, a: Ints, b: Ints) -> Ints:
    """The label of each element's connected component."""
    first = np.arange(n)  # (of a component, the first element known so far)
    while (apart := first[a] != first[b]).any():
        ends = first[a[apart]], first[b[apart]]
        np.minimum.at(first, np.maximum(*ends), np.minimum(*ends))
        while ((further := first[first]) != first).any():
            first = further
    return np.asarray(np.unique(first, return_inverse=True)[1], dtype=np.intp)


def _reordered(n: int, a: Ints, b: Ints) -> Ints:
    """The order of E. Cuthill and J. McKee (1969), reversed (A. George, 1971)."""
    if n + len(a) <= FEW:
        return _reordered_few(n, a, b)
    from scipy.sparse import coo_array  # noqa: PLC0415  (scipy.sparse takes long to import)
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # noqa: PLC0415

    ones = np.ones(2 * len(a), dtype=np.int8)
    both = (np.concatenate([a, b]), np.concatenate([b, a]))
    graph = coo_array((ones, both), shape=(n, n)).tocsr()
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.intp)


def _reordered_few(n: int, a: Ints, b: Ints) -> Ints:
    """The same order: from the element with fewest neighbours on, each followed by its own."""
    near: list[list[int]] = [[] for _ in range(n)]
    for i, j in zip(np.concatenate([a, b]).tolist(), np.concatenate([b, a]).tolist(), strict=True):
        near[i].append(j)
    near = [sorted(set(found)) for found in near]
    degree = [len(found) for found in near]
    order: list[int] = []
    is_left = [True] * n
    for seed in np.argsort(np.array(degree, dtype=np.int32)).tolist():
        last = len(order)
        order += [seed] * is_left[seed]
        is_left[seed] = False
        while last < len(order):
            found = [j for j in near[order[last]] if is_left[j]]
            order += sorted(found, key=degree.__getitem__)
            for j in found:
                is_left[j] = False
            last += 1
    return np.array(order[::-1], dtype=np.intp)
