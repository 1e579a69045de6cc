"""The mode of a closed form, as a formula of its natural parameters.

Comes in: a family, symbols for its natural parameters and bounds. Goes out: where the density is
largest, or a `NoFormula`. A mode is not invariant: it is that of the density of the variable on its
own scale, the Jacobian of a change taken out, or of its log where that is asked.

Of a scalar row it is where the log density is level: SymPy solves the equation. Rows of vectors and
matrices say theirs. A truncated density with one mode has it at the nearest point between the
bounds. A value of two outcomes has the likelier one.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.families import FAMILIES
>>> eta = (Array("eta_1")[()], Array("eta_2")[()])
>>> mode(FAMILIES["Gamma"], Symbols(eta)), mode(FAMILIES["Gamma"], Symbols(eta), of_log=True)
(-eta_1/eta_2, (-eta_1 - 1)/eta_2)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.functions import Below, Maximum, Minimum, Where
from gibbsppl.algebra.polynomials import MOST_KEPT
from gibbsppl.derive.changes import Change
from gibbsppl.derive.moments import NoFormula, Symbols, symbol_of
from gibbsppl.families import Family

# So many random natural parameters tell which root of an equation is the mode.
TRIALS, WIDTH = 60, 5.0


def mode(family: Family, of: Symbols, *, of_log: bool = False) -> Expr | NoFormula:
    """The mode of a variable, a change undone."""
    natural, known = family.natural, of.known or {}
    assert natural is not None
    if family.event:
        if natural.mode is None or of.change is not None or of_log:
            return NoFormula(f"the mode of {family.name} has no formula")
        return natural.mode(*of.etas, event=of.event, **known)
    u = symbol_of(family)
    support = family.support((), **{n: sp.Symbol(n) for n in family.parameters})
    if support.is_discrete:
        return _of_two(family, of, u)
    dummies = tuple(sp.Dummy(f"eta_{j}", real=True) for j in range(len(of.etas)))
    fixed = tuple((n, sp.Dummy(n, positive=True)) for n in known)
    found = _level(family, dummies, fixed, of.change, of_log)
    if isinstance(found, NoFormula):
        return found
    back = dict(zip(dummies, of.etas, strict=True)) | {d: known[n] for n, d in fixed}
    value = found.xreplace(back)
    if of.bounds is not None:
        value = Minimum(Maximum(value, of.bounds[0]), of.bounds[1])
    return value if of.change is None else of.change.backward(value)


def _of_two(family: Family, of: Symbols, u: sp.Dummy) -> Expr | NoFormula:
    """The likelier of two outcomes."""
    natural, known = family.natural, of.known or {}
    assert natural is not None
    support = family.support((), **{n: known.get(n, sp.Symbol(n)) for n in family.parameters})
    is_of_two = support.lower == 0 and support.upper == 1
    if not is_of_two or of.change is not None:
        return NoFormula(f"the mode of counts, {family.name}, is read by its mean, or drawn")
    statistics = natural.statistics(u, (), **known)
    rise = sum(
        e * (s.subs(u, 1) - s.subs(u, 0)) for e, s in zip(of.etas, statistics, strict=True)
    )
    return Where(Below(sp.S.Zero, rise), sp.S.One, sp.S.Zero)


@lru_cache(maxsize=MOST_KEPT)
def _level(
    family: Family,
    etas: tuple[sp.Dummy, ...],
    known: tuple[tuple[str, sp.Dummy], ...],
    change: Change | None,
    of_log: bool,
) -> Expr | NoFormula:
    """Where the density is level, and falls on both sides: on the scale that is drawn."""
    natural = family.natural
    assert natural is not None
    u = symbol_of(family)
    statistics = natural.statistics(u, (), **dict(known))
    log_density = natural.log_base(u, (), **dict(known))
    log_density += sum(e * s for e, s in zip(etas, statistics, strict=True))
    x = u if change is None else change.backward(u)
    slope_of_x = sp.diff(x, u)
    log_density -= sp.log(sp.Abs(slope_of_x)) if change is not None else 0
    if of_log and not u.is_positive and change is None:
        return NoFormula(f"a value of {family.name} has no log")
    if of_log:  # (the density of log x is x times that of x)
        log_density += sp.log(x)
    slope = sp.diff(sp.expand_log(log_density, force=True), u)
    try:
        solutions = sp.solve(slope, u)
    except NotImplementedError:
        solutions = []
    found = _maximum([s for s in solutions if not s.has(sp.I, u)], slope, u, family, etas, known)
    return NoFormula(f"the mode of {family.name} has no formula") if found is None else found


def _maximum(
    roots: Sequence[Expr],
    slope: Expr,
    u: sp.Dummy,
    family: Family,
    etas: Sequence[sp.Dummy],
    known: Sequence[tuple[str, sp.Dummy]],
) -> Expr | None:
    """The root that is in the support, where the slope falls: looked for at numbers."""
    natural, rng = family.natural, np.random.default_rng(0)
    assert natural is not None
    passed = dict.fromkeys(range(len(roots)), 0)
    for _ in range(TRIALS):
        at: dict[Expr, Expr] = {e: sp.Float(WIDTH * (2 * rng.random() - 1)) for e in etas}
        # (a power that a change of variable takes is a number, too)
        others = (*(d for _, d in known), *sorted(slope.atoms(Leaf), key=str))
        at.update((d, sp.Float(WIDTH * rng.random())) for d in others)
        own = {n: at[d] for n, d in known}
        domain = natural.domain(*(at[e] for e in etas), **own)
        if not all(bool(condition > 0) for condition in domain):
            continue
        support = family.support((), **{n: own.get(n, sp.S.One) for n in family.parameters})
        for j, root in enumerate(roots):
            value = root.xreplace(at)
            if not value.is_extended_real or not support.lower < value < support.upper:
                continue
            passed[j] += bool(sp.diff(slope.xreplace(at), u).xreplace({u: value}) < 0)
    best = max(passed, key=lambda j: passed[j], default=None)
    return roots[best] if best is not None and passed[best] else None
