"""Exact zeros: ``c * log(x)`` is 0 where c is 0, whatever x is, and so is ``w * x``.

A label's probability may be gated by another label, or be data with zeros; ``0 * log(0)`` is then
the term of a value that does not happen, and is 0. So is 0 times the log of a mass between ends
that meet, the probability of a label in another branch of a choice. A mask or a count of 0 removes
a term, however large the term is.

>>> z, a = Array("z")[()], Array("a")[()]
>>> with_exact_zeros(a * sp.log(z / 2) - z**2, lambda x: x.has(z))
XLogY(a, z/2) - z**2
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of
from gibbsppl.algebra.functions import INDICATORS, Weighted, Where, XLogY
from gibbsppl.algebra.masses import LOG_MASSES
from gibbsppl.algebra.rounding import may_be_infinite
from gibbsppl.model.graph import Graph

MayVanish = Callable[[Expr], bool]

# More factors like ``1 - x`` than this are not multiplied out with one another.
MOST_COMPLEMENTS = 3
# What may be the log of zero.
LOGS = (sp.log, XLogY, *LOG_MASSES)


def vanishing(graph: Graph, labels: Collection[Dim] = ()) -> MayVanish:
    """A test of the arguments of logs, and of logs of masses: whether they may be exactly zero.

    Functions of real-valued random arrays alone are zero with probability zero; ``labels`` are dims
    that stand for the values of a label.
    """
    continuous = continuous_arrays(graph)

    def may_vanish(x: Expr) -> bool:
        if x.is_positive:
            return False
        return not dims_of(x).isdisjoint(labels) or not _arrays_valued(x) <= continuous

    return may_vanish


def continuous_arrays(graph: Graph) -> set[str]:
    """The random arrays that are zero with probability zero."""
    return {n for n, v in graph.variables.items() if v.kind == "random" and not v.integer}


def _arrays_valued(x: Expr) -> set[str]:
    """The arrays whose elements are numbers in an expression, not positions alone."""
    if isinstance(x, Leaf):
        return {x.array.name}
    if isinstance(x, Array):
        return {x.name}
    return set().union(*map(_arrays_valued, x.args))


def with_exact_zeros(expr: Expr, may_vanish: MayVanish) -> Expr:
    """A sum of terms with each ``c * log(x)`` as 0 where c is 0, for each x that may be 0."""
    return Add(*(_with_limit(t, may_vanish) for t in Add.make_args(expr)))


def _with_limit(term: Expr, may_vanish: MayVanish) -> Expr:
    if isinstance(term, Over):
        return term.func(with_exact_zeros(term.body, may_vanish), *term.args[1:])
    if isinstance(term, Where):
        condition, *cases = term.args
        return Where(condition, *(with_exact_zeros(c, may_vanish) for c in cases))
    if not term.is_Mul:
        return term
    # (not multiplied out further: where x is 0 and c is 1, ``log(x) - c * log(x)`` is no number)
    terms = list(terms_of(term, lambda x: x.has(*LOGS)))
    if len(terms) > 1:
        return with_exact_zeros(Add(*terms), may_vanish)
    for choice in term.args:
        if isinstance(choice, Where) and _has_limit(choice, may_vanish):
            condition, *cases = choice.args
            return Where(condition, *(_with_limit(term / choice * c, may_vanish) for c in cases))
    logs = [f for f in term.args if _is_limit(f, may_vanish)]
    rest = [f for f in term.args if f not in logs]
    if len(logs) != 1 or all(f.is_number for f in rest):
        return Mul(*(_with_limit(f, may_vanish) for f in rest), *logs)
    if isinstance(logs[0], LOG_MASSES):
        return Weighted(Mul(*rest), logs[0])
    *coefficient, x = logs[0].args
    return XLogY(Mul(*rest, *coefficient), x)


def _is_limit(expr: Expr, may_vanish: MayVanish) -> bool:
    """Whether an expression is infinite where its log's argument is zero."""
    if isinstance(expr, LOG_MASSES):
        return may_vanish(expr)
    return isinstance(expr, sp.log | XLogY) and may_vanish(expr.args[-1])


def _has_limit(expr: Expr, may_vanish: MayVanish) -> bool:
    return any(_is_limit(log, may_vanish) for log in expr.atoms(*LOGS))


def terms_of(expr: Expr, depends: Callable[[Expr], bool]) -> Iterator[Expr]:
    """Yield the terms of a sum; in products, only factors for which ``depends`` are multiplied out.

    >>> a, b, x, y = sp.symbols("a b x y")
    >>> sorted(map(str, terms_of((1 - a) * b * (x + y), lambda e: e.has(x, y))))
    ['b*x*(1 - a)', 'b*y*(1 - a)']
    """
    for term in Add.make_args(expr):
        factors = Mul.make_args(term)
        open_ = _multiplied([f for f in factors if depends(f)])
        product = sp.expand_mul(Mul(*open_), deep=False)
        if product.is_Add:
            rest = [f for f in factors if f not in open_]
            yield from terms_of(Add(*(Mul(*rest, t) for t in product.args)), depends)
        else:
            yield term


def _multiplied(factors: list[Expr]) -> list[Expr]:
    """The factors to multiply out: factors like ``1 - x`` last, and only if there are few.

    (A term of their product reads all that the product reads; an end of a chain of choices has as
    many such factors as there are choices before it.)
    """
    complements = [f for f in factors if _is_complement(f)]
    others = [f for f in factors if f not in complements]
    are_many = len(complements) > MOST_COMPLEMENTS or any(f.is_Add for f in others)
    return others if are_many else factors


def _is_complement(factor: Expr) -> bool:
    """Whether a factor is a number and one term."""
    return factor.is_Add and len(factor.args) == 2 and any(a.is_number for a in factor.args)


def weighted(factors: Sequence[Expr], continuous: Collection[str]) -> list[Expr]:
    """The factors of a product, as one `Weighted` if some are zero where others may be infinite.

    Arrays of ``continuous`` values are zero with probability zero.

    >>> w, x, y = Array("w")[()], Array("x")[()], Array("y")[()]
    >>> weighted([w, sp.exp(x)], {"x"}), weighted([w, y, sp.log(1 - x)], {"x"})
    ([Weighted(w, exp(x))], [Weighted(w*y, log(1 - x))])
    >>> weighted([x, sp.exp(y)], {"x"}), weighted([w, x**2], {"x"})
    ([x, exp(y)], [w, x**2])
    """
    large = {f for f in factors if may_be_infinite(f)}
    zero = {f for f in factors if may_be_zero(f, continuous)} if large else set()
    weights = [f for f in factors if f in (zero - large if large <= zero else zero)]
    if not weights:
        return list(factors)
    rest = Mul(*(f for f in factors if f not in weights))
    if all(isinstance(w, INDICATORS) for w in weights):
        return [Where(Mul(*weights), rest, sp.S.Zero)]
    return [Weighted(Mul(*weights), rest)]


def may_be_zero(weight: Expr, continuous: Collection[str]) -> bool:
    """Whether a value may be exactly zero: by data, labels or indicators, not by rounding."""
    if weight.is_positive or weight.is_negative:
        return False
    if isinstance(weight, INDICATORS):
        return True
    if isinstance(weight, Where):
        return any(may_be_zero(a, continuous) for a in weight.args[1:])
    if weight.is_Mul or isinstance(weight, Over):
        return any(may_be_zero(a, continuous) for a in _factors(weight))
    if isinstance(weight, sp.Pow):
        return bool(weight.exp.is_positive) and may_be_zero(weight.base, continuous)
    if weight.is_Add:
        # (a continuous term makes the sum continuous)
        return not any(_is_continuous(a, continuous) for a in weight.args)
    return not _is_continuous(weight, continuous)


def _factors(product: Expr) -> tuple[Expr, ...]:
    return Mul.make_args(product.body if isinstance(product, Over) else product)


def _is_continuous(expr: Expr, continuous: Collection[str]) -> bool:
    """Whether a value is spread out: it reads a continuous array, and is not 0 by a weight."""
    return not _arrays_valued(expr).isdisjoint(continuous) and not (
        (expr.is_Mul or isinstance(expr, Over)) and may_be_zero(expr, continuous)
    )
