"""The kernels of conditionals for which the user asks no other."""

from __future__ import annotations

from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.kernels.adaptive_rejection import ConcaveDraw
from gibbsppl.kernels.block import BlockDraw
from gibbsppl.kernels.exact import ExactDraw
from gibbsppl.kernels.label_chains import ChainDraw
from gibbsppl.kernels.labels import FiniteDraw
from gibbsppl.kernels.move import Move
from gibbsppl.kernels.scan import ScanDraw
from gibbsppl.model.graph import Graph
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.asked import Made
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.steps import Step

# Each makes a step of the conditionals that it draws from, and None of all others.
DEFAULTS = (ExactDraw, BlockDraw, FiniteDraw, ChainDraw, ConcaveDraw, ScanDraw, Move)


def maker_of(graph: Graph) -> Made:
    """The function that makes a step of a conditional of a graph."""
    made = Contributions(graph)

    def step(derived: Derived | Scan | ChainConditional) -> Step:
        found = (own.of(derived, made) for own in DEFAULTS)
        return next(s for s in found if s is not None)

    return step
