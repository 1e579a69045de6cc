"""Poisson factorisation by hand: word by word, with both factors integrated out.

Given its topic each word adds one to a count of its document, which is a negative binomial count
when the Gamma variable is integrated out: up to what no topic changes, Gamma(shape + count). So the
weight of a topic is (shape + count in the document) * (eta + count of the word) / (all counts).
The factors are drawn afterwards, given the topics of all words.
"""

import numpy as np


def run(rng, counts, draws, *, topics, shape, rate, eta, warmup=100):
    """The factors of one chain: (draw, document, topic), (draw, topic, word)."""
    documents, vocabulary = counts.shape
    document, word = (np.repeat(at, counts[counts > 0]) for at in np.nonzero(counts))
    z = rng.integers(topics, size=document.size)
    shares, words = np.zeros((documents, topics)), np.zeros((topics, vocabulary))
    np.add.at(shares, (document, z), 1)
    np.add.at(words, (z, word), 1)
    theta, phi = np.empty((draws, *shares.shape)), np.empty((draws, *words.shape))
    for step in range(-warmup, draws):
        sweep(z, (document, word), shares, words, rng.random(z.size), (shape, eta))
        if step >= 0:
            theta[step] = rng.gamma(shape + shares, 1 / (rate + 1))
            phi[step] = [rng.dirichlet(eta + row) for row in words]
    return theta, phi


def sweep(z, tokens, shares, words, uniform, prior):
    """Topics drawn one after the other; ``shares`` and ``words`` are their counts."""
    (document, word), (shape, eta) = tokens, prior
    topics, vocabulary = words.shape
    totals = words.sum(axis=1)
    cumulative = np.empty(topics)
    for t in range(z.size):
        d, w, old = document[t], word[t], z[t]
        shares[d, old] -= 1
        words[old, w] -= 1
        totals[old] -= 1
        total = 0.0
        for k in range(topics):
            of_words = (eta + words[k, w]) / (eta * vocabulary + totals[k])
            total += (shape + shares[d, k]) * of_words
            cumulative[k] = total
        chosen = 0
        while cumulative[chosen] < uniform[t] * total:
            chosen += 1
        z[t] = chosen
        shares[d, chosen] += 1
        words[chosen, w] += 1
        totals[chosen] += 1
