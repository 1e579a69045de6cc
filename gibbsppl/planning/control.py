"""The user's settings of a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gibbsppl.model.graph import Statement
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.scanning import RandomScan


@dataclass(frozen=True, slots=True)
class Control:
    """The user's settings of a schedule: order, scan, kernels by variable, and blocks.

    ``blocks`` says which variables are drawn jointly, or one element after the other. ``proposes``:
    blocks may be moved by proposals in place of exact draws of their parts. ``together``: variables
    that are moved together by a kernel.
    """

    order: tuple[str, ...] = ()
    scan: str | RandomScan = "systematic"
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)
    proposes: bool = False
    together: tuple[tuple[str, ...], ...] = ()

    def kernel_of(self, statement: Statement, parts: Iterable[StandIn]) -> Kernel | None:
        """The kernel named for the array of a statement, or for the whole array if it is a part."""
        name: str = statement.target.array.name
        whole = {p.name: p.of for p in parts}
        return self.kernels.get(whole.get(name, name))

    @property
    def moved(self) -> frozenset[str]:
        """The variables whose kernel needs no closed form."""
        kernels = self.kernels.items()
        moved = frozenset(n for n, k in kernels if not k.closed_form)
        return moved.union(*self.blocks.proposed)
