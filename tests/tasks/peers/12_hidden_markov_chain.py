import pymc as pm
import pymc_extras as pmx

# task
with pm.Model(coords={"now": range(2), "state": range(2), "time": range(250)}) as model:
    P = pm.Dirichlet("P", np.ones((2, 2)), dims=("now", "state"))
    level = pm.Normal("level", np.array([0.0, 2.0]), sigma=1, dims="state")
    sigma = pm.HalfNormal("sigma", sigma=1)
    first = pm.Categorical.dist(p=[0.5, 0.5])
    z = pmx.DiscreteMarkovChain("z", P=P, init_dist=first, steps=249, dims="time")
    pm.Normal("y", level[z], sigma=sigma, dims="time", observed=y)
with pmx.marginalize(model, ["z"]):
    idata = pm.sample(500, random_seed=1, progressbar=False)
    idata = pmx.recover_marginals(idata)
broken, stay = idata.posterior["z"].mean(("chain", "draw")), idata.posterior["P"][..., 1, 1]
# done
