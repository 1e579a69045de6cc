import arviz as az
import pymc as pm

# task
with model:
    pm.sample_posterior_predictive(idata, extend_inferencedata=True, random_seed=1)
idata.to_netcdf(folder / "draws.nc")
data = az.from_netcdf(folder / "draws.nc")
az.plot_forest(data, var_names=["mean"])
az.plot_ppc(data, num_pp_samples=20)
# done
