"""Topics by lda: labels given one another, shares and words integrated out."""

import logging

import numpy as np
from iterations import from_the_start
from lda import LDA

PACKAGES = ("lda",)
ALPHA, ETA = 0.1, 0.01


def topics(data):
    """Fits from the start."""
    logging.disable(logging.INFO)
    document, word = data["document"], data["word"]
    table = np.zeros((document.max() + 1, len(data["vocabulary"])), dtype=int)
    np.add.at(table, (document, word), 1)
    number = int(data["topics"])

    def fit(count):
        run = {"n_iter": count, "random_state": 1, "refresh": 10**9}
        LDA(n_topics=number, alpha=ALPHA, eta=ETA, **run).fit(table)

    return from_the_start(fit)


WORKLOADS = {f"topics, K = {k}": topics for k in (20, 100)}
