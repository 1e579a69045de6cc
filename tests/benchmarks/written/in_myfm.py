"""Factorisation machines by myfm."""

import numpy as np
from iterations import from_the_start
from myfm import MyFMRegressor, RelationBlock
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


def with_attributes(data):
    """The same with relation blocks: what is known of a user or an item stands in a table once."""
    tables = {"user": ("age", "occupation"), "item": ("genre",)}
    blocks, sizes = [], []
    for name, attributes in tables.items():
        count = len(data[attributes[0]])
        kinds = [data[a].max() + 1 for a in attributes]
        tall = [np.arange(count), *(data[a] for a in attributes)]
        parts = zip(tall, (count, *kinds), strict=True)
        table = sparse.hstack([_one_hot(own, size) for own, size in parts], format="csr")
        blocks.append(RelationBlock(data[name], table))
        sizes += [count, *kinds]
    run = {"X_rel": blocks, "n_kept_samples": 1, "group_shapes": sizes}

    def fit(count):
        MyFMRegressor(rank=int(data["factors"]), random_seed=1).fit(
            None, data["y"], n_iter=count, **run
        )

    return from_the_start(fit)


def _one_hot(values, size):
    places = np.arange(len(values)), values
    return sparse.csr_matrix((np.ones(len(values)), places), shape=(len(values), size))


WORKLOADS = {
    "factorisation machine, K = 10": machine,
    "factorisation machine, K = 32": machine,
    "factorisation machine with attributes, K = 10": with_attributes,
}
