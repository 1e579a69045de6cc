"""The mean and the variance of a closed form, as formulas of its natural parameters and bounds.

Comes in: a family, symbols for its natural parameters, for its bounds and for its known parameters.
Goes out: expressions, or a `NoFormula` with the reason. No family is named:

- the row's own moments, at the parameters that its natural parameters say;
- between bounds ``l`` and ``u``, by parts: ``E[h s + h'] = h(u) f(u) - h(l) f(l)`` for a density f
  with slope ``s = (log f)'``, with a polynomial h for which ``h s + h'`` is linear in x. Pearson's
  families have one (K. Pearson 1895, Philosophical Transactions A 186);
- of ``exp(t . T)`` with statistics T, which a value is after a change such as a power or a
  logarithm: ``E[exp(t . T)] = exp(A(eta + t) - A(eta))``, A the log partition function, times the
  ratio of the masses between bounds.

>>> from gibbsppl.families import FAMILIES
>>> eta = (Array("eta_1")[()], Array("eta_2")[()])
>>> plain(FAMILIES["Gamma"], eta, (), {})
Moments(mean=-(eta_1 + 1)/eta_2, variance=(eta_1 + 1)/eta_2**2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf
from gibbsppl.algebra.functions import AtMost, Below, Equals, LogMass, Maximum, Minimum, Where
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.polynomials import cancelled, multiplied_out
from gibbsppl.derive.changes import Change
from gibbsppl.derive.inversion import inversion_of
from gibbsppl.families import Family
from gibbsppl.families.masses import Given, middle, of_narrow

EPSILON = sp.Float(2) ** -52
# The largest part of the distance between a mean and its nearest bound that rounding may be.
DIGITS = sp.Float("1e-6")


@dataclass(frozen=True, slots=True)
class Moments:
    """Formulas; ``variance`` is ``None`` where there is none but for the mean."""

    mean: Expr
    variance: Expr | None


@dataclass(frozen=True, slots=True)
class NoFormula:
    """Why the mean of a closed form is not a formula."""

    reason: str


@dataclass(frozen=True, slots=True)
class Symbols:
    """What the formulas are written in: natural parameters, bounds, known parameters, a change.

    ``bounds``: on the scale that is drawn, of a truncated draw. ``change``: that to this scale.
    ``mean``: what stands there for the mean in the variance, where the mean is at hand.
    """

    etas: tuple[Expr, ...]
    event: tuple[Dim, ...] = ()
    known: Mapping[str, Expr] | None = None
    bounds: tuple[Expr, Expr] | None = None
    change: Change | None = None
    mean: Expr | None = None


def moments(family: Family, of: Symbols) -> Moments | NoFormula:
    """The mean and variance of a draw from a family, perhaps truncated, a change undone."""
    u = symbol_of(family)
    return moments_of(family, of, of.change.backward(u) if of.change else u, u)


def symbol_of(family: Family) -> sp.Dummy:
    """A symbol for a draw from a row."""
    return sp.Dummy("u", real=True, positive=_is_positive(family) or None)


def moments_of(family: Family, of: Symbols, value: Expr, u: sp.Dummy) -> Moments | NoFormula:
    """The mean and variance of a value that is a line, or an exponential of statistics, of u."""
    if of.bounds is not None and family.log_cdf is None:
        return NoFormula(f"the mean of a truncated {family.name} has no formula")
    line = _linear(value, u)
    if line is None:
        return _of_an_exponential(family, of, value, u)
    if of.bounds is None:
        found = plain(family, of.etas, of.event, of.known or {})
    else:
        found = _between(family, of, u)
    if isinstance(found, NoFormula):
        return found
    start, slope = line
    variance = None if found.variance is None else slope**2 * found.variance
    return Moments(start + slope * found.mean, variance)


def plain(
    family: Family, etas: Sequence[Expr], event: tuple[Dim, ...], known: Mapping[str, Expr]
) -> Moments | NoFormula:
    """The row's own moments as functions of its natural parameters."""
    natural = family.natural
    assert natural is not None
    if natural.mean is not None:
        of_eta = natural.variance
        variance = None if of_eta is None else of_eta(*etas, event=event, **known)
        return Moments(natural.mean(*etas, event=event, **known), variance)
    if family.mean is None:
        return NoFormula(f"{family.name} has no formula for its mean")
    parameters = _parameters(family, etas, known)
    variance = None if family.variance is None else family.variance(event, **parameters)
    return Moments(family.mean(event, **parameters), variance)


def _parameters(family: Family, etas: Sequence[Expr], known: Mapping[str, Expr]) -> dict[str, Expr]:
    """The parameters of a row of scalars, from its natural parameters."""
    inversion = inversion_of(family)
    values = dict(zip(inversion.etas, etas, strict=True))
    return {n: e.xreplace(values) for n, e in inversion.solved} | dict(known)


def _is_positive(family: Family) -> bool:
    """Whether the support of a row of scalars is on the positive side, whatever its parameters."""
    signs = {n: p.support.lower == 0 for n, p in family.parameters.items()}
    symbols = {n: Array(n, positive=True if s else None)[()] for n, s in signs.items()}
    return bool(sp.sympify(family.support((), **symbols).lower).is_nonnegative)


def _linear(value: Expr, u: sp.Dummy) -> tuple[Expr, Expr] | None:
    """The start and the slope of a straight line in u."""
    slope = sp.diff(value, u)
    if slope.has(u):
        return None
    return multiplied_out(value - slope * u), slope


# Between bounds


def _between(family: Family, of: Symbols, u: sp.Dummy) -> Moments | NoFormula:
    """The mean of a truncated draw, on the scale that is drawn."""
    assert family.natural is not None
    assert of.bounds is not None
    lower, upper = of.bounds
    known = of.known or {}
    if family.support(of.event, **_symbols(family, known)).kind != "real":
        return NoFormula(f"the mean of a truncated {family.name} has no formula")
    if not family.natural.statistics(u, of.event, **known):  # of equal density everywhere
        return Moments((lower + upper) / 2, (upper - lower) ** 2 / 12)
    log_density = _log_density(family, of, u)
    support = family.support(of.event, **_parameters(family, of.etas, known))
    singular = [e for e in (support.lower, support.upper) if _is_singular(log_density, u, e)]
    other = _of_an_exponential(family, of, u, u)
    middle_or_none = _in_the_middle(family, of, u, u)
    otherwise = other.mean if isinstance(other, Moments) else middle_or_none
    for h in (sp.S.One, u, u**2, u * (1 - u), u * (1 + u)):
        line = _line(sp.diff(log_density, u), h, u)
        vanishes = all(e in (sp.oo, -sp.oo) or h.subs(u, e) == 0 for e in singular)
        if line is not None and vanishes:
            ends = _ends(family, of, h, log_density, u, singular)
            mean = _by_parts(line, ends, of.bounds, otherwise)
            own = (family, of, h, log_density, u, singular)
            return Moments(mean, _spread(line, own, of.mean or mean, of.bounds))
    return other


def _symbols(family: Family, known: Mapping[str, Expr]) -> dict[str, Expr]:
    return {n: known.get(n, Array(n)[()]) for n in family.parameters}


def _line(slope: Expr, h: Expr, u: sp.Dummy) -> tuple[Expr, Expr] | None:
    """The slope and the start of ``h s + h'``, where that is a straight line in u."""
    letters = {x: sp.Dummy() for x in slope.atoms(Leaf)}
    found = cancelled(h * slope.xreplace(letters) + sp.diff(h, u))
    if not found.is_polynomial(u) or sp.degree(found, u) != 1:
        return None
    back = {d: x for x, d in letters.items()}
    rise, start = (c.xreplace(back) for c in sp.Poly(found, u).all_coeffs())
    return rise, start


def _is_singular(log_density: Expr, u: sp.Dummy, end: Expr) -> bool:
    """Whether a log density has no value at an end of the support."""
    return bool(log_density.subs(u, end).has(sp.oo, -sp.oo, sp.zoo, sp.nan))


def _log_density(family: Family, of: Symbols, u: sp.Dummy) -> Expr:
    """The log density on the whole support, up to its constant."""
    natural, known = family.natural, of.known or {}
    assert natural is not None
    statistics = natural.statistics(u, of.event, **known)
    terms = (e * s for e, s in zip(of.etas, statistics, strict=True))
    return sp.Add(natural.log_base(u, of.event, **known), *terms)


# A family, its symbols, a polynomial, the log density, of what, and the ends without density.
_OfEnds: TypeAlias = tuple[Family, "Symbols", Expr, Expr, sp.Dummy, Sequence[Expr]]


@dataclass(frozen=True, slots=True)
class _End:
    """The value of ``h f`` at a bound, and the size of the terms in it, for rounding errors."""

    value: Expr
    size: Expr


def _ends(
    family: Family, of: Symbols, h: Expr, log_density: Expr, u: sp.Dummy, singular: Sequence[Expr]
) -> list[_End]:
    """``h f`` at both bounds, f the truncated density; it vanishes at singular ends."""
    assert family.natural is not None
    assert family.natural.log_partition is not None
    assert of.bounds is not None
    total = family.natural.log_partition(*of.etas, **(of.known or {}))
    mass = log_mass(family, of, of.etas)
    ends = []
    for bound in of.bounds:
        away = sp.Mul(*(1 - Equals(bound, e) for e in singular))
        at = {u: Where(away, bound, sp.Rational(1, 2))}
        log_f, factor = log_density.xreplace(at), h.xreplace(at)
        value = Where(away, factor * sp.exp(log_f - total - mass), sp.S.Zero)
        ends.append(_End(value, sp.Abs(value) * (1 + sp.Abs(log_f) + sp.Abs(total) + sp.Abs(mass))))
    return ends


def log_mass(family: Family, of: Symbols, etas: Sequence[Expr]) -> Expr:
    """The log probability between the bounds, of the full family at natural parameters ``etas``."""
    assert family.log_cdf is not None
    assert family.log_sf is not None
    assert of.bounds is not None
    parameters = _parameters(family, etas, of.known or {})
    support = family.support(of.event, **parameters)
    # P(X >= l) of whole numbers is P(X > l - 1).
    step = 1 if support.is_discrete else 0
    lowest = support.lower - step
    low, high = (
        _inside(b, lowest, support.upper) for b in (of.bounds[0] - step, of.bounds[1])
    )
    cdf, sf = family.log_cdf, family.log_sf
    at_low, at_high = Below(support.lower, of.bounds[0]), Below(of.bounds[1], support.upper)
    narrow = of_narrow(Given(family, of.event, parameters), low, high)
    return LogMass(
        Where(at_low, cdf(low, **parameters), -sp.oo),
        Where(at_high, cdf(high, **parameters), sp.S.Zero),
        Where(at_low, sf(low, **parameters), sp.S.Zero),
        Where(at_high, sf(high, **parameters), -sp.oo),
        *(Where(at_low * at_high, e, -sp.oo) for e in narrow),
    )


def _inside(bound: Expr, lower: Expr, upper: Expr) -> Expr:
    """The bound if inside of the support, else some inner point."""
    middle = sp.Rational(1, 2) if upper == 1 else sp.S.One
    return Where(Below(lower, bound) * Below(bound, upper), bound, middle)


def _spread(
    line: tuple[Expr, Expr], of: _OfEnds, mean: Expr, bounds: tuple[Expr, Expr]
) -> Expr:
    """The variance, by parts with ``(x - mean) h``: nothing is a difference of squares.

    ``E[(x - m) (h s + h') + h] = (x - m) h f`` at the ends: with a line ``h s + h'`` and ``E[h] =
    h(m) + h'' V / 2`` this is linear in the variance V. Where an interval is too narrow for digits,
    the density is about even.
    """
    family, symbols, h, log_density, u, singular = of
    low, high = _ends(family, symbols, h, log_density, u, singular)
    (lower, upper), (rise, _) = bounds, line
    at_ends = _away(upper, mean) * high.value - _away(lower, mean) * low.value
    found = (at_ends - h.subs(u, mean)) / (rise + sp.diff(h, u, 2) / 2)
    even = _away(upper, lower) ** 2 / 12
    rounding = EPSILON * (high.size * _away(upper, mean) + low.size * _away(mean, lower))
    rounding += EPSILON * sp.Abs(h.subs(u, mean))
    enough = Below(rounding / DIGITS, sp.Abs(at_ends - h.subs(u, mean)))
    return Where(enough * Below(sp.S.Zero, found), found, even)


def _away(bound: Expr, mean: Expr) -> Expr:
    """The distance from a bound; nothing where this is infinite, and no density there."""
    return Where(Below(sp.Abs(bound), sp.oo) * Below(sp.Abs(mean), sp.oo), bound - mean, sp.S.Zero)


def _by_parts(
    line: tuple[Expr, Expr], ends: Sequence[_End], bounds: tuple[Expr, Expr], otherwise: Expr
) -> Expr:
    """The mean, from the mean of a line in the variable: the difference of ``h f`` at the ends."""
    (rise, start), (low, high) = line, ends
    mean = (high.value - low.value - start) / rise
    rounding = EPSILON * (high.size + low.size + sp.Abs(start)) / sp.Abs(rise)
    return _if_accurate(mean, rounding, bounds, otherwise)


def _if_accurate(
    mean: Expr, rounding: Expr, bounds: tuple[Expr, Expr], otherwise: Expr
) -> Expr:
    """The mean where it is between the bounds, further from them than rounding errors."""
    low, high = bounds
    near = Below(low + rounding / DIGITS, mean) * Below(mean, high - rounding / DIGITS)
    return Where(near, mean, otherwise)


def _in_the_middle(family: Family, of: Symbols, value: Expr, u: sp.Dummy) -> Expr:
    """The value in the middle of a narrow interval, no number in others.

    The density changes there by about the share that the interval has of a tail, and the mean is
    off by less than that part of the width.
    """
    assert of.bounds is not None
    support = family.support(of.event, **_parameters(family, of.etas, of.known or {}))
    cdf_low, cdf_high, sf_low, sf_high = log_mass(family, of, of.etas).args[:4]
    share = Where(Below(cdf_high, sf_low), cdf_high - cdf_low, sf_low - sf_high)
    centre = value.xreplace({u: middle(support, *of.bounds)})
    return Where(AtMost(share, DIGITS), centre, sp.nan)


# Of exponentials of statistics


def _of_an_exponential(
    family: Family, of: Symbols, value: Expr, u: sp.Dummy
) -> Moments | NoFormula:
    """The mean of a value whose log is a sum of statistics: no variance, which is a difference."""
    natural, known = family.natural, of.known or {}
    assert natural is not None
    statistics = natural.statistics(u, of.event, **known)
    log_value = sp.expand_log(sp.log(value), force=True)
    shifts, constant = combination(log_value, statistics, u)
    if constant is None or natural.log_partition is None:
        of_what = "it" if of.change is None else of.change.forward(sp.Symbol("it"))
        shape = "truncated " if of.bounds is not None else ""
        reason = f"the mean of its value, where {of_what} is {shape}{family.name}, has no formula"
        return NoFormula(reason)
    moved = tuple(e + t for e, t in zip(of.etas, shifts, strict=True))
    names = {x.name for e in of.etas for x in e.atoms(Array)}
    before, after = (natural.log_partition(*e, **known) for e in (of.etas, moved))
    log_mean = constant + simplified(after - before, names)
    if of.bounds is not None:
        log_mean += log_mass(family, of, moved) - log_mass(family, of, of.etas)
    mean, beyond = sp.exp(log_mean), sp.oo
    if of.bounds is not None:
        sizes = (_rounding_of_mass(family, of, e) for e in (of.etas, moved))
        rounding = EPSILON * mean * sp.Add(sp.Abs(before), sp.Abs(after), *sizes)
        images = [value.xreplace({u: b}) for b in of.bounds]
        otherwise = _in_the_middle(family, of, value, u)
        least, largest = Minimum(*images), Maximum(*images)
        mean = _if_accurate(mean, rounding, (least, largest), otherwise)
        beyond = Where(Below(largest, sp.oo), otherwise, sp.oo)
    for condition in natural.domain(*moved, **known):
        mean = Where(Below(sp.S.Zero, condition), mean, beyond)
    return Moments(mean, None)


def _rounding_of_mass(family: Family, of: Symbols, etas: Sequence[Expr]) -> Expr:
    """By how many roundings the log of the probability between the bounds may be off."""
    mass = log_mass(family, of, etas)
    _, log_cdf, log_sf, _ = mass.args[:4]
    return 1 + sp.Abs(mass) + sp.exp(Minimum(log_cdf, log_sf) - mass)


def combination(
    value: Expr, statistics: Sequence[Expr], u: sp.Dummy
) -> tuple[tuple[Expr, ...], Expr | None]:
    """The coefficient of each statistic in a sum, and the remainder; ``None`` if u is left over."""
    value = multiplied_out(value)
    shifts = tuple(value.coeff(s) for s in statistics)
    left = multiplied_out(value - sp.Add(*(t * s for t, s in zip(shifts, statistics, strict=True))))
    return shifts, None if left.has(u) or any(t.has(u) for t in shifts) else left
