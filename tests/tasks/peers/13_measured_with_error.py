import pymc as pm

# task
with pm.Model(coords={"person": range(100), "time": range(2)}) as model:
    centre, spread = pm.Normal("centre", 0, sigma=5), pm.HalfNormal("spread", sigma=2)
    x = pm.Normal("x", centre, sigma=spread, dims="person")
    error, noise = pm.HalfNormal("error", sigma=1), pm.HalfNormal("noise", sigma=1)
    pm.Normal("measured", x[:, None], sigma=error, dims=("person", "time"), observed=measured)
    a, b = pm.Normal("a", 0, sigma=5), pm.Normal("b", 0, sigma=5)
    pm.Normal("y", a + b * x, sigma=noise, dims="person", observed=y)
    idata = pm.sample(500, random_seed=1, progressbar=False)
# done
