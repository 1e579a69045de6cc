"""Draws with other variables integrated out, which are drawn right after: pairs drawn together.

A shape and a rate, a mean and its precision: given one another, both move little. Where one has a
closed form, what is left of it is its log partition function, and the other is drawn from that (D.
A. van Dyk and T. Park, 2008, "Partially collapsed Gibbs samplers", Journal of the American
Statistical Association 103). Labels that see such variables are drawn by a scan (`collapsing`).

Comes in: a graph, and the names of variables. Goes out: the graph without them, in which sums over
other variables are written out, with the conditionals that are as good there as they were before;
and the conditionals of what was integrated out, each given those drawn before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import Expr, leaves_of, mentions, substitute
from gibbsppl.algebra.polynomials import factored
from gibbsppl.derive.conditionals import Derived, conditional_of
from gibbsppl.derive.contractions import data_only, pull_back
from gibbsppl.errors import CompileError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Maintained, Potential, Scatter
from gibbsppl.pieces.split import Piece
from gibbsppl.rewrites.collapsing import collapsed
from gibbsppl.rewrites.integrals import Integral
from gibbsppl.rewrites.quality import CLOSED, is_as_good, quality_of

# What is drawn without a variable, where that is by a scan.
LABELS = "labels"


@dataclass(frozen=True, slots=True)
class Without:
    """A graph without variables, what may be drawn in it, and then the variables in their order.

    Each of these has a conditional in a graph of its own, without those that are still to come.
    """

    graph: Graph
    derived: tuple[Derived, ...]
    after: tuple[tuple[Graph, Derived], ...]


def drawn_without(
    graph: Graph,
    marginal: Graph,
    integrals: tuple[Integral, ...],
    data: Values,
    before: Mapping[str, Derived],
) -> Without:
    """The draws with variables integrated out, of those that have other draws ``before``.

    ``marginal`` is the graph that integrals have left.
    """
    there = _written_out(marginal)
    names = {i.conditional.statement.target.array.name for i in integrals}
    found = []
    for statement in there.latent:
        factors = graph.factors_of(statement.target.array)
        if statement.name in before and any(mentions(f.log_density, names) for f in factors):
            derived = conditional_of(there, statement, data)
            if is_as_good(derived, before[statement.name]):
                found.append(derived)
    if not found:
        raise CompileError(
            f"collapse: no label depends on {', '.join(sorted(names))}, and no other variable has "
            "as good a draw with them integrated out; leave collapse= out."
        )
    return Without(there, tuple(found), tuple(_drawn_after(integrals, data)))


def collapsible(
    graph: Graph, data: Values, names: Collection[str] | None = None
) -> dict[str, str]:
    """The variables that can be integrated out, each by itself, and what is drawn without them.

    That is labels, or variables that have no closed form: others would gain little. ``names``: the
    variables that are looked at, all by default.
    """
    own = {s.name: conditional_of(graph, s, data) for s in graph.latent}
    worse = {n: d for n, d in own.items() if quality_of(d) > CLOSED}
    found = {}
    for name in graph.drawn if names is None else names:
        with contextlib.suppress(CompileError):
            marginal, scans, integrals = collapsed(graph, data, (name,))
            made = () if scans else drawn_without(graph, marginal, integrals, data, worse).derived
            names = dict.fromkeys(d.statement.target.array.name for d in made)
            found[name] = LABELS if scans else ", ".join(names)
    return found


def _drawn_after(
    integrals: tuple[Integral, ...], data: Values
) -> Iterator[tuple[Graph, Derived]]:
    """The draws of variables that were integrated out, the last one first."""
    for integral in reversed(integrals):
        own, graph = integral.conditional, _written_out(integral.graph)
        statement = graph.statement(own.statement.name)
        yield graph, conditional_of(graph, statement, data) if integral.is_tied else own


def _written_out(graph: Graph) -> Graph:
    """The graph whose marginals are potentials: arrays of sums as these sums."""
    values: dict[str, tuple[Maintained, Expr]] = {}
    for array in dict.fromkeys(a for m in graph.marginals for a in m.arrays):
        total = Add(*(_pulled(graph, array, s, values) for s in array.scatters))
        values[array.name] = array, factored(total)
    potentials = (
        Potential(m.name, _without_arrays(m.log_density, values), m.over) for m in graph.marginals
    )
    return replace(graph, marginals=(), potentials=(*graph.potentials, *potentials))


def _pulled(
    graph: Graph,
    array: Maintained,
    scatter: Scatter,
    values: Mapping[str, tuple[Maintained, Expr]],
) -> Expr:
    """The values that a factor adds to an array, at each place of it."""
    value = _without_arrays(scatter.value, values)
    piece = Piece(scatter.factor, sp.S.One, (), value, scatter.over)
    known = data_only(graph.variables, graph)
    found = pull_back(piece, array.axes, scatter.indices, graph.sizes, known)
    if not found.is_everywhere(graph.sizes):
        raise CompileError(
            f"collapse: {scatter.factor} sees a part of what is integrated out, which only scans "
            "of labels can; leave collapse= out."
        )
    return found.value


def _without_arrays(expr: Expr, values: Mapping[str, tuple[Maintained, Expr]]) -> Expr:
    """An expression with the values of arrays in their place."""
    found: dict[Expr, Expr] = {}
    for leaf in leaves_of(expr, values):
        array, value = values[leaf.array.name]
        pairs = zip(array.axes, leaf.indices, strict=True)
        found[leaf] = substitute(value, {a: i for a, i in pairs if a != i})
    return expr.xreplace(found)
