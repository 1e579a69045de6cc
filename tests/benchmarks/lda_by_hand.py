"""Naive LDA, the sweep written by hand: what the generated one is measured against.

Labels are drawn in pieces of about half a megabyte, which stay in the cache. Rows of both factors
are gathered whole, then turned so that the running sums over topics are additions of long rows.
"""

import numpy as np

PIECE = 4096


def prepare(document, word, vocabulary, topics):
    """What depends on the data alone."""
    document, word = np.asarray(document), np.asarray(word)
    return {
        "document": document,
        "word": word,
        "documents": int(document.max()) + 1,
        "words": len(vocabulary),
        "topics": topics,
        "from_document": document * topics,
        "from_word": word * topics,
    }


def start(rng, c):
    """Labels at random; the other two are drawn first."""
    return {"z": rng.integers(c["topics"], size=len(c["word"]))}


def sweep(rng, s, c, alpha=0.1, eta=0.01):
    """Shares of topics, topics, labels."""
    topics, documents, words = c["topics"], c["documents"], c["words"]
    z = s["z"]
    counts = np.bincount(c["from_document"] + z, minlength=documents * topics)
    theta = rng.standard_gamma(counts.reshape(documents, topics) + alpha)
    s["theta"] = theta = theta / theta.sum(axis=1, keepdims=True)
    counts = np.bincount(c["from_word"] + z, minlength=words * topics)
    phi = rng.standard_gamma(counts.reshape(words, topics) + eta)
    s["phi"] = phi = phi / phi.sum(axis=0)
    uniform = rng.random(len(z))
    s["z"] = z = np.empty_like(z)
    for first in range(0, len(z), PIECE):
        piece = slice(first, first + PIECE)
        joint = theta.take(c["document"][piece], axis=0)
        joint *= phi.take(c["word"][piece], axis=0)
        z[piece] = _labels(np.ascontiguousarray(joint.T), uniform[piece])


def _labels(cumulative, uniform):
    """For each column, how many running sums the uniform share of the total has passed."""
    for k in range(1, len(cumulative)):
        cumulative[k] += cumulative[k - 1]
    threshold = uniform * cumulative[-1]
    passed = np.zeros(len(threshold), np.int16)
    for row in cumulative[:-1]:
        passed += row <= threshold
    return passed


def log_likelihood(s, c):
    """The log probability of the words given shares and topics."""
    return np.log((s["theta"][c["document"]] * s["phi"][c["word"]]).sum(axis=1)).sum()
