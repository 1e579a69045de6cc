"""A sampler to look at: the picture of the model as it is drawn, a page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gibbsppl.display.methods import picture
from gibbsppl.display.nodes import DiagramKind
from gibbsppl.html import Printed

if TYPE_CHECKING:
    from gibbsppl.display.diagrams import Diagram


class Seen(Printed):
    """The methods of a sampler that show it."""

    __slots__ = ()

    def plot(
        self, kind: DiagramKind = "plates", *, blanket_of: str | None = None, data: bool = True
    ) -> Diagram:
        """The model with its auxiliary variables as a picture, as ``model.plot()`` makes them.

        ``blanket_of``: a variable, whose Markov blanket is lit in the graph in which it is drawn,
        one without what is integrated out of its draw: what its complete conditional depends on.

        >>> import gibbsppl as gp
        >>> with gp.Model(coords={"i": 3}) as model:
        ...     mu = gp.Normal("mu", 0, sigma=10)
        ...     y = gp.StudentT("y", nu=4, mu=mu, sigma=1, dims="i", observed=[1.0, 2.0, 9.0])
        >>> gp.compile(model).plot(blanket_of="mu").roles
        {'mu': 'variable', 'y_weight': 'child', 'y': 'co-parent'}
        """
        sampler: Any = self
        schedule = sampler.schedule
        if blanket_of is None:
            return picture(schedule.graph, kind, blanket_of=None, data=data)
        drawn = [s for s in schedule.steps if blanket_of in (s.name, *schedule.drawn_by(s))]
        own = [s for s in drawn if s.name not in schedule.interwoven] or drawn
        graph = schedule.graph_of(own[0]) if own else schedule.graph
        if blanket_of not in graph.variables:  # (drawn by its parts, or as what stands for it)
            graph = schedule.graph
        return picture(graph, kind, blanket_of=blanket_of, data=data)

    def _repr_html_(self) -> str:
        from gibbsppl.explain.pages import sampler_page  # noqa: PLC0415  (only in notebooks)

        sampler: Any = self
        steps = sampler.costs().steps
        costs = {s.name: (f"{s.operations:,.0f}", s.plates) for s in steps if not s.reason}
        schedule = replace(sampler.schedule, choices=sampler._counted_choices())  # noqa: SLF001
        return sampler_page(schedule, sampler.data, costs)
