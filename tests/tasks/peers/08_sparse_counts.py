import pymc as pm

# task
with pm.Model(coords={"document": range(20), "word": range(16), "kind": range(2)}) as model:
    theta = pm.Gamma("theta", 0.5, beta=1, dims=("document", "kind"))
    beta = pm.Gamma("beta", 0.5, beta=1, dims=("word", "kind"))
    mean = theta @ beta.T
    pm.Poisson("count", mean, dims=("document", "word"), observed=counts.toarray())
    idata = pm.sample(300, chains=1, random_seed=1, progressbar=False)
# done
