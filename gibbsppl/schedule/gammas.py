"""Pieces whose logs of gamma functions nearly cancel, as one piece.

Comes in: the pieces of a log density that is evaluated at candidates. Goes out: the same sum, with
the log of a ratio of gamma functions in place of two logs that are subtracted: of large arguments
these are so much larger than their difference that it has no digits.

>>> from gibbsppl.expressions import Array, Dim
>>> from gibbsppl.pieces import View
>>> from gibbsppl.ranges import Range
>>> b, y, i = Array("b"), Array("y"), Dim("i")
>>> view, over = View(b, ()), (Range(i, 0, 3),)
>>> pieces = (
...     Piece("y", loggamma(b[()]), (view,), sp.S.NegativeOne, over),
...     Piece("y", loggamma(b[()] + y[i]), (view,), sp.S.One, over),
... )
>>> [str(p) for p in together(pieces)]
['y: LogRising(b, y[i]) * (1), over i']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy as sp
from sympy import Mul

from gibbsppl.expressions import Expr, LogBeta, LogRising, mentions
from gibbsppl.log_gamma import loggamma
from gibbsppl.near_one import terms_of
from gibbsppl.pieces import Piece


def together(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, those of logs of gamma functions that nearly cancel as one."""
    groups: dict[object, list[Piece]] = {}
    for p in pieces:
        # (of one factor, seen in one way and summed over the same positions)
        alike = (p.factor, p.views, p.over) if p.statistic.has(loggamma) else p
        groups.setdefault(alike, []).append(p)
    return tuple(p for group in groups.values() for p in _of_group(group))


def _of_group(group: list[Piece]) -> Iterator[Piece]:
    terms = terms_of(sp.Add(*(p.coefficient * p.statistic for p in group)))
    if not any(t.has(LogRising, LogBeta) for t in terms):
        yield from group
        return
    for term in terms:
        coefficient, statistic = _split(term, group[0])
        yield replace(group[0], coefficient=coefficient, statistic=statistic)


def _split(term: Expr, piece: Piece) -> tuple[Expr, Expr]:
    """What multiplies a statistic of the target of a piece, and the statistic."""
    names = {v.array.name for v in piece.views}
    held = [f for f in Mul.make_args(term) if mentions(f, names)]
    return term / Mul(*held), Mul(*held)
