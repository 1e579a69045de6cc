"""Counts with too many zeros: the share that is structural, and what a covariate does else."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(10)
x = rng.normal(size=300)
count = rng.poisson(np.exp(0.8 + 0.5 * x)) * (rng.random(300) < 0.7)

# task
with gp.Model() as model:
    covariate = gp.Data("x", x, dims="row")
    share = gp.Beta("share", 1, 1)
    a, b = gp.Normal("a", 0, sigma=2), gp.Normal("b", 0, sigma=2)
    rate = gp.exp(a + b * covariate)
    gp.ZeroInflatedPoisson("count", psi=share, rate=rate, dims="row", observed=count)
draws = gp.compile(model).sample(500, seed=1, progress=False)
# done

for name, truth in {"share": 0.7, "a": 0.8, "b": 0.5}.items():
    assert abs(draws[name].mean() - truth) < 4 * draws[name].std()
