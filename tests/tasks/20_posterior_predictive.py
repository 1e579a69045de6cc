"""Counts that vary more than a Poisson model says: a posterior predictive check sees it."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(20)
y = rng.negative_binomial(2, 0.3, 80)
with gp.Model() as model:
    rate = gp.Gamma("rate", 1, rate=0.1)
    gp.Poisson("y", rate, dims="i", observed=y)
sampler = gp.compile(model)

# task
draws = sampler.sample(500, seed=1, progress=False)
again = sampler.simulate(draws, seed=1)["y"]
p = np.mean(again.var(axis=-1) >= y.var())
# done

assert again.shape == (4, 500, 80)
assert p < 0.01
