"""The stages of a sweep: a graph, what is drawn in it, and what stands for what meanwhile.

One `Stage` serves auxiliary variables (drawn with later ones integrated out), collapsed ones (drawn
after the labels that were drawn without these), locations (drawn after their scales), imputed ones
(leaves, last of all), variables drawn in a branch of their own, and non-centred updates, in which a
group stands in other coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.rewrites.collapsing import Scan

# What is drawn while a stand-in is held fixed: the location moves all elements alike, the scale
# their distances from it; coefficients, what is added to each.
What = Literal["location", "scale", "coefficients"]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A graph and conditionals that are drawn in it, later auxiliary variables integrated out.

    ``stand_ins`` are the arrays of the graph that stand for others, in the order in which they are
    computed on entering; on leaving, what they stand for is computed, in the reverse order.
    ``anew`` names arrays that the stage before has integrated out: what draws them comes right
    after it, and all else of the stage before it.
    """

    graph: Graph
    derived: tuple[Derived | Scan, ...]
    auxiliary: tuple[Statement, ...] = ()
    stand_ins: tuple[StandIn, ...] = ()
    anew: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NonCentred(Stage):
    """A non-centred update: variables drawn once more, in a graph in which a group is recentred.

    ``variables`` are names in the model: a location, a scale, or coefficients that are drawn
    jointly. ``group`` is the name of the array that moves along. ``before`` is the graph that was
    recentred. The draw comes ``after`` the others of a stage, by its number. Coefficients are drawn
    jointly, from a ``quadratic`` log density in place of a conditional.
    """

    variables: tuple[str, ...]
    group: str
    what: What
    before: Graph
    after: int
    quadratic: Quadratic | None = None

    @property
    def variable(self) -> str:
        """The names of the variables drawn, as text."""
        return ", ".join(self.variables)

    @property
    def conditional(self) -> Derived | Quadratic:
        """The conditional of what is drawn."""
        if self.quadratic is not None:
            return self.quadratic
        (derived,) = self.derived
        assert not isinstance(derived, Scan)
        return derived

    @property
    def name(self) -> str:
        """The name of the step."""
        if isinstance(self.conditional, Quadratic):
            return f"{self.variable} with {self.group}"
        return self.conditional.statement.name
