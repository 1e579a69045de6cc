"""Probabilities that are written element by element: their logs as sums of cases.

An array may be filled with formulas, element by element, from the elements of others: those of a
vector of probabilities in another order, with impossible ones between them, or sums and products
of them, as genotypes have of the frequencies of genes. The log of such an element is a sum of the
logs of all formulas, each where it is the one,

    log(q[i]) = [i = 0] log(p[2]) + [i = 1] log(p[0]**2 + 2 p[0] p[1]) + ...,

and each log is then a term of its own for all that comes.

Comes in: a graph. Goes out: the graph in which observed statements with such logs are potentials of
the same names. (An array computed from its own earlier elements stays what it is.)

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.recursions import Own, step, system_of
>>> p, q, i = Array("p", positive=True), Own("q"), Array("y", integer=True)[Dim("i")]
>>> system = system_of([step(Earlier(q, n), p[1 - n], ()) for n in (0, 1)])
>>> by_cases(2 * sp.log(Recursion(system, q, i)), {"p"})
2*Equals(y[i], 0)*log(p[1]) + 2*Equals(y[i], 1)*log(p[0])
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import product

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, mentions, substitute
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.recursions import Earlier, Recursion, Step
from gibbsppl.model.graph import Graph, Potential

# Arrays with more formulas than this stay as they are.
MOST_CASES = 32


def with_cases(graph: Graph) -> Graph:
    """The graph with logs of what is filled element by element as sums of cases, where observed."""
    drawn = set(graph.drawn)
    seen = (s for s in graph.statements if s.known == 1 and not s.censored)
    made = {s.name: by_cases(s.log_density, drawn) for s in seen}
    changed = [s for s in graph.statements if made.get(s.name, s.log_density) != s.log_density]
    own = (replace(p, log_density=by_cases(p.log_density, drawn)) for p in graph.potentials)
    new = (Potential(s.name, made[s.name], s.over, of=s.target.array.name) for s in changed)
    left = tuple(s for s in graph.statements if s not in changed)
    return replace(graph, statements=left, potentials=(*own, *new))


def by_cases(expr: Expr, drawn: Collection[str]) -> Expr:
    """An expression with the logs of cases that read what is drawn taken apart, term by term."""
    if isinstance(expr, Leaf | Recursion) or not mentions(expr, drawn):
        return expr
    if isinstance(expr, sp.log) and isinstance(expr.args[0], Recursion):
        return Add(*(_cases(expr.args[0]) or (expr,)))
    args = [by_cases(a, drawn) if isinstance(a, sp.Expr) else a for a in expr.args]
    changed = [a for a, b in zip(args, expr.args, strict=True) if a != b]
    if expr.is_Mul and len(changed) == 1:
        rest = Mul(*(a for a in args if a is not changed[0]))
        return Add(*(rest * term for term in Add.make_args(changed[0])))
    return expr.func(*args) if changed else expr


def _cases(element: Recursion) -> tuple[Expr, ...] | None:
    """The log of each formula where it is the one; None for what reads earlier elements."""
    own = element.own
    steps = [s for s in element.system.args if s.element.own == own]
    if any(s.value.has(Earlier) for s in element.system.args):
        return None
    cases = [(s, at) for s in steps for at in _positions(s, element.system.shape(own))]
    if len(cases) > MOST_CASES:
        return None
    found = []
    for one, at in cases:
        places = list(zip(one.element.indices, at, element.indices, strict=True))
        here = Mul(*(Equals(index, n) for _, n, index in places if n is not None))
        names: dict[Expr, Expr] = {
            d: index if n is None else sp.Integer(n)
            for d, n, index in places
            if isinstance(d, Dim)
        }
        value = substitute(one.value, names)
        found.append(sp.log(1 - here) if value == 0 else here * sp.log(value))
    return tuple(found)


def _positions(one: Step, shape: tuple[int, ...]) -> Iterator[tuple[int | None, ...]]:
    """The positions of a region, one for each axis; None along all of an axis.

    (What is read beside a position need not exist for positions of other regions.)
    """
    extents = [one.extent(axis) for axis in range(len(shape))]
    pairs = zip(extents, shape, strict=True)
    yield from product(*((None,) if (a, b) == (0, n) else range(a, b) for (a, b), n in pairs))
