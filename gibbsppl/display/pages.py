"""The page of a model in a notebook: its statements typeset, and its plate diagram.

Comes in: a `Graph`. Goes out: HTML.
"""

from __future__ import annotations

from collections.abc import Iterator

from gibbsppl.display.diagrams import diagram_of
from gibbsppl.display.markup import MATHML
from gibbsppl.display.statements import Line, lines_of
from gibbsppl.errors import counted
from gibbsppl.html import CELL, TABLE, Html, block, shown
from gibbsppl.model.graph import Graph

NEAR = "padding:0.2em 0.35em;vertical-align:middle"
# Left sides stand at their signs.
SIDES = ("right", "center", "left", "left", "left")


def model_page(graph: Graph) -> Html:
    """The statements, and below these the picture.

    >>> import gibbsppl as gp
    >>> with gp.Model(name="a < b") as model:
    ...     mu = gp.Normal("mu", 0, sigma=10)
    >>> page = model_page(model.graph)
    >>> "a &lt; b: 1 statement" in page, "<mi>μ</mi>" in page, "<svg" in page
    (True, True, True)
    """
    parts = [counted(len(graph.statements), "statement")]
    parts += [counted(len(graph.potentials), "potential")] if graph.potentials else []
    sizes = ", ".join(f"{d} {n:,}" for d, n in graph.sizes.items() if "'" not in d.name)
    title = f"{graph.name}: {', '.join(parts)}{sizes and '; ' + sizes}"
    rows = (block("tr", *_cells(line), style="background:none") for line in lines_of(graph, MATHML))
    statements = block("table", block("tbody", *rows), style=TABLE)
    return shown(title, statements, Html(diagram_of(graph).svg))


def _cells(line: Line) -> Iterator[Html]:
    formulas = (_math(f) for f in (line.left, line.sign, line.right, line.region))
    remark = block("span", line.remark, style="opacity:0.75")
    for cell, side in zip((*formulas, remark), SIDES, strict=True):
        yield block("td", cell, style=f"{CELL};{NEAR};text-align:{side}")


def _math(formula: str) -> Html:
    return Html(f'<math displaystyle="true">{formula}</math>' if formula else "")
