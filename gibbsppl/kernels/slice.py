"""Slice sampling: the default move of conditionals that no family owns, or on request."""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.arguments import methods_told
from gibbsppl.errors import CompileError
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class Slice(Kernel):
    """Slice sampling (R. M. Neal, 2003, Annals of Statistics 31); its widths adapt in warm-up.

    >>> print(Slice())
    slice
    """

    slices = True
    by_log_density = True

    def __str__(self) -> str:
        return "slice"

    def step(self, asked: Asked) -> Step:
        """A slice move."""
        return asked.move(self)
