"""Over-relaxation of draws by location and scale."""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.arguments import check_between, methods_told
from gibbsppl.errors import CompileError
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class OverRelaxed(Kernel):
    """Over-relaxation of a draw by location and scale: to the other side of its mean.

    ``x' = mu + alpha (x - mu) + sqrt(1 - alpha**2) sd z`` (S. L. Adler, 1981, Physical Review D 23;
    R. M. Neal, 1995, "Suppressing random walks in Markov chain Monte Carlo using ordered
    overrelaxation"). ``alpha=0`` is the ordinary draw; near -1, successive values are on opposite
    sides of the mean, so that tied variables move on instead of to and fro.

    >>> print(OverRelaxed(-0.9))
    over-relaxed by -0.9
    """

    alpha: float = -0.98
    closed_form = True

    def __post_init__(self) -> None:
        check_between("OverRelaxed(alpha)", self.alpha, -1.0, 1.0)

    def __str__(self) -> str:
        return f"over-relaxed by {self.alpha:g}"

    def step(self, asked: Asked) -> Step:
        """The draw, over-relaxed."""
        step = asked.make(asked.derived)
        natural = None if step.family is None else step.family.natural
        if natural is not None and natural.over_relaxed is not None and not step.bounds:
            return step.with_fields(alpha=float(self.alpha))
        between = " between bounds" if step.bounds else ""
        raise CompileError(
            f"kernels[{asked.name!r}]: over-relaxation needs a conditional that is drawn by "
            f"location and scale, but {asked.name} is drawn {asked.default}{between}; leave it "
            "out, or ask for another kernel."
        )
