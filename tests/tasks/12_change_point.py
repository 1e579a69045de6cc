"""Accidents of each year: when did their rate change, how certain is that, and by how much?"""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(12)
accidents = np.concatenate([rng.poisson(3.0, 40), rng.poisson(1.0, 60)])

# task
with gp.Model() as model:
    year = gp.Data("year", np.arange(100), dims="year of")
    change = gp.DiscreteUniform("change", 0, 99)
    before, after = gp.Gamma("before", 1, rate=1), gp.Gamma("after", 1, rate=1)
    rate = gp.where(year < change, before, after)
    gp.Poisson("accidents", rate, dims="year of", observed=accidents)
    gp.Deterministic("ratio", after / before)
draws = gp.compile(model).sample(1000, seed=1, progress=False)
low, high = draws.interval("change", 0.9)
# done

assert low <= 40 <= high < low + 20
assert abs(draws["ratio"].mean() - 1 / 3) < 4 * draws["ratio"].std()
assert draws.summary()["change"]["r_hat"] < 1.05
