"""The plan of a sweep: which step draws what, in which order, from which natural parameters."""

from gibbsppl.schedule.choices import Control, check_kernels, functions_of
from gibbsppl.schedule.plan import check_elements, plan, planned
from gibbsppl.schedule.steps import (
    BlockDraw,
    Bound,
    ConcaveDraw,
    ExactDraw,
    FiniteDraw,
    Move,
    NaturalParameter,
    ScanDraw,
    Schedule,
    Step,
)

__all__ = [
    "BlockDraw",
    "Bound",
    "ConcaveDraw",
    "Control",
    "ExactDraw",
    "FiniteDraw",
    "Move",
    "NaturalParameter",
    "ScanDraw",
    "Schedule",
    "Step",
    "check_elements",
    "check_kernels",
    "functions_of",
    "plan",
    "planned",
]
