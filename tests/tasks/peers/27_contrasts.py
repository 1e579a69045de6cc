# task
mean = idata.posterior["mean"]
better = mean.sel(arm=["low", "high"]) - mean.sel(arm="control")
intervals = better.quantile([0.05, 0.95], ("chain", "draw"))
best = (mean.argmax("arm") == 2).mean().item()
# done
