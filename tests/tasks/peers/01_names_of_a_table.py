import arviz as az
import pymc as pm

# task
codes, names = pd.factorize(table["farm"], sort=True)
with pm.Model(coords={"farm": names, "plot": table.index}) as model:
    mu, spread = pm.Normal("mu", 5, sigma=5), pm.HalfNormal("spread", sigma=2)
    level = pm.Normal("level", mu, sigma=spread, dims="farm")
    noise = pm.HalfNormal("noise", sigma=2)
    pm.Normal("crop", level[codes], sigma=noise, dims="plot", observed=table["crop"])
    idata = pm.sample(500, random_seed=1, progressbar=False)
found = az.summary(idata, var_names=["level"])
# done
