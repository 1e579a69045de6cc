"""Intercepts and slopes of groups that are correlated: the correlation, with its interval."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(9)
covariance = np.array([[1.0, -0.6], [-0.6, 1.0]])
effects = rng.multivariate_normal([3.0, 1.0], covariance, 40)
group = np.repeat(np.arange(40), 8)
x = rng.normal(size=320)
y = effects[group, 0] + effects[group, 1] * x + rng.normal(0, 0.5, 320)

# task
with gp.Model(coords={"group": 40, "term": ["intercept", "slope"]}) as model:
    group_of = gp.Index("group_of", group, of="group", dims="row")
    design = gp.Data("design", np.c_[np.ones(320), x], dims=("row", "term"))
    mean = gp.Normal("mean", 0, sigma=5, dims="term")
    cov = gp.HuangWand("cov", nu=2, scale=1, dims=("term", "term'"))
    effect = gp.MvNormal("effect", mean, cov=cov, dims=("group", "term"))
    noise = gp.HalfNormal("noise", sigma=2)
    mu = gp.sum(design * effect[group_of], "term")
    gp.Normal("y", mu, sigma=noise, dims="row", observed=y)
draws = gp.compile(model).sample(500, seed=1, progress=False)
cov = draws["cov"]
correlation = cov[..., 0, 1] / np.sqrt(cov[..., 0, 0] * cov[..., 1, 1])
low, high = np.quantile(correlation, [0.025, 0.975])
# done

assert low < np.corrcoef(effects.T)[0, 1] < high < 0
