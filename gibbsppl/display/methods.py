"""A model to look at: its pictures, and its page in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gibbsppl.arguments import NAME, TRUTH, Kind
from gibbsppl.arguments import shown as in_a_line
from gibbsppl.display.nodes import KINDS, DiagramKind
from gibbsppl.errors import ModelError, did_you_mean
from gibbsppl.html import notes, shown

if TYPE_CHECKING:
    from gibbsppl.display.diagrams import Diagram
    from gibbsppl.model.graph import Graph

PLOT = {
    "kind": Kind(lambda value: isinstance(value, str) and value in KINDS, '"plates" or "factors"'),
    "blanket_of": NAME.or_none(),
    "data": TRUTH,
}


class Shown:
    """The methods of a model that show it."""

    __slots__ = ()

    def plot(
        self, kind: DiagramKind = "plates", *, blanket_of: str | None = None,
        data: bool = True,
    ) -> Diagram:
        """The model as a picture: a plate diagram, or (``kind="factors"``) a factor graph.

        Notebooks show the picture; ``.svg`` is its text, ``.save("model.svg")`` writes it. A plate
        has a box for each dim, with its number of positions. Latent variables are round, observed
        ones shaded, computed ones dashed, data flat, potentials angular. ``blanket_of``: a variable
        whose Markov blanket is lit, parents, children and co-parents in a colour each. Without
        ``data``, arrays of data are left out.

        >>> import gibbsppl as gp
        >>> with gp.Model(coords={"school": 8}, name="schools") as model:
        ...     mu, tau = gp.Normal("mu", 0, sigma=10), gp.Gamma("tau", 1, rate=1)
        ...     theta = gp.Normal("theta", mu, tau=tau, dims="school")
        >>> model.plot(blanket_of="mu")
        <Diagram of schools: 3 nodes, 2 edges, 1 plate>
        """
        model: Any = self
        return picture(model.graph, kind, blanket_of=blanket_of, data=data)

    def _repr_html_(self) -> str:
        from gibbsppl.display.pages import model_page  # noqa: PLC0415  (only in notebooks)

        model: Any = self
        try:
            return model_page(model.graph)
        except ModelError as error:  # (of a model that is not whole yet)
            return shown(model.name, notes([str(error)]))

    def _repr_latex_(self) -> str | None:
        from gibbsppl.display.statements import latex_of  # noqa: PLC0415  (only in notebooks)

        model: Any = self
        try:
            return f"$$\n{latex_of(model.graph)}\n$$"
        except ModelError:
            return None


def picture(
    graph: Graph, kind: DiagramKind, *, blanket_of: str | None, data: bool
) -> Diagram:
    """The picture of a graph, the Markov blanket of a variable or a statement lit if asked for."""
    from gibbsppl.display.diagrams import diagram_of  # noqa: PLC0415  (SciPy's optimisers)

    if blanket_of is None:
        return diagram_of(graph, kind, data=data)
    own = [s for s in graph.statements if blanket_of in (s.name, s.target.array.name)]
    if not own:
        names = list(dict.fromkeys(s.target.array.name for s in graph.statements))
        raise ModelError(
            f"plot: found blanket_of={blanket_of!r}, expected a variable of {graph.name}: "
            f"{in_a_line(names)}.{did_you_mean(blanket_of, names)}"
        )
    lit = {s.name if kind == "plates" else s.target.array.name for s in own}
    return diagram_of(graph, kind, blanket_of=lit, data=data)
