"""Before any data: what do the priors say of the heights of people?"""

import numpy as np
from scipy.stats import norm

import gibbsppl as gp

age = np.linspace(20, 60, 30)

# task
with gp.Model() as model:
    x = gp.Data("age", age, dims="person")
    a, b = gp.Normal("a", 170, sigma=20), gp.Normal("b", 0, sigma=10)
    gp.Normal("height", a + b * x, sigma=10, dims="person")
heights = gp.simulate(model, seed=1, draws=1000)["height"]
absurd = np.mean((heights < 0) | (heights > 300))
# done

sd = np.sqrt(20**2 + (10 * age) ** 2 + 10**2)
expected = 1 - (norm.cdf((300 - 170) / sd) - norm.cdf((0 - 170) / sd)).mean()
assert abs(absurd - expected) < 4 * np.sqrt(expected * (1 - expected) / 1000)
