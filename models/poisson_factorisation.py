"""Poisson factorisation: counts of words in documents, as sums over topics.

    counts[d, w] ~ Poisson(sum over k of theta[d, k] * phi[k, w])
    theta[d, k] ~ Gamma(shape, rate),   phi[k, :] ~ Dirichlet(eta)

``theta[d, k]`` is how many words of document ``d`` are expected from topic ``k``. With Gamma
distributions on both sides it is the model of P. Gopalan, J. M. Hofman and D. M. Blei (2015),
"Scalable recommendation with hierarchical Poisson factorization", Uncertainty in Artificial
Intelligence; with a Dirichlet of words, one of those of M. Zhou and L. Carin (2015), "Negative
binomial process count and mixture modeling", IEEE Transactions on Pattern Analysis and Machine
Intelligence 37, 307-320. Given how many words a document has it is that of ``lda``.

A count is split between topics, which gives both factors their closed forms. Topics can be renamed
without any change to the density: look at the rates of cells.

Most counts of a whole vocabulary are 0 (27 of 28 in the stories of `reuters`): as a sparse array
they cost nothing, since what they say of the factors is minus the sum of all rates.
"""

import numpy as np
from scipy.sparse import coo_array, issparse

import gibbsppl as gp
from models import reuters

DOCUMENTS, WORDS = 60, 80

# Cells whose rates are compared: (document, word).
CELLS = ((0, "prince"), (0, "people"), (2, "teresa"), (2, "calcutta"), (10, "church"), (40, "pope"))

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/poisson_factorisation.py), word by word with both factors integrated out.
REFERENCE = {
    "log likelihood": (-2127.200306, 0.070877),
    "0 prince": (2.395876, 0.002250),
    "0 people": (0.358127, 0.000848),
    "2 teresa": (8.409100, 0.006263),
    "2 calcutta": (2.805034, 0.002875),
    "10 church": (3.018672, 0.004089),
    "40 pope": (0.117236, 0.000720),
}


def model(counts=None, documents=DOCUMENTS, words=WORDS, topics=3, shape=0.3, rate=0.03, eta=0.5):
    """The topics of ``counts`` (document, word); else of the first ``documents`` Reuters stories.

    Of these, the ``words`` words that are most frequent in them; all, as a sparse array, if
    ``None``. ``counts`` may be sparse too.
    """
    vocabulary = None
    if counts is None and words is None:
        document, word, count, vocabulary = reuters.counts(documents)
        size = (document.max() + 1, len(vocabulary))
        counts = coo_array((count, (document, word)), shape=size)
    elif counts is None:
        counts, vocabulary = reuters.table(documents, words)
    coords = {
        "doc": range(np.shape(counts)[0]),
        "topic": range(topics),
        "vocab": range(np.shape(counts)[1]) if vocabulary is None else vocabulary,
    }
    with gp.Model(coords=coords) as factorisation:
        theta = gp.Gamma("theta", shape, rate=rate, dims=("doc", "topic"))
        phi = gp.Dirichlet("phi", eta, dims=("topic", "vocab"), event="vocab")
        gp.Poisson("counts", theta @ phi, dims=("doc", "vocab"), observed=counts)
    return factorisation


def recommended(draws, counts, many=5):
    """For each row of ``counts`` the ``many`` columns of largest expected rate not seen in it.

    The rate is averaged over draws, not made of averaged factors: it does not depend on how topics
    are named. The largest comes first; a row that has seen too many columns ends with -1.
    """
    theta, phi = (np.concatenate(draws[name]) for name in ("theta", "phi"))
    expected = np.einsum("sdk,skw->dw", theta, phi) / len(theta)
    seen = counts.toarray() if issparse(counts) else np.asarray(counts)
    unseen = np.where(seen > 0, -np.inf, expected)
    best = np.argsort(-unseen, axis=1, kind="stable")[:, :many]
    return np.where(np.isfinite(np.take_along_axis(unseen, best, axis=1)), best, -1)


def log_likelihood(draws, counts):
    """The log likelihood of the counts, up to a constant, as an array over (chain, draw)."""
    rate = draws["theta"] @ draws["phi"]
    return (counts * np.log(rate) - rate).sum(axis=(-1, -2))


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    counts, vocabulary = reuters.table(DOCUMENTS, WORDS)
    found = {"log likelihood": log_likelihood(draws, counts)}
    for document, word in CELLS:
        w = vocabulary.index(word)
        rate = (draws["theta"][..., document, :] * draws["phi"][..., :, w]).sum(axis=-1)
        found[f"{document} {word}"] = rate
    return found
