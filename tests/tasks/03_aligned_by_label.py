"""A covariate of groups in another order than the groups: it goes where its labels say."""

import numpy as np
import pandas as pd

import gibbsppl as gp

rng = np.random.default_rng(3)
towns = ["Bern", "Genf", "Basel", "Chur"]
height = pd.Series({"Chur": 593.0, "Basel": 260.0, "Bern": 540.0, "Genf": 375.0})
table = pd.DataFrame({"town": np.repeat(towns, 20)})
table["warmth"] = 20 - 0.01 * height[table["town"]].to_numpy() + rng.normal(0, 0.5, 80)

# task
with gp.Model(coords={"town": towns}) as model:
    town = gp.Index("town_of", table["town"], of="town", dims="day")
    above = gp.Data("height", height, dims="town")
    a, b = gp.Normal("a", 15, sigma=10), gp.Normal("b", 0, sigma=1)
    noise = gp.HalfNormal("noise", sigma=2)
    mean = gp.Deterministic("mean", a + b * above)
    gp.Normal("warmth", mean[town], sigma=noise, dims="day", observed=table["warmth"])
draws = gp.compile(model).sample(500, seed=1, progress=False)
# done

assert model.data["height"].tolist() == height[towns].tolist()
assert abs(draws["b"].mean() + 0.01) < 4 * draws["b"].std()
means = table.groupby("town")["warmth"].mean()[towns]
assert np.corrcoef(draws["mean"].mean(axis=(0, 1)), means)[0, 1] > 0.9
