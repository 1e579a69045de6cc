"""The evidence lower bound: expected log densities of all factors, and the entropies of q.

Comes in: a graph, and the expectation under q. Goes out: the terms of the bound, each summed over
all positions. Entropies are about base measures, which are left out of log densities, too: neither
needs its expectation, that of ``log n!`` for example. Nor is that of a statistic needed whose
coefficient never changes, as that of the square of a truncated normal: it cancels.
"""

from __future__ import annotations

from collections.abc import Iterable

from sympy import Add

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.derive.contractions import Contribution, Known, contracted
from gibbsppl.expectation.expected import Expectation, terms_of
from gibbsppl.model.evaluation import Sizes
from gibbsppl.model.graph import Graph, Marginal
from gibbsppl.schedule.moments import Refused

# A term of the bound: the factor, the expectation of its log density, and its ranges.
Term = tuple[str, Expr, tuple[Range, ...]]


def bound_of(graph: Graph, q: Expectation) -> tuple[Term, ...]:
    """The terms of the bound, by factor, then the entropy of each factor of q."""
    found: list[Term] = []
    for factor in graph.factors:
        if isinstance(factor, Marginal):
            raise Refused(f"{factor.name} is integrated out")
        value = q.of_bound(factor.log_density, factor.over)
        every = (t for one in Add.make_args(value) for t in terms_of(one))
        found += ((factor.name, t, factor.over) for t in every)
    for m in (a.entropy for a in q.factors):
        over = tuple(Range(d, 0, graph.sizes[d]) for d in m.dims)
        found.append((m.told, m[m.dims], over))
    return tuple(found)


def summed(terms: Iterable[Term], sizes: Sizes, known: Known) -> tuple[Contribution, ...]:
    """The terms, each summed over all positions."""
    return tuple(
        Contribution(name, contracted(bounded(value, sizes), over, known), ())
        for name, value, over in terms
    )
