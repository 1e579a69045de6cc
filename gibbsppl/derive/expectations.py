"""Expectations of functions of a variable under its closed form, as formulas of eta.

Comes in: a family, symbols for its natural parameters, a function of the variable. Goes out: its
expectation, or a `NoFormula`. No moment is typed in: with the log partition function A,

- a statistic has ``dA / d eta_j`` (`gibbsppl.algebra.calculus`), a sum of these their sum;
- of ``exp(t . T)`` it is ``exp(A(eta + t) - A(eta))`` (`moments`);
- the entropy is ``A - eta . dA/d eta``, which is ``A - d A(s eta) / ds`` at s = 1: written so,
  nothing that cancels is ever computed.

>>> from gibbsppl.algebra.expressions import Dim
>>> from gibbsppl.families import FAMILIES
>>> eta = (Array("eta_1")[()], Array("eta_2")[()])
>>> expectation(FAMILIES["Gamma"], Symbols(eta), sp.log)
Digamma(eta_1 + 1) - log(-eta_2)
>>> entropy(FAMILIES["Normal"], Symbols(eta))
log(-1/eta_2)/2 + 1/2 + log(pi)/2
>>> k = Dim("k")
>>> of_statistic(FAMILIES["Dirichlet"], Symbols((Array("eta_1")[k],), (k,)), 0)
Digamma(eta_1[k] + 1) - Digamma(sum(eta_1[k] + 1, k))
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import sympy as sp
from sympy import Add

from gibbsppl.algebra.calculus import NoDerivative, derivative
from gibbsppl.algebra.expressions import Array, Expr, Leaf
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.derive.moments import (
    NoFormula,
    Symbols,
    combination,
    log_mass,
    moments_of,
    symbol_of,
)
from gibbsppl.families import Family
from gibbsppl.pieces.logs import expand_logs

SCALE = "·scale"


def expectation(
    family: Family, of: Symbols, function: Callable[[Expr], Expr]
) -> Expr | NoFormula:
    """The expectation of a function of a scalar, a change undone."""
    u = symbol_of(family)
    value = sp.sympify(function(of.change.backward(u) if of.change else u))
    if not value.has(u):
        return value
    found = moments_of(family, of, value, u)
    if not isinstance(found, NoFormula):
        return found.mean
    natural = family.natural
    assert natural is not None
    statistics = natural.statistics(u, of.event, **(of.known or {}))
    weights, constant = combination(sp.expand_log(value, force=True), statistics, u)
    if constant is None:
        return NoFormula(f"the expectation of {function(sp.Symbol('x'))} under {family.name} has "
                         "no formula")  # fmt: skip
    terms = [constant]
    for j, weight in enumerate(weights):
        if weight != 0:
            one = of_statistic(family, of, j)
            if isinstance(one, NoFormula):
                return one
            terms.append(weight * one)
    return Add(*terms)


def of_statistic(family: Family, of: Symbols, j: int) -> Expr | NoFormula:
    """The expectation of a statistic, of one entry: a derivative of the log partition."""
    eta = of.etas[j]
    assert isinstance(eta, Leaf)
    try:
        return derivative(_partition(family, of, of.etas), eta.array, eta.indices)
    except NoDerivative as error:
        return NoFormula(f"the log partition of {family.name} has no derivative ({error})")


def entropy(
    family: Family, of: Symbols, left_out: Collection[int] = ()
) -> Expr | NoFormula:
    """``A - eta . E[T]``, without the statistics that are left out.

    That is the entropy about the base measure (with ``exp(eta . T)`` of those left out in it).
    """
    scale = Array(SCALE, positive=True)
    etas = [e if j in left_out else scale[()] * e for j, e in enumerate(of.etas)]
    try:
        moved = expand_logs(_partition(family, of, etas), {SCALE})
        slope = derivative(moved, scale, ()).xreplace({scale[()]: sp.S.One})
    except NoDerivative as error:
        return NoFormula(f"the log partition of {family.name} has no derivative ({error})")
    # (a ratio of exponentials stays one: each of them may overflow)
    return multiplied_out(_partition(family, of, of.etas) - slope, power_exp=False)


def _partition(family: Family, of: Symbols, etas: Sequence[Expr]) -> Expr:
    """The log partition, of a truncated family with the mass between the bounds."""
    natural = family.natural
    assert natural is not None
    if natural.log_partition is None:
        raise NoDerivative(family.name)
    if of.bounds is not None and family.log_cdf is None:
        raise NoDerivative(f"the probability of {family.name} between bounds has no formula")
    event = {"event": of.event} if family.event else {}
    found = natural.log_partition(*etas, **event, **(of.known or {}))
    return found if of.bounds is None else found + log_mass(family, of, tuple(etas))
