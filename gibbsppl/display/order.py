"""In which order things stand in the rows of a picture, so that few edges cross.

Comes in: rows, edges and plates. Goes out: one order of all things, which all rows follow. Edges
over several rows are chains: in each row between there is a `Bend`. One order within each plate,
the same in all rows, is what keeps plates apart. Orders are tried: by the middle of neighbours,
then thing by thing at each place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Literal, TypeAlias

import numpy as np

from gibbsppl.display.plates import Path, every_plate


@dataclass(frozen=True, slots=True)
class Bend:
    """Where an edge of some number passes a row."""

    edge: int
    row: int


@dataclass(frozen=True, slots=True)
class Side:
    """The left or the right side of a plate."""

    plate: Path
    side: Literal["left", "right"]


# Something in a row: a node by its name, a bend, a side of a plate.
Thing: TypeAlias = str | Bend | Side
# What a plate holds: nodes, bends, and plates.
Child: TypeAlias = str | Bend | Path

SWEEPS, ROUNDS = 12, 6
# How much longer edges count, beside crossings.
LENGTH = 1e-3


@dataclass(frozen=True, slots=True)
class Rows:
    """The things of a picture: the row, and the plate, of each node and bend; chains of edges."""

    row: Mapping[str | Bend, int]
    path: Mapping[str | Bend, Path]
    chains: tuple[tuple[str | Bend, ...], ...]
    spans: Mapping[Path, tuple[int, int]] = field(default_factory=dict)


def with_bends(
    rows: Mapping[str, int], paths: Mapping[str, Path], edges: Sequence[tuple[str, str]]
) -> Rows:
    """The rows, with bends where edges pass, each in the plates of the nearer end that reach it."""
    spans = {
        plate: (min(inside), max(inside))
        for plate in every_plate(paths.values())
        for inside in ([rows[n] for n in rows if paths[n][: len(plate)] == plate],)
    }
    row: dict[str | Bend, int] = {}
    path: dict[str | Bend, Path] = {}
    row.update(rows)
    path.update(paths)
    chains: list[tuple[str | Bend, ...]] = []
    for number, (a, b) in enumerate(edges):
        bends = [Bend(number, r) for r in range(rows[a] + 1, rows[b])]
        for bend in bends:
            row[bend] = bend.row
            own = (p[:n] for p in (paths[a], paths[b]) for n in range(len(p) + 1))
            path[bend] = max(
                (p for p in own if not p or spans[p][0] <= bend.row <= spans[p][1]), key=len
            )
        chains.append((a, *bends, b))
    return Rows(row, path, tuple(chains), spans)


def ordered(rows: Rows) -> list[Thing]:
    """All things in one order with few crossings; sides of plates about what is inside.

    >>> rows = with_bends({"a": 0, "b": 0, "x": 1, "y": 1}, dict.fromkeys("abxy", ()),
    ...                   [("a", "y"), ("b", "x")])
    >>> order = ordered(rows)
    >>> (order.index("a") < order.index("b")) == (order.index("y") < order.index("x"))
    True
    """
    best = first = _children(rows)
    crossing = _Crossings(rows, _flat(best, ()))
    for start in (first, _in_depth(first, rows)):
        inside = start
        for sweep in range(SWEEPS + 1):
            if crossing.cost(_flat(inside, ())) < crossing.cost(_flat(best, ())):
                best = inside
            inside = _by_middles(inside, rows, downwards=sweep % 2 == 0)
    for _ in range(ROUNDS):
        if not _sifted(best, crossing):
            break
    return _as_declared(best, rows)


def _as_declared(inside: Mapping[Path, Sequence[Child]], rows: Rows) -> list[Thing]:
    """The order, or its mirror image, if more nodes are then as they were declared."""
    order = _flat(inside, ())
    at = {thing: n for n, thing in enumerate(order)}
    nodes = [n for n in rows.row if isinstance(n, str)]
    right = sum(at[a] < at[b] for a, b in combinations(nodes, 2) if rows.row[a] == rows.row[b])
    wrong = sum(at[a] > at[b] for a, b in combinations(nodes, 2) if rows.row[a] == rows.row[b])
    if right >= wrong:
        return order
    return _flat({plate: children[::-1] for plate, children in inside.items()}, ())


def _children(rows: Rows) -> dict[Path, list[Child]]:
    """The plates and nodes directly inside of each plate, and of none."""
    inside: dict[Path, list[Child]] = {(): []}
    for plate in rows.spans:
        inside[plate] = []
        inside[plate[:-1]].append(plate)
    for thing, path in rows.path.items():
        inside[path].append(thing)
    return inside


def _flat(inside: Mapping[Path, Sequence[Child]], plate: Path) -> list[Thing]:
    """The nodes inside of a plate in order, those of inner plates included."""
    found: list[Thing] = []
    for child in inside[plate]:
        if isinstance(child, tuple):
            sides = Side(child, "left"), Side(child, "right")
            found += [sides[0], *_flat(inside, child), sides[1]]
        else:
            found.append(child)
    return found


class _Crossings:
    """How many edges cross in an order: one another, and sides of plates."""

    def __init__(self, rows: Rows, things: Sequence[Thing]) -> None:
        self.number = {thing: i for i, thing in enumerate(things)}
        segments: list[tuple[int, Thing, Thing]] = [
            (rows.row[a], a, b) for chain in rows.chains for a, b in pairwise(chain)
        ]
        segments += [
            (r, side, side)
            for plate, (top, bottom) in rows.spans.items()
            for r in range(top, bottom)
            for side in (Side(plate, "left"), Side(plate, "right"))
        ]
        of_row: dict[int, list[int]] = {}
        for i, (r, *_) in enumerate(segments):
            of_row.setdefault(r, []).append(i)
        pairs = [(i, j) for own in of_row.values() for n, i in enumerate(own) for j in own[:n]]
        self.first, self.second = np.array(pairs, int).reshape(-1, 2).T
        ends = [(self.number[a], self.number[b]) for _, a, b in segments]
        self.upper, self.lower = np.array(ends, int).reshape(-1, 2).T

    def cost(self, order: Sequence[Thing]) -> float:
        """The crossings of an order, and a little for how far apart ends of edges stand in it."""
        rank = np.empty(len(self.number))
        rank[[self.number[thing] for thing in order]] = np.arange(len(order))
        upper, lower = rank[self.upper], rank[self.lower]
        turned = (upper[self.first] - upper[self.second]) * (lower[self.first] - lower[self.second])
        return float((turned < 0).sum() + LENGTH * np.abs(upper - lower).sum())


def _by_middles(
    inside: Mapping[Path, Sequence[Child]], rows: Rows, *, downwards: bool
) -> dict[Path, list[Child]]:
    """The same with all children in the order of the middles of what is above, or below, them."""
    order = _flat(inside, ())
    place = {thing: float(i) for i, thing in enumerate(order)}
    near: dict[Thing, list[float]] = {}
    for chain in rows.chains:
        for a, b in pairwise(chain):
            upper, lower = (a, b) if downwards else (b, a)
            near.setdefault(lower, []).append(place[upper])

    def middle(child: Child) -> float:
        if not isinstance(child, tuple):
            own = near.get(child)
            return sum(own) / len(own) if own else place[child]
        things = [t for t in _flat(inside, child) if not isinstance(t, Side)]
        outer = [p for t in things for p in near.get(t, [])]
        return sum(outer) / len(outer) if outer else place[Side(child, "left")]

    return {plate: _sorted(children, middle) for plate, children in inside.items()}


def _in_depth(inside: Mapping[Path, Sequence[Child]], rows: Rows) -> dict[Path, list[Child]]:
    """The same in the order of a search in depth along edges: trees have no crossings so."""
    near: dict[str | Bend, list[str | Bend]] = {t: [] for t in rows.row}
    for chain in rows.chains:
        for a, b in pairwise(chain):
            near[a].append(b)
            near[b].append(a)
    visited: dict[Child, int] = {}
    search: list[str | Bend] = sorted(near, key=rows.row.__getitem__, reverse=True)
    while search:
        thing = search.pop()
        if thing not in visited:
            visited[thing] = len(visited)
            search += near[thing]
            for n in range(1, len(rows.path[thing]) + 1):
                visited.setdefault(rows.path[thing][:n], visited[thing])
    return {plate: _sorted(children, visited.__getitem__) for plate, children in inside.items()}


def _sorted(children: Iterable[Child], key: Callable[[Child], float]) -> list[Child]:
    return sorted(children, key=key)


def _sifted(inside: dict[Path, list[Child]], crossing: _Crossings) -> bool:
    """Put each child where it makes least crossings; whether anything has moved."""
    moved = False
    least = crossing.cost(_flat(inside, ()))
    for plate, before in inside.items():
        for child in before:
            children = inside[plate]
            at = children.index(child)
            others = [c for c in children if c != child]
            best = at
            for place in range(len(children)):
                inside[plate] = [*others[:place], child, *others[place:]]
                cost = crossing.cost(_flat(inside, ()))
                if cost < least - 1e-9:
                    least, best, moved = cost, place, True
            inside[plate] = [*others[:best], child, *others[best:]]
    return moved


def neighbours(order: Sequence[Thing], rows: Rows) -> list[tuple[Thing, Thing]]:
    """The things that stand side by side in any row, sides of plates too."""
    every = sorted(set(rows.row.values()))
    found: dict[tuple[Hashable, Hashable], None] = {}
    for r in every:
        here = [t for t in order if _is_in_row(t, r, rows)]
        found |= dict.fromkeys(pairwise(here))
    return list(found)  # type: ignore[arg-type]


def _is_in_row(thing: Thing, row: int, rows: Rows) -> bool:
    if isinstance(thing, Side):
        top, bottom = rows.spans[thing.plate]
        return top <= row <= bottom
    return rows.row[thing] == row
