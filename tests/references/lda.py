"""Naive LDA by hand, token by token in plain loops: topics' shares, topics' words, labels."""

import numpy as np


def run(rng, corpus, sweeps, topics, alpha=0.1, eta=0.01):
    """The log likelihood of the corpus (labels summed out) after every sweep of one chain.

    The start is a draw from the prior: shares and topics first, labels given the shares.
    """
    document, word, vocabulary = corpus
    documents = int(max(document)) + 1
    theta = rng.dirichlet(np.full(topics, alpha), size=documents)
    z = np.array([rng.choice(topics, p=theta[d]) for d in document])
    fit = np.empty(sweeps)
    for sweep in range(sweeps):
        theta = _rows(rng, _table(document, z, (documents, topics)) + alpha)
        phi = _rows(rng, _table(z, word, (topics, len(vocabulary))) + eta)
        joint = theta[document] * phi.T[word]
        fit[sweep] = np.log(joint.sum(axis=1)).sum()
        cumulative = joint.cumsum(axis=1)
        uniform = rng.random(len(word)) * cumulative[:, -1]
        z = (cumulative <= uniform[:, None]).sum(axis=1)
    return fit


def _table(rows, columns, shape):
    counts = np.zeros(shape)
    np.add.at(counts, (rows, columns), 1)
    return counts


def _rows(rng, parameters):
    return np.stack([rng.dirichlet(row) for row in parameters])
