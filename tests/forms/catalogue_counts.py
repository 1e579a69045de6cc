"""Unknown whole numbers, and bounds of what was seen."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit

import gibbsppl as gp
from forms.catalogue_row import A, Numbers, Row, Values
from forms.form import Form

RATE, PRIOR, SEEN = 5.5, 0.3, 0.6
FOUND = 3


def seen(x: Any) -> Any:
    """How many of all were seen."""
    return gp.Binomial("y", x, SEEN, observed=FOUND)


SPELLED: dict[str, Callable[[Any], Any]] = {
    "probability": seen,
    "logit": lambda x: gp.Binomial("y", x, logit_p=float(logit(SEEN)), observed=FOUND),
    "shifted": lambda x: gp.Binomial("y", 1 + (x - 1), SEEN, observed=FOUND),
}


def constants(*values: Any) -> Callable[[Values], Numbers]:
    """Parameters that depend on data alone."""
    return lambda _: values


ODDS = PRIOR * (1 - SEEN)
UNSEEN = (
    Row(
        "poisson_number_of_trials",
        lambda: gp.Poisson("x", rate=RATE),
        SPELLED,
        "Poisson of x - y",
        constants(RATE * (1 - SEEN)),
    ),
    Row(
        "binomial_number_of_trials",
        lambda: gp.Binomial("x", gp.Data("M", 9), PRIOR),
        SPELLED,
        "Binomial of x - y",
        constants(ODDS / (ODDS + 1 - PRIOR), 9 - FOUND),
    ),
    Row(
        "negative_binomial_number_of_trials",
        lambda: gp.NegativeBinomial("x", n=4, p=PRIOR),
        SPELLED,
        "NegativeBinomial of x - y",
        constants(PRIOR + SEEN * (1 - PRIOR), 4 + FOUND),
    ),
    Row(
        "negative_binomial_by_mean",
        lambda: gp.NegativeBinomial("x", mu=4 * (1 - PRIOR) / PRIOR, alpha=4),
        {"probability": seen},
        "NegativeBinomial of x - y",
        constants(PRIOR + SEEN * (1 - PRIOR), 4 + FOUND),
    ),
    Row(
        "geometric_number_of_trials",
        lambda: gp.Geometric("x", PRIOR),
        {"probability": seen},
        "NegativeBinomial of x - y",
        constants(PRIOR + SEEN * (1 - PRIOR), 1 + FOUND),
    ),
    Row(
        "marked_of_a_known_total",
        lambda: gp.Binomial("x", 20, PRIOR),
        {"sample": lambda x: gp.Hypergeometric("y", N=20, D=x, n=7, observed=FOUND)},
        "Binomial of x - y",
        constants(PRIOR, 20 - 7),
    ),
)

VALUES = np.array([0.3, 1.2, 0.8, 2.0, 0.1])




BOUNDS = (
    Row(
        "pareto_prior_of_a_bound",
        lambda: gp.Pareto("x", A, minimum=0.5),
        {"uniform": lambda x: gp.Uniform("y", 0, x, dims="i", observed=VALUES)},
        "truncated Pareto",
        lambda _: (A + 5, 2.0, np.inf),
    ),
    Row(
        "pareto_prior_above_all_values",
        lambda: gp.Pareto("x", A, minimum=4),
        {"uniform": lambda x: gp.Uniform("y", 0, x, dims="i", observed=VALUES)},
        "truncated Pareto",
        lambda _: (A + 5, 4.0, np.inf),
    ),
    Row(
        "pareto_prior_of_two_bounds",
        lambda: gp.Pareto("x", A, minimum=0.5),
        {"both": lambda x: gp.Uniform("y", -x, x, dims="i", observed=VALUES - 1)},
        "truncated Pareto",
        lambda _: (A + 5, 1.0, np.inf),
    ),
    Row(
        "uniform_prior_of_a_bound_above",
        lambda: gp.Uniform("x", 0, 6),
        {
            "uniform": lambda x: gp.Uniform("y", 0, x, dims="i", observed=VALUES),
            "scaled": lambda x: gp.Uniform("y", 0, 2 * x, dims="i", observed=2 * VALUES),
        },
        "truncated Pareto",
        lambda _: (5 - 1, 2.0, 6.0),
    ),
    Row(
        "gamma_prior_of_a_bound_below",
        lambda: gp.Gamma("x", A, rate=1.5),
        {"pareto": lambda x: gp.Pareto("y", 2, minimum=x, dims="i", observed=1 + VALUES)},
        "truncated Gamma",
        lambda _: (A + 2 * 5, 1.5, 0.0, 1.1),
    ),
)


def marked_of_a_total_in_data() -> gp.Model:
    """How many of all are marked, where all and the sample are counted in data."""
    with gp.Model() as m:
        everyone = gp.Data("everyone", 20)
        x = gp.Binomial("x", everyone, logit_p=float(logit(PRIOR)))
        gp.Hypergeometric("y", N=everyone, D=x, n=gp.Data("size", 7), observed=FOUND)
    return m


POPULATION, VISITED = 30, np.array([4, 0, 3])
SHARES, DETECTED = np.array([0.5, 0.2, 0.3]), np.array([0.7, 0.5, 0.2])


def cells_of_a_total() -> gp.Model:
    """A known total over cells, of which some were seen in each."""
    with gp.Model(coords={"k": 3}) as m:
        p = gp.Data("p", SHARES, dims="k")
        x = gp.Multinomial("x", POPULATION, p, dims="k", event="k")
        gp.Binomial("y", x, gp.Data("q", DETECTED, dims="k"), dims="k", observed=VISITED)
    return m


def two_visits() -> gp.Model:
    """Two counts of one population, which is no family's conditional."""
    with gp.Model() as m:
        x = gp.Poisson("x", rate=RATE)
        gp.Binomial("y", x, SEEN, dims="visit", observed=[2, 4])
    return m


def numbers_by_site() -> gp.Model:
    """A number of trials at each site, of a rate that is unknown."""
    with gp.Model(coords={"site": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=1)
        seen_at = gp.Data("p", [0.2, 0.5, 0.7, 0.9], dims="site")
        x = gp.Poisson("x", rate=rate, dims="site")
        gp.Binomial("y", x, seen_at, dims="site", observed=[0, 2, 1, 3])
    return m


def tanks() -> gp.Model:
    """Serial numbers up to an unknown one."""
    with gp.Model() as m:
        x = gp.DiscreteUniform("x", 1, 60)
        gp.DiscreteUniform("y", 1, x, dims="i", observed=[7, 19, 30])
    return m


def binomial_of_two_visits() -> gp.Model:
    """A finite support makes labels of whatever is seen."""
    with gp.Model() as m:
        x = gp.Binomial("x", 9, PRIOR)
        gp.Binomial("y", x, SEEN, dims="visit", observed=[2, 4])
    return m


ROWS = (*UNSEEN, *BOUNDS)
OTHERS = (
    Form(marked_of_a_total_in_data, {"x": "Binomial"}),
    Form(cells_of_a_total, {"x": "Multinomial"}),
    Form(two_visits, {"x": "slice"}),
    Form(numbers_by_site, {"x": "Poisson", "rate": "Gamma"}),
    Form(tanks, {"x": "labels"}),
    Form(binomial_of_two_visits, {"x": "labels"}),
)
FORMS = (*(form for row in ROWS for form in row.forms.values()), *OTHERS)
