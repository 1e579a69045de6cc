"""Flat priors and data that leave something open: it is told before the run, and by name."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError

x = np.arange(10.0)
y = np.repeat([0, 1], 5)  # (separated by x: the slope has no finite best value)

# task
with gp.Model() as model:
    covariate = gp.Data("x", x, dims="i")
    a, b = gp.Flat("a"), gp.Flat("b")
    gp.Bernoulli("y", gp.expit(a + b * covariate), dims="i", observed=y)
with pytest.raises(RunError) as told:
    gp.compile(model).sample(500, seed=1, progress=False)
# done

assert "the posterior is improper" in str(told.value)
assert "give a or b a proper prior" in str(told.value)
