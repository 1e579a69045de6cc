"""The three films that a user will like best among those not seen, with how certain that is."""

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(30)
users, films = [f"u{i}" for i in range(20)], [f"f{j}" for j in range(15)]
taste, kind = rng.normal(size=(20, 2)), rng.normal(size=(15, 2))
user, film = np.divmod(rng.permutation(300)[:200], 15)
rating = 3 + (taste[user] * kind[film]).sum(1) + rng.normal(0, 0.2, 200)
with gp.Model(coords={"user": users, "film": films, "factor": 2}) as model:
    u_of = gp.Index("user_of", user, of="user", dims="rating")
    f_of = gp.Index("film_of", film, of="film", dims="rating")
    mu = gp.Normal("mu", 3, sigma=1)
    u = gp.Normal("u", 0, sigma=1, dims=("user", "factor"))
    v = gp.Normal("v", 0, sigma=1, dims=("film", "factor"))
    sigma = gp.HalfNormal("sigma", sigma=1)
    mean = mu + gp.sum(u[u_of] * v[f_of], "factor")
    gp.Normal("y", mean, sigma=sigma, dims="rating", observed=rating)
sampler = gp.compile(model)
draws = sampler.sample(500, seed=1, progress=False)

# task
unseen = [f for f in films if f not in {films[j] for j in film[user == 4]}]
new = {"user_of": ["u4"] * len(unseen), "film_of": unseen}
predicted = sampler.predict(draws, new)
best = np.argsort(-predicted.mean)[:3]
top = [(unseen[k], predicted.mean[k], predicted.sd[k]) for k in best]
# done

truth = {f: 3 + taste[4] @ kind[films.index(f)] for f in unseen}
for name, mean, sd in top:
    assert abs(mean - truth[name]) < 4 * sd
assert top[0][1] >= top[1][1] >= top[2][1]
