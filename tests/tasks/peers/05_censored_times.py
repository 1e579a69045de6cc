import pymc as pm

# task
upper = np.where(running, end, np.inf)
with pm.Model() as model:
    shape, scale = pm.Gamma("shape", 2, beta=1), pm.Gamma("scale", 2, beta=0.1)
    life = pm.Weibull.dist(shape, scale)
    pm.Censored("life", life, lower=None, upper=upper, observed=seen)
    pm.Deterministic("median", scale * np.log(2) ** (1 / shape))
    idata = pm.sample(500, random_seed=1, progressbar=False)
# done
