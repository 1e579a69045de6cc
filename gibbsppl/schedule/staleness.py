"""Whether a sweep reads what it has made stale.

A step that draws a variable with others integrated out leaves these *stale*: they belong to the old
value. Drawn again given the new one they are fresh; read before that, the sweep no longer leaves
the posterior as it is (D. A. van Dyk and T. Park, 2008, "Partially collapsed Gibbs samplers",
Journal of the American Statistical Association 103).
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from gibbsppl.concavity import LogConcave
from gibbsppl.errors import CompileError
from gibbsppl.expressions import Expr, leaves_of
from gibbsppl.finite import FiniteConditional
from gibbsppl.graph import Graph
from gibbsppl.matching import Conditional, NotConjugate
from gibbsppl.pieces import Piece
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.steps import Schedule, Step


def check_fresh(schedule: Schedule) -> None:
    """Refuse a schedule with a step that reads, or a sweep that ends with, a stale variable."""
    every = _random(schedule.graph)
    stale: dict[str, str] = {}
    for step, graph in zip(schedule.steps, schedule.graphs, strict=True):
        (name,) = step.variables
        read = (_read(step, graph) & set(stale)) - {name}
        if read:
            first = min(read)
            raise CompileError(
                f"{step.statement.name}: its draw reads {first}, which is stale: "
                f"{stale[first]} was drawn with {first} integrated out, and {first} has not been "
                f"drawn since. Draw {first} between {stale[first]} and {step.statement.name}."
            )
        stale.pop(name, None)
        stale |= dict.fromkeys(every - _random(graph), name)
    if stale:
        first, cause = min(stale.items())
        raise CompileError(
            f"{first}: it is stale at the end of a sweep: {cause} was drawn with {first} "
            f"integrated out. Draw {first} after {cause}."
        )


def _random(graph: Graph) -> set[str]:
    return {s.target.array.name for s in graph.latent}


def _read(step: Step, graph: Graph) -> set[str]:
    """The arrays that a draw reads: those in its conditional."""
    return {x.array.name for e in _expressions(step, graph) for x in leaves_of(sp.sympify(e))}


def _expressions(step: Step, graph: Graph) -> Iterator[Expr]:
    found = step.conditional
    yield from (found.statement.support.lower, found.statement.support.upper)
    match found:
        case Conditional():
            yield from (v for _, v in found.known)
            yield from (limit.value for limit in found.limits)
            yield from (e for pieces in found.pieces for p in pieces for e in _of_piece(p))
        case FiniteConditional() | NotConjugate() | LogConcave():
            yield from (e for p in found.pieces for e in _of_piece(p))
        case Scan():
            yield from (term for term, _ in found.terms)
            seen = (m for m in graph.marginals if m.name in found.integrated)
            yield from (e for m in seen for s in m.scatters for e in (s.value, *s.indices))


def _of_piece(piece: Piece) -> Iterator[Expr]:
    yield from (piece.coefficient, piece.statistic)
    yield from (i for view in piece.views for i in view.indices if i is not None)
