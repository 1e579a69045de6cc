import pymc as pm

# task
seen = np.ma.masked_invalid(frame["response"].to_numpy())
with pm.Model(coords={"row": range(len(frame))}) as model:
    x = pm.Data("dose", frame["dose"].to_numpy(), dims="row")
    a, b = pm.Normal("a", 0, sigma=10), pm.Normal("b", 0, sigma=10)
    noise = pm.HalfNormal("noise", sigma=1)
    pm.Normal("response", a + b * x, sigma=noise, dims="row", observed=seen)
    idata = pm.sample(500, random_seed=1, progressbar=False)
low, high = idata.posterior["response"].quantile([0.005, 0.995], ("chain", "draw"))
# done
