"""Every log partition function against arbitrary precision, at extreme natural parameters.

Rows are read from the table of families: one without a reference fails. All points of the grid are
slow: every day sees some of them.
"""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from references.exact_partitions import PARTITIONS
from references.exact_rows import Grid, disagrees, evaluated, exact, symbols_along
from scipy import stats

from gibbsppl.families import FAMILIES

LARGE = (1e8, 1e30, 1e70)
SMALL = tuple(1 / v for v in LARGE[::-1])
# Natural parameters that are logs of odds, or of probabilities.
LOGS = (1e-70, 1e-9, 0.3, 40.0, 700.0)

GRID = Grid(
    real=(*(-v for v in LARGE), -1.3, 1e-8, 0.7, *LARGE),
    positive=(*SMALL, 0.3, 1.0, 40.0, *LARGE),
    unit=LOGS,
    counts=(0.0, 1.0, 7.0, 1e8, 1e15),
    at={
        "Bernoulli": {"p": (*LOGS, *(-v for v in LOGS))},
        "Binomial": {"p": (*LOGS, *(-v for v in LOGS))},
        "Poisson": {"rate": (*LOGS, *(-v for v in LOGS))},
        "ChineseRestaurantTable": {"alpha": (-200.0, -1.0, 1e-9, 3.0, 100.0)},
        "GeneralizedInverseGaussian": {"p": (-9.3, 2.5), "a": (1e-9, 1e4), "b": (0.3, 1e4)},
        "ModifiedHalfNormal": {"a": (1e-6, 40.0), "b": (0.01, 40.0), "c": (-30.0, 5.0)},
        "VonMises": {"mu": (-1e9, 0.3, 1e3), "kappa": (1e-70, 0.3, 40.0, 1e6)},
        "Pareto": {"minimum": (*SMALL, 1.5)},
        "Uniform": {"lower": (*(-v for v in LARGE), -1.0), "upper": (2.5, *LARGE)},
        "DiscreteUniform": {"lower": (-1e8, -2.0), "upper": (4.0, 1e8)},
    },
)
DIGITS = 200
# So many points of a row are looked at every day.
FEW = 10
LONG = ("GeneralizedInverseGaussian", "ModifiedHalfNormal")
ROWS = [
    n
    for n, row in FAMILIES.items()
    if not row.event and row.natural is not None and row.natural.log_partition is not None
]


def natural_points(row, points):
    """Natural parameters at parameters, with what must be known, where they are in the domain."""
    known, (natural, _) = row.natural.known, PARTITIONS[row.name]
    for point in points:
        etas = {f"eta_{j}": v for j, v in enumerate(natural(**point))}
        found = {**etas, **{n: point[n] for n in known}}
        if np.isfinite([*found.values()]).all() and is_inside(row, found):
            yield found


def is_inside(row, point):
    """Whether natural parameters, which are rounded, are where the density is proper."""
    symbols, known = named(row, point)
    return all(evaluated(e, [point])[0] > 0 for e in row.natural.domain(*symbols, **known))


def named(row, point):
    """Leaves for natural parameters, and for what must be known by name."""
    leaves = symbols_along(point)
    return (
        [v for n, v in leaves.items() if n not in row.natural.known],
        {n: v for n, v in leaves.items() if n in row.natural.known},
    )


def differences(row, points):
    """The points at which a log partition is not the reference's."""
    points = list(natural_points(row, points))
    _, terms = PARTITIONS[row.name]
    symbols, known = named(row, points[0])
    formula = row.natural.log_partition(*symbols, **known)
    wrong = []
    for point, found in zip(points, evaluated(formula, points), strict=True):
        names = list(point)

        def reference(names=names, **values):
            etas = [values[n] for n in names if n.startswith("eta_")]
            return [terms(*etas, **{n: values[n] for n in names if n in row.natural.known})]

        ((value, size),) = exact(reference, point, (), DIGITS)
        if disagrees(found, value, size):
            wrong.append((point, float(found), float(value)))
    return wrong


def few(row):
    """Points from all over the grid."""
    points = list(GRID.points(row, x=False))
    return points[:: max(len(points) // FEW, 1)]


@pytest.mark.parametrize("name", [n for n in ROWS if n not in LONG])
def test_log_partitions_keep_their_digits(name):
    row = FAMILIES[name]

    assert differences(row, few(row)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_log_partitions_keep_their_digits_at_all_points(name):
    row = FAMILIES[name]

    assert differences(row, GRID.points(row, x=False)) == []


def test_every_log_partition_has_a_reference():
    assert set(PARTITIONS) == set(ROWS)


def test_a_wrong_log_partition_is_caught(monkeypatch):
    row = FAMILIES["Geometric"]
    wrong = replace(row.natural, log_partition=lambda eta: -sp.log(1 - sp.exp(eta)) + 1e-9)
    monkeypatch.setitem(FAMILIES, row.name, replace(row, natural=wrong))
    with pytest.raises(AssertionError):
        test_log_partitions_keep_their_digits(row.name)


EDGES = {
    "b is 0": ((1.5, -0.7, 0.0), stats.gamma(2.5, scale=1 / 0.7)),
    "a is 0": ((-4.5, 0.0, -0.7), stats.invgamma(3.5, scale=0.7)),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_generalized_inverse_gaussian_with_one_end_is_a_gamma_or_its_inverse(name):
    """Its Bessel function is infinite there; its density, its mean and its variance are not."""
    (eta_1, eta_2, eta_3), law = EDGES[name]
    row = FAMILIES["GeneralizedInverseGaussian"]
    point = {"eta_1": eta_1, "eta_2": eta_2, "eta_3": eta_3}
    symbols = symbols_along(point)

    (found,) = evaluated(row.natural.log_partition(*symbols.values()), [point])
    x = 1.3
    density = eta_1 * np.log(x) + eta_2 * x + eta_3 / x - found
    assert density == pytest.approx(law.logpdf(x), rel=1e-13)

    parameters = {"p": eta_1 + 1, "a": -2 * eta_2, "b": -2 * eta_3}
    of = symbols_along(parameters)
    for formula, value in ((row.mean, law.mean()), (row.variance, law.var())):
        (moment,) = evaluated(formula((), **of), [parameters])
        assert moment == pytest.approx(value, rel=1e-13)


def test_the_inverse_gamma_without_a_mean_has_none_at_the_edge():
    row, parameters = FAMILIES["GeneralizedInverseGaussian"], {"p": -0.8, "a": 0.0, "b": 2.0}
    (mean,) = evaluated(row.mean((), **symbols_along(parameters)), [parameters])

    assert mean == np.inf
