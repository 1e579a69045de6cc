"""Small models with powers of sums, distances, and ratios of gamma functions."""

import numpy as np

import gibbsppl as gp
from rewrites.examples import COUNTS, GROUPS, MEASURED, line, masked

# ---- powers of sums --------------------------------------------------------------------------


def robust_regression():
    with gp.Model() as m:
        tau = gp.Gamma("tau", 2, rate=2)
        gp.StudentT("y", nu=4, mu=line(), tau=tau, dims="i", observed=MEASURED)
    return m


def robust_regression_with_gaps():
    with gp.Model() as m:
        tau = gp.Gamma("tau", 2, rate=2)
        gp.StudentT("y", nu=4, mu=line(), tau=tau, dims="i", observed=masked(MEASURED, 1, 4))
    return m


def a_single_power():
    with gp.Model() as m:
        mu, tau = gp.Normal("mu", 0, tau=1), gp.Gamma("tau", 2, rate=2)
        gp.StudentT("y", nu=5, mu=mu, tau=tau, observed=2.0)
    return m


def horseshoe():
    with gp.Model(coords={"j": 6}) as m:
        overall, local = gp.HalfCauchy("overall", 1), gp.HalfCauchy("local", 1, dims="j")
        b = gp.Normal("b", 0, sigma=overall * local, dims="j")
        gp.Normal("y", b, tau=1, dims="j", observed=MEASURED)
    return m


def a_single_half_t():
    with gp.Model() as m:
        sd = gp.HalfStudentT("sd", 4, 2)
        gp.Normal("y", 0, sigma=sd, dims="i", observed=MEASURED)
    return m


def ratios_of_precisions():
    with gp.Model(coords={"g": 3}) as m:
        scale = gp.Gamma("scale", 2, rate=1)
        w = gp.Gamma("w", 2, rate=1, dims="g")
        group = gp.Index("group", GROUPS, of="g", dims="i")
        gp.Potential("odds", -3 * gp.log(scale + w), dims="g")
        gp.Normal("y", 0, tau=w[group], dims="i", observed=MEASURED)
    return m


def degrees_of_freedom():
    with gp.Model(coords={"g": 3}) as m:
        nu, mu = gp.Gamma("nu", 4, rate=1), gp.Normal("mu", 0, tau=1, dims="g")
        group = gp.Index("group", GROUPS, of="g", dims="i")
        gp.StudentT("y", nu=nu, mu=mu[group], sigma=1.5, dims="i", observed=MEASURED)
    return m


def comparisons_of_pairs():
    with gp.Model(coords={"player": 3}) as m:
        skill = gp.Gamma("skill", 2, rate=1, dims="player")
        first = gp.Index("first", [0, 1, 2, 0, 1], of="player", dims="game")
        second = gp.Index("second", [1, 2, 0, 2, 0], of="player", dims="game")
        games = gp.Data("games", [3.0, 5.0, 4.0, 2.0, 3.0], dims="game")
        p = skill[first] / (skill[first] + skill[second])
        gp.Binomial("won", games, p, dims="game", observed=[1, 5, 2, 0, 3])
    return m


def a_walk_with_jumps():
    with gp.Model(coords={"t": 4}) as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:3] = gp.StudentT(nu=3, mu=x.lag("t", 1), tau=2)
        x[3:] = gp.Normal(x.lag("t", 1), tau=1)
    return m


def a_potential_of_sums():
    with gp.Model(coords={"i": 3, "k": 2}) as m:
        a, c = gp.Gamma("a", 2, rate=1, dims=("i", "k")), gp.Beta("c", 3, 1)
        gp.Potential("share", -c * gp.log(a.sum("k")))
    return m


def sums_of_powers():
    with gp.Model(coords={"i": 3, "j": 2, "k": 2}) as m:
        a, b = gp.Gamma("a", 2, rate=1, dims=("i", "k")), gp.Gamma("b", 2, rate=1, dims=("j", "k"))
        gp.Potential("all", -(0.7 * gp.log((a * b).sum("k"))).sum("j"))
    return m


# ---- distances -------------------------------------------------------------------------------


def lasso():
    with gp.Model() as m:
        tau, penalty = gp.Gamma("tau", 2, rate=2), gp.Gamma("penalty", 2, rate=1)
        x = gp.Data("x", np.ones((6, 2)) + np.eye(6, 2), dims=("i", "j"))
        b = gp.Laplace("b", 0, rate=gp.sqrt(tau * penalty), dims="j")
        gp.Normal("y", x @ b, tau=tau, dims="i", observed=MEASURED)
    return m


def a_single_distance():
    with gp.Model() as m:
        mu, rate = gp.Normal("mu", 0, tau=1), gp.Gamma("rate", 2, rate=1)
        gp.Laplace("y", mu, rate=rate, observed=2.0)
    return m


def medians_of_groups():
    with gp.Model(coords={"g": 3}) as m:
        mu, rate = gp.Normal("mu", 0, tau=1, dims="g"), gp.Gamma("rate", 2, rate=1, dims="g")
        group = gp.Index("group", GROUPS, of="g", dims="i")
        gp.Laplace("y", mu[group], rate=rate[group], dims="i", observed=MEASURED)
    return m


def medians_with_gaps():
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Laplace("y", line(), rate=rate, dims="i", observed=masked(MEASURED, 2, 5))
    return m


def total_variation():
    with gp.Model(coords={"t": 5}) as m:
        x, rate = gp.Normal("x", 0, tau=1, dims="t"), gp.Gamma("rate", 2, rate=1)
        gp.Potential("jumps", 1 * gp.log(rate) - rate * gp.abs(x - x.lag("t", 1)))
    return m


def jumps_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:3] = gp.Laplace(x.lag("t", 1), rate=rate)
        x[3:] = gp.Normal(x.lag("t", 1), tau=1)
    return m


def sums_of_distances():
    """The dim that is summed over is, in another role, that of the factor."""
    with gp.Model(coords={"i": 3, "j": 2}) as m:
        x, y = gp.Normal("x", 0, tau=1, dims="i"), gp.Normal("y", 0, tau=1, dims="j")
        rate = gp.Gamma("rate", 2, rate=1, dims="i")
        gp.Potential("all", -rate * gp.abs(x - y).sum("j"))
    return m


def a_sum_over_its_own_dim():
    with gp.Model(coords={"i": 3}) as m:
        x, rate = gp.Normal("x", 0, tau=1, dims="i"), gp.Gamma("rate", 2, rate=1, dims="i")
        centre = gp.Normal("centre", 0, tau=1)
        gp.Potential("all", -rate * gp.abs(x - centre).sum("i"))
    return m


# ---- ratios of gamma functions ---------------------------------------------------------------


def scattered_counts():
    with gp.Model(coords={"d": 3, "w": 4}) as m:
        alpha, p = gp.Gamma("alpha", 2, rate=1, dims="d"), gp.Beta("p", 2, 2)
        gp.NegativeBinomial("y", alpha, p, dims=("d", "w"), observed=COUNTS)
    return m


def scattered_counts_with_gaps():
    with gp.Model(coords={"d": 3, "w": 4}) as m:
        alpha, p = gp.Gamma("alpha", 2, rate=1, dims="d"), gp.Beta("p", 2, 2)
        gp.NegativeBinomial("y", alpha, p, dims=("d", "w"), observed=masked(COUNTS, 0, 6))
    return m


def a_single_scattered_count():
    with gp.Model() as m:
        alpha, p = gp.Gamma("alpha", 2, rate=1), gp.Beta("p", 2, 2)
        gp.NegativeBinomial("y", alpha, p, observed=5)
    return m


def scattered_counts_of_groups():
    with gp.Model(coords={"g": 3}) as m:
        alpha = gp.Gamma("alpha", 2, rate=1, dims="g")
        group = gp.Index("group", GROUPS, of="g", dims="i")
        gp.NegativeBinomial("y", alpha[group], 0.4, dims="i", observed=[0, 3, 1, 0, 2, 6])
    return m


def scattered_counts_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        alpha = gp.Gamma("alpha", 2, rate=1, dims="t")
        y = gp.Array("y", dims="t", observed=[2, 3, 1, 0])
        y[0] = gp.Poisson(1.5)
        y[1:3] = gp.NegativeBinomial(alpha + alpha.lag("t", 1), 0.4)
        y[3:] = gp.Poisson(1.5)
    return m


def urns():
    """The counts of a Dirichlet-multinomial: ratios of both kinds, sums inside, empty rows."""
    with gp.Model(coords={"d": 4, "k": 3}) as m:
        counts = np.array([[0, 3, 1], [4, 0, 2], [0, 0, 0], [1, 1, 5]])
        n, a = gp.Data("n", counts, dims=("d", "k")), gp.Gamma("a", 2, rate=1, dims="k")
        ratios = (gp.loggamma(a + n) - gp.loggamma(a)).sum("k")
        total = gp.Data("total", counts.sum(axis=1), dims="d")
        gp.Potential("urn", ratios + gp.loggamma(a.sum("k")) - gp.loggamma(a.sum("k") + total))
    return m


def number_of_clusters():
    with gp.Model() as m:
        alpha, n = gp.Gamma("alpha", 2, rate=1), gp.Data("n", 20.0)
        gp.Potential("seats", 4 * gp.log(alpha) + gp.loggamma(alpha) - gp.loggamma(alpha + n))
    return m


def clusters_of_groups():
    with gp.Model(coords={"g": 3}) as m:
        alpha = gp.Gamma("alpha", 4, rate=1, dims="g")
        group = gp.Index("group", GROUPS, of="g", dims="i")
        n = gp.Data("n", [3.0, 0.0, 4.0, 7.0, 0.0, 5.0], dims="i")
        gp.Potential("seats", gp.loggamma(alpha[group]) - gp.loggamma(alpha[group] + n))
    return m


def beta_functions():
    with gp.Model(coords={"i": 3}) as m:
        a, b = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 6, rate=2, dims="i")
        gp.Potential("norm", gp.loggamma(a + 1) - gp.loggamma(a + 1 + b + 1))
    return m


def ratios_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        a = gp.Gamma("a", 4, rate=1, dims="t")
        gp.Potential("norm", gp.loggamma(a) - gp.loggamma(a + a.lag("t", 1) + 3))
    return m


FRACTIONS = (number_of_clusters, clusters_of_groups, urns, beta_functions, ratios_of_a_region)
TABLES = (
    scattered_counts,
    scattered_counts_with_gaps,
    a_single_scattered_count,
    scattered_counts_of_groups,
    scattered_counts_of_a_region,
    urns,
)
DISTANCES = (
    lasso,
    a_single_distance,
    medians_of_groups,
    medians_with_gaps,
    total_variation,
    jumps_of_a_region,
    sums_of_distances,
    a_sum_over_its_own_dim,
)
POWERS = (
    robust_regression,
    robust_regression_with_gaps,
    a_single_power,
    degrees_of_freedom,
    comparisons_of_pairs,
    a_walk_with_jumps,
    a_potential_of_sums,
    sums_of_powers,
)
RATIOS = (horseshoe, a_single_half_t, ratios_of_precisions)
