"""The rows whose values are whole numbers.

A probability that is an ``Expit`` or a ``Phi`` has its logs in a form that stays finite where the
probability rounds to 0 or 1. ``log_cdf`` is of P(X <= x), ``log_sf`` of P(X > x).
"""

# Every formula of a row is called with the same arguments, needed or not.
# ruff: noqa: ARG005

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from sympy import Add, exp, log

from gibbsppl.algebra.expressions import Expr, Over, substitute
from gibbsppl.algebra.functions import (
    Below,
    Expit,
    LogGammaP,
    LogGammaQ,
    LogStirling,
    Maximum,
    Minimum,
    Softplus,
    Where,
    complement_of,
    log_of,
)
from gibbsppl.algebra.log_gamma import log_choose, loggamma
from gibbsppl.algebra.masses import log_of_difference
from gibbsppl.algebra.supports import NATURAL, POSITIVE, UNIT, Support
from gibbsppl.families.rows import (
    Family,
    Natural,
    Parameter,
    finite_where,
    from_the_smaller,
    log_beta_tails,
)


def _complement(p: Expr) -> Expr:
    """``1 - p``; of ``a / (a + b)`` it is ``b / (a + b)``, which cancels nothing."""
    numerator, denominator = sp.fraction(p)
    rest = denominator - numerator
    is_part = len(Add.make_args(rest)) < len(Add.make_args(denominator))
    return rest / denominator if is_part else 1 - p


def failure(p: Expr) -> Expr:
    """``1 - p``; of an ``Expit`` or a ``Phi`` it is that of the opposite argument."""
    return _complement(p) if (known := complement_of(p)) is None else known


def from_zero(x: Expr, log_p: Callable[[Expr], Expr], below: Expr) -> Expr:
    """``log_p`` at a count; ``below`` at what is less than 0, where it has no meaning."""
    if x.is_number:
        return below if x < 0 else log_p(x)
    return Where(Below(x, sp.S.Zero), below, log_p(Maximum(x, sp.S.Zero)))


def log_probability(p: Expr) -> Expr:
    """The log of a probability; of a difference from the tail in which both are small."""
    return log(p) if (found := log_of_difference(p)) is None else found


def logs(p: Expr) -> tuple[Expr, Expr]:
    """The logs of a probability and of its complement."""
    if isinstance(p, Where):
        chosen, (yes, no), (other_yes, other_no) = p.args[0], *map(logs, p.args[1:])
        return Where(chosen, yes, other_yes), Where(chosen, no, other_no)
    own, other = log_of(p), log_of(1 - p)
    if complement_of(p) is None or own is None or other is None:
        return log(p), log(_complement(p))
    return own, other


def _log_trials(x: Expr, n: Expr, p: Expr) -> Expr:
    """The log probability of one sequence of ``n`` trials with ``x`` successes."""
    if isinstance(p, Expit):
        return x * p.args[0] - n * Softplus(p.args[0])
    log_p, log_rest = logs(p)
    return x * log_p + (n - x) * log_rest


BERNOULLI = Family(
    name="Bernoulli",
    about="The Bernoulli distribution: 1 with probability ``p``, else 0.",
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
        mean=lambda eta_1, event: Expit(eta_1),
        variance=lambda eta_1, event: Expit(eta_1) * Expit(-eta_1),
    ),
    mean=lambda event, p: p,
    variance=lambda event, p: p * (1 - p),
    log_cdf=lambda x, p: from_zero(
        x, lambda x: Where(Below(x, sp.S.One), logs(p)[1], sp.S.Zero), -sp.oo
    ),
    log_sf=lambda x, p: from_zero(
        x, lambda x: Where(Below(x, sp.S.One), logs(p)[0], -sp.oo), sp.S.Zero
    ),
)


def _log_binomial_tails(x: Expr, n: Expr, p: Expr) -> tuple[Expr, Expr]:
    """The logs of P(X <= x) and P(X > x), for x >= 0."""
    if x == 0:
        none = n * _log_failure(p)
        return none, LogGammaP(sp.S.One, -none)
    inside = Below(x, n)
    left = Where(inside, n - x, sp.S.One)
    above, below = log_beta_tails(x + 1, left, p, failure(p))
    return Where(inside, below, sp.S.Zero), Where(inside, above, -sp.oo)


BINOMIAL = Family(
    name="Binomial",
    about="The binomial distribution of the number of successes in ``n`` trials.",
    parameters={"n": Parameter(NATURAL), "p": Parameter(UNIT)},
    spellings={
        ("n", "p"): lambda n, p: {"n": n, "p": p},
        ("n", "logit_p"): lambda n, logit_p: {"n": n, "p": Expit(logit_p)},
    },
    spelled={"logit_p": Parameter()},
    support=lambda event, n, p: Support("integer", sp.S.Zero, n),
    log_density=lambda x, event, n, p: log_choose(n, x) + _log_trials(x, n, p),
    simulate="simulate_binomial",
    natural=Natural(
        statistics=lambda x, event, n: (x,),
        draw="binomial",
        log_partition=lambda eta_1, n: n * Softplus(eta_1),
        log_base=lambda x, event, n: log_choose(n, x),
        known=("n",),
        mean=lambda eta_1, event, n: n * Expit(eta_1),
        variance=lambda eta_1, event, n: n * Expit(eta_1) * Expit(-eta_1),
    ),
    mean=lambda event, n, p: n * p,
    variance=lambda event, n, p: n * p * (1 - p),
    log_cdf=lambda x, n, p: from_zero(x, lambda x: _log_binomial_tails(x, n, p)[0], -sp.oo),
    log_sf=lambda x, n, p: from_zero(x, lambda x: _log_binomial_tails(x, n, p)[1], sp.S.Zero),
)


def _log_beta(a: Expr, b: Expr) -> Expr:
    return loggamma(a) + loggamma(b) - loggamma(a + b)


def _beta_binomial_variance(n: Expr, alpha: Expr, beta: Expr) -> Expr:
    total = alpha + beta
    return n * alpha * beta * (total + n) / (total**2 * (total + 1))


BETA_BINOMIAL = Family(  # Binomial(n, p) where p is Beta(alpha, beta)
    name="BetaBinomial",
    about=(
        "The beta-binomial distribution: successes in ``n`` trials of a probability from "
        "Beta(alpha, beta)."
    ),
    parameters={
        "n": Parameter(NATURAL),
        "alpha": Parameter(POSITIVE),
        "beta": Parameter(POSITIVE),
    },
    support=lambda event, n, alpha, beta: Support("integer", sp.S.Zero, n),
    log_density=lambda x, event, n, alpha, beta: (
        log_choose(n, x) + _log_beta(x + alpha, n - x + beta) - _log_beta(alpha, beta)
    ),
    simulate="simulate_beta_binomial",
    mean=lambda event, n, alpha, beta: n * alpha / (alpha + beta),
    variance=lambda event, n, alpha, beta: _beta_binomial_variance(n, alpha, beta),
)

CHINESE_RESTAURANT_TABLE = Family(  # how many different values n draws of a Dirichlet process have
    name="ChineseRestaurantTable",
    about=(
        "The number of tables of ``n`` customers in a Chinese restaurant process of concentration "
        "``alpha``."
    ),
    parameters={"n": Parameter(NATURAL), "alpha": Parameter(POSITIVE)},
    support=lambda event, n, alpha: Support("integer", sp.S.Zero, n),
    log_density=lambda x, event, n, alpha: (
        loggamma(alpha) - loggamma(alpha + n) + LogStirling(n, x) + x * log(alpha)
    ),
    simulate="simulate_chinese_restaurant_table",
    natural=Natural(
        statistics=lambda x, event, n: (x,),
        draw="tables",
        log_partition=lambda eta_1, n: loggamma(exp(eta_1) + n) - loggamma(exp(eta_1)),
        log_base=lambda x, event, n: LogStirling(n, x),
        known=("n",),
    ),
)


def _log_hypergeometric(x: Expr, N: Expr, D: Expr, n: Expr) -> Expr:
    return log_choose(D, x) + log_choose(N - D, n - x) - log_choose(N, n)


def _hypergeometric_variance(N: Expr, D: Expr, n: Expr) -> Expr:
    numerator = n * D * (N - D) * (N - n)
    return finite_where(N - 1, numerator / N**2, sp.S.Zero)


HYPERGEOMETRIC = Family(  # how many of n items drawn are marked, where D of all N items are
    name="Hypergeometric",
    about=(
        "The hypergeometric distribution: marked items among ``n`` drawn without replacement from "
        "``N``, of which ``D`` are marked."
    ),
    example={"N": 20, "D": 5, "n": 8},
    parameters={"N": Parameter(NATURAL), "D": Parameter(NATURAL), "n": Parameter(NATURAL)},
    support=lambda event, N, D, n: Support(
        "integer", Maximum(sp.S.Zero, n + D - N), Minimum(n, D)
    ),
    log_density=lambda x, event, N, D, n: _log_hypergeometric(x, N, D, n),
    simulate="simulate_hypergeometric",
    mean=lambda event, N, D, n: finite_where(N, n * D, sp.S.Zero),
    variance=lambda event, N, D, n: _hypergeometric_variance(N, D, n),
)

POISSON = Family(
    name="Poisson",
    about="The Poisson distribution of a number of events.",
    parameters={"rate": Parameter(POSITIVE)},
    support=lambda event, **_: NATURAL,
    log_density=lambda x, event, rate: x * log(rate) - rate - loggamma(x + 1),
    simulate="simulate_poisson",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="poisson",
        log_partition=exp,
        log_base=lambda x, event: -loggamma(x + 1),
        truncated="truncated_poisson",
    ),
    mean=lambda event, rate: rate,
    variance=lambda event, rate: rate,
    log_cdf=lambda x, rate: from_zero(x, lambda x: LogGammaQ(x + 1, rate), -sp.oo),
    log_sf=lambda x, rate: from_zero(x, lambda x: LogGammaP(x + 1, rate), sp.S.Zero),
)


def _log_waiting(x: Expr, n: Expr, p: Expr) -> Expr:
    """The log probability of one sequence of ``n`` successes and ``x`` failures."""
    log_p, log_rest = logs(p)
    return n * log_p + x * log_rest


def _log_failure(p: Expr) -> Expr:
    """``log(1 - p)``, also where p is so small that ``1 - p`` is 1."""
    log_p, log_rest = logs(p)
    return LogGammaP(sp.S.One, -log_p) if log_rest == log(1 - p) else log_rest


def _odds(log_failure: Expr) -> Expr:
    """``q / (1 - q)`` of a probability q of failure, also where it rounds to 1."""
    return exp(log_failure - LogGammaP(sp.S.One, -log_failure))


GEOMETRIC = Family(  # the number of failures before the first success: 0, 1, 2, ...
    name="Geometric",
    about="The geometric distribution of the number of failures before the first success.",
    parameters={"p": Parameter(UNIT)},
    support=lambda event, **_: NATURAL,
    log_density=lambda x, event, p: _log_waiting(x, sp.S.One, p),
    simulate="simulate_geometric",
    natural=Natural(
        statistics=lambda x, event: (x,),
        draw="geometric",
        domain=lambda eta_1: (-eta_1,),
        log_partition=lambda eta_1: -log(1 - exp(eta_1)),
        mean=lambda eta_1, event: _odds(eta_1),
        variance=lambda eta_1, event: _odds(eta_1) * (1 + _odds(eta_1)),
    ),
    mean=lambda event, p: (1 - p) / p,
    variance=lambda event, p: (1 - p) / p**2,
    log_cdf=lambda x, p: from_zero(
        x, lambda x: LogGammaP(sp.S.One, -(x + 1) * _log_failure(p)), -sp.oo
    ),
    log_sf=lambda x, p: from_zero(x, lambda x: (x + 1) * _log_failure(p), sp.S.Zero),
)


def _log_rising(n: Expr, x: Expr) -> Expr:
    return loggamma(n + x) - loggamma(n) - loggamma(x + 1)


def _log_waiting_tails(x: Expr, n: Expr, p: Expr) -> tuple[Expr, Expr]:
    """The logs of P(X <= x) and P(X > x), for x >= 0."""
    if x == 0:
        none = n * logs(p)[0]
        return none, LogGammaP(sp.S.One, -none)
    return log_beta_tails(n, x + 1, p, failure(p))


NEGATIVE_BINOMIAL = Family(  # the number of failures before n successes of probability p
    name="NegativeBinomial",
    about=(
        "The negative binomial distribution: failures before the ``n``-th success; or by its mean "
        "``mu``, with the variance ``mu + mu**2/alpha``."
    ),
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
        mean=lambda eta_1, event, n: n * _odds(eta_1),
        variance=lambda eta_1, event, n: n * _odds(eta_1) * (1 + _odds(eta_1)),
    ),
    mean=lambda event, n, p: n * (1 - p) / p,
    variance=lambda event, n, p: n * (1 - p) / p**2,
    log_cdf=lambda x, n, p: from_zero(x, lambda x: _log_waiting_tails(x, n, p)[0], -sp.oo),
    log_sf=lambda x, n, p: from_zero(x, lambda x: _log_waiting_tails(x, n, p)[1], sp.S.Zero),
)

CATEGORICAL = Family(
    name="Categorical",
    about=(
        "The categorical distribution of a label: a position of the dim that the probabilities "
        "have."
    ),
    example={"p": (0.2, 0.3, 0.5)},
    parameters={"p": Parameter(UNIT, event=1)},
    support=lambda event, **_: Support("integer", sp.S.Zero, Over(sp.S.One, event[0]) - 1),
    log_density=lambda x, event, p: log_probability(substitute(p, {event[0]: x})),
    simulate="simulate_categorical",
)

DISCRETE_UNIFORM = Family(
    name="DiscreteUniform",
    about=(
        "The uniform distribution of the whole numbers from one bound to the other, both included."
    ),
    example={"lower": 1, "upper": 6},
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
    log_cdf=lambda x, lower, upper: from_the_smaller(
        log(x - lower + 1) - log(upper - lower + 1), log(upper - x) - log(upper - lower + 1)
    ),
    log_sf=lambda x, lower, upper: from_the_smaller(
        log(upper - x) - log(upper - lower + 1), log(x - lower + 1) - log(upper - lower + 1)
    ),
)
