"""Poisson factorisation by proximal gradients of poismf, its fastest way; no sampler."""

from iterations import from_the_start
from poismf import PoisMF
from scipy import sparse

PACKAGES = ("poismf",)


def factorisation(data):
    """Fits from the start."""
    places = data["user"], data["item"]
    table = sparse.coo_matrix((data["count"].astype(float), places), shape=tuple(data["shape"]))
    run = {"method": "pg", "nthreads": 1, "early_stop": False, "reindex": False}
    return from_the_start(lambda n: PoisMF(k=int(data["factors"]), niter=n, **run).fit(table))


WORKLOADS = {f"Poisson factorisation, K = {k}": factorisation for k in (20, 50)}
