"""Seeds that germinated, of so many in each pot: odds ratios, with an effect of each pot."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(14)
treated, trials = np.tile([0, 1], 20), rng.integers(15, 40, 40)
logit = -0.5 + 1.0 * treated + rng.normal(0, 0.3, 40)
grown = rng.binomial(trials, 1 / (1 + np.exp(-logit)))

# task
with gp.Model() as model:
    x, n = gp.Data("treated", treated, dims="pot"), gp.Data("n", trials, dims="pot")
    a, b = gp.Normal("a", 0, sigma=2), gp.Normal("b", 0, sigma=2)
    spread = gp.HalfNormal("spread", sigma=1)
    effect = gp.Normal("effect", 0, sigma=spread, dims="pot")
    gp.Binomial("grown", n, p=gp.expit(a + b * x + effect), dims="pot", observed=grown)
    gp.Deterministic("odds ratio", gp.exp(b))
draws = gp.compile(model).sample(500, seed=1, progress=False)
low, high = draws.interval("odds ratio", 0.95)
# done

assert 1 < low < np.exp(1.0) < high
