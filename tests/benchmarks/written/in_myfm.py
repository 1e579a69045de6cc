"""Factorisation machines by myfm."""

import numpy as np
from iterations import from_the_start
from myfm import MyFMRegressor
from scipy import sparse

PACKAGES = ("myfm",)


def machine(data):
    """Fits from the start, whose iterations are sweeps."""
    features, y, groups = data["features"], data["y"], data["groups"]
    rows, slots = features.shape
    places = np.repeat(np.arange(rows), slots), features.ravel()
    design = sparse.csr_matrix((np.ones(rows * slots), places), shape=(rows, len(groups)))
    run = {"n_kept_samples": 1, "grouping": groups.tolist()}

    def fit(count):
        MyFMRegressor(rank=int(data["factors"]), random_seed=1).fit(design, y, n_iter=count, **run)

    return from_the_start(fit)


WORKLOADS = {"factorisation machine, K = 10": machine, "factorisation machine, K = 32": machine}
