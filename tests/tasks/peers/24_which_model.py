import arviz as az
import pymc as pm

# task
fits = {}
for name, degree in {"line": 1, "parabola": 2}.items():
    with model_of(degree):
        fits[name] = pm.sample(500, random_seed=1, progressbar=False)
        pm.compute_log_likelihood(fits[name], progressbar=False)
compared = az.compare(fits)
# done
