"""The terms of a log density that an identity can take apart: ``coefficient * head(...)``.

Comes in: a factor and the arrays that are in the way. Goes out: `Term` values, and the log density
without them. Only sums that hold such a term are multiplied out; all else is left as it is.

>>> from sympy import Abs
>>> from gibbsppl.algebra.expressions import Array
>>> y, mu, n = Array("y")[Dim("i")], Array("mu")[()], Array("n")[()]
>>> terms, rest = terms_in(n * (y**2 - Abs(y - mu)), Abs, {"mu"}, {})
>>> terms[0].coefficient, terms[0].argument, rest
(-n, mu - y[i], n*y[i]**2)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import copies_of
from gibbsppl.algebra.expressions import Dim, Expr, Over, arrays_in, dims_of, substitute
from gibbsppl.algebra.functions import Softplus
from gibbsppl.algebra.polynomials import MOST_KEPT, multiplied_out
from gibbsppl.algebra.ranges import Range, range_of

# The functions that a rule is for.
Head = type[Expr] | tuple[type[Expr], ...]


@dataclass(frozen=True, slots=True)
class Term:
    """``sum over the ranges of coefficient * head(argument)``, the factor's own ranges left out."""

    coefficient: Expr
    head: Expr
    ranges: tuple[Range, ...] = ()

    @property
    def argument(self) -> Expr:
        """The argument of the head."""
        return self.head.args[0]

    def summed(self) -> Expr:
        """The term as an expression."""
        total = self.coefficient * self.head
        for r in reversed(self.ranges):
            total = Over(total, r.dim, r.start, r.stop)
        return total


def terms_in(
    expr: Expr, head: Head, targets: Collection[str], sizes: Mapping[Dim, int]
) -> tuple[tuple[Term, ...], Expr]:
    """The terms with a head that holds a target, equal ones added up; and the rest."""
    found, rest = _walked(expr, head, set(targets), sizes)
    merged: dict[tuple[Expr, tuple[Range, ...]], Term] = {}
    for term in map(_counted, found):
        key = (term.head, term.ranges)
        before = merged[key].coefficient if key in merged else sp.S.Zero
        merged[key] = replace(term, coefficient=_shortest(before + term.coefficient))
    return tuple(t for t in merged.values() if t.coefficient != 0), rest


def _counted(term: Term) -> Term:
    """The term with the coefficient summed over ranges that the head does not depend on."""
    seen = dims_of(term.head)
    counted = Term(term.coefficient, sp.S.One, tuple(r for r in term.ranges if r.dim not in seen))
    kept = tuple(r for r in term.ranges if r.dim in seen)
    return Term(counted.summed(), term.head, kept) if len(kept) < len(term.ranges) else term


def _shortest(expr: Expr) -> Expr:
    """The expression, multiplied out where that makes it shorter (terms cancel)."""
    expanded = multiplied_out(expr)
    return expanded if expanded.count_ops() < expr.count_ops() else expr


def _walked(
    expr: Expr, head: Head, targets: set[str], sizes: Mapping[Dim, int]
) -> tuple[list[Term], Expr]:
    if not _holds(expr, head, targets):
        return [], expr
    if isinstance(expr, head):
        return _as_term(expr)
    if expr.is_Add:
        parts = [_walked(a, head, targets, sizes) for a in expr.args]
        return [t for found, _ in parts for t in found], Add(*(rest for _, rest in parts))
    if isinstance(expr, Over):
        found, rest = _walked(expr.body, head, targets, sizes)
        within = range_of(expr, sizes)
        terms = [replace(t, ranges=(within, *t.ranges)) for t in found]
        return terms, expr.func(rest, *expr.args[1:])
    held = [a for a in expr.args if _holds(a, head, targets)] if expr.is_Mul else []
    if len(held) != 1:
        return [], expr
    (part,) = held
    outside = Mul(*(a for a in expr.args if a is not part))
    found, rest = _walked(part, head, targets, sizes)
    terms = [_weighted(t, outside) for t in found]
    return terms, outside * rest


def _as_term(expr: Expr) -> tuple[list[Term], Expr]:
    """A head by itself; ``Softplus(-x)`` as ``Softplus(x) - x``, so that both signs meet."""
    if isinstance(expr, Softplus) and expr.args[0].could_extract_minus_sign():
        return [Term(sp.S.One, Softplus(-expr.args[0]))], expr.args[0]
    return [Term(sp.S.One, expr)], sp.S.Zero


def _weighted(term: Term, outside: Expr) -> Term:
    """A term times a factor outside of its sums, clashing dims of the sums renamed."""
    taken = dims_of(outside)
    own = {r.dim for r in term.ranges} | dims_of(term.head) | dims_of(term.coefficient)
    names = copies_of((r.dim for r in term.ranges if r.dim in taken), taken | own)
    if names:
        term = Term(
            substitute(term.coefficient, names),
            substitute(term.head, names),
            tuple(replace(r, dim=names.get(r.dim, r.dim)) for r in term.ranges),
        )
    return replace(term, coefficient=outside * term.coefficient)


def _holds(expr: Expr, head: Head, targets: set[str]) -> bool:
    return not _read_under(expr, head).isdisjoint(targets)  # type: ignore[arg-type]


@lru_cache(maxsize=MOST_KEPT)
def _read_under(expr: Expr, head: Head) -> frozenset[str]:
    """The arrays that the parts of an expression with a head read, looked for in each part once."""
    if isinstance(expr, head):
        return arrays_in(expr)
    parts = (_read_under(a, head) for a in expr.args)  # type: ignore[arg-type]
    return frozenset().union(*parts)


