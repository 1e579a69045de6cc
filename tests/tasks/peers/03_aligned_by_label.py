import pymc as pm

# task
codes = pd.Categorical(table["town"], categories=towns).codes
with pm.Model(coords={"town": towns, "day": table.index}) as model:
    above = pm.Data("height", height.reindex(towns), dims="town")
    a, b = pm.Normal("a", 15, sigma=10), pm.Normal("b", 0, sigma=1)
    noise = pm.HalfNormal("noise", sigma=2)
    mean = pm.Deterministic("mean", a + b * above, dims="town")
    pm.Normal("warmth", mean[codes], sigma=noise, dims="day", observed=table["warmth"])
    idata = pm.sample(500, random_seed=1, progressbar=False)
# done
