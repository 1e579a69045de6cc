"""Small models in which a rule applies to a term that a distribution, or several of them, make."""

import numpy as np

import gibbsppl as gp
from rewrites.examples import COVARIATES, GROUPS, line


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


def choices_among_those_who_are_there():
    """Who is there is data of 0 and 1: of no choice nobody."""
    there = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 1], [1, 0, 1]])
    with gp.Model(coords={"horse": 3}) as m:
        skill = gp.Gamma("skill", 2, rate=1, dims="horse")
        chosen = gp.Index("first", [0, 2, 1, 0], of="horse", dims="choice")
        total = (skill * gp.Data("there", there, dims=("choice", "horse"))).sum("horse")
        gp.Potential("chosen", gp.log(skill[chosen]) - gp.log(total))
    return m


def choices_of_which_some_are_not_counted():
    """Of the second there is nobody, and it is counted 0 times."""
    there = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 1]])
    with gp.Model(coords={"horse": 3}) as m:
        skill = gp.Gamma("skill", 2, rate=1, dims="horse")
        times = gp.Data("times", [2.0, 0.0, 1.0, 3.0], dims="choice")
        total = (skill * gp.Data("there", there, dims=("choice", "horse"))).sum("horse")
        gp.Potential("chosen", -times * gp.log(total))
    return m


def sticks(n):
    """S. W. Linderman, M. J. Johnson and R. P. Adams (2015): each answer, or one further on."""
    x = gp.Data("x", COVARIATES[:n], dims=("i", "j"))
    b = gp.Normal("b", 0, tau=1, dims=("j", "step"))
    return gp.stick_breaking(gp.expit(x @ b), "step", into="answer")


def answers_one_after_the_other():
    with gp.Model(coords={"step": 2, "answer": 3}) as m:
        gp.Categorical("y", sticks(6), dims="i", event="answer", observed=[1, 0, 2, 1, 1, 0])
    return m


def tables_of_answers_one_after_the_other():
    """Of the second nothing was asked."""
    asked, table = [3, 0, 4, 5], [[1, 1, 1], [0, 0, 0], [0, 0, 4], [1, 2, 2]]
    with gp.Model(coords={"step": 2, "answer": 3}) as m:
        n = gp.Data("n", asked, dims="i")
        gp.Multinomial("y", n, sticks(4), dims=("i", "answer"), event="answer", observed=table)
    return m


SUMS = (
    counts_with_structural_zeros,
    a_count_that_is_thinned,
    admixture,
    parallel_factors,
)
POWERS = (
    a_latent_covariance,
    orders_of_arrival,
    choices_among_those_who_are_there,
    choices_of_which_some_are_not_counted,
)
INTERVALS = (ordered_grades,)
LOGITS = (answers_one_after_the_other, tables_of_answers_one_after_the_other)
