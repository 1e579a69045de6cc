import pymc as pm

# task
with pm.Model(coords={"person": range(30)}) as model:
    x = pm.Data("age", age, dims="person")
    a, b = pm.Normal("a", 170, sigma=20), pm.Normal("b", 0, sigma=10)
    pm.Normal("height", a + b * x, sigma=10, dims="person")
    heights = pm.draw(model["height"], 1000, random_seed=1)
absurd = np.mean((heights < 0) | (heights > 300))
# done
