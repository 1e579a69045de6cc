"""Vectors and matrices of few numbers: their sizes as numbers, and their sums written out.

How long a vector is belongs to the model, as how many labels there are, and no loop is as fast as
no loop. Sizes of what is not drawn as a whole stay names, so that a text serves other data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product as every_pair
from math import prod

from gibbsppl.code.arrays.expressions import (
    Expr,
    Number,
    Reduce,
    Size,
    Span,
    at,
    mapped,
    total,
    walk,
)
from gibbsppl.code.arrays.numbers import SMALL
from gibbsppl.code.arrays.statements import Draw, Statement, everywhere
from gibbsppl.code.arrays.sweeps import Sweep, every

# A sum of so many terms is written out: that of a matrix of the largest size.
TERMS = SMALL**2


def written_out(sweep: Sweep, sizes: Mapping[str, int]) -> Sweep:
    """The sweep with the sizes of small vectors as numbers, and sums over these as terms."""
    few = {d: Number(sizes[d], stays=True) for d in _drawn_whole(sweep.every) if _is_few(d, sizes)}

    def one(e: Expr) -> Expr | None:
        if isinstance(e, Size):
            return few.get(e.dim)
        if not isinstance(e, Reduce):
            return None
        done = e.over(lambda part: mapped(part, one))
        assert isinstance(done, Reduce)
        return _terms(done)

    def of(s: Statement) -> Statement:
        return everywhere(s, lambda e: mapped(e, one))

    if not few:
        return sweep
    return replace(
        sweep, statements=tuple(map(of, sweep.statements)), monitors=tuple(map(of, sweep.monitors))
    )


def _is_few(dim: str, sizes: Mapping[str, int]) -> bool:
    return 1 <= sizes.get(dim, 0) <= SMALL


def _drawn_whole(statements: Iterable[Statement]) -> set[str]:
    """The dims of vectors and matrices that are drawn as a whole."""
    own = (x for s in every(statements) if isinstance(s, Draw) for x in s.own)
    return {e.dim for x in own for e in walk(x.stop) if isinstance(e, Size)}


def _terms(e: Reduce) -> Expr:
    """A sum over few positions as its terms; others as they are."""
    ends = [_positions(s) for s in e.spans]
    if e.by != "sum" or any(p is None for p in ends) or prod(len(p or ()) for p in ends) > TERMS:
        return e
    dims = [s.dim for s in e.spans]
    places = every_pair(*(p or () for p in ends))
    return total([at(e.body, dict(zip(dims, map(Number, p), strict=True))) for p in places])


def _positions(span: Span) -> range | None:
    """The positions of a span whose size is that of a small vector."""
    match span:
        case Span(start=Number(value=start), stop=Number(value=stop, stays=True)):
            return range(int(start), int(stop))
    return None
