"""Measurements of a polars frame, some of them null: their posteriors beside the regression."""

import numpy as np
import polars as pl

import gibbsppl as gp

rng = np.random.default_rng(12)
dose = np.linspace(0, 3, 40)
response = 1.0 + 2.0 * dose + rng.normal(0, 0.3, 40)
gone = [3, 17, 31]
seen = [None if i in gone else y for i, y in enumerate(response)]
frame = pl.DataFrame({"dose": dose, "response": seen})

# task
with gp.Model() as model:
    x = gp.Data("dose", frame["dose"], dims="row")
    a, b = gp.Normal("a", 0, sigma=10), gp.Normal("b", 0, sigma=10)
    noise = gp.HalfNormal("noise", sigma=1)
    gp.Normal("response", a + b * x, sigma=noise, dims="row", observed=frame["response"])
draws = gp.compile(model).sample(500, seed=1, progress=False)
low, high = draws.interval("response", 0.99)
# done

assert len(draws.summary("response").to_dataframe()) == len(gone)
assert (low[gone] < response[gone]).all()
assert (response[gone] < high[gone]).all()
assert abs(draws["b"].mean() - 2) < 4 * draws["b"].std()
