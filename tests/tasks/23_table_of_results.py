"""A table of results for a paper: means and 90 % intervals by name, as CSV."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(23)
drug = np.repeat([*"ABC"], 20)
y = rng.normal(np.repeat([1.0, 2.0, 4.0], 20), 1)
with gp.Model() as model:
    of = gp.Index("of", drug, of="drug", dims="patient")
    mean = gp.Normal("mean", 0, sigma=10, dims="drug")
    sigma = gp.HalfNormal("sigma", sigma=2)
    gp.Normal("y", mean[of], sigma=sigma, dims="patient", observed=y)
draws = gp.compile(model).sample(500, seed=1, progress=False)

# task
table = draws.summary(probs=[0.05, 0.95]).to_dataframe()
text = table[["mean", "5%", "95%"]].round(2).to_csv()
# done

rows = [line.split(",") for line in text.splitlines()]
assert rows[0] == ["", "mean", "5%", "95%"]
assert [r[0] for r in rows[1:]] == ["mean[A]", "mean[B]", "mean[C]", "sigma"]
for row, k in zip(rows[1:4], range(3), strict=True):
    assert float(row[1]) == round(float(draws["mean"][..., k].mean()), 2)
