"""Exponentials of multiples of one number in a log density: one of them, and powers of it.

``exp(u)``, ``exp(-u / 2)`` and ``exp(-u)`` are powers of the one in the middle, whose argument is
smallest: it overflows or vanishes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    is_call,
    mapped,
    product,
    walk,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Choice, Density, Draw, Let, Loop, Statement
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in

# The largest power that products are used for.
MOST = 3


def united(sweep: Sweep) -> Sweep:
    """The sweep, in whose log densities exponentials of one number are powers of one."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    return replace(sweep, statements=tuple(_of(sweep.statements, names)))


def _of(statements: Iterable[Statement], names: Names) -> Iterator[Statement]:
    for s in statements:
        match s:
            case Loop(body=body):
                yield replace(s, body=tuple(_of(body, names)))
            case Choice():
                yield s.of(lambda body: _of(body, names))
            case Draw(density=Density() as density):
                yield replace(s, density=_united(density, names))
            case _:
                yield s


def _united(density: Density, names: Names) -> Density:
    """A log density with one exponential for each number that several are of."""
    found: dict[Expr, set[Fraction]] = {}
    for e in walk(density.value):
        if is_call(e, "exp") and not e.free and density.argument in e.arrays:
            times, of = _multiple(e.parts[0])
            found.setdefault(of, set()).add(times)
    units = {of: min(every, key=abs) for of, every in found.items() if _are_powers(every)}
    if not units:
        return density
    made = {of: names.fresh(f"{density.argument}_exp") for of in units}

    def one(e: Expr) -> Expr | None:
        if not is_call(e, "exp"):
            return None
        times, of = _multiple(e.parts[0])
        if of not in units or e.free:
            return None
        return _power(Element(made[of]), int(times / units[of]))

    own = {_multiple(e.parts[0]): e for e in walk(density.value) if is_call(e, "exp")}
    lets = tuple(Let(made[of], (), own[times, of]) for of, times in units.items())
    return replace(density, value=mapped(density.value, one), body=(*density.body, *lets))


def _multiple(e: Expr) -> tuple[Fraction, Expr]:
    """How many times which number an expression is."""
    match e:
        case Apply(function="neg", arguments=(inner,)):
            times, of = _multiple(inner)
            return -times, of
        case Apply(function="/", arguments=(inner, Number(value=value))) if value:
            times, of = _multiple(inner)
            return times / Fraction(value), of
        case Apply(function="*", arguments=(Number(value=value), *rest)) if value:
            times, of = _multiple(product(rest))
            return times * Fraction(value), of
    return Fraction(1), e


def _are_powers(every: set[Fraction]) -> bool:
    """Whether numbers are several, and small whole multiples of the smallest."""
    ratios = [times / min(every, key=abs) for times in every]
    return len(every) > 1 and all(r.denominator == 1 and abs(r) <= MOST for r in ratios)


def _power(base: Expr, power: int) -> Expr:
    found = product([base] * abs(power))
    return found if power > 0 else Apply("reciprocal", (found,))
