"""The ways in which a variable enters its children: what algebra must see through."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.catalogue_row import (
    COUNTS,
    FLIPS,
    POSITIVE,
    WEIGHT,
    A,
    B,
    N,
    Numbers,
    Row,
    Values,
    Y,
    gamma,
    gamma_prior,
    total,
    weight,
)
from forms.form import Form, codes, numbers

M, P0 = 0.4, 1.25
KNOWN = numbers(N, seed=51)
C = 0.7


def known() -> Any:
    """Known numbers, one for each child."""
    return gp.Data("b", KNOWN, dims="n")


def normal_prior() -> Any:
    """The prior of most locations."""
    return gp.Normal("x", M, tau=P0)


def around(mean: Any) -> Any:
    """Observed values around a mean."""
    return gp.Normal("y", mean, tau=weight(), dims="n", observed=Y)


def pulled(shift: Any, slope: Any) -> Callable[[Values], Numbers]:
    """The conditional of a Normal whose children have the mean ``shift + slope * x``."""
    h, p = total(WEIGHT * slope * (Y - shift)), total(WEIGHT * slope**2 * np.ones(N))
    return lambda _: ((P0 * M + h) / (P0 + p), P0 + p)


def polynomial(x: Any) -> Any:
    """``2 b x``, as squares that cancel."""
    b = known()
    return (b + x) ** 2 - b**2 - x**2


def product_of_sums(x: Any) -> Any:
    """``2 + (b + 1) x``, as a product of sums."""
    b = known()
    return (b + 1) * (x + 2) - 2 * b


def quotient(x: Any) -> Any:
    """``x``, as a quotient of which a part cancels."""
    w = weight("v")
    return (x * w**2 + x * w) / (w * (w + 1))


LINEAR: Mapping[str, tuple[Callable[[Any], Any], Any, Any]] = {
    "identity": (lambda x: x, 0.0, 1.0),
    "affine": (lambda x: 3 + known() * x, 3.0, KNOWN),
    "half_of_a_difference": (lambda x: -(known() - x) / 2, -KNOWN / 2, 0.5),
    "squares_that_cancel": (polynomial, 0.0, 2 * KNOWN),
    "product_of_sums": (product_of_sums, 2.0, KNOWN + 1),
    "log_of_exp": (lambda x: gp.log(gp.exp(x) * gp.exp(known())), KNOWN, 1.0),
    "quotient": (quotient, 0.0, 1.0),
    "difference_of_itself": (lambda x: 3 * x - known() - x, -KNOWN, 2.0),
    "observed_gate": (lambda x: gp.where(gp.Data("z", FLIPS, dims="n"), x, 1.0), 1 - FLIPS, FLIPS),
    "product_with_a_gate": (lambda x: gp.Data("z", FLIPS, dims="n") * x, 0.0, FLIPS),
}


def _linear(name: str, mean: Callable[[Any], Any], shift: Any, slope: Any) -> Row:
    return Row(
        "location_by_" + name,
        normal_prior,
        {"normal": lambda x: around(mean(x))},
        "Normal",
        pulled(shift, slope),
    )


def counted(rate: Any) -> Any:
    """Observed counts."""
    return gp.Poisson("y", rate=rate, dims="n", observed=COUNTS)


def by_tau(tau: Any) -> Any:
    """Observed values of a precision."""
    return gp.Normal("y", 0.5, tau=tau, dims="n", observed=Y)


SQUARES = total((Y - 0.5) ** 2) / 2
# The mean c / x of precision x, the mean c x of standard deviation x, and their like.
MEAN_AND_SCALE = (
    Row(
        "reciprocal_mean_and_precision",
        gamma_prior,
        {"precision": lambda x: gp.Normal("y", C / x, tau=x, dims="n", observed=Y)},
        "GeneralizedInverseGaussian",
        lambda _: (A + N / 2, 2 * B + total(Y**2), N * C**2),
    ),
    Row(
        "mean_and_sd",
        lambda: gp.InverseGamma("x", A, B),
        {
            "sd": lambda x: gp.Normal("y", C * x, sigma=x, dims="n", observed=Y),
            "variance": lambda x: gp.Normal("y", C * x, var=x**2, dims="n", observed=Y),
        },
        "ModifiedHalfNormal of 1/x",
        lambda _: (A + N, total(Y**2) / 2, C * total(Y) - B),
    ),
    Row(
        "root_mean_and_variance",
        lambda: gp.InverseGamma("x", A, B),
        {"variance": lambda x: gp.Normal("y", C * gp.sqrt(x), var=x, dims="n", observed=Y)},
        "ModifiedHalfNormal of 1/sqrt(x)",
        lambda _: (2 * A + N, B + total(Y**2) / 2, C * total(Y)),
    ),
    Row(
        "mean_and_shape_of_inverse_gaussian",
        gamma_prior,
        {
            "both": lambda x: gp.InverseGaussian(
                "y", mu=x, lam=C * x**2, dims="n", observed=POSITIVE
            )
        },
        "ModifiedHalfNormal",
        lambda _: (A + N, C * total(1 / POSITIVE) / 2, N * C - B),
    ),
    Row(
        "precision_of_two_children",
        gamma_prior,
        {
            "both": lambda x: (
                gp.Normal("mu", 0.3, tau=2 * x, dims="m", observed=[0.1, 1.0]),
                by_tau(x),
            ),
            "inverse": lambda x: (
                gp.Normal("mu", 0.3, var=1 / (2 * x), dims="m", observed=[0.1, 1.0]),
                by_tau(1 / (1 / x)),
            ),
        },
        "Gamma",
        gamma(A + N / 2 + 1, B + SQUARES + 0.2**2 + 0.7**2),
    ),
)

POWERS = (
    Row(
        "reciprocal_of_a_reciprocal",
        gamma_prior,
        {
            "precision": lambda x: by_tau(1 / (1 / x)),
            "power": lambda x: by_tau((x**-2) ** -0.5),
            "root": lambda x: by_tau(gp.sqrt(x) ** 2),
            "exp_of_log": lambda x: by_tau(gp.exp(gp.log(x))),
            "quotient": lambda x: by_tau(x**2 / x),
        },
        "Gamma",
        gamma(A + N / 2, B + SQUARES),
    ),
    Row(
        "reciprocal_of_a_variance",
        lambda: gp.InverseGamma("x", A, B),
        {"precision": lambda x: by_tau(1 / x), "log": lambda x: by_tau(gp.exp(-gp.log(x)))},
        "InverseGamma",
        gamma(A + N / 2, B + SQUARES),
    ),
    Row(
        "log_of_a_precision",
        lambda: gp.Flat("x"),
        {
            "precision": lambda x: by_tau(gp.exp(x)),
            "sd": lambda x: gp.Normal("y", 0.5, sigma=gp.exp(-x / 2), dims="n", observed=Y),
        },
        "Gamma of exp(x)",
        gamma(N / 2, SQUARES),
    ),
    Row(
        "multiple_of_a_rate",
        gamma_prior,
        {
            "multiple": lambda x: counted(weight() * x),
            "wrapped": lambda x: counted(gp.exp(gp.log(x) + gp.log(weight()))),
            "sum": lambda x: counted(weight() * x / 2 + x * weight("u") / 2),
            "square_of_a_root": lambda x: counted((gp.sqrt(x) * gp.sqrt(weight())) ** 2),
        },
        "Gamma",
        gamma(A + total(COUNTS), B + total(WEIGHT)),
    ),
    Row(
        "square_of_a_rate",
        lambda: gp.HalfNormal("x", tau=3),
        {"square": lambda x: counted(weight() * x**2)},
        "Gamma of x**2",
        gamma(1 / 2 + total(COUNTS), 1.5 + total(WEIGHT)),
    ),
    Row(
        "power_of_a_rate",
        lambda: gp.Weibull("x", shape=1.5, rate=2),
        {"power": lambda x: counted(weight() * x**1.5)},
        "Gamma of x**1.5",
        gamma(1 + total(COUNTS), 2 + total(WEIGHT)),
    ),
)

GROUP = codes(12, 3, seed=52)
LONG = numbers(12, seed=53)


def gathered() -> gp.Model:
    """Locations and precisions by an index in data; the last group has no data."""
    with gp.Model(coords={"g": 4}) as m:
        group = gp.Index("group", GROUP, of="g", dims="i")
        mu = gp.Normal("mu", M, tau=P0, dims="g")
        tau = gp.Gamma("tau", A, rate=B, dims="g")
        gp.Normal("y", mu[group], tau=tau[group], dims="i", observed=LONG)
    return m


def gathered_by_labels() -> gp.Model:
    """The same by labels that are unknown."""
    with gp.Model(coords={"g": 2, "i": 12}) as m:
        z = gp.Categorical("z", gp.Data("w", [0.4, 0.6], dims="g"), dims="i")
        mu = gp.Normal("mu", M, tau=P0, dims="g")
        tau = gp.Gamma("tau", A, rate=B, dims="g")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=LONG)
    return m


def coefficients() -> gp.Model:
    """A vector through a known matrix."""
    with gp.Model(coords={"i": 12, "p": 3}) as m:
        design = gp.Data("X", numbers(12, 3, seed=54), dims=("i", "p"))
        beta = gp.Normal("beta", M, tau=P0, dims="p")
        tau = gp.Gamma("tau", A, rate=B)
        gp.Normal("y", design @ beta + 1, tau=tau, dims="i", observed=LONG)
    return m


def bilinear() -> gp.Model:
    """A product of two unknown vectors, each linear given the other."""
    with gp.Model(coords={"i": 4, "j": 3}) as m:
        a = gp.Normal("a", M, tau=P0, dims="i")
        b = gp.Normal("b", M, tau=P0, dims="j")
        gp.Normal("y", a * b, tau=2, dims=("i", "j"), observed=LONG.reshape(4, 3))
    return m


def product_of_rates() -> gp.Model:
    """A product of two unknown rates."""
    with gp.Model(coords={"i": 4, "j": 3}) as m:
        a = gp.Gamma("a", A, rate=B, dims="i")
        b = gp.Gamma("b", A, scale=1 / B, dims="j")
        table = (LONG.reshape(4, 3) ** 2 * 4).astype(int)
        gp.Poisson("y", rate=a * b, dims=("i", "j"), observed=table)
    return m


def occupancy() -> gp.Model:
    """Presence that is unknown, and detection where there is presence."""
    with gp.Model(coords={"site": 5, "visit": 3}) as m:
        psi = gp.Beta("psi", A, B)
        p = gp.Beta("p", B, A)
        z = gp.Bernoulli("z", psi, dims="site")
        table = [[0, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]]
        gp.Bernoulli("y", z * p, dims=("site", "visit"), observed=table)
    return m


def zero_inflation() -> gp.Model:
    """Counts that are zero with certainty, or nearly, where a gate is shut."""
    with gp.Model(coords={"i": 8}) as m:
        rate = gp.Gamma("rate", A, rate=B)
        z = gp.Bernoulli("z", 0.6, dims="i")
        observed = [0, 0, 3, 2, 0, 5, 0, 1]
        gp.Poisson("y", rate=gp.where(z, rate, 0.01), dims="i", observed=observed)
    return m


def step_of_a_rate() -> gp.Model:
    """Counts whose rate changes at an unknown time."""
    with gp.Model(coords={"t": 6}) as m:
        time = gp.Data("time", np.arange(6), dims="t")
        change = gp.DiscreteUniform("change", 0, 5)
        early, late = gp.Gamma("early", A, rate=B), gp.Gamma("late", A, rate=B)
        rate = gp.where(gp.step(time - change), late, early)
        gp.Poisson("y", rate=rate, dims="t", observed=[4, 5, 3, 1, 0, 1])
    return m


def step_of_a_rate_by_gates() -> gp.Model:
    """The same as a sum of products."""
    with gp.Model(coords={"t": 6}) as m:
        time = gp.Data("time", np.arange(6), dims="t")
        change = gp.DiscreteUniform("change", 0, 5)
        early, late = gp.Gamma("early", A, rate=B), gp.Gamma("late", A, rate=B)
        after = gp.step(time - change)
        rate = after * late + (1 - after) * early
        gp.Poisson("y", rate=rate, dims="t", observed=[4, 5, 3, 1, 0, 1])
    return m


ROWS = (
    *(_linear(name, *how) for name, how in LINEAR.items()),
    *MEAN_AND_SCALE,
    *POWERS,
)
ARRAYS = (
    Form(gathered, {"mu": "Normal", "tau": "Gamma"}),
    Form(gathered_by_labels, {"mu": "Normal", "tau": "Gamma", "z": "labels"}),
    Form(coefficients, {"beta": "block MvNormal", "tau": "Gamma"}),
    Form(bilinear, {"a": "Normal", "b": "Normal"}),
    Form(product_of_rates, {"a": "Gamma", "b": "Gamma"}),
    Form(occupancy, {"z": "labels", "psi": "Beta", "p": "Beta"}),
    Form(zero_inflation, {"z": "labels", "rate": "Gamma"}),
    Form(step_of_a_rate, {"change": "labels", "early": "Gamma", "late": "Gamma"}),
    Form(step_of_a_rate_by_gates, {"change": "labels", "early": "Gamma", "late": "Gamma"}),
)
FORMS = (*(form for row in ROWS for form in row.forms.values()), *ARRAYS)
