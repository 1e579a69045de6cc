"""The log of a chi-squared number with one degree of freedom, and a mixture of ten normals near it.

The components of Y. Omori, S. Chib, N. Shephard and J. Nakajima (2007), "Stochastic volatility with
leverage: fast and efficient likelihood inference", Journal of Econometrics 140, table 1, digits as
they are there. What is left of the density besides the mixture is `log_chi_ratio`: between -10 and
2.5, where 99.4 % of the numbers are, within 0.06 of 0, of larger size in the tails.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.runtime.types import Numbers

SHARES = (
    0.00609, 0.04775, 0.13057, 0.20674, 0.22715, 0.18842, 0.12047, 0.05591, 0.01575, 0.00115,
)  # fmt: skip
MEANS = (
    1.92677, 1.34744, 0.73504, 0.02266, -0.85173, -1.97278, -3.46788, -5.55246, -8.68384, -14.65,
)  # fmt: skip
VARIANCES = (
    0.11265, 0.17788, 0.26768, 0.40611, 0.62699, 0.98583, 1.57469, 2.54498, 4.16591, 7.33342,
)  # fmt: skip

# Of each component the log of its share by its standard deviation, and half of its precision. (The
# density and the mixture both lack a factor of the root of 2 pi.)
LOG_SCALED = tuple(float(np.log(p / np.sqrt(v))) for p, v in zip(SHARES, VARIANCES, strict=True))
HALVES = tuple(0.5 / v for v in VARIANCES)


def log_chi_ratio(u: Numbers) -> Numbers:
    """The log of the density at ``u`` of the log of a chi-squared number, by that of the mixture.

    >>> print(f"{log_chi_ratio(-1.0):.4f} {log_chi_ratio(-40.0):.1f}")
    0.0008 31.6
    """
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.asarray(u, dtype=float)
        each = [a - b * (x - m) ** 2 for a, b, m in zip(LOG_SCALED, HALVES, MEANS, strict=True)]
        highest = np.maximum.reduce(each)
        total = sum((np.exp(e - highest) for e in each), np.zeros(x.shape))
        return (x - np.exp(x)) / 2 - highest - np.log(total)
