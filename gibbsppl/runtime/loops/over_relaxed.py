"""Over-relaxed moves of one number or vector, as in `gibbsppl.runtime.over_relaxed`.

>>> import numpy as np
>>> float(round(over_relaxed_normal(np.random.default_rng(1), 2.0, -0.5, 5.0, -1 + 1e-9), 1))
-1.0
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .matrices import backward, forward
from .vectors import precision_factor

APART: Mapping[str, str] = {}


@kernel
def over_relaxed_normal(
    rng: Generator, eta_1: float, eta_2: float, x: float, alpha: float
) -> float:
    """A move of a value with log density ``eta_1 x + eta_2 x**2``."""
    if not eta_2 < 0.0:
        raise ValueError("a precision of a normal draw is not positive")
    variance = -0.5 / eta_2
    mean = eta_1 * variance
    fresh = sqrt((1.0 - alpha * alpha) * variance) * rng.standard_normal()
    return mean + alpha * (x - mean) + fresh


@kernel
def over_relaxed_mvnormal(
    rng: Generator, eta_1: Floats, eta_2: Floats, x: Floats, alpha: float, out: Floats
) -> None:
    """The same of a vector, with ``sum of eta_1[k] x[k] + sum of eta_2[k, l] x[k] x[l]``.

    ``out`` may be the vector itself.
    """
    precision_factor(eta_2)
    forward(eta_2, eta_1)
    scale = sqrt(1.0 - alpha * alpha)
    for k in range(len(eta_1)):
        eta_1[k] = (1.0 - alpha) * eta_1[k] + scale * rng.standard_normal()
    backward(eta_2, eta_1)
    for k in range(len(eta_1)):
        out[k] = eta_1[k] + alpha * x[k]
