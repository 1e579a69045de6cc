"""Observed outcomes of events as potentials, where the outcome is one number everywhere.

``one ~ Bernoulli(p)`` of an event (``p`` has indicators of what is drawn in it), ``one = 1``
observed, says that the event holds: what the density says of the other outcome vanishes. So it does
by the ones trick and the zeros trick (``zero ~ Poisson(-log_density)``), whose argument is any
density, so that it has a guard.

Comes in: a graph and its data. Goes out: the graph in which such a statement is a potential of the
same name, with the number in the place of what is observed: a program made from that graph is one
for these data. Where nothing vanishes the statement stays; and where the support depends on what is
drawn, so that an observed value says more than its density.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.functions import AtMost
>>> from gibbsppl.families import FAMILIES
>>> x, one = Array("x")[()], Array("one", integer=True)[()]
>>> above = (("p", AtMost(sp.S.Zero, x)),)
>>> observed = Statement("one", one, (), (), FAMILIES["Bernoulli"], above, known=sp.S.One)
>>> normal = (("mu", sp.S.Zero), ("tau", sp.S.One))
>>> graph = Graph("g", {}, {}, (Statement("x", x, (), (), FAMILIES["Normal"], normal), observed))
>>> print(with_outcomes(graph, {"one": np.array(1)}))
x ~ Normal(mu=0, tau=1)
log density += log([0 <= x]), for one observed
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, arrays_in, mentions
from gibbsppl.algebra.functions import INDICATORS
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Graph, Potential, Statement
from gibbsppl.pieces.logs import expand_logs


def with_outcomes(graph: Graph, data: Values) -> Graph:
    """The graph with outcomes of events that are one number everywhere as potentials."""
    guarded = {p.guards for p in graph.potentials}
    made = {s.name: _potential(graph, s, data, s.name in guarded) for s in graph.statements}
    potentials = tuple(p for p in made.values() if p is not None)
    if not potentials:
        return graph
    left = tuple(s for s in graph.statements if made[s.name] is None)
    return replace(graph, statements=left, potentials=(*potentials, *graph.potentials))


def _potential(
    graph: Graph, statement: Statement, data: Values, guarded: bool
) -> Potential | None:
    """The potential of an observed outcome of an event; None for all other statements.

    ``guarded``: an argument may be outside of its support.
    """
    s = statement
    is_outcome = s.known == 1 and s.support.kind == "integer" and not s.event and not s.censored
    events = (i for _, a in s.arguments for i in a.atoms(*INDICATORS))
    if not is_outcome or not (guarded or any(mentions(i, graph.drawn) for i in events)):
        return None
    if any(mentions(sp.sympify(e), graph.drawn) for e in (s.support.lower, s.support.upper)):
        return None
    seen = np.unique(evaluate(s.target, s.over, data, graph.sizes))
    if len(seen) != 1:
        return None
    density = s.log_density.xreplace({s.target: sp.Integer(int(seen[0]))})
    if _terms(density, graph) >= _terms(s.log_density, graph):
        return None
    expanded = expand_logs(density, arrays_in(density))
    return Potential(s.name, expanded, s.over, of=s.target.array.name)


def _terms(density: Expr, graph: Graph) -> int:
    """The number of terms that depend on what is drawn."""
    return sum(mentions(t, graph.drawn) for t in sp.Add.make_args(density))
