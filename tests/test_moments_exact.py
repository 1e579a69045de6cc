"""Every family's mean and variance against arbitrary precision, at extreme parameters.

Rows are read from the table of families: one without a reference fails. All points of the grid are
slow: every day sees some of them.
"""

from dataclasses import replace

import pytest
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
        "BurrXII": {"c": POWERS},
        "GeneralizedGamma": {"power": POWERS},
        "GeneralizedInverseGaussian": {"p": (-9.3, 2.5), "a": (1e-9, 1e4), "b": (0.3, 1e4)},
        "ModifiedHalfNormal": {"a": (1e-6, 0.5, 40.0), "b": (0.01, 1.0, 40.0), "c": (-30.0, 0.0, 5.0)},
        "PolyaGamma": {"c": (-1e8, -40.0, -0.2, -1e-8, 0.0, 1e-100, 0.3, 9.0, 1e30)},
        "Hypergeometric": {"N": (20.0, 1e6, 1e15), "D": (7.0, 9.0), "n": (8.0,)},
        "Uniform": {"lower": (*(-v for v in LARGE), -1.0), "upper": (2.5, *LARGE)},
        "DiscreteUniform": {"lower": (-1e8, -2.0), "upper": (4.0, 1e8)},
    },
)
DIGITS = 250
WHOLE = {}
