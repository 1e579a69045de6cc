"""Log densities with kinks, to second order: what is known of their slopes in place of curvature.

Comes in: a graph, statements of it. Goes out: their log density as a quadratic one. ``-c|u|`` has
no second derivative where it counts, but its information is that of slopes of size c: the mean of
minus the second derivative of a log density is that of the square of its slope (M. S. Bartlett,
1953, "Approximate confidence intervals", Biometrika 40). It is that of ``-(c u)**2/2``.

>>> from gibbsppl.algebra.expressions import Array
>>> x, c = Array("x")[()], Array("c")[()]
>>> without_kinks(-c * sp.Abs(x) - x, ("x",)) == -(c**2) * x**2 / 2 - x
True
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Expr, mentions
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.second_order import second_order
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.planning.modal import terms_of


def by_slopes(graph: Graph, statements: Sequence[Statement], data: Values) -> Quadratic | None:
    """The log density of statements to second order, if it is concave but for its kinks."""
    names = tuple(s.target.array.name for s in statements)
    terms = [(f, without_kinks(value, names), over) for f, value, over in terms_of(graph, names)]
    found = second_order(graph, statements, terms, data, constrained=True)
    return None if found is None else found.quadratic


def without_kinks(density: Expr, names: Collection[str]) -> Expr:
    """A log density with squares of equal information in place of distances of some arrays."""
    return Add(*(_without_kink(term, names) for term in Add.make_args(density)))


def has_kinks(density: Expr, names: Collection[str]) -> bool:
    """Whether a log density holds a distance of some arrays."""
    return any(mentions(a, names) for a in density.atoms(sp.Abs))


def _without_kink(term: Expr, names: Collection[str]) -> Expr:
    parts = Mul.make_args(term)
    bent = [p for p in parts if isinstance(p, sp.Abs) and mentions(p, names)]
    rest = Mul(*(p for p in parts if p not in bent))
    if len(bent) != 1 or mentions(rest, names):
        return term
    (inner,) = bent[0].args
    return -((rest * inner) ** 2) / 2
