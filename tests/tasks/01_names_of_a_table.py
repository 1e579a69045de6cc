"""Plots of land in a table, with the names of their farms: the yield of each farm, by name."""

import numpy as np
import pandas as pd

import gibbsppl as gp

rng = np.random.default_rng(1)
farms = ["Hof", "Lund", "Moor", "Wald"]
truth = dict(zip(farms, [4.0, 5.0, 6.5, 5.5], strict=True))
table = pd.DataFrame({"farm": rng.choice(farms, 80)})
table["crop"] = table["farm"].map(truth) + rng.normal(0, 0.5, 80)

# task
with gp.Model() as model:
    farm = gp.Index("farm_of", table["farm"], of="farm", dims="plot")
    mu, spread = gp.Normal("mu", 5, sigma=5), gp.HalfNormal("spread", sigma=2)
    level = gp.Normal("level", mu, sigma=spread, dims="farm")
    noise = gp.HalfNormal("noise", sigma=2)
    gp.Normal("crop", level[farm], sigma=noise, dims="plot", observed=table["crop"])
draws = gp.compile(model).sample(500, seed=1, progress=False)
found = draws.summary("level").to_dataframe()
# done

assert list(found.index) == [f"level[{f}]" for f in farms]
for name in farms:
    row = found.loc[f"level[{name}]"]
    assert abs(row["mean"] - truth[name]) < 4 * row["sd"]
