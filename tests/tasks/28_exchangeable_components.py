"""Components that have changed places between chains: a summary of each, numbered alike."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(28)
y = np.concatenate([rng.normal(-3, 1, 40), rng.normal(0, 1, 40), rng.normal(4, 1, 40)])
with gp.Model(coords={"k": 3}) as model:
    share = gp.Dirichlet("share", 1, dims="k")
    centre = gp.Normal("centre", 0, sigma=5, dims="k")
    z = gp.Categorical("z", gp.Data("one", np.ones(120), dims="i") * share, dims="i", event="k")
    gp.Normal("y", centre[z], sigma=1, dims="i", observed=y)
sampler = gp.compile(model)
draws = sampler.sample(500, seed=1, progress=False)

# task
alike = sampler.relabelled(draws, "z")
table = alike.summary("centre").to_dataframe()
# done

assert sorted(np.round(table["mean"])) == [-3, 0, 4]
assert (table["r_hat"] < 1.05).all()
