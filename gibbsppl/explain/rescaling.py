"""A function of a variable, declared as the variable in its stead.

Comes in: a graph, one of its statements, a `Scale`. Goes out: the graph in which the new variable
is random and the old one follows from it.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.algebra.supports import POSITIVE
>>> sigma, u = Array("sigma", positive=True)[()], Array("u", positive=True)[()]
>>> scale = scale_of("tau", 4 / sigma**2, "sigma", POSITIVE, POSITIVE)
>>> scale.forward(sigma), scale.backward(u)
(4/sigma**2, 2/sqrt(u))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr, Leaf, array_of
from gibbsppl.algebra.functions import Expit
from gibbsppl.algebra.inverses import solve_for
from gibbsppl.algebra.supports import Support
from gibbsppl.model.graph import Censoring, Deterministic, Graph, Statement, Variable

Map = Callable[[Expr], Expr]


@dataclass(frozen=True, slots=True)
class Scale:
    """A function of one element and the inverse: another scale to declare a variable on."""

    name: str
    forward: Map
    backward: Map
    support: Support

    @property
    def array(self) -> Array:
        """The new variable's array."""
        is_positive = sp.sympify(self.support.lower).is_nonnegative
        return array_of(self.name, is_positive=bool(is_positive))


def scale_of(
    name: str, argument: Expr, array: str, support: Support, image: Support
) -> Scale | None:
    """An argument as a scale: an invertible function of one element, from support to image.

    ``array`` names the array of the element, ``support`` is the support of the element.
    """
    leaves = [a for a in argument.atoms(Leaf) if a.array.name == array]
    if argument in leaves or len(leaves) != 1 or (support.kind, image.kind) != ("real", "real"):
        return None
    is_positive = sp.sympify(support.lower).is_nonnegative
    x = sp.Dummy("x", positive=True) if is_positive else sp.Dummy("x", real=True)
    u = sp.Dummy("u", positive=True)
    function = argument.xreplace({leaves[0]: x})
    found = solve_for(function, x, u) if function.free_symbols == {x} else None
    inverse = None if found is None else found[0]
    ends = {_at_end(function, x, end, image) for end in (support.lower, support.upper)}
    if inverse is None or ends != {image.lower, image.upper}:
        return None
    return Scale(
        name, lambda e: function.xreplace({x: e}), lambda e: inverse.xreplace({u: e}), image
    )


def rescaled(graph: Graph, statement: Statement, scale: Scale, declared: Statement) -> Graph:
    """The graph with the new variable declared, and put in for the old one everywhere."""
    old = statement.target.array.name

    def put_in(expr: Any) -> Any:
        return _put_in(expr, old, scale) if isinstance(expr, sp.Expr) else expr

    dims = graph.variables[old].dims
    others = {n: v for n, v in graph.variables.items() if n != old}
    follows = Deterministic(old, dims, scale.backward(scale.array[dims]))
    return replace(
        graph,
        variables=others | {scale.name: Variable(scale.name, dims, "random")},
        statements=tuple(
            declared if s.name == statement.name else _mapped(s, put_in) for s in graph.statements
        ),
        potentials=tuple(
            replace(p, log_density=put_in(p.log_density)) for p in graph.potentials
        ),
        deterministics=(
            follows,
            *(replace(d, value=put_in(d.value)) for d in graph.deterministics),
        ),
    )


def _put_in(expr: Expr, old: str, scale: Scale) -> Expr:
    """The expression in the new variable, put in for its formula and for the old variable."""
    leaves = [a for a in expr.atoms(Leaf) if a.array.name == old]
    new = {a: scale.array[a.indices] for a in leaves}
    whole = {scale.forward(a): u for a, u in new.items()}
    return expr.xreplace(whole | {a: scale.backward(u) for a, u in new.items()})


def _mapped(statement: Statement, function: Callable[[Any], Any]) -> Statement:
    """The statement, a function applied to all expressions that it reads."""
    censored = (
        Censoring(function(c.where), function(c.lower), function(c.upper))
        for c in statement.censored
    )
    return replace(
        statement,
        arguments=tuple((n, function(v)) for n, v in statement.arguments),
        lower=function(statement.lower),
        upper=function(statement.upper),
        censored=tuple(censored),
    )


def _at_end(function: Expr, x: Expr, end: Expr, image: Support) -> Expr:
    """The value of a function at an end of the support; a pole is the infinite end of the image."""
    plain = function.replace(Expit, lambda z: 1 / (1 + sp.exp(-z)))
    value = plain.subs(x, end)
    if value == sp.zoo:
        return image.upper if image.upper == sp.oo else image.lower
    return value
