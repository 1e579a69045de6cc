import arviz as az

# task
table = az.summary(idata, hdi_prob=0.9, kind="stats")
text = table[["mean", "hdi_5%", "hdi_95%"]].round(2).to_csv()
# done
