"""Where the boxes, plates and edges of a picture are, in points from its upper left corner.

Comes in: a `Net`. Goes out: a `Layout`: boxes of nodes that do not overlap, plates about exactly
their nodes, edges as curves from the lower side of one box to the upper side of another. Between
two rows there are three bands: lower sides of plates (with their texts), curves, upper sides. In
rows and bands of sides edges are vertical, so that they pass no box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from gibbsppl.display.layers import rows_of, without_circles
from gibbsppl.display.nodes import Link, Net, Node
from gibbsppl.display.order import Bend, Rows, Side, Thing, neighbours, ordered, with_bends
from gibbsppl.display.plates import Path, paths_of
from gibbsppl.display.separations import settled
from gibbsppl.display.text_widths import width_of

NAME_SIZE, SMALL_SIZE, LINE = 14.0, 11.0, 15.0
MARGIN, BESIDE, INSIDE, BEND_WIDTH = 12.0, 22.0, 12.0, 10.0
PLATE_LABEL, PLATE_TOP = 22.0, 12.0
LOOP = 22.0
PORT, CORNER = 13.0, 10.0
CURVE, STEEPEST, LONGEST_CURVE = 34.0, 0.2, 100.0
# How strongly edges are straight: between nodes, beside a bend, between bends.
STRAIGHT = (1.0, 2.0, 8.0)
NARROW_PLATE = 0.02

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: left, top, width, height."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right side."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower side."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class PlacedPlate:
    """A plate: its path of dims, what it says, its box, and where the middle of its text is."""

    path: Path
    text: str
    box: Box
    text_at: float


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    """An edge: corners of a line that is vertical in rows, curved between each two of them.

    ``loop``: an edge from a node to itself, at its right side.
    """

    link: Link
    points: tuple[Point, ...]
    loop: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """A picture without its style: the net, boxes by node, plates, edges, and the size."""

    net: Net
    boxes: Mapping[str, Box]
    plates: tuple[PlacedPlate, ...]
    edges: tuple[PlacedEdge, ...]
    width: float
    height: float


def layout_of(net: Net) -> Layout:
    """The places of all parts of a net."""
    names = [n.name for n in net.nodes]
    paths = paths_of({n.name: n.dims for n in net.nodes})
    edges = without_circles(names, [(k.source, k.target) for k in net.links])
    rows = with_bends(rows_of(paths, edges), paths, [e for e in edges if e[0] != e[1]])
    order = ordered(rows)
    across = _Across(net, rows, order)
    down = _Down(net, rows, across)
    boxes = {n.name: down.box(n, across.place[n.name]) for n in net.nodes}
    lines = down.edges(boxes)
    plates = tuple(_plate(p, net, across, down, lines) for p in rows.spans)
    straight = iter(lines)
    placed = tuple(
        _loop(k, boxes[k.source]) if k.source == k.target else _turned(k, e, next(straight))
        for k, e in zip(net.links, edges, strict=True)
    )
    return Layout(net, boxes, plates, placed, across.width, down.height)


def size_of(node: Node) -> Point:
    """The width and height of the box of a node.

    >>> size_of(Node("mu", "latent", ("mu", "Normal"), ""))
    (66.0, 42.0)
    """
    first, *rest = node.lines
    sizes = [width_of(first, NAME_SIZE), *(width_of(t, SMALL_SIZE) for t in rest)]
    return round(max(*sizes, 20.0, *sizes) + 26, 0), LINE * len(node.lines) + 12


def plate_text(path: Path, net: Net) -> str:
    """The label of a plate: its dim, with the number of positions."""
    return f"{path[-1]} {net.sizes[path[-1]]:,}"


class _Across:
    """Places from left to right: of the middle of each thing, of each side of a plate."""

    def __init__(self, net: Net, rows: Rows, order: Sequence[Thing]) -> None:
        own = {n.name: size_of(n)[0] for n in net.nodes}
        self.loops = {k.source for k in net.links if k.source == k.target}
        at = {thing: i for i, thing in enumerate(order)}

        def half(thing: Thing, side: str) -> float:
            if isinstance(thing, Side):
                return 0.0
            if isinstance(thing, Bend):
                return BEND_WIDTH / 2
            return own[thing] / 2 + (LOOP if side == "right" and thing in self.loops else 0.0)

        leaving = {
            p for p, (_, last) in rows.spans.items() for chain in rows.chains
            if rows.path[chain[0]][: len(p)] == p and rows.row[chain[-1]] > last
        }  # fmt: skip
        apart = [
            (at[a], at[b], half(a, "right") + half(b, "left") + _space(a, b))
            for a, b in neighbours(order, rows)
        ]
        for plate in rows.spans:
            # (beside an edge that leaves in the middle there is room for the text)
            room = width_of(plate_text(plate, net), SMALL_SIZE) + INSIDE
            least = room + INSIDE if plate not in leaving else 2 * room
            apart.append((at[Side(plate, "left")], at[Side(plate, "right")], least))
        apart.sort(key=itemgetter(0))
        ties = [
            (at[a], at[b], STRAIGHT[isinstance(a, Bend) + isinstance(b, Bend)])
            for chain in rows.chains
            for a, b in pairwise(chain)
        ]
        ties += [(at[Side(p, "left")], at[Side(p, "right")], NARROW_PLATE) for p in rows.spans]
        found = settled(len(order), ties, apart)
        least = min(found[i] - half(t, "left") for t, i in at.items())
        self.place = {t: float(found[i] - least + MARGIN) for t, i in at.items()}
        self.width = MARGIN + max(x + half(t, "right") for t, x in self.place.items())


def _space(a: Thing, b: Thing) -> float:
    """The empty space between two things that stand side by side."""
    if isinstance(a, Side) and isinstance(b, Side):
        return BESIDE if (a.side, b.side) == ("right", "left") else INSIDE
    if isinstance(a, Bend) and isinstance(b, Bend):
        return BEND_WIDTH / 2
    return INSIDE if isinstance(a, Side | Bend) or isinstance(b, Side | Bend) else BESIDE


class _Down:
    """Places from top to bottom: of rows, and of the bands between them."""

    def __init__(self, net: Net, rows: Rows, across: _Across) -> None:
        self.rows, self.across = rows, across
        sizes = {n.name: size_of(n) for n in net.nodes}
        self.sizes = sizes
        last = max((r for n, r in rows.row.items() if isinstance(n, str)), default=0)
        tall = [
            max((sizes[n][1] for n, r in rows.row.items() if r == row and isinstance(n, str)))
            for row in range(last + 1)
        ]
        self.below = {p: _nested(p, rows.spans, 1) for p in rows.spans}
        self.above = {p: _nested(p, rows.spans, 0) for p in rows.spans}
        ends = [self._most(self.below, 1, r) * PLATE_LABEL for r in range(last + 1)]
        starts = [self._most(self.above, 0, r) * PLATE_TOP for r in range(last + 1)]
        # For each row: the upper end of its band of upper sides, its own ends, the lower end.
        self.bands: list[tuple[float, float, float, float]] = []
        y = MARGIN
        for row in range(last + 1):
            y += self._curve(row) if row else 0.0
            top = y + starts[row]
            bottom = top + tall[row]
            self.bands.append((y, top, bottom, bottom + ends[row]))
            y = bottom + ends[row]
        self.height = y + MARGIN

    def _most(self, nested: Mapping[Path, int], end: int, row: int) -> int:
        """How many plates begin (0) or end (1) at a row inside of one another."""
        return max((n for p, n in nested.items() if self.rows.spans[p][end] == row), default=0)

    def _curve(self, row: int) -> float:
        """The height of the curves above a row: more, the farther these go sidewards."""
        segments = (pair for chain in self.rows.chains for pair in pairwise(chain))
        place = self.across.place
        wide = [abs(place[a] - place[b]) for a, b in segments if self.rows.row[b] == row]
        return min(LONGEST_CURVE, max(CURVE, STEEPEST * max(wide, default=0.0)))

    def box(self, node: Node, x: float) -> Box:
        """The box of a node, in the middle of its row."""
        width, height = self.sizes[node.name]
        _, top, bottom, _ = self.bands[self.rows.row[node.name]]
        return Box(x - width / 2, (top + bottom - height) / 2, width, height)

    def edges(self, boxes: Mapping[str, Box]) -> list[tuple[Point, ...]]:
        """The corners of each edge, from the upper node to the lower one."""
        leaving = _ports(self.rows.chains, self.across.place, boxes, 0)
        arriving = _ports(self.rows.chains, self.across.place, boxes, -1)
        found = []
        for number, (a, *bends, b) in enumerate(self.rows.chains):
            assert isinstance(a, str)  # (bends are between nodes)
            assert isinstance(b, str)
            x = leaving[number]
            points = [(x, boxes[a].bottom), (x, self.bands[self.rows.row[a]][3])]
            for bend in bends:
                x = self.across.place[bend]
                upper, *_, lower = self.bands[self.rows.row[bend]]
                points += [(x, upper), (x, lower)]
            x = arriving[number]
            points += [(x, self.bands[self.rows.row[b]][0]), (x, boxes[b].y)]
            found.append(tuple(points))
        return found


def _nested(plate: Path, spans: Mapping[Path, tuple[int, int]], end: int) -> int:
    """How many plates end where this one does, from it inwards."""
    inner = (p for p in spans if p[:-1] == plate and spans[p][end] == spans[plate][end])
    return 1 + max((_nested(p, spans, end) for p in inner), default=0)


def _ports(
    chains: Sequence[Sequence[str | Bend]],
    place: Mapping[Thing, float],
    boxes: Mapping[str, Box],
    end: int,
) -> dict[int, float]:
    """Where each edge leaves (end 0) or enters (end -1) its node, side by side."""
    by_node: dict[str, list[tuple[float, int]]] = {}
    for number, chain in enumerate(chains):
        node, beside = chain[end], chain[1 if end == 0 else -2]
        assert isinstance(node, str)  # (the end of a chain)
        by_node.setdefault(node, []).append((place[beside], number))
    found = {}
    for node, own in by_node.items():
        room = boxes[node].width - 2 * CORNER
        step = min(PORT, room / len(own))
        for n, (_, number) in enumerate(sorted(own)):
            found[number] = place[node] + step * (n - (len(own) - 1) / 2)
    return found


def _plate(
    path: Path, net: Net, across: _Across, down: _Down, edges: Sequence[tuple[Point, ...]]
) -> PlacedPlate:
    left, right = (across.place[Side(path, side)] for side in ("left", "right"))
    top, bottom = down.rows.spans[path]
    upper = down.bands[top][1] - PLATE_TOP * down.above[path]
    lower = down.bands[bottom][2] + PLATE_LABEL * down.below[path]
    box = Box(left, upper, right - left, lower - upper)
    text = plate_text(path, net)
    wide = width_of(text, SMALL_SIZE)
    passing = [
        a for points in edges for (a, y), (b, v) in pairwise(points)
        if a == b and left < a < right and y < lower and v > lower - PLATE_LABEL
    ]  # fmt: skip
    return PlacedPlate(path, text, box, _free(left, right, wide, passing))


def _free(left: float, right: float, wide: float, passing: Sequence[float]) -> float:
    """The middle of a text in the lower side of a plate, where no edge passes if there is room.

    >>> _free(0, 100, 20, []), _free(0, 100, 20, [85.0]), _free(0, 50, 20, [5, 15, 25, 35, 45])
    (82.0, 18.0, 32.0)
    """
    first, last = left + 8 + wide / 2, right - 8 - wide / 2
    beside = [x + sign * (wide / 2 + 4) for x in passing for sign in (1, -1)]
    places = [last, first, *(x for x in beside if first <= x <= last)]
    return next((p for p in places if all(abs(x - p) > wide / 2 + 2 for x in passing)), last)


def _loop(link: Link, box: Box) -> PlacedEdge:
    """The edge of a node that reads itself, at other positions."""
    middle = box.y + box.height / 2
    points = ((box.right, middle + 7), (box.right + LOOP - 4, middle), (box.right, middle - 7))
    return PlacedEdge(link, points, loop=True)


def _turned(link: Link, edge: tuple[str, str], points: tuple[Point, ...]) -> PlacedEdge:
    """The edge in its own direction, which may be upwards."""
    return PlacedEdge(link, points if edge == (link.source, link.target) else points[::-1])
