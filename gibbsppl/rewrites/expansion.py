"""Parameter expansion: a working scale for latent normal values and all that moves in proportion.

Given latent values between bounds (of a probit, an ordered probit) coefficients, effects and cut
points hold the size of these values, and are held by it: the more so, the more certain outcomes
are. A *working scale* that nothing reads is added to the model, and drawn once more with all of
them in units of it held fixed: they move along, each in proportion to it (J. S. Liu and Y. N. Wu,
1999, "Parameter expansion for data augmentation", Journal of the American Statistical Association
94; cut points as in B. Nandram and M.-H. Chen, 1996, Journal of Statistical Computation and
Simulation 54).

Comes in: a `Rewritten` model. Goes out: the same with a stage for each working scale; the draw with
others held fixed is a non-centred update like any other.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from sympy import log

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Statement
from gibbsppl.rewrites.applied import Rewrite, applications, is_rewritten
from gibbsppl.rewrites.recentring import is_whole, reads
from gibbsppl.rewrites.rows import Auxiliary, Facts, Rule


@dataclass(frozen=True, slots=True)
class Expansion:
    """A working scale added to a graph, and the arrays that move in proportion to it."""

    rewrite: Rewrite
    moved: tuple[str, ...]


def working_scale(
    factor: Factor, facts: Facts, targets: Collection[str]
) -> tuple[Expr, Expr, Auxiliary]:
    """A scale that no factor reads, one for each position on the axes that all targets have."""
    assert isinstance(factor, Statement)
    axes = [set(facts.graph.variables[t].dims) for t in targets]
    ranges = tuple(r for r in factor.over if all(r.dim in dims for dims in axes))
    return factor.log_density, factor.log_density, Auxiliary(POSITIVE, _working, ranges)


def _working(scale: Leaf) -> Expr:
    return log(2) + log(scale) - scale**2


WORKING_SCALE = Rule(
    name="working scale",
    known_as="parameter expansion",
    suffix="scale",
    apply=working_scale,
    identity="p(x) = integral over a > 0 of p(x) 2 a exp(-a^2)",
    source="J. S. Liu and Y. N. Wu (1999), Parameter expansion for data augmentation",
)


def expansion(graph: Graph, data: Values, name: str) -> Expansion | None:
    """A working scale for an auxiliary variable and all that moves with it; None without one."""
    moved = _moving(graph, name)
    if not {*moved} - {name}:
        return None  # (alone, it is drawn exactly already)
    (made,) = islice(applications(graph, data, WORKING_SCALE, moved, (name,)), 1)
    return Expansion(made, moved)


def _moving(graph: Graph, name: str) -> tuple[str, ...]:
    """All that has to move in proportion to an array; none where some of it cannot.

    An observed array cannot, nor one with bounds of its own.
    """
    found, waiting = list[str](), [name]
    while waiting:
        array = waiting.pop(0)
        if array in found:
            continue
        statements = graph.statements_of(array)
        if len(statements) != 1 or not _may_move(graph, statements[0]):
            return ()
        found.append(array)
        for factor in graph.factors_of(array):
            if isinstance(factor, Statement):
                waiting.append(factor.target.array.name)
                waiting += [n for n in graph.drawn if reads(factor, n) and _is_real(graph, n)]
    return tuple(found)


def _is_real(graph: Graph, name: str) -> bool:
    """Whether an array has numbers of both signs, or is an auxiliary variable."""
    every = graph.statements_of(name)
    return all(
        s.support.kind == "real" and (s.support.lower != 0 or is_rewritten(s)) for s in every
    )


def _may_move(graph: Graph, statement: Statement) -> bool:
    """Whether a statement draws its whole array, of numbers that may move in proportion."""
    return _is_real(graph, statement.target.array.name) and is_whole(graph, statement)
