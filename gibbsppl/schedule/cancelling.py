"""Terms of a log density that nearly cancel far out, as one term each that keeps its digits.

Comes in: the pieces of a log density that a draw evaluates. Goes out: pieces of the same sum.
Log densities are taken apart to find their statistics; where none has been found, what was one
function of the target is computed as one again: a ratio of gamma functions at huge arguments, the
log of a share. (A Student t of many degrees of freedom is a normal; the noise of its parts is not.)
What one of the two is computed for less often than the other stays: sums over data cost time.

>>> from gibbsppl.expressions import Array
>>> x, y = Array("x", positive=True)[()], Array("y", positive=True)[()]
>>> as_one(loggamma(x + 1), loggamma(x))
loggamma(x + 1) - loggamma(x)
>>> as_one(x * sp.log(x + y), x * sp.log(x)), as_one(sp.log(x), x)
(x*Softplus(-log(x) + log(y)), None)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations

import sympy as sp

from gibbsppl.expressions import Expr, Leaf, Softplus
from gibbsppl.log_gamma import loggamma
from gibbsppl.near_one import terms_of
from gibbsppl.pieces import Piece


def without_cancelling(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces with each two of opposite coefficients that nearly cancel as one."""
    found = list(pieces)
    logs = [p for p in pieces if _is_log(p.statistic)]
    for one, other in combinations(logs, 2):
        both = _both(one, other) if one in found and other in found else None
        if both is not None:
            found[found.index(one)] = both
            found.remove(other)
    return tuple(found)


def _both(one: Piece, other: Piece) -> Piece | None:
    """Two pieces of one factor as one; None if they do not cancel."""
    alike = all(getattr(one, n) == getattr(other, n) for n in ("factor", "views", "over"))
    if not alike or one.coefficient + other.coefficient != 0:
        return None
    if one.statistic.has(loggamma) and _beside(one) != _beside(other):
        return None
    for more, less in permutations((one, other)):
        difference = as_one(more.statistic, less.statistic)
        if difference is not None:
            return replace(more, statistic=difference)
    return None


def _is_log(statistic: Expr) -> bool:
    """Whether a statistic is a log of a gamma function, or has one log as a factor."""
    return isinstance(statistic, loggamma) or _log_in(statistic) is not None


def _beside(piece: Piece) -> set[Expr]:
    """What a statistic reads beside the target."""
    seen = {Leaf(v.array, *v.indices) for v in piece.views}
    return {leaf for leaf in piece.statistic.atoms(Leaf) if leaf not in seen}


def as_one(more: Expr, less: Expr) -> Expr | None:
    """The difference of two statistics as one function; None where that would gain nothing.

    Of logs, the argument of the first is that of the other and something positive.
    """
    if isinstance(more, loggamma) and isinstance(less, loggamma):
        difference = more - less
        terms = terms_of(difference)
        return difference if len(terms) == 1 and not terms[0].is_Mul else None
    whole, part = _log_in(more), _log_in(less)
    if whole is None or part is None or whole[0] != part[0]:
        return None
    rest = whole[1] - part[1]
    is_longer = len(sp.Add.make_args(whole[1])) > len(sp.Add.make_args(rest))
    if not (is_longer and rest.is_nonnegative and part[1].is_positive):
        return None
    return whole[0] * Softplus(sp.log(rest) - sp.log(part[1]))


def _log_in(term: Expr) -> tuple[Expr, Expr] | None:
    """The factor of the one log in a product, and its argument."""
    factors = sp.Mul.make_args(term)
    logs = [f for f in factors if isinstance(f, sp.log)]
    return (term / logs[0], logs[0].args[0]) if len(logs) == 1 else None
