import bambi as bmb

# task
model = bmb.Model("y ~ x + (x | group)", table)
idata = model.fit(500, random_seed=1, progressbar=False)
# done
