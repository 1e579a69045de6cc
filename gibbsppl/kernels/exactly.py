"""The exact draw of a variable from its conditional, asked for by name."""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.arguments import methods_told
from gibbsppl.errors import CompileError
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class Exact(Kernel):
    """The exact draw from the complete conditional: what is done where no kernel is asked for.

    It is there to be a part of `Cycle` and `Mix`. The variable is drawn apart from others that it
    would be drawn jointly with, and labels of a chain one by one. Where nothing exact is known, it
    is refused.

    >>> print(Exact())
    exact draw
    """

    closed_form = True

    def __str__(self) -> str:
        return "exact draw"

    def step(self, asked: Asked) -> Step:
        """The default draw, if it is exact."""
        step = asked.make(asked.derived)
        if not step.is_move or step.refusal is None:
            return step
        raise CompileError(
            f"kernels[{asked.name!r}]: no exact draw of {asked.name} is known "
            f"({step.refusal.reason}); ask for gp.Slice() or another move in its place."
        )
