import arviz as az
import pymc as pm

# task
first = az.from_netcdf(folder / "run.nc")
with model:
    more = pm.sample(1000, tune=1000, random_seed=2, progressbar=False)
idata = az.concat(first, more, dim="draw")
# done
