"""Metropolis-Hastings with a proposal of the user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gibbsppl.arguments import methods_told, misfit, name_of, shown
from gibbsppl.code.elements import index_text, moved
from gibbsppl.code.module import Module
from gibbsppl.errors import CompileError
from gibbsppl.kernels.move import Move
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class Proposal(Kernel):
    """Metropolis-Hastings with a proposal of one's own (W. K. Hastings, 1970, Biometrika 57).

    ``draw(rng, value)`` returns a proposal, an array of the shape of ``value``: all elements that
    the step draws. ``log_density(new, old)`` is the log of the density by which ``new`` is proposed
    from ``old``, up to a constant; without it the proposal is symmetric. A proposal outside of the
    support is rejected. The whole array is accepted or not; ``by_element`` decides on each element
    alone, where elements are independent given the rest and each is proposed from itself alone:
    ``log_density`` then returns one number for each. The shares accepted are in the summary.

    >>> import numpy as np
    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     rate = gp.Gamma("rate", 2, rate=1)
    ...     y = gp.Poisson("y", rate, observed=3)
    >>> def draw(rng, value):
    ...     return value * np.exp(0.5 * rng.standard_normal(value.shape))
    >>> def log_density(new, old):  # of the log-normal distribution about the old value
    ...     return -np.log(new) - 2 * np.log(new / old) ** 2
    >>> print(gp.Proposal(draw, log_density))
    your proposal draw
    >>> sampler = gp.compile(model, kernels={"rate": gp.Proposal(draw, log_density)})
    >>> draws = sampler.sample(10, warmup=5, chains=2, seed=1, progress=False)
    >>> draws["rate"].shape
    (2, 10)
    """

    draw: Callable[..., object]
    log_density: Callable[..., object] | None = None
    by_element: bool = False
    colours = False
    takes_all = True
    accepts = True

    def __post_init__(self) -> None:
        for what, found in (("draw", self.draw), ("log_density", self.log_density)):
            if not callable(found) and (what == "draw" or found is not None):
                takes = "(rng, value)" if what == "draw" else "(new, old)"
                raise CompileError(
                    f"Proposal({what}): found {shown(found)}, expected a function {what}{takes}."
                )
            if callable(found) and (error := misfit(found, 2)) is not None:
                raise CompileError(
                    f"Proposal({what}): {name_of(found)} cannot be called with two arguments "
                    f"({error})."
                ) from error
        if not isinstance(self.by_element, bool):
            raise CompileError(
                f"Proposal(by_element): found {shown(self.by_element)}, expected True or False."
            )

    def __str__(self) -> str:
        return f"your proposal {name_of(self.draw)}"

    @property
    def enumerates(self) -> bool:  # type: ignore[override]
        """Whether the probabilities of its proposals are known."""
        return self.log_density is not None

    def log_proposal(self, new: object, old: object) -> object:
        """The value of the user's log density."""
        assert self.log_density is not None
        return self.log_density(new, old)

    @property
    def function(self) -> Proposal:
        """The user's proposal, as called by generated code."""
        return self

    def step(self, asked: Asked) -> Step:
        """A move of all elements that a step draws, as one array or each alone."""
        asked.refuse_tied(self)
        if self.by_element and asked.refusal(self)[0].elements:
            raise CompileError(
                f"kernels[{asked.name!r}]: {self} is to be accepted by element, but elements of "
                f"{asked.name} depend on one another given the rest; leave by_element= out."
            )
        return asked.move(self)

    def lines(self, module: Module, step: Move, call: str, bounds: str) -> list[str]:
        """The call of the runtime that proposes, compares and accepts or not."""
        state = f's["{step.variables[0]}"]'
        whole = ", whole=True" if step.statement.support.is_discrete else ""
        kernel = f'KERNELS["{step.name}"], "{step.variables[0]}"'
        share = f'runtime.walk_of(s, "{step.name}", (), scale=1.0)'
        arguments = f"{state}, {index_text(module, step)}, {call}, {kernel}, {share}"
        return moved(state, "proposal_move", f"{arguments}{bounds}{whole}")
