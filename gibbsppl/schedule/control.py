"""The user's settings of a schedule, and a conditional for which a kernel is asked.

Comes in: a conditional as derived. Goes out, for a kernel: the material of a step, and errors that
say why the kernel does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.conditionals import Derived, move_density
from gibbsppl.derive.finite import FiniteConditional
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.errors import CompileError
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Role
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.parts import Part
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.scanning import RandomScan
from gibbsppl.schedule.steps import Move, Step

Made = Callable[[Derived | Scan | ChainConditional], Step]


@dataclass(frozen=True, slots=True)
class Control:
    """The user's settings of a schedule: order, scan, kernels by variable, and blocks.

    ``blocks`` says which variables are drawn jointly, or one element after the other.
    """

    order: tuple[str, ...] = ()
    scan: str | RandomScan = "systematic"
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)

    def kernel_of(self, statement: Statement, parts: Iterable[Part]) -> Kernel | None:
        """The kernel named for the array of a statement, or for the whole array if it is a part."""
        name: str = statement.target.array.name
        whole = {p.name: p.of for p in parts}
        return self.kernels.get(whole.get(name, name))

    @property
    def moved(self) -> frozenset[str]:
        """The variables whose kernel needs no closed form."""
        kernels = self.kernels.items()
        return frozenset(n for n, k in kernels if not k.closed_form)


@dataclass(frozen=True, slots=True)
class Asked:
    """A conditional for which a kernel is asked, with its graph, data and maker of steps.

    ``by_element`` are the arrays whose elements are to be drawn one after the other.
    """

    make: Made
    graph: Graph
    derived: Derived
    data: Mapping[str, Any]
    by_element: frozenset[str]

    @property
    def name(self) -> str:
        """The name of the array that is drawn."""
        return str(self.derived.statement.target.array.name)

    @property
    def default(self) -> str:
        """How a variable is drawn unless a kernel is asked for."""
        derived = self.derived
        match derived:
            case Conditional():
                return f"exactly, its conditional being {derived.family.name}"
            case FiniteConditional():
                return "from the weights of its labels"
            case LogConcave():
                return "by adaptive rejection"
            case NotConjugate():
                return f"by slice sampling, for {derived.reason}"
            case _:
                assert_never(derived)

    def refusal(self, kernel: Kernel) -> tuple[NotConjugate, tuple[Role, ...]]:
        """The conditional as a log density that a kernel moves by; the roles of its axes."""
        reason = f"kernels= asks for {kernel}; by default it is drawn {self.default}"
        return move_density(self.graph, self.derived.statement, self.data, reason)

    def move(self, kernel: Kernel) -> Move:
        """The move by a kernel."""
        move = self.make(self.refusal(kernel)[0])
        assert isinstance(move, Move)
        return replace(move, kernel=str(kernel), asked=kernel)

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
