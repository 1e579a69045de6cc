import pymc as pm

# task
with model:
    idata = pm.sample(500, random_seed=1, progressbar=False)
    pm.sample_posterior_predictive(idata, extend_inferencedata=True, random_seed=1)
again = idata.posterior_predictive["y"]
p = float((again.var("y_dim_0") >= y.var()).mean())
# done
