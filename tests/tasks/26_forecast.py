"""The next twelve months of a series with a trend, with a band that widens."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(26)
y = np.cumsum(0.3 + rng.normal(0, 0.5, 72)) + rng.normal(0, 0.3, 72)
with gp.Model(coords={"month": np.arange("2020-01", "2026-01", dtype="datetime64[M]")}) as model:
    step, noise = gp.HalfNormal("step", sigma=1), gp.HalfNormal("noise", sigma=1)
    drift = gp.Normal("drift", 0, sigma=1)
    level = gp.Array("level", dims="month")
    level[0] = gp.Normal(0, sigma=5)
    level[1:] = gp.Normal(drift + level.lag("month", 1), sigma=step)
    gp.Normal("y", level, sigma=noise, dims="month", observed=y)
sampler = gp.compile(model)
draws = sampler.sample(500, seed=1, progress=False)

# task
future = sampler.simulate(draws, new={"month": 12})
low, high = future.interval("y", 0.9)
# done

assert low.shape == (12,)
assert str(future.coords["month"][0]) == "2026-01"
width = high - low
assert width[-1] > 1.5 * width[0]
drift = draws["drift"].mean()
assert abs((low + high)[-1] / 2 - (draws["level"][..., -1].mean() + 12 * drift)) < width[-1] / 8
