import pymc as pm

# task
with pm.Model() as model:
    covariate = pm.Data("x", x, dims="row")
    share = pm.Beta("share", 1, 1)
    a, b = pm.Normal("a", 0, sigma=2), pm.Normal("b", 0, sigma=2)
    rate = pm.math.exp(a + b * covariate)
    pm.ZeroInflatedPoisson("count", psi=share, mu=rate, dims="row", observed=count)
    idata = pm.sample(500, random_seed=1, progressbar=False)
# done
