"""Hidden Markov models by expectation-maximisation of hmmlearn, its fastest way; no sampler."""

import numpy as np
from hmmlearn.hmm import PoissonHMM
from iterations import from_the_start

PACKAGES = ("hmmlearn",)


def counts(data):
    """Fits from the start, each iteration filtered forwards and back."""
    run = {"n_components": int(data["states"]), "tol": -np.inf, "random_state": 1}
    run["implementation"] = "scaling"
    return from_the_start(lambda n: PoissonHMM(n_iter=n, **run).fit(data["counts"][:, None]))


WORKLOADS = {f"hidden Markov, 100000 x {k}": counts for k in (5, 30)}
