"""A long run in a folder that was stopped half way: it goes on, and ends with the same draws."""

import tempfile
from pathlib import Path

import numpy as np

import gibbsppl as gp

folder = Path(tempfile.mkdtemp()) / "run"
y = np.random.default_rng(16).normal(3, 2, 50)
with gp.Model() as model:
    mu, sigma = gp.Normal("mu", 0, sigma=10), gp.HalfNormal("sigma", sigma=5)
    gp.Normal("y", mu, sigma=sigma, dims="i", observed=y)
sampler = gp.compile(model)


def stopped(view):
    if view.draws == 300:
        raise KeyboardInterrupt


# task
sampler.sample(1000, checkpoint=folder, callback=stopped, seed=1, progress=False)
draws = gp.resume(folder, progress=False)
# done

whole = sampler.sample(1000, seed=1, progress=False)
assert draws.draws == 1000
assert (draws["mu"] == whole["mu"]).all()
