"""Effective sample sizes of draws, of the element that mixes worst, and the error of these.

The error is found over halves of chains, each with an effective sample size of its own, on the log
scale: ratios are compared.

>>> draws = {"x": np.random.default_rng(1).normal(size=(4, 500))}
>>> found = mixing(draws, ("x",))
>>> found.worst, 0.5 < found.share < 1.5, found.halves, found.error < 0.2
('x', True, 8, True)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import stdtr

from gibbsppl.errors import RunError
from gibbsppl.output.diagnostics import ess_bulk, r_hat
from gibbsppl.output.draws import Draws


@dataclass(frozen=True, slots=True)
class Mixing:
    """The mixing of the worst element: its bulk ESS as a share of the draws, its R-hat.

    ``error`` is the standard error of the log of the share, over so many ``halves`` of chains; NaN
    where they are too short to tell.
    """

    worst: str
    share: float
    r_hat: float
    error: float = nan
    halves: int = 0

    def below(self, other: Mixing, ratio: float) -> float:
        """The probability of such a ratio, or a larger one, of equals: of another one to this.

        ``ratio`` is of what is compared, in proportion to the shares. By Welch's test of the logs
        (B. L. Welch, 1947, Biometrika 34); 1 where errors are not known.
        """
        variances = [m.error**2 for m in (self, other)]
        total = sum(variances)
        if not 0.0 < total < inf or not 0.0 < ratio < inf:
            return 1.0
        freedom = total**2 / sum(
            v**2 / (m.halves - 1) for v, m in zip(variances, (self, other), strict=True)
        )
        return float(stdtr(freedom, -np.log(ratio) / sqrt(total)))


def mixing(draws: Mapping[str, Any] | Draws, names: Sequence[str]) -> Mixing:
    """The mixing of the element with the smallest bulk ESS, of variables by name."""
    worst: tuple[float, str, float, Any] = (inf, "-", nan, None)
    for variable in names:
        values = np.asarray(draws[variable], dtype=float)
        sizes, agreement = np.asarray(ess_bulk(values)), np.asarray(r_hat(values))
        sizes = np.where(np.isnan(agreement), inf, np.where(np.isnan(sizes), inf, sizes))
        at: Any = np.unravel_index(int(np.argmin(sizes)), sizes.shape) if sizes.ndim else ()
        if float(sizes[at]) < worst[0]:
            place = f"[{', '.join(map(str, at))}]" if at else ""
            own = values[(slice(None), slice(None), *at)]
            worst = float(sizes[at]), f"{variable}{place}", float(agreement[at]), own
    size, name, of_worst, own = worst
    if own is None:
        raise RunError("compare: nothing that was drawn varies; name variables with of=[...].")
    halves = [h for chain in own for h in np.array_split(chain, 2)]
    shares = np.array([float(ess_bulk(h[None])) / len(h) for h in halves])
    known = np.isfinite(shares).all() and (shares > 0.0).all() and len(shares) > 1
    error = float(np.std(np.log(shares), ddof=1) / sqrt(len(shares))) if known else nan
    return Mixing(name, size / own.size, of_worst, error, len(shares))
