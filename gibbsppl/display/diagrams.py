"""The picture of a model as a value: SVG text, a file, what a notebook shows.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"school": 8}, name="schools") as model:
...     mu, tau = gp.Normal("mu", 0, sigma=10), gp.Gamma("tau", 1, rate=1)
...     theta = gp.Normal("theta", mu, tau=tau, dims="school")
>>> picture = diagram_of(model.graph, blanket_of={"mu"})
>>> picture, picture.svg[:37]
(<Diagram of schools: 3 nodes, 2 edges, 1 plate>, '<svg xmlns="http://www.w3.org/2000/sv')
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from gibbsppl.arguments import PATH, methods_told
from gibbsppl.display.blankets import Role, roles_of
from gibbsppl.display.nodes import DiagramKind, factor_net, plate_net
from gibbsppl.display.places import Layout, layout_of
from gibbsppl.display.svg import svg_of
from gibbsppl.errors import ModelError, counted
from gibbsppl.model.graph import Graph

IN_WORDS: Mapping[DiagramKind, str] = {"plates": "Plate diagram", "factors": "Factor graph"}


@methods_told(ModelError, save={"path": PATH})
@dataclass(frozen=True, eq=False, repr=False)
class Diagram:
    """A picture of a model, which a notebook shows; ``svg`` is its text.

    ``layout`` has the boxes of nodes, plates and edges, in points. ``roles``: the part that each
    node has in the Markov blanket of a variable, if one is lit; others are drawn faintly.
    """

    layout: Layout
    title: str
    roles: Mapping[str, Role] | None = None

    @cached_property
    def svg(self) -> str:
        """The picture as SVG, a document of its own that can also stand inside of HTML."""
        return svg_of(self.layout, self.roles, self.title)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file with the ending ``.svg``, and return its path.

        >>> import gibbsppl as gp, tempfile
        >>> with gp.Model() as model:
        ...     mu = gp.Normal("mu", 0, sigma=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.plot().save(f"{folder}/model.svg").name
        'model.svg'
        """
        file = Path(path)
        if file.suffix.lower() != ".svg":
            raise ModelError(
                f"save: found the path {str(path)!r}, expected one that ends in .svg: pictures of "
                "models are SVG, which browsers show, and which other programs make PNG or PDF of."
            )
        file.write_text(self.svg, encoding="utf-8")
        return file

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg}</div>'

    def __repr__(self) -> str:
        net = self.layout.net
        parts = [(net.nodes, "node"), (net.links, "edge"), (self.layout.plates, "plate")]
        return f"<Diagram of {net.name}: {', '.join(counted(len(p), w) for p, w in parts)}>"


def diagram_of(
    graph: Graph,
    kind: DiagramKind = "plates",
    *,
    blanket_of: AbstractSet[str] | None = None,
    data: bool = True,
) -> Diagram:
    """The picture of a graph; ``blanket_of`` are nodes whose Markov blanket is lit."""
    net = plate_net(graph, data=data) if kind == "plates" else factor_net(graph, data=data)
    roles = None if blanket_of is None else roles_of(net, blanket_of)
    title = f"{IN_WORDS[kind]} of {graph.name}"
    if blanket_of is not None:
        title += f", with the Markov blanket of {', '.join(sorted(blanket_of))}"
    return Diagram(layout_of(net), title, roles)
