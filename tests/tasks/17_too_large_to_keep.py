"""Many latent numbers that are too large to keep: their means and intervals, without the draws."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(17)
truth = rng.normal(size=5000)
y = truth + rng.normal(0, 0.5, 5000)
with gp.Model(coords={"site": 5000}) as model:
    spread = gp.HalfNormal("spread", sigma=2)
    level = gp.Normal("level", 0, sigma=spread, dims="site")
    gp.Normal("y", level, sigma=0.5, dims="site", observed=y)

# task
sampler = gp.compile(model)
draws = sampler.sample(400, keep=["spread"], monitor=["level"], seed=1, progress=False)
level = draws.monitored["level"]
# done

assert list(draws) == ["spread"]
inside = (level.quantiles[0.05] < truth) & (truth < level.quantiles[0.95])
assert abs(inside.mean() - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 5000)
assert np.corrcoef(level.mean, truth)[0, 1] > 0.85
