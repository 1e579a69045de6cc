"""A covariate measured twice with error: the slope on what was meant, not on what was measured."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(13)
meant = rng.normal(2, 1, 100)
measured = meant[:, None] + rng.normal(0, 0.8, (100, 2))
y = 1 + 2 * meant + rng.normal(0, 0.5, 100)

# task
with gp.Model() as model:
    centre, spread = gp.Normal("centre", 0, sigma=5), gp.HalfNormal("spread", sigma=2)
    x = gp.Normal("x", centre, sigma=spread, dims="person")
    error, noise = gp.HalfNormal("error", sigma=1), gp.HalfNormal("noise", sigma=1)
    gp.Normal("measured", x, sigma=error, dims=("person", "time"), observed=measured)
    a, b = gp.Normal("a", 0, sigma=5), gp.Normal("b", 0, sigma=5)
    gp.Normal("y", a + b * x, sigma=noise, dims="person", observed=y)
draws = gp.compile(model).sample(500, warmup=1000, seed=1, progress=False)
# done

naive = np.polyfit(measured.mean(axis=1), y, 1)[0]
assert abs(draws["b"].mean() - 2) < 4 * draws["b"].std()
assert naive < 1.8 < draws["b"].mean()
