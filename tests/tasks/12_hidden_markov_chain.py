"""A machine that works or does not, seen with noise: when it did not, and how that lasts."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(12)
state = [0]
for _ in range(249):
    state.append(state[-1] ^ int(rng.random() < (0.05, 0.15)[state[-1]]))
state = np.array(state)
y = rng.normal(2.0 * state, 0.6)

# task
with gp.Model(coords={"state": 2, "time": 250}) as model:
    P = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
    level = gp.Normal("level", gp.Data("guess", [0.0, 2.0], dims="state"), sigma=1, dims="state")
    sigma = gp.HalfNormal("sigma", sigma=1)
    z = gp.Array("z", dims="time", event="state")
    z[0] = gp.Categorical(1 / 2)
    z[1:] = gp.Categorical(P[z.lag("time", 1)])
    gp.Normal("y", level[z], sigma=sigma, dims="time", observed=y)
draws = gp.compile(model).sample(500, seed=1, progress=False)
broken, stay = draws["z"].mean(axis=(0, 1)), draws["P"][..., 1, 1]
# done

assert np.mean((broken > 0.5) == state) > 0.95
assert abs(stay.mean() - 0.85) < 4 * stay.std()
