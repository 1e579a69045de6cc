"""The rows of counts with more zeros than their distribution has.

With probability ``psi`` a value is from the distribution, else it is 0: a structural zero.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp
from sympy import exp, log

from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.functions import Equals, LogGammaP, Where
from gibbsppl.algebra.supports import UNIT
from gibbsppl.families.discrete import (
    BINOMIAL,
    NEGATIVE_BINOMIAL,
    POISSON,
    failure,
    from_zero,
    logs,
)
from gibbsppl.families.rows import Family, Parameter

Spelling = Callable[..., Mapping[str, Expr]]


def _log_density(base: Family, x: Expr, psi: Expr, parameters: Mapping[str, Expr]) -> Expr:
    """A zero is from either source, any other count from the distribution."""
    log_psi, _ = logs(psi)
    log_zero = base.log_density(sp.S.Zero, (), **parameters)
    # (SymPy makes a power of two known numbers exactly, of as many digits as the exponent)
    is_power = log_zero.is_number and not log_zero.is_Rational
    zero = number(float(exp(log_zero.evalf()))) if is_power else exp(log_zero)
    zeros = log(failure(psi) + psi * zero)
    return Where(Equals(x, sp.S.Zero), zeros, log_psi + base.log_density(x, (), **parameters))


def _log_above(base: Family, x: Expr, psi: Expr, parameters: Mapping[str, Expr]) -> Expr:
    """The log of P(X > x), for x >= 0: no structural zero is above."""
    assert base.log_sf is not None
    return logs(psi)[0] + base.log_sf(x, **parameters)


def _mean(base: Family, parameters: Mapping[str, Expr]) -> Expr:
    assert base.mean is not None
    return base.mean((), **parameters)


def _variance(base: Family, psi: Expr, parameters: Mapping[str, Expr]) -> Expr:
    """``psi`` times the variance, and the variance between the two sources."""
    assert base.variance is not None
    between = (1 - psi) * _mean(base, parameters) ** 2
    return psi * (base.variance((), **parameters) + between)


def _spelling(canonical: Spelling) -> Spelling:
    """A spelling of the distribution with ``psi`` passed on."""
    return lambda psi, **written: {"psi": psi, **canonical(**written)}


def _zero_inflated(base: Family, simulate: str) -> Family:
    """The row of a distribution of counts, made that of the same with structural zeros."""
    return Family(
        name=f"ZeroInflated{base.name}",
        about=f"From {base.name} with probability ``psi``, else 0: a structural zero.",
        parameters={"psi": Parameter(UNIT), **base.parameters},
        spellings={("psi", *names): _spelling(s) for names, s in base.spellings.items()},
        spelled=base.spelled,
        support=lambda event, psi, **parameters: base.support(event, **parameters),
        log_density=lambda x, event, psi, **parameters: _log_density(base, x, psi, parameters),
        simulate=simulate,
        mean=lambda event, psi, **parameters: psi * _mean(base, parameters),
        variance=lambda event, psi, **parameters: _variance(base, psi, parameters),
        log_cdf=lambda x, psi, **parameters: from_zero(
            x, lambda x: LogGammaP(sp.S.One, -_log_above(base, x, psi, parameters)), -sp.oo
        ),
        log_sf=lambda x, psi, **parameters: from_zero(
            x, lambda x: _log_above(base, x, psi, parameters), sp.S.Zero
        ),
    )


ZERO_INFLATED_POISSON = _zero_inflated(POISSON, "simulate_zero_inflated_poisson")
ZERO_INFLATED_BINOMIAL = _zero_inflated(BINOMIAL, "simulate_zero_inflated_binomial")
ZERO_INFLATED_NEGATIVE_BINOMIAL = _zero_inflated(
    NEGATIVE_BINOMIAL, "simulate_zero_inflated_negative_binomial"
)
