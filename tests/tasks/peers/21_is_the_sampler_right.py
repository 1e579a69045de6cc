import pymc as pm

# task
ranks = []
for replicate in range(100):
    prior = pm.draw([model["spread"], model["effect"], model["y"]], random_seed=replicate)
    with pm.Model(coords={"group": range(3)}):
        spread = pm.HalfNormal("spread", sigma=1)
        effect = pm.Normal("effect", 0, sigma=spread, dims="group")
        pm.Normal("y", effect[of], sigma=0.5, observed=prior[2])
        idata = pm.sample(100, random_seed=replicate, progressbar=False)
    ranks.append((idata.posterior["spread"] < prior[0]).sum())
p = stats.kstest(np.array(ranks) / 400, "uniform").pvalue
# done
