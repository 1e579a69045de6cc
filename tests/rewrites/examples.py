"""Small models, each with terms that a rule takes apart, in every way in which terms can be there.

Every function returns a `gp.Model` with data of its own; ``EXAMPLES`` has them by rule.
"""

import numpy as np

import gibbsppl as gp

COVARIATES = np.array([[0.3, -1.1], [1.2, 0.4], [-0.7, 0.9], [0.1, 0.2], [-1.5, 0.6], [0.8, -0.3]])
ANSWERS = [0, 1, 1, 0, 1, 0]
MEASURED = [0.3, -1.2, 2.5, 0.7, -0.4, 9.0]
COUNTS = [[0, 3, 1, 0], [2, 0, 0, 4], [1, 1, 0, 5]]
FEW = [[0, 0, 1, 0], [2, 0, 0, 0], [0, 0, 0, 3]]
GROUPS = [0, 2, 1, 1, 0, 2]


def masked(values, *gaps):
    """Observed values with gaps at these positions of the flat array."""
    mask = np.zeros(np.shape(values), bool)
    mask.flat[list(gaps)] = True
    return np.ma.masked_array(values, mask)


def line():
    """A linear predictor with a sum inside."""
    x = gp.Data("x", COVARIATES, dims=("i", "j"))
    return x @ gp.Normal("b", 0, tau=1, dims="j")


# ---- log(1 + exp(x)), log Phi(x) -------------------------------------------------------------


def logistic_regression():
    with gp.Model() as m:
        gp.Bernoulli("y", gp.expit(line()), dims="i", observed=ANSWERS)
    return m


def a_single_logit():
    with gp.Model() as m:
        gp.Binomial("y", 9, gp.expit(gp.Normal("b", 1, tau=1)), observed=4)
    return m


def logits_of_groups():
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUPS, of="g", dims="i")
        a = gp.Normal("a", 0, tau=2, dims="g")
        gp.Bernoulli("y", gp.expit(a[group] + line()), dims="i", observed=ANSWERS)
    return m


def logits_with_gaps():
    with gp.Model() as m:
        gp.Bernoulli("y", gp.expit(line()), dims="i", observed=masked(ANSWERS, 1, 3))
    return m


def trials_of_which_some_are_none():
    with gp.Model() as m:
        trials = gp.Data("trials", [3.0, 0.0, 1.0, 0.0, 7.0, 2.0], dims="i")
        gp.Binomial("y", trials, gp.expit(line()), dims="i", observed=[1, 0, 1, 0, 5, 0])
    return m


def trials_that_are_unknown():
    with gp.Model() as m:
        alpha = gp.Gamma("alpha", 3, rate=1)
        counts = [0, 3, 1, 0, 2, 6]
        gp.NegativeBinomial("y", alpha, gp.expit(-line()), dims="i", observed=counts)
    return m


def trials_beside_a_dim_of_that_name():
    """The name of the dim of a table is taken, by a dim of another size that is summed over."""
    with gp.Model(coords={"y_rows": 2}) as m:
        trials = gp.Data("trials", [0.0, 3.0, 2.0], dims="i")
        x = gp.Data("x", [[0.2, -1.0], [1.0, 0.5], [-0.6, 0.3]], dims=("i", "y_rows"))
        b = gp.Normal("b", 0, tau=1, dims="y_rows")
        gp.Binomial("y", trials, gp.expit(x @ b), dims="i", observed=[0, 1, 2])
    return m


def logits_of_a_region():
    with gp.Model(coords={"t": 5}) as m:
        a = gp.Normal("a", 0, tau=1, dims="t")
        y = gp.Array("y", dims="t", observed=[1, 0, 1, 1, 1])
        y[0] = gp.Bernoulli(0.3)
        y[1:3] = gp.Bernoulli(gp.expit(a - a.lag("t", 1)))
        y[3:] = gp.Bernoulli(gp.expit(2 * a))
    return m


def a_potential_of_logits():
    with gp.Model(coords={"t": 4}) as m:
        a, c = gp.Normal("a", 0, tau=1, dims="t"), gp.Gamma("c", 4, rate=2)
        gp.Potential("order", c * gp.log(gp.expit(a - a.lag("t", 1))))
    return m


def probit_regression():
    with gp.Model() as m:
        gp.Bernoulli("y", gp.Phi(line()), dims="i", observed=ANSWERS)
    return m


def a_single_probit():
    with gp.Model() as m:
        gp.Bernoulli("y", gp.Phi(gp.Normal("b", 1, tau=1)), observed=0)
    return m


def probits_of_groups():
    with gp.Model(coords={"g": 3}) as m:
        group = gp.Index("group", GROUPS, of="g", dims="i")
        a = gp.Normal("a", 0, tau=2, dims="g")
        gp.Bernoulli("y", gp.Phi(a[group] + line()), dims="i", observed=ANSWERS)
    return m


def probits_with_gaps():
    with gp.Model() as m:
        gp.Bernoulli("y", gp.Phi(line()), dims="i", observed=masked(ANSWERS, 0, 4))
    return m


def probits_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        a = gp.Normal("a", 0, tau=1, dims="t")
        y = gp.Array("y", dims="t", observed=[1, 0, 1, 1])
        y[0] = gp.Bernoulli(0.3)
        y[1:] = gp.Bernoulli(gp.Phi(a - a.lag("t", 1)))
    return m


def probits_of_trials():
    with gp.Model() as m:
        trials = gp.Data("trials", [3.0, 0.0, 1.0, 0.0, 7.0, 2.0], dims="i")
        gp.Binomial("y", trials, gp.Phi(line()), dims="i", observed=[1, 0, 1, 0, 5, 0])
    return m


def a_potential_of_probits():
    with gp.Model(coords={"t": 4}) as m:
        a = gp.Normal("a", 0, tau=1, dims="t")
        gp.Potential("order", gp.log(gp.Phi(a - a.lag("t", 1))))
    return m


def a_sum_of_probits():
    with gp.Model(coords={"t": 3, "u": 2}) as m:
        a, c = gp.Normal("a", 0, tau=1, dims="t"), gp.Normal("c", 0, tau=1, dims="u")
        gp.Potential("all", gp.log(gp.Phi(a - 2 * c)).sum("u"))
    return m


# ---- log(Phi(a) - Phi(b)), log(a + exp(x)) ---------------------------------------------------


def grades():
    with gp.Model(coords={"i": 6, "cut": 2}) as m:
        first = gp.Normal("first", -1, tau=4)
        width = gp.Gamma("width", 4, rate=2)
        eta, y = line(), gp.Data("y", [1, 0, 2, 1, 1, 0], dims="i")
        low, high = gp.Phi(first - eta), gp.Phi(first + width - eta)
        middle = gp.log(high - low)
        gp.Potential("grade", gp.equals(y, 0) * gp.log(low) + gp.equals(y, 1) * middle)
    return m


def grades_without_counts():
    with gp.Model(coords={"t": 4}) as m:
        a = gp.Normal("a", 0, tau=1, dims="t")
        between = gp.Phi(a - a.lag("t", 1) + 1.5) - gp.Phi(a - a.lag("t", 1) - 0.5)
        gp.Potential("near", gp.log(between))
    return m


def readings_to_whole_numbers():
    """Of each the same interval is counted several times; one never."""
    with gp.Model() as m:
        times, eta = gp.Data("times", [2.0, 0.0, 1.0, 3.0, 1.0, 1.0], dims="i"), line()
        gp.Potential("round", times * gp.log(gp.Phi(2 - eta) - gp.Phi(-1 - eta)))
    return m


def counts_by_their_mean():
    with gp.Model() as m:
        alpha, counts = gp.Gamma("alpha", 3, rate=1), [0, 3, 1, 0, 2, 6]
        gp.NegativeBinomial("y", mu=gp.exp(line()), alpha=alpha, dims="i", observed=counts)
    return m


# ---- log of a sum, log(1 - exp(-x)) ----------------------------------------------------------


def weights(*dims):
    return [gp.Gamma(f"a_{d}", 2, rate=1, dims=(d, "k")) for d in dims]


def poisson_factorisation():
    with gp.Model(coords={"d": 3, "w": 4, "k": 2}) as m:
        a, b = weights("d", "w")
        gp.Poisson("y", (a * b).sum("k"), dims=("d", "w"), observed=COUNTS)
    return m


def poisson_factorisation_of_few():
    with gp.Model(coords={"d": 3, "w": 4, "k": 2}) as m:
        a, b = weights("d", "w")
        gp.Poisson("y", (a * b).sum("k"), dims=("d", "w"), observed=FEW)
    return m


def poisson_factorisation_with_gaps():
    with gp.Model(coords={"d": 3, "w": 4, "k": 2}) as m:
        a, b = weights("d", "w")
        gp.Poisson("y", (a * b).sum("k"), dims=("d", "w"), observed=masked(COUNTS, 1, 6))
    return m


def poisson_table():
    with gp.Model(coords={"d": 3, "w": 3, "k": 2}) as m:
        a, b = weights("d", "w")
        row = gp.Index("row", GROUPS, of="d", dims="n")
        column = gp.Index("column", GROUPS[::-1], of="w", dims="n")
        gp.Poisson("y", (a[row] * b[column]).sum("k"), dims="n", observed=[0, 3, 1, 0, 2, 5])
    return m


def a_background():
    with gp.Model() as m:
        signal, noise = gp.Gamma("signal", 2, rate=1), gp.Gamma("noise", 3, rate=1)
        gp.Poisson("y", signal + 2 * noise + 0.5, observed=4)
    return m


def backgrounds_of_two_lengths():
    """Two sums: one has more terms than the other."""
    with gp.Model() as m:
        a, b, c = (gp.Gamma(n, 2, rate=1) for n in ("a", "b", "c"))
        gp.Poisson("y", a + b, dims="i", observed=[1, 2, 0])
        gp.Poisson("z", a + b + c, dims="j", observed=[3, 1])
    return m


def a_background_that_is_nowhere():
    """A term of a sum that is zero at some positions."""
    with gp.Model() as m:
        a, b = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 1, rate=1)
        x = gp.Data("x", [0.0, 1.0, 2.0, 0.0], dims="i")
        gp.Poisson("y", a + b * x, dims="i", observed=[1, 2, 0, 3])
    return m


def loadings_of_which_some_are_zero():
    with gp.Model(coords={"k": 2}) as m:
        a = gp.Gamma("a", 2, rate=1, dims="k")
        x = gp.Data("x", [[0.0, 1.0], [1.0, 2.0], [1.0, 0.0]], dims=("i", "k"))
        gp.Poisson("y", (a * x).sum("k"), dims="i", observed=[1, 2, 3])
    return m


def a_background_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=1, dims="t")
        y = gp.Array("y", dims="t", observed=[2, 3, 1, 0])
        y[0] = gp.Poisson(1.5)
        y[1:3] = gp.Poisson(rate + rate.lag("t", 1))
        y[3:] = gp.Poisson(rate)
    return m


def sums_of_sums():
    with gp.Model(coords={"i": 3, "j": 2, "k": 2}) as m:
        a, b = gp.Gamma("a", 2, rate=1, dims=("i", "k")), gp.Gamma("b", 2, rate=1, dims=("j", "k"))
        gp.Potential("all", (2 * gp.log((a * b).sum("k"))).sum("j"))
    return m


def a_mixture_without_labels():
    with gp.Model(coords={"i": 4, "k": 3}) as m:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        mu = gp.Normal("mu", 0, tau=1, dims="k")
        y = gp.Data("y", [-1.0, 0.2, 0.4, 3.0], dims="i")
        gp.Potential("mixture", gp.log((w * gp.exp(-((y - mu) ** 2) / 2)).sum("k")))
    return m


def noisy_or():
    with gp.Model(coords={"i": 6, "k": 2}) as m:
        a = gp.Gamma("a", 2, rate=1, dims=("i", "k"))
        gp.Bernoulli("y", 1 - gp.exp(-a.sum("k")), dims="i", observed=ANSWERS)
    return m


def noisy_or_with_gaps():
    with gp.Model(coords={"i": 6, "k": 2}) as m:
        a = gp.Gamma("a", 2, rate=1, dims=("i", "k"))
        gp.Bernoulli("y", 1 - gp.exp(-a.sum("k")), dims="i", observed=masked(ANSWERS, 1, 5))
    return m


def links_of_which_some_are_unknown():
    """Pairs that were not asked are drawn: without their causes, which they have if they are 1."""
    with gp.Model(coords={"node": 3, "k": 2}) as m:
        a = gp.Gamma("a", 2, rate=1, dims=("node", "k"))
        i = gp.Index("first", [0, 0, 1], of="node", dims="pair")
        j = gp.Index("second", [1, 2, 2], of="node", dims="pair")
        rate = (a[i] * a[j]).sum("k")
        gp.Bernoulli("link", 1 - gp.exp(-rate), dims="pair", observed=masked([1, 0, 0], 2))
    return m


def links_of_a_network():
    with gp.Model(coords={"node": 3, "k": 2}) as m:
        a = gp.Gamma("a", 2, rate=1, dims=("node", "k"))
        i = gp.Index("first", [0, 0, 1], of="node", dims="pair")
        j = gp.Index("second", [1, 2, 2], of="node", dims="pair")
        rate = (a[i] * a[j]).sum("k")
        gp.Bernoulli("link", 1 - gp.exp(-rate), dims="pair", observed=[1, 0, 1])
    return m


def an_event_for_certain():
    with gp.Model(coords={"i": 3}) as m:
        a = gp.Gamma("a", 2, rate=1, dims="i")
        gp.Potential("seen", gp.log(1 - gp.exp(-2 * a)))
    return m


def a_single_event():
    with gp.Model() as m:
        a, b = gp.Gamma("a", 2, rate=1), gp.Gamma("b", 2, rate=1)
        gp.Potential("seen", gp.log(1 - gp.exp(-a - b)))
    return m


def events_of_a_region():
    with gp.Model(coords={"t": 4}) as m:
        a = gp.Gamma("a", 2, rate=1, dims="t")
        y = gp.Array("y", dims="t", observed=[1, 1, 0, 1])
        y[0] = gp.Bernoulli(0.4)
        y[1:3] = gp.Bernoulli(1 - gp.exp(-a * a.lag("t", 1)))
        y[3:] = gp.Bernoulli(0.4)
    return m


LOGITS = (
    logistic_regression,
    a_single_logit,
    logits_of_groups,
    logits_with_gaps,
    trials_of_which_some_are_none,
    trials_that_are_unknown,
    counts_by_their_mean,
    trials_beside_a_dim_of_that_name,
    logits_of_a_region,
    a_potential_of_logits,
)
PROBITS = (
    probit_regression,
    a_single_probit,
    probits_of_groups,
    probits_with_gaps,
    probits_of_a_region,
    probits_of_trials,
    a_potential_of_probits,
    a_sum_of_probits,
)
INTERVALS = (grades, grades_without_counts, readings_to_whole_numbers)
SUMS = (
    poisson_factorisation,
    poisson_factorisation_of_few,
    poisson_factorisation_with_gaps,
    poisson_table,
    a_background,
    backgrounds_of_two_lengths,
    a_background_that_is_nowhere,
    loadings_of_which_some_are_zero,
    a_background_of_a_region,
    sums_of_sums,
    a_mixture_without_labels,
)
EVENTS = (
    noisy_or,
    noisy_or_with_gaps,
    links_of_a_network,
    links_of_which_some_are_unknown,
    an_event_for_certain,
    a_single_event,
    events_of_a_region,
)
