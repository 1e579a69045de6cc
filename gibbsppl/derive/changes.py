"""Monotone changes of variable, under which a conditional may be one of the table's families.

Comes in: what statistics suggest. Goes out: `Change` values. A standard deviation whose statistics
are ``log(x)`` and ``x**-2`` has the Gamma's statistics as ``u = x**-2``; the log of the Jacobian is
one more term of the log density.

>>> from gibbsppl.algebra.expressions import Array
>>> x, u = (Array(n, positive=True)[()] for n in ("x", "u"))
>>> precision = Change(POWER, sp.Integer(-2))
>>> precision.forward(x), precision.backward(u), precision.log_jacobian(u)
(x**(-2), 1/sqrt(u), -3*log(u)/2)
>>> precision.image(Support("real", sp.Integer(0), sp.Integer(100)))
(1/10000, oo)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr, Leaf, dims_of, mentions
from gibbsppl.algebra.functions import Expit, LogGammaP, Softplus
from gibbsppl.algebra.pickling import looked_up
from gibbsppl.algebra.supports import POSITIVE, REAL, UNIT, Support
from gibbsppl.model.evaluation import evaluate

Map = Callable[[Expr, Expr], Expr]


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """One row of the table of transforms: ``u = forward(x, c)`` with a constant ``c``.

    ``log_jacobian(u, c)`` is ``log |dx/du|`` up to a constant. ``ends`` bound the image of the
    domain, the smaller one first; ``forward`` has no value (``1/0``, ``log(0)``) at some of them.
    ``is_exponential``: images of what is far from 0 are too large or too small for numbers.
    """

    name: str
    forward: Map
    backward: Map
    log_jacobian: Map
    domain: Support
    ends: tuple[Expr, Expr]
    increasing: Callable[[Expr], bool] = lambda _c: True
    is_exponential: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        return looked_up("gibbsppl.derive.changes.TRANSFORMS", self)


POWER = Transform(
    name="power",
    forward=lambda x, c: x**c,
    backward=lambda u, c: u ** (1 / c),
    log_jacobian=lambda u, c: (1 / c - 1) * sp.log(u),
    domain=POSITIVE,
    ends=(sp.S.Zero, sp.oo),
    increasing=lambda c: bool(c.is_positive),
)
EXPONENTIAL = Transform(
    name="exp",
    forward=lambda x, c: sp.exp(c * x),
    backward=lambda u, c: sp.log(u) / c,
    log_jacobian=lambda u, _: -sp.log(u),
    domain=REAL,
    ends=(sp.S.Zero, sp.oo),
    increasing=lambda c: bool(c.is_positive),
    is_exponential=True,
)
LOG = Transform(
    name="log",
    forward=lambda x, _: sp.log(x),
    backward=lambda u, _: sp.exp(u),
    log_jacobian=lambda u, _: u,
    domain=POSITIVE,
    ends=(-sp.oo, sp.oo),
)
COMPLEMENT = Transform(
    name="complement",
    forward=lambda x, c: c - x,
    backward=lambda u, c: c - u,
    log_jacobian=lambda _u, _c: sp.S.Zero,
    domain=REAL,
    ends=(-sp.oo, sp.oo),
    increasing=lambda _c: False,
)
ODDS = Transform(
    name="odds",
    forward=lambda x, _: x / (1 - x),
    backward=lambda u, _: u / (1 + u),
    log_jacobian=lambda u, _: -2 * sp.log(1 + u),
    domain=UNIT,
    ends=(sp.S.Zero, sp.oo),
)
PROBABILITY = Transform(
    name="probability",
    forward=lambda x, _: x / (1 + x),
    backward=lambda u, _: u / (1 - u),
    log_jacobian=lambda u, _: -2 * sp.log(1 - u),
    domain=POSITIVE,
    ends=(sp.S.Zero, sp.S.One),
)
LOGIT = Transform(
    name="logit",
    forward=lambda x, _: sp.log(x / (1 - x)),
    backward=lambda u, _: Expit(u),
    log_jacobian=lambda u, _: u - 2 * Softplus(u),
    domain=UNIT,
    ends=(-sp.oo, sp.oo),
)
SCALE = Transform(
    name="scale",
    forward=lambda x, c: x / c,
    backward=lambda u, c: c * u,
    log_jacobian=lambda _u, _c: sp.S.Zero,
    domain=REAL,
    ends=(-sp.oo, sp.oo),
    increasing=lambda c: bool(c.is_positive),
)
SHIFT = Transform(
    name="shift",
    forward=lambda x, c: x - c,
    backward=lambda u, c: u + c,
    log_jacobian=lambda _u, _c: sp.S.Zero,
    domain=REAL,
    ends=(-sp.oo, sp.oo),
)

# In the order in which they are tried on statistics.
TRANSFORMS = (POWER, EXPONENTIAL, LOG, SCALE, COMPLEMENT, SHIFT, ODDS, PROBABILITY, LOGIT)
# Those under which a log density can be concave that is not so as it is.
STRAIGHTENING = (LOG, LOGIT)


@dataclass(frozen=True, slots=True)
class Change:
    """A transform with its constant; it can be undone, and maps the support to an interval.

    ``origin`` is taken off first: an exponential far from it is no number.
    """

    transform: Transform
    constant: Expr = sp.S.Zero
    origin: Expr = sp.S.Zero

    def forward(self, x: Expr) -> Expr:
        """The new variable as a function of the old one."""
        return self.transform.forward(x - self.origin, self.constant)

    def backward(self, u: Expr) -> Expr:
        """The old variable as a function of the new one."""
        return self.origin + self.transform.backward(u, self.constant)

    def log_jacobian(self, u: Expr) -> Expr:
        """``log |dx/du|`` up to a constant."""
        return self.transform.log_jacobian(u, self.constant)

    @property
    def given(self) -> dict[str, Expr]:
        """The constant and the origin by name, without numbers."""
        found = {"constant": self.constant, "origin": self.origin}
        return {name: value for name, value in found.items() if not value.is_number}

    @property
    def is_increasing(self) -> bool:
        """Whether larger values have larger images."""
        return self.transform.increasing(self.constant)

    def at(self, bound: Expr) -> Expr:
        """The image of a bound; at an end of the domain, the limit of the transform."""
        domain, ends = self.transform.domain, self.transform.ends
        at_lower, at_upper = ends if self.is_increasing else ends[::-1]
        if bound == domain.lower:
            return at_lower
        return at_upper if bound == domain.upper else self.forward(sp.sympify(bound))

    def image(self, support: Support) -> tuple[Expr, Expr]:
        """The bounds of the new variable."""
        bounds = self.at(support.lower), self.at(support.upper)
        return bounds if self.is_increasing else bounds[::-1]

    def mapped(self, support: Support) -> Support:
        """The support of the new variable."""
        lower, upper = self.image(support)
        return replace(support, lower=lower, upper=upper)

    def applies_to(self, support: Support) -> bool:
        """Whether all values of the support are in the transform's domain."""
        domain = self.transform.domain
        if domain == REAL:
            return True
        lower, upper = sp.sympify(support.lower), sp.sympify(support.upper)
        above = bool(lower.is_nonnegative)
        below = domain.upper == sp.oo or bool((domain.upper - upper).is_nonnegative)
        return support.kind == "real" and above and below

    def variable(self, leaf: Leaf, support: Support, taken: Iterable[str]) -> Leaf:
        """The new variable as a leaf with the old one's indices and a name of its own."""
        name, names = f"u_{leaf.array.name}", set(taken)
        while name in names:
            name += "_"
        mapped = self.mapped(support)
        kind = {"positive": True} if sp.sympify(mapped.lower).is_nonnegative else {"real": True}
        return Array(name, mapped.numbers, **kind)[leaf.indices]


def proposed(forms: Iterable[Expr], place: Leaf) -> Iterator[Change]:
    """The changes that statistics suggest, each once, in the order of the table.

    What differs along a sum that a statistic holds is no constant of an element.

    >>> from gibbsppl.algebra.expressions import Dim, Over
    >>> x, c, k = Array("x")[()], Array("c", positive=True), Dim("k")
    >>> [list(proposed([form], x)) != [] for form in (sp.exp(c[0] * x), Over(sp.exp(c[k] * x), k))]
    [True, False]
    """
    suggested = (c for form in forms for c in _suggested(form, place))
    found = {c: None for c in suggested if dims_of(c.constant + c.origin) <= dims_of(place)}
    order = {t: n for n, t in enumerate(TRANSFORMS)}
    return iter(sorted(found, key=lambda c: (order[c.transform], _size(c))))


def _size(change: Change) -> tuple[bool, float, bool, str]:
    """Small constants first; a precision before a variance, but ``exp(x)`` before ``exp(-x)``."""
    constant = change.constant
    last = bool(constant.is_negative) == (change.transform is EXPONENTIAL)
    size = abs(float(evaluate(constant, (), {}, {}))) if constant.is_number else 0.0
    return not constant.is_number, size, last, str(constant)


def _suggested(form: Expr, place: Leaf) -> Iterator[Change]:
    array = place.array.name
    if not mentions(form, (array,)):
        return
    if isinstance(form, sp.Pow) and form.base == place and _is_constant(form.exp, array):
        yield Change(POWER, form.exp)
        yield Change(POWER, -form.exp)
    elif form == place:
        yield Change(POWER, sp.Integer(-1))
        return
    if isinstance(form, sp.exp) or is_log_of_exponential(form):
        for inner, transform in ((place, EXPONENTIAL), (sp.log(place), POWER)):
            rate = form.args[-1] / inner
            if _is_constant(rate, array):
                yield Change(transform, rate)
                yield Change(transform, -rate)
    if isinstance(form, sp.log):
        if form.args[0] == place:
            yield Change(LOG)
        elif form.args[0].is_Add:
            yield from _of_a_difference(form.args[0], place)
    for part in form.args:
        if part != place:
            yield from _suggested(part, place)


def is_log_of_exponential(expr: Expr) -> bool:
    """Whether an expression is ``log(1 + exp(t))`` or ``log(1 - exp(-t))``."""
    return isinstance(expr, Softplus) or (isinstance(expr, LogGammaP) and expr.args[0] == 1)


def _of_a_difference(of: Expr, place: Leaf) -> Iterator[Change]:
    """What ``log(c - x)`` and ``log(c + x)`` suggest."""
    above, below = of + place, of - place
    if _is_constant(above, place.array.name):
        yield Change(COMPLEMENT, above)
        yield from (Change(ODDS),) if above == 1 else (Change(SCALE, above),)
    elif not mentions(below, (place.array.name,)):
        yield Change(SHIFT, -below)
        yield from (Change(PROBABILITY),) if below == 1 else ()
        yield from (Change(SCALE, below),) if below != 1 and _has_a_sign(below) else ()


def _is_constant(expr: Expr, array: str) -> bool:
    """Whether an expression can be the constant of a change: free of the variable, with a sign."""
    return _has_a_sign(expr) and not mentions(expr, (array,))


def _has_a_sign(expr: Expr) -> bool:
    """Whether an expression is known to be positive, or to be negative, and is not infinite."""
    return bool(expr.is_positive or expr.is_negative) and expr.is_finite is not False
