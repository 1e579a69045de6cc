"""A picture as SVG: text that any browser shows, on a light and on a dark background.

Comes in: a `Layout`, and the role of each node if a variable is lit. Goes out: SVG. Lines and texts
have the colour of the text around the picture; in a file of its own, that of the reader's theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from gibbsppl.display.blankets import Role, is_lit
from gibbsppl.display.nodes import Kind, Node
from gibbsppl.display.places import (
    LINE,
    MARGIN,
    NAME_SIZE,
    SMALL_SIZE,
    Box,
    Layout,
    PlacedEdge,
    PlacedPlate,
    Point,
)
from gibbsppl.display.text_widths import width_of

FONT = "'DejaVu Sans', Verdana, 'Bitstream Vera Sans', sans-serif"
# In a file of its own (where a picture is the root) and in a browser's <img>.
THEMES = (
    "svg:root{color:#1f2328}"
    "@media (prefers-color-scheme:dark){svg:root{color:#e6edf3}}"
)

# Of each kind of node: how round corners are (half of the height, or points), how a side is drawn,
# how strongly it is filled.
ROUND, PLAIN, DASHED, DOUBLE = "round", "", 'stroke-dasharray="5 3"', 'stroke-width="2.2"'
SHAPES: Mapping[Kind, tuple[str, str, float]] = {
    "latent": (ROUND, PLAIN, 0.0),
    "observed": (ROUND, PLAIN, 0.24),
    "partly observed": (ROUND, PLAIN, 0.12),
    "data": ("3", 'stroke-opacity="0.45"', 0.08),
    "computed": (ROUND, DASHED, 0.0),
    "factor": ("0", DOUBLE, 0.0),
}
# Colours that are told apart by the colour-blind (M. Okabe and K. Ito, 2008), on light and dark.
COLOURS: Mapping[Role, str] = {
    "variable": "#cc79a7",
    "parent": "#3d94d6",
    "child": "#12a87f",
    "co-parent": "#e08214",
}
IN_WORDS: Mapping[Role, str] = {
    "variable": "the variable",
    "parent": "parents",
    "child": "children",
    "co-parent": "co-parents",
}
LIT_FILL, UNLIT = 0.3, 0.25
ARROW = 4.0
KEY_HEIGHT = 26.0


def svg_of(layout: Layout, roles: Mapping[str, Role] | None, title: str) -> str:
    """The picture; with roles, those nodes lit that have one, and a line that explains colours."""
    width, height = layout.width, layout.height
    key = [] if roles is None else _key(roles, height)
    if roles is not None:
        width = max(width, _key_width(roles) + MARGIN)
        height += KEY_HEIGHT
    drawn = [
        *(_plate(p) for p in layout.plates),
        *(_edge(e, layout, roles) for e in layout.edges),
        *(_node(n, layout.boxes[n.name], roles) for n in layout.net.nodes),
        *key,
    ]
    size = f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FONT}" '
        f'font-size="{NAME_SIZE:g}">'
    )
    return "\n".join(
        [head, f"<title>{_text(title)}</title>", f"<style>{THEMES}</style>", *drawn, "</svg>", ""]
    )


def _n(value: float) -> str:
    """A number in points, to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    """A text as XML takes it: without the characters that no document may have."""
    return escape("".join(ch if ch.isprintable() else "\ufffd" for ch in text))


def _write(x: float, y: float, text: str, size: float, anchor: str = "middle") -> str:
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size:g}" text-anchor="{anchor}" '
        f'fill="currentColor">{_text(text)}</text>'
    )


def _plate(plate: PlacedPlate) -> str:
    box = plate.box
    frame = _rectangle(box, "8", 'stroke-opacity="0.5"', 0.03)
    return (
        f'<g class="plate" data-plate={quoteattr("/".join(plate.path))}>'
        f"{frame}{_write(plate.text_at, box.bottom - 7, plate.text, SMALL_SIZE)}</g>"
    )


def _rectangle(
    box: Box, corner: str, side: str, fill: float, colour: str = "currentColor"
) -> str:
    radius = _n(min(box.height / 2, 21)) if corner == ROUND else corner
    return (
        f'<rect x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" height="{_n(box.height)}" '
        f'rx="{radius}" fill="{colour}" fill-opacity="{fill:g}" stroke="{colour}" {side}/>'
    )


def _node(node: Node, box: Box, roles: Mapping[str, Role] | None) -> str:
    role = None if roles is None else roles.get(node.name)
    corner, side, fill = SHAPES[node.kind]
    drawn = [_rectangle(box, corner, side, fill)]
    if role is not None and role in COLOURS:
        drawn.append(_rectangle(box, corner, 'stroke-width="2.5"', LIT_FILL, COLOURS[role]))
    middle = box.x + box.width / 2
    y = box.y + (box.height - LINE * len(node.lines)) / 2 + 12
    for n, line in enumerate(node.lines):
        drawn.append(_write(middle, y + n * LINE, line, SMALL_SIZE if n else NAME_SIZE))
    faint = f' opacity="{UNLIT}"' if roles is not None and role is None else ""
    about = f"<title>{_text(node.about)}</title>"
    return f'<g class="node" data-node={quoteattr(node.name)}{faint}>{about}{"".join(drawn)}</g>'


def _edge(edge: PlacedEdge, layout: Layout, roles: Mapping[str, Role] | None) -> str:
    a, b = edge.link.source, edge.link.target
    faint = "" if roles is None or is_lit(a, b, roles) else f' opacity="{UNLIT}"'
    line = _loop_line(edge.points) if edge.loop else _line(edge.points)
    arrow = _arrow(edge) if layout.net.directed else ""
    return (
        f'<g class="edge" data-source={quoteattr(a)} data-target={quoteattr(b)}{faint}>'
        f'<path d="{line}" fill="none" stroke="currentColor" stroke-opacity="0.75"/>{arrow}</g>'
    )


def _line(points: tuple[Point, ...]) -> str:
    """Straight where it is vertical, else a curve that leaves and arrives vertically."""
    parts = [f"M{_at(points[0])}"]
    for (x, y), (u, v) in pairwise(points):
        if abs(x - u) < 0.005:
            parts.append(f"L{_at((u, v))}")
        else:
            half = (y + v) / 2
            parts.append(f"C{_at((x, half))} {_at((u, half))} {_at((u, v))}")
    return "".join(parts)


def _loop_line(points: tuple[Point, ...]) -> str:
    start, (right, _), end = points
    return f"M{_at(start)}C{_at((right, start[1] + 9))} {_at((right, end[1] - 9))} {_at(end)}"


def _at(point: Point) -> str:
    return f"{_n(point[0])},{_n(point[1])}"


def _arrow(edge: PlacedEdge) -> str:
    """The head of an arrow, whose tip is where the edge ends."""
    (_, before), (x, y) = edge.points[0], edge.points[-1]
    if edge.loop:
        corners = [(x, y), (x + 2 * ARROW, y - ARROW - 2), (x + 2 * ARROW + 1, y + 2)]
    else:
        back = y - 2 * ARROW if before < y else y + 2 * ARROW
        corners = [(x, y), (x - ARROW, back), (x + ARROW, back)]
    return f'<path d="M{"L".join(map(_at, corners))}Z" fill="currentColor" fill-opacity="0.85"/>'


def _shown(roles: Mapping[str, Role]) -> list[Role]:
    """The roles that have a colour, those that no node has left out."""
    return [r for r in COLOURS if r in roles.values()]


def _key_width(roles: Mapping[str, Role]) -> float:
    return sum(36 + width_of(IN_WORDS[r], SMALL_SIZE) for r in _shown(roles)) + MARGIN


def _key(roles: Mapping[str, Role], y: float) -> Iterable[str]:
    """The legend of colours, below the picture."""
    x = MARGIN
    for role in _shown(roles):
        box = Box(x, y, 14, 14)
        mark = _rectangle(box, "3", 'stroke-width="2"', LIT_FILL, COLOURS[role])
        words = _write(x + 20, y + 11, IN_WORDS[role], SMALL_SIZE, "start")
        yield f'<g class="key">{mark}{words}</g>'
        x += 36 + width_of(IN_WORDS[role], SMALL_SIZE)


