import pymc as pm

# task
with pm.Model(coords={"kind": range(2), "day": range(150)}) as model:
    share = pm.Dirichlet("share", np.ones(2), dims="kind")
    ordered = pm.distributions.transforms.ordered
    center = pm.Normal("center", 0, sigma=5, dims="kind", transform=ordered, initval=[-1, 1])
    sigma = pm.HalfNormal("sigma", sigma=2)
    parts = pm.Normal.dist(center, sigma, shape=(150, 2))
    pm.NormalMixture("y", share, center, sigma=sigma, dims="day", observed=y)
    logs = pm.math.log(share) + pm.logp(parts, y[:, None])
    pm.Deterministic("p", pm.math.softmax(logs, axis=1), dims=("day", "kind"))
    idata = pm.sample(500, random_seed=1, progressbar=False)
second = idata.posterior["p"].mean(("chain", "draw"))[:, 1]
# done
