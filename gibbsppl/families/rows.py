"""What a row of the table of distributions holds: facts only. Algorithms read rows, never names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from sympy import Rational

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr, InverseEntry, LogDet, substitute
from gibbsppl.algebra.functions import Below, LogBetaI, LogGammaP, Where
from gibbsppl.algebra.pickling import looked_up
from gibbsppl.algebra.supports import REAL, Support

Formula = Callable[..., Expr]
Formulas = Callable[..., tuple[Expr, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Natural:
    """What makes a row an exponential family, given the parameters in ``known``.

    ``log_density == log_base + sum(eta_j * statistic_j) - log_partition(eta)``, where for a row
    with event dims statistic and eta are summed over all entries. What a statistic can carry is
    not in ``log_base``: the ``-log(x)`` of a Gamma is in the coefficient of ``log(x)``.

    ``statistics(x, event, **known)`` is a tuple of expressions of the target leaf ``x``; for a row
    with event dims each is one *entry* (``log(x[k])``, ``x[k] * x[k']``) and stands for all. A row
    without statistics (the uniform ones) is drawn from its known bounds.
    ``draw`` names a function of ``gibbsppl.runtime``: ``draw(rng, *eta, size=shape, **known)``.
    ``domain(*eta, **known)`` is a tuple of expressions, all positive where the density is proper
    (matrix rows: empty; their draws find it out).
    ``log_partition(*eta, **known)``: of the rows whose integral has a closed form; those with event
    dims are also passed ``event`` by keyword, and eta is an entry along them (along ``event[0]``
    and its primed dim, for a statistic of two entries).
    ``log_base(x, event, **known)`` is free of unknown parameters.
    ``known`` names the parameters that must be known.
    ``truncated`` names the draw between two bounds, ``truncated(rng, *eta, lower, upper, size)``;
    ``over_relaxed`` names the over-relaxed draw, of rows that are drawn by location and scale as a
    normal is: ``over_relaxed(rng, *eta, size, x, alpha)``.
    ``within`` is the widest support on which it makes sense, if that is not the row's own.
    ``parameters(*eta, event)`` says the row's parameters as functions of eta, by name, where
    solving the equations of the log density for them has no plain result.
    ``mean``, ``variance``: ``(*eta, event, **known)``, of an entry where values have event dims,
    and of scalars where they keep digits that those of the row's parameters would lose. ``mode``:
    of rows with event dims, an entry of the value of the largest density, called alike.
    """

    statistics: Formulas
    draw: str
    domain: Formulas = lambda *_eta, **_known: ()
    log_partition: Formula | None = None
    log_base: Formula = lambda _x, _event, **_known: sp.S.Zero
    known: tuple[str, ...] = ()
    truncated: str | None = None
    within: Support | None = None
    parameters: Callable[..., Mapping[str, Expr]] | None = None
    mean: Formula | None = None
    variance: Formula | None = None
    over_relaxed: str | None = None
    mode: Formula | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A canonical parameter: the support of its values and how many event dims it has.

    ``above`` gives what its values are above, where that depends on the size of the event.
    """

    support: Support = REAL
    event: int = 0
    above: Callable[[tuple[Dim, ...]], Expr] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LocationScale:
    """What makes a row a location-scale family: ``location + scale * eta`` has its distribution.

    ``location`` names the parameter that is the location (none: a scale family). ``scale`` gives
    the scale as a function of the row's parameters, by name. ``eta`` has the row's distribution
    with location 0, with the parameters in ``unit`` in place of those that the scale is made of,
    and with all others as they are.
    """

    scale: Formula
    unit: Mapping[str, Expr]
    location: str | None = None

    def in_units(self, of: Expr, arguments: Mapping[str, Expr]) -> dict[str, Expr]:
        """The arguments that the scale is made of, once values are in units of a scale ``of``.

        (A scale is a power of one parameter.)
        """
        (name,) = self.unit
        _, power = self.scale(**{name: sp.Dummy(positive=True)}).as_base_exp()
        return {name: arguments[name] * of ** (-1 / power)}


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """One distribution.

    ``about``: what it is, in one sentence. ``example``: parameters that fit together, where values
    chosen one by one need not.
    ``parameters``: the canonical parameters by name, in order.
    ``spellings``: for each set of names that a user may write (in order), the canonical parameters
    as expressions of them: ``{("mu", "sigma"): lambda mu, sigma: {"mu": mu, "tau": sigma**-2}}``.
    The canonical set itself is always one of them, written down or not. Rows with event dims also
    pass ``event``, by keyword. ``spelled`` gives the support of every non-canonical spelling's
    parameters, and their event dims.
    ``defaults``: values of parameters that may be left out.
    ``event``: the number of event dims of a value (0 scalar, 1 vector, 2 matrix).
    ``support(event, **parameters)``: where the density is positive.
    ``log_density(x, event, **parameters)``: of one element (one event), all constants included, the
    event dims summed with ``Over``. ``x`` is the target leaf, ``event`` the event dims: those of
    the value, or (a label) the dim that the probabilities have.
    ``simulate``: names a function of ``gibbsppl.runtime``:
    ``simulate(rng, *parameters, size=shape)`` with the canonical parameters as arrays that
    broadcast, event axes last, against ``shape``.
    ``mean``, ``variance``: ``(event, **parameters)``, scalar rows, where a closed form exists.
    ``log_cdf``, ``log_sf``: ``(x, **parameters)``, the rows that can be truncated or censored.
    ``location_scale``: of the rows that are location-scale or scale families.
    """

    name: str
    parameters: Mapping[str, Parameter]
    support: Callable[..., Support]
    log_density: Formula
    simulate: str
    spellings: Mapping[tuple[str, ...], Callable[..., Mapping[str, Expr]]] = field(
        default_factory=dict
    )
    spelled: Mapping[str, Parameter] = field(default_factory=dict)
    defaults: Mapping[str, Expr] = field(default_factory=dict)
    natural: Natural | None = None
    event: int = 0
    mean: Formula | None = None
    variance: Formula | None = None
    log_cdf: Formula | None = None
    log_sf: Formula | None = None
    location_scale: LocationScale | None = None
    about: str = ""
    example: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)

    @property
    def written(self) -> Mapping[str, Parameter]:
        """All parameters that a user may write, canonical or not."""
        return {**self.parameters, **self.spelled}

    def __reduce__(self) -> tuple[Any, ...]:
        return looked_up("gibbsppl.families.FAMILIES", self)


def inverse(matrix: Expr, dim: Dim) -> Expr:
    """Entry (dim, dim') of the inverse of a matrix over (dim, dim'); an inverse is undone.

    >>> from gibbsppl.algebra.expressions import Array
    >>> k = Dim("k")
    >>> S = Array("S")[k, primed(k)]
    >>> inverse(S, k)
    inverse(S[k, k'], k, k', k, k')
    >>> inverse(inverse(S, k), k)
    S[k, k']
    """
    if (body := _inverted(matrix, dim)) is not None:
        return body
    return InverseEntry(matrix, dim, primed(dim), dim, primed(dim))


def inverse_diagonal(matrix: Expr, dim: Dim) -> Expr:
    """Entry (dim, dim) of the inverse of a matrix over (dim, dim').

    >>> from gibbsppl.algebra.expressions import Array
    >>> k = Dim("k")
    >>> S = Array("S")[k, primed(k)]
    >>> inverse_diagonal(S, k), inverse_diagonal(inverse(S, k), k)
    (inverse(S[k, k'], k, k', k, k), S[k, k])
    """
    return substitute(inverse(matrix, dim), {primed(dim): dim})


def log_det(matrix: Expr, dim: Dim) -> Expr:
    """The log determinant of a matrix over (dim, dim'); that of an inverse is minus the other.

    >>> from gibbsppl.algebra.expressions import Array
    >>> k = Dim("k")
    >>> log_det(inverse(Array("S")[k, primed(k)], k), k)
    -logdet(S[k, k'], k, k')
    """
    if (body := _inverted(matrix, dim)) is not None:
        return -LogDet(body, dim, primed(dim))
    return LogDet(matrix, dim, primed(dim))


def _inverted(matrix: Expr, dim: Dim) -> Expr | None:
    """The matrix of which ``matrix`` is the inverse, if written as an inverse."""
    if not isinstance(matrix, InverseEntry) or matrix.args[3:] != (dim, primed(dim)):
        return None
    first, second = matrix.bound
    return substitute(matrix.body, {first: dim, second: primed(dim)})


def at_primed(x: Expr, dim: Dim) -> Expr:
    """The expression at the second position of a square matrix: ``x[k']`` from ``x[k]``."""
    return substitute(x, {dim: primed(dim)})


def finite_where(excess: Expr, numerator: Expr, otherwise: Expr = sp.oo) -> Expr:
    """``numerator / excess`` where the excess is positive, else ``otherwise``: never a 0 division.

    The form of moments that exist above a threshold (``nu > 2``) only.
    """
    exists = Below(sp.S.Zero, excess)
    return Where(exists, numerator / Where(exists, excess, sp.S.One), otherwise)


def from_the_smaller(log_p: Expr, log_q: Expr) -> Expr:
    """The log of a probability ``p = 1 - q``, with all its digits: from the smaller of the two.

    ``LogGammaP(1, -log_q)`` is ``log(1 - q)``.
    """
    return Where(Below(log_q, log_p), LogGammaP(sp.S.One, -log_q), log_p)


def log_beta_tails(a: Expr, b: Expr, share: Expr, rest: Expr) -> tuple[Expr, Expr]:
    """The logs of P(X <= share) and P(X > share) of a Beta(a, b), ``rest`` being ``1 - share``.

    Of two that are each computed the smaller has its digits: the other one is written as 1 less it.
    """
    if rest == 1 - share:
        return LogBetaI(a, b, share), LogBetaI(b, a, rest)
    is_low = Below(share, rest)
    return (
        Where(is_low, LogBetaI(a, b, share), LogBetaI(a, b, 1 - rest)),
        Where(is_low, LogBetaI(b, a, 1 - share), LogBetaI(b, a, rest)),
    )


def log_student_tails(z: Expr, nu: Expr) -> tuple[Expr, Expr]:
    """The logs of P(|T| <= z) and P(|T| > z) of a Student-t."""
    total = nu + z**2
    return log_beta_tails(Rational(1, 2), nu / 2, z**2 / total, nu / total)
