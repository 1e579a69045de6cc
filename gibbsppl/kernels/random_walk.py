"""Random-walk Metropolis-Hastings, of elements and of vectors.

A step of scale s of a label is ``k`` labels up or down, each with half the probability that a
standard normal is between ``k - 1`` and ``k`` times ``1 / s``; steps beyond a bound are reflected.
A step is accepted by the ratio of the densities, else the label stays: enumeration makes the
transition matrix of these probabilities.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from math import erf, prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.algebra.expressions import dims_of
from gibbsppl.arguments import check_between, methods_told
from gibbsppl.code.elements import index_text, moved, selection
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.places import where_text
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.errors import CompileError
from gibbsppl.kernels.move import Move
from gibbsppl.model.density import free_elements, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Role, is_separable
from gibbsppl.pieces.split import Piece
from gibbsppl.runtime.types import LogDensity
from gibbsppl.schedule.asked import Asked, is_whole
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop

# A vector this long has a covariance of 32 MB.
LONGEST_VECTOR = 2000

# The walks that need the flag ``whole``: they move parts of arrays with other values, too.
OF_PARTS = frozenset({"walk_elements", "walk_part"})


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class RandomWalk(Kernel):
    """Random-walk Metropolis-Hastings: a normal step, accepted by the ratio of the densities.

    Independent elements are moved all at once, each with a separate scale; elements that are
    densely tied (the coefficients of a regression) as one vector, whose steps have the covariance
    of the draws of warm-up (H. Haario, E. Saksman and J. Tamminen, 2001, Bernoulli 7); other
    elements in turn. Between bounds steps are made in the logarithm of the distance from a bound,
    or in the logit; whole numbers make whole steps, reflected at their bounds. Two shares of a
    simplex step in the log of their ratio, with all others as they are; covariance matrices are
    sheared and stretched (`gibbsppl.runtime.tied`). Scales adapt in
    warm-up only, until the share ``target_accept`` is accepted (by default 0.44 for single
    elements, 0.234 for vectors: A. Gelman, G. O. Roberts and W. R. Gilks, 1996, Bayesian Statistics
    5). A ``scale`` without ``target_accept`` is fixed; with a target, adaptation starts there.

    >>> print(RandomWalk(), RandomWalk(scale=0.5), sep="; ")
    random walk; random walk of scale 0.5
    """

    scale: float | None = None
    target_accept: float | None = None
    colours = False
    accepts = True
    enumerates = True
    by_log_density = True

    def __post_init__(self) -> None:
        check_between("RandomWalk(scale)", self.scale, 0.0, math.inf)
        check_between("RandomWalk(target_accept)", self.target_accept, 0.0, 1.0)

    @property
    def is_adaptive(self) -> bool:
        """Whether the scale is learnt in warm-up."""
        return self.scale is None or self.target_accept is not None

    def __str__(self) -> str:
        return "random walk" if self.is_adaptive else f"random walk of scale {self.scale:g}"

    def step(self, asked: Asked) -> Step:
        """A walk, of vectors where elements are densely tied."""
        refusal, roles = asked.refusal(self)
        whole = asked.name not in asked.by_element
        joint = _joint(asked.graph, refusal, roles) if whole else ()
        return asked.move(self, joint=joint)

    def lines(self, module: Module, step: Move, call: str, bounds: str) -> list[str]:
        """The walk that suits the elements of a step."""
        state = f's["{step.variables[0]}"]'
        settings = "" if self.scale is None else f", scale={float(self.scale)!r}"
        if self.target_accept is not None:
            settings += f", target={float(self.target_accept)!r}"
        if step.tied:
            shape = module.shape(step.statement)
            tuning = f'runtime.walk_of(s, "{step.name}", {shape}{settings})'
            return step.tied_lines(module, "walk", call, tuning)
        name, arguments = _walked(module, step, call, settings)
        is_told = name in OF_PARTS and step.statement.support.is_discrete
        told = ", whole=True" if is_told else ""
        return moved(state, name, f"{state}, {arguments}{bounds}{told}")

    def lower(self, workshop: Workshop, step: Move) -> None:
        """The steps of single elements, or of vectors."""
        from gibbsppl.code.lowering.moves import lower_walk  # noqa: PLC0415  (if compiled)

        lower_walk(workshop, step, self.scale, self.target_accept, step.line)

    def probabilities(
        self, graph: Graph, step: Move, given: LogDensity, values: Values, labels: range
    ) -> Floats:
        """The probability of each label after a step, for each element alone: (label, ranges)."""
        scale = 1.0 if self.scale is None else self.scale
        return _probabilities(graph, step, given, values, labels, scale)


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
    if apart > 1 and not is_whole(graph, statement):
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


def _walked(module: Module, step: Move, call: str, settings: str) -> tuple[str, str]:
    """The walk that suits the elements of a step, and its arguments."""
    shape, where = module.shape(step.statement), where_text(module, step)
    if step.joint:
        return "walk_vectors", f"{call}, {_vectors(module, step, settings)}"
    chosen = selection(module, step)
    extent = f's["{step.variables[0]}"]{where}.shape' if chosen.part else shape
    tuning = f'runtime.walk_of(s, "{step.name}", {extent}{settings})'
    if chosen.calls:
        return "walk_elements", f"{call}, {tuning}, {chosen.calls}"
    if chosen.part:
        return "walk_part", f"{chosen.part}, {call}, {tuning}"
    whole = step.statement.support.is_discrete
    return "walk_integers" if whole else "walk_batch", f"{call}, {tuning}"


def _vectors(module: Module, step: Move, settings: str) -> str:
    """The tuning of a walk of vectors, and their places."""
    at, writer = index_text(module, step), module.writer(inline={})
    sizes = list(map(writer.size_text, module.dims(step.statement)))
    apart = " * ".join(n for a, n in enumerate(sizes) if a not in step.joint) or "1"
    size, places = f's["{step.variables[0]}"][{at}].size', f"[{at}]"
    if module.is_everything(step):
        size = " * ".join(sizes[a] for a in step.joint)
    if len(step.joint) < len(sizes):
        places = f"runtime.rows_of({tuple_text(sizes)}, {step.joint})"
    return f'runtime.vector_walk_of(s, "{step.name}", {apart}, {size}{settings}), {places}'


def proposed(label: int, labels: range, scale: float) -> Floats:
    """The probability of proposing each label from a given label.

    >>> proposed(0, range(2), 1.0).round(6)
    array([0.365413, 0.634587])
    """
    found = np.zeros(len(labels))
    farthest = int(np.ceil(scale * 40))  # (beyond 40 sd a normal is in no float)
    for k in range(1, farthest + 1):
        share = (erf(k / scale / sqrt(2)) - erf((k - 1) / scale / sqrt(2))) / 2
        for there in (label + k, label - k):
            found[_reflected(there - labels.start, len(labels))] += share
    return np.asarray(found / found.sum())


def _reflected(position: int, size: int) -> int:
    """A position of ``0 .. size - 1``; positions beyond the ends are reflected."""
    turned = position % (2 * size)
    return turned if turned < size else 2 * size - 1 - turned


def _probabilities(
    graph: Graph, step: Move, given: LogDensity, values: Values, labels: range, scale: float
) -> Floats:
    """The probability of each label after a step, for each element alone: (label, ranges)."""
    statement, sizes = step.statement, graph.sizes
    over = regions(statement, sizes)
    shape = tuple(map(len, over))
    now = np.broadcast_to(evaluate(statement.target, over, values, sizes), shape)
    found = np.zeros((len(labels), *shape))
    for where in map(tuple, np.argwhere(free_elements(statement, values, sizes))):
        logs = np.array([_log_density(graph, step, given, values, now, where, v) for v in labels])
        own = int(now[where]) - labels.start
        steps = proposed(int(now[where]), labels, scale)
        with np.errstate(all="ignore"):
            ratio = np.exp(np.minimum(np.nan_to_num(logs - logs[own], nan=0.0, neginf=-np.inf), 0))
        moved = steps * ratio
        moved[own] = 0.0
        moved[own] = 1.0 - moved.sum()
        found[(slice(None), *where)] = moved
    return found


def _log_density(
    graph: Graph,
    step: Move,
    given: LogDensity,
    values: Values,
    now: Floats,
    where: tuple[int, ...],
    label: int,
) -> float:
    """The log density of the array with a label at one position and all else as before."""
    name = step.variables[0]
    changed = np.array(now)
    changed[where] = label
    there = {**values, name: np.array(values[name])}
    fill(step.statement, changed, there, graph.sizes)
    with np.errstate(all="ignore"):
        return float(np.sum(given(there[name])))
