"""Other programs for factorisations and topics, as functions of a number of iterations.

Each function takes the made-up data and returns ``seconds(iterations)``: the CPU seconds of one
iteration. Where a program can only be run from its start, two runs of different length are made.
All have one thread, and are imported when they are asked for.
"""

from time import process_time

import numpy as np
from scipy import sparse


def smurff(found, shape, factors):
    """Bayesian matrix factorisation with normal-Wishart priors (``pip install smurff``)."""
    from smurff import FixedNoise, TrainSession

    user, item, value = found
    table = sparse.coo_matrix((value, (user, item)), shape=shape).tocsr()
    run = {"burnin": 10**6, "nsamples": 1, "num_threads": 1, "verbose": 0, "seed": 1}
    training = TrainSession(priors=["normal", "normal"], num_latent=factors, **run)
    training.addTrainAndTest(table, None, FixedNoise(10.0))
    training.init()
    return timed(lambda count: [training.step() for _ in range(count)])


def myfm(found, factors):
    """A factorisation machine (``pip install myfm``)."""
    from myfm import MyFMRegressor

    features, y, groups = found
    rows, slots = features.shape
    places = np.repeat(np.arange(rows), slots), features.ravel()
    design = sparse.csr_matrix((np.ones(rows * slots), places), shape=(rows, len(groups)))
    run = {"n_kept_samples": 1, "grouping": groups.tolist()}

    def fit(count):
        MyFMRegressor(rank=factors, random_seed=1).fit(design, y, n_iter=count, **run)

    return from_the_start(fit)


def poismf(found, shape, factors):
    """Poisson factorisation by proximal gradients (``pip install poismf``), its fastest way."""
    from poismf import PoisMF

    user, item, count = found
    table = sparse.coo_matrix((count.astype(float), (user, item)), shape=shape)
    run = {"method": "pg", "nthreads": 1, "early_stop": False, "reindex": False}
    return from_the_start(lambda n: PoisMF(k=factors, niter=n, **run).fit(table))


def tomotopy(corpus, topics, alpha=0.1, eta=0.01):
    """Topics, shares and words integrated out (``pip install tomotopy``)."""
    from tomotopy import LDAModel

    document, word, vocabulary = corpus
    model = LDAModel(k=topics, alpha=alpha, eta=eta, seed=1)
    model.optim_interval = 0
    for d in range(max(document) + 1):
        model.add_doc([vocabulary[w] for w in word[document == d]])
    return timed(lambda count: model.train(count, workers=1))


def timed(iterate):
    """The CPU seconds of an iteration, from where the last one has ended."""

    def seconds(count):
        began = process_time()
        iterate(count)
        return (process_time() - began) / count

    return seconds


def from_the_start(fit):
    """The CPU seconds of an iteration: many less a few."""

    def seconds(count):
        few = max(1, count // 4)
        took = []
        for iterations in (few, few + count):
            began = process_time()
            fit(iterations)
            took.append(process_time() - began)
        return (took[1] - took[0]) / count

    return seconds
