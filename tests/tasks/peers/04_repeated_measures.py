import arviz as az
import pymc as pm

# task
seen = np.ma.masked_invalid(wide.values)
with pm.Model(coords={"rat": wide["rat"].values, "day": wide["day"].values}) as model:
    x = pm.Data("x", day, dims="day")
    start = pm.Normal("start", 100, sigma=50, dims="rat")
    slope = pm.Normal("slope", 6, sigma=3, dims="rat")
    noise = pm.HalfNormal("noise", sigma=20)
    mu = start[:, None] + slope[:, None] * x
    pm.Normal("weight", mu, sigma=noise, dims=("rat", "day"), observed=seen)
    idata = pm.sample(500, random_seed=1, progressbar=False)
last = az.summary(idata, var_names=["weight_unobserved"])
# done
