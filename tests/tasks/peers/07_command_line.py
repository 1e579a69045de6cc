import arviz as az
import pandas as pd
import pymc as pm

# task
points = pd.read_csv(folder / "points.csv")
with pm.Model() as model:
    a, b = pm.Normal("a", 0, sigma=10), pm.Normal("b", 0, sigma=10)
    tau = pm.Gamma("tau", 1, beta=1)
    pm.Normal("y", a + b * points["x"].to_numpy(), tau=tau, observed=points["y"])
    idata = pm.sample(random_seed=1, progressbar=False)
idata.to_netcdf(folder / "draws.nc")
out = az.summary(idata).to_json()
# done
