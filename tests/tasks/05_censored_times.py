"""Times to failure, some machines still running: the shape and the median of a Weibull."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(5)
times = 10 * rng.weibull(1.5, 120)
end = 12.0
running, seen = times > end, np.minimum(times, end)

# task
with gp.Model() as model:
    shape, scale = gp.Gamma("shape", 2, rate=1), gp.Gamma("scale", 2, rate=0.1)
    life = gp.Weibull(shape, scale=scale)
    gp.Censored("life", life, event=~running, dims="machine", observed=seen)
    gp.Deterministic("median", scale * np.log(2) ** (1 / shape))
draws = gp.compile(model).sample(500, seed=1, progress=False)
# done

assert abs(draws["shape"].mean() - 1.5) < 4 * draws["shape"].std()
assert abs(draws["median"].mean() - 10 * np.log(2) ** (1 / 1.5)) < 4 * draws["median"].std()
