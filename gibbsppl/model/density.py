"""The log joint density straight from the expressions: what every check compares with.

Comes in: a graph (or one template) and the values of its arrays. Goes out: arrays of log
densities, one element per position of the factor, by the plain interpreter of ``evaluation``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.copies import copy_of, primed
from gibbsppl.algebra.expressions import Dim, Expr, InverseEntry, Leaf, LogDet, Over, substitute
from gibbsppl.algebra.functions import Below, LogGammaP, Where, XLogY
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.ranges import Range, range_of, size_of
from gibbsppl.algebra.supports import Support
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import (
    MOST_KEPT,
    Factor,
    Graph,
    Maintained,
    Marginal,
    Potential,
    Statement,
)
from gibbsppl.model.operations import is_positive_definite

# Totals of entries, and parameters at an end of their support, are rounded by less than this.
ROUNDED = 1e-8


def log_joint(graph: Graph, values: Values) -> float:
    """The log density of all factors together; ``-inf`` outside the support."""
    return sum(log_terms(graph, values).values())


def log_terms(graph: Graph, values: Values) -> dict[str, float]:
    """The log density of each factor, summed over its elements, by the factor's name."""
    return {f.name: told_of(f, values, graph.sizes).total for f in graph.factors}


def log_density(factor: Factor, values: Values, sizes: Sizes) -> Floats:
    """The log density of a factor, one element per position; of a sparse array, summed up."""
    with np.errstate(all="ignore"):
        if isinstance(factor, Potential) and factor.is_sparse:
            return np.asarray(sum(_sums(factor.log_density, factor.over, values, sizes)))
        if isinstance(factor, Marginal):
            values = {**values, **scattered(factor.arrays, values, sizes)}
        density = evaluate(_template(factor), factor.over, values, sizes)
        if isinstance(factor, Statement):
            density = np.where(_is_possible(factor, values, sizes), density, -np.inf)
    return np.broadcast_to(density, tuple(map(len, factor.over)))


@dataclass(frozen=True, slots=True)
class Told:
    """Facts of a factor's log density: its total, the least, how many are no finite number.

    ``least`` is at most 0. ``largest``: of the exponentials and powers formed, if that is known.
    """

    total: float
    least: float
    lost: int
    largest: float | None = None


def told_of(factor: Factor, values: Values, sizes: Sizes) -> Told:
    """The facts of the log density of a factor."""
    found = log_density(factor, values, sizes)
    with np.errstate(invalid="ignore"):  # (a sum of infinities of both signs is no number)
        total = float(found.sum())
    least = float(np.fmin.reduce(found, axis=None, initial=0.0))
    return Told(total, least, int((~np.isfinite(found)).sum()))


def size_of_terms(factor: Factor, values: Values, sizes: Sizes) -> float:
    """The sum of the absolute values of what a log density is the sum of, at all positions.

    Rounding is in proportion to it: terms may be large that cancel, such as the logs of gamma
    functions of a Student t of many degrees of freedom. (Generated code collects them one by one.)
    """
    with np.errstate(all="ignore"):
        if isinstance(factor, Marginal):
            values = {**values, **scattered(factor.arrays, values, sizes)}
        return size_of_sum(_template(factor), factor.over, values, sizes)


def size_of_sum(expr: Expr, over: Sequence[Range], values: Values, sizes: Sizes) -> float:
    """The sum of the absolute values of what an expression is the sum of, at all positions."""
    full = tuple(map(len, over))
    found = (evaluate(_size(t), over, values, sizes) for t in sp.Add.make_args(expr))
    at_all = (np.broadcast_to(f, full) for f in found)
    return sum(float(f[np.isfinite(f)].sum()) for f in at_all)


@lru_cache(maxsize=MOST_KEPT)
def _size(term: Expr) -> Expr:
    """The sum of the absolute values of all addends of a term, in branches and factors too.

    Rounding of a function's argument is as much of its value as its slope there says: much of the
    log, the power or the exponential of a sum whose addends cancel.

    >>> from gibbsppl.algebra.expressions import Array
    >>> x, y = (Array(n)[()] for n in "xy")
    >>> _size(2 * (x - y)), _size(Where(x, y - 1, y))
    (2*Abs(x) + 2*Abs(y), Where(x, Abs(y) + 1, Abs(y)))
    >>> _size(sp.log(x - 1)), _size(sp.exp(x - y))
    ((Abs(x) + 1)/Abs(x - 1) + Abs(log(x - 1)), (Abs(x) + Abs(y) + 1)*Abs(exp(x - y)))
    """
    if isinstance(term, sp.Add | sp.Mul):
        return term.func(*map(_size, term.args))
    if isinstance(term, Where):
        condition, *cases = term.args
        return Where(condition, *map(_size, cases))
    if isinstance(term, Over):
        return term.func(_size(term.body), *term.args[1:])
    own = _absolute(term)
    if isinstance(term, sp.log | XLogY):
        *factors, of = term.args
        return own + sp.Mul(*map(_size, factors), _size(of)) / _absolute(of)
    if isinstance(term, LogGammaP) and term.args[0] == 1:
        return own + 1 / _absolute(1 - sp.exp(-term.args[1]))  # (the log of such a difference)
    if isinstance(term, loggamma):
        # (its slope at a positive x is between those of log(x) - 1 / x and of log(x))
        (of,) = term.args
        return own + (_absolute(sp.log(of)) + 1 / of) * _size(of)
    if isinstance(term, LogDet | InverseEntry):
        return own + _lost_with_entries(term)
    if isinstance(term, sp.exp):
        return own * (1 + _size(term.args[0]))
    if isinstance(term, sp.Pow):
        return own * _size(term.base) / _absolute(term.base) * abs(term.exp)
    return own


def _absolute(of: Expr) -> Expr:
    """The absolute value, unevaluated: SymPy writes conjugates where no sign is known."""
    return abs(of) if of.is_number else sp.Abs(of, evaluate=False)


def _lost_with_entries(term: LogDet | InverseEntry) -> Expr:
    """The error of a log determinant or an inverse by rounding of the matrix's entries.

    To first order, ``trace(M^-1 dM)`` and ``M^-1 dM M^-1``: large where it is nearly singular.
    """
    row, column = term.bound
    one, other = (copy_of(d, term.atoms(Dim)) for d in term.bound)
    moved = substitute(_size(term.body), {row: one, column: other})

    def inverse(first: Expr, second: Expr) -> Expr:
        return _absolute(InverseEntry(term.body, row, column, first, second))

    if isinstance(term, LogDet):
        by_entry = moved * inverse(other, one)
    else:
        first, second = term.args[3:]
        by_entry = inverse(first, one) * moved * inverse(other, second)
    return Over(Over(by_entry, one), other)


def scattered(arrays: Sequence[Maintained], values: Values, sizes: Sizes) -> dict[str, Floats]:
    """The values of maintained arrays, computed anew, by name; each may read those before it."""
    found: dict[str, Floats] = {}
    for array in arrays:
        known = {**values, **found}
        total = found[array.name] = np.zeros([size_of(a, sizes) for a in array.axes])
        for s in array.scatters:
            full = tuple(map(len, s.over))
            at = tuple(
                np.broadcast_to(evaluate(i, s.over, known, sizes), full).astype(int)
                for i in s.indices
            )
            added = np.broadcast_to(evaluate(s.value, s.over, known, sizes), full)
            if at:
                np.add.at(total, at, added)
            else:
                total += added.sum()
    return found


@lru_cache(maxsize=MOST_KEPT)
def _template(factor: Factor) -> Expr:
    """The log density of an element, without the entries of a simplex that are known to be zero."""
    density = factor.log_density
    if not isinstance(factor, Statement) or factor.support.kind != "simplex":
        return density
    sums = (o for o in density.atoms(Over) if factor.target in o.body.atoms(Leaf))
    kept = {o: Over(Where(is_kept(factor), o.body, sp.S.Zero), *o.bound, *o.args[2:]) for o in sums}
    return density.xreplace(kept)


def is_kept(statement: Statement) -> Expr:
    """1 for an entry of a simplex, 0 where a parameter of exactly 0 makes it a certain zero."""
    rows = statement.family.parameters
    own = (a for name, a in statement.arguments if rows[name].event and not a.is_positive)
    return sp.Mul(*(Below(sp.S.Zero, a) for a in own))


def kept_entries(statement: Statement, values: Values, sizes: Sizes) -> NDArray[np.bool_]:
    """Which entries of a simplex are not known to be zero; event axes last."""
    over = regions(statement, sizes)
    kept = evaluate(is_kept(statement), over, values, sizes) == 1
    return np.broadcast_to(kept, tuple(map(len, over)))


def _sums(expr: Expr, over: tuple[Range, ...], values: Values, sizes: Sizes) -> Iterator[float]:
    """The sum of each term over all positions of the ranges; sums in products are opened first."""
    for term in sp.Add.make_args(sp.expand_mul(expr, deep=False)):
        split = (sp.expand_power_exp(f, deep=False) for f in sp.Mul.make_args(term))
        factors = [p for f in split for p in sp.Mul.make_args(f)]
        powers = (f.as_base_exp() for f in factors)
        sums = [b for b, n in powers if isinstance(b, Over) and n.is_Integer and n > 0]
        if not sums:
            found = [evaluate(f, over, values, sizes) for f in factors]
            safe = all(np.isfinite(f).all() for f in found)
            yield _sum_of_product(found if safe else [evaluate(term, over, values, sizes)], over)
            continue
        dim = copy_of(sums[0].bound[0], {*(r.dim for r in over), *term.free_symbols})
        opened = term / sums[0] * substitute(sums[0].body, {sums[0].bound[0]: dim})
        summed = replace(range_of(sums[0], sizes), dim=dim)
        yield from _sums(opened, (*over, summed), values, sizes)


def _sum_of_product(factors: list[Floats], over: tuple[Range, ...]) -> float:
    """The sum of a product; each factor is summed first along the axes that it alone has."""
    held = [{a for a, n in enumerate(f.shape) if n != 1} for f in factors]
    idle = math.prod(len(r) for a, r in enumerate(over) if not any(a in own for own in held))
    operands: list[Any] = []
    for factor, own in zip(factors, held, strict=True):
        alone = tuple(a for a in own if sum(a in other for other in held) == 1)
        operands += [factor.sum(axis=alone).squeeze(), sorted(own.difference(alone))]
    return float(np.einsum(*operands, [], optimize=len(factors) > 2)) * idle


def event_dims(statement: Statement) -> tuple[Dim, ...]:
    """The dims of one value of the statement: none for a label, two for a matrix."""
    count, event = statement.family.event, statement.event
    return event[:count] if len(event) >= count else (event[0], primed(event[0]))


def tied_dims(statement: Statement) -> tuple[Dim, ...]:
    """The dims of one value whose entries are tied to one another; none where entries are free."""
    return event_dims(statement) if statement.support.is_tied else ()


def regions(statement: Statement, sizes: Sizes) -> tuple[Range, ...]:
    """The ranges of a statement's values: of its positions, then of the event dims."""
    return (*statement.over, *(Range(d, 0, sizes[d]) for d in event_dims(statement)))


def free_elements(statement: Statement, values: Values, sizes: Sizes) -> NDArray[np.bool_]:
    """Where an element of a statement's values is to be drawn; event axes last."""
    over = regions(statement, sizes)
    known = evaluate(statement.known, over, values, sizes)
    return np.broadcast_to(known == 0, tuple(map(len, over)))


def _is_possible(statement: Statement, values: Values, sizes: Sizes) -> NDArray[np.bool_]:
    """Whether each value is on the support and each scalar parameter on its own."""
    possible = is_on_support(statement, values, sizes)
    for support, argument in numbers_of(statement, statement.arguments):
        inside = _contained(statement, support, argument, statement.over, values, sizes)
        possible = possible & inside
    if statement.support.kind == "simplex":
        entries = evaluate(statement.target, regions(statement, sizes), values, sizes)
        possible = possible & (kept_entries(statement, values, sizes) | (entries == 0)).all(-1)
    return possible


def is_on_support(statement: Statement, values: Values, sizes: Sizes) -> NDArray[np.bool_]:
    """Whether each value is on the support, also on the whole one of a truncated distribution."""
    own = (statement.target, regions(statement, sizes), values, sizes)
    possible = _contained(statement, statement.support, *own)
    if statement.lower is not None or statement.upper is not None:
        full = statement.family.support(statement.event, **dict(statement.arguments))
        possible = possible & _contained(statement, full, *own)
    return possible


def _contained(
    statement: Statement,
    support: Support,
    expr: Expr,
    over: tuple[Range, ...],
    values: Values,
    sizes: Sizes,
) -> NDArray[np.bool_]:
    """Whether an expression of a statement is on a support, at each position."""
    ends = (support.lower, support.upper)
    bounds = (evaluate(end, statement.over, values, sizes) for end in ends)
    return _contains(support.kind, evaluate(expr, over, values, sizes), *bounds)


def has_parameters_outside(statement: Statement, values: Values, sizes: Sizes) -> bool:
    """Whether a scalar parameter, as it is written, is finite and outside of its support anywhere.

    (One that is infinite has overflowed.)
    """
    written = statement.spelled or statement.arguments
    with np.errstate(all="ignore"):
        for support, argument in numbers_of(statement, written):
            lower, found, upper = (
                evaluate(sp.sympify(e), statement.over, values, sizes)
                for e in (support.lower, argument, support.upper)
            )
            # (what is at an end may be rounded past it)
            below, above = found < lower - ROUNDED, found > upper + ROUNDED
            if (np.isfinite(found) & (below | above)).any():
                return True
    return False


def has_overflowed(statement: Statement, values: Values, sizes: Sizes) -> bool:
    """Whether a parameter overflows or underflows anywhere, as written or in the canonical form.

    It is infinite, or zero by rounding alone: a rate ``scale**-shape`` is positive by its form.
    """
    written = statement.spelled or statement.arguments
    with np.errstate(all="ignore"):
        for _, argument in numbers_of(statement, dict.fromkeys((*written, *statement.arguments))):
            found = evaluate(argument, statement.over, values, sizes)
            is_written = any(argument == a for _, a in written)
            if is_written and not argument.is_number and np.isinf(found).any():
                return True
            if argument.is_positive and (found == 0).any():
                return True
    return False


def numbers_of(
    statement: Statement, arguments: Iterable[tuple[str, Expr]]
) -> Iterator[tuple[Support, Expr]]:
    """The support and the value of each parameter that is a number."""
    rows = statement.family.written
    return ((rows[n].support, a) for n, a in arguments if rows[n].event == 0)


def _contains(kind: str, value: Floats, lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Whether each value is of the kind and within the bounds; event axes come last."""
    match kind:
        case "real" | "integer":
            inside = np.isfinite(value) & (value >= lower) & (value <= upper)
            return np.asarray(inside & ((kind == "real") | (value == np.rint(value))))
        case "simplex":
            total = np.isclose(value.sum(-1), 1.0, rtol=0.0, atol=ROUNDED)
            return np.asarray((value >= 0).all(-1) & total)
        case "vector":
            return np.asarray(np.isfinite(value).all(-1))
        case "sphere":
            return np.asarray(np.isclose((value**2).sum(-1), 1.0, rtol=0.0, atol=ROUNDED))
        case "spd":
            return np.asarray(is_positive_definite(value))
        case "counts":
            whole = ((value >= 0) & (value == np.rint(value))).all(-1)
            return np.asarray(whole & (value.sum(-1) == upper))
    raise AssertionError(f"no values of kind {kind!r}")
