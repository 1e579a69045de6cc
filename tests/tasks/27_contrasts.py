"""How much better is each treatment than the control, and which is the best?"""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(27)
arm = np.repeat(["control", "low", "high"], 40)
y = rng.normal(np.repeat([0.0, 0.5, 1.5], 40), 1)
with gp.Model(coords={"arm": ["control", "low", "high"]}) as model:
    of = gp.Index("of", arm, of="arm", dims="patient")
    mean = gp.Normal("mean", 0, sigma=5, dims="arm")
    sigma = gp.HalfNormal("sigma", sigma=2)
    gp.Normal("y", mean[of], sigma=sigma, dims="patient", observed=y)
draws = gp.compile(model).sample(1000, seed=1, progress=False)

# task
mean = draws.to_datatree()["posterior"]["mean"]
better = mean.sel(arm=["low", "high"]) - mean.sel(arm="control")
intervals = better.quantile([0.05, 0.95], ("chain", "draw"))
best = (mean.argmax("arm") == 2).mean().item()
# done

exact = [y[arm == a].mean() - y[arm == "control"].mean() for a in ("low", "high")]
assert (intervals[0] < exact).all()
assert (exact < intervals[1]).all()
assert best > 0.99
