"""Swaps of labels: two elements with different labels exchange them.

A swap is accepted by the ratio of the densities. The posterior of which columns a regression has is
then explored by a search that is stochastic: one column goes out as another one comes in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Leaf, dims_of
from gibbsppl.arguments import methods_told, shown
from gibbsppl.code.elements import index_text, moved
from gibbsppl.code.module import Module
from gibbsppl.errors import CompileError
from gibbsppl.kernels.move import Move
from gibbsppl.runtime.types import Wholes
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.composed import Composed, Turn
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class Swap(Kernel):
    """Exchanges of the labels of two elements, accepted by the ratio of the densities.

    For labels that depend on one another, such as the gates of columns that are nearly alike: one
    column comes in as another one goes out, where gates drawn one by one have to pass by states
    with both or neither (P. J. Brown, M. Vannucci and T. Fearn, 1998, Journal of the Royal
    Statistical Society B 60, 627-641). In each sweep there are so many ``proposals``: one element
    at random, the other at random among those with other labels. The share accepted is in the
    summary. A swap leaves the number of each label as it is: alone it follows the default draw of
    the elements, and in a `Cycle` or a `Mix` another part has to change these numbers.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"j": 4}, name="alike") as alike:
    ...     gate = gp.Bernoulli("gate", 0.3, dims="j")
    ...     total = gp.Normal("total", gate.sum("j"), tau=9, observed=1.1)
    >>> sampler = gp.compile(alike, kernels={"gate": gp.Swap()})
    >>> print(sampler)
    alike: 2 steps, 1 by kernels asked for
      gate[j]  Bernoulli  one by one
          eta = log(0.3) - 4.5 - log(0.7) + 9*total - 9*sum(gate[j₂], j₂) + 9*gate
      gate[j]  swap
          log density = sum(gate*log(0.3) - gate*log(0.7), j) + 9*total*sum(gate[j₁], j₁)
                          - 9*sum(gate[j₁]*gate[j₂], j₁, j₂)/2
      gate[j] in each sweep: Bernoulli, then swap
    >>> sampler.transition_matrix().passed
    True
    """

    proposals: int = 1
    colours = False
    takes_all = True
    accepts = True
    enumerates = True

    def __post_init__(self) -> None:
        count = self.proposals
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise CompileError(
                f"Swap(proposals): found {shown(count)}, expected a whole number from 1 on."
            )

    def __str__(self) -> str:
        return "swap" if self.proposals == 1 else f"{self.proposals} swaps"

    def log_proposal(self, new: Wholes, old: Wholes) -> float:
        """The log probability that the labels of one swap are proposed."""
        before, after = np.ravel(old), np.ravel(new)
        differ = np.flatnonzero(before != after)
        if len(differ) != 2 or not (before[differ] == after[differ[::-1]]).all():
            return -np.inf
        # (either of the two may be the first)
        numbers = Counter(before.tolist())
        others = [before.size - numbers[x] for x in before[differ].tolist()]
        return float(np.log(sum(1 / n for n in others) / before.size))

    def step(self, asked: Asked) -> Step:
        """A move of all labels that the step draws, as one array."""
        statement = asked.derived.statement
        support = statement.support
        ends = (sp.sympify(support.lower), sp.sympify(support.upper))
        if not support.is_finite or any(e.atoms(Leaf) or dims_of(e) for e in ends):
            raise CompileError(
                f"kernels[{asked.name!r}]: {self} exchanges labels that are between the same two "
                f"numbers, but {asked.name} takes values in {support}; ask for another kernel."
            )
        if not asked.refusal(self)[0].elements:
            raise CompileError(
                f"kernels[{asked.name!r}]: {self} is for labels that depend on one another, but "
                f"elements of {asked.name} are independent given the rest; leave it out: all are "
                "drawn at once."
            )
        return asked.move(self)

    def steps(self, asked: Asked, called: str = "") -> tuple[tuple[Step, ...], Turn]:
        """The swaps; where nothing else draws the labels, after their default draw."""
        if called:
            return Kernel.steps(self, asked, called)
        own = str(asked.derived.statement.name)
        first = asked.make(asked.derived).with_fields(called=f"{own} by default draw")
        then = self.step(asked).with_fields(called=f"{own} by {self}")
        return (first, then), Composed((first.name, then.name))

    def lines(self, module: Module, step: Move, call: str, bounds: str) -> list[str]:
        """The call of the runtime that proposes, compares and accepts or not."""
        del bounds
        state = f's["{step.variables[0]}"]'
        share = f'runtime.walk_of(s, "{step.name}", (), scale=1.0)'
        arguments = f"{state}, {index_text(module, step)}, {call}, {share}, {self.proposals}"
        return moved(state, "swap", arguments)

    def lower(self, workshop: Workshop, step: Move) -> None:
        """The swaps of one array of labels."""
        from gibbsppl.code.lowering.swaps import lower_swaps  # noqa: PLC0415  (if compiled)

        lower_swaps(workshop, step, self.proposals)
