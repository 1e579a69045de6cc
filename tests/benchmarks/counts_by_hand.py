"""Poisson factorisation of sparse counts, the sweep written by hand: each unit gets a label.

    y[user, item] ~ Poisson(sum over k of theta[user, k] * phi[item, k])
    theta[user, k] ~ Gamma(0.3, 1),   phi[item, k] ~ Gamma(0.3, 1)

A count of c is c units, each of which is of one k (A. T. Cemgil 2009, "Bayesian inference for
nonnegative matrix factorisation models"): the zeros are in the rates alone. Pieces and running sums
are as in ``lda_by_hand``.
"""

import numpy as np

PIECE = 4096


def data(users, items, cells, seed=4):
    """Where a random table of counts is not zero, and the counts: user, item, count."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.choice(users * items, size=cells, replace=False))
    return (*np.divmod(at, items), 1 + rng.poisson(0.5, cells))


def prepare(user, item, count, shape, factors):
    """What depends on the data alone: a unit for each of the counts."""
    user, item = np.repeat(user, count), np.repeat(item, count)
    return {
        "user": user,
        "item": item,
        "shape": shape,
        "factors": factors,
        "from_user": user * factors,
        "from_item": item * factors,
    }


def start(rng, c):
    """Rates from their priors, kept from zero."""
    users, items = c["shape"]
    return {
        "theta": rng.gamma(0.3, size=(users, c["factors"])) + 0.01,
        "phi": rng.gamma(0.3, size=(items, c["factors"])) + 0.01,
    }


def sweep(rng, s, c):
    """Labels, then both rates."""
    labels = _labels(rng, s, c)
    shape = [(size, c["factors"]) for size in c["shape"]]
    of_user = np.bincount(c["from_user"] + labels, minlength=np.prod(shape[0]))
    of_item = np.bincount(c["from_item"] + labels, minlength=np.prod(shape[1]))
    s["theta"] = rng.standard_gamma(of_user.reshape(shape[0]) + 0.3) / (1 + s["phi"].sum(axis=0))
    s["phi"] = rng.standard_gamma(of_item.reshape(shape[1]) + 0.3) / (1 + s["theta"].sum(axis=0))


def _labels(rng, s, c):
    """For each unit, how many running sums the uniform share of the total has passed."""
    uniform = rng.random(len(c["user"]))
    labels = np.empty(len(uniform), np.int64)
    for first in range(0, len(labels), PIECE):
        piece = slice(first, first + PIECE)
        joint = s["theta"].take(c["user"][piece], axis=0)
        joint *= s["phi"].take(c["item"][piece], axis=0)
        running = np.ascontiguousarray(joint.T)
        for k in range(1, len(running)):
            running[k] += running[k - 1]
        threshold = uniform[piece] * running[-1]
        passed = np.zeros(len(threshold), np.int16)
        for row in running[:-1]:
            passed += row <= threshold
        labels[piece] = passed
    return labels
