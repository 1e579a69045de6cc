"""Every family's log density against arbitrary precision, at ordinary and at extreme arguments.

The interpreter and generated code read the same rows: here each row is compared with the textbook.
Arguments go from 1e-70 to 1e70: the squares of their ratios are still numbers. A family without
a row fails.
"""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import sympy as sp
from mpmath import mpf
from references.exact_densities import EVENTS, SCALAR
from references.exact_rows import DIGITS, Grid, disagrees, evaluated, exact, symbols_along
from test_families import (
    EXAMPLES,
    MATRIX,
    SIZES,
    X,
    event_of,
    points_of,
    symbols_of,
    target_of,
)

from gibbsppl.families import FAMILIES
from gibbsppl.model.evaluation import evaluate

REAL = (-1e70, -1e9, -1.3, 1e-9, 0.7, 1e9, 1e70)
POSITIVE = (1e-70, 1e-9, 0.3, 1.0, 40.0, 1e9, 1e70)
UNIT = (1e-70, 1e-9, 0.3, 0.5, 1 - 1e-9, 1 - 2.0**-53)
COUNTS = (0.0, 1.0, 7.0, 1e6, 1e15)
ANGLES = (-3.1, -1e-9, 0.0, 0.7, 3.1)

# What arguments of a row are compared at, where its support does not say; those that the textbook's
# formula is affordable at, of special functions.
AT = {
    "Binomial": {"x": (0.0, 2.0, 7.0), "n": (2.0, 1e6, 1e15)},
    "ZeroInflatedBinomial": {"x": (0.0, 2.0, 7.0), "n": (2.0, 1e6, 1e15)},
    "BetaBinomial": {
        "x": (0.0, 2.0, 7.0),
        "n": (2.0, 1e6, 1e15),
    },
    "ChineseRestaurantTable": {"x": (1.0, 3.0, 12.0), "n": (3.0, 200.0)},
    "Bernoulli": {"x": (0.0, 1.0)},
    "Hypergeometric": {"x": (0.0, 3.0, 7.0), "N": (20.0, 1e6, 1e15), "D": (7.0, 9.0), "n": (8.0,)},
    "DiscreteUniform": {"x": (0.0,), "lower": (-1e9, -2.0), "upper": (4.0, 1e9)},
    "Uniform": {"x": (0.0,), "lower": (-1e70, -1.0), "upper": (2.5, 1e70)},
    "Pareto": {"x": (1.5, 1e9, 1e70), "minimum": (1e-70, 1.5)},
    "VonMises": {"x": ANGLES, "mu": (*ANGLES, 1e4), "kappa": (1e-70, 0.3, 40.0, 1e6)},
    "Gumbel": {"x": (-500.0, -1.3, 0.7, 1e9), "mu": (-1e9, 0.7), "scale": (0.3, 1.0, 1e70)},
    "Gompertz": {"x": (1e-70, 0.3, 9.0), "shape": (1e-70, 0.3, 9.0)},
    "Weibull": {"shape": (1e-9, 0.3, 2.7), "rate": POSITIVE},
    "Frechet": {"shape": (1e-9, 0.3, 2.7), "rate": POSITIVE},
    "GeneralizedGamma": {"power": (1e-9, 0.3, 2.7)},
    "BurrXII": {"c": (1e-9, 0.3, 2.7)},
    "GeneralizedInverseGaussian": {"p": (-9.3, 2.5), "a": (1e-9, 1e4), "b": (0.3, 1e4)},
    "ModifiedHalfNormal": {"a": (1e-6, 0.5, 40.0), "b": (0.01, 1.0, 40.0), "c": (-30.0, 0.0, 5.0)},
    "PolyaGamma": {"x": (1e-3, 0.1, 4.0, 40.0), "b": (1e-3, 1.0, 1e3), "c": (-40.0, 0.0, 9.0)},
}

# Where the formula is one of whole numbers alone.
WHOLE = {
    "Bernoulli": ("x",),
    "ChineseRestaurantTable": ("x", "n"),
    "ZeroInflatedPoisson": ("x",),
    "ZeroInflatedBinomial": ("x", "n"),
    "ZeroInflatedNegativeBinomial": ("x",),
}


# Digits of references that take differences of the logs of gamma functions of what is huge.
MANY = dict.fromkeys(("StudentT", "HalfStudentT", "BetaBinomial", "ChineseRestaurantTable"), 120)
GRID = Grid(REAL, POSITIVE, UNIT, COUNTS, AT)


def found_at(row, point):
    event = event_of(row) if row.parameters else ()
    expr = sp.sympify(row.log_density(target_of(row), event, **symbols_of(row)))
    values = {n: np.asarray(v) for n, v in point.items()}
    return float(evaluate(expr, (), {**values, X: values["x"]}, SIZES))


def differences(row, reference, points):
    """The points at which a log density is not the reference's."""
    points = list(points)
    symbols = symbols_along(("x", *row.parameters))
    density = row.log_density(symbols.pop("x"), (), **symbols)
    wrong = []
    for point, found in zip(points, evaluated(density, points), strict=True):
        ((value, size),) = exact(
            lambda **p: [reference(**p)],
            point,
            WHOLE.get(row.name, ()),
            MANY.get(row.name, DIGITS),
        )
        if disagrees(found, value, size):
            wrong.append((point, float(found), float(value)))
    return wrong


@pytest.mark.parametrize("name", SCALAR)
def test_the_log_density_of_scalars_is_the_textbooks(name):
    row = FAMILIES[name]

    assert differences(row, SCALAR[name], GRID.points(row)) == []


def test_every_family_has_a_row():
    assert {*SCALAR, *EVENTS} == set(FAMILIES)


# Vectors and matrices.


def far(family, x, **parameters):
    return family, x, parameters


SHARES = [1e-70, 1e-9, 1 - 1e-9]
FAR = (
    far("Categorical", 2, p=SHARES),
    far("Categorical", 0, p=SHARES),
    far("Dirichlet", SHARES, a=[0.8, 2.0, 3.5]),
    far("Dirichlet", [0.2, 0.5, 0.3], a=[1e-9, 1e9, 2.0]),
    far("Dirichlet", [1e-70, 0.5, 0.5], a=[1e-70, 1.0, 1.0]),
    far("Multinomial", [0, 0, 6], n=6, p=SHARES),
    far("Multinomial", [0, 0, 0], n=0, p=[0.2, 0.5, 0.3]),
    far("Multinomial", [1e6, 2e6, 7e6], n=1e7, p=[0.1, 0.2, 0.7]),
    far("MvNormal", [1e30, -1e20, 0.0], mu=[0.0, 1.0, 2.0], tau=1e-30 * MATRIX),
    far("MvNormal", [1e-30, 0.0, 1e-9], mu=[0.0, 0.0, 0.0], tau=1e60 * MATRIX),
    far("MvStudentT", [1e60, 0.0, -1e60], nu=0.1, mu=[0.0, 0.0, 0.0], tau=MATRIX),
    far("MvStudentT", [0.3, 0.0, -1.0], nu=1e9, mu=[0.0, 0.0, 0.0], tau=MATRIX),
    far("MvStudentT", [1e-9, 0.0, 0.0], nu=3.0, mu=[0.0, 0.0, 0.0], tau=MATRIX),
    far("Wishart", 1e-30 * MATRIX, nu=2.001, V=1e-20 * MATRIX),
    far("Wishart", 1e6 * MATRIX, nu=1e6, V=MATRIX),
    far("InverseWishart", 1e-30 * MATRIX, nu=2.001, S=1e-20 * MATRIX),
    far("InverseWishart", 1e-6 * MATRIX, nu=1e6, S=MATRIX),
    far("VonMisesFisher", [0.6, 0.0, -0.8], mu=[0.6, 0.0, -0.8], kappa=1e-70),
    far("VonMisesFisher", [0.6, 0.0, -0.8], mu=[0.0, 1.0, 0.0], kappa=1e6),
)
ORDINARY = tuple(
    (e.family, x, e.parameters)
    for e in EXAMPLES
    if e.family in EVENTS
    for x in (points_of(e, 2) if e.family != "Categorical" else (0, 1, 2))
)


def as_exact(value):
    value = np.asarray(value, float)
    return mpf(float(value)) if value.ndim == 0 else mpmath.matrix(value.tolist())


@pytest.mark.parametrize("family", EVENTS)
def test_the_log_density_of_events_is_the_textbooks(family):
    row = FAMILIES[family]
    for name, x, parameters in (*ORDINARY, *FAR):
        if name != family:
            continue
        point = {"x": x, **parameters}
        with mpmath.workdps(20 if family == "HuangWand" else DIGITS):
            terms = EVENTS[family](**{n: as_exact(v) for n, v in point.items()})
            value, size = mpmath.fsum(terms), mpmath.fsum(map(abs, terms))
            found = found_at(row, {n: np.asarray(v, float) for n, v in point.items()})
            assert not disagrees(found, value, size), point


def test_wrong_rows_are_caught(monkeypatch):
    for family, more in (("Gamma", 1e-9), ("Poisson", 1e-9), ("MvNormal", 1e-9)):
        row = FAMILIES[family]
        density = row.log_density
        wrong = replace(row, log_density=lambda *a, f=density, m=more, **p: f(*a, **p) + m)
        monkeypatch.setitem(FAMILIES, family, wrong)
        test = (
            test_the_log_density_of_events_is_the_textbooks
            if family in EVENTS
            else test_the_log_density_of_scalars_is_the_textbooks
        )
        with pytest.raises(AssertionError):
            test(family)
