"""Small models of what was kept of draws, of which others were thrown away."""

import gibbsppl as gp
from rewrites.examples import GROUPS, masked

TIMES = [1.0, 2.0, 0.5, 3.0, 0.2, 1.5]
SEEN = [1, 2, 1, 4, 1, 3]


def rate_of(**settings):
    return gp.Gamma("rate", 2, rate=1, **settings)


def counts_that_are_not_zero():
    with gp.Model() as m:
        gp.Poisson("y", rate_of(), lower=1, dims="i", observed=SEEN)
    return m


def counts_of_groups_that_are_not_zero():
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUPS, of="g", dims="i")
        gp.Poisson("y", rate_of(dims="g")[group], lower=1, dims="i", observed=masked(SEEN, 2))
    return m


def counts_of_two_rates_that_are_not_zero():
    with gp.Model() as m:
        other = gp.Gamma("other", 3, rate=2)
        gp.Poisson("y", rate_of() * other, lower=1, dims="i", observed=SEEN)
    return m


def waiting_times_until_an_end():
    with gp.Model() as m:
        gp.Exponential("y", rate=rate_of(), upper=4, dims="i", observed=TIMES)
    return m


def waiting_times_of_one_shape():
    with gp.Model() as m:
        gp.Weibull("y", 2, rate=rate_of(), upper=4, dims="i", observed=TIMES)
    return m


def times_between_two_ends():
    """What is left of two tails is the nearer one, times a probability."""
    with gp.Model() as m:
        start = gp.Data("start", [0.1, 0.3, 0.0, 1.0, 0.1, 0.5], dims="i")
        end = gp.Data("end", [2.0, 4.0, 3.0, 3.5, 1.0, 9.0], dims="i")
        gp.Exponential("y", rate=rate_of(), lower=start, upper=end, dims="i", observed=TIMES)
    return m


def incomes_up_to_a_limit():
    with gp.Model() as m:
        gp.Pareto("y", rate_of(), 0.1, upper=5, dims="i", observed=TIMES)
    return m


def failures_between_two_limits():
    with gp.Model() as m:
        p = gp.Beta("p", 2, 2)
        gp.Geometric("y", p, lower=1, upper=4, dims="i", observed=SEEN)
    return m


def successes_of_those_that_have_any():
    with gp.Model() as m:
        gp.Binomial("y", 5, gp.Beta("p", 2, 2), lower=1, dims="i", observed=SEEN)
    return m


def spread_counts_that_are_not_zero():
    with gp.Model() as m:
        gp.NegativeBinomial("y", rate_of(), 0.4, lower=1, dims="i", observed=SEEN)
    return m


def a_product_that_is_missed():
    with gp.Model() as m:
        p, q = gp.Beta("p", 2, 2), gp.Beta("q", 3, 2)
        gp.Potential("missed", -gp.Uniform("c", 0, 2) * gp.log(1 - p * q))
    return m


def products_of_which_some_are_not_counted():
    """One is counted as a half, one not at all."""
    with gp.Model(coords={"g": 3}) as m:
        p, q = gp.Beta("p", 2, 2), gp.Beta("q", 3, 2, dims="g")
        times = gp.Data("times", [2.0, 0.0, 0.5], dims="g")
        gp.Potential("missed", -times * gp.log(1 - p * q))
    return m


def rates_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        rate = rate_of(dims="t")
        y = gp.Array("y", dims="t", observed=[1, 2, 1, 3])
        y[0] = gp.Poisson(1.5)
        y[1:3] = gp.Poisson(rate + rate.lag("t", 1), lower=1)
        y[3:] = gp.Poisson(rate, lower=1)
    return m


REJECTED = (
    counts_that_are_not_zero,
    counts_of_groups_that_are_not_zero,
    counts_of_two_rates_that_are_not_zero,
    waiting_times_until_an_end,
    waiting_times_of_one_shape,
    times_between_two_ends,
    incomes_up_to_a_limit,
    failures_between_two_limits,
    successes_of_those_that_have_any,
    spread_counts_that_are_not_zero,
    a_product_that_is_missed,
    products_of_which_some_are_not_counted,
    rates_of_a_region,
)
