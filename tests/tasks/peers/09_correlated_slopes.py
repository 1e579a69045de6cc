import pymc as pm

# task
with pm.Model(coords={"group": range(40), "term": ["intercept", "slope"]}) as model:
    group_of = pm.Data("group_of", group, dims="row")
    design = pm.Data("design", np.c_[np.ones(320), x], dims=("row", "term"))
    mean = pm.Normal("mean", 0, sigma=5, dims="term")
    sd = pm.HalfNormal.dist(sigma=2, shape=2)
    chol, corr, sds = pm.LKJCholeskyCov("chol", n=2, eta=1, sd_dist=sd)
    pm.Deterministic("correlation", corr[0, 1])
    z = pm.Normal("z", 0, sigma=1, dims=("group", "term"))
    effect = pm.Deterministic("effect", mean + z @ chol.T, dims=("group", "term"))
    noise = pm.HalfNormal("noise", sigma=2)
    mu = (design * effect[group_of]).sum(axis=1)
    pm.Normal("y", mu, sigma=noise, dims="row", observed=y)
    idata = pm.sample(500, random_seed=1, progressbar=False)
low, high = idata.posterior["correlation"].quantile([0.025, 0.975], ("chain", "draw"))
# done
