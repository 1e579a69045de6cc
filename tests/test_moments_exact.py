"""Every family's mean and variance against arbitrary precision, at extreme parameters.

Rows are read from the table of families: one without a reference fails. All points of the grid are
slow: every day sees some of them.
"""

from dataclasses import replace

import pytest
import sympy as sp
from references.exact_moments import MOMENTS
from references.exact_rows import Grid, disagrees, evaluated, exact, symbols_along

from gibbsppl.families import FAMILIES

LARGE = (1e8, 1e30, 1e100)
SMALL = tuple(1 / v for v in LARGE[::-1])
# Where moments grow as gamma functions of one over a power.
POWERS = (0.3, 1.0, 2.7, 40.0, *LARGE)

GRID = Grid(
    real=(*(-v for v in LARGE), -1.3, -1e-8, 0.7, *LARGE),
    positive=(*SMALL, 0.3, 1.0, 40.0, *LARGE),
    unit=(*SMALL, 0.3, 0.5, 1 - 1e-8, 1 - 2.0**-53),
    counts=(0.0, 1.0, 7.0, 1e8, 1e15),
    at={
        "LogNormal": {"mu": (-200.0, -1e-8, 0.7, 200.0), "tau": (0.01, 0.3, 1.0, *LARGE)},
        "Weibull": {"shape": POWERS},
        "Frechet": {"shape": POWERS},
        "Kumaraswamy": {"a": POWERS},
        "BurrXII": {"c": POWERS, "k": (3e-30, 0.3, 1.0, 40.0, *LARGE)},
        "GeneralizedGamma": {"power": (1.0, 2.7, 40.0, *LARGE)},
        "Pareto": {"shape": (1e-8, 1.0, 2.7, 1e8)},
        "Lomax": {"shape": (1e-8, 1.0, 2.7, 1e8)},
        "Beta": {"b": (*SMALL, 0.3, 40.0, 1e30)},
        "GeneralizedInverseGaussian": {"p": (-9.3, 2.5), "a": (1e-9, 1e4), "b": (0.3, 1e4)},
        "ModifiedHalfNormal": {"a": (1e-6, 40.0), "b": (0.01, 40.0), "c": (-30.0, 5.0)},
        "PolyaGamma": {"c": (-1e8, -40.0, -0.2, -1e-8, 0.0, 1e-100, 0.3, 9.0, 1e30)},
        "Hypergeometric": {"N": (20.0, 1e6, 1e15), "D": (7.0, 9.0), "n": (8.0,)},
        "Uniform": {"lower": (*(-v for v in LARGE), -1.0), "upper": (2.5, *LARGE)},
        "DiscreteUniform": {"lower": (-1e8, -2.0), "upper": (4.0, 1e8)},
    },
)
# Digits of references that take differences of the logs of gamma functions of what is huge.
DIGITS = 250
# So many points of a row are looked at every day.
FEW = 8
# Rows of which the reference needs seconds.
LONG = ("GeneralizedInverseGaussian", "ModifiedHalfNormal")
ROWS = [n for n, row in FAMILIES.items() if row.mean is not None or row.variance is not None]


def differences(row, points):
    """The points at which a mean or a variance is not the reference's."""
    points = list(points)
    symbols = symbols_along(row.parameters)
    found = [evaluated(f((), **symbols), points) for f in (row.mean, row.variance)]
    wrong = []
    for point, *own in zip(points, *found, strict=True):
        for value, wanted in zip(own, exact(MOMENTS[row.name], point, (), DIGITS), strict=True):
            if disagrees(value, *wanted):
                wrong.append((point, float(value), float(wanted[0])))
    return wrong


def few(row):
    """Points from all over the grid."""
    points = list(GRID.points(row, x=False))
    return points[:: max(len(points) // FEW, 1)]


@pytest.mark.parametrize("name", [n for n in ROWS if n not in LONG])
def test_means_and_variances_keep_their_digits(name):
    row = FAMILIES[name]

    assert differences(row, few(row)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_means_and_variances_keep_their_digits_at_all_points(name):
    row = FAMILIES[name]

    assert differences(row, GRID.points(row, x=False)) == []


def test_every_family_with_a_mean_has_a_reference():
    assert set(MOMENTS) == set(ROWS)


def test_a_wrong_moment_is_caught(monkeypatch):
    for name, wrong in (
        ("LogNormal", lambda _, mu, tau: (sp.exp(1 / tau) - 1) * sp.exp(2 * mu + 1 / tau)),
        ("Gamma", lambda _, shape, rate: shape / rate * (1 + sp.Float(1e-12))),
    ):
        monkeypatch.setitem(FAMILIES, name, replace(FAMILIES[name], variance=wrong))
        with pytest.raises(AssertionError):
            test_means_and_variances_keep_their_digits(name)
