"""Two kinds of days in one histogram: the probability of each day that it is of the second kind."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(11)
kind = (rng.random(150) < 0.3).astype(int)
y = rng.normal(np.where(kind, 4.0, 0.0), 1.0)

# task
with gp.Model(coords={"kind": 2}) as model:
    share = gp.Dirichlet("share", 1, dims="kind")
    center = gp.Normal("center", 0, sigma=5, dims="kind")
    gp.Constraint("order", center.lag("kind", 1) < center)
    sigma = gp.HalfNormal("sigma", sigma=2)
    z = gp.Categorical("z", share, dims="day")
    gp.Normal("y", center[z], sigma=sigma, dims="day", observed=y)
draws = gp.compile(model).sample(500, seed=1, progress=False)
second = draws["z"].mean(axis=(0, 1))
# done

assert np.mean((second > 0.5) == kind) > 0.9
assert abs(draws["share"][..., 1].mean() - kind.mean()) < 4 * draws["share"][..., 1].std()
assert (np.diff(draws["center"], axis=-1) > 0).all()
