"""Terms of a log density that nearly cancel at extreme values, merged to keep their digits.

Comes in: the pieces of a log density that a draw evaluates. Goes out: pieces of the same sum.
Log densities are expanded to find their statistics; where no family matches, the terms of one
function of the target are merged again: a ratio of gamma functions at huge arguments, the log of a
share. (A Student t of many degrees of freedom is a normal; the noise of its parts is not.)

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> from gibbsppl.pieces.split import View
>>> from gibbsppl.algebra.ranges import Range
>>> b, y, i = Array("b"), Array("y"), Dim("i")
>>> view, over = View(b, ()), (Range(i, 0, 3),)
>>> pieces = (
...     Piece("y", loggamma(b[()]), (view,), sp.S.NegativeOne, over),
...     Piece("y", loggamma(b[()] + y[i]), (view,), sp.S.One, over),
... )
>>> [str(p) for p in without_cancelling(pieces)]
['y: LogRising(b, y[i]) * (1), over i']
>>> x, y = Array("x", positive=True)[()], Array("y", positive=True)[()]
>>> as_one(x * sp.log(4 * x + y), x * sp.log(x)), as_one(sp.log(x), x)
((Softplus(-log(x) + log(y/4))*x, x, 2*log(2)), None)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations

import sympy as sp

from gibbsppl.algebra.expressions import Expr, mentions
from gibbsppl.algebra.functions import LogBeta, LogGammaQ, LogGammaU, LogRising, Softplus
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.near_one import terms_of
from gibbsppl.algebra.polynomials import expanded_size
from gibbsppl.pieces.split import Piece, views_of

# Coefficients of more terms, multiplied out, are not looked through.
MOST_TERMS = 100


def without_cancelling(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, with nearly cancelling ones merged.

    Merged pieces have the same factor, the same views and the same ranges.
    """
    groups: dict[object, list[Piece]] = {}
    for p in pieces:
        groups.setdefault((p.factor, p.views, p.over), []).append(p)
    return _collected([p for group in groups.values() for p in _logs_as_one([*_ratios(group)])])


def _ratios(group: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, with ratios of gamma functions in place of logs of two that are subtracted.

    And with upper tails beside their arguments.
    """
    whole = {p: p.coefficient * p.statistic for p in group}
    tails = {t / q * q.args[1] for t in whole.values() for q in t.atoms(LogGammaQ)}
    gammas = [p for p, t in whole.items() if t.has(loggamma, LogGammaQ) or t in tails]
    terms = terms_of(sp.Add(*(whole[p] for p in gammas)))
    if not any(t.has(LogRising, LogBeta, LogGammaU) for t in terms):
        yield from group
        return
    yield from (p for p in group if p not in gammas)
    for term in terms:
        coefficient, statistic = _split(term, group[0])
        yield replace(group[0], coefficient=coefficient, statistic=statistic)


def _split(term: Expr, piece: Piece) -> tuple[Expr, Expr]:
    """The coefficient and the statistic of a term, given the target of a piece."""
    held = [f for f in sp.Mul.make_args(term) if _sees(piece, f)]
    return term / sp.Mul(*held), sp.Mul(*held)


def _sees(piece: Piece, expr: Expr) -> bool:
    """Whether an expression reads the target of a piece."""
    return mentions(expr, {v.array.name for v in piece.views})


def _logs_as_one(group: Sequence[Piece]) -> list[Piece]:
    """The pieces, with nearly cancelling logs of opposite coefficients merged."""
    found: dict[int, tuple[Piece, ...]] = {n: (p,) for n, p in enumerate(group)}
    logs = [n for n, p in enumerate(group) if _log_in(p.statistic) is not None]
    for one, other in combinations(logs, 2):
        both = _both(group[one], group[other]) if {one, other} <= {*logs} else ()
        if both:
            found |= {one: both, other: ()}
            logs = [n for n in logs if n not in (one, other)]
    return [p for n in sorted(found) for p in found[n]]


def _collected(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Pieces of the same statistic added up; those that cancel are left out."""
    alike: dict[Piece, list[Expr]] = {}
    for piece in pieces:
        alike.setdefault(replace(piece, coefficient=sp.S.One), []).append(piece.coefficient)
    total = {p: sp.Add(*c) for p, c in alike.items()}
    return tuple(
        replace(p, coefficient=c)
        for p, c in total.items()
        if c != 0 and not (len(alike[p]) > 1 and _cancels(c))
    )


def _cancels(coefficient: Expr) -> bool:
    """Whether a coefficient is zero once its logs are taken apart; long ones are left alone."""
    if not coefficient.has(sp.log) or expanded_size(coefficient) > MOST_TERMS:
        return False
    return bool(sp.expand(sp.expand_log(coefficient)) == 0)


def _both(one: Piece, other: Piece) -> tuple[Piece, ...]:
    """The merged piece of two, and the remainder if any; empty if nothing cancels."""
    if one.coefficient + other.coefficient != 0:
        return ()
    for more, less in permutations((one, other)):
        made = as_one(more.statistic, less.statistic)
        if made is not None:
            difference, factor, log = made
            if _sees(more, log):
                continue
            if log == 0 or not _sees(more, factor):
                return (replace(more, statistic=difference),)
            views = tuple(views_of(factor, {v.array.name for v in more.views}))
            rest = replace(more, statistic=factor, views=views, coefficient=more.coefficient * log)
            return (replace(more, statistic=difference), rest)
    return ()


def as_one(more: Expr, less: Expr) -> tuple[Expr, Expr, Expr] | None:
    """A function, a factor and a log: ``more - less`` is the function plus factor times log.

    None unless the argument of the first log is a positive multiple of the second's plus a simpler
    nonnegative rest.
    """
    whole, part = _log_in(more), _log_in(less)
    if whole is None or part is None or whole[0] != part[0] or not part[1].is_positive:
        return None
    multiple = sp.S.One if part[1].is_Add else whole[1].coeff(part[1])
    rest = whole[1] - multiple * part[1]
    is_longer = len(sp.Add.make_args(whole[1])) > len(sp.Add.make_args(rest))
    if not (is_longer and rest.is_nonnegative and multiple.is_positive):
        return None
    share = sp.log(rest / multiple) - sp.log(part[1])
    return whole[0] * Softplus(share), whole[0], sp.expand_log(sp.log(multiple))


def _log_in(term: Expr) -> tuple[Expr, Expr] | None:
    """The factor of the one log in a product, and its argument."""
    factors = sp.Mul.make_args(term)
    logs = [f for f in factors if isinstance(f, sp.log)]
    return (term / logs[0], logs[0].args[0]) if len(logs) == 1 else None
