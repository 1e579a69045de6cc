"""The rows whose values are whole numbers.

A probability that is an ``Expit`` or a ``Phi`` has its logs in a form that stays finite where the
probability rounds to 0 or 1.
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

import sympy as sp
from sympy import Add, exp, log, loggamma

from gibbsppl.expressions import Expit, Expr, LogPhi, Over, Phi, Softplus, substitute
from gibbsppl.families.rows import Family, Natural, Parameter
from gibbsppl.supports import NATURAL, POSITIVE, UNIT, Support


def _complement(p: Expr) -> Expr:
    """``1 - p``; of ``a / (a + b)`` it is ``b / (a + b)``, which cancels nothing."""
    numerator, denominator = sp.fraction(p)
    rest = denominator - numerator
    is_part = len(Add.make_args(rest)) < len(Add.make_args(denominator))
    return rest / denominator if is_part else 1 - p


def _logs(p: Expr) -> tuple[Expr, Expr]:
    """The logs of a probability and of its complement."""
    match p:
        case Expit():
            return -Softplus(-p.args[0]), -Softplus(p.args[0])
        case Phi():
            return LogPhi(p.args[0]), LogPhi(-p.args[0])
        case _:
            return log(p), log(_complement(p))


def _log_trials(x: Expr, n: Expr, p: Expr) -> Expr:
    """The log probability of one sequence of ``n`` trials with ``x`` successes."""
    if isinstance(p, Expit):
        return x * p.args[0] - n * Softplus(p.args[0])
    log_p, log_rest = _logs(p)
    return x * log_p + (n - x) * log_rest


BERNOULLI = Family(
    name="Bernoulli",
    parameters={"p": Parameter(UNIT)},
    spellings={
        ("p",): lambda p: {"p": p},
        ("logit_p",): lambda logit_p: {"p": Expit(logit_p)},
    },
    spelled={"logit_p": Parameter()},
    support=lambda event, **_: Support("integer", sp.S.Zero, sp.S.One),
    log_density=lambda x, event, p: _log_trials(x, sp.S.One, p),
    simulate="simulate_bernoulli",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="bernoulli",
        log_partition=Softplus,
    ),
    mean=lambda event, p: p,
    variance=lambda event, p: p * (1 - p),
)


def _log_choose(n: Expr, x: Expr) -> Expr:
    return loggamma(n + 1) - loggamma(x + 1) - loggamma(n - x + 1)


BINOMIAL = Family(
    name="Binomial",
    parameters={"n": Parameter(NATURAL), "p": Parameter(UNIT)},
    spellings={
        ("n", "p"): lambda n, p: {"n": n, "p": p},
        ("n", "logit_p"): lambda n, logit_p: {"n": n, "p": Expit(logit_p)},
    },
    spelled={"logit_p": Parameter()},
    support=lambda event, n, p: Support("integer", sp.S.Zero, n),
    log_density=lambda x, event, n, p: _log_choose(n, x) + _log_trials(x, n, p),
    simulate="simulate_binomial",
    natural=Natural(
        statistics=lambda x, event, n: (x,),
        draw="binomial",
        log_partition=lambda eta_1, n: n * Softplus(eta_1),
        log_base=lambda x, event, n: _log_choose(n, x),
        known=("n",),
    ),
    mean=lambda event, n, p: n * p,
    variance=lambda event, n, p: n * p * (1 - p),
)

POISSON = Family(
    name="Poisson",
    parameters={"rate": Parameter(POSITIVE)},
    support=lambda event, **_: NATURAL,
    log_density=lambda x, event, rate: x * log(rate) - rate - loggamma(x + 1),
    simulate="simulate_poisson",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="poisson",
        log_partition=exp,
        log_base=lambda x, event: -loggamma(x + 1),
    ),
    mean=lambda event, rate: rate,
    variance=lambda event, rate: rate,
)


def _log_waiting(x: Expr, n: Expr, p: Expr) -> Expr:
    """The log probability of one sequence of ``n`` successes and ``x`` failures."""
    log_p, log_rest = _logs(p)
    return n * log_p + x * log_rest


GEOMETRIC = Family(  # the number of failures before the first success: 0, 1, 2, ...
    name="Geometric",
    parameters={"p": Parameter(UNIT)},
    support=lambda event, **_: NATURAL,
    log_density=lambda x, event, p: _log_waiting(x, sp.S.One, p),
    simulate="simulate_geometric",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="geometric",
        domain=lambda eta_1: (-eta_1,),
        log_partition=lambda eta_1: -log(1 - exp(eta_1)),
    ),
    mean=lambda event, p: (1 - p) / p,
    variance=lambda event, p: (1 - p) / p**2,
)


def _log_rising(n: Expr, x: Expr) -> Expr:
    return loggamma(n + x) - loggamma(n) - loggamma(x + 1)


NEGATIVE_BINOMIAL = Family(  # the number of failures before n successes of probability p
    name="NegativeBinomial",
    parameters={"n": Parameter(POSITIVE), "p": Parameter(UNIT)},
    spellings={
        ("n", "p"): lambda n, p: {"n": n, "p": p},
        ("mu", "alpha"): lambda mu, alpha: {"n": alpha, "p": alpha / (alpha + mu)},
    },
    spelled={"mu": Parameter(POSITIVE), "alpha": Parameter(POSITIVE)},
    support=lambda event, **_: NATURAL,
    log_density=lambda x, event, n, p: _log_rising(n, x) + _log_waiting(x, n, p),
    simulate="simulate_negative_binomial",
    natural=Natural(
        statistics=lambda x, event, n: (x,),
        draw="negative_binomial",
        domain=lambda eta_1, n: (-eta_1,),
        log_partition=lambda eta_1, n: -n * log(1 - exp(eta_1)),
        log_base=lambda x, event, n: _log_rising(n, x),
        known=("n",),
    ),
    mean=lambda event, n, p: n * (1 - p) / p,
    variance=lambda event, n, p: n * (1 - p) / p**2,
)

CATEGORICAL = Family(
    name="Categorical",
    parameters={"p": Parameter(UNIT, event=1)},
    support=lambda event, **_: Support("integer", sp.S.Zero, Over(sp.S.One, event[0]) - 1),
    log_density=lambda x, event, p: log(substitute(p, {event[0]: x})),
    simulate="simulate_categorical",
)

DISCRETE_UNIFORM = Family(
    name="DiscreteUniform",
    parameters={"lower": Parameter(), "upper": Parameter()},
    support=lambda event, lower, upper: Support("integer", lower, upper),
    log_density=lambda x, event, lower, upper: -log(upper - lower + 1),
    simulate="simulate_discrete_uniform",
    natural=Natural(
        statistics=lambda x, event, lower, upper: (),
        draw="discrete_uniform",
        domain=lambda lower, upper: (upper - lower + 1,),
        log_partition=lambda lower, upper: log(upper - lower + 1),
        known=("lower", "upper"),
    ),
    mean=lambda event, lower, upper: (lower + upper) / 2,
    variance=lambda event, lower, upper: ((upper - lower + 1) ** 2 - 1) / 12,
)
