import arviz as az

# task
centre = idata.posterior["centre"]
order = centre.argsort(axis=-1)
for name in ("centre", "share"):
    values = np.take_along_axis(idata.posterior[name].values, order.values, axis=-1)
    idata.posterior[name] = (("chain", "draw", "k"), values)
labels = np.argsort(order.values, axis=-1)
z = np.take_along_axis(labels, idata.posterior["z"].values, axis=-1)
idata.posterior["z"] = (("chain", "draw", "i"), z)
table = az.summary(idata, var_names=["centre"])
# done
