"""Expressions of the model as expressions over arrays: one case for each kind.

Comes in: a scalar template (SymPy). Goes out: an `Expr`, one number for each position of its dims.
What keeps digits near 1, and where terms are huge, is the algebra's (`gibbsppl.algebra.near_one`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import Any

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.exact_numbers import nearest_float
from gibbsppl.algebra.expressions import (
    Dim,
    Greatest,
    InverseEntry,
    Leaf,
    Least,
    LogDet,
    Over,
    Times,
    dims_of,
)
from gibbsppl.algebra.expressions import Size as SizeOf
from gibbsppl.algebra.functions import FUNCTIONS, Equals
from gibbsppl.algebra.near_one import (
    as_exponential,
    called_as,
    log_of_one_minus,
    log_parts,
    terms_of,
)
from gibbsppl.algebra.polynomials import MOST_KEPT
from gibbsppl.algebra.ranges import Range, from_the_end, is_numeric, range_of, size_of, unnested
from gibbsppl.algebra.recursions import Earlier, Recursion
from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    Span,
    negative,
    product,
    total,
)
from gibbsppl.code.lowering.recursions import recursive, so_far
from gibbsppl.derive.contractions import Known, contracted
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.limits import is_whole
from gibbsppl.pieces.vanishing import weighted

# Larger integers are no exact floats.
LARGEST_INTEGER = 2**53
# Divisors of numbers that are no short decimals.
SMALL_DIVISORS = (3, 6, 7, 9)


@dataclass(frozen=True, slots=True)
class Translation:
    """The facts at hand where expressions are translated.

    ``known`` are the random arrays, dims and sizes; ``continuous`` the arrays that are zero with
    probability zero; ``squares`` a sum of squares about a centre, where that saves the data.
    ``found`` has what was translated: gradients and second derivatives repeat what they are of.
    """

    graph: Graph
    known: Known
    continuous: frozenset[str]
    squares: Callable[[sp.Expr, tuple[Range, ...]], Expr | None] | None = None
    found: dict[sp.Expr, Expr] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, expr: sp.Expr) -> Expr:
        """The expression over arrays."""
        expr = sp.sympify(expr)
        if expr not in self.found:
            self.found[expr] = self._anew(expr)
        return self.found[expr]

    def _anew(self, expr: sp.Expr) -> Expr:
        for kind, case in CASES.items():
            if isinstance(expr, kind):
                return case(self, expr)
        if expr.func in FUNCTIONS:
            return _function(self, expr)
        if expr.is_number:
            return Number(nearest_float(expr))
        raise NotLoweredError(f"{expr.func.__name__} is no part of the array language.")

    def span(self, r: Range) -> Span:
        """The positions of a range."""
        sizes = self.graph.sizes
        root = r.dim if r.dim in sizes else Dim(root_of(r.dim))
        if root not in sizes:
            return Span(r.dim.name, Number(r.start), Number(r.stop))
        missing, size = from_the_end(r.stop, sizes[root]), Size(root.name)
        if missing is None:
            return Span(r.dim.name, Number(r.start), Number(r.stop))
        stop = Apply("+", (size, Number(-missing))) if missing else size
        return Span(r.dim.name, Number(r.start), stop)


def _number(_: Translation, expr: sp.Expr) -> Expr:
    if expr.is_Integer and abs(expr) < LARGEST_INTEGER:
        return Number(int(expr))
    return Number(nearest_float(expr))


def _dim(_: Translation, expr: Dim) -> Expr:
    return Position(expr.name)


def _size(_: Translation, expr: SizeOf) -> Expr:
    return Size(expr.name)


def _leaf(to: Translation, expr: Leaf) -> Expr:
    return Element(expr.array.name, tuple(index(to, i) for i in expr.indices))


def _earlier(to: Translation, expr: Earlier) -> Expr:
    return Element(so_far(expr.own), tuple(index(to, i) for i in expr.indices))


def index(to: Translation, expr: sp.Expr) -> Expr:
    """An index: a position, a number or an element, plus a constant."""
    shift, rest = expr.as_coeff_Add()
    if isinstance(rest, Dim) and shift.is_Integer:
        return Position(rest.name, int(shift))
    return to(expr)


def _sum(to: Translation, expr: sp.Expr) -> Expr:
    """A sum; whole numbers that may cancel are added first."""
    terms = list(terms_of(expr))
    whole = [t for t in terms if is_whole(t, to.graph)]
    signs = {t.could_extract_minus_sign() for t in whole}
    first = sorted(whole, key=_numbers_last) if len(signs) > 1 and len(whole) < len(terms) else []
    rest = sorted((t for t in terms if t not in first), key=_numbers_last)
    return total([*_together(to, first), *map(to, rest)])


def _together(to: Translation, terms: list[sp.Expr]) -> list[Expr]:
    return [total(list(map(to, terms)))] if terms else []


@lru_cache(maxsize=MOST_KEPT)
def _numbers_last(term: sp.Expr) -> tuple[bool, bool, str]:
    return (is_numeric(term), bool(term.could_extract_minus_sign()), str(term))


def _product(to: Translation, expr: sp.Expr) -> Expr:
    """Factors, then divisors: a negative power divides."""
    coefficient, rest = expr.as_coeff_Mul()
    factors = weighted(sp.Mul.make_args(rest), to.continuous)
    below = [f for f in factors if _divides(f)]
    above = sorted((f for f in factors if f not in below), key=lambda f: not is_numeric(f))
    over, under = _parted(abs(coefficient))
    value = product([Number(over), *map(to, above)])
    divisors = [*(to(1 / f) for f in below), *([Number(under)] if under != 1 else [])]
    for d in divisors:
        value = Apply("/", (value, d))
    return negative(value) if coefficient.is_negative else value


def _parted(coefficient: sp.Expr) -> tuple[float, float]:
    """A number as a factor and a divisor: a half divides by two, two thirds by three."""
    if isinstance(coefficient, sp.Rational):
        is_half = coefficient == sp.Rational(1, 2)
        if is_half or coefficient.q in SMALL_DIVISORS:
            return _digits(sp.Integer(coefficient.p)), int(coefficient.q)
    return _digits(coefficient), 1


def _digits(value: sp.Expr) -> float:
    """A number that a float is near: a whole one with all its digits."""
    near = nearest_float(value)
    return int(value) if value.is_Integer else near


def _divides(expr: sp.Expr) -> bool:
    return bool(isinstance(expr, sp.Pow) and expr.exp.is_number and expr.exp.is_negative)


def _power(to: Translation, expr: sp.Expr) -> Expr:
    base, exponent = expr.args
    if exponent == sp.Rational(1, 2):
        return Apply("sqrt", (to(base),))
    if _divides(expr):
        return Apply("/", (Number(1), to(base**-exponent)))
    return Apply("**", (to(base), to(exponent)))


def _over(to: Translation, expr: Over) -> Expr:
    """A sum over dims, after what is free of the summed dims is taken out."""
    body, ranges = _unnested(to, expr)
    is_one_array = to.known(body) and {r.dim for r in ranges} <= dims_of(body)
    if not is_one_array and (pushed := contracted(body, ranges, to.known)) != _nest(body, ranges):
        return to(pushed)
    every = _exponentials_together(to, sp.Mul.make_args(body))
    # (of other positions nothing is added: what is infinite there does not count)
    hot = [f for f in every if _is_one_hot(to, f, every, {r.dim for r in ranges})]
    factors = [*hot, *weighted([f for f in every if f not in hot], to.continuous)]
    coefficient, rest = sp.Mul(*factors).as_coeff_Mul() if len(factors) > 1 else (1, factors[0])
    if rest == body and (centred := _centred(to, body, ranges)) is not None:
        return centred
    if coefficient not in (1, -1) and rest != 1:
        over, under = _parted(abs(sp.sympify(coefficient)))
        inner = product([Number(over), to(_nest(rest, ranges))])
        scaled = Apply("/", (inner, Number(under))) if under != 1 else inner
        return negative(scaled) if coefficient < 0 else scaled
    if coefficient == -1:
        return negative(to(_nest(rest, ranges)))
    return Reduce(product([to(f) for f in factors]), tuple(map(to.span, ranges)))


def _is_one_hot(to: Translation, factor: sp.Expr, factors: list[sp.Expr], summed: set[Dim]) -> bool:
    """Whether a factor is 1 at the summed positions of one group, else 0: one for each group."""
    if not isinstance(factor, Equals) or not isinstance(factor.args[0], Leaf):
        return False
    index, axis = factor.args
    along = dims_of(index)
    is_axis = isinstance(axis, Dim) and axis not in summed and is_whole(index, to.graph)
    alone = not any(axis in dims_of(f) for f in factors if f != factor)
    return bool(along) and along <= summed and is_axis and alone


def _centred(to: Translation, body: sp.Expr, ranges: tuple[Range, ...]) -> Expr | None:
    """A sum of squares about a centre; None for other sums, and where that is no gain."""
    base, power = body.as_base_exp()
    if to.squares is None or power != 2 or dims_of(body) != {r.dim for r in ranges}:
        return None
    return to.squares(base, ranges)


def _exponentials_together(to: Translation, factors: tuple[sp.Expr, ...]) -> list[sp.Expr]:
    """Exponentials along the same dims as one: each alone may overflow where the product does not.

    Those of data alone are computed once, and stay as they are.
    """
    found = [f for f in factors if isinstance(f, sp.exp) and not to.known(f)]
    every = dict.fromkeys(frozenset(dims_of(f)) for f in found)
    ones = [sp.exp(sp.Add(*(f.args[0] for f in found if dims_of(f) == dims))) for dims in every]
    return [*(f for f in factors if f not in found), *ones]


def _unnested(to: Translation, expr: Any) -> tuple[sp.Expr, tuple[Range, ...]]:
    body, nest = unnested(expr)
    return body, tuple(range_of(b, to.known.sizes) for b in nest)


def _nest(body: sp.Expr, ranges: tuple[Range, ...]) -> sp.Expr:
    for r in reversed(ranges):
        body = Over(body, r.dim, r.start, r.stop)
    return body


def _extreme(to: Translation, expr: Greatest | Least) -> Expr:
    body, ranges = _unnested(to, expr)
    kept = tuple(r for r in ranges if r.dim in dims_of(body))
    return Reduce(to(body), tuple(map(to.span, kept)), expr.symbol) if kept else to(body)


def _times(to: Translation, expr: Times) -> Expr:
    body, ranges = _unnested(to, expr)
    idle = [r for r in ranges if r.dim not in dims_of(body)]
    found = to(body)
    for r in idle:
        found = Apply("**", (found, Apply("+", (to.span(r).stop, Number(-r.start)))))
    kept = tuple(to.span(r) for r in ranges if r not in idle)
    return Reduce(found, kept, "product") if kept else found


def _logdet(to: Translation, expr: LogDet) -> Expr:
    return _of_matrix(to, expr, "logdet")


def _inverse(to: Translation, expr: InverseEntry) -> Expr:
    whole = _of_matrix(to, expr, "inverse")
    return Apply("entry", (whole, *(index(to, i) for i in expr.args[3:])))


def _of_matrix(to: Translation, expr: LogDet | InverseEntry, by: str) -> Expr:
    ranges = (Range(d, 0, size_of(d, to.known.sizes)) for d in expr.bound)
    return Reduce(to(expr.body), tuple(map(to.span, ranges)), by)


def _log(to: Translation, expr: sp.Expr) -> Expr:
    (of,) = expr.args
    if (found := _log_of_exponentials(to, of)) is not None:
        return found
    parts = log_parts(of)
    return _function(to, expr) if parts is None else to(sp.Add(*parts))


def _log_of_exponentials(to: Translation, of: sp.Expr) -> Expr | None:
    """The log of a sum of exponentials, none of which is formed: they may be too large."""
    if isinstance(of, Over):
        body, ranges = _unnested(to, of)
        weight, exponent = as_exponential(body)
        positive = weight == 1 or weight.is_positive
        if exponent == 0 or not positive or not {r.dim for r in ranges} <= dims_of(exponent):
            return None
        inner = to(exponent + _log_of_positive(weight))
        return Reduce(inner, tuple(map(to.span, ranges)), "log_sum_exp")
    if (form := log_of_one_minus(of)) is not None:
        return Apply(form[0], (to(form[1]),))
    terms = sp.Add.make_args(of)
    logs = [log for t in terms if (log := _log_term(t)) is not None]
    if len(logs) < 2 or len(logs) < len(terms) or not of.has(sp.exp):
        return None
    found = to(logs[0])
    for log in logs[1:]:
        found = Apply("log_add_exp", (found, to(log)))
    return found


def _log_of_positive(weight: sp.Expr) -> sp.Expr:
    """The log of a product of powers, which may themselves be too large."""
    powers = (f.as_base_exp() for f in sp.Mul.make_args(weight))
    return sp.Add(
        *(e * sp.log(b) if b.is_positive and e.is_real else sp.log(b**e) for b, e in powers)
    )


def _log_term(term: sp.Expr) -> sp.Expr | None:
    """The log of a term that is an exponential times a positive number, or such a number."""
    number, rest = term.as_coeff_Mul()
    if not number.is_positive or not (rest == 1 or isinstance(rest, sp.exp)):
        return None
    return sp.log(number) + (rest.args[0] if rest != 1 else 0)


def _function(to: Translation, expr: sp.Expr) -> Expr:
    name, arguments = called_as(expr)
    return Apply(name, tuple(map(to, arguments)))


def _infinite(_: Translation, expr: sp.Expr) -> Expr:
    return Number(inf if expr == sp.oo else -inf)


CASES: Mapping[Any, Callable[[Translation, Any], Expr]] = {
    type(sp.oo): _infinite,
    type(-sp.oo): _infinite,
    sp.Number: _number,
    sp.NumberSymbol: _number,
    Dim: _dim,
    SizeOf: _size,
    Leaf: _leaf,
    sp.Add: _sum,
    sp.Mul: _product,
    sp.Pow: _power,
    Over: _over,
    Greatest: _extreme,
    Least: _extreme,
    Times: _times,
    LogDet: _logdet,
    InverseEntry: _inverse,
    sp.log: _log,
    Earlier: _earlier,
    Recursion: recursive,
}
