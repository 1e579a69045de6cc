"""The plan of a sweep: which step draws what, in which order, from which natural parameters."""

from gibbsppl.schedule.plan import check_elements, plan, planned
from gibbsppl.schedule.steps import (
    BlockDraw,
    Bound,
    ChainDraw,
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
    "ChainDraw",
    "ConcaveDraw",
    "ExactDraw",
    "FiniteDraw",
    "Move",
    "NaturalParameter",
    "ScanDraw",
    "Schedule",
    "Step",
    "check_elements",
    "plan",
    "planned",
]
