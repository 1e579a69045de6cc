import pymc as pm

# task
with pm.Model(coords={"year of": range(100)}) as model:
    year = pm.Data("year", np.arange(100), dims="year of")
    change = pm.DiscreteUniform("change", 0, 99)
    before, after = pm.Gamma("before", 1, beta=1), pm.Gamma("after", 1, beta=1)
    rate = pm.math.switch(year < change, before, after)
    pm.Poisson("accidents", rate, dims="year of", observed=accidents)
    pm.Deterministic("ratio", after / before)
    idata = pm.sample(1000, random_seed=1, progressbar=False)
low, high = idata.posterior["change"].quantile([0.05, 0.95])
# done
