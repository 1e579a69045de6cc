"""Concave log densities of several variables to second order, where these are.

Comes in: statements, and the terms of a log density. Goes out: a `Quadratic` in the *steps* of the
variables from where they are: the coefficients of elements are the gradient, those of squares and
products the second derivatives. Its mean is a Newton step. A function of linear predictors has the
pieces that a normal response has, with weights that are its derivatives (iteratively reweighted
least squares; P. J. Green, 1984, JRSS B 46), so that all layouts of joint draws are its, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.bounds import inside, parted
from gibbsppl.algebra.calculus import NoDerivative
from gibbsppl.algebra.expansions import expanded
from gibbsppl.algebra.expressions import Array, Expr, mentions
from gibbsppl.algebra.functions import INDICATORS, Below, Maximum, Minimum, Weighted
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.notation import Notation
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import POSITIVE, REAL, VECTOR, Support
from gibbsppl.analysis.curvature import Certificate
from gibbsppl.derive.concavity import LogConcave, certified_jointly, is_known, obstacle_jointly
from gibbsppl.derive.quadratic import Quadratic, quadratic_in
from gibbsppl.derive.weights import Weight, Weights
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.gates import binary_arrays, opened
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.pieces.split import Piece, View, split

# A term of a log density: its factor, its value at positions of ranges.
Term = tuple[str, Expr, tuple[Range, ...]]


@dataclass(frozen=True, slots=True)
class SecondOrder:
    """Statements whose log density is concave in all their elements together.

    ``terms`` are those of it that hold them, ``quadratic`` what these are to second order;
    ``weighted`` is the same with an array of ``weights`` in place of each product of functions.
    """

    quadratic: Quadratic
    terms: tuple[Term, ...]
    certificate: Certificate
    weighted: Quadratic
    weights: tuple[Weight, ...]

    @property
    def is_constrained(self) -> bool:
        """Whether constraints hold elements, at which the mode may be."""
        return any(map(_is_constraint, (a for _, v, _ in self.terms for a in Add.make_args(v))))


def second_order(
    graph: Graph,
    statements: Sequence[Statement],
    terms: Iterable[Term],
    data: Values,
    taken: Collection[str] = (),
    *,
    constrained: bool = False,
) -> SecondOrder | None:
    """The log density of statements to second order; None where it is not certified concave.

    No bound may be reached, of these variables or by them: all values are possible, or the log
    density falls without end towards it. If they may be ``constrained``, the log density is flat in
    constraints, and ends of intervals are such, be they numbers, or values of others, or of these.
    ``taken`` are names that no array of weights may have.
    """
    arrays = {s.target.array.name: s.target.array for s in statements}
    names = tuple(arrays)
    is_bound = any(map(is_interval, (s.support for s in statements))) or are_bounds(graph, names)
    if is_bound and not constrained:
        return None
    if not all(s.support in (REAL, VECTOR, POSITIVE) or is_interval(s.support) for s in statements):
        return None
    ends = (_ends(s, names, own=s in statements) for s in graph.statements) if is_bound else ()
    held = _held((*terms, *ends), names)
    plain = _plain(held)
    pieces = tuple(_pieces(plain, names))
    certificate = certified_jointly(graph, names, pieces, data)
    bounded = [s for s in statements if s.support == POSITIVE]
    falls = all(_falls_at_zero(graph, s, pieces, names, data) for s in bounded)
    if certificate is None or not falls:
        return None
    quadratic = _quadratic(graph, statements, plain, data, constrained=constrained)
    if quadratic is None:
        return None
    weights = Weights(graph, names, {*taken, *graph.variables}, {})
    weighted = replace(quadratic, pieces=tuple(map(weights.put_into, quadratic.pieces)))
    return SecondOrder(quadratic, held, certificate, weighted, tuple(weights.found.values()))


def expanded_about(
    graph: Graph, statements: Sequence[Statement], terms: Iterable[Term], data: Values
) -> Quadratic | None:
    """The log density of statements to second order, concave or not; flat in constraints.

    None where it has no derivatives, or none that are sums over elements.
    """
    held = _held(terms, tuple(s.target.array.name for s in statements))
    return _quadratic(graph, statements, _plain(held), data, constrained=True)


def _quadratic(
    graph: Graph,
    statements: Sequence[Statement],
    plain: Sequence[Term],
    data: Values,
    *,
    constrained: bool,
) -> Quadratic | None:
    """Terms that are multiplied out, to second order in the steps of elements."""
    arrays = {s.target.array.name: s.target.array for s in statements}
    smooth = [_without_constraints(t) for t in plain] if constrained else plain
    try:
        found = [p for t in smooth for p in _to_second_order(graph, t, arrays, data)]
    except NoDerivative:
        return None
    return quadratic_in(graph, statements, found)


def obstacle_to_second_order(
    graph: Graph,
    statements: Sequence[Statement],
    terms: Iterable[Term],
    data: Values,
    notation: Notation,
) -> str:
    """The first thing that stands against a log density to second order, in words."""
    names = tuple(dict.fromkeys(s.target.array.name for s in statements))
    together = f"{' and '.join(names)}{' together' * (len(names) > 1)}"
    pieces = tuple(_pieces(_plain(_held(terms, names)), names))
    if (found := obstacle_jointly(graph, names, pieces, data)) is not None:
        piece, curvature = found
        term = notation.text(piece.coefficient * piece.statistic)
        inner = curvature.obstacle
        why = f"({notation.text(inner.expression)}: {inner.rule})"
        bends = "is convex" if curvature.kind == "convex" else f"may bend upwards {why}"
        return (
            f"the log density is not certified to be concave in {together}: {term}, from "
            f"{piece.factor}, {bends}"
        )
    for s in statements:
        if s.support == POSITIVE and not _falls_at_zero(graph, s, pieces, names, data):
            return f"{s.target.array.name} has the bound 0, to which its density does not fall"
    return f"the log density has no second derivatives in {together} that are known"


def may_climb(derived: object) -> bool:
    """Whether a conditional is concave and smooth, in elements that may have any value."""
    if not isinstance(derived, LogConcave) or derived.change is not None:
        return False
    name = derived.statement.target.array.name
    try:
        _ = [expanded(p.value, {name: "step"}) for p in derived.pieces]
    except NoDerivative:
        return False
    return derived.statement.support in (REAL, VECTOR)


def _held(terms: Iterable[Term], names: tuple[str, ...]) -> tuple[Term, ...]:
    """The terms that hold arrays, their logs taken apart, added up for each factor."""
    return _by_factor((f, expand_logs(v, names), r) for f, v, r in terms if mentions(v, names))


def _plain(terms: Iterable[Term]) -> list[Term]:
    """The terms with plain products."""
    return [(factor, _multiplied(value), over) for factor, value, over in terms]


def _falls_at_zero(
    graph: Graph,
    statement: Statement,
    pieces: Iterable[Piece],
    names: tuple[str, ...],
    data: Values,
) -> bool:
    """Whether the log density of a positive number falls without end towards 0, as its log does.

    (What is concave without the log is below a plane, and so does not rise without end there.)
    """
    if statement.target.indices:
        return False
    each = [replace(p, statistic=t) for p in pieces for t in Add.make_args(p.statistic)]
    own = [p for p in each if p.statistic == sp.log(statement.target)]
    rest = [p for p in each if p not in own]
    if not all(is_known(p.coefficient, graph, data) for p in own):
        return False
    found = [(evaluate(p.coefficient, p.over, data, graph.sizes), p.over) for p in own]
    total = sum(np.broadcast_to(value, tuple(map(len, over))).sum() for value, over in found)
    return bool(total > 0) and certified_jointly(graph, names, rest, data) is not None


def is_interval(support: Support) -> bool:
    """Whether a support is an interval with other ends than the positive numbers have."""
    return support.kind == "real" and support not in (REAL, POSITIVE)


def _ends(statement: Statement, names: Collection[str], *, own: bool) -> Term:
    """The constraints that a variable is within its interval: its ``own``, or those on others."""
    support, x = statement.support, statement.target
    found = [i for i in inside(x, support, statement.event) if own or mentions(i, names)]
    if own and is_interval(support):
        lower, upper = (parted(*of) for of in ((support.lower, Maximum), (support.upper, Minimum)))
        found += [Below(b, x) for b in lower if b.is_number and b.is_finite]
        found += [Below(x, b) for b in upper if b.is_number and b.is_finite]
    return statement.name, Add(*map(sp.log, found)), statement.over


def are_bounds(graph: Graph, names: Collection[str]) -> bool:
    """Whether values of arrays are bounds of what others may be."""
    ends = (e for s in graph.statements for e in (s.support.lower, s.support.upper))
    return any(mentions(sp.sympify(e), names) for e in ends)


def _pieces(terms: Iterable[Term], names: Collection[str]) -> Iterable[Piece]:
    """The terms as pieces to be judged: each a function of all elements together."""
    found: dict[tuple[str, Expr, tuple[Range, ...]], Expr] = {}
    for factor, value, over in terms:
        for term in Add.make_args(value):
            parts = Mul.make_args(term)
            held = Mul(*(p for p in parts if mentions(p, names)))
            rest = Mul(*(p for p in parts if not mentions(p, names)))
            if held != 1:
                found[factor, held, over] = found.get((factor, held, over), sp.S.Zero) + rest
    for (factor, statistic, over), coefficient in found.items():
        yield Piece(factor, statistic, (), coefficient, over)


def _without_constraints(term: Term) -> Term:
    """The term without logs of indicators, which are 0 inside."""
    factor, value, over = term
    terms = [t for t in Add.make_args(value) if not _is_constraint(t)]
    return factor, Add(*terms), over


def _is_constraint(term: Expr) -> bool:
    """Whether a term is the log of an indicator."""
    return isinstance(term, sp.log) and isinstance(term.args[0], INDICATORS)


def _multiplied(expr: Expr) -> Expr:
    """The expression with plain products in place of those that are 0 where a weight is."""
    mapping = {w: Mul(*w.args) for w in expr.atoms(Weighted)}
    return expr.xreplace(mapping)


def _by_factor(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms of each factor added up."""
    found: dict[tuple[str, tuple[Range, ...]], Expr] = {}
    for factor, value, over in terms:
        found[factor, over] = found.get((factor, over), sp.S.Zero) + value
    return tuple((factor, value, over) for (factor, over), value in found.items())


def _to_second_order(
    graph: Graph, term: Term, arrays: Mapping[str, Array], data: Values
) -> Iterable[Piece]:
    """The pieces of a term in the steps of arrays, which are named as the arrays themselves."""
    factor, value, over = term
    steps = {n: f"step of {n}" for n in arrays}
    whole = {step: arrays[n] for n, step in steps.items()}
    density = simplified(expanded(value, steps), whole)
    density = opened(density, whole, binary_arrays(graph, data))
    for piece in split(factor, density, over, whole, graph.sizes):
        yield _renamed(piece, whole)


def _renamed(piece: Piece, arrays: Mapping[str, Array]) -> Piece:
    """The piece with other arrays in its statistic, by the names of those that it has."""
    views = tuple(View(arrays[v.array.name], v.indices) for v in piece.views)
    mapping = {v.array: w.array for v, w in zip(piece.views, views, strict=True)}
    return replace(piece, statistic=piece.statistic.xreplace(mapping), views=views)
