"""A patient of a known clinic, and one of a clinic not seen before: 90 % intervals of both."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(25)
clinic = np.repeat(["north", "south", "east", "west"], 25)
effect = dict(zip(["north", "south", "east", "west"], [1.0, 3.0, 2.0, 5.0], strict=True))
y = np.array([effect[c] for c in clinic]) + rng.normal(0, 0.5, 100)
with gp.Model() as model:
    of = gp.Index("clinic_of", clinic, of="clinic", dims="patient")
    mu, spread = gp.Normal("mu", 0, sigma=10), gp.HalfNormal("spread", sigma=5)
    level = gp.Normal("level", mu, sigma=spread, dims="clinic")
    noise = gp.HalfNormal("noise", sigma=1)
    gp.Normal("y", level[of], sigma=noise, dims="patient", observed=y)
sampler = gp.compile(model)
draws = sampler.sample(1000, seed=1, progress=False)

# task
known = sampler.simulate(draws, new={"clinic_of": ["south"]}).interval("y", 0.9)
other = sampler.simulate(draws, new={"clinic": 1, "clinic_of": [0]}).interval("y", 0.9)
# done

assert known[0][0] < 3.0 < known[1][0]
assert abs(np.subtract(*known[::-1])[0] - 2 * 1.645 * 0.5) < 0.3
assert np.subtract(*other[::-1])[0] > 2 * np.subtract(*known[::-1])[0]
