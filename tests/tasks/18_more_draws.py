"""A finished run, saved and read again another day: a thousand draws more."""

import tempfile
from pathlib import Path

import numpy as np

import gibbsppl as gp

folder = Path(tempfile.mkdtemp())
y = np.random.default_rng(18).poisson(4, 40)
with gp.Model() as model:
    rate = gp.Gamma("rate", 1, rate=0.1)
    gp.Poisson("y", rate, dims="i", observed=y)
sampler = gp.compile(model)
sampler.sample(1000, seed=1, progress=False).save(folder / "run.nc")

# task
draws = sampler.extend(gp.load_draws(folder / "run.nc"), more=1000, progress=False)
# done

assert draws["rate"].shape == (4, 2000)
assert (draws["rate"] == sampler.sample(2000, seed=1, progress=False)["rate"]).all()
