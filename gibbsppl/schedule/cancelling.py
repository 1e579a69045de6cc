"""Terms of a log density that nearly cancel far out, as one term each that keeps its digits.

Comes in: the pieces of a log density that a draw evaluates. Goes out: pieces of the same sum.
Log densities are taken apart to find their statistics; where none has been found, what was one
function of the target is computed as one again: a ratio of gamma functions at huge arguments, the
log of a share. (A Student t of many degrees of freedom is a normal; the noise of its parts is not.)
What one of the two is computed for less often than the other stays: sums over data cost time.

>>> from gibbsppl.expressions import Array
>>> x, y = Array("x", positive=True)[()], Array("y", positive=True)[()]
>>> as_one(loggamma(x + 1), loggamma(x))
(loggamma(x + 1) - loggamma(x), 1, 0)
>>> as_one(x * sp.log(4 * x + y), x * sp.log(x)), as_one(sp.log(x), x)
((Softplus(-log(x) + log(y/4))*x, x, log(4)), None)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations

import sympy as sp

from gibbsppl.expressions import Expr, Leaf, Softplus, mentions
from gibbsppl.log_gamma import loggamma
from gibbsppl.near_one import terms_of
from gibbsppl.pieces import Piece


def without_cancelling(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces with each two of opposite coefficients that nearly cancel as one."""
    found: dict[int, tuple[Piece, ...]] = {n: (p,) for n, p in enumerate(pieces)}
    logs = [n for n, p in enumerate(pieces) if _is_log(p.statistic)]
    for one, other in combinations(logs, 2):
        both = _both(pieces[one], pieces[other]) if {one, other} <= {*logs} else ()
        if both:
            found |= {one: both, other: ()}
            logs = [n for n in logs if n not in (one, other)]
    return _collected([p for n in sorted(found) for p in found[n]])


def _collected(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Pieces of the same statistic as one; those that cancel are gone."""
    total: dict[Piece, Expr] = {}
    for piece in pieces:
        unit = replace(piece, coefficient=sp.S.One)
        total[unit] = total.get(unit, sp.S.Zero) + piece.coefficient
    return tuple(replace(p, coefficient=c) for p, c in total.items() if c != 0)


def _both(one: Piece, other: Piece) -> tuple[Piece, ...]:
    """Two pieces of one factor as one, and what is left; none if they do not cancel."""
    alike = all(getattr(one, n) == getattr(other, n) for n in ("factor", "views", "over"))
    if not alike or one.coefficient + other.coefficient != 0:
        return ()
    if one.statistic.has(loggamma) and _beside(one) != _beside(other):
        return ()
    for more, less in permutations((one, other)):
        made = as_one(more.statistic, less.statistic)
        if made is not None:
            difference, factor, number = made
            rest = replace(more, statistic=factor, coefficient=more.coefficient * number)
            is_there = number != 0 and mentions(factor, [v.array.name for v in more.views])
            return (replace(more, statistic=difference), *([rest] if is_there else []))
    return ()


def _is_log(statistic: Expr) -> bool:
    """Whether a statistic is a log of a gamma function, or has one log as a factor."""
    return isinstance(statistic, loggamma) or _log_in(statistic) is not None


def _beside(piece: Piece) -> set[Expr]:
    """What a statistic reads beside the target."""
    seen = {Leaf(v.array, *v.indices) for v in piece.views}
    return {leaf for leaf in piece.statistic.atoms(Leaf) if leaf not in seen}


def as_one(more: Expr, less: Expr) -> tuple[Expr, Expr, Expr] | None:
    """One function, a factor and a number: the difference of two statistics is it and a product.

    That of the factor and the number. None where nothing would be gained. Of logs, the argument of
    the first is a multiple of the other's and something positive.
    """
    if isinstance(more, loggamma) and isinstance(less, loggamma):
        difference = more - less
        terms = terms_of(difference)
        is_one = len(terms) == 1 and not terms[0].is_Mul
        return (difference, sp.S.One, sp.S.Zero) if is_one else None
    whole, part = _log_in(more), _log_in(less)
    if whole is None or part is None or whole[0] != part[0] or not part[1].is_positive:
        return None
    multiple = sp.S.One if part[1].is_Add else whole[1].coeff(part[1])
    rest = whole[1] - multiple * part[1]
    is_longer = len(sp.Add.make_args(whole[1])) > len(sp.Add.make_args(rest))
    if not (is_longer and rest.is_nonnegative and multiple.is_positive and multiple.is_number):
        return None
    share = sp.log(rest / multiple) - sp.log(part[1])
    return whole[0] * Softplus(share), whole[0], sp.log(multiple)


def _log_in(term: Expr) -> tuple[Expr, Expr] | None:
    """The factor of the one log in a product, and its argument."""
    factors = sp.Mul.make_args(term)
    logs = [f for f in factors if isinstance(f, sp.log)]
    return (term / logs[0], logs[0].args[0]) if len(logs) == 1 else None
