import pymc as pm

# task
with pm.Model(coords={"pot": range(40)}) as model:
    x, n = pm.Data("treated", treated, dims="pot"), pm.Data("n", trials, dims="pot")
    a, b = pm.Normal("a", 0, sigma=2), pm.Normal("b", 0, sigma=2)
    spread = pm.HalfNormal("spread", sigma=1)
    z = pm.Normal("z", 0, sigma=1, dims="pot")
    p = pm.math.invlogit(a + b * x + spread * z)
    pm.Binomial("grown", n, p=p, dims="pot", observed=grown)
    pm.Deterministic("odds ratio", pm.math.exp(b))
    idata = pm.sample(500, random_seed=1, progressbar=False)
low, high = idata.posterior["odds ratio"].quantile([0.025, 0.975])
# done
