"""Every family's log distribution functions against arbitrary precision, far out in both tails.

Rows are read from the table of families: one without a reference fails. All points of the grid are
slow: every day sees some of them.
"""

from dataclasses import replace

import mpmath
import pytest
import sympy as sp
from references.exact_rows import Grid, disagrees, evaluated, exact, scaled, symbols_along
from references.exact_tails import TAILS

from gibbsppl.algebra.functions import LogGammaQ
from gibbsppl.families import FAMILIES

LARGE = (1e8, 1e30, 1e100)
SMALL = tuple(1 / v for v in LARGE[::-1])
# Shapes of incomplete gamma and beta functions that the reference is affordable at.
AFFORDABLE = (1e-30, 1e-8, 0.3, 2.5, 40.0)
UNIT = (*SMALL, 0.3, 0.5, 1 - 1e-8, 1 - 2.0**-53)

GRID = Grid(
    real=(*(-v for v in LARGE), -1.3, -1e-8, *SMALL[:1], 0.7, 3.0, *LARGE),
    positive=(*SMALL, 0.3, 1.0, 40.0, *LARGE),
    unit=UNIT,
    counts=(0.0, 1.0, 7.0, 400.0),
    at={
        "StudentT": {"nu": AFFORDABLE},
        "HalfStudentT": {"nu": AFFORDABLE},
        "Gamma": {"shape": AFFORDABLE},
        "InverseGamma": {"shape": AFFORDABLE},
        "ChiSquared": {"nu": AFFORDABLE},
        "Chi": {"nu": AFFORDABLE},
        "Nakagami": {"m": AFFORDABLE},
        "GeneralizedGamma": {"shape": AFFORDABLE, "power": (1e-8, 0.3, 2.5)},
        "Beta": {"a": AFFORDABLE, "b": AFFORDABLE},
        "BetaPrime": {"a": AFFORDABLE, "b": AFFORDABLE},
        "BetaExponential": {"a": AFFORDABLE, "b": AFFORDABLE},
        "FisherSnedecor": {"nu_1": AFFORDABLE, "nu_2": AFFORDABLE},
        "Binomial": {"n": (1.0, 7.0, 400.0)},
        "ZeroInflatedBinomial": {"n": (1.0, 7.0, 400.0)},
        "NegativeBinomial": {"n": AFFORDABLE},
        "ZeroInflatedNegativeBinomial": {"n": AFFORDABLE},
        "Bernoulli": {"x": (0.0, 1.0)},
        "Pareto": {"x": (2.0, *LARGE), "minimum": (*SMALL, 1.5)},
        "Uniform": {"x": (0.0, 1.3), "lower": (*(-v for v in LARGE), -1.0), "upper": (2.5, *LARGE)},
        "DiscreteUniform": {"x": (0.0, 2.0), "lower": (-1e8, -2.0), "upper": (4.0, 1e8)},
        "Gumbel": {"x": (-5.0, 0.7, 1e8, 1e30), "mu": (-1e30, 0.7, 3.0), "scale": (0.3, 1.0, 1e30)},
        "Gompertz": {"x": (*SMALL, 0.3, 9.0), "shape": (*SMALL, 0.3, 9.0)},
        "InverseGaussian": {
            "mu": (1e-8, 0.3, 1.0, 40.0, *LARGE),
            **dict.fromkeys(("x", "lam"), (*SMALL, 0.3, 1.0, 40.0, 1e8)),
        },
        "Weibull": {"shape": (1e-8, 0.3, 2.7)},
        "Frechet": {"shape": (1e-8, 0.3, 2.7)},
        "BurrXII": {"c": (1e-8, 0.3, 2.7)},
    },
)
# Arguments of formulas of whole numbers alone.
WHOLE = {"Bernoulli": ("x",), "Binomial": ("x", "n"), "ZeroInflatedBinomial": ("x", "n")}
# Digits of references that take differences of what is nearly 1.
DIGITS = 150
# So many points of a row are looked at every day, beside those at other scales.
FEW = 5
ROWS = [n for n, row in FAMILIES.items() if row.log_cdf is not None or row.log_sf is not None]


def both(name):
    """The reference for both tails; where one is 1 less the other, the log of that is rounded."""

    def terms(**point):
        below, above = TAILS[name](**point)
        return [below], [above]

    return terms


def of_the_other(log_p, log_q):
    """How far the rounding of ``log q`` moves the log of ``p = 1 - q``, as ``q`` is the smaller."""
    return abs(log_q) * mpmath.exp(log_q - log_p) if -mpmath.inf < log_q < log_p else 0


def differences(row, points):
    """The points at which a log distribution function is not the reference's."""
    points = list(points)
    symbols = symbols_along(("x", *row.parameters))
    found = [evaluated(f(**symbols), points) for f in (row.log_cdf, row.log_sf)]
    wrong = []
    for point, *logs in zip(points, *found, strict=True):
        below, above = exact(both(row.name), point, WHOLE.get(row.name, ()), DIGITS)
        for own, (value, size), (other, _) in zip(
            logs, (below, above), (above, below), strict=True
        ):
            if disagrees(own, value, size + of_the_other(value, other)):
                wrong.append((point, float(own), float(value)))
    return wrong


def few(row):
    """Points from all over the grid."""
    points = list(GRID.points(row))
    return points[:: max(len(points) // FEW, 1)]


@pytest.mark.parametrize("name", ROWS)
def test_log_distribution_functions_keep_their_digits(name):
    row = FAMILIES[name]

    assert differences(row, (*few(row), *scaled(row))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_log_distribution_functions_keep_their_digits_at_all_points(name):
    row = FAMILIES[name]

    assert differences(row, GRID.points(row)) == []


def test_every_family_with_a_distribution_function_has_a_reference():
    assert set(TAILS) == set(ROWS)


def test_a_wrong_tail_is_caught(monkeypatch):
    for name, wrong in (
        ("HalfCauchy", lambda x, scale: sp.log(2 / sp.pi * sp.atan(scale / x))),
        ("Gumbel", lambda x, mu, scale: sp.log(1 - sp.exp(-sp.exp((mu - x) / scale)))),
        ("Poisson", lambda x, rate: LogGammaQ(x + 2, rate)),
    ):
        row = FAMILIES[name]
        monkeypatch.setitem(FAMILIES, name, replace(row, log_cdf=wrong, log_sf=wrong))
        with pytest.raises(AssertionError):
            test_log_distribution_functions_keep_their_digits(name)
