"""Local level: the annual flow of the Nile at Aswan, a random walk seen with noise.

    flow[t] ~ Normal(level[t], tau_flow),   level[t] ~ Normal(level[t - 1], tau_level)

All levels are drawn jointly: their precision matrix is tridiagonal. One by one, a level moves as
far as its two neighbours let it, which is hardly at all where the level changes slowly.

The flow in 10^8 cubic metres from 1871 to 1970, analysed by J. Durbin and S. J. Koopman (2012),
"Time Series Analysis by State Space Methods", 2nd edition, chapter 2, where the estimates by
maximum likelihood are 15099 for the variance of the noise and 1469 for that of the level; the
numbers are those of the data set Nile of R. A flow that is missing (a masked array) is drawn along.
"""

import json
from pathlib import Path

import gibbsppl as gp

NILE = json.loads((Path(__file__).parent / "data" / "nile.json").read_text())
FIRST, FLOW = NILE["first"], NILE["flow"]

# Exact to the digits given: quadrature over both variances, the levels integrated out by a Kalman
# filter and smoother (tests/references/local_level.py computes it again).
REFERENCE = {
    "variance_flow": (15440.235, 0.0),
    "variance_level": (1366.3043, 0.0),
    "level[1871]": (1108.829, 0.0),
    "level[1899]": (952.00169, 0.0),
    "level[1913]": (805.30451, 0.0),
    "level[1970]": (806.84483, 0.0),
}

YEARS = (1871, 1899, 1913, 1970)


def model(
    flow=FLOW,
    first=FIRST,
    start=(1000, 1e-6),
    noise_prior=(2, 15_000),
    level_prior=(2, 1500),
):
    """The levels; ``start`` is mean and precision of the first, the priors are shape and rate."""
    with gp.Model(coords={"year": range(first, first + len(flow))}) as nile:
        tau_flow = gp.Gamma("tau_flow", noise_prior[0], rate=noise_prior[1])
        tau_level = gp.Gamma("tau_level", level_prior[0], rate=level_prior[1])
        level = gp.Array("level", dims="year")
        level[0] = gp.Normal(start[0], tau=start[1])
        level[1:] = gp.Normal(level.lag("year", 1), tau=tau_level)
        gp.Normal("flow", level, tau=tau_flow, dims="year", observed=flow)
        gp.Deterministic("variance_flow", 1 / tau_flow)
        gp.Deterministic("variance_level", 1 / tau_level)
    return nile


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    levels = {f"level[{year}]": draws["level"][..., year - FIRST] for year in YEARS}
    return {name: draws[name] for name in ("variance_flow", "variance_level")} | levels
