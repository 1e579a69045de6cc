"""Adaptive rejection on request: exact draws from log-concave conditionals."""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.arguments import methods_told
from gibbsppl.derive.concavity import LogConcave, certified
from gibbsppl.errors import CompileError
from gibbsppl.schedule.control import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class AdaptiveRejection(Kernel):
    """An exact draw by adaptive rejection, where the log density is certified to be concave.

    >>> print(AdaptiveRejection())
    adaptive rejection
    """

    def __str__(self) -> str:
        return "adaptive rejection"

    def step(self, asked: Asked) -> Step:
        """The draw, from a log density with its certificate of concavity."""
        refusal, _ = asked.refusal(self)
        own = asked.derived
        is_one = isinstance(own, LogConcave)
        found = own if is_one else certified(asked.graph, refusal, asked.data)
        if found is None:
            raise CompileError(
                f"kernels[{asked.name!r}]: adaptive rejection needs a log density that is "
                f"certified to be concave, and that of {asked.name} is not; by default it is drawn "
                f"{asked.default}. Leave it out, or ask for gp.Slice() or gp.RandomWalk()."
            )
        return asked.make(found)
