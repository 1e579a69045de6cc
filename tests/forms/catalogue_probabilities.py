"""Probabilities: a Beta or Dirichlet prior, and children that hold ``log p`` and ``log(1 - p)``."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.catalogue_row import COUNTS, FLIPS, A, B, N, Numbers, Row, Values, total
from forms.form import Form, codes

TRIALS = COUNTS + np.array([3, 0, 2, 1, 0, 4])
STATES = np.array([0, 0, 1, 1, 1, 0, 1, 1, 0, 0])
STAYS = int((STATES[1:] == STATES[:-1]).sum())
MOVES = len(STATES) - 1 - STAYS
HEADS, TAILS = total(FLIPS), total(1 - FLIPS)
R = 3


def beta_prior() -> Any:
    """The prior of most probabilities."""
    return gp.Beta("x", A, B)


def beta(a: float, b: float, *bounds: float) -> Callable[[Values], Numbers]:
    """The parameters of a Beta that depend on data alone."""
    return lambda _: (a, b, *bounds)


def bernoulli(p: Any) -> Any:
    """Observed flips."""
    return gp.Bernoulli("y", p, dims="n", observed=FLIPS)


def binomial(p: Any) -> Any:
    """Observed counts of known trials."""
    return gp.Binomial("y", gp.Data("trials", TRIALS, dims="n"), p, dims="n", observed=COUNTS)


def geometric(p: Any) -> Any:
    """Observed failures before a success."""
    return gp.Geometric("y", p, dims="n", observed=COUNTS)


def negative_binomial(p: Any) -> Any:
    """Observed failures before the third success."""
    return gp.NegativeBinomial("y", n=R, p=p, dims="n", observed=COUNTS)


def chain(probability: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """Observed states of a chain, of a probability of 1 after the state before."""

    def declare(x: Any) -> None:
        y = gp.Array("y", dims="t", observed=STATES)
        y[0] = gp.Bernoulli(0.5)
        y[1:] = gp.Bernoulli(probability(x, y.lag("t", 1)))

    return declare


BERNOULLI: Mapping[str, Callable[[Any], Any]] = {
    "identity": bernoulli,
    "twice_complement": lambda x: bernoulli(1 - (1 - x)),
    "odds": lambda x: gp.Bernoulli("y", logit_p=gp.log(x / (1 - x)), dims="n", observed=FLIPS),
    "logit": lambda x: gp.Bernoulli("y", logit_p=gp.logit(x), dims="n", observed=FLIPS),
}
PROBABILITIES = (
    Row("probability_of_bernoulli", beta_prior, BERNOULLI, "Beta", beta(A + HEADS, B + TAILS)),
    Row(
        "complement_of_bernoulli",
        beta_prior,
        {"identity": lambda x: bernoulli(1 - x), "sum": lambda x: bernoulli(-(x - 1))},
        "Beta",
        beta(A + TAILS, B + HEADS),
    ),
    Row(
        "probability_of_binomial",
        beta_prior,
        {
            "identity": binomial,
            "logit": lambda x: gp.Binomial(
                "y",
                gp.Data("trials", TRIALS, dims="n"),
                logit_p=gp.log(x) - gp.log(1 - x),
                dims="n",
                observed=COUNTS,
            ),
        },
        "Beta",
        beta(A + total(COUNTS), B + total(TRIALS - COUNTS)),
    ),
    Row(
        "complement_of_binomial",
        beta_prior,
        {"identity": lambda x: binomial(1 - x)},
        "Beta",
        beta(A + total(TRIALS - COUNTS), B + total(COUNTS)),
    ),
    Row(
        "probability_of_geometric",
        beta_prior,
        {"identity": geometric, "power": lambda x: geometric(x**2 / x)},
        "Beta",
        beta(A + N, B + total(COUNTS)),
    ),
    Row(
        "complement_of_geometric",
        beta_prior,
        {"identity": lambda x: geometric(1 - x)},
        "Beta",
        beta(A + total(COUNTS), B + N),
    ),
    Row(
        "probability_of_negative_binomial",
        beta_prior,
        {
            "identity": negative_binomial,
            "mean": lambda x: gp.NegativeBinomial(
                "y", mu=R * (1 - x) / x, alpha=R, dims="n", observed=COUNTS
            ),
        },
        "Beta",
        beta(A + N * R, B + total(COUNTS)),
    ),
    Row(
        "complement_of_negative_binomial",
        beta_prior,
        {"identity": lambda x: negative_binomial(1 - x)},
        "Beta",
        beta(A + total(COUNTS), B + N * R),
    ),
    Row(
        "odds_of_negative_binomial",
        lambda: gp.BetaPrime("x", A, B),
        {
            "probability": lambda x: negative_binomial(x / (1 + x)),
            "reciprocal": lambda x: negative_binomial(1 / (1 + 1 / x)),
        },
        "BetaPrime",
        beta(A + N * R, B + total(COUNTS)),
    ),
    Row(
        "uniform_prior_of_probability",
        lambda: gp.Uniform("x", 0, 1),
        {"bernoulli": bernoulli},
        "Beta",
        beta(1 + HEADS, 1 + TAILS),
    ),
    Row(
        "uniform_prior_on_a_part",
        lambda: gp.Uniform("x", 0.2, 0.9),
        {"bernoulli": bernoulli},
        "truncated Beta",
        beta(1 + HEADS, 1 + TAILS, 0.2, 0.9),
    ),
    Row(
        "truncated_beta_prior",
        lambda: gp.Beta("x", A, B, lower=0.3, upper=0.8),
        {
            "bernoulli": bernoulli,
            "binomial": lambda x: gp.Binomial("y", 1, x, dims="n", observed=FLIPS),
        },
        "truncated Beta",
        beta(A + HEADS, B + TAILS, 0.3, 0.8),
    ),
    Row(
        "bounded_above_beta_prior",
        lambda: gp.Beta("x", A, B, upper=0.5),
        {"complement": lambda x: bernoulli(1 - x)},
        "truncated Beta",
        beta(A + TAILS, B + HEADS, 0, 0.5),
    ),
    Row(
        "stay_probability",
        beta_prior,
        {
            "where": chain(lambda x, before: gp.where(before, x, 1 - x)),
            "gates": chain(lambda x, before: before * x + (1 - before) * (1 - x)),
            "product": chain(lambda x, before: 1 - x + before * (2 * x - 1)),
        },
        "Beta",
        beta(A + STAYS, B + MOVES),
    ),
)

LABELS = codes(12, 4, seed=41)
SHARES = np.array([0.7, 1.3, 2.0, 0.4])
TABLE = np.array([[2, 0, 1, 4], [1, 1, 0, 0], [3, 2, 2, 0]])


def probability_and_complement() -> gp.Model:
    """One break of a stick: a probability and what is left of 1."""
    with gp.Model(coords={"break": 1, "k": 2}) as m:
        v = gp.Beta("x", A, B, dims="break")
        w = gp.stick_breaking(v, "break", into="k")
        gp.Categorical("y", w, dims="n", observed=1 - FLIPS)
    return m


def stick() -> gp.Model:
    """Breaks of a stick whose pieces are the probabilities of labels."""
    with gp.Model(coords={"break": 3, "k": 4}) as m:
        v = gp.Beta("x", A, B, dims="break")
        w = gp.stick_breaking(v, "break", into="k")
        gp.Categorical("y", w, dims="n", observed=LABELS)
    return m


def generalised_dirichlet() -> gp.Model:
    """Breaks with priors of their own: a generalised Dirichlet of the pieces."""
    with gp.Model(coords={"break": 3, "k": 4}) as m:
        a = gp.Data("a", [0.5, 1.0, 2.0], dims="break")
        b = gp.Data("b", [3.0, 1.5, 0.7], dims="break")
        v = gp.Beta("x", a, b, dims="break")
        w = gp.stick_breaking(v, "break", into="k")
        gp.Multinomial("y", total_of_rows(), w, dims=("r", "k"), event="k", observed=TABLE)
    return m


def total_of_rows() -> Any:
    """The number of trials of each row."""
    return gp.Data("n", TABLE.sum(1), dims="r")


def shares_of_labels() -> gp.Model:
    with gp.Model(coords={"k": 4}) as m:
        x = gp.Dirichlet("x", gp.Data("a", SHARES, dims="k"), dims="k")
        gp.Categorical("y", x, dims="n", observed=LABELS)
    return m


def shares_of_a_table() -> gp.Model:
    with gp.Model(coords={"k": 4}) as m:
        x = gp.Dirichlet("x", gp.Data("a", SHARES, dims="k"), dims="k")
        gp.Multinomial("y", total_of_rows(), x, dims=("r", "k"), event="k", observed=TABLE)
    return m


def shares_by_row() -> gp.Model:
    """A share for each group, of labels in long form."""
    with gp.Model(coords={"g": 3, "k": 4}) as m:
        group = gp.Index("group", codes(12, 2, seed=42), of="g", dims="n")
        a = gp.Data("a", SHARES, dims="k")
        x = gp.Dirichlet("x", a, dims=("g", "k"), event="k")
        gp.Categorical("y", x[group], dims="n", event="k", observed=LABELS)
    return m


def shares_by_latent_row() -> gp.Model:
    """A share for each class, of labels whose class is unknown."""
    with gp.Model(coords={"g": 2, "k": 4, "n": len(LABELS)}) as m:
        x = gp.Dirichlet("x", gp.Data("a", SHARES, dims="k"), dims=("g", "k"), event="k")
        z = gp.Categorical("z", gp.Data("w", [0.3, 0.7], dims="g"), dims="n")
        gp.Categorical("y", x[z], dims="n", event="k", observed=LABELS)
    return m


def shares_with_zeros() -> gp.Model:
    """Some shares are certainly zero."""
    with gp.Model(coords={"g": 2, "k": 4}) as m:
        a = gp.Data("a", [[0.5, 0.0, 2.0, 1.0], [0.0, 1.5, 0.0, 1.0]], dims=("g", "k"))
        x = gp.Dirichlet("x", a, dims=("g", "k"), event="k")
        group = gp.Index("group", [0, 0, 0, 1, 1], of="g", dims="n")
        gp.Categorical("y", x[group], dims="n", event="k", observed=[0, 2, 2, 1, 3])
    return m


ROWS = PROBABILITIES
ARRAYS = (
    Form(probability_and_complement, {"x": "Beta"}),
    Form(stick, {"x": "Beta"}),
    Form(generalised_dirichlet, {"x": "Beta"}),
    Form(shares_of_labels, {"x": "Dirichlet"}),
    Form(shares_of_a_table, {"x": "Dirichlet"}),
    Form(shares_by_row, {"x": "Dirichlet"}),
    Form(shares_by_latent_row, {"x": "Dirichlet", "z": "labels"}),
    Form(shares_with_zeros, {"x": "Dirichlet"}),
)
FORMS = (*(form for row in ROWS for form in row.forms.values()), *ARRAYS)
