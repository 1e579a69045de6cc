"""Counts of words in documents, a sparse matrix: a Poisson factorisation of two kinds."""

import numpy as np
from scipy.sparse import coo_array

import gibbsppl as gp

rng = np.random.default_rng(8)
rate = np.kron(np.eye(2), np.full((10, 8), 1.5)) + 0.05
counts = coo_array(rng.poisson(rate))

# task
with gp.Model(coords={"document": 20, "word": 16, "kind": 2}) as model:
    theta = gp.Gamma("theta", 0.5, rate=1, dims=("document", "kind"))
    beta = gp.Gamma("beta", 0.5, rate=1, dims=("word", "kind"))
    mean = gp.sum(theta * beta, "kind")
    gp.Poisson("count", mean, dims=("document", "word"), observed=counts)
draws = gp.compile(model).sample(300, chains=1, seed=1, progress=False)
# done

share = draws["theta"].mean(axis=(0, 1))
kind = share.argmax(axis=1)
assert len({*kind[:10]}) == len({*kind[10:]}) == 1
assert kind[0] != kind[-1]
