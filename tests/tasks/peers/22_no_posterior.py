import arviz as az
import pymc as pm

# task
with pm.Model() as model:
    covariate = pm.Data("x", x)
    a, b = pm.Flat("a"), pm.Flat("b")
    pm.Bernoulli("y", logit_p=a + b * covariate, observed=y)
    idata = pm.sample(500, random_seed=1, progressbar=False)
bad = az.summary(idata)["r_hat"] > 1.01
told = f"divergences: {idata.sample_stats['diverging'].sum().item()}, R-hat: {bad.to_dict()}"
# done
