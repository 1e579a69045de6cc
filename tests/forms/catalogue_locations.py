"""Locations: Normal, flat and bounded priors of means, and directions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.catalogue_row import POSITIVE, WEIGHT, A, B, N, Numbers, Row, Values, Y, total, weight
from forms.form import Form, numbers

M, P0 = 0.4, 1.25
SHIFT, SLOPE = numbers(N, seed=21), numbers(N, seed=22)
LOGS = np.log(POSITIVE)
SCALE = 1.5


def line(x: Any) -> Any:
    """A mean that is a known shift and a known multiple of ``x``."""
    return gp.Data("a", SHIFT, dims="n") + gp.Data("b", SLOPE, dims="n") * x


def on_line(family: Any, x: Any, **parameters: Any) -> Any:
    """Observed values around a line."""
    return family("y", line(x), dims="n", observed=Y, **parameters)


NORMAL: Mapping[str, Callable[[Any], Any]] = {
    "precision": lambda x: on_line(gp.Normal, x, tau=weight()),
    "variance": lambda x: on_line(gp.Normal, x, var=1 / weight()),
    "sd": lambda x: on_line(gp.Normal, x, sigma=1 / gp.sqrt(weight())),
    "residual": lambda x: gp.Potential(
        "y", -weight() / 2 * (gp.Data("r", Y, dims="n") - line(x)) ** 2
    ),
}

LOG_NORMAL: Mapping[str, Callable[[Any], Any]] = {
    "precision": lambda x: gp.LogNormal("y", line(x), tau=weight(), dims="n", observed=POSITIVE),
    "sd": lambda x: gp.LogNormal(
        "y", line(x), sigma=weight() ** -0.5, dims="n", observed=POSITIVE
    ),
}


def pulled(y: Any) -> tuple[float, float]:
    """h and P: what the children add to precision times mean, and to the precision."""
    return total(WEIGHT * SLOPE * (y - SHIFT)), total(WEIGHT * SLOPE**2)


def normal(y: Any, m: float, p: float, *bounds: float) -> Callable[[Values], Numbers]:
    """``N((p m + h) / (p + P), p + P)``, between bounds."""
    h, P = pulled(y)
    return lambda _: ((p * m + h) / (p + P), p + P, *bounds)


H, P = pulled(Y)

NORMAL_ROWS = (
    Row("mean_of_normal", lambda: gp.Normal("x", M, tau=P0), NORMAL, "Normal", normal(Y, M, P0)),
    Row(
        "mean_of_normal_by_variances",
        lambda: gp.Normal("x", M, var=1 / P0),
        NORMAL,
        "Normal",
        normal(Y, M, P0),
    ),
    Row(
        "mean_of_log_normal",
        lambda: gp.Normal("x", M, sigma=P0**-0.5),
        LOG_NORMAL,
        "Normal",
        normal(LOGS, M, P0),
    ),
    Row(
        "flat_prior_of_mean",
        lambda: gp.Flat("x"),
        NORMAL,
        "Normal",
        normal(Y, 0, 0),
    ),
    Row(
        "exponential_prior_of_mean",
        lambda: gp.Exponential("x", rate=B),
        NORMAL,
        "truncated Normal",
        lambda _: ((H - B) / P, P, 0, np.inf),
    ),
    Row(
        "exponential_prior_of_mean_by_scale",
        lambda: gp.Exponential("x", scale=1 / B),
        NORMAL,
        "truncated Normal",
        lambda _: ((H - B) / P, P, 0, np.inf),
    ),
    Row(
        "uniform_prior_of_mean",
        lambda: gp.Uniform("x", -0.3, 2),
        NORMAL,
        "truncated Normal",
        normal(Y, 0, 0, -0.3, 2),
    ),
    Row(
        "half_normal_prior_of_mean",
        lambda: gp.HalfNormal("x", tau=P0),
        NORMAL,
        "truncated Normal",
        normal(Y, 0, P0, 0, np.inf),
    ),
    Row(
        "half_normal_prior_of_mean_by_sd",
        lambda: gp.HalfNormal("x", sigma=P0**-0.5),
        LOG_NORMAL,
        "truncated Normal",
        normal(LOGS, 0, P0, 0, np.inf),
    ),
    Row(
        "truncated_prior_of_mean",
        lambda: gp.Normal("x", M, tau=P0, lower=-1, upper=0.9),
        NORMAL,
        "truncated Normal",
        normal(Y, M, P0, -1, 0.9),
    ),
    Row(
        "log_normal_prior_of_factor",
        lambda: gp.LogNormal("x", M, tau=P0),
        {
            "log": lambda x: gp.LogNormal(
                "y", line(gp.log(x)), tau=weight(), dims="n", observed=POSITIVE
            ),
            "normal": lambda x: gp.Normal(
                "y", line(gp.log(x)), tau=weight(), dims="n", observed=LOGS
            ),
        },
        "LogNormal",
        normal(LOGS, M, P0),
    ),
)


def gumbel(x: Any) -> Any:
    """Largest values around ``x``."""
    return gp.Gumbel("y", x, scale=SCALE, dims="n", observed=Y)


GUMBEL_ROWS = (
    Row(
        "log_gamma_prior_of_gumbel",
        lambda: gp.Gamma("x", A, rate=B),
        {
            "log": lambda x: gumbel(SCALE * gp.log(x)),
            "power": lambda x: gumbel(gp.log(x**SCALE)),
        },
        "Gamma",
        lambda _: (A + N, B + total(np.exp(-Y / SCALE))),
    ),
    Row(
        "flat_prior_of_gumbel",
        lambda: gp.Flat("x"),
        {"location": gumbel},
        "Gamma of exp(2*x/3)",
        lambda _: (N, total(np.exp(-Y / SCALE))),
    ),
)


def mean_direction(angles: Any, kappa: Any) -> tuple[float, float]:
    """The direction and the length of the sum of known directions."""
    cosine, sine = total(kappa * np.cos(angles)), total(kappa * np.sin(angles))
    return float(np.arctan2(sine, cosine)), float(np.hypot(cosine, sine))


ANGLES = np.arctan(Y) * 1.9
OFFSET = np.linspace(-0.5, 0.5, N)

DIRECTION_ROWS = (
    Row(
        "direction_of_von_mises",
        lambda: gp.VonMises("x", M, kappa=P0),
        {
            "identity": lambda x: gp.VonMises("y", x, kappa=weight(), dims="n", observed=ANGLES),
        },
        "VonMises",
        lambda _: mean_direction(np.r_[M, ANGLES], np.r_[P0, WEIGHT]),
    ),
    Row(
        "direction_with_an_offset",
        lambda: gp.VonMises("x", M, kappa=P0),
        {
            "plus": lambda x: gp.VonMises(
                "y", x + gp.Data("o", OFFSET, dims="n"), kappa=weight(), dims="n", observed=ANGLES
            ),
            "minus": lambda x: gp.VonMises(
                "y", -(gp.Data("o", -OFFSET, dims="n") - x), kappa=weight(), dims="n",
                observed=ANGLES,
            ),
        },
        "VonMises",
        lambda _: mean_direction(np.r_[M, ANGLES - OFFSET], np.r_[P0, WEIGHT]),
    ),
    Row(
        "uniform_prior_of_direction",
        lambda: gp.Uniform("x", -np.pi, np.pi),
        {"identity": lambda x: gp.VonMises("y", x, kappa=weight(), dims="n", observed=ANGLES)},
        "VonMises",
        lambda _: mean_direction(ANGLES, WEIGHT),
    ),
)

POINTS = numbers(N, 3, seed=23)
POINTS /= np.linalg.norm(POINTS, axis=1, keepdims=True)
POLE = np.array([0.6, 0.0, 0.8])


def direction_in_space() -> gp.Model:
    with gp.Model(coords={"k": 3, "n": N}) as m:
        pole = gp.Data("pole", POLE, dims="k")
        x = gp.VonMisesFisher("x", pole, kappa=P0, dims="k", event="k")
        gp.VonMisesFisher("y", x, kappa=weight(), dims=("n", "k"), event="k", observed=POINTS)
    return m


PRECISION = np.array([[1.0, 0.3], [0.3, 2.0]])
DESIGN = np.array([[1.0, 0.5, -0.2], [0.3, -1.0, 2.0]])
VECTORS = numbers(N, 2, seed=24)


def vector_mean() -> gp.Model:
    """A vector that enters the means of vectors through a known matrix."""
    with gp.Model(coords={"k": 2, "j": 3, "n": N}) as m:
        tau = gp.Data("tau", PRECISION, dims=("k", "k'"))
        prior = gp.Data("prior", np.eye(3) * 2 + 0.5, dims=("j", "j'"))
        design = gp.Data("A", DESIGN, dims=("k", "j"))
        shift = gp.Data("c", [0.5, -0.5], dims="k")
        x = gp.MvNormal("x", 0.3, tau=prior, dims="j", event="j")
        gp.MvNormal(
            "y", design @ x + shift, tau=tau, dims=("n", "k"), event="k", observed=VECTORS
        )
    return m


def scalar_means_of_a_vector() -> gp.Model:
    """Several Normal scalars in the mean of one kind of vectors."""
    with gp.Model(coords={"k": 2, "n": N}) as m:
        tau = gp.Data("tau", PRECISION, dims=("k", "k'"))
        first, second = gp.Data("p", [1.0, 0.3], dims="k"), gp.Data("q", [0.5, -1.0], dims="k")
        a = gp.Normal("a", M, tau=P0)
        b = gp.Normal("b", 0, sigma=2)
        gp.MvNormal(
            "y", a * first + b * second, tau=tau, dims=("n", "k"), event="k", observed=VECTORS
        )
    return m


ROWS = (*NORMAL_ROWS, *GUMBEL_ROWS, *DIRECTION_ROWS)
FORMS = (
    *(form for row in ROWS for form in row.forms.values()),
    Form(direction_in_space, {"x": "VonMisesFisher"}),
    Form(vector_mean, {"x": "block MvNormal"}),
    Form(scalar_means_of_a_vector, {"a": "Normal", "b": "Normal"}),
)
