"""A forest plot and a posterior predictive plot with ArviZ, from a saved file."""

import tempfile
from pathlib import Path

import arviz as az
import matplotlib as mpl
import numpy as np

import gibbsppl as gp

mpl.use("agg")
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(29)
y = rng.normal([[1.0, 2.0, 3.0]], 1, (20, 3))
with gp.Model(coords={"i": 20, "group": [*"abc"]}) as model:
    mean = gp.Normal("mean", 0, sigma=5, dims="group")
    gp.Normal("y", mean, sigma=1, dims=("i", "group"), observed=y)
sampler = gp.compile(model)
draws = sampler.sample(500, seed=1, progress=False)

# task
sampler.with_groups(draws, posterior_predictive=True).save(folder / "draws.nc")
data = gp.load_draws(folder / "draws.nc").to_arviz()
az.plot_forest(data, var_names=["mean"])
az.plot_ppc(data, num_pp_samples=20)
# done

assert data.posterior_predictive["y"].shape == (4, 500, 20, 3)
assert list(data.posterior["mean"].coords["group"].values) == [*"abc"]
