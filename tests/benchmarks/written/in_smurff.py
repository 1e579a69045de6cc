"""Bayesian matrix factorisation with normal-Wishart priors by smurff, one thread."""

from iterations import going_on
from scipy import sparse
from smurff import FixedNoise, TrainSession

PACKAGES = ("smurff",)


def factorisation(data):
    """Sweeps that go on."""
    places = data["user"], data["item"]
    table = sparse.coo_matrix((data["rating"], places), shape=tuple(data["shape"])).tocsr()
    run = {"burnin": 10**6, "nsamples": 1, "num_threads": 1, "verbose": 0, "seed": 1}
    factors = int(data["factors"])
    training = TrainSession(priors=["normal", "normal"], num_latent=factors, **run)
    training.addTrainAndTest(table, None, FixedNoise(10.0))
    training.init()
    return going_on(lambda count: [training.step() for _ in range(count)])


WORKLOADS = {"BPMF, K = 10": factorisation, "BPMF, K = 32": factorisation}
