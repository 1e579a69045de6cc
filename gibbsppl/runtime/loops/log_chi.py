"""The density of the log of a chi-squared number by its mixture, as `gibbsppl.runtime.log_chi`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.log_chi import HALVES, LOG_SCALED, MEANS

from . import kernel

APART: Mapping[str, str] = {}


@kernel
def log_chi_ratio(u: float) -> float:
    """The log of the density at ``u`` of the log of a chi-squared number, by the mixture's."""
    highest = -np.inf
    for k in range(len(MEANS)):
        highest = max(highest, LOG_SCALED[k] - HALVES[k] * (u - MEANS[k]) ** 2)
    total = 0.0
    for k in range(len(MEANS)):
        total += np.exp(LOG_SCALED[k] - HALVES[k] * (u - MEANS[k]) ** 2 - highest)
    return (u - np.exp(u)) / 2.0 - highest - np.log(total)
