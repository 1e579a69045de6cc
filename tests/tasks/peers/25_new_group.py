import pymc as pm

# task
with model:
    pm.set_data({"clinic_of": [names.index("south")]}, coords={"patient": [0]})
    seen = pm.sample_posterior_predictive(idata, random_seed=1, progressbar=False)
known = seen.posterior_predictive["y"].quantile([0.05, 0.95], ("chain", "draw"))
with pm.Model():
    mu, spread = pm.Normal("mu", 0, sigma=10), pm.HalfNormal("spread", sigma=5)
    noise = pm.HalfNormal("noise", sigma=1)
    level = pm.Normal("new level", mu, sigma=spread)
    pm.Normal("new y", level, sigma=noise)
    fresh = pm.sample_posterior_predictive(idata, var_names=["new y"], random_seed=1)
other = fresh.posterior_predictive["new y"].quantile([0.05, 0.95], ("chain", "draw"))
# done
