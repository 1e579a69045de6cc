"""Small models in which a rule applies to a term that a distribution, or several of them, make."""

import numpy as np

import gibbsppl as gp
from rewrites.examples import GROUPS, line


def counts_with_structural_zeros():
    """The zeros are ``log(1 - psi + psi exp(-rate))``, of which ``1 - psi`` is one part."""
    with gp.Model() as m:
        psi, rate = gp.Beta("psi", 2, 2), gp.Gamma("rate", 2, rate=1)
        gp.ZeroInflatedPoisson("y", psi, rate, dims="i", observed=[0, 3, 0, 0, 2, 5])
    return m


def a_count_that_is_thinned():
    """What is there is seen with a probability that is known up to a factor."""
    with gp.Model(coords={"site": 4}) as m:
        rate, p = gp.Gamma("rate", 2, rate=1), gp.Beta("p", 2, 2)
        c = gp.Data("c", [0.9, 0.4, 0.7, 0.2], dims="site")
        there = gp.Poisson("N", rate, dims="site")
        gp.Binomial("y", there, c * p, dims="site", observed=[2, 0, 3, 1])
    return m


def a_latent_covariance():
    with gp.Model(coords={"i": 4, "j": 2}) as m:
        scale = gp.Data("scale", [1.0, 2.0], dims="j")
        cov = gp.HuangWand("cov", 3, scale=scale, dims=("j", "j'"))
        y = [[0.3, -1.2], [2.5, 0.7], [-0.4, 1.0], [0.2, 0.5]]
        gp.MvNormal("y", 0, cov=cov, dims=("i", "j"), event="j", observed=y)
    return m


def ordered_grades():
    with gp.Model(coords={"grade": 3, "between": 2}) as m:
        cut = gp.Normal("cut", 0, tau=0.5, dims="between")
        gp.Constraint("order", cut.lag("between", 1) < cut)
        lower = gp.Index("lower", [0, 0, 1], of="between", dims="grade")
        upper = gp.Index("upper", [0, 1, 1], of="between", dims="grade")
        below = gp.Data("below", [40, 0, 0], dims="grade")
        above = gp.Data("above", [0, 0, 40], dims="grade")
        mean = line()
        p = gp.Phi(cut[upper] + above - mean) - gp.Phi(cut[lower] - below - mean)
        gp.Categorical("y", p, dims="i", event="grade", observed=[1, 0, 2, 1, 1, 0])
    return m


def admixture():
    with gp.Model(coords={"d": 3, "k": 2, "w": 3}) as m:
        d = gp.Index("doc", GROUPS, of="d", dims="i")
        theta = gp.Dirichlet("theta", 0.7, dims=("d", "k"), event="k")
        phi = gp.Dirichlet("phi", 0.4, dims=("k", "w"), event="w")
        p = (theta[d] * phi).sum("k")
        gp.Categorical("y", p, dims="i", event="w", observed=[0, 1, 0, 2, 2, 1])
    return m


def factors_with_a_core():
    """L. R. Tucker (1966): each term has a weight, and the sum is over three dims."""
    with gp.Model(coords={"a": 3, "b": 2, "c": 2, "k": 2, "l": 2, "m": 2}) as m:
        core = gp.Gamma("core", 2, rate=1, dims=("k", "l", "m"))
        pairs = (("a", "k"), ("b", "l"), ("c", "m"))
        u, v, w = (gp.Gamma(f"f_{d}", 2, rate=2, dims=(d, k)) for d, k in pairs)
        rate = (core * u * v * w).sum("k").sum("l").sum("m")
        y = np.arange(12).reshape(3, 2, 2) % 5
        gp.Poisson("y", rate, dims=("a", "b", "c"), observed=y)
    return m


def parallel_factors():
    with gp.Model(coords={"a": 3, "b": 2, "c": 2, "k": 2}) as m:
        u, v, w = (gp.Gamma(f"f_{d}", 2, rate=2, dims=(d, "k")) for d in "abc")
        y = np.arange(12).reshape(3, 2, 2) % 5
        gp.Poisson("y", (u * v * w).sum("k"), dims=("a", "b", "c"), observed=y)
    return m


def orders_of_arrival():
    """R. D. Luce (1959), R. L. Plackett (1975): who is next, among those who are left."""
    orders = np.array([[0, 1, 2], [1, 0, 2], [0, 2, 1], [0, 1, 2]])
    left = np.array([np.isin(range(3), o[p + 1 :]) for o in orders for p in range(2)])
    with gp.Model(coords={"horse": 3}) as m:
        skill = gp.Gamma("skill", 2, rate=1, dims="horse")
        next_ = gp.Index("next", orders[:, :2].ravel(), of="horse", dims="choice")
        others = (skill * gp.Data("left", left, dims=("choice", "horse"))).sum("horse")
        gp.Potential("chosen", gp.log(skill[next_]) - gp.log(skill[next_] + others))
    return m


SUMS = (
    counts_with_structural_zeros,
    a_count_that_is_thinned,
    admixture,
    parallel_factors,
)
POWERS = (a_latent_covariance, orders_of_arrival)
INTERVALS = (ordered_grades,)
