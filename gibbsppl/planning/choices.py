"""The kernels that a user asks for, and the default ones, as steps.

Comes in: a conditional as derived, and a kernel. Goes out: the steps; or an error that says why the
kernel does not apply to that variable, and what does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.model.graph import Graph
from gibbsppl.planning.control import Control
from gibbsppl.planning.ellipses import with_ellipse
from gibbsppl.rewrites import Rewritten
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.asked import Asked, Made
from gibbsppl.schedule.composed import Composed, Turn
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

Drawn = Derived | Scan | ChainConditional


def steps_by_kernel(
    make: Made,
    graph: Graph,
    derived: Derived | Scan | ChainConditional,
    control: Control,
    model: Rewritten,
) -> tuple[tuple[Step, ...], Turn]:
    """The steps that draw from a conditional by a kernel; as usual where none is asked for."""
    kernel = control.kernel_of(derived.statement, model.parts)
    if kernel is None or isinstance(derived, ChainConditional):
        step = make(derived)
        steps = (*with_ellipse(make, graph, derived, control, model.data), step)
        return steps, step.name if len(steps) == 1 else Composed(tuple(s.name for s in steps))
    if isinstance(derived, Scan):
        name = derived.statement.target.array.name
        raise CompileError(
            f"kernels[{name!r}]: {name} is drawn label by label with "
            f"{', '.join(derived.integrated)} integrated out, and no other kernel can be; leave it "
            "out of kernels=, or the other out of collapse=."
        )
    found: tuple[tuple[Step, ...], Turn] = kernel.steps(
        Asked(make, graph, derived, model.data, control.blocks.elements)
    )
    return found


def steps_moved_together(
    make: Made,
    graph: Graph,
    drawn: Sequence[Drawn | Step],
    control: Control,
    model: Rewritten,
) -> list[Drawn | Step]:
    """The draws of a stage, one step in place of the variables that a kernel moves together.

    An error if some of these are drawn elsewhere.
    """
    found: list[Drawn | Step] = list(drawn)
    whole = {p.name: p.of for p in model.parts}
    for names in control.together:
        own = [d for d in found if not isinstance(d, Step)
               and whole.get(n := d.statement.target.array.name, n) in names]  # fmt: skip
        if not own:
            continue
        here = {whole.get(n := d.statement.target.array.name, n) for d in own}
        if missing := [n for n in names if n not in here]:
            raise CompileError(
                f"kernels[{names!r}]: {missing[0]} is not drawn in the same graph as "
                f"{min(here)}, so that no kernel can move both; name each alone."
            )
        first = own[0]
        if isinstance(first, Scan | ChainConditional) or (len(own) > 1 and any(
            isinstance(d, Scan | ChainConditional) for d in own
        )):
            continue  # (refused by `steps_by_kernel`)
        statements = tuple(d.statement for d in own)
        elements = control.blocks.elements
        asked = Asked(make, graph, first, model.data, elements, statements)
        step = control.kernels[names[0]].step(asked)
        found[found.index(first)] = step
        found = [d for d in found if d not in own]
    return found


def check_kernels(graph: Graph, kernels: Mapping[str, Kernel]) -> None:
    """Raise an error for a kernel of anything but a latent variable of the model."""
    latent = set(graph.drawn)
    for name in kernels:
        if name not in latent:
            meant = did_you_mean(str(name), sorted(latent))
            raise CompileError(
                f"kernels: {name!r} is not a latent variable of the model (auxiliary variables are "
                "always drawn exactly); the latent variables are "
                f"{', '.join(sorted(latent))}.{meant}"
            )


def functions_of(schedule: Schedule) -> dict[str, Callable[..., Any]]:
    """The functions of the user's that a schedule calls, by step."""
    kernels = {s.name: s.asked for s in schedule.steps}
    return {n: k.function for n, k in kernels.items() if k is not None and k.function is not None}
