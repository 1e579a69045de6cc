"""A wide table of repeated measures (xarray) with gaps: a line for each animal."""

import numpy as np
import xarray as xr

import gibbsppl as gp

rng = np.random.default_rng(4)
slopes = np.array([5.0, 6.0, 7.0, 6.5])
day = np.array([8, 15, 22, 29, 36])
weight = 100 + slopes[:, None] * day + rng.normal(0, 5, (4, 5))
weight[1, 3:] = weight[3, 4] = np.nan
wide = xr.DataArray(weight, {"rat": ["a", "b", "c", "d"], "day": day}, ("rat", "day"))

# task
with gp.Model(coords={"rat": wide["rat"], "day": wide["day"]}) as model:
    x = gp.Data("x", day, dims="day")
    start = gp.Normal("start", 100, sigma=50, dims="rat")
    slope = gp.Normal("slope", 6, sigma=3, dims="rat")
    noise = gp.HalfNormal("noise", sigma=20)
    gp.Normal("weight", start + slope * x, sigma=noise, observed=wide, missing=np.nan)
draws = gp.compile(model).sample(500, seed=1, progress=False)
last = draws.summary("weight").to_dataframe()
# done

assert list(last.index) == ["weight[b, 29]", "weight[b, 36]", "weight[d, 36]"]
error = draws["slope"].mean(axis=(0, 1)) - slopes
assert (np.abs(error) < 4 * draws["slope"].std(axis=(0, 1))).all()
