"""The schedule of a sweep: steps in order, each with its conditional and natural parameters.

`plan` makes a `Schedule` of a rewritten model, stage by stage:

- one draw for several statements: `joint` (quadratic log densities; `pencils` where the precision
  is made of fixed matrices), `label_chains`
- one step for each other conditional: `maker`, with `parameters` as contributions of factors, and
  `cancelling` terms merged in what moves evaluate; the kinds of `steps` are values
- what the user asks for: `control`, `choices` with `kernel` (what a kernel is), `blocks`,
  `interweaving`
- elements that depend on one another: `by_colour`; `element_loops` keep sums up to date
- the `order` of steps, `staleness` (no step reads what is stale), `scanning` (random, symmetric)

`densities` has the log density that each kind of step draws from; the checks compare it.
"""

from gibbsppl.schedule.blocks import Blocks, blocks_of, check_names
from gibbsppl.schedule.choices import check_kernels, functions_of, interwoven_if
from gibbsppl.schedule.control import Control
from gibbsppl.schedule.interweaving import check_asked
from gibbsppl.schedule.parameters import Bound, NaturalParameter
from gibbsppl.schedule.plan import plan, planned
from gibbsppl.schedule.steps import (
    BlockDraw,
    ChainDraw,
    ConcaveDraw,
    ExactDraw,
    FiniteDraw,
    JointDraw,
    Move,
    ScanDraw,
    Schedule,
    Step,
)

__all__ = [
    "BlockDraw",
    "Blocks",
    "Bound",
    "ChainDraw",
    "ConcaveDraw",
    "Control",
    "ExactDraw",
    "FiniteDraw",
    "JointDraw",
    "Move",
    "NaturalParameter",
    "ScanDraw",
    "Schedule",
    "Step",
    "blocks_of",
    "check_asked",
    "check_kernels",
    "check_names",
    "functions_of",
    "interwoven_if",
    "plan",
    "planned",
]
