"""Taylor polynomials of degree two: how an expression changes with small steps of its arrays.

Comes in: an expression, and the names of the arrays that take a step. Goes out: the polynomial in
the steps, less the value where they start. A linear predictor stays whole, so that a function of
one has the square of its step, as a normal density has.

>>> from gibbsppl.algebra.expressions import Dim
>>> x, b, k = Array("x"), Array("b"), Dim("k")
>>> expanded(-sp.exp(Over(x[k] * b[k], k)), {"b": "h"})
-exp(sum(b[k]*x[k], k))*sum(h[k]*x[k], k)**2/2 - exp(sum(b[k]*x[k], k))*sum(h[k]*x[k], k)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.calculus import NoDerivative, derivative
from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    renamed_apart,
)
from gibbsppl.algebra.functions import FUNCTIONS, Where
from gibbsppl.algebra.masses import Mass, mass_of

# The argument of a function that is differentiated.
ARGUMENT = Array("·u", real=True)[()]


def expanded(expr: Expr, steps: Mapping[str, str]) -> Expr:
    """The terms of degree one and two in the steps; `NoDerivative` where a function has none.

    ``steps`` has the name of the array of steps for each array that takes one.
    """
    found = _of(expr, steps)
    return found.first + found.second


@dataclass(frozen=True, slots=True)
class _Expanded:
    """An expression where steps start, and its terms of degree one and two in the steps."""

    value: Expr
    first: Expr = sp.S.Zero
    second: Expr = sp.S.Zero

    def mapped(self, function: Callable[[Expr], Expr]) -> _Expanded:
        """The value of a linear function of it, part by part."""
        return _Expanded(*map(function, (self.value, self.first, self.second)))

    def times(self, other: _Expanded) -> _Expanded:
        """The product."""
        first = self.value * other.first + self.first * other.value
        both = self.first * other.first
        second = self.value * other.second + self.second * other.value
        return _Expanded(self.value * other.value, first, second + both)


def _of(expr: Expr, steps: Mapping[str, str]) -> _Expanded:
    if not mentions(expr, steps):
        return _Expanded(expr)
    match expr:
        case Leaf():
            if any(mentions(i, steps) for i in expr.indices):
                raise NoDerivative(str(expr))
            return _Expanded(expr, Leaf(Array(steps[expr.array.name]), *expr.indices))
        case sp.Add():
            parts = [_of(a, steps) for a in expr.args]
            first, second = Add(*(p.first for p in parts)), Add(*(p.second for p in parts))
            return _Expanded(expr, first, second)
        case sp.Mul():
            held = [a for a in expr.args if mentions(a, steps)]
            rest = Mul(*(a for a in expr.args if a not in held))
            found, *others = (_of(a, steps) for a in held)
            for other in others:
                found = found.times(other)
            return found.mapped(lambda e: rest * e)
        case Over():
            return _of(expr.body, steps).mapped(lambda e: expr.func(e, *expr.args[1:]))
        case Where() if not mentions(expr.args[0], steps):
            yes, no = (_of(a, steps) for a in expr.args[1:])
            both = ((yes.first, no.first), (yes.second, no.second))
            return _Expanded(expr, *(Where(expr.args[0], *cases) for cases in both))
    return _of_function(expr, steps)


def _of_function(expr: Expr, steps: Mapping[str, str]) -> _Expanded:
    """A function of one argument that takes a step, by the chain rule; or the log of a mass."""
    if (mass := mass_of(expr, steps)) is not None:
        return _of_mass(expr, mass, steps)
    places = [n for n, a in enumerate(expr.args) if mentions(a, steps)]
    if len(places) != 1 or not (isinstance(expr, sp.Pow) or expr.func in FUNCTIONS):
        raise NoDerivative(str(expr.func))
    (place,) = places
    inner = expr.args[place]
    part = _of(inner, steps)
    if isinstance(expr, sp.Pow) and place == 0:  # (numbers are multiplied before a sum)
        power = expr.args[1]
        slopes = [power, inner ** (power - 1)]
        square = Mul(power, power - 1, inner ** (power - 2), _squared(part.first, steps)) / 2
        return _Expanded(expr, Mul(*slopes, part.first), Mul(*slopes, part.second) + square)
    args = list(expr.args)
    args[place] = ARGUMENT
    slope = derivative(expr.func(*args), ARGUMENT.array, ())
    bend = derivative(slope, ARGUMENT.array, ())
    one, two = (e.xreplace({ARGUMENT: inner}) for e in (slope, bend))
    bent = two * _squared(part.first, steps) / 2
    return _Expanded(expr, one * part.first, one * part.second + bent)


def _of_mass(expr: Expr, mass: Mass, steps: Mapping[str, str]) -> _Expanded:
    """The log of a mass: it rises as the densities at its ends, by what there is."""
    slope = bends = sp.S.Zero
    for sign, end in ((-1, mass.lower), (1, mass.upper)):
        part, share = _of(end, steps), sign * sp.exp(mass.at(end) - expr)
        slope += share * part.first
        bent = mass.slope_at(end) * _squared(part.first, steps) / 2
        bends += share * (part.second + bent)
    return _Expanded(expr, slope, bends - _squared(slope, steps) / 2)


def _squared(form: Expr, steps: Mapping[str, str]) -> Expr:
    """The square of a linear form of steps, whose coefficients are sums."""
    return _collected(form, frozenset(steps.values())) ** 2


def _collected(form: Expr, names: frozenset[str]) -> Expr:
    """A linear form, the sums along which no step is read within those along which steps are.

    ``sum(w[j] * sum(x[j, k] * h[k], k), j)`` as ``sum(h[k] * sum(w[j] * x[j, k], j), k)``.
    """
    if form.is_Add:
        return Add(*(_collected(a, names) for a in form.args))
    held = [a for a in Mul.make_args(form) if mentions(a, names)]
    if form.is_Mul and len(held) == 1:
        return Mul(*(a for a in form.args if a not in held), _collected(held[0], names))
    if not isinstance(form, Over):
        return form
    (dim,), ends = form.bound, form.args[2:]
    return Add(*(_summed(t, dim, ends, names) for t in Add.make_args(_collected(form.body, names))))


def _summed(term: Expr, dim: Dim, ends: tuple[Expr, ...], names: frozenset[str]) -> Expr:
    """The sum over a dim of a multiple of a step, or of a sum of steps."""
    held = [a for a in Mul.make_args(term) if mentions(a, names)]
    rest = Mul(*(a for a in Mul.make_args(term) if a not in held))
    (inner,) = held if len(held) == 1 else (term,)
    if any(dim in dims_of(leaf) for leaf in leaves_of(inner, names)):
        return Over(term, dim, *ends)
    if isinstance(inner, Leaf):
        return Over(rest, dim, *ends) * inner
    if not isinstance(inner, Over):
        return Over(term, dim, *ends)
    of, *bound = renamed_apart(inner, {dim, *dims_of(rest)}).args
    terms = (_summed(rest * t, dim, ends, names) for t in Add.make_args(of))
    return inner.func(Add(*terms), *bound)
