"""What loops are worth: what sweeps cost in NumPy, against what compiling takes.

Comes in: a `Sweep`, sizes. Goes out: a `Worth`. The figures are of one machine; the choice depends
on the model, its sizes and the number of sweeps alone, so that it is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gibbsppl.code.arrays.expressions import Number, Size, Span
from gibbsppl.code.arrays.statements import Choice, Draw, Loop, Statement, inner, spans_of
from gibbsppl.code.arrays.sweeps import Sweep, every
from gibbsppl.code.worth import Worth

# Seconds that NumPy takes for a statement whatever the arrays, for a draw by a log density, and
# for each of its elements.
A_STATEMENT, A_DENSITY, AN_ELEMENT = 4e-6, 60e-6, 4e-6
# Seconds that loops save for each number that a statement computes.
A_NUMBER = 1e-9
# Seconds that compiling takes: a part whatever the sweep, and for each statement.
COMPILING, A_LINE = 2.0, 0.06


def worth_of(sweep: Sweep, sizes: Mapping[str, int]) -> Worth:
    """The seconds that a sweep in loops saves, and those that compiling it takes."""
    saved = sum(_saved(s, sizes, 1) for s in sweep.statements)
    lines = sum(1 for _ in every(sweep.every))
    return Worth(saved, COMPILING + A_LINE * lines)


def _saved(s: Statement, sizes: Mapping[str, int], times: int) -> float:
    """The seconds that a statement takes longer in NumPy, carried out so many times."""
    count = _count(spans_of(s), sizes)
    if isinstance(s, Choice):
        return sum(_saved(b, sizes, times) for b in inner(s)) / max(1, len(s.bodies))
    if isinstance(s, Loop):
        return sum(_saved(b, sizes, times * count) for b in s.body)
    found = A_STATEMENT * times + A_NUMBER * times * count
    if isinstance(s, Draw) and s.density is not None:
        # (independent elements are drawn together)
        found += A_DENSITY + AN_ELEMENT * times
        found += sum(_saved(b, sizes, 1) for b in inner(s))
    return found


def _count(spans: Iterable[Span], sizes: Mapping[str, int]) -> int:
    """The number of positions of spans."""
    found = 1
    for span in spans:
        match span.stop:
            case Number(value=value):
                found *= int(value)
            case Size(dim=dim):
                found *= sizes.get(dim, 1)  # (of tables, which are not made yet)
    return found
