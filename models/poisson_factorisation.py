"""Poisson factorisation: counts of words in documents, as sums over topics.

    counts[d, w] ~ Poisson(sum over k of theta[d, k] * phi[k, w])
    theta[d, k] ~ Gamma(shape, rate),   phi[k, :] ~ Dirichlet(eta)

``theta[d, k]`` is how many words of document ``d`` are expected from topic ``k``. With Gamma
distributions on both sides it is the model of P. Gopalan, J. M. Hofman and D. M. Blei (2015),
"Scalable recommendation with hierarchical Poisson factorization", Uncertainty in Artificial
Intelligence; with a Dirichlet of words, one of those of M. Zhou and L. Carin (2015), "Negative
binomial process count and mixture modeling", IEEE Transactions on Pattern Analysis and Machine
Intelligence 37, 307-320. Given how many words a document has it is that of ``lda``.

Topics can be renamed without any change to the density: look at the log likelihood. The table of
counts is dense, zeros included; nothing makes use of its many zeros yet.
"""

import numpy as np

import gibbsppl as gp
from models import reuters

REFERENCE = {}


def model(counts=None, documents=None, words=None, topics=20, shape=0.3, rate=0.03, eta=0.05):
    """The topics of ``counts`` (document, word); else of the first ``documents`` Reuters stories.

    Of these, the ``words`` words that are most frequent in them; all if ``None``.
    """
    vocabulary = None
    if counts is None:
        counts, vocabulary = reuters.table(documents, words)
    coords = {
        "doc": range(len(counts)),
        "topic": range(topics),
        "vocab": range(np.shape(counts)[1]) if vocabulary is None else vocabulary,
    }
    with gp.Model(coords=coords) as factorisation:
        theta = gp.Gamma("theta", shape, rate=rate, dims=("doc", "topic"))
        phi = gp.Dirichlet("phi", eta, dims=("topic", "vocab"), event="vocab")
        gp.Poisson("counts", theta @ phi, dims=("doc", "vocab"), observed=counts)
    return factorisation


def quantities(draws, counts):
    """The log likelihood of the counts, up to a constant, as an array over (chain, draw)."""
    rate = draws["theta"] @ draws["phi"]
    return {"log likelihood": (counts * np.log(rate) - rate).sum(axis=(-1, -2))}
