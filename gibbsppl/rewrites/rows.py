"""What a row of the table of rewrites holds, and what its rule may ask about the model.

A rule is an identity: a term of the log density is what is left when a new variable, the
*auxiliary* one, is summed or integrated out of another. Adding the variable changes nothing of the
distribution of all others; rules name no distribution, and look at terms alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.concavity import known_bounds
from gibbsppl.density import evaluate
from gibbsppl.expressions import Array, Dim, Expr, Leaf, leaves_of
from gibbsppl.graph import Graph, Range, Statement, Variable
from gibbsppl.rewrites.terms import Term
from gibbsppl.signs import sign_of
from gibbsppl.supports import Support


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What is known of a model: signs, whole numbers, data, free names.

    ``factor`` is what the factor that is rewritten is called.
    """

    graph: Graph
    data: Mapping[str, Any]
    factor: str

    def is_positive(self, expr: Expr) -> bool:
        """Whether an expression is known to be above zero."""
        return sign_of(expr, known_bounds(self.graph, self.data)) == "positive"

    def is_nonnegative(self, expr: Expr) -> bool:
        """Whether an expression is known to be zero or more."""
        sign = sign_of(expr, known_bounds(self.graph, self.data))
        return sign in ("zero", "positive", "nonnegative")

    def is_probability(self, expr: Expr) -> bool:
        """Whether an expression is known to be between 0 and 1."""
        return self.is_nonnegative(expr) and self.is_nonnegative(1 - expr)

    def is_data(self, expr: Expr) -> bool:
        """Whether an expression reads nothing that is drawn."""
        latent = {s.target.array.name for s in self.graph.latent}
        return not leaves_of(expr, latent)

    def values(self, expr: Expr, over: tuple[Range, ...]) -> Any:
        """The values of an expression of data, one for each position of the ranges."""
        found = evaluate(expr, over, self.data, self.graph.sizes)
        return np.broadcast_to(found, tuple(map(len, over)))

    def is_count(self, expr: Expr, over: tuple[Range, ...]) -> bool:
        """Whether an expression is a whole number from 0 on, everywhere."""
        if self.is_data(expr):
            values = self.values(expr, over)
            return bool(((values >= 0) & (values == np.rint(values))).all())
        if expr.is_Add and any(expr == gap for gap in self._gaps()):
            return True
        if expr.is_Mul or expr.is_Add:
            return all(self.is_count(a, over) for a in expr.args)
        return isinstance(expr, Leaf) and self._is_a_count(expr.array.name)

    def _gaps(self) -> Iterator[Expr]:
        """How far counts are below their largest value."""
        for s in self.graph.statements:
            if s.support.kind == "integer" and sp.sympify(s.support.upper).is_finite is not False:
                yield s.support.upper - s.target

    def _is_a_count(self, name: str) -> bool:
        supports = [s.support for s in self.graph.statements if s.target.array.name == name]
        return bool(supports) and all(s.is_discrete and s.lower >= 0 for s in supports)

    def fresh(self, name: str) -> str:
        """A name that no array has: the name wanted, or that with a number."""
        taken = set(self.graph.variables) | {d.name for d in self.graph.deterministics}
        number, found = 1, name
        while found in taken:
            number += 1
            found = f"{name}_{number}"
        return found

    def fresh_dim(self, name: str) -> Dim:
        """A dim that the model does not have."""
        taken = {d.name for d in self.graph.sizes}
        number, found = 1, name
        while found in taken:
            number += 1
            found = f"{name}_{number}"
        return Dim(found)


@dataclass(frozen=True, slots=True, eq=False)
class Auxiliary:
    """A new variable, and the term that takes the old one's place.

    ``log_density(x)`` at its element ``x`` has the old term as the log of its sum or integral over
    the support. It has one value for each position of ``ranges`` (the factor's own included) and of
    ``event``. ``tables`` are new arrays of data by name, ``sizes`` the sizes of new dims.
    """

    support: Support
    log_density: Callable[[Leaf], Expr]
    ranges: tuple[Range, ...]
    event: tuple[Dim, ...] = ()
    of: Dim | None = None
    sizes: Mapping[Dim, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[Variable, Any]] = field(default_factory=dict)

    def array(self, name: str) -> Array:
        """The array of the new variable, with what is known of its elements."""
        if self.support.is_discrete:
            return Array(name, nonnegative=True)
        is_positive = self.support.kind == "real" and self.support.lower.is_nonnegative
        return Array(name, **({"positive": True} if is_positive else {"real": True}))


# From the terms of a factor with the rule's head, the factor's ranges and the facts: the terms that
# a new variable takes the place of, with that variable.
Apply = Callable[
    [tuple[Term, ...], tuple[Range, ...], Facts], Iterator[tuple[tuple[Term, ...], Auxiliary]]
]


# From a statement and the facts, to its log density without what a new variable stands for.
OfStatement = Callable[[Statement, Facts], tuple[Expr, Auxiliary] | None]


def no_terms(
    _terms: tuple[Term, ...], _over: tuple[Range, ...], _facts: Facts
) -> Iterator[tuple[tuple[Term, ...], Auxiliary]]:
    """Of a rule that reads whole statements: it applies to no terms."""
    return iter(())


def one_by_one(of: Callable[[Term, tuple[Range, ...], Facts], Auxiliary | None]) -> Apply:
    """The rule of a single term, applied to each."""

    def apply(
        terms: tuple[Term, ...], over: tuple[Range, ...], facts: Facts
    ) -> Iterator[tuple[tuple[Term, ...], Auxiliary]]:
        found = (((t,), of(t, over, facts)) for t in terms)
        return ((used, aux) for used, aux in found if aux is not None)

    return apply


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One identity.

    ``head`` is the function (or functions) that its terms are of. ``suffix`` names the new variable
    after the factor. ``identity`` says what is used, ``source`` who found it. A rule that is not
    about terms of a form reads whole statements (``of_statement``).
    """

    name: str
    head: Any
    suffix: str
    apply: Apply
    identity: str
    source: str
    of_statement: OfStatement | None = None
