"""The kernels that a user asks for, as steps: moves, draws by rejection, over-relaxed draws.

Comes in: a conditional as derived, and a kernel. Goes out: the step; or an error that says why the
kernel does not apply to that variable, and what does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, assert_never

from gibbsppl.algebra.expressions import dims_of
from gibbsppl.derive.chained import ChainConditional
from gibbsppl.derive.concavity import LogConcave, certified
from gibbsppl.derive.conditionals import Derived, to_be_moved
from gibbsppl.derive.finite import FiniteConditional
from gibbsppl.derive.matched import Conditional, NotConjugate
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.kernels import (
    AdaptiveRejection,
    Kernel,
    OverRelaxed,
    Own,
    RandomScan,
    RandomWalk,
    Slice,
)
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Role, is_separable
from gibbsppl.pieces.split import Piece
from gibbsppl.rewrites import Rewritten
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.parts import Part
from gibbsppl.schedule.blocks import Blocks
from gibbsppl.schedule.steps import BlockDraw, ExactDraw, Move, Schedule, Step

# A vector this long has a covariance of 32 MB.
LONGEST_VECTOR = 2000

Made = Callable[[Derived | Scan | ChainConditional], Step]


@dataclass(frozen=True, slots=True)
class Control:
    """What a user asks of a schedule: its order, its scan, and the kernels of variables.

    ``blocks`` says which variables are drawn jointly, or one element after the other.
    """

    order: tuple[str, ...] = ()
    scan: str | RandomScan = "systematic"
    kernels: Mapping[str, Kernel] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)

    def kernel_of(self, statement: Statement, parts: Iterable[Part]) -> Kernel | None:
        """The kernel named for what a statement defines, or for what that is a part of."""
        name: str = statement.target.array.name
        whole = {p.name: p.of for p in parts}
        return self.kernels.get(whole.get(name, name))

    @property
    def moved(self) -> frozenset[str]:
        """The variables whose kernel needs no closed form."""
        kernels = self.kernels.items()
        return frozenset(n for n, k in kernels if not isinstance(k, OverRelaxed))


def interwoven_if(asked: bool | Sequence[str], control: Control) -> bool | Sequence[str]:
    """What is drawn once more with its group standardised: nothing where steps come at random."""
    if control.scan == "systematic":
        return asked
    if not isinstance(asked, bool):
        raise CompileError(
            f"interweave: found {', '.join(asked)}, but with scan={control.scan!r} steps are drawn "
            "one by one, in an order of their own; leave scan= out, or interweave= out."
        )
    return False


def chosen(
    make: Made,
    graph: Graph,
    derived: Derived | Scan | ChainConditional,
    control: Control,
    model: Rewritten,
) -> Step:
    """The step that draws from a conditional by a kernel; as usual where none is asked for."""
    kernel, data = control.kernel_of(derived.statement, model.parts), model.data
    if kernel is None or isinstance(derived, ChainConditional):
        return make(derived)
    if isinstance(derived, Scan):
        raise CompileError(
            f"kernels[{_name(derived)!r}]: {_name(derived)} is drawn label by label with "
            f"{', '.join(derived.integrated)} integrated out, and no other kernel can be; leave it "
            "out of kernels=, or the other out of collapse=."
        )
    if isinstance(kernel, OverRelaxed):
        return _over_relaxed(make(derived), derived, kernel)
    reason = f"kernels= asks for {kernel}; by default it is drawn {_default(derived)}"
    refusal, roles = to_be_moved(graph, derived.statement, data, reason)
    match kernel:
        case AdaptiveRejection():
            return make(_certified(graph, refusal, data, derived))
        case Slice() | RandomWalk() | Own():
            if not isinstance(kernel, Slice):
                _refuse_tied(derived.statement, kernel)
            move = make(refusal)
            assert isinstance(move, Move)
            whole = isinstance(kernel, RandomWalk) and _name(derived) not in control.blocks.elements
            joint = _joint(graph, refusal, roles) if whole else ()
            return replace(move, kernel=str(kernel), asked=kernel, joint=joint)
        case _:
            assert_never(kernel)


def _name(derived: Derived | Scan) -> str:
    return str(derived.statement.target.array.name)


def _default(derived: Derived) -> str:
    """How a variable is drawn unless a kernel is asked for."""
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


def _over_relaxed(step: Step, derived: Derived, kernel: OverRelaxed) -> Step:
    """A draw by location and scale, over-relaxed."""
    family = step.family
    natural = None if family is None else family.natural
    if isinstance(step, ExactDraw | BlockDraw) and natural is not None:
        truncated = isinstance(step, ExactDraw) and step.bounds
        if natural.over_relaxed is not None and not truncated:
            return replace(step, alpha=float(kernel.alpha))
    between = " between bounds" if isinstance(step, ExactDraw) and step.bounds else ""
    raise CompileError(
        f"kernels[{_name(derived)!r}]: over-relaxation needs a conditional that is drawn by "
        f"location and scale, but {_name(derived)} is drawn {_default(derived)}{between}; leave it "
        "out, or ask for another kernel."
    )


def _refuse_tied(statement: Statement, kernel: Kernel) -> None:
    """Refuse moves by element of values whose entries are tied."""
    if statement.support.is_tied:
        name = statement.target.array.name
        raise CompileError(
            f"kernels[{name!r}]: {kernel} moves real values, counts and labels, not values in "
            f"{statement.support}; leave {name} out of kernels=."
        )


def _certified(
    graph: Graph, refusal: NotConjugate, data: Mapping[str, Any], derived: Derived
) -> LogConcave:
    """The conditional with the certificate that adaptive rejection needs."""
    found = derived if isinstance(derived, LogConcave) else certified(graph, refusal, data)
    if found is None:
        raise CompileError(
            f"kernels[{_name(derived)!r}]: adaptive rejection needs a log density that is "
            f"certified to be concave, and that of {_name(derived)} is not; by default it is drawn "
            f"{_default(derived)}. Leave it out, or ask for gp.Slice() or gp.RandomWalk()."
        )
    return found


def _joint(graph: Graph, refusal: NotConjugate, roles: tuple[Role, ...]) -> tuple[int, ...]:
    """The axes of an array whose elements a random walk moves as one vector."""
    statement = refusal.statement
    dims = graph.variables[statement.target.array.name].dims
    if not refusal.elements or statement.support.kind not in ("real", "vector"):
        return ()
    if not set(roles) <= {"batch", "dense"}:
        return ()
    inner = {a for p in refusal.pieces if not is_separable(p) for a in _bound_axes(p)}
    joint = tuple(a for a, r in enumerate(roles) if r == "dense" or a in inner)
    size = prod(graph.sizes[dims[a]] for a in joint)
    apart = prod(graph.sizes[d] for a, d in enumerate(dims) if a not in joint)
    if apart > 1 and not _is_whole(graph, statement):
        return ()
    if size * size * apart > LONGEST_VECTOR**2:
        raise CompileError(
            f"kernels[{statement.target.array.name!r}]: a random walk would move vectors of {size} "
            f"elements with a covariance of {size * size * apart} numbers, more than "
            f"{LONGEST_VECTOR**2}; ask for blocks={{{statement.target.array.name!r}: 'elements'}} "
            "beside it, or for another kernel."
        )
    return joint


def _bound_axes(piece: Piece) -> set[int]:
    """The axes that a sum inside of a function runs along."""
    ranges = {r.dim for r in piece.over}
    return {
        a
        for v in piece.views
        for a, i in enumerate(v.indices)
        if i is None or not dims_of(i) <= ranges
    }


def _is_whole(graph: Graph, statement: Statement) -> bool:
    full = all(len(r) == graph.sizes[r.dim] for r in statement.over)
    return full and statement.known == 0 and not any(i.is_Integer for i in statement.target.indices)


def check_kernels(graph: Graph, kernels: Mapping[str, Kernel]) -> None:
    """Refuse kernels of what is not a latent variable of the model."""
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
    moves = (s for s in schedule.steps if isinstance(s, Move))
    return {s.name: s.asked.function for s in moves if isinstance(s.asked, Own)}
