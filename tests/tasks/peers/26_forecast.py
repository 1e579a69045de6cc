import pymc as pm

# task
with pm.Model(coords={"month": range(72), "ahead": range(12)}):
    step, noise = pm.HalfNormal("step", sigma=1), pm.HalfNormal("noise", sigma=1)
    drift = pm.Normal("drift", 0, sigma=1)
    level = pm.GaussianRandomWalk("level", drift, sigma=step, init_dist=first, dims="month")
    start = pm.DiracDelta.dist(level[-1])
    more = pm.GaussianRandomWalk("more", drift, sigma=step, init_dist=start, steps=12)
    pm.Normal("ahead", more[1:], sigma=noise, dims="ahead")
    future = pm.sample_posterior_predictive(idata, var_names=["ahead"], random_seed=1)
low, high = future.posterior_predictive["ahead"].quantile([0.05, 0.95], ("chain", "draw"))
# done
