"""The schedule of a sweep: steps in order, each with its conditional and natural parameters."""

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
