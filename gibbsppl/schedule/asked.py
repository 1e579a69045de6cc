"""A conditional for which the user asks a kernel.

Comes in: a conditional as derived. Goes out, for a kernel: the material of a step, and errors that
say why the kernel does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gibbsppl.derive.conditionals import Derived, move_density
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.errors import CompileError
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Role
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step

Made = Callable[[Derived | Scan | ChainConditional], Step]


@dataclass(frozen=True, slots=True)
class Asked:
    """A conditional for which a kernel is asked, with its graph, data and maker of steps.

    ``by_element`` are the arrays whose elements are to be drawn one after the other, ``together``
    the statements that are to be moved together, if not only that of the conditional. ``reason``
    says why a kernel is used that the user has not asked for.
    """

    make: Made
    graph: Graph
    derived: Derived
    data: Mapping[str, Any]
    by_element: frozenset[str]
    together: tuple[Statement, ...] = ()
    reason: str = ""

    @property
    def name(self) -> str:
        """The name of the array that is drawn."""
        return str(self.derived.statement.target.array.name)

    @property
    def key(self) -> str | tuple[str, ...]:
        """The name of the array that is drawn, or the names of several."""
        names = tuple(dict.fromkeys(s.target.array.name for s in self.together))
        return names if len(names) > 1 else self.name

    @property
    def default(self) -> str:
        """The draw of a variable unless a kernel is asked for, in words."""
        return self.derived.how_drawn

    def refusal(self, kernel: Kernel) -> tuple[NotConjugate, tuple[Role, ...]]:
        """The conditional as a log density that a kernel moves by; the roles of its axes."""
        asked = f"kernels= asks for {kernel}; by default it is drawn {self.default}"
        reason = self.reason or asked
        return move_density(self.graph, self.derived.statement, self.data, reason)

    def move(
        self, kernel: Kernel, *, by: Kernel | None = None, joint: tuple[int, ...] = ()
    ) -> Step:
        """The move by a kernel, or ``by`` one made for it; of vectors along ``joint`` axes."""
        move = self.make(self.refusal(kernel)[0])
        return move.with_fields(kernel=str(kernel), asked=by or kernel, joint=joint)

    def refuse_tied(self, kernel: Kernel) -> None:
        """Raise an error for values whose entries are tied, which a kernel moves by element."""
        support = self.derived.statement.support
        if support.is_tied:
            raise CompileError(
                f"kernels[{self.name!r}]: {kernel} moves real values, counts and labels, not "
                f"values in {support}; leave {self.name} out of kernels=."
            )


def is_whole(graph: Graph, statement: Statement) -> bool:
    """Whether a statement defines all of its array, none of it known."""
    full = all(len(r) == graph.sizes[r.dim] for r in statement.over)
    return full and statement.known == 0 and not any(i.is_Integer for i in statement.target.indices)
