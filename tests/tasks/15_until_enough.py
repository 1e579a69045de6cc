"""A run that ends when the chains agree and enough is known of one variable, or after a minute."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(15)
group = np.repeat(np.arange(12), 5)
y = rng.normal(0, 1, 12)[group] + rng.normal(0, 0.5, 60)
with gp.Model(coords={"group": 12}) as model:
    of = gp.Index("of", group, of="group", dims="row")
    mu, spread = gp.Normal("mu", 0, sigma=5), gp.HalfNormal("spread", sigma=2)
    effect = gp.Normal("effect", mu, sigma=spread, dims="group")
    noise = gp.HalfNormal("noise", sigma=1)
    gp.Normal("y", effect[of], sigma=noise, dims="row", observed=y)

# task
enough = gp.until(ess=2000, r_hat=1.01, minutes=1, of=["spread"])
draws = gp.compile(model).sample(20_000, until=enough, seed=1, progress=False)
# done

row = draws.summary()["spread"]
assert row["ess_bulk"] >= 2000
assert draws.draws < 20_000
assert row["r_hat"] <= 1.01
