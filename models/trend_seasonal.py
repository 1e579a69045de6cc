"""Trend and season: quarterly gas consumption as a level that grows, and a pattern of the year.

    log consumption[t] ~ Normal(level[t] + season[t], tau)
    level[t] ~ Normal(level[t - 1] + slope[t - 1], tau_level)
    slope[t] ~ Normal(slope[t - 1], tau_slope)
    season[t] ~ Normal(-(season[t - 1] + season[t - 2] + season[t - 3]), tau_season)

The basic structural model of A. C. Harvey (1989), "Forecasting, Structural Time Series Models and
the Kalman Filter", chapter 2. Four seasons in a row sum to nearly nothing, and how nearly is
estimated, so that the pattern can change: that of these data did, as natural gas came to heat
homes. Levels, slopes and seasons are one joint draw, of a banded matrix.

Consumption of gas in the United Kingdom, in millions of therms, from the first quarter of 1960 to
the last of 1986; the data set UKgas of R, from J. Durbin and S. J. Koopman (2001), "Time Series
Analysis by State Space Methods", where the slope is a random walk as here.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

GAS = json.loads((Path(__file__).parent / "data" / "gas.json").read_text())
CONSUMPTION = np.log(GAS["therms"])

# Exact to the digits given: quadrature over the four variances, all states integrated out by a
# Kalman filter (tests/references/trend_seasonal.py computes it again).
REFERENCE = {
    "sd_noise": (0.039626685, 0.0),
    "sd_level": (0.020527066, 0.0),
    "sd_slope": (0.0058911439, 0.0),
    "sd_season": (0.056096826, 0.0),
    "level at the end": (6.537812, 0.0),
    "slope at the end": (0.024435503, 0.0),
    "season at the end": (0.13889398, 0.0),
}

NAMES = ("noise", "level", "slope", "season")


def model(
    consumption=CONSUMPTION,
    start=(5, 1, 0, 100, 4),
    noise_prior=(3, 0.005),
    level_prior=(3, 0.002),
    slope_prior=(3, 0.0002),
    season_prior=(3, 0.005),
):
    """The states of a log series; the priors of the precisions are shape and rate.

    ``start`` are mean and precision of the first level, those of the first slope, and the precision
    of each of the first three seasons.
    """
    quarters = range(len(consumption))
    with gp.Model(coords={"quarter": quarters}) as structural:
        priors = (noise_prior, level_prior, slope_prior, season_prior)
        tau, tau_level, tau_slope, tau_season = (
            gp.Gamma("tau" if name == "noise" else f"tau_{name}", shape, rate=rate)
            for name, (shape, rate) in zip(NAMES, priors, strict=True)
        )
        level, slope, season = (gp.Array(n, dims="quarter") for n in NAMES[1:])
        level[0] = gp.Normal(start[0], tau=start[1])
        slope[0] = gp.Normal(start[2], tau=start[3])
        season[:3] = gp.Normal(0, tau=start[4])
        grown = level.lag("quarter", 1) + slope.lag("quarter", 1)
        level[1:] = gp.Normal(grown, tau=tau_level)
        slope[1:] = gp.Normal(slope.lag("quarter", 1), tau=tau_slope)
        rest = -sum(season.lag("quarter", k) for k in (1, 2, 3))
        season[3:] = gp.Normal(rest, tau=tau_season)
        gp.Normal("consumption", level + season, tau=tau, dims="quarter", observed=consumption)
        for name, precision in zip(NAMES, (tau, tau_level, tau_slope, tau_season), strict=True):
            gp.Deterministic(f"sd_{name}", 1 / gp.sqrt(precision))
    return structural


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    last = {f"{name} at the end": draws[name][..., -1] for name in NAMES[1:]}
    return {f"sd_{name}": draws[f"sd_{name}"] for name in NAMES} | last
