"""Rows of the table of rewrites (data augmentation), and the facts that rules may ask for.

A rule is an identity: a term of the log density is what is left when a new variable, the
*auxiliary* one, is summed or integrated out of another term. Adding the variable leaves the
distribution of all others as it is; rules name no distribution, and look at terms alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np
import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    array_of,
    leaves_of,
    mentions,
    renamed_apart,
)
from gibbsppl.algebra.functions import Below, Where
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.pickling import looked_up
from gibbsppl.algebra.polynomials import factored
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.bounds import NONNEGATIVE, Bounds, Sign, known_bounds, sign_of
from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Factor, Graph, Statement, Variable
from gibbsppl.pieces.definite import holds_definite
from gibbsppl.pieces.gates import FrozenBinary, binary_arrays, frozen, is_gate, opened
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.rewrites.definite import forms_named
from gibbsppl.rewrites.terms import Head, Term, terms_in

# Each rule looks at the same log densities.
MOST_READINGS = 256


def _is_positive(
    data: Values, expr: Expr, where: Expr, over: tuple[Range, ...], sizes: Sizes
) -> bool:
    """Whether an expression of data is above zero wherever another one is not zero."""
    positive = evaluate(expr, over, data, sizes) > 0
    return bool((positive | (evaluate(where, over, data, sizes) == 0)).all())


def _is_gate(data: Values, expr: Expr, over: tuple[Range, ...], sizes: Sizes) -> bool:
    return bool(np.isin(evaluate(expr, over, data, sizes), (0, 1)).all())


def _is_count(data: Values, expr: Expr, over: tuple[Range, ...], sizes: Sizes) -> bool:
    values = evaluate(expr, over, data, sizes)
    return bool(((values >= 0) & (values == np.rint(values))).all())


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What is known of a model: signs, whole numbers, data, free names.

    ``factor`` is the name of the factor that is rewritten, ``targets`` are the arrays that are in
    the way, ``taken`` names that are used elsewhere. ``signs`` keeps the signs that were asked for.
    """

    graph: Graph
    data: Values
    factor: str
    targets: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    bounds: Bounds = field(init=False)
    signs: dict[Expr, Sign] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", known_bounds(self.graph, self.data))

    @property
    def is_censored(self) -> bool:
        """Whether the factor has values of which only bounds are known."""
        return any(s.censored for s in self.graph.statements_of(self.factor))

    def is_positive(self, expr: Expr) -> bool:
        """Whether an expression is known to be above zero."""
        return self._sign(expr) == "positive"

    def _sign(self, expr: Expr) -> Sign:
        expr = sp.sympify(expr)
        if expr not in self.signs:
            self.signs[expr] = sign_of(forms_named(expr, self._is_definite), self.bounds)
        return self.signs[expr]

    def _is_definite(self, leaf: Leaf) -> bool:
        """Whether the elements of an array are positive definite matrices along its last axes."""
        return holds_definite(self.graph, self.data, leaf.array.name)

    def is_positive_where(self, expr: Expr, where: Expr, over: tuple[Range, ...]) -> bool:
        """Whether an expression is above zero wherever another one, if it is data, is not zero.

        A sum of positive terms with weights of 0 and 1 is, if a weight of each sum is 1.
        """
        if self.is_positive(expr):
            return True
        weight = where if self.is_data(where) else sp.S.One
        return answer(self.data, _is_positive, self._floor(expr), weight, over, self.graph.sizes)

    def _floor(self, expr: Expr) -> Expr:
        """An expression of data that is above zero only where this one is."""
        if self.is_data(expr):
            return expr
        if self.is_positive(expr):
            return sp.S.One
        if expr.is_Mul or (expr.is_Add and all(map(self.is_nonnegative, expr.args))):
            return expr.func(*map(self._floor, expr.args))
        if isinstance(expr, Over) and self.is_nonnegative(expr.body):
            return expr.func(self._floor(expr.body), *expr.args[1:])
        return sp.S.Zero

    def is_nonnegative(self, expr: Expr) -> bool:
        """Whether an expression is known to be zero or more."""
        return self._sign(expr) in NONNEGATIVE

    def is_probability(self, expr: Expr) -> bool:
        """Whether an expression is known to be between 0 and 1."""
        return self.is_nonnegative(expr) and self.is_nonnegative(1 - expr)

    def has_mean(self, expr: Expr) -> bool:
        """Whether all that an expression reads is known to have a prior mean."""
        drawn = {leaf.array.name for leaf in leaves_of(expr, self.graph.drawn)}
        latent = (s for s in self.graph.latent if s.target.array.name in drawn)
        return all(map(self._is_of_finite_mean, latent))

    def _is_of_finite_mean(self, statement: Statement) -> bool:
        """Whether a distribution is bounded, or the mean given in its row is finite."""
        ends = (sp.sympify(b) for b in (statement.support.lower, statement.support.upper))
        if not any(b.is_infinite for b in ends):
            return True
        row = statement.family.mean
        if row is None:
            return False
        mean = sp.sympify(row(statement.event, **dict(statement.arguments)))
        return not self._where_known(mean).has(sp.oo, sp.zoo, sp.nan, Where)

    def _where_known(self, expr: Expr) -> Expr:
        """A formula with each branch resolved whose condition is surely true; all others stay."""
        return expr.replace(
            lambda e: isinstance(e, Where) and isinstance(e.args[0], Below),
            lambda e: e.args[1] if self.is_positive(e.args[0].args[1] - e.args[0].args[0]) else e,
        )

    def is_data(self, expr: Expr) -> bool:
        """Whether an expression reads data alone: nothing drawn, and no power."""
        return not leaves_of(expr, self.graph.random)

    def values(self, expr: Expr, over: tuple[Range, ...]) -> Floats:
        """The values of an expression of data, one for each position of the ranges."""
        found = evaluate(expr, over, self.data, self.graph.sizes)
        return np.broadcast_to(found, tuple(map(len, over)))

    def is_gate(self, expr: Expr, over: tuple[Range, ...]) -> bool:
        """Whether an expression is 0 or 1, everywhere."""
        if self.is_data(expr):
            return answer(self.data, _is_gate, expr, over, self.graph.sizes)
        return is_gate(expr, binary_arrays(self.graph, self.data))

    def gated(self, expr: Expr) -> tuple[Expr, Expr]:
        """The product of the gates among the factors, and the product of all others."""
        binary = binary_arrays(self.graph, self.data)
        number, factors = factored(expr).as_coeff_mul()
        gates, rest = sp.S.One, number
        for factor in factors:
            if is_gate(factor, binary):
                gates *= factor
            elif is_gate(-factor, binary):
                gates, rest = -gates * factor, -rest
            else:
                rest *= factor
        return gates, rest

    def is_count(self, expr: Expr, over: tuple[Range, ...]) -> bool:
        """Whether an expression is a whole number from 0 on, everywhere."""
        if self.is_data(expr):
            return answer(self.data, _is_count, expr, over, self.graph.sizes)
        if expr.is_Add and any(expr == gap for gap in self._gaps()):
            return True
        if expr.is_Mul or expr.is_Add:
            return all(self.is_count(a, over) for a in expr.args)
        return isinstance(expr, Leaf) and self._is_a_count(expr.array.name)

    def _gaps(self) -> Iterator[Expr]:
        """Yield the difference between the largest value of a count and the count."""
        for s in self.graph.statements:
            if s.support.kind == "integer" and sp.sympify(s.support.upper).is_finite is not False:
                yield s.support.upper - s.target

    def _is_a_count(self, name: str) -> bool:
        supports = [s.support for s in self.graph.statements_of(name)]
        return bool(supports) and all(
            s.is_discrete and self.is_nonnegative(s.lower) for s in supports
        )

    def fresh(self, name: str) -> str:
        """A name that no array has: the name wanted, or that with a number."""
        taken = {*self.graph.variables, *(d.name for d in self.graph.deterministics), *self.taken}
        return fresh(name, taken)

    def fresh_dim(self, name: str) -> Dim:
        """A dim that the model does not have."""
        return Dim(fresh(name, {d.name for d in self.graph.sizes} | self.taken))


@dataclass(frozen=True, slots=True, eq=False)
class Auxiliary:
    """A new variable, and the term that takes the old one's place.

    ``log_density(x)`` at its element ``x`` has the old term as the log of its sum or integral over
    the support. It has one value for each position of ``ranges`` (the factor's own included) and of
    ``event``. ``tables`` are new arrays of data by name, ``sizes`` the sizes of new dims. To the
    log density belongs the ``correction``, which does not depend on the new element: a term of a
    row that says so (`Function.is_correction`), for each position of ``ranges``.
    """

    support: Support
    log_density: Callable[[Leaf], Expr]
    ranges: tuple[Range, ...]
    event: tuple[Dim, ...] = ()
    of: Dim | None = None
    sizes: Mapping[Dim, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[Variable, np.ndarray]] = field(default_factory=dict)
    correction: Expr = sp.S.Zero

    def array(self, name: str) -> Array:
        """The array of the new variable, with what is known of its elements."""
        if self.support.is_discrete:
            return Array(name, nonnegative=True)
        is_positive = self.support.kind == "real" and self.support.lower.is_nonnegative
        return array_of(name, is_positive=bool(is_positive))


# From a factor, the facts and the arrays that are in the way: the term that a new variable takes
# the place of, what is left of the log density without it, and that variable.
Apply = Callable[[Factor, Facts, Collection[str]], tuple[Expr, Expr, Auxiliary] | None]

# From the terms of a factor, the factor's ranges and the facts: the terms that a new variable takes
# the place of, with that variable.
OfTerms = Callable[
    [tuple[Term, ...], tuple[Range, ...], Facts], Iterator[tuple[tuple[Term, ...], Auxiliary]]
]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One identity.

    ``suffix`` names the new variable after the factor. ``identity`` says what is used, ``source``
    who found it, and where the name does not, ``known_as`` what the field calls it. ``head`` is the
    function (or functions) that its terms are of, if it is about terms of a form (`of_terms`). With
    a rule that ``proposes``, what is drawn is a proposal. One that ``spares_rejection`` is for
    variables that have an exact draw, but a dear one.
    """

    name: str
    suffix: str
    apply: Apply
    identity: str
    source: str
    head: Head = ()
    proposes: bool = False
    spares_rejection: bool = False
    known_as: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return looked_up("gibbsppl.rewrites.RULES", self)


def of_terms(  # noqa: PLR0913  (fields of a row, all named at the call)
    head: Head,
    found: OfTerms,
    *,
    name: str,
    suffix: str,
    identity: str,
    source: str,
    shut: bool = False,
    known_as: str = "",
) -> Rule:
    """The rule of terms that are a coefficient times a head, in any factor.

    Gates inside of heads are opened; if ``shut``, only where nothing is found with them inside.
    """
    apply = partial(_in_terms, head, found, shut)
    return Rule(name, suffix, apply, identity, source, head, known_as=known_as)


def one_by_one(of: Callable[[Term, tuple[Range, ...], Facts], Auxiliary | None]) -> OfTerms:
    """The rule of a single term, applied to each."""

    def found(
        terms: tuple[Term, ...], over: tuple[Range, ...], facts: Facts
    ) -> Iterator[tuple[tuple[Term, ...], Auxiliary]]:
        each = (((t,), of(t, over, facts)) for t in terms)
        return ((used, aux) for used, aux in each if aux is not None)

    return found


def _in_terms(
    head: Head,
    found: OfTerms,
    shut: bool,
    factor: Factor,
    facts: Facts,
    targets: Collection[str],
) -> tuple[Expr, Expr, Auxiliary] | None:
    """The rewrite of the first terms of a head that a rule fits; None without such terms."""
    if not mentions(factor.log_density, targets):
        return None
    readings = readings_of(factor, facts, targets)
    for density in readings if shut else islice(readings, 1, None):
        terms, rest = terms_in(density, head, targets, facts.graph.sizes)
        first = next(found(terms, factor.over, facts), None)
        if first is not None:
            used, auxiliary = first
            left = Add(rest, *(t.summed() for t in terms if t not in used))
            return Add(*(t.summed() for t in used)), left, auxiliary
    return None


def readings_of(factor: Factor, facts: Facts, targets: Collection[str]) -> Iterator[Expr]:
    """The log density of a factor, reduced, logs expanded: as it is, and with gates out."""
    density = renamed_apart(factor.log_density, {r.dim for r in factor.over})
    yield _reading(density, frozenset(targets), None)
    gates = frozen(binary_arrays(facts.graph, facts.data))
    yield _reading(density, frozenset(targets), gates)


@lru_cache(maxsize=MOST_READINGS)
def _reading(
    density: Expr, targets: frozenset[str], gates: FrozenBinary | None
) -> Expr:
    """A log density, reduced, logs expanded; with gates out, if any are named."""
    reduced = simplified(density, targets, counts=True)
    if gates is not None:
        reduced = opened(reduced, targets, dict(gates), whole=True)
    return expand_logs(reduced, targets)
