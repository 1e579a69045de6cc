"""Factorisations and topics beside other programs, by sweeps: rows of workloads.

An iteration of poismf is a step of an optimiser, one of hpfrec of a variational fit, and so no
sweep; all others are Gibbs samplers.
"""

import large_models
import numpy as np
from workload import LARGE, Workload

from models import lda

COLLAPSED = {"collapse": ("theta", "phi")}


def _ratings(factors):
    user, item, rating = large_models.ratings()
    shape = np.array([large_models.USERS, large_models.ITEMS])
    found = {"user": user, "item": item, "rating": rating, "shape": shape}
    return found | {"factors": np.array(factors)}


def _ids(factors):
    features, y, groups = large_models.features()
    return {"features": features, "y": y, "groups": groups, "factors": np.array(factors)}


def _attributes(factors):
    return large_models.attributes() | {"factors": np.array(factors)}


def _counts(factors):
    user, item, count = large_models.counts()
    found = {"user": user, "item": item, "count": count}
    return found | {"shape": np.array(large_models.COUNTS), "factors": np.array(factors)}


def _stories(topics):
    document, word, vocabulary = lda.reuters()
    found = {"document": document, "word": word, "vocabulary": np.array(vocabulary)}
    return found | {"topics": np.array(topics)}


def _named(*names):
    """A tuple of arrays by their names."""
    return lambda data: tuple(data[name] for name in names)


RATINGS, IDS = _named("user", "item", "rating"), _named("features", "y", "groups")
COUNTS = _named("user", "item", "count")
ROWS = (
    *(
        Workload(
            f"BPMF, K = {k}", LARGE, "Bayesian matrix factorisation of 900,000 ratings",
            lambda d: large_models.factorisation(RATINGS(d), int(d["factors"])),
            {"smurff": 3}, lambda k=k: _ratings(k),
        )
        for k in (10, 32)
    ),
    *(
        Workload(
            f"factorisation machine, K = {k}", LARGE, "two ids, 90,000 rows",
            lambda d: large_models.ids(IDS(d), int(d["factors"])),
            {"myfm": 4}, lambda k=k: _ids(k),
        )
        for k in (10, 32)
    ),
    Workload(
        "factorisation machine with attributes, K = 10", LARGE,
        "two ids and three attributes of these, 90,000 rows",
        lambda d: large_models.with_attributes(d, int(d["factors"])),
        {"myfm": 3}, lambda: _attributes(10),
    ),
    *(
        Workload(
            f"Poisson factorisation, K = {k}", LARGE, "a million counts",
            lambda d: large_models.sparse_counts(COUNTS(d), int(d["factors"])),
            {"poismf": 6, "hpfrec": 1}, lambda k=k: _counts(k),
        )
        for k in (20, 50)
    ),
    *(
        Workload(
            f"topics, K = {k}", LARGE, "stories of Reuters, shares and words integrated out",
            lambda d: large_models.topics(int(d["topics"])), peers, lambda k=k: _stories(k),
            settings=COLLAPSED, burn=60,
        )
        for k, peers in (
            (20, {"tomotopy": 1.2, "lda": 1}), (100, {"tomotopy": 1.1, "lda": 1}),
            (1000, {"tomotopy": 1}),
        )
    ),
)  # fmt: skip
